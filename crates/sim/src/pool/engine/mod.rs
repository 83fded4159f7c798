//! Replays the misses of all nodes' cores in the order of simulated time.
//!
//! A core executes so many instructions per cycle, whatever they are, until it has as many misses under
//! way as it may have; it waits for no miss by name (as in the paper's simulator \[I\]: a bound). All
//! queues are first come, first served, so a request's end is known when it begins, and the next thing
//! to happen is always a core's next request, the end of an epoch, or what waited for a time
//! ([`Later`]). Requests of different nodes are taken to reach the pool in the order in which they left.

mod at_work;
mod outcome;
mod place;
mod requests;
mod turns;

use super::Ps;
use super::caches::NodeCaches;
use super::central_manager::Manager;
use super::controller::Controller;
use super::governor::Governed;
use super::hardware::{Times, pages_of};
use super::kept::{Filtered, Nothing};
use super::later::{Asked, Later};
use super::lost::Lost;
use super::node::{Caches, Node};
use super::outcome::PoolOutcome;
use super::placement::Placement;
use super::pool_module::PoolModule;
use super::settings::{Migration, PoolError, refuse};
use super::shared::Shared;
use super::traffic::{Misses, Request};
use at_work::AtWork;
use pagetide_machine::PoolMachine;
use turns::Turns;

/// What runs on a node.
#[derive(Clone, Copy, Debug)]
pub struct Program<'m> {
    /// The misses of each core; as many as a node has cores, or fewer.
    pub misses: &'m [Misses],
    /// Pages of its memory.
    pub pages: u32,
}

/// Requests between two looks at whoever watches.
const WATCH: u32 = 1 << 20;
/// Nodes begin so far apart, so that equal programs are not in step \[I\].
const APART: Ps = Ps(617_000);

/// When a node begins.
fn start(node: usize) -> Ps {
    APART.times(node as u64)
}

/// See the module.
#[derive(Debug)]
pub struct Engine<'m> {
    times: Times,
    nodes: Vec<Node<'m>>,
    /// Of the cores of all nodes, in their order.
    turns: Turns,
    /// By core of all nodes: its node, and its number there.
    seats: Vec<(usize, usize)>,
    cores: usize,
    pool: Vec<PoolModule>,
    modules: u32,
    controller: Option<Controller>,
    pub(super) manager: Option<Manager>,
    later: Later,
    requests: u64,
    at_work: AtWork,
}

