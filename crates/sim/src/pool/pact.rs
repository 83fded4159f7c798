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
    /// A count went to memory.
    pub(super) spilled: bool,
    /// A count came from memory.
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
}

impl Pact {
    /// So many entries, at least one, for keys below `keys`.
    pub(super) fn new(capacity: u32, keys: usize) -> Self {
        Self {
            entries: Vec::with_capacity(capacity.max(1) as usize),
            capacity: capacity.max(1) as usize,
            place: vec![NONE; keys],
            lists: vec![(NONE, NONE); MOST as usize + 1],
            least: MOST,
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
        let filled = count > 1;
        let entry = Entry { key, count, before: NONE, after: NONE };
        let (at, spilled) = if self.entries.len() < self.capacity {
            self.entries.push(entry);
            #[expect(clippy::cast_possible_truncation, reason = "the capacity is a u32")]
            ((self.entries.len() - 1) as u32, false)
        } else {
            while self.lists[self.least as usize].0 == NONE {
                self.least += 1;
            }
            let at = self.lists[self.least as usize].0;
            self.unlink(at);
            self.place[self.entries[at as usize].key as usize] = NONE;
            self.entries[at as usize] = entry;
            (at, true)
        };
        self.place[key as usize] = at;
        self.link(at, count);
        Turned { spilled, filled }
    }

    /// It is empty.
    pub(super) fn clear(&mut self) {
        for entry in self.entries.drain(..) {
            self.place[entry.key as usize] = NONE;
            self.lists[entry.count as usize] = (NONE, NONE);
        }
        self.least = MOST;
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

    /// The same, looked up one by one: by key, its count and when it got that.
    #[derive(Default)]
    struct Plain(HashMap<u32, (u32, usize)>);

    impl Plain {
        fn touch(&mut self, capacity: usize, key: u32, count: u32, now: usize) -> Turned {
            let there = self.0.contains_key(&key);
            let spilled = !there && self.0.len() == capacity;
            if spilled {
                let least = self.0.iter().min_by_key(|(_, place)| **place).unwrap();
                let least = *least.0;
                self.0.remove(&least);
            }
            self.0.insert(key, (count, now));
            Turned { spilled, filled: !there && count > 1 }
        }
    }

    proptest! {
        #[test]
        fn the_least_counted_makes_room(
            capacity in 1..8_u32,
            keys in prop::collection::vec((0..12_u32, prop::bool::weighted(0.02)), 0..300),
        ) {
            let (mut pact, mut plain) = (Pact::new(capacity, 12), Plain::default());
            let mut counts = [0; 12];
            for (now, (key, ends)) in keys.into_iter().enumerate() {
                if ends {
                    pact.clear();
                    plain.0.clear();
                    counts = [0; 12];
                }
                counts[key as usize] += 1;
                let count = counts[key as usize];
                let turned = plain.touch(capacity as usize, key, count, now);
                prop_assert_eq!(pact.touch(key, count), turned);
            }
        }
    }
}
