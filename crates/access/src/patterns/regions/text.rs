//! How a part is written in a file: one table, its walk a word, what that walk takes beside it.

use super::{LINE, Part, PartWalk};
use crate::{Choice, named_values::choice, patterns::Keys};
use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer, de::Error};

/// The keys of a part as they are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartText {
    name: String,
    from: f64,
    to: f64,
    weight: f64,
    #[serde(deserialize_with = "word")]
    walk: Word,
    #[serde(default)]
    writes: f64,
    run: Option<u32>,
    #[serde(default, deserialize_with = "some_word")]
    threads: Option<super::Sharing>,
    #[serde(default, deserialize_with = "bytes")]
    stride: Option<Bytes>,
    window: Option<f64>,
    passes: Option<u32>,
    exponent: Option<f64>,
    #[serde(default, deserialize_with = "bytes")]
    object: Option<Bytes>,
    #[serde(default, deserialize_with = "some_word")]
    keys: Option<Keys>,
}

choice! {
    /// A walk.
    pub(super) enum Word {
        /// All lines in order.
        Sequential = "sequential",
        /// Some lines in order.
        Strided = "strided",
        /// Lines at random.
        Random = "random",
        /// Objects by popularity.
        Zipf = "zipf",
        /// Objects along pointers.
        Chase = "chase",
    }
}

impl Part {
    /// The names of its keys in a file.
    pub const KEYS: &[&str] = &[
        "name", "from", "to", "weight", "walk", "writes", "run", "threads", "stride", "window",
        "passes", "exponent", "object", "keys",
    ];
}

