//! Touches exactly known pages and no others: what a tracker tests itself against.

use crate::{
    args::Common,
    drive::drive,
    error::{Result, bad},
    memory::{Region, index},
    registry::Program,
    session::Session,
};
use clap::{Args, ValueEnum};
use pagetide_access::generators::Rng;
use pagetide_types::Bytes;

/// Touches some pages of a footprint, again and again, and no others
#[derive(Args, Clone, Debug)]
pub struct Spin {
    /// Memory to use in all
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// How many pages (of --page-size) to touch
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "list")]
    pub pages: u64,
    /// Which pages to choose
    #[arg(long, value_enum, default_value_t = Pick::Random)]
    pub pick: Pick,
    /// The pages themselves, counted from 0, instead of --pages and --pick
    #[arg(long, value_name = "N,N...", value_delimiter = ',')]
    pub list: Vec<u64>,
    /// In which order to touch them
    #[arg(long, value_enum, default_value_t = Order::Sequential)]
    pub order: Order,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

/// Which pages to touch.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The first ones.
    First,
    /// At even distances.
    Even,
    /// Any, chosen by the seed.
    Random,
}

/// In which order to touch pages.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By address, all of them in every round.
    Sequential,
    /// At random, each as likely as any other.
    Random,
}

impl Spin {
    /// The pages that this program touches, ascending, counted from the start of the range in
    /// its `ready` line.
    ///
    /// # Errors
    /// If it is asked to touch no page, or more than there are.
    pub fn picked(&self) -> Result<Vec<u64>> {
        let all = self.size.0.div_ceil(self.common.page_size.bytes().0);
        if !self.list.is_empty() {
            let mut list = self.list.clone();
            list.sort_unstable();
            list.dedup();
            return match list.last() {
                Some(last) if *last >= all => {
                    bad("list", last, format!("--size has {all} pages, counted from 0"))
                }
                _ => Ok(list),
            };
        }
        let n = self.pages;
        if n == 0 || n > all {
            let remedy = format!("give 1 to {all} pages, or a larger --size than {}", self.size);
            return bad("pages", &n, remedy);
        }
        Ok(match self.pick {
            Pick::First => (0..n).collect(),
            Pick::Even => (0..n).map(|i| i * all / n).collect(),
            Pick::Random => {
                // Selection sampling (Knuth, volume 2, 3.4.2 S): ascending, without a table.
                let mut rng = Rng::new(self.common.seed, u64::MAX);
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
}

impl Program for Spin {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.common.check()?;
        let shift = self.common.page_size.shift();
        let picked = self.picked()?;
        let region = Region::of(self.size, &self.common, &session.stop)?;
        session.ready("spin", &region, format_args!("touched={}", picked.len()))?;
        let count = picked.len() as u64;
        let did = drive(session, "spin", &self.common, &region, |worker| {
            let mut rng = Rng::new(self.common.seed, u64::from(worker.number));
            // Threads begin at different places of the round.
            let mut next = index(count * u64::from(worker.number) / u64::from(worker.threads));
            while let Some(n) = worker.batch() {
                for _ in 0..n {
                    let at = match self.order {
                        Order::Random => index(rng.below(count)),
                        Order::Sequential => next,
                    };
                    worker.read(picked[at] << shift);
                    next = if next + 1 == picked.len() { 0 } else { next + 1 };
                }
            }
        })?;
        session.done("spin", &did, format_args!("touched={}", picked.len()))
    }
}
