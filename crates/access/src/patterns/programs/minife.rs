//! miniFE (Heroux et al., SAND2009-5574): conjugate gradients on a brick of hexahedra. The matrix is in
//! compressed rows, 27 entries for a row inside; an iteration multiplies it with a vector and makes three
//! updates and two dot products of vectors.

use super::Program;
use super::loops::{Loop, Memory, Sweep};
use super::stages::{Stage, Thread};
use crate::parameter::{Result, refuse};
use crate::patterns::Op::{Read, Update};
use pagetide_types::Bytes;

/// `-nx N -ny N -nz N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiniFe {
    /// Elements along an edge: 140 in the paper.
    pub edge: u64,
}

/// Instructions of the product for an entry of a row, and of the updates for a row; from what compiled
/// programs execute (gcc 12, -O2).
const ENTRY: f64 = 7.45;
const UPDATE: f64 = 9.0;

impl MiniFe {
    fn stages(self) -> (Vec<Stage>, u64) {
        let edge = self.edge + 1;
        let rows = edge * edge * edge;
        // Neighbours along an edge: three, but two at either end.
        let along = (3 * edge - 2) as f64 / edge as f64;
        let entries = along.powi(3);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "entries")]
        let all = (entries * rows as f64) as u64;
        let mut memory = Memory::default();
        let (columns, values) = (memory.array(4 * all), memory.array(8 * all));
        let starts = memory.array(8 * rows);
        let [x, r, p, product] = memory.arrays(8 * rows);
        let of = |array, op| Sweep::each(array, 8, op);
        // Of the vector the planes before, at and behind the row.
        let plane = 8 * edge * edge;
        let multiply = vec![
            of(starts, Read),
            Sweep::all(columns, rows, Read),
            Sweep::all(values, rows, Read),
            of(p, Read),
            of(p, Read).from(plane),
            of(p, Read).from(2 * plane),
            of(product, Update),
        ];
        let last = rows - 2 * edge * edge;
        let stages = vec![
            Loop::new(last, ENTRY * entries, multiply),
            Loop::new(rows, UPDATE - 1.0, vec![of(p, Read), of(product, Read)]),
            Loop::new(rows, UPDATE, vec![of(p, Read), of(x, Update)]),
            Loop::new(rows, UPDATE, vec![of(product, Read), of(r, Update)]),
            Loop::new(rows, UPDATE / 2.0, vec![of(r, Read)]),
            Loop::new(rows, UPDATE, vec![of(r, Read), of(p, Update)]),
        ];
        (stages.into_iter().map(Stage::Loop).collect(), memory.bytes())
    }
}

impl Program for MiniFe {
    fn memory(&self) -> Bytes {
        Bytes(self.stages().1)
    }

    fn threads(&self, count: u32, seed: u64) -> Result<Vec<Thread>> {
        if !(2..=1000).contains(&self.edge) {
            return refuse("edge", self.edge, "give from 2 to 1000 elements");
        }
        Ok(Thread::all(self.stages().0, count, seed))
    }
}