/// What is wrong with a part, in words.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextError {
    /// A walk cannot be without it.
    #[error("part '{part}': a walk that is {walk} needs `{key}`")]
    Missing { part: String, walk: Word, key: &'static str },
    /// A walk has no use for it.
    #[error("part '{part}': `{key}` means nothing to a walk that is {walk}")]
    Meaningless { part: String, walk: Word, key: &'static str },
}

impl TryFrom<PartText> for Part {
    type Error = TextError;

    fn try_from(text: PartText) -> Result<Self, TextError> {
        let (part, walk) = (text.name.clone(), text.walk);
        let given = [
            ("stride", text.stride.is_some(), [Word::Strided].as_slice()),
            ("window", text.window.is_some(), &[Word::Sequential, Word::Strided]),
            ("passes", text.passes.is_some(), &[Word::Sequential, Word::Strided]),
            ("exponent", text.exponent.is_some(), &[Word::Zipf]),
            ("object", text.object.is_some(), &[Word::Zipf, Word::Chase]),
            ("keys", text.keys.is_some(), &[Word::Zipf]),
        ];
        for (key, given, walks) in given {
            if given && !walks.contains(&walk) {
                return Err(TextError::Meaningless { part, walk, key });
            }
        }
        let missing = |key| TextError::Missing { part, walk, key };
        let (window, passes) = (text.window.unwrap_or(1.0), text.passes.unwrap_or(1));
        let walk = match walk {
            Word::Sequential => PartWalk::Sweep { stride: Bytes(LINE), window, passes },
            Word::Strided => {
                let stride = text.stride.ok_or_else(|| missing("stride"))?;
                PartWalk::Sweep { stride, window, passes }
            }
            Word::Random => PartWalk::Random,
            Word::Zipf => PartWalk::Zipf {
                exponent: text.exponent.ok_or_else(|| missing("exponent"))?,
                object: text.object.unwrap_or(Bytes(LINE)),
                keys: text.keys.unwrap_or(Keys::Scattered),
            },
            Word::Chase => PartWalk::Chase { object: text.object.unwrap_or(Bytes(LINE)) },
        };
        let PartText { name, from, to, weight, writes, threads, .. } = text;
        Ok(Self { name, from, to, weight, walk, writes, run: text.run.unwrap_or(1), threads })
    }
}

/// A parameter with a few named values, by its word.
pub(super) fn word<'de, C: Choice, D: Deserializer<'de>>(from: D) -> Result<C, D::Error> {
    let word = String::deserialize(from)?;
    C::named(&word).ok_or_else(|| {
        let known: Vec<&str> = C::ALL.iter().map(|value| value.word()).collect();
        D::Error::custom(format!("'{word}' is none of {}", known.join(", ")))
    })
}

fn some_word<'de, C: Choice, D: Deserializer<'de>>(from: D) -> Result<Option<C>, D::Error> {
    word(from).map(Some)
}

/// An amount of memory in words: `64`, `4K`.
fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::{super::Regions, *};
    use crate::patterns::{Init, Phase, Sharing};
    use serde_json::{Value, from_value, json};

    fn part(text: &Value) -> Result<Part, String> {
        let mut part = json!({"name": "grid", "from": 0, "to": 0.5, "weight": 2});
        part.as_object_mut().unwrap().extend(text.as_object().unwrap().clone());
        from_value(part).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_written_is_as_usual() {
        let expected = |walk| Ok(Part { weight: 2.0, ..Part::new("grid", 0.0, 0.5, walk) });
        for (text, walk) in [
            (json!({"walk": "sequential"}), PartWalk::SEQUENTIAL),
            (
                json!({"walk": "strided", "stride": "4K", "window": 0.1, "passes": 3}),
                PartWalk::Sweep { stride: Bytes::kib(4), window: 0.1, passes: 3 },
            ),
            (json!({"walk": "random"}), PartWalk::Random),
            (
                json!({"walk": "zipf", "exponent": 0.9}),
                PartWalk::Zipf { exponent: 0.9, object: Bytes(64), keys: Keys::Scattered },
            ),
            (json!({"walk": "chase", "object": "128"}), PartWalk::Chase { object: Bytes(128) }),
        ] {
            assert_eq!(part(&text), expected(walk));
        }
        let text = json!({"walk": "random", "run": 4, "writes": 0.25, "threads": "slices"});
        let part = part(&text).unwrap();
        assert_eq!((part.run, part.writes, part.threads), (4, 0.25, Some(Sharing::Slices)));
    }

    #[test]
    fn a_program_is_its_parts_and_phases() {
        let part = json!({"name": "grid", "from": 0, "to": 1, "weight": 1, "walk": "random"});
        let phase = json!({"seconds": 5, "weights": {"grid": 2}, "others": 0});
        let text = json!({"part": [part], "phase": [phase], "init": "reverse"});
        let regions: Regions = from_value(text).unwrap();
        assert_eq!(regions.init, Init::Reverse);
        assert_eq!(regions.phases[0].factor("grid"), 2.0);
        assert_eq!(regions.phases[0].factor("other"), 0.0);
        let regions: Regions = from_value(json!({"part": [part]})).unwrap();
        assert_eq!((regions.init, regions.phases), (Init::InOrder, vec![]));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (text, reason) in [
            (json!({"walk": "hop"}), "'hop' is none of sequential, strided, random, zipf, chase"),
            (json!({"walk": "strided"}), "part 'grid': a walk that is strided needs `stride`"),
            (json!({"walk": "zipf"}), "part 'grid': a walk that is zipf needs `exponent`"),
            (json!({"walk": "random", "window": 1}), "'grid': `window` means nothing to a walk"),
            (json!({"walk": "chase", "object": "x"}), "'x' is not an amount of memory"),
        ] {
            let error = part(&text).unwrap_err();
            assert!(error.contains(reason), "{error}, not {reason}");
        }
    }

    #[test]
    fn all_keys_are_known() {
        let keys = |error: String| {
            let (_, known) = error.split_once("expected one of ").unwrap();
            known.replace('`', "").replace(", ", " ")
        };
        let error = part(&json!({"wlak": "random"})).unwrap_err();
        assert_eq!(keys(error), Part::KEYS.join(" "));
        let error = from_value::<Phase>(json!({"second": 1})).unwrap_err().to_string();
        assert_eq!(keys(error), Phase::KEYS.join(" "));
    }
}
