//! SimpleMOC (Gunow et al., 2015): the method of characteristics for neutron transport. A thread follows
//! tracks through flat source regions in an order that memory does not know; of each it reads where its
//! arrays are, then the source's coefficients and the cross sections of all energy groups, and adds to the flux
//! of one axial interval.

use super::Program;
use super::loops::{Array, Gap, Memory};
use super::stages::{Stage, Thread};
use crate::generators::Rng;
use crate::parameter::{Result, refuse};
use crate::patterns::Op::{Read, Update};
use crate::patterns::{Op, Step};
use pagetide_types::Bytes;

/// Its small problem (`-s`) has 15,000 regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleMoc {
    /// Regions that tracks lead through.
    pub regions: u64,
}

/// Energy groups of 4 bytes each.
const GROUPS: u64 = 100;
/// Axial intervals of a region.
const INTERVALS: u64 = 3;
/// A region is a structure of five words, two of which lead to a row of pointers, one for each axial interval.
const REGION: u64 = 5 * 8;
const ROW: u64 = INTERVALS * 8;
/// Instructions of a visit (-Ofast): before a line of the source, of the other arrays, and after them.
const SOURCE: u64 = 115;
const OTHERS: u64 = 140;
const REST: u64 = 4500;
/// What else a thread uses: tables of exponentials, tracks; it stays in the last cache.
const TABLES: u64 = 1 << 20;
/// Lines of that in a visit.
const LOOKUPS: u64 = 10;

impl SimpleMoc {
    fn stages(self) -> (Vec<Stage>, u64) {
        let mut memory = Memory::default();
        let visits = Visits {
            regions: self.regions,
            structures: memory.array(self.regions * REGION),
            rows: memory.arrays(self.regions * ROW),
            source: memory.array(self.regions * INTERVALS * GROUPS * 4),
            flux: memory.array(self.regions * INTERVALS * GROUPS * 4),
            sections: memory.array(self.regions * GROUPS * 4),
            tables: memory.array(TABLES),
        };
        // What tracks are in beside: resident, and not touched here.
        (vec![Stage::Visits(visits)], memory.bytes())
    }
}

impl Program for SimpleMoc {
    fn memory(&self) -> Bytes {
        Bytes(self.stages().1)
    }

    fn threads(&self, count: u32, seed: u64) -> Result<Vec<Thread>> {
        if !(1..=100_000_000).contains(&self.regions) {
            return refuse("regions", self.regions, "give from 1 to 10^8");
        }
        Ok(Thread::all(self.stages().0, count, seed))
    }
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visits {
    regions: u64,
    structures: Array,
    rows: [Array; 2],
    source: Array,
    flux: Array,
    sections: Array,
    tables: Array,
}

impl Visits {
    pub(super) fn visit(&self, rng: &mut Rng, gap: &mut Gap, steps: &mut Vec<Step>) {
        let region = rng.below(self.regions);
        let interval = region * INTERVALS + rng.below(INTERVALS);
        let groups = GROUPS * 4;
        let whole = INTERVALS * groups;
        run(self.structures.base + region * REGION, REGION, 0, Read, gap, steps);
        for row in self.rows {
            run(row.base + region * ROW, ROW, 0, Read, gap, steps);
        }
        run(self.source.base + region * whole, whole, SOURCE, Read, gap, steps);
        run(self.sections.base + region * groups, groups, OTHERS, Read, gap, steps);
        run(self.flux.base + interval * groups, groups, OTHERS, Update, gap, steps);
        for _ in 0..LOOKUPS {
            gap.add(REST / LOOKUPS);
            gap.step((self.tables.base + rng.below(self.tables.bytes)) >> 6, Read, steps);
        }
    }
}

/// Bytes in a row, each line after so many instructions.
fn run(from: u64, bytes: u64, each: u64, op: Op, gap: &mut Gap, steps: &mut Vec<Step>) {
    for line in from >> 6..=(from + bytes - 1) >> 6 {
        gap.add(each);
        gap.step(line, op, steps);
    }
}