impl<'m> Engine<'m> {
    /// Nodes with a program each on a machine; without a migration nothing is counted.
    ///
    /// # Errors
    /// A program that does not fit, more nodes than the pool can hold, a migration that makes no sense.
    pub fn new(
        machine: &PoolMachine,
        programs: &[Program<'m>],
        (placement, seed): (Placement, u64),
        migration: Option<&Migration>,
    ) -> Result<Self, PoolError> {
        if let Some(migration) = migration {
            migration.check(pages_of(machine.local.capacity))?;
        }
        let places = place::all(machine, programs, placement, seed)?;
        let times = Times::of(machine);
        let nodes: Vec<Node<'m>> = programs
            .iter()
            .zip(places)
            .enumerate()
            .map(|(number, (program, places))| {
                let mut node = Node::new(machine, program.misses, places, start(number));
                if let Some(migration) = migration {
                    node.governed = Governed::new(migration, program.pages, start(number))?;
                    let of = (program.pages, node.governed.is_some());
                    node.lost = Lost::of(machine, migration, of);
                }
                Ok(node)
            })
            .collect::<Result<_, PoolError>>()?;
        let cores = machine.core.count as usize;
        let pages: Vec<u32> = programs.iter().map(|program| program.pages).collect();
        let seats = (0..programs.len()).flat_map(|node| (0..cores).map(move |core| (node, core)));
        let mut engine = Self {
            times,
            turns: Turns::new(nodes.len() * cores),
            seats: seats.collect(),
            cores,
            pool: (0..machine.pool.modules).map(|_| PoolModule::new(&machine.pool)).collect(),
            modules: machine.pool.modules,
            controller: migration.map(|migration| Controller::new(&pages, migration)),
            manager: migration
                .map(|migration| Manager::new(migration.clone(), programs.len(), &times)),
            nodes,
            later: Later::default(),
            requests: 0,
            at_work: AtWork::new(migration),
        };
        engine.remember(Ps::ZERO);
        (0..engine.nodes.len()).for_each(|node| engine.ask_cores(node));
        Ok(engine)
    }

    /// Lets the misses come from caches that are simulated in time, those of a node for each, in place of misses
    /// that are kept: cores take turns in their shared cache as fast as they are, and a page that moves leaves
    /// the caches.
    #[must_use]
    pub fn behind(self, caches: Vec<NodeCaches>) -> Self {
        let warm = |mut caches: NodeCaches| {
            caches.warm_up(&mut |_| {}, &mut Nothing);
            caches.one_at_a_time();
            Caches::All(caches)
        };
        self.with(caches.into_iter().map(warm))
    }

    /// Lets the shared cache of each node be simulated in time, behind what the cores' own caches let through:
    /// as [`Self::behind`], but for what a move changes in the cores' own caches for other pages.
    #[must_use]
    pub fn sharing(self, filtered: &[&'m Filtered]) -> Self {
        self.with(filtered.iter().map(|filtered| Caches::Shared(Shared::new(filtered))))
    }

    fn with(mut self, caches: impl Iterator<Item = Caches<'m>>) -> Self {
        for (number, (node, caches)) in self.nodes.iter_mut().zip(caches).enumerate() {
            node.caches = Some(caches);
            for core in 0..node.cores.len() {
                node.cores[core].forget(start(number));
                node.refill(core, start(number), &self.times);
                self.turns.set(number * self.cores + core, node.cores[core].next());
            }
        }
        self
    }

    /// Replays all, and tells what came of it.
    ///
    /// # Errors
    /// `watch`, asked now and then, said false.
    pub fn run(mut self, watch: &mut dyn FnMut(f64) -> bool) -> Result<PoolOutcome, PoolError> {
        let of_caches = |node: &Node<'_>| node.caches.as_ref().map_or(0, Caches::left);
        let of_cores = |node: &Node<'_>| node.cores.iter().map(|core| core.left()).sum::<u64>();
        let all: u64 = self.nodes.iter().map(|node| of_caches(node) + of_cores(node)).sum();
        let (mut made, mut left) = (0, WATCH);
        loop {
            let (core, next) = self.turns.first();
            let later = self.later.first();
            let now = next.min(later);
            if now == Ps::MAX {
                break;
            }
            if next == Ps::MAX {
                self.look_at_banks(later);
            }
            if self.end_epochs(now) {
                continue;
            }
            if later <= next {
                self.go_on(later);
                continue;
            }
            self.make(core, now);
            left -= 1;
            if left == 0 {
                (made, left) = (made + u64::from(WATCH), WATCH);
                self.remember(now);
                if !watch(made as f64 / all.max(1) as f64) {
                    return Err(PoolError::Stopped);
                }
            }
        }
        if let Some(last) = self.turns.too_late() {
            let days = last.seconds() / 86_400.0;
            let remedy = format!(
                "more than {days:.1} days would be simulated, which is the most for so many cores; give fewer \
                 instructions or cores, or shorter times of pool and network"
            );
            return refuse("instructions", &"too many", remedy);
        }
        Ok(self.outcome())
    }

    /// Ends the epochs that end before a request at `now`; whether there were any.
    #[inline]
    fn end_epochs(&mut self, now: Ps) -> bool {
        let (Some(manager), Some(controller)) = (&mut self.manager, &mut self.controller) else {
            return false;
        };
        if manager.ends_at > now {
            return false;
        }
        manager.end(&mut self.nodes, (&self.pool, &mut self.later), controller);
        (0..self.nodes.len()).for_each(|node| self.ask_cores(node));
        true
    }

    /// When the cores of a node make their next requests may have changed.
    fn ask_cores(&mut self, node: usize) {
        for (number, core) in self.nodes[node].cores.iter().enumerate() {
            self.turns.set(node * self.cores + number, core.next());
        }
    }

    /// A core makes its next request.
    #[inline]
    fn make(&mut self, number: usize, now: Ps) {
        let (at, of) = self.seats[number];
        let node = &mut self.nodes[at];
        let miss = node.cores[of].miss();
        let request = miss.request();
        let mut now = now;
        if let Some(translations) = &mut node.translations {
            let page = miss.page();
            if request == Request::Translation {
                now += translations.miss(of, page, miss.line() & 1 == 1);
            } else if request == Request::Fetch
                && let Some(walk) = translations.again(of, page)
            {
                // It asks once it has walked.
                node.cores[of].waits(now + walk);
                self.turns.set(number, node.cores[of].next());
                return;
            }
        }
        let write = request == Request::WriteBack;
        let mut done = None;
        if write || request == Request::Fetch {
            self.requests += 1;
            let asked = Asked { node: at, core: of, line: miss.line(), write, since: now };
            let served = self.ask(asked, now);
            done = (!write).then(|| served.unwrap_or(Ps::MAX));
        }
        let node = &mut self.nodes[at];
        let core = &mut node.cores[of];
        node.tally.executed += core.executes(&self.times);
        core.made(now, done, &self.times);
        if core.is_through() {
            node.refill(of, now, &self.times);
        }
        self.turns.set(number, node.cores[of].next());
    }
}
