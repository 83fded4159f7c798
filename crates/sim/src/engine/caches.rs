//! The caches between a core and memory, up to three levels of [`pagetide_access::filter::Cache`], of
//! which all cores may share the last. A line is brought into every level that lacked it; what a
//! level gives up dirty is written into the next one, from the last level up, as in
//! [`pagetide_access::filter::Private`], which has three levels always.

use super::translations::Sets;
use pagetide_access::filter::{Cache, Evicted, LINE, Looked};
use pagetide_access::parameter::Result;
use pagetide_machine as machine;
use pagetide_types::Bytes;

/// One level.
#[derive(Clone, Debug)]
pub(super) struct Level {
    cache: Cache,
    hit_ns: f64,
}

impl Level {
    /// An empty one; the machine's size divided by `scale`.
    pub(super) fn new(machine: &machine::Cache, scale: f64) -> Result<Self> {
        let Sets { entries, ways } = Sets::scaled(machine.size.0 / LINE.0, machine.ways, scale);
        Ok(Self { cache: Cache::new(Bytes(entries * LINE.0), ways)?, hit_ns: machine.hit_ns })
    }

    /// Lines are below this.
    pub(super) fn limit(&self) -> u64 {
        self.cache.limit()
    }
}

/// Those of a core, the nearest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Caches {
    own: Vec<Level>,
    /// Dirty lines that the last access made them write to memory.
    written: Vec<u64>,
}

impl Caches {
    pub(super) fn new(own: Vec<Level>) -> Self {
        Self { own, written: Vec::new() }
    }

    /// Lines are below this.
    pub(super) fn limit(&self) -> u64 {
        self.own.iter().map(Level::limit).min().unwrap_or(u64::MAX)
    }

    /// Reads or writes a line through them and the level that cores share; what it takes if one of
    /// them has it, ns.
    #[inline]
    pub(super) fn access(
        &mut self,
        shared: &mut Option<Level>,
        line: u64,
        write: bool,
    ) -> Option<f64> {
        self.written.clear();
        fetch(&mut self.own, shared, line, write, &mut self.written)
    }

    /// Lines that the last access made them write to memory.
    #[inline]
    pub(super) fn written(&self) -> &[u64] {
        &self.written
    }
}

/// Looks for a line from a level on, and brings it into all that lack it; what the first that had it
/// takes.
#[inline]
fn fetch(
    own: &mut [Level],
    shared: &mut Option<Level>,
    line: u64,
    write: bool,
    written: &mut Vec<u64>,
) -> Option<f64> {
    let (first, behind) = match own {
        [first, behind @ ..] => (first, behind),
        [] => return fetch_last(shared.as_mut()?, line, write, written),
    };
    match first.cache.access(line, write) {
        Looked::Hit => Some(first.hit_ns),
        Looked::Miss(evicted) => fetch_behind(behind, shared, line, evicted, written),
    }
}

#[inline(never)]
fn fetch_behind(
    behind: &mut [Level],
    shared: &mut Option<Level>,
    line: u64,
    evicted: Option<Evicted>,
    written: &mut Vec<u64>,
) -> Option<f64> {
    let found = fetch(behind, shared, line, false, written);
    if let Some(line) = dirty(evicted) {
        give_up(behind, shared, line, written);
    }
    found
}

fn fetch_last(last: &mut Level, line: u64, write: bool, written: &mut Vec<u64>) -> Option<f64> {
    match last.cache.access(line, write) {
        Looked::Hit => Some(last.hit_ns),
        Looked::Miss(evicted) => {
            written.extend(dirty(evicted));
            None
        }
    }
}

/// Writes a line that the level before gave up into a level, or to memory behind the last.
fn give_up(own: &mut [Level], shared: &mut Option<Level>, line: u64, written: &mut Vec<u64>) {
    let (level, behind) = match own {
        [first, behind @ ..] => (Some(first), behind),
        [] => (None, &mut [][..]),
    };
    match level {
        Some(level) => {
            if let Looked::Miss(evicted) = level.cache.access(line, true)
                && let Some(line) = dirty(evicted)
            {
                give_up(behind, shared, line, written);
            }
        }
        None => match shared {
            Some(last) => {
                fetch_last(last, line, true, written);
            }
            None => written.push(line),
        },
    }
}

#[inline]
fn dirty(evicted: Option<Evicted>) -> Option<u64> {
    evicted.filter(|evicted| evicted.dirty).map(|evicted| evicted.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_access::filter::{Level as Found, Private};
    use proptest::prelude::*;

    fn level(lines: u64, ways: u32, hit_ns: f64, shared: bool) -> Level {
        let size = Bytes(lines * LINE.0);
        Level::new(&machine::Cache { size, ways, hit_ns, shared }, 1.0).unwrap()
    }

    fn plain(lines: u64, ways: u32) -> Cache {
        Cache::new(Bytes(lines * LINE.0), ways).unwrap()
    }

    proptest! {
        #[test]
        fn three_levels_do_what_private_and_last_do(
            accesses in prop::collection::vec((0u64..64, any::<bool>()), 1..400),
            shared: bool,
        ) {
            let (first, second) = (level(4, 2, 1.0, false), level(8, 4, 2.0, false));
            let last = level(16, 4, 3.0, shared);
            let mut private = Private::new(plain(4, 2), plain(8, 4));
            let mut behind = plain(16, 4);
            let (mut caches, mut last) = match shared {
                true => (Caches::new(vec![first, second]), Some(last)),
                false => (Caches::new(vec![first, second, last]), None),
            };
            for (line, write) in accesses {
                let right = private.access(&mut behind, line, write);
                let found = match right.level {
                    Found::First => Some(1.0),
                    Found::Second => Some(2.0),
                    Found::Last => Some(3.0),
                    Found::Memory => None,
                };
                prop_assert_eq!(caches.access(&mut last, line, write), found);
                prop_assert_eq!(caches.written(), right.written.lines());
            }
        }
    }

    #[test]
    fn fewer_levels_work_alike_and_none_is_memory() {
        let mut one = Caches::new(vec![level(1, 1, 1.0, false)]);
        assert_eq!(one.access(&mut None, 5, true), None);
        assert_eq!((one.access(&mut None, 5, false), one.written()), (Some(1.0), &[][..]));
        assert_eq!((one.access(&mut None, 6, false), one.written()), (None, &[5][..]));
        let (mut only, mut last) = (Caches::default(), Some(level(1, 1, 9.0, true)));
        assert_eq!(only.access(&mut last, 5, true), None);
        assert_eq!(only.access(&mut last, 5, false), Some(9.0));
        assert_eq!((only.access(&mut last, 6, false), only.written()), (None, &[5][..]));
        assert_eq!(Caches::default().access(&mut None, 5, true), None);
    }
}
