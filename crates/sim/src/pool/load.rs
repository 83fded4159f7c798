//! What a line and a stall cost all who share a pool, beside what they cost the node that makes them, from
//! what the pool's controller and the nodes count.
//!
//! A core's time is what it executes and what it waits: a share *w* of it. Of a fetch that takes *D*,
//! the requests ahead of it in the pool's queues are *W*, and these grow in proportion to the rate *T* at
//! which requests occupy the pool. So if *T* changes to *T'*, a core that runs is faster by
//!
//! 1 / (1 - θ (1 - T'/T)), with θ = w W / D:
//!
//! not at all where nobody queues (θ = 0), and in proportion to T/T' where all that cores do is to queue
//! (θ = 1). Two prices follow:
//!
//! - **Standing still.** A node that stands still takes its own requests out of the queue, and others go on as
//!   much faster. What is lost is the speed of all cores that run before less that of those that run
//!   meanwhile. On a saturated pool the first node's stall costs next to nothing, and the last one's all.
//! - **A line less.** One that occupies the pool for *b* saves *b* C θ / T of the time of *C* running cores:
//!   those behind it wait so much less. For a line that is written back this is all it saves.
//! - **A core ahead.** A fetch less saves its own core's wait as well, and that core is ahead by it with all
//!   that it asks next: what it asks in that time, write-backs that come with fetches among it, keeps others
//!   back as any line does. On a saturated pool the one takes back what the other gives, and a fetch less
//!   saves all just the time that it occupied the pool.
//! - **Room in the shared cache.** A line that leaves it with its page makes room: one fetch finds a free place and
//!   evicts nothing. It saves a write-back as often as evicted lines are written back to the pool.

use super::Ps;
use super::node::{Node, Tally};
use super::pool_module::PoolModule;

/// What was seen counts half after so long: some epochs of the shortest kind.
const HALF: Ps = Ps(100_000_000);

/// What a node's lines and stalls cost all; see the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prices {
    /// What all wait less for a line that is not read from the pool, nanoseconds of a core.
    pub read_ns: f64,
    /// What all wait less for a line that is not written back to the pool, nanoseconds of a core.
    pub write_back_ns: f64,
    /// What all wait more for each nanosecond by which a core of the node is ahead.
    pub ahead: f64,
    /// Cores that are lost in all while the node stands still.
    pub standing: f64,
    /// What all wait less for a line that leaves the shared cache, nanoseconds of a core.
    pub room_ns: f64,
}

impl Prices {
    /// What a fetch from the pool costs all more than one that saves its core so much.
    pub(super) fn fetch_ns(&self, own_ns: f64) -> f64 {
        own_ns + self.read_ns - self.ahead * own_ns
    }
}

/// Sums over the last while, nanoseconds and counts.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    span: f64,
    /// Reads' time in the pool's queues, and reads.
    waited: f64,
    reads: f64,
    /// The time that requests occupied the pool.
    occupied: f64,
    /// Fetches from the pool, and what they took.
    fetches: f64,
    delay: f64,
    /// Time of running cores, and what of it they executed.
    ran: f64,
    executed: f64,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Of {
    before: Tally,
    /// Over the last while, of the time that it ran.
    ran: f64,
    occupied: f64,
    /// Lines that fetches evicted from the shared cache, and those written back to the pool.
    evicted: f64,
    written: f64,
    /// Of what the last look saw.
    runs: bool,
    cores: f64,
    stands_still: bool,
}

impl Of {
    /// How often an evicted line is written back to the pool.
    fn dirty(&self) -> f64 {
        (self.written / self.evicted.max(1.0)).min(1.0)
    }

