//! Where the pages of all nodes are at first: each its own frame, of its node or of the pool.

use super::Program;
use crate::pool::counts::PageId;
use crate::pool::hardware::pages_of;
use crate::pool::local::{Frame, LocalTable};
use crate::pool::placement::{Placement, Room};
use crate::pool::places::{MOST, Place, Places};
use crate::pool::settings::{PoolError, refuse};
use pagetide_access::generators::Rng;
use pagetide_machine::PoolMachine;

/// Where the pages of each node are at first.
///
/// # Errors
/// Nobody shares the pool, a program has more threads than a node has cores, or the pool is too small.
pub(super) fn all(
    machine: &PoolMachine,
    programs: &[Program<'_>],
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
    let frames = pages_of(machine.local.capacity);
    let all = u64::from(machine.pool.modules) * pages_of(machine.pool.capacity);
    let share = all / programs.len() as u64;
    // More frames than a program has pages are never given up to any of them.
    let local = |pages: u32| u32::try_from(frames.min(MOST)).unwrap_or(u32::MAX).min(pages);
    let mut next_slot = 0_u64;
    let place = |(number, program): (usize, &Program<'_>)| {
        let room = Room { local: frames, pool: share, modules: machine.pool.modules };
        let is_local = placement.of(program.pages, room, Rng::new(seed, number as u64));
        let mut table = LocalTable::new(local(program.pages));
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
            #[expect(clippy::cast_possible_truncation, reason = "checked against 2^30 below")]
            let slot = (next_slot - 1) as u32;
            Ok(Place::Pool(slot))
        });
        let places: Vec<Place> = places.collect::<Result<_, PoolError>>()?;
        Ok((Places::new(places.into_iter()), table))
    };
    let needed: u64 = programs.iter().map(|program| u64::from(program.pages)).sum();
    if needed >= MOST {
        return refuse("nodes", &programs.len(), "at most 4 TiB of programs are simulated");
    }
    programs.iter().enumerate().map(place).collect()
}
