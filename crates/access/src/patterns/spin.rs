//! Touches exactly known pages and no others: what a tracker tests itself against.

use super::{Memory, Pattern, Setup, Walk, pattern::each};
use crate::{
    generators::{Rng, index},
    named_values::choice,
    parameter::{Result, refuse},
};
use pagetide_types::UnitSize;
use std::{sync::Arc, time::Duration};

/// Touches some pages, again and again, and no others.
#[derive(Clone, Debug)]
pub struct Spin {
    /// How many pages to touch.
    pub pages: u64,
    /// Which pages to choose.
    pub pick: Pick,
    /// Unless empty: the pages themselves, counted from 0, instead of `pages` and `pick`.
    pub list: Vec<u64>,
    /// In which order to touch them.
    pub order: Order,
    /// What a page is.
    pub page: UnitSize,
}

choice! {
    /// Which pages to touch.
    pub enum Pick {
        /// The first ones.
        First = "first",
        /// At even distances.
        Even = "even",
        /// Any, chosen by the seed.
        Random = "random",
    }
}

choice! {
    /// In which order to touch pages.
    pub enum Order {
        /// By address, all of them in every round.
        Sequential = "sequential",
        /// At random, each as likely as any other.
        Random = "random",
    }
}

/// One thread of [`Spin`].
#[derive(Clone, Debug)]
pub struct SpinWalk {
    rng: Rng,
    /// The first byte of each page.
    picked: Arc<[u64]>,
    order: Order,
    /// The next one in the round.
    next: usize,
}

impl Spin {
    /// The pages that are touched, ascending, counted from the start of the memory.
    ///
    /// # Errors
    /// If no page is to be touched, or more than there are.
    pub fn picked(&self, setup: &Setup) -> Result<Vec<u64>> {
        self.check(setup)?;
        if !self.list.is_empty() {
            let mut list = self.list.clone();
            list.sort_unstable();
            list.dedup();
            return Ok(list);
        }
        let (n, all) = (self.pages, self.all(setup));
        Ok(match self.pick {
            Pick::First => (0..n).collect(),
            Pick::Even => (0..n).map(|i| i * all / n).collect(),
            Pick::Random => {
                // Selection sampling (Knuth, volume 2, 3.4.2 S): ascending, without a table.
                let mut rng = Rng::new(setup.seed(), u64::MAX);
                let mut picked = Vec::with_capacity(index(n));
                for page in 0..all {
                    if rng.below(all - page) < n - picked.len() as u64 {
                        picked.push(page);
                    }
                }
                picked
            }
        })
    }

    /// How many pages there are.
    fn all(&self, setup: &Setup) -> u64 {
        setup.size().0.div_ceil(self.page.bytes().0)
    }
}

impl Pattern for Spin {
    type Walk = SpinWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        let all = self.all(setup);
        if let Some(last) = self.list.iter().max() {
            if *last >= all {
                return refuse("list", last, format!("`size` has {all} pages, counted from 0"));
            }
        } else if self.pages == 0 || self.pages > all {
            let remedy = format!("give 1 to {all} pages, or a larger `size` than {}", setup.size());
            return refuse("pages", self.pages, remedy);
        }
        Ok(())
    }

    /// Threads begin at different places of the round.
    fn walks(&self, setup: &Setup) -> Result<Vec<SpinWalk>> {
        let shift = self.page.shift();
        let picked: Arc<[u64]> =
            self.picked(setup)?.into_iter().map(|page| page << shift).collect();
        Ok(each(setup, |number| SpinWalk {
            rng: Rng::new(setup.seed(), number.into()),
            order: self.order,
            next: index(setup.begin(number, picked.len() as u64)),
            picked: Arc::clone(&picked),
        }))
    }
}

impl Walk for SpinWalk {
    #[inline]
    fn batch(&mut self, n: u32, _: Duration, memory: &mut impl Memory) {
        for _ in 0..n {
            let at = match self.order {
                Order::Random => index(self.rng.below(self.picked.len() as u64)),
                Order::Sequential => self.next,
            };
            memory.read(self.picked[at]);
            self.next = if self.next + 1 == self.picked.len() { 0 } else { self.next + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};

    const SPIN: Spin = Spin {
        pages: 3,
        pick: Pick::Even,
        list: vec![],
        order: Order::Sequential,
        page: UnitSize::Base,
    };

    #[test]
    fn pages_are_picked_as_told() {
        let picked = |spin: Spin| spin.picked(&setup(4096 * 10, 1)).unwrap();
        assert_eq!(picked(SPIN), [0, 3, 6]);
        assert_eq!(picked(Spin { pick: Pick::First, ..SPIN }), [0, 1, 2]);
        assert_eq!(picked(Spin { list: vec![9, 4, 9], ..SPIN }), [4, 9]);
        let random = Spin { pages: 512, pick: Pick::Random, ..SPIN };
        let random = random.picked(&setup(4096 * 1024, 1)).unwrap();
        assert_eq!(random.len(), 512);
        assert!(random.windows(2).all(|pair| pair[0] < pair[1]) && random[511] < 1024);
        let lower = random.iter().filter(|page| **page < 512).count();
        assert!(lower.abs_diff(256) < 60, "{lower}");
    }

    #[test]
    fn rounds_are_in_order_and_threads_apart() {
        let setup = setup(4096 * 10, 3);
        for (walk, first) in SPIN.walks(&setup).unwrap().iter_mut().zip(0..) {
            let mut steps = vec![];
            walk.batch(7, Duration::ZERO, &mut steps);
            let expected: Vec<u64> = (first..first + 7).map(|i| i % 3 * 3 * 4096).collect();
            assert_eq!(offsets(&steps), expected);
        }
    }

    #[test]
    fn in_any_order_each_page_is_as_likely() {
        let spin = Spin { pages: 16, order: Order::Random, pick: Pick::First, ..SPIN };
        let mut pages = [0.0; 16];
        for step in steps(&spin, &setup(4096 * 16, 1), 100_000) {
            pages[index(step.offset >> 12)] += 1.0;
        }
        assert!(misfit(&pages, &[1.0 / 16.0; 16]) < 2.5);
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let setup = setup(4096 * 10, 1);
        refused(&Spin { pages: 0, ..SPIN }, &setup, "pages 0: give 1 to 10 pages");
        refused(&Spin { pages: 11, ..SPIN }, &setup, "or a larger `size` than 40.0 KiB");
        refused(&Spin { list: vec![10, 2], ..SPIN }, &setup, "list 10: `size` has 10 pages");
    }
}
