//! A thread that copies memory from one tier to another, as a kernel does that moves pages: a line read,
//! a line written, with as many under way as a core has. Several copy parts of one job.

use super::Actor;
use super::channel::LINE;
use super::thread::Core;
use super::world::World;

/// See the module.
pub struct Copier {
    core: Core,
    clock_ns: f64,
    under_way: Box<[f64]>,
    next: usize,
    from: usize,
    to: usize,
    lines: u64,
}

impl Copier {
    /// One that begins at `start_ns` to copy so many bytes from a tier to another.
    #[must_use]
    pub fn new(core: Core, start_ns: f64, (from, to): (usize, usize), bytes: u64) -> Self {
        let under_way = vec![start_ns; core.outstanding.max(1) as usize].into_boxed_slice();
        Self { core, clock_ns: start_ns, under_way, next: 0, from, to, lines: bytes.div_ceil(64) }
    }
}

impl Actor for Copier {
    fn clock_ns(&self) -> f64 {
        self.clock_ns
    }

    fn ended(&self) -> bool {
        self.lines == 0
    }

    fn run(&mut self, until_ns: f64, world: &mut World) {
        loop {
            self.clock_ns = self.clock_ns.max(self.under_way[self.next]);
            if self.clock_ns > until_ns {
                return;
            }
            let read = world.memory[self.from].serve(self.clock_ns, LINE, false);
            // It is written when it is there, and nobody waits for that but the end.
            self.under_way[self.next] = world.memory[self.to].serve(read, LINE, true);
            self.next = (self.next + 1) % self.under_way.len();
            self.clock_ns += self.core.issue_ns;
            self.lines -= 1;
            if self.lines == 0 {
                self.clock_ns = self.under_way.iter().copied().fold(self.clock_ns, f64::max);
                return;
            }
        }
    }
}