    /// At which rate its requests occupy the pool while it runs.
    fn rate(&self) -> f64 {
        if self.ran > 0.0 { self.occupied / self.ran } else { 0.0 }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Load {
    at: Ps,
    sums: Sums,
    nodes: Vec<Of>,
    /// Of the pool: reads' time in queues, and reads.
    before: (Ps, u64),
}

impl Load {
    pub(super) fn new(nodes: usize) -> Self {
        let nodes = vec![Of::default(); nodes];
        Self { at: Ps::ZERO, sums: Sums::default(), nodes, before: (Ps::ZERO, 0) }
    }

    /// An epoch ends: what was counted in it.
    pub(super) fn look(&mut self, now: Ps, nodes: &[Node<'_>], pool: &[PoolModule]) {
        let span = now - self.at;
        let kept = (-span.ns() / HALF.ns()).exp2();
        let Self { sums, before, .. } = self;
        let Sums { span: all, waited, reads, occupied, fetches, delay, ran, executed } = sums;
        for sum in [all, waited, reads, occupied, fetches, delay, ran, executed] {
            *sum *= kept;
        }
        let queued: (Ps, u64) = pool
            .iter()
            .map(PoolModule::queued)
            .fold((Ps::ZERO, 0), |(waited, reads), (more, count)| (waited + more, reads + count));
        sums.span += span.ns();
        sums.waited += (queued.0 - before.0).ns();
        sums.reads += (queued.1 - before.1) as f64;
        *before = queued;
        let [read, write] = [false, true].map(|write| pool[0].occupies(write).ns());
        for (of, node) in self.nodes.iter_mut().zip(nodes) {
            let before = std::mem::replace(&mut of.before, node.tally);
            of.runs = node.runs();
            of.cores = node.cores.len() as f64;
            of.stands_still = node.stalled_until > now;
            let still = node.stalled_until.min(now) - self.at;
            let time = if of.runs { (span - still).ns() } else { 0.0 };
            let fetched = (node.tally.fetched[1] - before.fetched[1]) as f64;
            let written = (node.tally.written[1] - before.written[1]) as f64;
            let occupied = fetched * read + written * write;
            of.ran = of.ran * kept + time;
            of.occupied = of.occupied * kept + occupied;
            // A fetch evicts a line, unless a move took one and left room.
            let all: u64 = node.tally.fetched.iter().sum();
            let (room, all_before) =
                (node.tally.taken - before.taken, before.fetched.iter().sum::<u64>());
            of.evicted = (of.evicted * kept + (all - all_before) as f64 - room as f64).max(0.0);
            of.written = of.written * kept + written;
            sums.occupied += occupied;
            sums.fetches += fetched;
            sums.delay += (node.tally.delay[1] - before.delay[1]) as f64 * 1e-3;
            sums.ran += time * of.cores;
            sums.executed += (node.tally.executed - before.executed).ns();
        }
        self.at = now;
    }

    /// A node stands still from now on.
    pub(super) fn stall(&mut self, node: usize) {
        self.nodes[node].stands_still = true;
    }

    /// How much of all cores' time goes by in the pool's queues.
    fn queueing(&self) -> f64 {
        let Sums { waited, reads, fetches, delay, ran, executed, .. } = self.sums;
        if reads <= 0.0 || delay <= 0.0 || ran <= 0.0 {
            return 0.0;
        }
        let of_delay = (waited / reads * fetches / delay).clamp(0.0, 1.0);
        (1.0 - executed / ran).clamp(0.0, 1.0) * of_delay
    }

    /// How many cores' work is done by those that run, if `without` stands still, too; in work of a core as
    /// of late.
    fn speed(&self, without: Option<usize>) -> f64 {
        let running = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(number, of)| of.runs && !of.stands_still && Some(*number) != without);
        let (cores, rate) =
            running.fold((0.0, 0.0), |(cores, rate), (_, of)| (cores + of.cores, rate + of.rate()));
        let before = self.sums.occupied / self.sums.span.max(1e-3);
        let theta = self.queueing();
        let less = if before > 0.0 { 1.0 - rate / before } else { 0.0 };
        cores / (1.0 - theta * less).max(1e-3)
    }

    /// For a node that does not stand still.
    pub(super) fn prices(&self, node: usize, pool: &[PoolModule]) -> Prices {
        let Sums { span, occupied, ran, .. } = self.sums;
        let of = &self.nodes[node];
        if span <= 0.0 || occupied <= 0.0 {
            return Prices { standing: of.cores, ..Prices::default() };
        }
        // Of C cores, C θ / T for each nanosecond that the pool is not occupied.
        let each = ran * self.queueing() / occupied;
        let [read, write] = [false, true].map(|write| pool[0].occupies(write).ns());
        Prices {
            read_ns: read * each,
            write_back_ns: write * each,
            ahead: of.rate() / of.cores.max(1.0) * each,
            room_ns: of.dirty() * write * each,
            standing: (self.speed(None) - self.speed(Some(node))).max(0.0),
        }
    }
}
