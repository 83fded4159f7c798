//! The engine: actors with clocks of their own (threads of tenants, threads of a kernel), tiers with a
//! latency and a channel each, and one rule: who is behind goes first. One simulation runs on one
//! host thread and is deterministic.

mod access;
mod barrier;
mod caches;
mod channel;
mod copier;
mod cores;
mod events;
mod hierarchy;
mod page_tables;
mod pages;
mod stale;
mod streams;
mod system;
mod thread;
mod touches;
mod translations;
mod under_way;
mod walk;
mod world;

pub use access::{Access, Program};
pub use channel::{Channel, LINE};
pub use copier::Copier;
pub use cores::Cores;
pub use events::{EventPeriods, Events};
pub use hierarchy::Hardware;
use hierarchy::MemoryOnly;
pub use pages::{HUGE_PAGES, PAGE_SHIFT, Pages, bit};
pub use system::{Fault, LOOK_AGAIN_NS, System};
pub use thread::Core;
use thread::Thread;
pub use touches::IN_A_ROW;
pub use walk::{AnySource, WalkProgram};
pub use world::World;

/// An actor may run ahead of the others by so much, ns: then what they ask of a channel meanwhile
/// comes out of order by no more. A tenth of the shortest latency.
const AHEAD_NS: f64 = 10.0;
/// Whoever watches is asked that often, ns: some milliseconds of the host's time.
const WATCH_NS: f64 = 1e5;

/// Something that takes simulated time: it does its work up to a time, and says when it goes on.
pub trait Actor: Send {
    /// When it goes on, ns; of one that has ended, when it did.
    fn clock_ns(&self) -> f64;
    /// Whether it has nothing left to do.
    fn ended(&self) -> bool;
    /// It works for others, and the simulation does not wait for it.
    fn serves_others(&self) -> bool {
        false
    }
    /// Works until its clock passes `until_ns`, or to its end. It asks for nothing that is later.
    fn run(&mut self, until_ns: f64, world: &mut World);
}

/// A machine, and who is at work on it.
pub struct Engine<'a> {
    world: World,
    actors: Vec<Box<dyn Actor + 'a>>,
    /// By actor, when it goes on: its own clock, or never once it has ended.
    next_ns: Vec<f64>,
    /// By actor, whether the simulation waits for it.
    programs: Vec<bool>,
    watch: Option<Watch<'a>>,
    /// When that is asked next, ns.
    watch_ns: f64,
}

/// Is told how far the simulation is, ns; false ends it.
type Watch<'a> = Box<dyn FnMut(f64) -> bool + 'a>;

impl<'a> Engine<'a> {
    /// Nobody is at work yet but the threads of the system, if there is one.
    #[must_use]
    pub fn new(world: World) -> Self {
        let mut engine = Self {
            actors: Vec::new(),
            next_ns: Vec::new(),
            programs: Vec::new(),
            world,
            watch: None,
            watch_ns: 0.0,
        };
        for number in 0..engine.world.daemons() {
            engine.add(system::Daemon { number, next_ns: 0.0 });
        }
        engine
    }

    /// Tells from now on how far it is, ns, again and again; once the answer is false nobody works
    /// any more.
    pub fn watch(&mut self, watch: impl FnMut(f64) -> bool + 'a) {
        self.watch = Some(Box::new(watch));
    }

    /// Adds an actor; its number.
    pub fn add(&mut self, actor: impl Actor + 'a) -> usize {
        self.next_ns.push(next_ns(&actor));
        self.programs.push(!actor.serves_others());
        self.actors.push(Box::new(actor));
        self.actors.len() - 1
    }

    /// Adds a thread of a tenant's program, on a core of its own; its number.
    pub fn thread(
        &mut self,
        program: impl Program + 'a,
        tenant: usize,
        core: Core,
        start_ns: f64,
    ) -> usize {
        let place = (self.world.seat(tenant), self.world.join(tenant));
        match self.world.core() {
            None => self.add(Thread::new(program, tenant, place, core, MemoryOnly, start_ns)),
            Some(own) => self.add(Thread::new(program, tenant, place, core, own, start_ns)),
        }
    }

    /// Runs until all programs have ended or passed `until_ns`; the time of the last of them.
    pub fn run(&mut self, until_ns: f64) -> f64 {
        while self.goes_on(until_ns) {
            let (number, clock, second) = self.first();
            let mut until = (second.max(clock) + AHEAD_NS).min(until_ns);
            if let Some(watch) = &mut self.watch {
                if clock >= self.watch_ns {
                    if !watch(clock) {
                        break;
                    }
                    self.watch_ns = clock + WATCH_NS;
                }
                // Nobody else has anything to do before that: it is the same in two steps.
                until = until.min(clock + WATCH_NS);
            }
            let actor = &mut self.actors[number];
            actor.run(until, &mut self.world);
            self.next_ns[number] = next_ns(actor.as_ref());
        }
        let programs = self.actors.iter().zip(&self.programs).filter(|(_, program)| **program);
        programs.map(|(actor, _)| actor.clock_ns()).fold(0.0, f64::max)
    }

    /// Whether a program goes on before a time.
    fn goes_on(&self, until_ns: f64) -> bool {
        let on = |(next, program): (&f64, &bool)| *program && next.is_finite() && *next <= until_ns;
        self.next_ns.iter().zip(&self.programs).any(on)
    }

    /// Who is behind, its clock, and that of the next.
    #[inline]
    fn first(&self) -> (usize, f64, f64) {
        let (mut first, mut least, mut second) = (0, f64::INFINITY, f64::INFINITY);
        for (number, next) in self.next_ns.iter().enumerate() {
            if *next < least {
                (first, second, least) = (number, least, *next);
            } else {
                second = second.min(*next);
            }
        }
        (first, least, second)
    }

    /// When an actor goes on, or ended, ns.
    #[must_use]
    pub fn clock_ns(&self, actor: usize) -> f64 {
        self.actors[actor].clock_ns()
    }

    /// Whether an actor has nothing left to do.
    #[must_use]
    pub fn ended(&self, actor: usize) -> bool {
        self.actors[actor].ended()
    }

    /// What the actors share.
    pub fn world(&mut self) -> &mut World {
        &mut self.world
    }
}

/// When an actor goes on.
fn next_ns(actor: &(impl Actor + ?Sized)) -> f64 {
    if actor.ended() { f64::INFINITY } else { actor.clock_ns() }
}

#[cfg(test)]
mod tests;
