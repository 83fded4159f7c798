//! What is kept of a program once its accesses went through the caches of a node: what these let through, and
//! what it takes to simulate the shared one again.

use super::caches::NodeCaches;
use super::filter::{Filtering, Seen};
use super::frames::Frames;
use super::touches::{Noting, Touches};
use super::traffic::Misses;
use pagetide_access::Kind;
use pagetide_access::filter::Cache;
use pagetide_access::parameter::Result;
use pagetide_access::patterns::{Op, Source, Step};
use pagetide_machine::{PoolCache, PoolTlb};

/// Is told all that cores do.
pub(super) trait Keeper {
    /// A page is translated by no TLB, or by none but the second, `at` instructions after the warm-up.
    fn translates(&mut self, core: usize, at: u64, line: u32, walk: bool);

    /// An access was made, and the shared cache was asked for some lines, or given them.
    fn accessed(
        &mut self,
        core: usize,
        at: u64,
        step: &Step,
        asked: &[(u64, bool)],
        frames: &Frames,
    );
}

/// Keeps nothing.
pub(super) struct Nothing;

impl Keeper for Nothing {
    fn translates(&mut self, _: usize, _: u64, _: u32, _: bool) {}

    fn accessed(&mut self, _: usize, _: u64, _: &Step, _: &[(u64, bool)], _: &Frames) {}
}

/// What a node has to do with memory, kept for any number of replays.
#[derive(Clone, Debug)]
pub struct Filtered {
    /// By core: what goes to memory as long as no page moves.
    pub misses: Vec<Misses>,
    /// By core: what goes to the shared cache.
    pub(super) through: Vec<Through>,
    /// The shared cache after the warm-up, and where pages are in its eyes.
    pub(super) shared: Cache,
    pub(super) frames: Frames,
}

/// What a core's own caches let through, and what they served.
#[derive(Clone, Debug)]
pub(super) struct Through {
    pub(super) misses: Misses,
    pub(super) touches: Touches,
}

/// Keeps that of a core.
struct Keeping {
    misses: Misses,
    noting: Noting,
    /// Instructions up to the last one that was kept.
    at: u64,
}

impl Keeping {
    fn since(&mut self, at: u64) -> u64 {
        at - std::mem::replace(&mut self.at, at)
    }
}

impl Keeper for Vec<Keeping> {
    fn translates(&mut self, core: usize, at: u64, line: u32, walk: bool) {
        let core = &mut self[core];
        let since = core.since(at);
        core.misses.translate(line & !1 | u32::from(walk), since);
    }

    #[inline]
    fn accessed(
        &mut self,
        core: usize,
        at: u64,
        step: &Step,
        asked: &[(u64, bool)],
        frames: &Frames,
    ) {
        let core = &mut self[core];
        for (line, write) in asked {
            let kind = if *write { Kind::WriteBack } else { Kind::Read };
            let since = core.since(at);
            core.misses.push(frames.back(*line), kind, since);
        }
        let served = asked.first().is_none_or(|(_, write)| *write);
        #[expect(clippy::cast_possible_truncation, reason = "pages are below 2^26")]
        let line = (step.offset >> 6) as u32;
        core.noting.note(line, at, served, step.op != Op::Read);
    }
}

/// What the cores of a node have to do with memory, kept: see [`super::pass`].
///
/// # Errors
/// Caches that make no sense.
pub fn filter(
    sources: Vec<Box<dyn Source>>,
    caches: &[PoolCache],
    tlb: Option<&PoolTlb>,
    filtering: Filtering,
) -> Result<Filtered> {
    let mut node = NodeCaches::new(sources, caches, tlb, filtering)?;
    let mut misses = vec![Misses::default(); node.cores()];
    let keeping =
        |_| Keeping { misses: Misses::default(), noting: Noting::new(filtering.pages), at: 0 };
    let mut kept: Vec<Keeping> = (0..node.cores()).map(keeping).collect();
    let told = &mut |seen: Seen| misses[seen.core].add(&seen);
    node.warm_up(told, &mut kept);
    let (shared, frames) = node.shared();
    node.pass(told, &mut kept);
    misses.iter_mut().enumerate().for_each(|(core, misses)| misses.compute(node.rest(core)));
    let through = |(keeping, misses): (Keeping, &Misses)| {
        let Keeping { misses: mut through, noting, at } = keeping;
        through.compute(misses.instructions() - at);
        Through { misses: through, touches: noting.done() }
    };
    let through = kept.into_iter().zip(&misses).map(through).collect();
    Ok(Filtered { misses, through, shared, frames })
}
