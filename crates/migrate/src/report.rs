//! What really happened in a round of moves.

use crate::Refusal;
use crate::order::Page;
use pagetide_types::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Pages by size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// Pages of 4 KiB.
    pub base_pages: u64,
    /// Pages of 2 MiB.
    pub huge_pages: u64,
}

impl Amount {
    /// Their size.
    #[must_use]
    pub fn bytes(self) -> Bytes {
        Bytes((self.base_pages << 12) + (self.huge_pages << 21))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn add(&mut self, page: Page) {
        if page.huge {
            self.huge_pages += 1;
        } else {
            self.base_pages += 1;
        }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.base_pages += other.base_pages;
        self.huge_pages += other.huge_pages;
    }
}

/// Which way a move goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// To faster memory.
    Promote,
    /// To slower memory.
    Demote,
}

/// What became of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Seen in its new place.
    Moved,
    /// The kernel said that it was moved, and then it was seen elsewhere.
    MovedBack,
    /// It was there already.
    Already,
    /// Nothing is resident at that address.
    Absent,
    /// It stayed.
    Refused(Refusal),
}

/// What became of one order, in base pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderReport {
    /// The order's tag.
    pub tag: u32,
    /// Seen in their new place at the end of the round.
    pub moved: u64,
    /// Moved, and elsewhere at the end of the round.
    pub moved_back: u64,
    /// There before.
    pub already: u64,
    /// Stayed because of themselves: shared, busy, stuck ([`Refusal::is_of_the_page`]).
    pub refused: u64,
    /// Stayed for another reason: no room, no time, ...
    pub left: u64,
}

impl OrderReport {
    pub(crate) fn count(&mut self, page: Page, fate: Fate) {
        let pages = page.bytes().0 >> 12;
        match fate {
            Fate::Moved => self.moved += pages,
            Fate::MovedBack => self.moved_back += pages,
            Fate::Already => self.already += pages,
            Fate::Absent => {}
            Fate::Refused(refusal) if refusal.is_of_the_page() || refusal == Refusal::Waiting => {
                self.refused += pages;
            }
            Fate::Refused(_) => self.left += pages,
        }
    }
}

/// A round of moves, or several added up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Seen in faster memory at the end of the round.
    pub promoted: Amount,
    /// Seen in slower memory at the end of the round.
    pub demoted: Amount,
    /// Moved, and elsewhere at the end of the round: somebody else moves them, too.
    pub moved_back: Amount,
    /// Where they were to be before the round.
    pub already: Amount,
    /// What stayed, by reason.
    pub refused: BTreeMap<Refusal, Amount>,
    /// Huge pages of the whole machine that the kernel split meanwhile in order to move them.
    pub splits: u64,
    /// Pages said to be huge that were found in pieces, and moved as such.
    pub found_split: u64,
    /// Page cache that was given up for what moved.
    pub cache_given_up: Bytes,
    /// The kernel gave up less of it than it was to.
    #[serde(skip)]
    pub cache_refused: bool,
    /// CPU time that this took, ns.
    pub making_room_ns: u64,
    /// Calls that move.
    pub calls: u64,
    /// Time in them, all threads together, ns.
    pub moving_ns: u64,
    /// The longest of them, ns: a page of it may have been out of reach for so long.
    pub longest_call_ns: u64,
    /// Time in calls that only look where pages are, ns.
    pub looking_ns: u64,
    /// CPU time of the threads that moved, without that of making room, ns.
    pub cpu_ns: u64,
    /// From the first call to the last, ns.
    pub wall_ns: u64,
    /// Per order, in the order of the work: promotions, then demotions.
    #[serde(skip)]
    pub orders: Vec<OrderReport>,
}

impl Report {
    /// Everything that moved and stayed there.
    #[must_use]
    pub fn moved(&self) -> Amount {
        let mut all = self.promoted;
        all += self.demoted;
        all
    }

    /// How much stayed for a reason.
    #[must_use]
    pub fn refused(&self, why: Refusal) -> Amount {
        self.refused.get(&why).copied().unwrap_or_default()
    }

    /// Adds another round; its orders are not kept.
    pub fn add(&mut self, other: &Self) {
        self.promoted += other.promoted;
        self.demoted += other.demoted;
        self.moved_back += other.moved_back;
        self.already += other.already;
        for (why, amount) in &other.refused {
            *self.refused.entry(*why).or_default() += *amount;
        }
        self.splits += other.splits;
        self.found_split += other.found_split;
        self.cache_given_up += other.cache_given_up;
        self.cache_refused |= other.cache_refused;
        self.making_room_ns += other.making_room_ns;
        self.calls += other.calls;
        self.moving_ns += other.moving_ns;
        self.longest_call_ns = self.longest_call_ns.max(other.longest_call_ns);
        self.looking_ns += other.looking_ns;
        self.cpu_ns += other.cpu_ns;
        self.wall_ns += other.wall_ns;
    }

    pub(crate) fn count(&mut self, page: Page, fate: Fate, direction: Direction) {
        match fate {
            Fate::Moved => self.moved_to(direction).add(page),
            Fate::MovedBack => self.moved_back.add(page),
            Fate::Already => self.already.add(page),
            Fate::Absent => {}
            Fate::Refused(why) => self.refused.entry(why).or_default().add(page),
        }
    }

    fn moved_to(&mut self, direction: Direction) -> &mut Amount {
        match direction {
            Direction::Promote => &mut self.promoted,
            Direction::Demote => &mut self.demoted,
        }
    }
}
