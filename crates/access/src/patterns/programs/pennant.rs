//! PENNANT (Ferenbaugh 2015): Lagrangian hydrodynamics on an unstructured mesh of zones, whose sides and
//! corners have most of the data. Most of a cycle works through the sides in chunks that stay in the
//! caches, one array after the other; the rest gathers over the mesh's points and updates zones.

use super::Program;
use super::loops::{Array, Loop, Memory, Sweep};
use super::stages::{Stage, Thread};
use crate::parameter::{Result, refuse};
use crate::patterns::Op::{self, Read, Write};
use pagetide_types::Bytes;

/// A mesh of rectangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pennant {
    /// Zones: 160 x 1440 of `leblancbig`.
    pub zones: u64,
}

/// Sides of a zone, each with a corner.
const SIDES: u64 = 4;
/// What a loop touches: sides that share an item, its bytes, and how.
type Touched<'a> = &'a [(u64, u64, Op)];
/// Sides in a chunk.
const CHUNK: u64 = 512;

impl Pennant {
    fn stages(self) -> (Vec<Stage>, u64) {
        let sides = SIDES * self.zones;
        let mut memory = Memory::default();
        // By chunk: what a loop reads and writes first, bytes for a side. Maps are 4, scalars 8, vectors
        // 16; what belongs to a zone or a point is a quarter of that.
        let quiet: [(f64, Touched<'_>); 9] = [
            // Centres of sides and zones, from the maps and the points.
            (60.0, &[(1, 4, Read), (1, 4, Read), (1, 4, Read), (4, 16, Read), (1, 16, Write)]),
            // Volumes of sides and zones.
            (50.0, &[(1, 8, Write), (1, 8, Write), (4, 8, Write), (4, 8, Write), (4, 16, Write)]),
            // Vectors of surfaces, lengths of edges.
            (40.0, &[(1, 16, Write), (1, 8, Write), (1, 8, Read)]),
            // The state of zones.
            (60.0, &[(4, 8, Read), (4, 8, Read), (4, 8, Read), (4, 8, Write), (4, 8, Write)]),
            // Forces of pressure, and of subzones.
            (50.0, &[(1, 16, Write)]),
            (60.0, &[(1, 16, Write), (1, 8, Read)]),
            // Viscosity of corners, whose temporaries stay in the caches, then its force.
            (240.0, &[(4, 16, Read)]),
            (50.0, &[(1, 16, Write), (1, 8, Read)]),
            // Sums of the forces of corners.
            (35.0, &[(1, 16, Write), (1, 8, Read)]),
        ];
        let sweeps = |memory: &mut Memory, touched: Touched<'_>| -> Vec<Sweep> {
            let of = |(share, bytes, op): &(u64, u64, Op)| {
                let array = memory.array(bytes * sides / share);
                Sweep::all(Array { bytes: bytes * sides / share, ..array }, sides, *op)
            };
            touched.iter().map(of).collect()
        };
        let loops = quiet.iter().map(|(instructions, touched)| {
            Loop::new(sides, *instructions, sweeps(&mut memory, touched))
        });
        let mut stages = vec![Stage::Chunks { items: sides, each: CHUNK, loops: loops.collect() }];
        // Over all points, then over all sides and zones: bytes for a side.
        let loud: [(f64, Touched<'_>); 3] = [
            (
                68.0,
                &[
                    (1, 16, Read),
                    (1, 8, Read),
                    (1, 4, Read),
                    (1, 16, Read),
                    (1, 16, Write),
                    (4, 16, Write),
                    (4, 16, Write),
                    (1, 8, Write),
                    (1, 16, Write),
                ],
            ),
            (60.0, &[(1, 16, Read), (1, 16, Write), (4, 16, Read), (4, 16, Write), (4, 16, Write)]),
            (
                34.0,
                &[
                    (1, 16, Read),
                    (1, 16, Read),
                    (1, 8, Write),
                    (4, 8, Read),
                    (4, 8, Write),
                    (4, 8, Write),
                    (1, 8, Read),
                ],
            ),
        ];
        for (instructions, touched) in loud {
            stages.push(Stage::Loop(Loop::new(sides, instructions, sweeps(&mut memory, touched))));
        }
        (stages, memory.bytes())
    }
}

impl Program for Pennant {
    fn memory(&self) -> Bytes {
        Bytes(self.stages().1)
    }

    fn threads(&self, count: u32, seed: u64) -> Result<Vec<Thread>> {
        if !(CHUNK..=1 << 32).contains(&self.zones) {
            return refuse("zones", self.zones, "give from 512 to 2^32");
        }
        Ok(Thread::all(self.stages().0, count, seed))
    }
}
