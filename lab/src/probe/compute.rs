//! How fast this CPU computes: the same code, timed on the host and in a guest, gives the
//! emulated CPU's dilation.

use std::{arch::global_asm, hint::black_box, time::Instant};

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

// Four instructions, of which the second begins 3 bytes before the end of a page and has 7.
global_asm!(
    ".section .text.pagetide_crossing, \"ax\", @progbits",
    ".p2align 12",
    ".skip 4090, 0x90",
    ".globl pagetide_crossing",
    "pagetide_crossing:",
    "dec rdi",
    "lea rax, [rax + 0x12345678]",
    "test rdi, rdi",
    "jnz pagetide_crossing",
    "ret",
    ".text",
);

unsafe extern "C" {
    fn pagetide_crossing(rounds: u64);
}

/// Nanoseconds of a round of four instructions, of which one crosses the end of a page, the best of `rounds` times.
pub(crate) fn crossing_ns(rounds: u32) -> f64 {
    const ROUNDS: u64 = 1_000_000;
    let time = |_| {
        let started = Instant::now();
        // SAFETY: it counts down, and changes registers that a call may.
        unsafe { pagetide_crossing(ROUNDS) };
        started.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64
    };
    (0..rounds).map(time).fold(f64::INFINITY, f64::min)
}
