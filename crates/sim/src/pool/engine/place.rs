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
use pagetide_types::Bytes;

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
        return refuse("pool.core.count", &program.misses.len(), remedy);
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
        let in_pool = is_local.iter().filter(|is_local| !**is_local).count() as u64;
        if next_slot + in_pool > all {
            // What it needs is told; nothing of it is built.
            next_slot += in_pool;
            return None;
        }
        let mut table = LocalTable::new(local(program.pages));
        let mut next_frame = 0;
        let places = (0..).zip(is_local).map(|(page, is_local)| {
            if is_local {
                let frame = Frame(next_frame);
                next_frame += 1;
                table.put(frame, PageId(page));
                return Place::Local(frame);
            }
            #[expect(clippy::cast_possible_truncation, reason = "checked against 2^30 below")]
            let slot = next_slot as u32;
            next_slot += 1;
            Place::Pool(slot)
        });
        let places: Vec<Place> = places.collect();
        Some((Places::new(places.into_iter()), table))
    };
    let needed: u64 = programs.iter().map(|program| u64::from(program.pages)).sum();
    if needed >= MOST {
        return refuse("nodes", &programs.len(), "at most 4 TiB of programs are simulated");
    }
    let places: Vec<Option<_>> = programs.iter().enumerate().map(place).collect();
    if next_slot > all {
        let modules = u64::from(machine.pool.modules);
        // Whole MiB are easy to give.
        let each = Bytes((next_slot.div_ceil(modules) * 4096).next_multiple_of(1 << 20)).0 >> 20;
        let of_each =
            if modules == 1 { String::new() } else { format!(" (each of {modules} modules)") };
        let remedy = format!(
            "the pool holds {all} pages, {}, and the programs of {} nodes need {next_slot}, {}; give fewer nodes, \
             smaller programs, or at least pool.pool.capacity = {each}M{of_each}",
            Bytes(all * 4096),
            programs.len(),
            Bytes(next_slot * 4096),
        );
        return refuse("nodes", &programs.len(), remedy);
    }
    Ok(places.into_iter().flatten().collect())
}
