//! How pages are moved: Nimble's four optimisations (section 3.1), each on its own.

use serde::{Deserialize, Serialize};

/// See the module. The default is what Linux did before Nimble, but for whole huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mechanism {
    /// Huge pages are split, and what moves are base pages.
    pub split: bool,
    /// Threads that copy.
    pub threads: u32,
    /// Pages that are unmapped, copied and mapped again together: concurrent migration; of pairs,
    /// as many pairs. 0: all of a request.
    pub together: u32,
    /// What happens to a page that goes up for another that goes down.
    pub exchange: Exchange,
}

impl Default for Mechanism {
    fn default() -> Self {
        Self::HUGE
    }
}

/// How two pages change places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// All that goes down goes first, then all that goes up.
    #[default]
    Never,
    /// Each page goes up right after the one that makes room for it, in new frames.
    Paired,
    #[serde(rename = "swap", alias = "true")]
    /// The two swap their frames' contents: nothing is allocated (section 3.1.4).
    True,
}

impl Mechanism {
    /// Base pages, one after the other, as Linux did it (configuration 2 of section 4.3).
    pub const BASE: Self = Self { split: true, ..Self::HUGE };
    /// Base pages, 4 threads, 512 pairs at once (3).
    pub const EXCHANGE_BASE: Self =
        Self { split: true, threads: 4, together: 512, exchange: Exchange::True };
    /// Huge pages moved whole, one after the other (4).
    pub const HUGE: Self =
        Self { split: false, threads: 1, together: 1, exchange: Exchange::Never };
    /// Huge pages, 4 threads, 8 pairs at once (5).
    pub const EXCHANGE_HUGE: Self =
        Self { split: false, threads: 4, together: 8, exchange: Exchange::True };
}

/// What a scenario says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MechanismChange {
    /// See [`Mechanism::split`].
    pub split: Option<bool>,
    /// See [`Mechanism::threads`].
    pub threads: Option<u32>,
    /// See [`Mechanism::together`].
    pub together: Option<u32>,
    /// See [`Mechanism::exchange`].
    pub exchange: Option<Exchange>,
}

impl MechanismChange {
    /// A system's own mechanism with these changes.
    #[must_use]
    pub fn of(self, own: Mechanism) -> Mechanism {
        Mechanism {
            split: self.split.unwrap_or(own.split),
            threads: self.threads.unwrap_or(own.threads),
            together: self.together.unwrap_or(own.together),
            exchange: self.exchange.unwrap_or(own.exchange),
        }
    }
}
