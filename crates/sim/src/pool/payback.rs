//! Ours: a page moves if its further accesses are expected to bring more than moving it costs, as far as
//! the system's own counters tell. So there is no threshold, no number of pages and no epoch to choose: of
//! the pages at hand those come in that pay for their swap, if together they pay for the shootdown as well.
//! Each node decides for itself, and one whose pages never pay is left alone.
//!
//! What pages will bring they bring later, and a program may end before. So what moves cost more than they
//! brought so far may be bounded by a share of the time so far: a node loses no more than that.
//!
//! What a page will be accessed further is learned from a sixteenth of the pages, chosen by their numbers,
//! which never move: how often those that had reached a count were accessed within some times after that.
//! What lasted so long is taken to last as long again.

use super::Ps;
use super::clock::victim;
use super::counts::{Hot, PageId};
use super::load::Prices;
use super::local::{Frame, LocalTable};
use super::policy::{NodeView, SwapPolicy};
use pagetide_access::generators::mix;
use std::collections::{HashMap, VecDeque};

/// One of so many pages stays and is watched.
const WATCHED: u64 = 16;
/// Times after which is looked how often a page was accessed further.
const HORIZONS: [Ps; 4] =
    [Ps(100_000_000), Ps(1_000_000_000), Ps(10_000_000_000), Ps(100_000_000_000)];
/// Counts are told apart by their powers of two.
const BINS: usize = 16;
/// Fewer pages than this tell nothing.
const LEAST: f64 = 8.0;
/// With more, the older ones count half.
const MOST: f64 = 256.0;
/// Moves must bring so many times what their shootdown costs.
const MARGIN: f64 = 1.25;

/// A watched page that reached a count.
#[derive(Clone, Copy, Debug)]
struct Reached {
    page: PageId,
    count: u32,
    due: Ps,
}

/// What a node has learned.
#[derive(Clone, Debug, Default)]
struct Learner {
    /// Of the watched pages.
    counts: HashMap<PageId, u32>,
    waiting: [VecDeque<Reached>; HORIZONS.len()],
    /// By horizon and count: how many pages, and how often they were accessed further, in all.
    further: [[(f64, f64); BINS]; HORIZONS.len()],
    local_delay: Option<Ps>,
    /// What moves cost its cores more than they brought so far, ns.
    debt: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Payback {
    nodes: Vec<Learner>,
    probes: u32,
    most_debt: Option<f64>,
}

impl Payback {
    /// For so many nodes, with a clock of so many probes, and debts of so much of the time, if they have
    /// a bound.
    #[must_use]
    pub fn new(nodes: usize, probes: u32, most_debt: Option<f64>) -> Self {
        Self { nodes: vec![Learner::default(); nodes], probes, most_debt }
    }
}

/// Whether a page stays and is watched.
fn watched(page: PageId) -> bool {
    mix(page.0.into()).is_multiple_of(WATCHED)
}

fn bin(count: u32) -> usize {
    (count.max(1).ilog2() as usize).min(BINS - 1)
}

impl Learner {
    fn saw(&mut self, page: PageId, count: u32, now: Ps) {
        self.counts.insert(page, count);
        if count.is_power_of_two() {
            for (waiting, after) in self.waiting.iter_mut().zip(HORIZONS) {
                waiting.push_back(Reached { page, count, due: now + after });
            }
        }
    }

    /// Looks at the pages whose time has come.
    fn learn(&mut self, now: Ps) {
        for (waiting, further) in self.waiting.iter_mut().zip(&mut self.further) {
            while let Some(Reached { page, count, .. }) = waiting.pop_front_if(|at| at.due <= now) {
                let since = self.counts.get(&page).map_or(0, |all| all.saturating_sub(count));
                let (pages, accesses) = &mut further[bin(count)];
                *pages += 1.0;
                *accesses += f64::from(since);
                if *pages >= MOST {
                    (*pages, *accesses) = (*pages / 2.0, *accesses / 2.0);
                }
            }
        }
    }

    /// How often a page of this count is expected to be accessed further: as often as within the longest
    /// time that is known, and, if that is more than within the time before, at the same pace for as long
    /// as it all lasted so far.
    fn expected(&self, count: u32, now: Ps) -> f64 {
        let known = self.further.iter().zip(HORIZONS).filter_map(|(further, after)| {
            let (pages, accesses) = further[bin(count)];
            (pages >= LEAST).then(|| (after.ns(), accesses / pages))
        });
        let (mut before, mut last) = (None, None);
        for next in known {
            (before, last) = (last, Some(next));
        }
        let Some((after, further)) = last else { return 0.0 };
        let pace = before.map_or(0.0, |(earlier, fewer): (f64, f64)| {
            ((further - fewer) / (after - earlier)).max(0.0)
        });
        further + pace * (now.ns() - after).max(0.0)
    }
}

impl SwapPolicy for Payback {
    fn choose(&mut self, node: &NodeView, hot: &mut Vec<Hot>, most: usize) {
        let learner = &mut self.nodes[node.node];
        learner.learn(node.now);
        learner.local_delay = node.local_delay.or(learner.local_delay);
        let Some(pool) = node.pool_delay else {
            hot.clear();
            return;
        };
        let own = node.saves_ns(pool, learner.local_delay.unwrap_or(node.local_idle));
        let Prices { fetch_ns, write_back_ns, standing } = node.prices;
        let fetch = own + fetch_ns;
        learner.debt -= node.local_fetches as f64 * fetch;
        learner.debt -= node.local_write_backs as f64 * write_back_ns;
        let each = fetch + (write_back_ns - fetch) * node.write_share;
        let swap = standing * node.swap.ns();
        let shootdown = standing * node.shootdown.ns();
        let gain = |hot: &Hot| learner.expected(hot.count, node.now) * each - swap;
        hot.retain(|hot| !watched(hot.page) && gain(hot) > 0.0);
        hot.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        hot.truncate(most);
        if let Some(share) = self.most_debt {
            let all = share * f64::from(node.cores) * node.now.ns();
            let mut pages = (all - learner.debt - shootdown) / swap.max(1e-9);
            hot.retain(|_| {
                pages -= 1.0;
                pages >= 0.0
            });
        }
        let all: f64 = hot.iter().map(gain).sum();
        if all <= MARGIN * shootdown {
            hot.clear();
        }
        if !hot.is_empty() {
            learner.debt += shootdown + hot.len() as f64 * swap;
        }
    }

