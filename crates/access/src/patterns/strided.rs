//! Reads in order: every unit the same, the next one always known. The least favourable
//! pattern for a policy that goes by recency.

use super::{Memory, Pattern, Setup, Walk, pattern::each};
use crate::parameter::{Result, refuse};
use pagetide_types::Bytes;
use std::time::Duration;

/// Reads in order at a fixed distance, from the first byte to the last, again and again; every
/// thread a part of its own.
#[derive(Clone, Debug)]
pub struct Strided {
    /// Distance between accesses.
    pub stride: Bytes,
}

/// One thread of [`Strided`].
#[derive(Clone, Debug)]
pub struct StridedWalk {
    stride: u64,
    first: u64,
    end: u64,
    step: u64,
}

impl Pattern for Strided {
    type Walk = StridedWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        if self.stride.0 < 8 || self.stride > setup.size() {
            let remedy = format!("give at least 8 and at most `size`, {}", setup.size());
            return refuse("stride", self.stride.0, remedy);
        }
        if setup.size().0 / self.stride.0 < setup.threads().into() {
            return refuse("threads", setup.threads(), "more than there are strides; give fewer");
        }
        Ok(())
    }

    fn walks(&self, setup: &Setup) -> Result<Vec<StridedWalk>> {
        self.check(setup)?;
        let stride = self.stride.0;
        let steps = setup.size().0.div_ceil(stride);
        Ok(each(setup, |number| {
            let (first, end) = (setup.begin(number, steps), setup.begin(number + 1, steps));
            StridedWalk { stride, first, end, step: first }
        }))
    }
}

impl Walk for StridedWalk {
    #[inline]
    fn batch(&mut self, n: u32, _: Duration, memory: &mut impl Memory) {
        for _ in 0..n {
            memory.read(self.step * self.stride);
            self.step += 1;
            if self.step == self.end {
                self.step = self.first;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};

    #[test]
    fn reads_all_in_order_and_begins_again() {
        let strided = Strided { stride: Bytes(64) };
        let steps = steps(&strided, &setup(4096, 1), 100);
        let expected: Vec<u64> = (0..100).map(|i| i % 64 * 64).collect();
        assert_eq!(offsets(&steps), expected);
    }

    #[test]
    fn threads_share_what_there_is_without_overlap() {
        // 1,025 strides, the last one cut off by the end.
        let (strided, setup) = (Strided { stride: Bytes(24) }, setup(24 * 1024 + 8, 3));
        let mut all: Vec<u64> = vec![];
        for mut walk in strided.walks(&setup).unwrap() {
            let mut steps = vec![];
            walk.batch(u32::try_from(walk.end - walk.first).unwrap(), Duration::ZERO, &mut steps);
            all.extend(offsets(&steps));
        }
        assert_eq!(all, (0..1025).map(|i| i * 24).collect::<Vec<_>>());
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        refused(&Strided { stride: Bytes(4) }, &setup(4096, 1), "stride 4: give at least 8");
        refused(&Strided { stride: Bytes(8192) }, &setup(4096, 1), "at most `size`, 4.00 KiB");
        refused(&Strided { stride: Bytes(1024) }, &setup(4096, 5), "threads 5: more than");
    }
}
