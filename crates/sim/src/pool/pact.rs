//! The page access count table of the pool's controller: it holds so many pages, and the one accessed
//! least makes room for another; that one's count goes to memory, and comes back when the page is
//! accessed again (section 3.1, "Hardware Requirements" and "Traversal Delay"). Here only who is in it
//! is kept, for the traffic that it makes.

/// No place.
const NONE: u32 = u32::MAX;
/// Counts from here on are alike.
const MOST: u32 = 4096;

/// What an access made the table do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turned {
    /// The page whose count went to memory.
    pub(super) spilled: Option<u32>,
    /// A count was looked for in memory.
    pub(super) filled: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u32,
    count: u32,
    before: u32,
    after: u32,
}

/// See the module. Entries with equal counts form a list, the one that came first at its head.
#[derive(Clone, Debug)]
pub(super) struct Pact {
    entries: Vec<Entry>,
    capacity: usize,
    /// By key, where it is.
    place: Vec<u32>,
    /// By count, first and last of the list.
    lists: Vec<(u32, u32)>,
    least: u32,
    /// Some count went to memory since it was empty: who is not in the table may be there.
    spilled: bool,
}

impl Pact {
    /// So many entries, at least one, for keys below `keys`.
    pub(super) fn new(capacity: u32, keys: usize) -> Self {
        // More entries than keys are never used.
        let capacity = (capacity as usize).clamp(1, keys.max(1));
        Self {
            entries: Vec::with_capacity(capacity),
            capacity,
            place: vec![NONE; keys],
            lists: vec![(NONE, NONE); MOST as usize + 1],
            least: MOST,
            spilled: false,
        }
    }

    /// An access to a page, whose count is `count` from then on.
    #[inline]
    pub(super) fn touch(&mut self, key: u32, count: u32) -> Turned {
        let count = count.min(MOST);
        let at = self.place[key as usize];
        if at != NONE {
            self.unlink(at);
            self.link(at, count);
            return Turned::default();
        }
        let filled = self.spilled;
        let entry = Entry { key, count, before: NONE, after: NONE };
        let (at, spilled) = if self.entries.len() < self.capacity {
            self.entries.push(entry);
            #[expect(clippy::cast_possible_truncation, reason = "the capacity is a u32")]
            ((self.entries.len() - 1) as u32, None)
        } else {
            while self.lists[self.least as usize].0 == NONE {
                self.least += 1;
            }
            let at = self.lists[self.least as usize].0;
            self.unlink(at);
            let before = std::mem::replace(&mut self.entries[at as usize], entry);
            self.place[before.key as usize] = NONE;
            self.spilled = true;
            (at, Some(before.key))
        };
        self.place[key as usize] = at;
        self.link(at, count);
        Turned { spilled, filled }
    }

    /// It is empty, but for those that are `kept`; counts that went to memory are forgotten, if none are.
    pub(super) fn clear(&mut self, kept: Option<&dyn Fn(u32) -> bool>) {
        let stay: Vec<Entry> = kept.map_or_else(Vec::new, |kept| {
            // The order among equals is that of their lists.
            let lists = self.lists.iter().map(|(first, _)| *first);
            lists.flat_map(|first| self.list(first)).filter(|entry| kept(entry.key)).collect()
        });
        for entry in self.entries.drain(..) {
            self.place[entry.key as usize] = NONE;
            self.lists[entry.count as usize] = (NONE, NONE);
        }
        self.least = MOST;
        self.spilled &= kept.is_some();
        for (at, entry) in (0..).zip(stay) {
            self.place[entry.key as usize] = at;
            self.entries.push(entry);
            self.link(at, entry.count);
        }
    }

    /// The entries of a list.
    fn list(&self, first: u32) -> impl Iterator<Item = Entry> {
        let entry = |at: u32| self.entries.get(at as usize).copied();
        std::iter::successors(entry(first), move |before| entry(before.after))
    }

    fn link(&mut self, at: u32, count: u32) {
        let (first, last) = &mut self.lists[count as usize];
        let before = *last;
        *last = at;
        if before == NONE {
            *first = at;
        } else {
            self.entries[before as usize].after = at;
        }
        let entry = &mut self.entries[at as usize];
        (entry.count, entry.before, entry.after) = (count, before, NONE);
        self.least = self.least.min(count);
    }

    fn unlink(&mut self, at: u32) {
        let Entry { count, before, after, .. } = self.entries[at as usize];
        match before {
            NONE => self.lists[count as usize].0 = after,
            before => self.entries[before as usize].after = after,
        }
        match after {
            NONE => self.lists[count as usize].1 = before,
            after => self.entries[after as usize].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// The same, looked up one by one: by key, its count and when it got that; and whether any count is in memory.
    #[derive(Default)]
    struct Plain(HashMap<u32, (u32, usize)>, bool);

    impl Plain {
        fn touch(&mut self, capacity: usize, key: u32, count: u32, now: usize) -> Turned {
            let there = self.0.contains_key(&key);
            let filled = !there && self.1;
            let spilled = (!there && self.0.len() == capacity).then(|| {
                let least = self.0.iter().min_by_key(|(_, place)| **place).unwrap();
                let least = *least.0;
                self.0.remove(&least);
                self.1 = true;
                least
            });
            self.0.insert(key, (count, now));
            Turned { spilled, filled }
        }
    }

    proptest! {
        #[test]
        fn the_least_counted_makes_room(
            capacity in 1..8_u32,
            keys in prop::collection::vec((0..12_u32, prop::bool::weighted(0.02)), 0..300),
            keeps: bool,
        ) {
            let (mut pact, mut plain) = (Pact::new(capacity, 12), Plain::default());
            let mut counts = [0; 12];
            // The first half is of a node whose epoch does not end.
            let is_kept = |key: u32| keeps && key < 6;
            for (now, (key, ends)) in keys.into_iter().enumerate() {
                if ends {
                    pact.clear(keeps.then_some(&is_kept));
                    plain.0.retain(|key, _| is_kept(*key));
                    plain.1 &= keeps;
                    (0..).zip(&mut counts).filter(|(key, _)| !is_kept(*key)).for_each(|(_, n)| *n = 0);
                }
                counts[key as usize] += 1;
                let count = counts[key as usize];
                let turned = plain.touch(capacity as usize, key, count, now);
                prop_assert_eq!(pact.touch(key, count), turned);
            }
        }
    }
}
