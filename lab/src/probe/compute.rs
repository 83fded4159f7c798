//! How fast this CPU computes: the same code, timed on the host and in a guest, gives the
//! emulated CPU's dilation.

use std::{hint::black_box, time::Instant};

/// Numbers that are sorted: they fit in the first cache.
const NUMBERS: usize = 2048;

/// Nanoseconds for filling a small array with random numbers and sorting it, the best of
/// `rounds`: loads, stores, branches and arithmetic without a miss.
pub(crate) fn compute_ns(rounds: u32) -> f64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut numbers = [0u64; NUMBERS];
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let started = Instant::now();
        for number in &mut numbers {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *number = state;
        }
        numbers.sort_unstable();
        black_box(&mut numbers);
        best = best.min(started.elapsed().as_secs_f64() * 1e9);
    }
    best
}
