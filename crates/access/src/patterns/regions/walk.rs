//! A thread of a program with parts: which part comes next, and on with that part's walk.

use super::{
    super::{Memory, Setup, Walk, pattern::each},
    LINE, Part, PartWalk, Regions, Sharing,
    chase::Chase,
    part::Extent,
    phase::Calendar,
    scatter::{Popular, Scatter},
    shares::{Shares, next, turn},
    sweep::{Interleaved, Sweep},
    writes::Writes,
};
use crate::generators::{Rng, Zipf, mix, threshold};
use std::{sync::Arc, time::Duration};

/// One thread of [`Regions`].
#[derive(Clone, Debug)]
pub struct RegionsWalk {
    rng: Rng,
    calendar: Arc<Calendar>,
    /// Of each phase.
    shares: Arc<[Shares]>,
    phase: usize,
    /// Where it is among the shares.
    place: u64,
    turns: Vec<Turn>,
    /// Whose turn it is, and for how many accesses more.
    part: usize,
    left: u32,
}

/// What a thread does in a part's turn.
#[derive(Clone, Debug)]
struct Turn {
    way: Way,
    writes: Writes,
    accesses: u32,
}

#[derive(Clone, Debug)]
enum Way {
    Sweep(Sweep),
    Scatter(Scatter),
    Chase(Chase),
}

/// The threads of a program whose description was checked.
pub(super) fn walks(regions: &Regions, setup: &Setup) -> Vec<RegionsWalk> {
    let (parts, phases) = (&regions.parts, &regions.phases);
    let shares: Arc<[Shares]> = if phases.is_empty() {
        [Shares::new(parts, None)].into()
    } else {
        phases.iter().map(|phase| Shares::new(parts, Some(phase))).collect()
    };
    let calendar = Arc::new(Calendar::new(phases));
    let mut ranks = vec![None; parts.len()];
    each(setup, |thread| {
        let mut rng = Rng::new(setup.seed(), thread.into());
        let place = rng.word();
        let turns = parts.iter().zip(&mut ranks).map(|(part, ranks)| Turn {
            way: way(part, setup, thread, ranks),
            writes: Writes::new(threshold(part.writes), rng.word()),
            accesses: turn(part.run),
        });
        let turns = turns.collect();
        let (calendar, shares) = (Arc::clone(&calendar), Arc::clone(&shares));
        RegionsWalk { rng, calendar, shares, phase: 0, place, turns, part: 0, left: 0 }
    })
}

/// A part's ranks, made for so many objects.
type Ranks = Option<(u64, Arc<Zipf>)>;

/// A thread's way through a part; `known` are the ranks of another thread there, or none yet.
fn way(part: &Part, setup: &Setup, thread: u32, known: &mut Ranks) -> Way {
    let extent = part.of_thread(setup, thread);
    match &part.walk {
        PartWalk::Sweep { stride, window, passes } => {
            let interleaved = Interleaved { thread, threads: setup.threads() };
            let interleaved = (part.sharing() == Sharing::Interleaved).then_some(interleaved);
            // Sequential lines follow each other without it: a run is only a longer turn.
            let run = if stride.0 == LINE { 1 } else { part.run };
            let sweep = Sweep::new(extent, stride.0, run, interleaved);
            Way::Sweep(sweep.windows(*window, *passes))
        }
        PartWalk::Random => Way::Scatter(Scatter::new(extent, part.run)),
        PartWalk::Zipf { exponent, object, keys } => {
            let Extent { first, len } = extent;
            let objects = len / object.0;
            let made = || (objects, Arc::new(Zipf::new(objects, *exponent)));
            let (_, ranks) = match known.take() {
                Some(known) if known.0 == objects => known,
                _ => made(),
            };
            *known = Some((objects, Arc::clone(&ranks)));
            // Parts at different places have different orders; parts at one place agree.
            let popular = Popular::new(ranks, objects, *keys, setup.seed() ^ mix(first));
            Way::Scatter(Scatter::over(extent, part.run, object.0, popular))
        }
        PartWalk::Chase { object } => Way::Chase(Chase::new(part, object.0, setup, thread)),
    }
}

impl Walk for RegionsWalk {
    /// Where a phase ends, so does the turn of the part that was accessed in it.
    #[inline]
    fn batch(&mut self, mut n: u32, now: Duration, memory: &mut impl Memory) {
        let phase = self.calendar.at(now);
        if phase != self.phase {
            (self.phase, self.left) = (phase, 0);
        }
        while n > 0 {
            if self.left == 0 {
                self.place = next(self.place);
                self.part = self.shares[self.phase].part(self.place);
                self.left = self.turns[self.part].accesses;
            }
            let some = self.left.min(n);
            let Turn { way, writes, .. } = &mut self.turns[self.part];
            match way {
                Way::Sweep(sweep) => sweep.touch(some, writes, memory),
                Way::Scatter(scatter) => scatter.touch(some, &mut self.rng, writes, memory),
                Way::Chase(chase) => chase.touch(some, writes, memory),
            }
            (self.left, n) = (self.left - some, n - some);
        }
    }
}
