//! A program of a scenario: `kind`, and the keys of that.

use super::super::settings::{PoolError, refuse};
use super::paced::Paced;
use crate::scenario::{Failure, PatternSpec, Repeat, Streamed, Thread, Wanted, hint};
use pagetide_access::parameter::ParameterError;
use pagetide_access::patterns::programs::{
    IntegerSort, Lulesh, MiniFe, Pennant, Program, SimpleMoc,
};
use pagetide_access::patterns::{Setup, Source};
use pagetide_types::Bytes;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A program with its size; sizes are those of the paper if not given.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// A pattern of tenants' scenarios.
    Pattern {
        /// Its memory, as `"512M"`.
        memory: String,
        /// Instructions of a core from one access to the next.
        #[serde(default = "between")]
        instructions: u32,
        /// What it touches: a table as tenants have it.
        pattern: toml::Table,
    },
    /// Recorded accesses.
    Stream {
        /// The file.
        stream: PathBuf,
        /// How often it is made; once if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<Repeat>,
        /// Of a trace that does not tell them, instructions of the core from one access to the next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<u32>,
    },
}

/// A program's threads.
pub struct Threads {
    /// What each accesses.
    pub sources: Vec<Box<dyn Source>>,
    /// Pages of its memory.
    pub pages: u32,
    /// Of a stream, where it says what went wrong while it was read.
    pub(super) failure: Option<Failure>,
}

/// Instructions from one access of a pattern to the next, if not given.
const fn between() -> u32 {
    4
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
            Self::Pattern { .. } => "pattern",
            Self::Stream { .. } => "stream",
        }
    }

    /// Looks for what makes no sense, as far as that takes no time, and tells its pages: of a stream only whether it
    /// is there, and no pages.
    pub(super) fn check(&self, cores: u32) -> Result<Option<u32>, PoolError> {
        match self {
            Self::Stream { stream, .. } => {
                let there = Streamed::is_there(stream);
                there.map(|()| None).map_err(|source| unread(stream, source))
            }
            _ => self.threads(cores, 0).map(|threads| Some(threads.pages)),
        }
    }

    /// Its threads, on a node of so many cores; a stream is read for that from its beginning to its end.
    ///
    /// # Errors
    /// Sizes that make no sense; a stream that cannot be read, or has more threads than the node has cores.
    pub fn threads(&self, cores: u32, seed: u64) -> Result<Threads, PoolError> {
        match self {
            Self::Lulesh { edge } => self.written(&Lulesh { edge: *edge }, cores, seed),
            Self::Simplemoc { regions } => {
                self.written(&SimpleMoc { regions: *regions }, cores, seed)
            }
            Self::Pennant { zones } => self.written(&Pennant { zones: *zones }, cores, seed),
            Self::Minife { edge } => self.written(&MiniFe { edge: *edge }, cores, seed),
            Self::Is { keys, largest } => {
                self.written(&IntegerSort { keys: *keys, largest: *largest }, cores, seed)
            }
            Self::Pattern { memory, instructions, pattern } => {
                self.pattern((memory, *instructions, pattern), cores, seed)
            }
            Self::Stream { stream, repeat, instructions } => {
                self.stream(stream, (*repeat, *instructions), cores)
            }
        }
    }

    /// One of those that were written for pools.
    fn written(&self, program: &dyn Program, cores: u32, seed: u64) -> Result<Threads, PoolError> {
        let threads = program.threads(cores, seed).map_err(wrong)?;
        let sources =
            threads.into_iter().map(|thread| Box::new(thread) as Box<dyn Source>).collect();
        Ok(Threads { sources, pages: self.pages(program.memory())?, failure: None })
    }

    /// A pattern, a thread of it on each core.
    fn pattern(
        &self,
        (memory, instructions, pattern): (&str, u32, &toml::Table),
        cores: u32,
        seed: u64,
    ) -> Result<Threads, PoolError> {
        between_at_least_one(instructions)?;
        let memory = Bytes::with_unit(memory)
            .or_else(|problem| refuse("program.memory", &memory, problem.to_string()))?;
        let pages = self.pages(memory)?;
        let spec: PatternSpec = pattern.clone().try_into().or_else(|error: toml::de::Error| {
            let kind = pattern.get("kind").and_then(toml::Value::as_str).unwrap_or("of no kind");
            let remedy = format!("{}; {}", error.message(), hint(error.message()));
            refuse("program.pattern", &kind, remedy.trim_end_matches("; "))
        })?;
        let built = Setup::new(memory, cores, seed).and_then(|setup| spec.build(&setup));
        let paced = |source| Box::new(Paced::new(source, instructions)) as Box<dyn Source>;
        let sources = built.map_err(of_pattern)?.sources.into_iter().map(paced).collect();
        Ok(Threads { sources, pages, failure: None })
    }

    /// Recorded accesses, a thread on each core.
    fn stream(
        &self,
        path: &Path,
        (repeat, instructions): (Option<Repeat>, Option<u32>),
        cores: u32,
    ) -> Result<Threads, PoolError> {
        let wanted = Wanted { huge: false, repeat };
        let streamed = Streamed::open(path, wanted).map_err(|source| unread(path, source))?;
        let threads = streamed.threads.len();
        if threads > cores as usize {
            let remedy = format!(
                "{} has {threads} threads, and each needs a core of its own; set pool.core.count",
                path.display()
            );
            return refuse("pool.core.count", &cores, remedy);
        }
        if let Some(given) = instructions.filter(|_| streamed.counted) {
            let remedy = format!("{} has them with each access; leave it out", path.display());
            return refuse("program.instructions", &given, remedy);
        }
        let gap = instructions.unwrap_or(between());
        between_at_least_one(gap)?;
        let source = |Thread { source, .. }| -> Box<dyn Source> {
            if streamed.counted { source } else { Box::new(Paced::new(source, gap)) }
        };
        let pages = self.pages(Bytes(streamed.pages << 12))?;
        let sources = streamed.threads.into_iter().map(source).collect();
        Ok(Threads { sources, pages, failure: Some(streamed.failure) })
    }

    /// Pages of its memory: lines are numbered by 32 bits.
    fn pages(&self, memory: Bytes) -> Result<u32, PoolError> {
        let pages = u32::try_from(memory.0.div_ceil(4096)).ok();
        let Some(pages) = pages.filter(|pages| *pages <= u32::MAX >> 6) else {
            let remedy = "its memory is larger than 256 GiB; give a smaller size";
            return refuse("program.kind", &self.name(), remedy);
        };
        Ok(pages)
    }
}

/// Accesses without instructions between them would take no time.
fn between_at_least_one(instructions: u32) -> Result<(), PoolError> {
    if instructions == 0 {
        let remedy = "accesses would take no time; give 1 or more";
        return refuse("program.instructions", &instructions, remedy);
    }
    Ok(())
}

/// A parameter of a program as an error of the scenario.
fn wrong(error: ParameterError) -> PoolError {
    PoolError::Value {
        key: format!("program.{}", error.parameter),
        value: error.value,
        remedy: error.remedy,
    }
}

/// The same of a pattern, whose memory is the program's.
fn of_pattern(error: ParameterError) -> PoolError {
    let key = match error.parameter {
        "memory" | "size" => "program.memory".to_owned(),
        own => format!("program.pattern.{own}"),
    };
    PoolError::Value { key, value: error.value, remedy: error.remedy }
}

/// A stream that cannot be read.
pub(super) fn unread(path: &Path, source: crate::scenario::StreamProblem) -> PoolError {
    PoolError::Stream { path: path.to_owned(), source }
}