    fn watches(&self) -> bool {
        true
    }

    fn saw(&mut self, node: usize, page: PageId, count: u32, now: Ps) {
        if count > 0 && watched(page) {
            self.nodes[node].saw(page, count, now);
        }
    }

    fn victim(&mut self, table: &mut LocalTable) -> Frame {
        victim(table, self.probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(watched: bool) -> impl Iterator<Item = PageId> {
        (0..).map(PageId).filter(move |page| super::watched(*page) == watched)
    }

    fn view(now: u64, pool_ns: f64) -> NodeView {
        NodeView {
            now: Ps(now),
            cores: 2,
            outstanding: 32,
            pool_delay: Some(Ps::from_ns(pool_ns)),
            local_delay: None,
            local_idle: Ps::from_ns(60.0),
            waited: 1.0,
            shootdown: Ps::from_ns(8000.0),
            swap: Ps::from_ns(1000.0),
            prices: Prices { standing: 2.0, ..Prices::default() },
            ..NodeView::default()
        }
    }

    /// Pages that are accessed 64 times within 10 us, once.
    fn taught() -> Payback {
        let mut policy = Payback::new(1, 200, None);
        for (number, page) in (0..20).zip(of(true)) {
            (1..=64).for_each(|count| policy.saw(0, page, count, Ps(number * 10_000_000)));
        }
        policy
    }

    fn chosen(policy: &mut Payback, count: u32, pages: usize, pool_ns: f64) -> usize {
        let mut hot: Vec<Hot> = of(false).take(pages).map(|page| Hot { page, count }).collect();
        policy.choose(&view(400_000_000, pool_ns), &mut hot, 500);
        hot.len()
    }

    #[test]
    fn pages_move_if_what_is_left_of_them_pays() {
        // 48 further accesses at 0.3 us each are 14 us of a core; a swap costs 2, a shootdown 16.
        assert_eq!(chosen(&mut taught(), 16, 10, 9660.0), 10);
        // One page does not pay for a shootdown, nor do many whose accesses are over.
        assert_eq!(chosen(&mut taught(), 16, 1, 9660.0), 0);
        assert_eq!(chosen(&mut taught(), 64, 100, 9660.0), 0);
        // Nor where the pool is hardly slower.
        assert_eq!(chosen(&mut taught(), 16, 10, 300.0), 0);
        // What nobody has learned is not moved.
        assert_eq!(chosen(&mut Payback::new(1, 200, None), 16, 10, 9660.0), 0);
    }

    #[test]
    fn what_is_owed_is_bounded_by_a_share_of_the_time_and_paid_back_by_local_fetches() {
        let mut policy = Payback { most_debt: Some(0.05), ..taught() };
        let all: Vec<Hot> = of(false).take(100).map(|page| Hot { page, count: 16 }).collect();
        let mut moved = |local_fetches| {
            let mut hot = all.clone();
            let view = NodeView { local_fetches, ..view(400_000_000, 9660.0) };
            policy.choose(&view, &mut hot, 500);
            hot.len()
        };
        // A twentieth of 400 us is 20 us, of which the shootdown takes 8, and each page one.
        assert_eq!((moved(0), moved(0)), (12, 0));
        // Each fetch from local memory saves 0.3 us of a core: 30 us, and 26 after that.
        assert_eq!((moved(100), moved(87)), (7, 5));
    }

    #[test]
    fn pages_that_come_back_are_worth_more_the_longer_it_lasts() {
        // Of each page four accesses every 0.1 ms.
        let mut policy = Payback::new(1, 200, None);
        for round in 0..30 {
            let now = Ps(u64::from(round) * 100_000_000);
            for page in of(true).take(20) {
                (1..=4).for_each(|n| policy.saw(0, page, round * 4 + n, now));
            }
            policy.nodes[0].learn(now);
        }
        let learner = &policy.nodes[0];
        let [soon, late] = [3_000_000_000, 30_000_000_000].map(|now| learner.expected(8, Ps(now)));
        assert!((80.0..160.0).contains(&soon) && (1000.0..1400.0).contains(&late), "{soon} {late}");
    }

    #[test]
    fn watched_pages_stay() {
        let mut hot: Vec<Hot> = of(true).take(9).map(|page| Hot { page, count: 16 }).collect();
        taught().choose(&view(400_000_000, 9660.0), &mut hot, 500);
        assert!(hot.is_empty());
    }
}
