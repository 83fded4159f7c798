//! What a point is known by: all that decides its result.

use std::fmt;
use std::fmt::Write as _;

/// All that decides the result of a point, as a text: the figure, the model's version, the scale and
/// the parameters. Points with the same key are the same point.
///
/// ```
/// # use pagetide_reproduce::Key;
/// let key = Key::new("nimble/8", 1, 64).with("threads", 4).with("mode", "two way");
/// assert_eq!(key.to_string(), "nimble/8 model=1 scale=64 threads=4 mode=two%20way");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// A point of a figure. Whoever changes what the model computes raises `model`, so that older
    /// results are not taken for new ones.
    #[must_use]
    pub fn new(figure: &str, model: u32, scale: u32) -> Self {
        Self(escaped(figure)).with("model", model).with("scale", scale)
    }

    /// With a parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {}={}", escaped(name), escaped(&value.to_string()));
        self
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Without the characters that part parameters.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace(' ', "%20").replace('=', "%3D").replace('\n', "%0A")
}

/// What has a key: parameters of a point.
pub trait Keyed {
    /// All that decides the result. Parameters that compute something else have another key.
    fn key(&self) -> Key;
}

impl Keyed for Key {
    fn key(&self) -> Key {
        self.clone()
    }
}

/// A key beside what the point is computed from.
impl<P> Keyed for (Key, P) {
    fn key(&self) -> Key {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn other_parameters_have_other_keys(
            a in prop::collection::vec(("[a =%\n]{0,3}", "[a =%\n]{0,3}"), 0..3),
            b in prop::collection::vec(("[a =%\n]{0,3}", "[a =%\n]{0,3}"), 0..3),
        ) {
            let key = |parameters: &[(String, String)]| {
                let start = Key::new("figure", 1, 64);
                parameters.iter().fold(start, |key, (name, value)| key.with(name, value))
            };
            prop_assert_eq!(a == b, key(&a) == key(&b));
        }
    }
}
