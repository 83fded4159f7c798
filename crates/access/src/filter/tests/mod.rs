//! Caches and TLBs against models that are too simple to be wrong, and against closed forms.

mod cache;
mod hierarchy;
mod misses;
mod tlb;

use super::{Cache, Evicted, LINE, Looked};
use pagetide_types::Bytes;
use std::collections::VecDeque;

/// A cache of so many lines.
fn lines(lines: u64, ways: u32) -> Cache {
    Cache::new(Bytes(lines * LINE.0), ways).unwrap()
}

/// Sets as queues, the line used last in front, with whether it is dirty.
#[derive(Clone)]
struct Naive {
    sets: Vec<VecDeque<(u64, bool)>>,
    ways: usize,
}

impl Naive {
    fn new(lines: u64, ways: u32) -> Self {
        let sets = lines / u64::from(ways);
        Self { sets: (0..sets).map(|_| VecDeque::new()).collect(), ways: ways as usize }
    }

    fn set(&mut self, line: u64) -> &mut VecDeque<(u64, bool)> {
        let set = line % self.sets.len() as u64;
        &mut self.sets[usize::try_from(set).unwrap()]
    }

    fn access(&mut self, line: u64, write: bool) -> Looked {
        let ways = self.ways;
        let set = self.set(line);
        if let Some(at) = set.iter().position(|(held, _)| *held == line) {
            let (_, dirty) = set.remove(at).unwrap();
            set.push_front((line, dirty || write));
            return Looked::Hit;
        }
        set.push_front((line, write));
        let evicted = if set.len() > ways { set.pop_back() } else { None };
        Looked::Miss(evicted.map(|(line, dirty)| Evicted { line, dirty }))
    }

    fn forget(&mut self, line: u64) {
        self.set(line).retain(|(held, _)| *held != line);
    }

    fn dirty(&self) -> Vec<u64> {
        let all = self.sets.iter().flatten();
        sorted(all.filter(|(_, dirty)| *dirty).map(|(line, _)| *line))
    }
}

fn sorted(lines: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut lines: Vec<u64> = lines.collect();
    lines.sort_unstable();
    lines
}
