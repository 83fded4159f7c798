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
use std::collections::{HashMap, HashSet, VecDeque};

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
/// What moves of a node may have cost more than they brought, as a share of the time so far, if nothing else
/// is said.
pub(super) const MOST_DEBT: f64 = 0.02;

/// A watched page that reached a count.
#[derive(Clone, Copy, Debug)]
struct Reached {
    page: PageId,
    count: u32,
    due: Ps,
}

/// A page that would pay for its swap.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    count: u32,
    /// Since when its count has been of its power of two.
    since: Ps,
}

/// What a node has learned.
#[derive(Clone, Debug, Default)]
struct Learner {
    /// Pages that wait for a shootdown.
    candidates: HashMap<PageId, Candidate>,
    /// What accesses to them have cost that would have been local, ns.
    missed: f64,
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
    most_debt: f64,
}

impl Payback {
    /// For so many nodes, with a clock of so many probes, and debts of so much of the time.
    #[must_use]
    pub fn new(nodes: usize, probes: u32, most_debt: f64) -> Self {
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

    /// How often a page that reached a count is accessed further within a time, as far as is known; after the
    /// longest time that is known it goes on at the last pace.
    fn within(&self, count: u32, time: f64) -> f64 {
        let known = self.further.iter().zip(HORIZONS).filter_map(|(further, after)| {
            let (pages, accesses) = further[bin(count)];
            (pages >= LEAST).then(|| (after.ns(), accesses / pages))
        });
        let (mut all, mut pace, mut last, mut times) = (0.0, 0.0, (0.0, 0.0), 0);
        for (after, further) in known {
            pace = ((further - last.1) / (after - last.0)).max(0.0);
            all += (time.min(after) - last.0).max(0.0) * pace;
            (last, times) = ((after, further), times + 1);
        }
        // One time alone tells no pace for what comes later.
        if times < 2 { all } else { all + (time - last.0).max(0.0) * pace }
    }

    /// How often a page that reached a count so long ago is expected to be accessed further: for as long as it
    /// all lasted so far, or the longest time that is known.
    fn expected(&self, count: u32, ago: Ps, now: Ps) -> f64 {
        let [_, _, _, longest] = HORIZONS;
        let known = self.further.iter().zip(HORIZONS).rev();
        let known = known.filter(|(further, _)| further[bin(count)].0 >= LEAST);
        let last = known.map(|(_, after)| after).next().unwrap_or(longest);
        let all = self.within(count, now.max(last).ns());
        (all - self.within(count, ago.ns())).max(0.0)
    }

    /// How often it is expected to be accessed within the shortest of the times.
    fn soon(&self, count: u32, ago: Ps) -> f64 {
        let [shortest, ..] = HORIZONS;
        self.within(count, (ago + shortest).ns()) - self.within(count, ago.ns())
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
        let Prices { write_back_ns, standing, .. } = node.prices;
        let fetch = node.prices.fetch_ns(own);
        learner.debt -= node.local_fetches as f64 * fetch;
        learner.debt -= node.local_write_backs as f64 * write_back_ns;
        let each = fetch + (write_back_ns - fetch) * node.write_share;
        let swap = standing * node.swap.ns();
        let shootdown = standing * node.shootdown.ns();
        let (mut missed, mut soon) = (0.0, 0.0);
        for Hot { page, count } in hot.drain(..) {
            if watched(page) {
                continue;
            }
            if learner.expected(count, Ps::ZERO, node.now) * each <= swap {
                learner.candidates.remove(&page);
                continue;
            }
            let new = Candidate { count, since: node.now };
            let of = learner.candidates.entry(page).or_insert(new);
            missed += f64::from(count.saturating_sub(of.count)) * each;
            if bin(of.count) != bin(count) {
                of.since = node.now;
            }
            of.count = count;
            let ago = node.now - of.since;
            soon += learner.soon(count, ago) * each;
        }
        let most_owed = self.most_debt * f64::from(node.cores) * node.now.ns();
        let affordable = (most_owed - learner.debt - shootdown).max(0.0) / swap.max(1e-9);
        // A shootdown is dear or cheap by how many pages share it: more are waited for until that has cost as
        // much as the shootdown does, or is about to. Those that may not come yet wait for nothing.
        let could_come = (affordable / learner.candidates.len().max(1) as f64).min(1.0);
        learner.missed += missed * could_come;
        if learner.missed + soon * could_come < shootdown || learner.candidates.is_empty() {
            return;
        }
        learner.missed = 0.0;
        let gain = |of: &Candidate| {
            learner.expected(of.count, node.now - of.since, node.now) * each - swap
        };
        let all = learner.candidates.iter();
        let mut wanted: Vec<(f64, Hot)> = all
            .map(|(page, of)| (gain(of), Hot { page: *page, count: of.count }))
            .filter(|(gain, _)| *gain > 0.0)
            .collect();
        wanted.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.page.cmp(&other.page)));
        if wanted.len() < learner.candidates.len() {
            let left: HashSet<PageId> = wanted.iter().map(|(_, hot)| hot.page).collect();
            learner.candidates.retain(|page, _| left.contains(page));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        wanted.truncate(most.min(affordable as usize));
        let all: f64 = wanted.iter().map(|(gain, _)| gain).sum();
        if wanted.is_empty() || all <= MARGIN * shootdown {
            return;
        }
        learner.debt += shootdown + wanted.len() as f64 * swap;
        for (_, hot_page) in wanted {
            learner.candidates.remove(&hot_page.page);
            hot.push(hot_page);
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
        let mut policy = Payback::new(1, 200, 1e6);
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
        // One page does not pay for a shootdown, nor do many whose accesses are over, or are soon.
        assert_eq!(chosen(&mut taught(), 16, 1, 9660.0), 0);
        assert_eq!(chosen(&mut taught(), 64, 100, 9660.0), 0);
        // Nor where the pool is hardly slower.
        assert_eq!(chosen(&mut taught(), 16, 10, 300.0), 0);
        // What nobody has learned is not moved.
        assert_eq!(chosen(&mut Payback::new(1, 200, 1e6), 16, 10, 9660.0), 0);
    }

    #[test]
    fn what_is_owed_is_bounded_by_a_share_of_the_time_and_paid_back_by_local_fetches() {
        let mut policy = Payback { most_debt: 0.05, ..taught() };
        let all: Vec<Hot> = of(false).take(100).map(|page| Hot { page, count: 16 }).collect();
        let mut moved = |local_fetches| {
            let mut hot = all.clone();
            let view = NodeView { local_fetches, ..view(400_000_000, 9660.0) };
            policy.choose(&view, &mut hot, 500);
            hot.len()
        };
        // A twentieth of 400 us is 20 us, of which the shootdown takes 8, and each page one.
        assert_eq!((moved(0), moved(0)), (12, 0));
        // Each fetch from local memory saves 0.3 us of a core: 45 us, and 26 after that.
        assert_eq!((moved(150), moved(87)), (14, 5));
    }

    #[test]
    fn on_a_saturated_pool_a_stall_is_cheap_and_a_local_write_back_pays() {
        let mut policy = Payback { most_debt: 0.05, ..taught() };
        let mut moved = |standing, local_write_backs| {
            let mut hot: Vec<Hot> =
                of(false).take(100).map(|page| Hot { page, count: 16 }).collect();
            let prices = Prices { write_back_ns: 1000.0, standing, ..Prices::default() };
            let view = NodeView { prices, local_write_backs, ..view(400_000_000, 9660.0) };
            policy.choose(&view, &mut hot, 500);
            hot.len()
        };
        // A stall of a tenth of a core: 0.8 us for the shootdown, 0.1 for each page, of the 40 that are allowed.
        assert_eq!(moved(0.1, 0), 100);
        // Of two cores, 29.2 us are left: a shootdown of 16 and six pages.
        assert_eq!(moved(2.0, 0), 6);
        // Thirty lines written back to local memory have brought 30 us, and 1.2 were left.
        assert_eq!(moved(2.0, 30), 7);
    }

    #[test]
    fn pages_wait_for_each_other_until_that_has_cost_as_much_as_a_shootdown() {
        // Of each page one access every 0.3 ms.
        let mut policy = Payback::new(1, 200, 1e6);
        for round in 1..200 {
            let now = Ps(u64::from(round) * 300_000_000);
            of(true).take(20).for_each(|page| policy.saw(0, page, round, now));
            policy.nodes[0].learn(now);
        }
        // 16 us of a core are 54 accesses of 0.3 us to pages that would have come.
        let all: Vec<PageId> = of(false).take(20).collect();
        for round in 1..9 {
            let now = 60_000_000_000 + u64::from(round) * 300_000_000;
            let mut hot: Vec<Hot> =
                all.iter().map(|page| Hot { page: *page, count: 16 + round }).collect();
            policy.choose(&view(now, 9660.0), &mut hot, 500);
            assert_eq!(hot.len(), if round == 4 { 20 } else { 0 }, "{round}");
            if !hot.is_empty() {
                return;
            }
        }
    }

    #[test]
    fn what_debt_has_no_room_for_yet_waits_for_nothing() {
        // Of each page one access every 0.3 ms, of which each costs 0.3 us: a page costs 1 us a ms. Of 400 us
        // of debt in all those 60 ms, 16 go for the shootdown and 2 for each page.
        let mut policy = Payback::new(1, 200, 0.0005);
        for round in 1..200 {
            let now = Ps(u64::from(round) * 300_000_000);
            of(true).take(20).for_each(|page| policy.saw(0, page, round, now));
            policy.nodes[0].learn(now);
        }
        let mut moved_after = |spent: f64| {
            policy.nodes[0] = Learner {
                debt: 0.0005 * 2.0 * 60e6 - 16e3 - spent,
                candidates: HashMap::new(),
                missed: 0.0,
                ..policy.nodes[0].clone()
            };
            let all: Vec<PageId> = of(false).take(400).collect();
            (1..60).find_map(|round| {
                let now = 60_000_000_000 + u64::from(round) * 300_000_000;
                let mut hot: Vec<Hot> =
                    all.iter().map(|page| Hot { page: *page, count: 16 + round }).collect();
                policy.choose(&view(now, 9660.0), &mut hot, 500);
                (!hot.is_empty()).then_some((round, hot.len()))
            })
        };
        // All 400 of them miss more than a shootdown in each round; three, which there is room for, do so
        // after some.
        let (round, pages) = moved_after(6e3).unwrap_or_default();
        assert!(round > 3 && pages < 10, "{round} {pages}");
        // With room for a hundred, two rounds cost more than the shootdown.
        let (round, pages) = moved_after(200e3).unwrap_or_default();
        assert!(round < 3 && pages >= 100, "{round} {pages}");
    }

    #[test]
    fn pages_that_come_back_are_worth_more_the_longer_it_lasts() {
        // Of each page four accesses every 0.1 ms.
        let mut policy = Payback::new(1, 200, 1e6);
        for round in 0..30 {
            let now = Ps(u64::from(round) * 100_000_000);
            for page in of(true).take(20) {
                (1..=4).for_each(|n| policy.saw(0, page, round * 4 + n, now));
            }
            policy.nodes[0].learn(now);
        }
        let learner = &policy.nodes[0];
        let [soon, late] =
            [3_000_000_000, 30_000_000_000].map(|now| learner.expected(8, Ps::ZERO, Ps(now)));
        assert!((80.0..160.0).contains(&soon) && (1000.0..1400.0).contains(&late), "{soon} {late}");
    }

    #[test]
    fn watched_pages_stay() {
        let mut hot: Vec<Hot> = of(true).take(9).map(|page| Hot { page, count: 16 }).collect();
        taught().choose(&view(400_000_000, 9660.0), &mut hot, 500);
        assert!(hot.is_empty());
    }
}
