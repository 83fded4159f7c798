//! Machine models: the tiers a program could have, and what moving a page costs there.
//! One TOML file per machine in `machines/`, compiled in; figures and sources stand in the files.

use crate::model::{self, Model, ModelError};
use crate::parts::{Cache, Cores, Kernel, Tlb};
use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer, Serialize};

/// One built-in machine per line; the file is `machines/NAME.toml`. The first is the default.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        const BUILT_IN: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../machines/", $name, ".toml")))),*
        ];
    };
}
built_in!["cxl", "adaptive-cxl", "amp", "disaggregated-pcm", "nimble-xeon", "pmshifter-optane",];

/// A machine with at least two tiers of memory, the one to place hot memory in first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Short name, as given to `--machine`.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// Where the figures come from.
    pub source: String,
    /// CPU cache that a program can count on per core it keeps busy, whoever runs beside it: the
    /// core's own. What it holds is no traffic to memory. None if not given.
    #[serde(default, deserialize_with = "bytes_in_words", skip_serializing_if = "Option::is_none")]
    pub cache_per_core: Option<Bytes>,
    /// The tiers; 0 is the fast one, as the file says it.
    #[serde(rename = "tier")]
    pub tiers: Vec<Tier>,
    /// What moving pages costs.
    pub migration: Migration,
    /// Its cores, for simulations; a default if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<Cores>,
    /// What its kernel's work costs, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// Its translation buffers, for simulations that ask for them; a default if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb: Option<Tlb>,
    /// Its caches, the nearest first, for simulations that ask for them; a default if not given.
    #[serde(rename = "cache", default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Cache>,
}

/// One kind of memory of a [`Machine`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// What people call it: `DDR5`, `CXL`.
    pub name: String,
    /// How much there is of it; unlimited if not given.
    #[serde(default, deserialize_with = "bytes_in_words", skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Idle latency of a read, nanoseconds.
    pub read_latency_ns: f64,
    /// Idle latency of a write, nanoseconds.
    pub write_latency_ns: f64,
    /// Sustained read bandwidth, 10^9 bytes per second.
    pub read_bandwidth_gb_s: f64,
    /// Sustained write bandwidth, 10^9 bytes per second.
    pub write_bandwidth_gb_s: f64,
}

/// The time that one page's move takes from the program, in either direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Migration {
    /// A 4 KiB page, microseconds.
    pub page_4k_us: f64,
    /// A 2 MiB page moved whole, microseconds.
    pub page_2m_us: f64,
    /// Two 4 KiB pages that take each other's place at once, microseconds for both; two moves if
    /// not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange_4k_us: Option<f64>,
    /// The same for two 2 MiB pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange_2m_us: Option<f64>,
    /// Where the two come from.
    pub source: String,
}

impl Tier {
    /// Whether another is faster by latency and no slower by bandwidth. Which of two is the faster
    /// one is for the machine's file to say otherwise: HBM has more latency and more bandwidth.
    fn is_beaten_by(&self, other: &Self) -> bool {
        let quicker = other.read_latency_ns < self.read_latency_ns
            || other.write_latency_ns < self.write_latency_ns;
        let wider = self.read_bandwidth_gb_s > other.read_bandwidth_gb_s
            || self.write_bandwidth_gb_s > other.write_bandwidth_gb_s;
        quicker && !wider
    }
}

impl Machine {
    /// The name of the machine used when none is asked for.
    pub const DEFAULT: &'static str = BUILT_IN[0].0;

    /// Names of the built-in machines, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        model::names::<Self>()
    }

    /// A built-in machine by name, or the file at a path (anything with a `/` or ending in
    /// `.toml`).
    ///
    /// # Errors
    /// An unknown name, an unreadable file, unknown keys or senseless values, each in words.
    pub fn load(name_or_path: &str) -> Result<Self, ModelError> {
        model::load(name_or_path)
    }

    /// The fast tier.
    #[must_use]
    pub fn fast(&self) -> &Tier {
        &self.tiers[0]
    }

    /// The slow tier: the second; plans are made for two tiers.
    #[must_use]
    pub fn slow(&self) -> &Tier {
        &self.tiers[1]
    }
}

/// The most that a latency, a bandwidth or the cost of a move may be: a second in microseconds, far
/// beyond any memory. What is larger is a slip of the pen.
const MOST: f64 = 1e6;

