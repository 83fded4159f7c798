//! Replays the misses of all nodes' cores in the order of simulated time.
//!
//! A core executes so many instructions per cycle, whatever they are, until it has as many misses under
//! way as it may have; it waits for no miss by name (as in the paper's simulator \[I\]: a bound). All
//! queues are first come, first served, so a request's end is known when it begins, and the next thing
//! to happen is always a core's next request, or the end of an epoch. Requests of different nodes are
//! taken to reach the pool in the order in which they left.

use super::Ps;
use super::controller::Controller;
use super::counts::PageId;
use super::filter::NodeCaches;
use super::governed::Governed;
use super::hardware::{Times, module};
use super::local::{Frame, LocalTable};
use super::manager::Manager;
use super::module::Module;
use super::node::{Node, Place, Places};
use super::outcome::{NodeOutcome, PoolOutcome};
use super::placement::{Placement, Room};
use super::settings::{Migration, PoolError, refuse};
use super::traffic::{Misses, Request};
use pagetide_access::generators::Rng;
use pagetide_machine::PoolMachine;

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

/// See the module.
#[derive(Debug)]
pub struct Engine<'m> {
    times: Times,
    nodes: Vec<Node<'m>>,
    /// By core of all nodes, in their order: when it makes its next request.
    next: Vec<Ps>,
    cores: usize,
    pool: Vec<Module>,
    modules: u32,
    controller: Option<Controller>,
    pub(super) manager: Option<Manager>,
    requests: u64,
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
        let frames = machine.local.capacity.0 / 4096;
        if let Some(migration) = migration {
            migration.check(frames)?;
        }
        let places = Self::place(machine, programs, placement, seed)?;
        let times = Times::of(machine);
        let nodes: Vec<Node<'m>> = programs
            .iter()
            .zip(places)
            .zip(0..)
            .map(|((program, places), number)| {
                let start = APART.times(number);
                let mut node = Node::new(machine, program.misses, places, start);
                if let Some(migration) = migration {
                    node.governed = Governed::new(migration, program.pages, start)?;
                }
                Ok(node)
            })
            .collect::<Result<_, PoolError>>()?;
        let cores = machine.core.count as usize;
        let next = nodes.iter().flat_map(|node| {
            (0..cores).map(|core| node.cores.get(core).map_or(Ps::MAX, super::node::Core::next))
        });
        let pages: Vec<u32> = programs.iter().map(|program| program.pages).collect();
        Ok(Self {
            times,
            next: next.collect(),
            cores,
            pool: (0..machine.pool.modules).map(|_| module(&machine.pool)).collect(),
            modules: machine.pool.modules,
            controller: migration.map(|migration| Controller::new(&pages, migration)),
            manager: migration
                .map(|migration| Manager::new(migration.clone(), programs.len(), &times)),
            nodes,
            requests: 0,
        })
    }

    /// Lets the misses come from caches that are simulated in time, one for each node, in place of misses
    /// that are kept: cores take turns in their shared cache as fast as they are, and lines of a page that
    /// moved serve nobody.
    #[must_use]
    pub fn behind(mut self, caches: Vec<NodeCaches>) -> Self {
        for (number, (node, mut caches)) in self.nodes.iter_mut().zip(caches).enumerate() {
            caches.warm_up();
            node.caches = Some(caches);
            for core in 0..node.cores.len() {
                node.refill(core, APART.times(number as u64), &self.times);
                self.next[number * self.cores + core] = node.cores[core].next();
            }
        }
        self
    }

    /// Where the pages of each node are at first.
    fn place(
        machine: &PoolMachine,
        programs: &[Program<'m>],
        placement: Placement,
        seed: u64,
    ) -> Result<Vec<(Places, LocalTable)>, PoolError> {
        if programs.is_empty() {
            return refuse("nodes", &0, "nobody shares the pool; give 1 or more");
        }
        let cores = machine.core.count as usize;
        if let Some(program) = programs.iter().find(|program| program.misses.len() > cores) {
            let remedy = format!("a node has {cores}; give the program as many threads");
            return refuse("core.count", &program.misses.len(), remedy);
        }
        let frames = machine.local.capacity.0 / 4096;
        let all = u64::from(machine.pool.modules) * (machine.pool.capacity.0 / 4096);
        let share = all / programs.len() as u64;
        let local = u32::try_from(frames).unwrap_or(u32::MAX / 4).min(1 << 30);
        let mut next_slot = 0_u64;
        let place = |(number, program): (usize, &Program<'m>)| {
            let room = Room { local: frames, pool: share, modules: machine.pool.modules };
            let is_local = placement.of(program.pages, room, Rng::new(seed, number as u64));
            let mut table = LocalTable::new(local);
            let mut next_frame = 0;
            let places = (0..).zip(is_local).map(|(page, is_local)| {
                if is_local {
                    let frame = Frame(next_frame);
                    next_frame += 1;
                    table.put(frame, PageId(page));
                    return Ok(Place::Local(frame));
                }
                next_slot += 1;
                if next_slot > all {
                    let remedy = format!(
                        "the pool holds {all} pages, and the programs of {} nodes need more; give \
                         fewer nodes, smaller programs or a larger pool.capacity",
                        programs.len()
                    );
                    return refuse("nodes", &programs.len(), remedy);
                }
                #[expect(clippy::cast_possible_truncation, reason = "checked against 2^31 below")]
                let slot = (next_slot - 1) as u32;
                Ok(Place::Pool(slot))
            });
            let places: Vec<Place> = places.collect::<Result<_, PoolError>>()?;
            Ok((Places::new(places.into_iter()), table))
        };
        let needed: u64 = programs.iter().map(|program| u64::from(program.pages)).sum();
        if needed >= 1 << 31 {
            return refuse("nodes", &programs.len(), "at most 8 TiB of programs are simulated");
        }
        programs.iter().enumerate().map(place).collect()
    }

    /// Replays all, and tells what came of it.
    ///
    /// # Errors
    /// `watch`, asked now and then, said false.
    pub fn run(mut self, watch: &mut dyn FnMut(f64) -> bool) -> Result<PoolOutcome, PoolError> {
        let all: u64 = self.nodes.iter().flat_map(|node| &node.cores).map(|c| c.left()).sum();
        let mut left = WATCH;
        loop {
            let (core, now) = self.first();
            if now == Ps::MAX {
                break;
            }
            if self.end_epochs(now) {
                continue;
            }
            self.requests += 1;
            self.make(core, now);
            left -= 1;
            if left == 0 {
                left = WATCH;
                if !watch(self.requests as f64 / all.max(1) as f64) {
                    return Err(PoolError::Stopped);
                }
            }
        }
        Ok(self.outcome())
    }

    /// The core with the next request.
    #[inline]
    fn first(&self) -> (usize, Ps) {
        let mut first = (0, Ps::MAX);
        for (core, next) in self.next.iter().enumerate() {
            if *next < first.1 {
                first = (core, *next);
            }
        }
        first
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
        manager.end(&mut self.nodes, &mut self.pool, controller);
        for (number, node) in self.nodes.iter().enumerate() {
            for (core, next) in node.cores.iter().zip(&mut self.next[number * self.cores..]) {
                *next = core.next();
            }
        }
        true
    }

    /// A core makes its next request.
    #[inline]
    fn make(&mut self, number: usize, now: Ps) {
        let (at, of) = (number / self.cores, number % self.cores);
        let node = &mut self.nodes[at];
        let miss = node.cores[of].miss();
        let request = miss.request();
        let mut now = now;
        if let Some(translations) = &mut node.translations {
            let page = PageId(miss.line() >> 6);
            if request == Request::Translation {
                now += translations.miss(of, page, miss.line() & 1 == 1);
                self.requests -= 1;
            } else if request == Request::Fetch
                && let Some(walk) = translations.again(of, page)
            {
                // It asks once it has walked.
                node.cores[of].waits(now + walk);
                self.next[number] = node.cores[of].next();
                self.requests -= 1;
                return;
            }
        }
        let done = if matches!(request, Request::Nothing | Request::Translation) {
            None
        } else {
            let write = request == Request::WriteBack;
            let page = PageId(miss.line() >> 6);
            let within = u64::from(miss.line() & 63);
            let mut from = now;
            if !node.coming.is_empty()
                && let Some(there) = node.coming.get(&page)
            {
                from = from.max(*there);
            }
            let (pooled, done) = match node.places.of(page) {
                Place::Local(frame) => {
                    node.table.touch(frame);
                    let line = u64::from(frame.0) << 6 | within;
                    (0, node.memory.serve(line, write, from))
                }
                Place::Pool(slot) => {
                    let sent = node.port[usize::from(write)].pass(from) + self.times.there;
                    let (module, frame) = (slot % self.modules, slot / self.modules);
                    let line = u64::from(frame) << 6 | within;
                    let module = &mut self.pool[module as usize];
                    let mut done = sent;
                    if let Some(controller) = &mut self.controller {
                        let waited = controller.access(at, page, write);
                        if let Some(manager) = self.manager.as_mut().filter(|m| m.watches) {
                            manager.policy.saw(at, page, waited.count, sent);
                        }
                        // Eight counts lie in a line.
                        let counts = u64::from(waited.key) >> 3;
                        if waited.spilled {
                            module.serve(counts, true, sent);
                        }
                        if waited.filled {
                            done = module.serve(counts, false, sent);
                        }
                    }
                    (1, module.serve(line, write, done) + self.times.back)
                }
            };
            if write {
                node.tally.written[pooled] += 1;
                None
            } else {
                node.tally.fetched[pooled] += 1;
                node.tally.delay[pooled] += u128::from((done - now).0);
                if let Some(governed) = &mut node.governed {
                    governed.fetched(page, pooled == 0, now);
                }
                Some(done)
            }
        };
        let core = &mut node.cores[of];
        node.tally.executed += core.executes(&self.times);
        core.made(now, done, &self.times);
        if core.is_through() {
            node.refill(of, now, &self.times);
        }
        self.next[number] = node.cores[of].next();
    }

    fn outcome(self) -> PoolOutcome {
        let Self { times, nodes, controller, manager, pool, requests, .. } = self;
        let of_node = |(number, node): (usize, &Node<'_>)| {
            let tally = &node.tally;
            let end = |core: &super::node::Core<'_>| core.done_at().unwrap_or_default();
            let start = APART.times(number as u64);
            let ipc = |core: &super::node::Core<'_>| {
                core.instructions() as f64 / times.in_cycles(end(core) - start).max(1e-9)
            };
            let mean = |delay: u128, count: u64| delay as f64 * 1e-3 / (count as f64).max(1.0);
            let (stopped, stood_still) =
                node.governed.as_ref().map_or_else(Default::default, |of| of.stopped);
            let walks = node.translations.as_ref().map_or((0, 0), |of| of.walks);
            NodeOutcome {
                instructions: node.cores.iter().map(super::node::Core::instructions).sum(),
                seconds: node.cores.iter().map(end).max().unwrap_or_default().seconds(),
                ipc: node.cores.iter().map(ipc).sum::<f64>() / node.cores.len().max(1) as f64,
                local_fetches: tally.fetched[0],
                pool_fetches: tally.fetched[1],
                local_write_backs: tally.written[0],
                pool_write_backs: tally.written[1],
                delay_ns: mean(
                    tally.delay[0] + tally.delay[1],
                    tally.fetched[0] + tally.fetched[1],
                ),
                pool_delay_ns: mean(tally.delay[1], tally.fetched[1]),
                moved_in: tally.moved_in,
                moved_out: tally.moved_out,
                stalls: tally.stalls,
                stalled_s: tally.stalled.seconds(),
                most_accesses: controller.as_ref().map_or(0, |all| all.most(number)),
                most_hot: tally.most_hot,
                walks: walks.0,
                walks_again: walks.1,
                stopped,
                stood_still_s: stood_still.seconds(),
            }
        };
        let all: Vec<NodeOutcome> = nodes.iter().enumerate().map(of_node).collect();
        let seconds = all.iter().map(|node| node.seconds).fold(0.0, f64::max);
        let banks: usize = pool.iter().map(Module::banks).sum();
        let busy: f64 = pool.iter().map(|module| module.busy().seconds()).sum();
        let outcome = PoolOutcome {
            ipc: all.iter().map(|node| node.ipc).sum::<f64>() / all.len().max(1) as f64,
            seconds,
            busy_share: busy / (banks as f64 * seconds).max(1e-12),
            requests,
            nodes: all,
            ..PoolOutcome::default()
        };
        let swapped = manager.map(|manager| manager.swapped).unwrap_or_default();
        outcome.told(swapped, controller.map(|all| all.spills()).unwrap_or_default())
    }
}
