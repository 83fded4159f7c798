//! Random: what is fast stays, and freed room is filled with slow units drawn at random. For
//! programs that access everything alike: nothing is gained by moving, so almost nothing moves.

use crate::options::OptionInfo;
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "random",
    summary: "what is fast stays; freed room is filled with slow units drawn at random",
    source: "AMP, section 3.1 (for homogeneous access)",
    class: Class::Runnable,
    needs: Needs { oracle: false, placement: true },
    options: &[OptionInfo {
        name: "seed",
        summary: "start of the random numbers",
        default: 1.0,
        range: (0.0, 9_007_199_254_740_991.0),
        whole: true,
    }],
    build: |settings| Policy::Rank(Box::new(Random { seed: settings.whole("seed") })),
};

struct Random {
    seed: u64,
}

impl RankPolicy for Random {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        let epoch = u64::from(view.book.epochs());
        for (i, key) in keys.iter_mut().enumerate() {
            let fast = view.fast.is_some_and(|fast| fast[i]);
            let draw = mix(self.seed ^ mix(epoch << 32 | u64::from(view.heat.unit[i].0)));
            *key = if fast { 0 } else { 1 + (draw >> 42) as u32 };
        }
    }
}

/// The finalizer of `SplitMix64` (Steele, Lea, Flood 2014): every input bit moves every output bit.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
