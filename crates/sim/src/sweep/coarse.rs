//! Whether a scale leaves so little of a tenant's memory that single pages decide what comes out.

use super::Plan;
use pagetide_types::Bytes;

/// Of so little memory, ten huge pages, a tenth is a page; the documentation asks for a hundred.
const LEAST: Bytes = Bytes::mib(20);

/// A tenant of which a scale leaves too little.
#[derive(Clone, Debug, PartialEq)]
pub struct Coarse {
    /// Its name, or number.
    pub tenant: String,
    /// What it has on the machine that is modelled.
    pub memory: Bytes,
    /// What the scale leaves of that.
    pub left: Bytes,
    /// See there.
    pub scale: f64,
}

impl Plan {
    /// The tenant that has the least on a scaled machine, if that is too little for figures to be trusted.
    #[must_use]
    pub fn coarse(&self) -> Option<Coarse> {
        let all = self.points.iter().flat_map(|point| {
            let scenario = &point.resolved().scenario;
            scenario.tenants.iter().enumerate().filter_map(|(number, tenant)| {
                let (memory, scale) = (tenant.memory?, scenario.scale);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "bytes"
                )]
                let left = Bytes((memory.as_f64() / scale) as u64);
                let found = Coarse { tenant: scenario.name(number), memory, left, scale };
                (scale > 1.0 && left < LEAST).then_some(found)
            })
        });
        all.min_by_key(|coarse| coarse.left)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, Vary};
    use super::*;

    #[test]
    fn too_little_memory_is_told_where_the_scale_made_it_so() {
        let text = "seconds = 100\n[system]\nname = \"tpp\"\n[[tenant]]\nname = \"a\"\n\
                    memory = \"80G\"\npattern = { kind = \"uniform\" }\n";
        let draft = Draft::new(text, "x.toml").unwrap();
        let coarse = |vary: &str| {
            let vary: Vary = vary.parse().unwrap();
            Plan::new(&draft, &[], &[vary]).unwrap().coarse()
        };
        assert_eq!(coarse("scale=1,1024,4096"), None);
        let found = coarse("scale=1024,8192,4100").unwrap();
        assert_eq!((found.tenant.as_str(), found.left), ("a", Bytes::mib(10)));
        // As small as it was asked for.
        assert_eq!(coarse("tenant.memory=8M"), None);
    }
}
