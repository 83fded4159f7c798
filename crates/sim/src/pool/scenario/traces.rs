//! Misses of programs, filtered once and kept for all settings that are replayed.

use super::super::filter::{Filtering, filter};
use super::super::settings::PoolError;
use super::super::traffic::Misses;
use super::ProgramSpec;
use pagetide_machine::{PoolCache, PoolMachine};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// All that decides the misses of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    program: ProgramSpec,
    /// Size, ways and whether it is shared, of each level.
    caches: Vec<(u64, u32, bool)>,
    cores: u32,
    warm_up: u64,
    instructions: u64,
    seed: u64,
}

/// The misses of a node's cores, and the pages of the program.
pub type Traced = Arc<(Vec<Misses>, u32)>;

/// See the module. Threads that ask for the same misses wait for the first of them.
#[derive(Debug, Default)]
pub struct Traces(Mutex<HashMap<Key, Arc<OnceLock<Traced>>>>);

impl Traces {
    /// The misses of a program on a node of a machine.
    ///
    /// # Errors
    /// A program or caches that make no sense.
    pub fn of(
        &self,
        program: &ProgramSpec,
        machine: &PoolMachine,
        (warm_up, instructions): (u64, u64),
        seed: u64,
    ) -> Result<Traced, PoolError> {
        let level = |level: &PoolCache| (level.size.0, level.ways, level.shared);
        let caches = machine.caches.iter().map(level).collect();
        let cores = machine.core.count;
        let key = Key { program: *program, caches, cores, warm_up, instructions, seed };
        let cell = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key).or_default())
        };
        // Checked here, so that what is kept cannot fail.
        let (threads, pages) = program.threads(cores, seed)?;
        if let Some(there) = cell.get() {
            return Ok(Arc::clone(there));
        }
        let mut failed = None;
        let traced = cell.get_or_init(|| {
            let filtering = Filtering { warm_up, instructions, pages, seed };
            let misses = filter(threads, &machine.caches, filtering);
            let misses = misses.unwrap_or_else(|error| {
                failed = Some(error);
                Vec::new()
            });
            Arc::new((misses, pages))
        });
        match failed {
            Some(error) => Err(PoolError::Value {
                key: error.parameter,
                value: error.value,
                remedy: error.remedy,
            }),
            None => Ok(Arc::clone(traced)),
        }
    }
}
