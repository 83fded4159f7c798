//! Random: what is fast stays, and freed room is filled with slow units drawn at random. For
//! programs that access everything alike: nothing is gained by moving, so almost nothing moves.

use crate::options::OptionInfo;
use crate::period::{EVERY_EPOCH, PHASE, Period};
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

pub(crate) const SEED: OptionInfo = OptionInfo {
    name: "seed",
    summary: "start of the random numbers",
    default: 1.0,
    range: (0.0, 9_007_199_254_740_991.0),
    whole: true,
};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "random",
    summary: "what is fast stays; freed room is filled with slow units drawn at random",
    source: "AMP, section 3.1 (for homogeneous access)",
    class: Class::Runnable,
    needs: Needs { placement: true, ..Needs::NOTHING },
    options: &[SEED, EVERY_EPOCH, PHASE],
    figures: &[],
    build: |settings| {
        Policy::Rank(Box::new(Random {
            seed: settings.whole(SEED.name),
            period: Period::new(settings.get(EVERY_EPOCH.name), settings.get(PHASE.name)),
        }))
    },
};

struct Random {
    seed: u64,
    period: Period,
}

impl RankPolicy for Random {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        if self.period.due(view.length_s) {
            keep_and_fill(self.seed, view, keys);
        } else {
            keys.fill(0);
        }
    }
}

/// Shares of the draws that are told apart.
const SHARES: usize = 256;
/// The key of what has no chance to be drawn.
const NOT_DRAWN: u32 = 1 << 11;

/// Keys that keep what is fast, and fill the room left with slow units drawn at random. Without
/// room nothing is drawn, and everything keeps its order.
pub(crate) fn keep_and_fill(seed: u64, view: &EpochView<'_>, keys: &mut [u32]) {
    let heat = view.heat;
    let (mut used, mut smallest) = (0, u64::MAX);
    for (row, pages) in heat.pages.iter().enumerate() {
        if view.is_fast(row) {
            used += u64::from(*pages);
        } else {
            smallest = smallest.min(u64::from(*pages));
        }
    }
    let room = view.capacity_pages().saturating_sub(used);
    keys.fill(0);
    if room < smallest {
        return;
    }
    // Few are drawn, so only those are told apart exactly whose draws may be low enough.
    let epoch = u64::from(view.history.epochs());
    let mut shares = [0; SHARES];
    for (row, key) in keys.iter_mut().enumerate() {
        if !view.is_fast(row) {
            *key = 1 + (mix(seed ^ mix(epoch << 32 | u64::from(heat.unit[row].0))) >> 33) as u32;
            shares[share(*key)] += u64::from(heat.pages[row]);
        }
    }
    let mut sum = 0;
    let full = shares.iter().position(|pages| {
        sum += pages;
        sum > room
    });
    for key in keys.iter_mut().filter(|key| **key > 0) {
        *key = match share(*key).cmp(&full.unwrap_or(SHARES)) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2 + (*key >> 13) % 1024,
            std::cmp::Ordering::Greater => NOT_DRAWN,
        };
    }
}

/// Which of [`SHARES`] equal shares a draw of 31 bits, and one, is in.
fn share(draw: u32) -> usize {
    ((draw - 1) >> 23) as usize
}

/// The finalizer of `SplitMix64` (Steele, Lea, Flood 2014): every input bit moves every output bit.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
