//! The asynchronous mover: a thread of the kernel that works through a list of pages. What a page costs
//! beside its copy is a share before the copy (allocate, unmap) and one after it (map, free); its
//! translations are flushed on all cores of its tenant; who touches it meanwhile waits.

use super::copy::{BEFORE_COPY, Copy, Step};
use super::mechanism::{Exchange, Mechanism};
use super::meetings::Meetings;
use crate::engine::{LOOK_AGAIN_NS, World, bit};
use pagetide_machine::Kernel;
use std::collections::VecDeque;
use std::ops::Range;

/// Something to do: pages go up, or down, or both change places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Job {
    up: Option<Range<usize>>,
    down: Option<Range<usize>>,
    /// What is there already need not be copied.
    without_copy: bool,
}

/// A unit that is in its new place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its base pages.
    pub pages: Range<usize>,
    /// To the fast tier.
    pub up: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Mover {
    tenant: usize,
    mechanism: Mechanism,
    costs: Kernel,
    jobs: VecDeque<Job>,
    /// The request that is under way has been entered.
    in_call: bool,
    batch: Vec<Job>,
    state: State,
    moved: Vec<Moved>,
    kernel_ns: f64,
    /// Memory is so many times smaller than what is modelled.
    scale: f64,
    meetings: Meetings,
    /// It moves batches of reclaim.
    reclaims: bool,
    /// It moves by system calls of so many pages.
    calls: bool,
}

/// Pages of a call, base and huge ones, as `run` makes them.
const OF_A_CALL: [f64; 2] = [512.0, 8.0];

#[derive(Clone, Debug)]
enum State {
    Idle,
    /// The request begins, until then.
    Entering(f64),
    /// The batch is unmapped, until then.
    Unmapping(f64),
    Copying(Copy),
    /// All is copied then.
    Copied(f64),
    /// The batch is mapped again, until then.
    Mapping(f64),
}

impl Mover {
    /// One for pages of a tenant.
    #[must_use]
    pub fn new(tenant: usize, mechanism: Mechanism, costs: Kernel) -> Self {
        Self {
            tenant,
            mechanism,
            costs,
            jobs: VecDeque::new(),
            in_call: false,
            batch: Vec::new(),
            state: State::Idle,
            moved: Vec::new(),
            kernel_ns: 0.0,
            scale: 1.0,
            meetings: Meetings::default(),
            reclaims: false,
            calls: false,
        }
    }