impl Model for Machine {
    const KIND: &'static str = "machine";
    const BUILT_IN: &'static [(&'static str, &'static str)] = BUILT_IN;
    const KEYS: &'static [(&'static str, &'static [&'static str])] = &[
        (
            "",
            &[
                "name",
                "title",
                "source",
                "cache_per_core",
                "tier",
                "migration",
                "core",
                "kernel",
                "tlb",
                "cache",
            ],
        ),
        ("core", Cores::KEYS),
        ("kernel", Kernel::KEYS),
        ("tlb", Tlb::KEYS),
        ("cache", Cache::KEYS),
        (
            "tier",
            &[
                "name",
                "capacity",
                "read_latency_ns",
                "write_latency_ns",
                "read_bandwidth_gb_s",
                "write_bandwidth_gb_s",
            ],
        ),
        ("migration", &["page_4k_us", "page_2m_us", "exchange_4k_us", "exchange_2m_us", "source"]),
    ];

    fn problem(&self) -> Option<String> {
        if self.tiers.len() < 2 {
            return Some("a machine needs at least two [[tier]] entries, the fastest first".into());
        }
        for tier in &self.tiers {
            for (key, value) in [
                ("read_latency_ns", tier.read_latency_ns),
                ("write_latency_ns", tier.write_latency_ns),
                ("read_bandwidth_gb_s", tier.read_bandwidth_gb_s),
                ("write_bandwidth_gb_s", tier.write_bandwidth_gb_s),
            ] {
                if !(value > 0.0 && value <= MOST) {
                    return Some(format!(
                        "tier '{}': {key} must be above 0 and at most {MOST}, not {value}",
                        tier.name
                    ));
                }
            }
        }
        for pair in self.tiers.windows(2) {
            if pair[0].is_beaten_by(&pair[1]) {
                return Some(format!(
                    "tier '{}' has a lower latency than '{}' before it and no less bandwidth; the \
                     fastest comes first",
                    pair[1].name, pair[0].name
                ));
            }
        }
        let cost = &self.migration;
        let exchange =
            [("exchange_4k_us", cost.exchange_4k_us), ("exchange_2m_us", cost.exchange_2m_us)];
        [("page_4k_us", cost.page_4k_us), ("page_2m_us", cost.page_2m_us)]
            .into_iter()
            .chain(exchange.into_iter().filter_map(|(key, value)| Some((key, value?))))
            .find(|(_, value)| !(0.0..=MOST).contains(value))
            .map(|(key, value)| {
                format!("migration: {key} must be 0 or above and at most {MOST}, not {value}")
            })
            .or_else(|| self.core.as_ref().and_then(Cores::problem))
            .or_else(|| self.kernel.as_ref().and_then(Kernel::problem))
            .or_else(|| self.tlb.as_ref().and_then(Tlb::problem))
            .or_else(|| Cache::problem(&self.caches))
    }
}

