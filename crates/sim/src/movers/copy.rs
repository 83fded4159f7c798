//! The copy of a batch: several threads of the kernel, each with its part of the bytes. They read and
//! write through the tiers' channels like everybody else.

use crate::engine::World;

/// Bytes that are read and written at a time: what others wait for at most.
const CHUNK: f64 = 512.0;
/// Chunks that a thread has under way.
const UNDER_WAY: usize = 4;

/// One thread's part.
#[derive(Clone, Debug)]
struct Lane {
    /// Bytes left that go up, and that go down.
    left: [f64; 2],
    /// When it issues its next chunk, ns.
    next_ns: f64,
    under_way: [f64; UNDER_WAY],
    oldest: usize,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    lanes: Vec<Lane>,
    /// What a thread needs for a chunk, ns.
    chunk_ns: f64,
}

impl Copy {
    /// Threads that begin at `now_ns`; `bytes` go up and down, a thread copies `gb_s`.
    pub(super) fn new(threads: u32, bytes: [f64; 2], gb_s: f64, now_ns: f64) -> Self {
        let left = bytes.map(|bytes| bytes / f64::from(threads.max(1)));
        let lane = Lane { left, next_ns: now_ns, under_way: [now_ns; UNDER_WAY], oldest: 0 };
        Self { lanes: vec![lane; threads.max(1) as usize], chunk_ns: CHUNK / gb_s }
    }

    /// Issues what is due at `now_ns`; what comes next.
    pub(super) fn step(&mut self, now_ns: f64, world: &mut World) -> Step {
        for lane in &mut self.lanes {
            if lane.next_ns <= now_ns && lane.is_open() {
                lane.issue(now_ns, self.chunk_ns, world);
            }
        }
        let open = self.lanes.iter().filter(|lane| lane.is_open());
        let next = open.map(|lane| lane.next_ns).fold(f64::INFINITY, f64::min);
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

    fn issue(&mut self, now_ns: f64, chunk_ns: f64, world: &mut World) {
        // Both directions of an exchange advance alike.
        let up = self.left[0] >= self.left[1];
        let left = &mut self.left[usize::from(!up)];
        let bytes = left.min(CHUNK);
        *left -= bytes;
        let (from, to) = if up { (1, 0) } else { (0, 1) };
        let read = world.memory[from].serve(now_ns, bytes, false);
        self.under_way[self.oldest] = world.memory[to].serve(read, bytes, true);
        self.oldest = (self.oldest + 1) % UNDER_WAY;
        let takes = chunk_ns * bytes / CHUNK;
        world.cores.kernel(now_ns, takes);
        self.next_ns = (now_ns + takes).max(self.under_way[self.oldest]);
    }
}