    /// The same where memory is so many times smaller than what is modelled: a page stands for so
    /// many that are moved one after the other, and a visit to it waits for one of them.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Self { scale: scale.max(1.0), ..self }
    }

    /// The same that moves batches which reclaim has gathered: the translations of a batch are flushed
    /// at once (Linux since 6.3), and where memory is larger a batch is no longer.
    #[must_use]
    pub fn reclaiming(self) -> Self {
        Self { reclaims: true, ..self }
    }

    /// The same by calls of `move_pages(2)`, 512 base pages or 8 huge ones each: what a call names is unmapped,
    /// flushed (at once, Linux since 6.3), copied and mapped together.
    #[must_use]
    pub fn calling(self) -> Self {
        Self { calls: true, ..self }
    }

    /// Adds a request: `pairs` (up, down) of equal size, and what goes down or up alone.
    pub fn request(
        &mut self,
        pairs: impl IntoIterator<Item = (Range<usize>, Range<usize>)>,
        down: impl IntoIterator<Item = Range<usize>>,
        up: impl IntoIterator<Item = Range<usize>>,
    ) {
        let goes_up = |up| Job { up: Some(up), ..Job::default() };
        let goes_down = |down| Job { down: Some(down), ..Job::default() };
        let pairs = pairs.into_iter();
        let down = down.into_iter().map(goes_down);
        match self.mechanism.exchange {
            Exchange::True => {
                let both = |(up, down)| Job { up: Some(up), down: Some(down), without_copy: false };
                self.jobs.extend(pairs.map(both).chain(down));
            }
            Exchange::Paired => {
                let two = |(up, down)| [goes_down(down), goes_up(up)];
                self.jobs.extend(pairs.flat_map(two).chain(down));
            }
            Exchange::Never => {
                let (ups, downs): (Vec<_>, Vec<_>) = pairs.unzip();
                self.jobs.extend(downs.into_iter().map(goes_down).chain(down));
                self.jobs.extend(ups.into_iter().map(goes_up));
            }
        }
        self.jobs.extend(up.into_iter().map(goes_up));
    }

    /// Adds a page that goes down to where its contents are already: it is only mapped there.
    pub fn request_remap(&mut self, down: Range<usize>) {
        self.jobs.push_back(Job { down: Some(down), without_copy: true, ..Job::default() });
    }

    /// What has not begun is not done; whether there was any of it.
    pub fn drop_rest(&mut self) -> bool {
        let left = !self.jobs.is_empty();
        self.jobs.clear();
        left
    }

    /// Whether everything that was asked for is done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty() && matches!(self.state, State::Idle)
    }

    /// What has moved since this was asked last.
    pub fn take_moved(&mut self) -> Vec<Moved> {
        std::mem::take(&mut self.moved)
    }

    /// CPU time of its requests beside the copies, ns.
    #[must_use]
    pub fn kernel_ns(&self) -> f64 {
        self.kernel_ns
    }

    /// Whether a page that is under way blocks who accesses it on a core, and if so until when at
    /// least, ns. On a machine that is scaled down a visit waits for a share of the time.
    pub fn blocks(&mut self, page: usize, core: usize, now_ns: f64) -> Option<f64> {
        let there_ns = self.there_ns(now_ns).max(now_ns + LOOK_AGAIN_NS);
        let holds = |job: &Job| job.up.iter().chain(&job.down).any(|pages| pages.contains(&page));
        let job = || self.batch.iter().position(holds).unwrap_or(0);
        self.meetings.waits(job, page, core, (now_ns, there_ns))
    }

    /// When what is under way is there, at the soonest, ns.
    fn there_ns(&self, now_ns: f64) -> f64 {
        match &self.state {
            State::Idle => now_ns,
            State::Copying(copy) => now_ns + copy.at_least_ns(),
            State::Entering(until)
            | State::Unmapping(until)
            | State::Copied(until)
            | State::Mapping(until) => *until,
        }
    }

    /// Works at `now_ns`; when it goes on, ns, or none if there is nothing to do.
    pub fn step(&mut self, now_ns: f64, world: &mut World) -> Option<f64> {
        loop {
            let next = match &mut self.state {
                State::Entering(until)
                | State::Unmapping(until)
                | State::Copied(until)
                | State::Mapping(until)
                    if *until > now_ns =>
                {
                    return Some(*until);
                }
                State::Idle if self.jobs.is_empty() => {
                    self.in_call = false;
                    return None;
                }
                State::Idle if !self.in_call => {
                    self.in_call = true;
                    State::Entering(self.work(now_ns, self.costs.call_us, world))
                }
                State::Idle | State::Entering(_) => self.unmap(now_ns, world),
                State::Unmapping(_) => State::Copying(self.copy(now_ns)),
                State::Copying(copy) => match copy.step(now_ns, world) {
                    Step::At(next) => return Some(next),
                    Step::There(there) => State::Copied(there),
                },
                State::Copied(_) => {
                    let us = self.entries(world) * self.page_us() * (1.0 - BEFORE_COPY);
                    State::Mapping(self.work(now_ns, us, world))
                }
                State::Mapping(_) => {
                    self.map(world);
                    self.meetings.end(now_ns);
                    State::Idle
                }
            };
            self.state = next;
        }
    }

    /// Works for so long without a copy; until when, ns.
    fn work(&mut self, now_ns: f64, us: f64, world: &mut World) -> f64 {
        let ns = us * 1e3;
        self.kernel_ns += ns;
        world.cores.kernel(now_ns, ns);
        now_ns + ns
    }

    /// What a page costs beside its copy, us.
    fn page_us(&self) -> f64 {
        let exchanged = self.batch.iter().all(|job| job.up.is_some() && job.down.is_some());
        let frames = if exchanged { self.costs.allocation_share } else { 0.0 };
        self.costs.page_us * (1.0 - frames)
    }

    /// Takes the next batch and unmaps it.
    fn unmap(&mut self, now_ns: f64, world: &mut World) -> State {
        // Of a list that is as many times longer a batch would be so many of this one's length.
        let list = self.jobs.len() as f64 * if self.reclaims { 1.0 } else { self.scale };
        let call = self.call(world);
        let bound = match self.mechanism.together {
            _ if self.calls => call.min(list),
            0 => list,
            pages => f64::from(pages).min(list),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pages")]
        let together = match self.mechanism.together {
            _ if self.calls => self.jobs.len().min((call / self.scale).ceil() as usize),
            0 => self.jobs.len(),
            pages => self.jobs.len().min(pages as usize),
        };
        self.meetings.begin(bound / (together.max(1) as f64 * self.scale), now_ns);
        self.batch.clear();
        self.batch.extend(self.jobs.drain(..together));
        let mut splits = 0.0;
        for pages in ranges(&self.batch) {
            if self.mechanism.split && world.pages.entry(pages.start) & bit::HUGE != 0 {
                world.pages.split(pages.start);
                splits += 1.0;
            }
            world.pages.set_all(pages, bit::MOVING);
        }
        let entries = self.entries(world);
        let flushes = match () {
            () if self.reclaims => 1.0,
            // Each call flushes once, and a page stands for several calls or a part of one.
            () if self.calls => entries / call.min(list),
            () => entries,
        };
        world.cores.interrupt(self.tenant, flushes * self.costs.interrupt_us * 1e3);
        let us = splits * self.costs.split_us + entries * self.page_us() * BEFORE_COPY;
        State::Unmapping(self.work(now_ns, us, world))
    }

    /// Pages of a call, of the size that comes first in the list.
    fn call(&self, world: &World) -> f64 {
        let first = self.jobs.front().and_then(|job| job.down.as_ref().or(job.up.as_ref()));
        let huge = first.is_some_and(|pages| world.pages.entry(pages.start) & bit::HUGE != 0);
        OF_A_CALL[usize::from(huge)]
    }

    /// Entries of the page tables that map the batch.
    fn entries(&self, world: &World) -> f64 {
        let entries = |pages: Range<usize>| {
            let huge = world.pages.entry(pages.start) & bit::HUGE != 0;
            if huge { 1.0 } else { pages.len() as f64 }
        };
        ranges(&self.batch).map(entries).sum()
    }

    fn copy(&self, now_ns: f64) -> Copy {
        let bytes = |pages: &Option<Range<usize>>| {
            pages.as_ref().map_or(0.0, |pages| (pages.len() * 4096) as f64)
        };
        let copied = || self.batch.iter().filter(|job| !job.without_copy);
        let up = copied().map(|job| bytes(&job.up)).sum();
        let down = copied().map(|job| bytes(&job.down)).sum();
        let threads = self.mechanism.threads.max(1);
        let launches = if threads > 1 { threads } else { 0 };
        let launch_ns = f64::from(launches) * self.costs.launch_us * 1e3;
        Copy::new(threads, [up, down], self.costs.copy_gb_s, now_ns + launch_ns)
    }

    /// Maps the batch in its new place.
    fn map(&mut self, world: &mut World) {
        for job in self.batch.drain(..) {
            for (pages, up) in [(job.down, false), (job.up, true)] {
                let Some(pages) = pages else { continue };
                world.pages.transfer(pages.clone(), u8::from(!up));
                world.pages.clear_all(pages.clone(), bit::MOVING | bit::HINT);
                self.moved.push(Moved { pages, up });
            }
        }
    }
}

fn ranges(batch: &[Job]) -> impl Iterator<Item = Range<usize>> + '_ {
    batch.iter().flat_map(|job| job.down.iter().chain(&job.up)).cloned()
}

#[cfg(test)]
#[path = "mover_tests.rs"]
mod tests;
