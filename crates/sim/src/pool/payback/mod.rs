//! Ours: a page moves if its further accesses are expected to bring more than moving it costs, as far as
//! the system's own counters tell. So there is no threshold, no number of pages and no epoch to choose: of
//! the pages at hand those come in that pay for their swap, if together they pay for the shootdown as well.
//! Each node decides for itself, and one whose pages never pay is left alone.
//!
//! What pages will bring they bring later, and a program may end before. So what moves cost more than they
//! brought so far may be bounded by a share of the time so far: a node loses no more than that.
//!
//! What a page will be accessed further each node learns for itself ([`Learner`]).

use super::Ps;
use super::clock::victim;
use super::counts::{Hot, PageId};
use super::dma::LINES;
use super::learner::{Learner, bin, watched};
use super::local::{Frame, LocalTable};
use super::policy::{NodeView, SwapPolicy};
use std::collections::HashMap;

/// Moves must bring so many times what their shootdown costs.
const MARGIN: f64 = 1.25;
/// What moves of a node may have cost more than they brought, as a share of the time so far, if nothing else
/// is said.
pub(super) const MOST_DEBT: f64 = 0.02;

/// A page that would pay for its swap.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    count: u32,
    /// Since when its count has been of its power of two.
    since: Ps,
    /// Its last access was a fetch, and no write-back.
    fetched: bool,
}

impl Candidate {
    /// Lines of it that the shared cache has, as far as the count tells: those fetched last. Of a page that is
    /// written back it is not known what is left there.
    fn cached(&self) -> f64 {
        if self.fetched { f64::from(self.count.min(LINES)) } else { 0.0 }
    }
}

/// A node's books.
#[derive(Clone, Debug, Default)]
struct Books {
    learner: Learner,
    /// Pages that wait for a shootdown.
    candidates: HashMap<PageId, Candidate>,
    /// What accesses to them have cost that would have been local, ns.
    missed: f64,
    local_delay: Option<Ps>,
    /// What moves cost all cores more than they brought so far, ns.
    debt: f64,
    /// Pages that moved, and lines that were fetched again since they had been in caches.
    moved: f64,
    lost: f64,
    /// Pages of the last move, and for how long the node was taken to stand still for it.
    last: (u64, Ps),
    /// For how long it stood still for each of the pages of a move at last, where swaps take turns in the banks.
    swap: Ps,
}

/// What things bring and cost all cores, ns.
#[derive(Clone, Copy, Debug)]
struct Worth {
    /// A fetch from local memory.
    fetch: f64,
    /// A line given back to it.
    write_back: f64,
    /// An access to the pool that would be local, as they are mixed.
    each: f64,
    swap: f64,
    /// A swap, and the lines that will be fetched again, as many of a page as so far.
    page: f64,
    /// A fetch of such a line.
    lost: f64,
    /// A line that leaves the shared cache with its page.
    room: f64,
    shootdown: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Payback {
    nodes: Vec<Books>,
    probes: u32,
    most_debt: f64,
}

impl Payback {
    /// For so many nodes, with a clock of so many probes, and debts of so much of the time.
    #[must_use]
    pub fn new(nodes: usize, probes: u32, most_debt: f64) -> Self {
        Self { nodes: vec![Books::default(); nodes], probes, most_debt }
    }
}

impl Books {
    /// What things are worth now; nothing is known of it, if the pool was not accessed.
    fn worth(&mut self, node: &NodeView) -> Option<Worth> {
        self.local_delay = node.local_delay.or(self.local_delay);
        let local = self.local_delay.unwrap_or(node.local_idle);
        let own = node.saves_ns(node.pool_delay?, local);
        let lost = node.lost_ns(local);
        let lines = f64::from(node.swap_lines) * (node.prices.read_ns + node.prices.write_back_ns);
        let swap = node.prices.standing * node.swap.max(self.swap).ns() + lines;
        let (fetch, write_back) = (node.prices.fetch_ns(own), node.prices.write_back_ns);
        Some(Worth {
            fetch,
            write_back,
            each: fetch + (write_back - fetch) * node.write_share,
            swap,
            page: swap + self.lost / self.moved.max(1.0) * lost,
            lost,
            room: node.prices.room_ns,
            shootdown: node.prices.standing * node.shootdown.ns(),
        })
    }

    /// Writes down what moves have brought since the node was looked at before.
    fn brought(&mut self, node: &NodeView, worth: &Worth) {
        self.debt -= node.nearer_fetches as f64 * worth.fetch;
        self.debt -= node.nearer_write_backs as f64 * worth.write_back;
        self.debt += node.lost_fetches as f64 * worth.lost;
        self.lost += node.lost_fetches as f64;
    }

    /// Writes down for how much longer the node stood still than it was taken to.
    fn stood(&mut self, node: &NodeView) {
        let (pages, taken) = std::mem::take(&mut self.last);
        self.debt += node.prices.standing * node.stalled.minus(taken).ns();
        if pages > 0 && node.swap_lines > 0 {
            self.swap = Ps(node.stalled.minus(node.shootdown).0 / pages);
        }
    }

