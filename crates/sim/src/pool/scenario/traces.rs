//! Misses of programs, filtered once and kept for all settings that are replayed.

use super::super::filter::Filtering;
use super::super::kept::{Filtered, filter};
use super::super::settings::{PoolError, refuse};
use super::ProgramSpec;
use super::program::unread;
use pagetide_access::parameter::ParameterError;
use pagetide_machine::{PoolCache, PoolMachine};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// All that decides the misses of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The program with all of its keys, in words.
    program: String,
    /// Size, ways and whether it is shared, of each level.
    caches: Vec<(u64, u32, bool)>,
    /// Entries and ways of each level, and whether hits of the second are told.
    tlb: Option<([u32; 4], bool)>,
    cores: u32,
    warm_up: u64,
    instructions: u64,
    seed: u64,
}

/// What is kept of a program on a node, and the program's pages.
pub type Traced = Arc<(Filtered, u32)>;

fn of_caches(error: ParameterError) -> PoolError {
    PoolError::Value { key: error.parameter.to_owned(), value: error.value, remedy: error.remedy }
}

/// See the module. Threads that ask for the same misses wait for the first of them.
#[derive(Debug, Default)]
pub struct Traces(Mutex<HashMap<Key, Arc<Mutex<Option<Traced>>>>>);

impl Traces {
    /// The misses of a program on a node of a machine; `fits` is asked about its pages before its accesses
    /// are filtered, which may take minutes.
    ///
    /// # Errors
    /// A program or caches that make no sense, and what `fits` says.
    pub fn of(
        &self,
        program: &ProgramSpec,
        machine: &PoolMachine,
        (warm_up, instructions): (u64, u64),
        seed: u64,
        fits: &dyn Fn(u32) -> Result<(), PoolError>,
    ) -> Result<Traced, PoolError> {
        let level = |level: &PoolCache| (level.size.0, level.ways, level.shared);
        let caches = machine.caches.iter().map(level).collect();
        let cores = machine.core.count;
        let of = format!("{program:?}");
        let tlb = machine.tlb.as_ref().map(|tlb| {
            ([tlb.first, tlb.first_ways, tlb.second, tlb.second_ways], tlb.second_ns > 0.0)
        });
        let key = Key { program: of, caches, tlb, cores, warm_up, instructions, seed };
        let cell = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key).or_default())
        };
        let mut kept = cell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = &*kept {
            return Ok(Arc::clone(there));
        }
        let threads = program.threads(cores, seed)?;
        let pages = threads.pages;
        fits(pages)?;
        let filtering = Filtering { warm_up, instructions, pages, seed };
        let filtered = filter(threads.sources, &machine.caches, machine.tlb.as_ref(), filtering)
            .map_err(of_caches)?;
        if let (ProgramSpec::Stream { stream, .. }, Some(failure)) = (program, threads.failure) {
            if let Some(source) = failure.take() {
                return Err(unread(stream, source));
            }
            if filtered.misses.iter().all(|misses| misses.instructions() == 0) {
                let path = stream.display();
                let remedy = format!("{path} ends before; give a smaller one, or repeat = true");
                return refuse("warm_up", &warm_up, remedy);
            }
        }
        Ok(Arc::clone(kept.insert(Arc::new((filtered, pages)))))
    }
}
