//! Where a page is before anything moves: the central manager's allocation policies (Opal of SST has
//! policies of these names). Pages are allocated in the order of their addresses, each once, so no two
//! nodes get the same.

use super::settings::PoolError;
use pagetide_access::generators::Rng;
use std::fmt;
use std::str::FromStr;

/// See the module. Once local memory is full, all is in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// All in the pool; local memory holds what nobody touches.
    Pool,
    /// Local memory first.
    LocalFirst,
    /// One local, one in the pool.
    Alternate,
    /// Local memory and the pool's modules in turn.
    RoundRobin,
    /// As much of it is local as of all memory that a node has.
    Proportional,
    /// Local memory or one of the modules, each as likely.
    Random,
    /// One local, then so many in the pool.
    OneTo(u32),
}

/// How it is written.
const WORDS: [(&str, Placement); 6] = [
    ("pool", Placement::Pool),
    ("local-first", Placement::LocalFirst),
    ("alternate", Placement::Alternate),
    ("round-robin", Placement::RoundRobin),
    ("proportional", Placement::Proportional),
    ("random", Placement::Random),
];

impl FromStr for Placement {
    type Err = PoolError;

    fn from_str(text: &str) -> Result<Self, PoolError> {
        let named = WORDS.iter().find(|(word, _)| *word == text).map(|(_, placement)| *placement);
        let to = || text.strip_prefix("1:")?.parse().ok().filter(|n| *n > 0).map(Self::OneTo);
        named.or_else(to).ok_or_else(|| {
            if text.starts_with("1:") {
                let remedy = format!("of 1:N the N is a whole number from 1 to {}", u32::MAX);
                return PoolError::Value {
                    key: "placement".to_owned(),
                    value: text.to_owned(),
                    remedy,
                };
            }
            let known = WORDS.map(|(word, _)| word);
            PoolError::Value {
                key: "placement".to_owned(),
                value: text.to_owned(),
                remedy: format!(
                    "{}give one of {}, or 1:N",
                    pagetide_types::nearest(text, known),
                    known.join(", ")
                ),
            }
        })
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneTo(n) => write!(f, "1:{n}"),
            named => {
                let word = WORDS.iter().find(|(_, placement)| placement == named);
                f.write_str(word.map_or("", |(word, _)| word))
            }
        }
    }
}

/// What there is room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Frames of a node's own memory.
    pub(super) local: u64,
    /// A node's share of the pool, pages.
    pub(super) pool: u64,
    /// Modules of the pool.
    pub(super) modules: u32,
}

impl Placement {
    /// Of each page, in order, whether it is local.
    pub(super) fn of(self, pages: u32, room: Room, mut rng: Rng) -> Vec<bool> {
        let mut left = room.local;
        let mut is_local = |page: u64| match self {
            Self::Pool => false,
            Self::LocalFirst => true,
            Self::Alternate => page.is_multiple_of(2),
            Self::RoundRobin => page.is_multiple_of(u64::from(room.modules) + 1),
            Self::Proportional => {
                let all = u128::from(room.local) + u128::from(room.pool);
                let before = u128::from(page) * u128::from(room.local) / all.max(1);
                (u128::from(page) + 1) * u128::from(room.local) / all.max(1) > before
            }
            Self::Random => rng.below(u64::from(room.modules) + 1) == 0,
            Self::OneTo(n) => page.is_multiple_of(u64::from(n) + 1),
        };
        let place = |page| {
            let local = is_local(u64::from(page)) && left > 0;
            left -= u64::from(local);
            local
        };
        (0..pages).map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(word: &str, room: u64) -> Vec<u32> {
        let placement: Placement = word.parse().unwrap();
        assert_eq!(placement.to_string(), word);
        let room = Room { local: room, pool: 3 * room, modules: 2 };
        let of = placement.of(12, room, Rng::new(1, 0));
        (0..12).filter(|page| of[*page as usize]).collect()
    }

    #[test]
    fn each_puts_so_many_pages_into_local_memory() {
        assert!(local("pool", 4).is_empty());
        assert_eq!(local("local-first", 4), [0, 1, 2, 3]);
        assert_eq!(local("alternate", 4), [0, 2, 4, 6]);
        assert_eq!(local("round-robin", 100), [0, 3, 6, 9]);
        assert_eq!(local("proportional", 100), [3, 7, 11]);
        assert_eq!(local("1:5", 4), [0, 6]);
        assert!((1..8).contains(&local("random", 100).len()));
    }

    #[test]
    fn an_unknown_one_is_told_with_the_nearest_known() {
        let error = "proportion".parse::<Placement>().unwrap_err().to_string();
        assert!(error.contains("did you mean 'proportional'?") && error.contains("1:N"), "{error}");
        for text in ["1:0", "1:999999999999", "1:x"] {
            let error = text.parse::<Placement>().unwrap_err().to_string();
            assert!(error.contains("a whole number from 1 to 4294967295"), "{error}");
        }
    }
}
