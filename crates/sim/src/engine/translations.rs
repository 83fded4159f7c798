//! A core's translations of pages: what they take, and which are still good. The sizes and the order
//! of last use are those of [`pagetide_access::filter::Tlb`].

use super::pages::Pages;
use pagetide_access::filter::{self, Entries, Translation};
use pagetide_access::parameter::Result;
use pagetide_machine::Tlb;

/// What a translation took, ns, and whether the page tables were walked for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Translated {
    pub(super) takes_ns: f64,
    pub(super) walked: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Translations {
    tlb: filter::Tlb,
    second_ns: f64,
    /// Of a base page, and of a huge one.
    walk_ns: [f64; 2],
    /// By page walker of the core, when it is free, ns.
    walkers: Box<[f64]>,
    /// Flushes of its tenant, and notes of stale pages, that it has followed.
    flushes: u64,
    notes: usize,
}

impl Translations {
    /// None cached yet; the machine's entries divided by `scale`.
    pub(super) fn new(machine: &Tlb, scale: f64) -> Result<Self> {
        let scaled = |entries: u32, ways: u32| {
            let Sets { entries, ways } = Sets::scaled(entries.into(), ways, scale);
            Entries { entries: u32::try_from(entries).unwrap_or(u32::MAX), ways }
        };
        let base = scaled(machine.first_4k, machine.first_ways);
        let huge = scaled(machine.first_2m, machine.first_ways);
        let second = scaled(machine.second, machine.second_ways);
        Ok(Self {
            tlb: filter::Tlb::new(base, huge, second)?,
            second_ns: machine.second_ns,
            walk_ns: [machine.walk_4k_ns, machine.walk_2m_ns],
            walkers: vec![0.0; machine.walkers.max(1) as usize].into_boxed_slice(),
            flushes: 0,
            notes: 0,
        })
    }

    /// Base pages are below this.
    pub(super) fn limit(&self) -> u64 {
        self.tlb.limit()
    }

    /// Translates a page that is mapped by a huge page or is not, at `now_ns`, when its tenant was
    /// flushed so many times. `waits` says how long a walk waits for memory, ns.
    #[inline]
    pub(super) fn translate(
        &mut self,
        page: usize,
        huge: bool,
        (flushes, now_ns): (u64, f64),
        pages: &Pages,
        waits: impl FnOnce() -> f64,
    ) -> Translated {
        if self.flushes != flushes || self.notes != pages.stale().count() {
            self.follow(flushes, pages);
        }
        match self.tlb.lookup(page as u64, huge) {
            Translation::First => Translated { takes_ns: 0.0, walked: false },
            Translation::Second => Translated { takes_ns: self.second_ns, walked: false },
            Translation::Walk => {
                let walk_ns = self.walk_ns[usize::from(huge)] + waits();
                Translated { takes_ns: self.walk(walk_ns, now_ns), walked: true }
            }
        }
    }

    /// Walks the page tables, once a walker is free; how long that takes, ns.
    #[inline]
    fn walk(&mut self, walk_ns: f64, now_ns: f64) -> f64 {
        let (mut first, mut free_ns) = (0, f64::INFINITY);
        for (walker, ns) in self.walkers.iter().enumerate() {
            if *ns < free_ns {
                (first, free_ns) = (walker, *ns);
            }
        }
        let done_ns = free_ns.max(now_ns) + walk_ns;
        self.walkers[first] = done_ns;
        done_ns - now_ns
    }

    /// Forgets what is no longer good.
    #[cold]
    fn follow(&mut self, flushes: u64, pages: &Pages) {
        match pages.stale().since(self.notes) {
            Some(notes) if self.flushes == flushes => {
                for note in notes {
                    let step = if note.huge { note.pages.len().max(1) } else { 1 };
                    for page in note.pages.clone().step_by(step) {
                        self.tlb.flush_page(page as u64, note.huge);
                    }
                }
            }
            _ => self.tlb.flush(),
        }
        self.flushes = flushes;
        self.notes = pages.stale().count();
    }
}

/// Entries in sets, of a TLB or a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sets {
    pub(super) entries: u64,
    pub(super) ways: u32,
}

impl Sets {
    /// So many entries over `scale`, at least one, in whole sets. There are as many sets of `ways` as
    /// fit, and what is left over makes them larger; where not one fits there is a smaller one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "entries")]
    pub(super) fn scaled(entries: u64, ways: u32, scale: f64) -> Self {
        if entries == 0 {
            return Self { entries, ways };
        }
        let entries = ((entries as f64 / scale) as u64).max(1);
        let sets = (entries / u64::from(ways.max(1))).max(1);
        let ways = u32::try_from(entries / sets).unwrap_or(u32::MAX);
        Self { entries: sets * u64::from(ways), ways }
    }
}

#[cfg(test)]
mod tests {
    use super::Sets;

    #[test]
    fn scaled_sets_keep_their_ways_where_they_can_and_one_entry_at_least() {
        let scaled = |entries, ways, scale| {
            let Sets { entries, ways } = Sets::scaled(entries, ways, scale);
            (entries, ways)
        };
        assert_eq!(scaled(64, 4, 1.0), (64, 4));
        assert_eq!(scaled(409_600, 20, 1.0), (409_600, 20));
        assert_eq!(scaled(1024, 8, 16.0), (64, 8));
        assert_eq!(scaled(64, 4, 10.0), (6, 6), "one set of all that is left");
        assert_eq!(scaled(1024, 8, 10.0), (96, 8), "12 sets of 102");
        assert_eq!(scaled(64, 4, 25.0), (2, 2));
        assert_eq!(scaled(32, 4, 1e6), (1, 1));
        assert_eq!(scaled(0, 4, 1.0), (0, 4), "what is missing stays missing");
    }
}
