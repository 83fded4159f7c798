//! What a move is made of, found by differences: a call that has nothing to do, calls that find
//! their pages in place, a plain copy of the same bytes, and the whole move. What is left is the
//! kernel's own: allocating, unmapping, flushing translations, mapping again. It needs no
//! counters of the kernel's.

use super::memory::{BenchError, BenchMemory};
use crate::Kernel;
use crate::own::me;
use pagetide_types::{Bytes, NodeId, UnitSize};
use serde::Serialize;
use std::hint::black_box;
use std::time::Instant;

/// The parts of one page's move, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Parts {
    /// A call for one page that is in place already: entering the kernel, draining its per-CPU
    /// lists, leaving. Paid once per call.
    pub call_s: f64,
    /// Finding one more page of a call, per page.
    pub find_s: f64,
    /// Looking where a page is, per page of a query.
    pub look_s: f64,
    /// Copying a page by one thread of ours, from the slow node to the fast one.
    pub copy_s: f64,
}

/// Calls and copies that each part is the median of.
const TRIES: usize = 15;

/// Measures the parts for pages of one size. Without a second node (`slow == fast`) the copy stays
/// on the node.
///
/// # Errors
/// When there is no memory for it.
pub fn parts(
    kernel: &dyn Kernel,
    page: UnitSize,
    (fast, slow): (NodeId, NodeId),
    size: Bytes,
) -> Result<Parts, BenchError> {
    let mut to = BenchMemory::new(kernel, fast, size, page)?;
    let from = BenchMemory::new(kernel, slow, size, page)?;
    let pages = to.pages();
    let count = pages.len().max(2);
    let time = |mut what: Box<dyn FnMut() + '_>| {
        let mut times: Vec<f64> = (0..TRIES)
            .map(|_| {
                let start = Instant::now();
                what();
                start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_unstable_by(f64::total_cmp);
        times[TRIES / 2]
    };
    let one = time(Box::new(|| {
        black_box(kernel.relocate(me(), &pages[..1], fast, false));
    }));
    let all = time(Box::new(|| {
        black_box(kernel.relocate(me(), &pages, fast, false));
    }));
    let look = time(Box::new(|| {
        let _ = black_box(kernel.locate(me(), &pages));
    }));
    let copy = time(Box::new(|| to.bytes_mut().copy_from_slice(black_box(from.bytes()))));
    Ok(Parts {
        call_s: one,
        find_s: (all - one).max(0.0) / (count - 1) as f64,
        look_s: look / count as f64,
        copy_s: copy / (to.size().0 / page.bytes().0).max(1) as f64,
    })
}
