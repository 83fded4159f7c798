//! Pages in lists, as a kernel keeps them: an active and an inactive one for every node, newest first.
//! A page is in one list at most, and taking it out is as cheap as putting it in (`lru_add`, `list_move`
//! of Linux's mm/swap.c and mm/vmscan.c).

/// Which list of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Referenced lately.
    Active,
    /// To be looked at next when memory is short.
    Inactive,
}

/// No page.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    newer: u32,
    older: u32,
    /// Which list, by number; NONE if it is in none.
    list: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    newest: u32,
    oldest: u32,
    len: u32,
}

/// The lists of all nodes over pages numbered from 0.
#[derive(Clone, Debug)]
pub struct Lists {
    links: Vec<Link>,
    lists: Vec<List>,
}

fn number(node: usize, kind: Kind) -> usize {
    2 * node + usize::from(kind == Kind::Inactive)
}

impl Lists {
    /// Empty lists of so many nodes, for so many pages.
    #[must_use]
    pub fn new(nodes: usize, pages: usize) -> Self {
        let list = List { newest: NONE, oldest: NONE, len: 0 };
        let link = Link { newer: NONE, older: NONE, list: NONE };
        Self { links: vec![link; pages], lists: vec![list; 2 * nodes] }
    }

    /// Puts a page in front of a list, out of the one it was in.
    pub fn put(&mut self, page: u32, node: usize, kind: Kind) {
        self.take(page);
        let at = number(node, kind);
        let list = &mut self.lists[at];
        let older = list.newest;
        list.newest = page;
        list.len += 1;
        if older == NONE {
            list.oldest = page;
        } else {
            self.links[older as usize].newer = page;
        }
        #[expect(clippy::cast_possible_truncation, reason = "few nodes")]
        let list = at as u32;
        self.links[page as usize] = Link { newer: NONE, older, list };
    }

    /// Takes a page out of its list; false if it is in none.
    pub fn take(&mut self, page: u32) -> bool {
        let Link { newer, older, list } = self.links[page as usize];
        if list == NONE {
            return false;
        }
        let of = &mut self.lists[list as usize];
        of.len -= 1;
        match newer {
            NONE => of.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => self.lists[list as usize].oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        self.links[page as usize].list = NONE;
        true
    }

    /// The page that was put into a list first of those that are still there.
    #[must_use]
    pub fn oldest(&self, node: usize, kind: Kind) -> Option<u32> {
        let oldest = self.lists[number(node, kind)].oldest;
        (oldest != NONE).then_some(oldest)
    }

    /// The next newer page of its list.
    #[must_use]
    pub fn newer(&self, page: u32) -> Option<u32> {
        let newer = self.links[page as usize].newer;
        (newer != NONE).then_some(newer)
    }

    /// Pages in a list.
    #[must_use]
    pub fn len(&self, node: usize, kind: Kind) -> u32 {
        self.lists[number(node, kind)].len
    }

    /// The node and the list that a page is in.
    #[must_use]
    pub fn of(&self, page: u32) -> Option<(usize, Kind)> {
        let list = self.links[page as usize].list;
        let kind = if list.is_multiple_of(2) { Kind::Active } else { Kind::Inactive };
        (list != NONE).then_some((list as usize / 2, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn pages(lists: &Lists, node: usize, kind: Kind) -> Vec<u32> {
        std::iter::successors(lists.oldest(node, kind), |page| lists.newer(*page)).collect()
    }

    proptest! {
        #[test]
        fn lists_are_what_queues_by_hand_are(
            steps in proptest::collection::vec((0u32..12, 0usize..2, 0u8..3), 0..200),
        ) {
            let mut lists = Lists::new(2, 12);
            let mut queues = vec![VecDeque::<u32>::new(); 4];
            for (page, node, what) in steps {
                queues.iter_mut().for_each(|queue| queue.retain(|other| *other != page));
                let kind = [Kind::Active, Kind::Inactive][usize::from(what % 2)];
                if what == 2 {
                    lists.take(page);
                    prop_assert_eq!(lists.of(page), None);
                } else {
                    lists.put(page, node, kind);
                    queues[number(node, kind)].push_back(page);
                    prop_assert_eq!(lists.of(page), Some((node, kind)));
                }
                for node in 0..2 {
                    for kind in [Kind::Active, Kind::Inactive] {
                        let queue = &queues[number(node, kind)];
                        prop_assert!(pages(&lists, node, kind).iter().eq(queue.iter()));
                        prop_assert_eq!(lists.len(node, kind) as usize, queue.len());
                    }
                }
            }
        }
    }
}
