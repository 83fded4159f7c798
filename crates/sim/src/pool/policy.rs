//! What is swapped: the contract of the central manager's policies. A pool has millions of pages and an
//! epoch may take microseconds, so a policy here is no rank policy.

use super::Ps;
use super::clock::victim;
use super::counts::{Hot, PageId};
use super::load::Prices;
use super::local::{Frame, LocalTable};

/// Chooses what a node gets from the pool, and what it gives.
///
/// The manager calls [`choose`](Self::choose) once for every node with hot pages in every epoch, and then
/// [`victim`](Self::victim) once for each page that was chosen. Implementations are deterministic, read no
/// clock, and take time in proportion to the hot pages and to what is swapped, not to the pages of the
/// pool or of the node.
pub trait SwapPolicy {
    /// Leaves in `hot`, which has the hot pages in the order in which they became so, those that come
    /// in, at most `most`, the most wanted first.
    fn choose(&mut self, node: &NodeView, hot: &mut Vec<Hot>, most: usize);

    /// Whether it wants to be told of every access to the pool by [`saw`](Self::saw).
    fn watches(&self) -> bool {
        false
    }

    /// A node accessed a page of the pool, whose count is `count` from then on.
    fn saw(&mut self, node: usize, page: PageId, count: u32, now: Ps) {
        let _ = (node, page, count, now);
    }

    /// A frame to give up; not one that was given up in this epoch, as long as there are others.
    fn victim(&mut self, table: &mut LocalTable) -> Frame;
}

/// What a node's own counters say, since the manager asked for them before.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeView {
    /// Which node it is.
    pub node: usize,
    /// Now.
    pub now: Ps,
    /// Its cores.
    pub cores: u32,
    /// Misses that a core of it has under way at most.
    pub outstanding: u32,
    /// Lines fetched from its own memory of pages that were in the pool at first, less those fetched from the
    /// pool of pages that were local, or that are in [`Self::lost_fetches`]: without moves there would be none.
    pub nearer_fetches: i64,
    /// The same of lines given back; and those that were dirty in its shared cache when their page moved, which
    /// nobody gives back.
    pub nearer_write_backs: i64,
    /// Lines fetched that were in its shared cache when their page moved, and would be there still. They are
    /// what moves cost: the time of local memory each, and what the pool takes more, as far as that serves them.
    pub lost_fetches: u64,
    /// Lines that it wrote back to the pool.
    pub written_back: u64,
    /// The share of write-backs among the accesses to the pool, as the controller counts them.
    pub write_share: f64,
    /// What its lines and stalls cost all who share the pool.
    pub prices: Prices,
    /// What a fetch from the pool took on average; none, if there was none.
    pub pool_delay: Option<Ps>,
    /// The same of its own memory.
    pub local_delay: Option<Ps>,
    /// What its own memory takes when it is idle, as its firmware tells.
    pub local_idle: Ps,
    /// Share of the time, without shootdowns, in which its cores executed nothing.
    pub waited: f64,
    /// What a shootdown takes.
    pub shootdown: Ps,
    /// What a swap adds to that, as the settings have it: nothing, where the node does not wait for swaps.
    pub swap: Ps,
    /// For how long it stood still.
    pub stalled: Ps,
    /// Lines that a swap reads in the pool's banks, and as many that it writes there: none, where swaps take no turn.
    pub swap_lines: u32,
}

impl NodeView {
    /// What an access that takes as long as local memory and not as long as the pool saves of a core's
    /// time, nanoseconds: a core waits for one of its misses, with all others under way.
    pub(super) fn saves_ns(&self, pool: Ps, local: Ps) -> f64 {
        let each = (pool - local).ns() / f64::from(self.outstanding.max(1));
        each * self.waited
    }

    /// What a fetch from local memory costs all that nobody would have made without moves, nanoseconds of a core.
    pub(super) fn lost_ns(&self, local: Ps) -> f64 {
        self.saves_ns(local, Ps::ZERO) * (1.0 - self.prices.ahead).max(0.0)
    }
}

/// The paper's: pages that were accessed most come in, and a clock finds victims.
#[derive(Clone, Copy, Debug)]
pub struct Hottest {
    /// Frames that the clock looks at, at most.
    pub probes: u32,
}

impl SwapPolicy for Hottest {
    fn choose(&mut self, _: &NodeView, hot: &mut Vec<Hot>, most: usize) {
        // Of equals the one that was hot first: both steps see its place in the list.
        if hot.len() > most && most > 0 {
            let mut counts: Vec<u32> = hot.iter().map(|hot| hot.count).collect();
            let (_, least, _) = counts.select_nth_unstable_by(most - 1, |a, b| b.cmp(a));
            let least = *least;
            let above = hot.iter().filter(|hot| hot.count > least).count();
            let mut equal = most - above;
            hot.retain(|hot| {
                let also = hot.count == least && equal > 0;
                equal -= usize::from(also);
                hot.count > least || also
            });
        }
        hot.truncate(most);
        hot.sort_by_key(|hot| std::cmp::Reverse(hot.count));
    }

    fn victim(&mut self, table: &mut LocalTable) -> Frame {
        victim(table, self.probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_most_accessed_are_chosen_in_order(
            counts in prop::collection::vec(0..9_u32, 0..60), most in 0..70_usize,
        ) {
            let hot = |(page, count): (usize, &u32)| {
                Hot { page: PageId(u32::try_from(page).unwrap()), count: *count, written: false }
            };
            let all: Vec<Hot> = counts.iter().enumerate().map(hot).collect();
            let mut sorted = all.clone();
            sorted.sort_by_key(|hot| (std::cmp::Reverse(hot.count), hot.page));
            sorted.truncate(most);
            let mut chosen = all;
            Hottest { probes: 1 }.choose(&NodeView::default(), &mut chosen, most);
            prop_assert_eq!(chosen, sorted);
        }
    }
}
