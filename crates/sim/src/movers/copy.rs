//! The copy of a batch: several threads of the kernel, each with its part of the bytes; or that of a page
//! by the thread that faulted on it. They read and write through the tiers' channels like everybody
//! else.

use crate::engine::World;
use std::collections::VecDeque;

/// Of what a page costs beside its copy, the part before it [I].
pub(super) const BEFORE_COPY: f64 = 0.5;
/// Bytes that are read and written at a time: what others wait for at most.
const CHUNK: f64 = 512.0;
/// Chunks that a thread has under way.
const UNDER_WAY: usize = 4;

/// One thread's part.
#[derive(Clone, Debug)]
struct Lane {
    /// Bytes left that go up, and that go down.
    left: [f64; 2],
    /// When it reads its next chunk, ns.
    next_ns: f64,
    /// When each chunk under way is there; the oldest is at `oldest`.
    under_way: [f64; UNDER_WAY],
    oldest: usize,
    /// What has been read, and is written then.
    read: VecDeque<Chunk>,
}

/// A chunk on its way.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    read_ns: f64,
    bytes: f64,
    to: usize,
    slot: usize,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    lanes: Vec<Lane>,
    /// What a thread needs for a chunk, ns.
    chunk_ns: f64,
    /// The kernel's threads make it, and need cores.
    kernel: bool,
}

impl Copy {
    /// Threads that begin at `now_ns`; `bytes` go up and down, a thread copies `gb_s`.
    pub(super) fn new(threads: u32, bytes: [f64; 2], gb_s: f64, now_ns: f64) -> Self {
        let left = bytes.map(|bytes| bytes / f64::from(threads.max(1)));
        let under_way = [now_ns; UNDER_WAY];
        let lane = Lane { left, next_ns: now_ns, under_way, oldest: 0, read: VecDeque::new() };
        Self { lanes: vec![lane; threads.max(1) as usize], chunk_ns: CHUNK / gb_s, kernel: true }
    }

    /// A copy upwards by a thread of a program, which does nothing else meanwhile.
    pub(super) fn in_fault(bytes: f64, gb_s: f64, now_ns: f64) -> Self {
        Self { kernel: false, ..Self::new(1, [bytes, 0.0], gb_s, now_ns) }
    }

    /// Issues what is due at `now_ns`; what comes next.
    pub(super) fn step(&mut self, now_ns: f64, world: &mut World) -> Step {
        for lane in &mut self.lanes {
            lane.write(now_ns, world);
            if lane.next_ns <= now_ns && lane.is_open() {
                let takes = lane.issue(now_ns, self.chunk_ns, world);
                if self.kernel {
                    world.cores.kernel(now_ns, takes);
                }
            }
        }
        let next = self.lanes.iter().map(Lane::next).fold(f64::INFINITY, f64::min);
        if next.is_finite() {
            return Step::At(next);
        }
        // The last writes need not be waited for by who issued them, but by who maps the page.
        let there = |lane: &Lane| lane.under_way.iter().copied().fold(lane.next_ns, f64::max);
        Step::There(self.lanes.iter().map(there).fold(now_ns, f64::max))
    }

    /// How much longer it takes at least, ns.
    pub(super) fn at_least_ns(&self) -> f64 {
        let left = |lane: &Lane| (lane.left[0] + lane.left[1]) / CHUNK * self.chunk_ns;
        self.lanes.iter().map(left).fold(0.0, f64::max)
    }
}

/// What comes next.
pub(super) enum Step {
    /// More to issue.
    At(f64),
    /// Nothing: all is there then.
    There(f64),
}

impl Lane {
    fn is_open(&self) -> bool {
        self.left[0] > 0.0 || self.left[1] > 0.0
    }

    /// When it does something next, ns; never if it has nothing left to read or to write.
    fn next(&self) -> f64 {
        let writes = self.read.front().map_or(f64::INFINITY, |chunk| chunk.read_ns);
        if self.is_open() { self.next_ns.min(writes) } else { writes }
    }

    /// Writes what has been read by now, in the order in which it was asked for.
    fn write(&mut self, now_ns: f64, world: &mut World) {
        while let Some(chunk) = self.read.front().copied().filter(|chunk| chunk.read_ns <= now_ns) {
            self.under_way[chunk.slot] = world.memory[chunk.to].serve(now_ns, chunk.bytes, true);
            self.read.pop_front();
        }
    }

    /// Reads a chunk; how long that keeps the thread busy, ns.
    fn issue(&mut self, now_ns: f64, chunk_ns: f64, world: &mut World) -> f64 {
        // Both directions of an exchange advance alike.
        let up = self.left[0] >= self.left[1];
        let left = &mut self.left[usize::from(!up)];
        let bytes = left.min(CHUNK);
        *left -= bytes;
        let (from, to) = if up { (1, 0) } else { (0, 1) };
        let read_ns = world.memory[from].serve(now_ns, bytes, false);
        let slot = self.oldest;
        self.under_way[slot] = read_ns;
        self.read.push_back(Chunk { read_ns, bytes, to, slot });
        self.oldest = (slot + 1) % UNDER_WAY;
        let takes = chunk_ns * bytes / CHUNK;
        self.next_ns = (now_ns + takes).max(self.under_way[self.oldest]);
        takes
    }
}
