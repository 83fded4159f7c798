//! Walks a part of the page tables in order of address and reads and clears accessed bits: all at once,
//! or so many entries a second, round and round (`kidled` and idle page tracking; the walk of `lru_gen`,
//! `walk_mm` of Linux's mm/vmscan.c, of what is mapped). As in Linux on x86 the bits are cleared without
//! a flush. What a huge page maps has one bit.

use crate::engine::{World, bit};
use std::ops::Range;

/// See the module.
#[derive(Clone, Debug)]
pub struct AccessedScanner {
    pages: Range<usize>,
    /// The page that is next.
    at: usize,
    scan_ns: f64,
    per_s: f64,
    /// Until when it has worked, and the part of an entry that is due beyond, ns.
    last_ns: f64,
    due: f64,
}

impl AccessedScanner {
    /// One for these pages that takes so long for an entry, and looks at so many a second in
    /// [`Self::advance`].
    #[must_use]
    pub fn new(pages: Range<usize>, scan_ns: f64, per_s: f64) -> Self {
        Self { at: pages.start, pages, scan_ns, per_s, last_ns: 0.0, due: 0.0 }
    }

    /// Looks at what became due since the last time, one round at most, and tells of every entry
    /// which base pages it maps and whether it was accessed; CPU time of the kernel, ns.
    pub fn advance(
        &mut self,
        now_ns: f64,
        world: &mut World,
        mut tell: impl FnMut(Range<usize>, bool),
    ) -> f64 {
        self.due += (now_ns - self.last_ns).max(0.0) * 1e-9 * self.per_s;
        self.last_ns = now_ns;
        let (mut entries, mut walked) = (0u64, 0);
        while self.due >= 1.0 && walked < self.pages.len() {
            let next = self.next(world, &mut tell);
            walked += next.0;
            if next.1 {
                self.due -= 1.0;
                entries += 1;
            }
        }
        // What was due beyond a round is not made up for.
        self.due = self.due.min(1.0);
        entries as f64 * self.scan_ns
    }

    /// A whole round, from the beginning; CPU time of the kernel, ns.
    pub fn round(&mut self, world: &mut World, mut tell: impl FnMut(Range<usize>, bool)) -> f64 {
        let (mut entries, mut walked) = (0u64, 0);
        self.at = self.pages.start;
        while walked < self.pages.len() {
            let next = self.next(world, &mut tell);
            walked += next.0;
            entries += u64::from(next.1);
        }
        entries as f64 * self.scan_ns
    }

    /// The next entry: base pages that it passes, and whether anything is mapped.
    fn next(
        &mut self,
        world: &mut World,
        tell: &mut impl FnMut(Range<usize>, bool),
    ) -> (usize, bool) {
        let mapped = world.pages.mapped_with(self.at);
        let passed = mapped.end.min(self.pages.end) - self.at;
        let there = world.pages.entry(self.at) & bit::ABSENT == 0;
        self.at += passed;
        if self.at == self.pages.end {
            self.at = self.pages.start;
        }
        if there {
            let accessed = world.pages.clear_all(mapped.clone(), bit::ACCESSED) != 0;
            tell(mapped, accessed);
        }
        (passed, there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Pages;
    use pagetide_machine::Machine;

    /// A huge page, a block with three base pages, 512 base pages.
    fn world() -> World {
        let mut pages = Pages::absent(2048 << 12);
        pages.put_huge(512, 0);
        (1024..1027).chain(1536..2048).for_each(|page| pages.put(page, 0));
        World::new(&Machine::load("cxl").unwrap(), pages)
    }

    #[test]
    fn a_round_tells_of_every_entry_once_in_order_and_costs_their_number() {
        let mut world = world();
        world.pages.set(700, bit::ACCESSED);
        world.pages.set(1025, bit::ACCESSED);
        let mut scanner = AccessedScanner::new(512..2048, 60.0, 0.0);
        let mut told = Vec::new();
        let ns = scanner.round(&mut world, |pages, accessed| told.push((pages, accessed)));
        assert_eq!(ns, 516.0 * 60.0);
        assert_eq!(told.len(), 516);
        assert!(told.is_sorted_by_key(|(pages, _)| pages.start));
        let accessed: Vec<_> = told.iter().filter(|one| one.1).map(|one| one.0.clone()).collect();
        assert_eq!(accessed, [512..1024, 1025..1026]);
        scanner.round(&mut world, |_, accessed| assert!(!accessed, "it was cleared"));
    }

    #[test]
    fn a_rate_is_kept_and_the_walk_goes_on_where_it_was() {
        let mut world = world();
        // 1000 entries a second, asked for at odd times.
        let mut scanner = AccessedScanner::new(0..2048, 60.0, 1000.0);
        let (mut told, mut ns, mut now) = (Vec::new(), 0.0, 0.0);
        while now < 2.58e9 {
            now += 7.7e6;
            ns += scanner.advance(now, &mut world, |pages, _| told.push(pages.start));
        }
        let right = now * 1e-9 * 1000.0;
        assert!((told.len() as f64 - right).abs() <= 1.0, "{} for {right}", told.len());
        assert_eq!(ns, told.len() as f64 * 60.0);
        // Five rounds of 516, each like the first.
        assert!(told.chunks(516).all(|round| told.starts_with(round)));
        // However late it is asked, it tells of an entry once.
        let mut late = 0;
        scanner.advance(1e12, &mut world, |_, _| late += 1);
        assert_eq!(late, 516);
    }

    #[test]
    fn where_nothing_is_mapped_it_ends() {
        let mut world = world();
        let mut scanner = AccessedScanner::new(0..512, 60.0, 1e9);
        assert_eq!(scanner.advance(1e9, &mut world, |_, _| panic!("nothing is there")), 0.0);
    }
}
