//! Parameters with a few named values: one list gives the words that are read and printed, and
//! the help.

use std::fmt;

/// A parameter with a few named values.
pub trait Choice: Copy + Eq + fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// All values, in the order in which help shows them.
    const ALL: &'static [Self];

    /// How a value is written.
    fn word(self) -> &'static str;

    /// What it means, in a line.
    fn help(self) -> &'static str;

    /// The value of a word.
    #[must_use]
    fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// Declares a [`Choice`]: its doc comments are its help.
macro_rules! choice {
    (
        $(#[doc = $about:literal])+
        $visibility:vis enum $name:ident { $($(#[doc = $help:literal])+ $value:ident = $word:literal,)+ }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[doc = $help])+ $value,)+
        }

        impl $crate::Choice for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }

            fn help(self) -> &'static str {
                match self {
                    $(Self::$value => concat!($($help),+).trim(),)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::Choice::word(*self))
            }
        }
    };
}
pub(crate) use choice;

#[cfg(test)]
mod tests {
    use super::Choice;

    choice! {
        /// What is meant.
        enum Fruit {
            /// Round, and
            /// red.
            Apple = "apple",
            /// Long.
            Banana = "banana",
        }
    }

    #[test]
    fn words_are_read_as_they_are_printed() {
        for fruit in Fruit::ALL {
            assert_eq!(Fruit::named(&fruit.to_string()), Some(*fruit));
        }
        assert_eq!(Fruit::named("pear"), None);
        assert_eq!(Fruit::Apple.help(), "Round, and red.");
        assert_eq!(format!("{:>7}", Fruit::Banana), " banana");
    }
}
