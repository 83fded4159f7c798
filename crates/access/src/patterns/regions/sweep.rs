//! Sweeps: lines in order of address, all at once or window by window, as blocked loops do (Lam,
//! Rothberg and Wolf, ASPLOS 1991).

use super::{super::Memory, LINE, PAGE, part::Extent, writes::Writes};

/// One thread's sweep over a part: some or all of its steps, each `run` lines.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    first: u64,
    stride: u64,
    run: u32,
    /// Steps in all, and in a window.
    steps: u64,
    window: u64,
    passes: u32,
    /// The thread's steps in each window: blocks, from `offset` on at a fixed distance.
    block: u64,
    offset: u64,
    distance: u64,
    /// The window's first step, and its passes so far.
    begin: u64,
    pass: u32,
    /// The block's first step and the end of its last; the step and the line in it that come next.
    from: u64,
    end: u64,
    step: u64,
    line: u32,
}

/// How a thread shares an interleaved sweep: its number, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interleaved {
    pub(super) thread: u32,
    pub(super) threads: u32,
}

/// The steps of a block where threads take turns: what of them is in a page.
pub(super) fn block(stride: u64) -> u64 {
    (PAGE / stride).max(1)
}

impl Sweep {
    /// A sweep over all of an extent or, interleaved, the thread's share of it (not empty).
    pub(super) fn new(
        extent: Extent,
        stride: u64,
        run: u32,
        interleaved: Option<Interleaved>,
    ) -> Self {
        let steps = extent.len / stride;
        let (block, offset, distance) = match interleaved {
            None => (steps, 0, steps),
            Some(Interleaved { thread, threads }) => {
                let block = block(stride);
                (block, block * u64::from(thread), block * u64::from(threads))
            }
        };
        let mut sweep = Self {
            first: extent.first,
            stride,
            run,
            steps,
            window: steps,
            passes: 1,
            block,
            offset,
            distance,
            begin: 0,
            pass: 0,
            from: 0,
            end: 0,
            step: 0,
            line: 0,
        };
        sweep.go_to(offset);
        sweep
    }

    /// The same, window by window: each a share of all, in which every thread has something.
    pub(super) fn windows(mut self, share: f64, passes: u32) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of the steps, rounded"
        )]
        let steps = (share * self.steps as f64).round() as u64;
        let least = if self.block == self.steps { 1 } else { self.distance };
        self.window = steps.clamp(1, self.steps).next_multiple_of(least);
        self.passes = passes;
        self.go_to(self.offset);
        self
    }

    #[inline]
    pub(super) fn touch(&mut self, n: u32, writes: &mut Writes, memory: &mut impl Memory) {
        for _ in 0..n {
            let line = self.step * self.stride + u64::from(self.line) * LINE;
            writes.touch(self.first + line, memory);
            self.line += 1;
            if self.line == self.run {
                self.line = 0;
                self.step += 1;
                if self.step == self.end {
                    self.next_block();
                }
            }
        }
    }

    /// The end of the window.
    fn limit(&self) -> u64 {
        (self.begin + self.window).min(self.steps)
    }

    fn go_to(&mut self, block: u64) {
        self.from = block;
        self.step = block;
        self.end = (block + self.block).min(self.limit());
    }

    /// On to the thread's next block, in this pass over the window or a later one.
    #[cold]
    fn next_block(&mut self) {
        let mut next = self.from + self.distance;
        if next >= self.limit() {
            self.pass += 1;
            if self.pass == self.passes {
                self.pass = 0;
                self.next_window();
                // In the last window there may be nothing for the thread; in the first there is.
                if self.begin + self.offset >= self.limit() {
                    self.next_window();
                }
            }
            next = self.begin + self.offset;
        }
        self.go_to(next);
    }

    fn next_window(&mut self) {
        self.begin = if self.limit() == self.steps { 0 } else { self.limit() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::Step;

    const EXTENT: Extent = Extent { first: PAGE, len: 64 * PAGE };

    /// The lines of a sweep's next accesses, from its extent's first on.
    fn lines(sweep: &mut Sweep, n: u32) -> Vec<u64> {
        let mut steps: Vec<Step> = vec![];
        sweep.touch(n, &mut Writes::new(0, 0), &mut steps);
        steps.iter().map(|step| (step.offset - PAGE) / LINE).collect()
    }

    #[test]
    fn every_line_comes_once_and_in_order() {
        let mut sweep = Sweep::new(EXTENT, LINE, 1, None);
        for _ in 0..3 {
            assert_eq!(lines(&mut sweep, 4096), (0..4096).collect::<Vec<_>>());
        }
    }

    #[test]
    fn strides_leave_lines_out_and_runs_take_some_of_them() {
        let mut strided = Sweep::new(EXTENT, 1024, 1, None);
        assert_eq!(lines(&mut strided, 300), (0..300).map(|i| i % 256 * 16).collect::<Vec<_>>());
        let mut runs = Sweep::new(EXTENT, 1024, 3, None);
        assert_eq!(lines(&mut runs, 7), [0, 1, 2, 16, 17, 18, 32]);
    }

    #[test]
    fn a_window_is_swept_several_times_before_the_next() {
        // 4,096 lines in windows of 1,229, the last one shorter.
        let mut sweep = Sweep::new(EXTENT, LINE, 1, None).windows(0.3, 2);
        for _ in 0..2 {
            for window in [0..1229, 1229..2458, 2458..3687, 3687..4096] {
                for _ in 0..2 {
                    let n = u32::try_from(window.end - window.start).unwrap();
                    assert_eq!(lines(&mut sweep, n), window.clone().collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn interleaved_threads_go_through_it_together() {
        for (share, passes) in [(1.0, 1), (0.5, 1), (0.25, 2)] {
            let mut seen = vec![0; 4096];
            for thread in 0..3 {
                let interleaved = Some(Interleaved { thread, threads: 3 });
                let mut sweep = Sweep::new(EXTENT, LINE, 1, interleaved).windows(share, passes);
                // Of 64 pages the first thread has 22.
                let n = if thread == 0 { 22 * 64 } else { 21 * 64 };
                let all = lines(&mut sweep, n * passes);
                assert!(all.iter().all(|line| line / 64 % 3 == u64::from(thread)));
                all.iter().for_each(|line| seen[usize::try_from(*line).unwrap()] += 1);
                assert_eq!(lines(&mut sweep, 1), [u64::from(thread) * 64], "and begins again");
            }
            assert!(seen.iter().all(|n| *n == passes), "{share}");
        }
    }
}
