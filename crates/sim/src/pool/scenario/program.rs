//! A program of a scenario: `kind`, and the keys of that.

use super::super::settings::{PoolError, refuse};
use pagetide_access::parameter::ParameterError;
use pagetide_access::patterns::Source;
use pagetide_access::patterns::programs::{
    IntegerSort, Lulesh, MiniFe, Pennant, Program, SimpleMoc,
};
use serde::{Deserialize, Serialize};

/// A program with its size; sizes are those of the paper if not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProgramSpec {
    /// LULESH, `-s EDGE`.
    Lulesh {
        /// Elements along an edge.
        #[serde(default = "lulesh_edge")]
        edge: u64,
    },
    /// SimpleMOC.
    Simplemoc {
        /// Source regions.
        #[serde(default = "regions")]
        regions: u64,
    },
    /// PENNANT.
    Pennant {
        /// Zones.
        #[serde(default = "zones")]
        zones: u64,
    },
    /// miniFE, `-nx EDGE -ny EDGE -nz EDGE`.
    Minife {
        /// Elements along an edge.
        #[serde(default = "minife_edge")]
        edge: u64,
    },
    /// NAS IS with buckets.
    Is {
        /// log2 of the keys.
        #[serde(default = "keys")]
        keys: u32,
        /// log2 of the largest key.
        #[serde(default = "largest")]
        largest: u32,
    },
}

const fn lulesh_edge() -> u64 {
    120
}

const fn regions() -> u64 {
    15_000
}

const fn zones() -> u64 {
    160 * 1440
}

const fn minife_edge() -> u64 {
    140
}

const fn keys() -> u32 {
    27
}

const fn largest() -> u32 {
    23
}

impl ProgramSpec {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Lulesh { .. } => "lulesh",
            Self::Simplemoc { .. } => "simplemoc",
            Self::Pennant { .. } => "pennant",
            Self::Minife { .. } => "minife",
            Self::Is { .. } => "is",
        }
    }

    fn program(&self) -> Box<dyn Program> {
        match *self {
            Self::Lulesh { edge } => Box::new(Lulesh { edge }),
            Self::Simplemoc { regions } => Box::new(SimpleMoc { regions }),
            Self::Pennant { zones } => Box::new(Pennant { zones }),
            Self::Minife { edge } => Box::new(MiniFe { edge }),
            Self::Is { keys, largest } => Box::new(IntegerSort { keys, largest }),
        }
    }

    /// Its threads, and the pages of its memory.
    ///
    /// # Errors
    /// Sizes that make no sense.
    pub fn threads(&self, count: u32, seed: u64) -> Result<(Vec<Box<dyn Source>>, u32), PoolError> {
        let program = self.program();
        let wrong = |error: ParameterError| PoolError::Value {
            key: error.parameter,
            value: error.value,
            remedy: error.remedy,
        };
        let threads = program.threads(count, seed).map_err(wrong)?;
        let pages = program.memory().0.div_ceil(4096);
        // Lines are numbered by 32 bits.
        let Some(pages) = u32::try_from(pages).ok().filter(|pages| *pages <= u32::MAX >> 6) else {
            let remedy = "its memory is larger than 256 GiB; give a smaller size";
            return refuse("program.kind", &self.name(), remedy);
        };
        let boxed = threads.into_iter().map(|thread| Box::new(thread) as Box<dyn Source>);
        Ok((boxed.collect(), pages))
    }
}
