//! Patterns as a scenario names them: `pattern = { kind = "zipf", exponent = 0.99 }`. One line each in
//! [`PatternSpec`] and in its match.

use super::spec::bytes;
use pagetide_access::Choice;
use pagetide_access::parameter::{Result, refuse};
use pagetide_access::patterns::{
    Amp, Favour, Gups, HotCold, Keys, Origin, Pattern, Phases, Place, PointerChase, Regions, Setup,
    Source, Strided, Uniform, Within, Zipf,
};
use pagetide_types::{Bytes, UnitSize};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// See the module.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PatternSpec {
    /// Every word as often.
    Uniform(Nothing),
    /// Updates of random words.
    Gups(Nothing),
    /// Every so many bytes, again and again.
    Strided(StridedKeys),
    /// Objects of unequal popularity.
    Zipf(ZipfKeys),
    /// A hot set and the rest.
    HotCold(HotColdKeys),
    /// Working sets in turn.
    Phases(PhasesKeys),
    /// Dependent reads.
    PointerChase(PointerChaseKeys),
    /// AMP's synthetic programs.
    Amp(AmpKeys),
    /// Parts of the memory, each touched in its own way.
    Regions(Regions),
}

/// A pattern's threads, and the order of its first touch.
pub struct Built {
    /// One for each thread.
    pub sources: Vec<Box<dyn Source + Send>>,
    /// Bytes, one of each base page.
    pub first_touch: Vec<u64>,
}

impl PatternSpec {
    /// The pattern for a setup.
    ///
    /// # Errors
    /// Parameters that make no sense.
    pub fn build(&self, setup: &Setup) -> Result<Built> {
        match self {
            Self::Uniform(_) => built(&Uniform, setup),
            Self::Gups(_) => built(&Gups, setup),
            Self::Strided(keys) => built(&Strided { stride: keys.stride }, setup),
            Self::Zipf(ZipfKeys { exponent, object, keys }) => {
                built(&Zipf { exponent: *exponent, object: *object, keys: *keys }, setup)
            }
            Self::HotCold(keys) => built(&keys.pattern(setup)?, setup),
            Self::Phases(keys) => built(&keys.pattern(), setup),
            Self::PointerChase(keys) => built(&PointerChase { slot: keys.slot }, setup),
            Self::Amp(keys) => built(&keys.pattern(), setup),
            Self::Regions(regions) => built(regions, setup),
        }
    }
}

fn built(pattern: &impl Pattern<Walk: Send>, setup: &Setup) -> Result<Built> {
    let walks = pattern.walks(setup)?;
    let sources = walks.into_iter().map(|walk| Box::new(walk) as Box<dyn Source + Send>).collect();
    Ok(Built { sources, first_touch: pattern.first_touch(setup).collect() })
}

/// No keys.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Of [`Strided`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StridedKeys {
    /// Distance between accesses.
    #[serde(default = "line", deserialize_with = "bytes")]
    stride: Bytes,
}

/// Of [`Zipf`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZipfKeys {
    #[serde(default = "usual")]
    exponent: f64,
    #[serde(default = "page", deserialize_with = "bytes")]
    object: Bytes,
    #[serde(default = "scattered", deserialize_with = "word")]
    keys: Keys,
}

/// Of [`HotCold`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotColdKeys {
    /// Share of the memory that is hot.
    #[serde(default = "quarter", deserialize_with = "hot_share")]
    hot: f64,
    #[serde(default = "hundred")]
    ratio: f64,
    #[serde(default = "random", deserialize_with = "word")]
    place: Place,
}

impl HotColdKeys {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    fn pattern(&self, setup: &Setup) -> Result<HotCold> {
        let (size, granule) = (setup.size(), UnitSize::Huge);
        let hot = Bytes((size.as_f64() * self.hot) as u64);
        let whole = |bytes: Bytes| bytes.0.is_multiple_of(granule.bytes().0);
        if !whole(size) {
            let remedy = format!(
                "no whole number of units of {granule}; give another `memory`, or another `scale` \
                 where it is divided by one"
            );
            return refuse("memory", size, remedy);
        }
        if !whole(hot) {
            let remedy = format!(
                "{hot} of {size}, no whole number of units of {granule}; give another `hot` or \
                 `memory`, or another `scale` where it is divided by one"
            );
            return refuse("hot", self.hot, remedy);
        }
        Ok(HotCold { hot, ratio: self.ratio, place: self.place, granule })
    }
}

/// Of [`Phases`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasesKeys {
    #[serde(default = "four")]
    sets: u64,
    #[serde(default = "ten")]
    every: f64,
    #[serde(default = "at_random", deserialize_with = "word")]
    access: Within,
    #[serde(default)]
    elsewhere: f64,
    #[serde(default)]
    scattered: bool,
}

impl PhasesKeys {
    fn pattern(&self) -> Phases {
        let Self { sets, every, access, elsewhere, scattered } = *self;
        Phases { sets, set_size: None, sizes: Vec::new(), every, access, elsewhere, scattered }
    }
}

/// Of [`PointerChase`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointerChaseKeys {
    #[serde(default = "line", deserialize_with = "bytes")]
    slot: Bytes,
}

/// Of [`Amp`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AmpKeys {
    /// Programs, one after the other.
    #[serde(deserialize_with = "words")]
    favour: Vec<Favour>,
    #[serde(default = "minutes")]
    each: f64,
    #[serde(default = "text", deserialize_with = "word")]
    source: Origin,
    #[serde(default = "hundredth")]
    cold: f64,
}

impl AmpKeys {
    fn pattern(&self) -> Amp {
        let Self { each, source, cold, .. } = *self;
        Amp { favour: self.favour.clone(), each, source, scale: 1.0, cold }
    }
}

fn named<E: serde::de::Error, C: Choice>(word: &str) -> std::result::Result<C, E> {
    C::named(word).ok_or_else(|| {
        let known: Vec<String> = C::ALL.iter().map(|one| format!("`{one}`")).collect();
        E::custom(format!("unknown variant `{word}`, expected one of {}", known.join(", ")))
    })
}

fn word<'de, D: Deserializer<'de>, C: Choice>(from: D) -> std::result::Result<C, D::Error> {
    named(&String::deserialize(from)?)
}

/// A workload has a size in its place: what is given is named.
fn hot_share<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    let value = toml::Value::deserialize(from)?;
    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    number.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        D::Error::custom(format!("hot must be a share of the memory, from 0 to 1, not {value}"))
    })
}

fn words<'de, D: Deserializer<'de>, C: Choice>(from: D) -> std::result::Result<Vec<C>, D::Error> {
    Vec::<String>::deserialize(from)?.iter().map(|word| named(word)).collect()
}

fn line() -> Bytes {
    Bytes(64)
}
fn page() -> Bytes {
    Bytes::kib(4)
}
fn usual() -> f64 {
    0.99
}
fn quarter() -> f64 {
    0.25
}
fn hundred() -> f64 {
    100.0
}
fn hundredth() -> f64 {
    0.01
}
fn ten() -> f64 {
    10.0
}
fn four() -> u64 {
    4
}
fn minutes() -> f64 {
    300.0
}
fn scattered() -> Keys {
    Keys::Scattered
}
fn random() -> Place {
    Place::Random
}
fn at_random() -> Within {
    Within::Random
}
fn text() -> Origin {
    Origin::Text
}