fn bytes_in_words<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_registered_and_parses() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            // Beside them lie pools, which have a model of their own.
            .filter(|file| file != "pools")
            .map(|file| file.strip_suffix(".toml").unwrap().to_owned())
            .collect();
        files.sort();
        let mut names: Vec<&str> = Machine::names().collect();
        names.sort_unstable();
        assert_eq!(files, names);
        for name in names {
            let machine = Machine::load(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(machine.name, name);
            assert!(!machine.source.is_empty() && !machine.migration.source.is_empty());
        }
    }

    #[test]
    fn the_machine_that_the_documentation_adds_is_one() {
        let page = include_str!("../../../docs/extending.md");
        let (_, from) = page.split_once("```toml\nname = \"hbm\"").unwrap();
        let text = format!("name = \"hbm\"{}", from.split("```").next().unwrap());
        let machine = model::parse::<Machine>(&text, "docs/extending.md").unwrap();
        assert_eq!((machine.name.as_str(), machine.tiers.len()), ("hbm", 2));
    }

    #[test]
    fn memory_with_more_latency_and_more_bandwidth_may_come_first() {
        let good = BUILT_IN[0].1;
        let slow = good.find("[[tier]]\nname = \"CXL\"").unwrap();
        // As if DDR5 were behind HBM of the same page.
        let hbm = good[..slow].replace("_latency_ns = 100", "_latency_ns = 130");
        let ddr = good[slow..].replace("_latency_ns = 250", "_latency_ns = 105");
        assert_ne!((hbm.as_str(), ddr.as_str()), (&good[..slow], &good[slow..]));
        let machine = model::parse::<Machine>(&(hbm + &ddr), "hbm.toml").unwrap();
        assert!(machine.fast().read_latency_ns > machine.slow().read_latency_ns);
        assert!(machine.fast().read_bandwidth_gb_s > machine.slow().read_bandwidth_gb_s);
    }

    #[test]
    fn a_path_is_read_and_a_wrong_name_is_answered() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/amp.toml");
        assert_eq!(Machine::load(path).unwrap(), Machine::load("amp").unwrap());
        let table = model::table::<Machine>("amp").unwrap();
        assert_eq!(
            model::parse::<Machine>(&table.to_string(), "x").unwrap(),
            Machine::load(path).unwrap()
        );
        assert!(model::table::<Machine>("amq").unwrap_err().to_string().contains("'amp'"));
        let error = Machine::load("nimble-xenon").unwrap_err().to_string();
        assert!(error.contains("did you mean 'nimble-xeon'?"), "{error}");
        assert!(Machine::load("/no/such.toml").unwrap_err().to_string().contains("/no/such.toml"));
    }

    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = Machine::load("/dev/zero").unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let said = format!("{error} {}", source.unwrap_or_default());
        assert!(said.contains("/dev/zero") && said.contains("longer than"), "{said}");
    }

    #[test]
    fn unknown_keys_and_senseless_values_are_named() {
        let good = BUILT_IN[0].1;
        for (from, to, part) in [
            ("write_latency_ns = 250", "writ_latency_ns = 250", "did you mean 'write_latency_ns'?"),
            ("page_4k_us", "page_4kb_us", "unknown key 'migration.page_4kb_us'"),
            ("title =", "titel =", "did you mean 'title'?"),
            ("read_bandwidth_gb_s = 28", "read_bandwidth_gb_s = 0", "must be above 0"),
            ("page_2m_us = 370", "page_2m_us = -1", "must be 0 or above"),
            ("page_2m_us = 370", "page_2m_us = 1e30", "at most 1000000"),
            ("write_latency_ns = 250", "write_latency_ns = 1e30", "at most 1000000"),
            ("read_bandwidth_gb_s = 28", "read_bandwidth_gb_s = inf", "at most 1000000"),
            ("name = \"CXL\"", "name = \"CXL\"\ncapacity = \"much\"", "not an amount of memory"),
            ("page_2m_us = 370", "", "page_2m_us"),
            ("page_2m_us = 370", "page_2m_us = 370\nexchange_4k_us = -2", "exchange_4k_us must be"),
            ("[migration]", "[kernel]\ncopy_gb = 2\n[migration]", "did you mean 'copy_gb_s'?"),
            ("[migration]", "[kernel]\ncopy_gb_s = 0\n[migration]", "copy_gb_s must be above 0"),
            ("[migration]", "[kernel]\npage_us = nan\n[migration]", "page_us must be 0 or above"),
            ("[migration]", "[core]\ncount = 0\n[migration]", "must be 1 or more"),
            ("[migration]", "[tlb]\nfirst_ways = 0\n[migration]", "first_4k needs 1 way"),
            ("[migration]", "[tlb]\nwalkers = 0\n[migration]", "walkers must be from 1"),
            (
                "[migration]",
                "[[cache]]\nsize = \"32K\"\nways = 0\nhit_ns = 1\n[migration]",
                "1 way or more",
            ),
            (
                "[migration]",
                "[[cache]]\nsize = \"32K\"\nways = 8\nhit_ns = 0\n[migration]",
                "hit_ns must be above 0",
            ),
        ] {
            assert!(good.contains(from), "{from}");
            let error =
                model::parse::<Machine>(&good.replace(from, to), "x.toml").unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("x.toml"), "{error}");
        }
        let slow = good.find("[[tier]]\nname = \"CXL\"").unwrap();
        let swapped = good[slow..].replace("_bandwidth_gb_s = ", "_bandwidth_gb_s = 9");
        let swapped = swapped.replace("read_latency_ns = 250", "read_latency_ns = 25");
        let error = model::parse::<Machine>(&format!("{}{swapped}", &good[..slow]), "x");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("the fastest comes first"), "{error}");
        let one = &good[..good.find("[[tier]]\nname = \"CXL\"").unwrap()];
        let migration = &good[good.find("[migration]").unwrap()..];
        let error =
            model::parse::<Machine>(&format!("{one}{migration}"), "x").unwrap_err().to_string();
        assert!(error.contains("at least two"), "{error}");
    }
}