    /// What a page brings in all if it moves now.
    fn brings(&self, of: &Candidate, now: Ps, worth: &Worth) -> f64 {
        let further = self.learner.expected(of.count, now - of.since, now);
        further * worth.each + of.cached() * worth.room
    }

    /// Whether a page had better be fetched further before it moves: a line that is in the shared cache by then
    /// makes more room than its fetch from the pool costs. All of its lines are there at most.
    fn ripens(&self, of: &Candidate, now: Ps, worth: &Worth) -> bool {
        let goes_on = || self.learner.soon(of.count, now - of.since) >= 1.0;
        of.fetched && of.count < LINES && worth.room > worth.fetch && goes_on()
    }

    /// Takes hot pages among the candidates if they pay for their swap; what accesses to all hot candidates have
    /// cost since then that would have been local, and what they will within the shortest time that is looked at.
    fn gather(&mut self, hot: &mut Vec<Hot>, now: Ps, worth: &Worth) -> (f64, f64) {
        let (mut missed, mut soon) = (0.0, 0.0);
        for Hot { page, count, written } in hot.drain(..) {
            if watched(page) {
                continue;
            }
            let before = self.candidates.get(&page).copied();
            let since = before.filter(|of| bin(of.count) == bin(count)).map_or(now, |of| of.since);
            let of = Candidate { count, since, fetched: !written };
            if self.brings(&Candidate { since: now, ..of }, now, worth) <= worth.page {
                self.candidates.remove(&page);
                continue;
            }
            self.candidates.insert(page, of);
            if self.ripens(&of, now, worth) {
                continue;
            }
            let missed_now = count - before.map_or(count, |of| of.count.min(count));
            missed += f64::from(missed_now) * worth.each;
            soon += self.learner.soon(count, now - since) * worth.each;
        }
        (missed, soon)
    }

    /// The candidates that still pay for their swap and had better not wait, those that bring most first, with what
    /// they bring beside it; those that do not pay are no candidates any more.
    fn wanted(&mut self, now: Ps, worth: &Worth) -> Vec<(f64, Hot)> {
        let gain = |of: &Candidate| self.brings(of, now, worth) - worth.page;
        let left = |of: &Candidate| gain(of) <= 0.0;
        let dropped = self.candidates.iter().filter(|(_, of)| left(of)).map(|(page, _)| *page);
        let dropped: Vec<PageId> = dropped.collect();
        let ripe = |of: &Candidate| !left(of) && !self.ripens(of, now, worth);
        let hot = |page: &PageId, of: &Candidate| Hot {
            page: *page,
            count: of.count,
            written: !of.fetched,
        };
        let all = self.candidates.iter().filter(|(_, of)| ripe(of));
        let mut wanted: Vec<(f64, Hot)> = all.map(|(page, of)| (gain(of), hot(page, of))).collect();
        dropped.iter().for_each(|page| _ = self.candidates.remove(page));
        wanted.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.page.cmp(&other.page)));
        wanted
    }
}

impl SwapPolicy for Payback {
    fn choose(&mut self, node: &NodeView, hot: &mut Vec<Hot>, most: usize) {
        let books = &mut self.nodes[node.node];
        books.learner.learn(node.now);
        books.stood(node);
        let Some(worth) = books.worth(node) else {
            hot.clear();
            return;
        };
        books.brought(node, &worth);
        let (missed, soon) = books.gather(hot, node.now, &worth);
        let most_owed = self.most_debt * f64::from(node.cores) * node.now.ns();
        let left = (most_owed - books.debt - worth.shootdown).max(0.0);
        let affordable = left / worth.page.max(1e-9);
        // A shootdown is dear or cheap by how many pages share it: more are waited for until that has cost as
        // much as the shootdown does, or is about to. Those that may not come yet wait for nothing.
        let could_come = (affordable / books.candidates.len().max(1) as f64).min(1.0);
        books.missed += missed * could_come;
        if worth.room > worth.fetch {
            // Pages that are ripe would have made room for these.
            books.missed += node.written_back as f64 * worth.write_back;
        }
        if books.missed + soon * could_come < worth.shootdown || books.candidates.is_empty() {
            return;
        }
        books.missed = 0.0;
        let mut wanted = books.wanted(node.now, &worth);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        wanted.truncate(most.min(affordable as usize));
        let all: f64 = wanted.iter().map(|(gain, _)| gain).sum();
        if wanted.is_empty() || all <= MARGIN * worth.shootdown {
            return;
        }
        books.debt += worth.shootdown + wanted.len() as f64 * worth.swap;
        books.moved += wanted.len() as f64;
        let pages = wanted.len() as u64;
        books.last = (pages, node.shootdown + node.swap.max(books.swap).times(pages));
        for (_, hot_page) in wanted {
            books.candidates.remove(&hot_page.page);
            hot.push(hot_page);
        }
    }

    fn watches(&self) -> bool {
        true
    }

    fn saw(&mut self, node: usize, page: PageId, count: u32, now: Ps) {
        if count > 0 && watched(page) {
            self.nodes[node].learner.saw(page, count, now);
        }
    }

    fn victim(&mut self, table: &mut LocalTable) -> Frame {
        victim(table, self.probes)
    }
}

#[cfg(test)]
mod tests;
