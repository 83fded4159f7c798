//! Whether the target has changed: what the last visits saw is held against what is known of their regions.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// So many visits are remembered, and all of this long.
const VISITS: usize = 64;
const LASTS_NS: u64 = 1_500_000_000;
/// The target has changed where so many of them run counter to what is known, and such a share, over so long a time, and some
/// saw more and some less. What lasts no longer than a visit or two is a pause of the program, or of the machine; and a
/// program that runs slower as a whole is still the same. Few need to have seen more: most visits go to what is known to be
/// hot, and what is hot now was cold.
const COUNTER: usize = 8;
const SHARE: f64 = 0.1;
const APART_NS: u64 = 1_000_000_000;
const EACH_WAY: usize = 2;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastVisits {
    /// When they were cleared, in about that order; greater: saw far more.
    seen: VecDeque<(u64, Ordering)>,
}

impl LastVisits {
    /// A visit at `ns` saw more than what is known lets expect, less, or about as much.
    pub(crate) fn add(&mut self, ns: u64, counter: Ordering) {
        self.seen.push_back((ns, counter));
        while self.seen.len() > VISITS
            && self.seen.front().is_some_and(|(old, _)| old + LASTS_NS < ns)
        {
            self.seen.pop_front();
        }
    }

    /// What is known is what they saw.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
    }

    pub(crate) fn say_changed(&self) -> bool {
        let counter = || self.seen.iter().filter(|(_, order)| order.is_ne());
        let all = counter().count();
        let more = counter().filter(|(_, order)| order.is_gt()).count();
        let times = || counter().map(|(ns, _)| *ns);
        let apart = times().max().zip(times().min()).map_or(0, |(last, first)| last - first);
        more.min(all - more) >= EACH_WAY
            && all >= COUNTER
            && all as f64 >= SHARE * self.seen.len() as f64
            && apart >= APART_NS
    }
}
