//! By estimated access rate, decayed: the weight of an observed epoch halves with every
//! `half-life` epochs. Ours: accessed bits say *whether* a unit was accessed in an epoch, rates
//! estimated from several gaps say *how often*, which age and frequency cannot tell apart once
//! everything is accessed in every epoch.

use crate::options::OptionInfo;
use crate::policy::{COLDEST, UNKNOWN, rate_key, settle_unknown};
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy, observed};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "rate",
    summary: "the highest estimated access rate first, older epochs counting less",
    source: "ours",
    class: Class::Runnable,
    needs: Needs::NOTHING,
    options: &[
        OptionInfo {
            name: "half-life",
            summary: "epochs after which an observation counts half; 0: only the last counts",
            default: 4.0,
            range: (0.0, 1e6),
            whole: false,
        },
        OptionInfo {
            name: "steps",
            summary: "steps per doubling of the rate (rounded to a power of two); within a step \
                      the order stays as it was",
            default: 64.0,
            range: (1.0, 256.0),
            whole: true,
        },
    ],
    build: |settings| {
        let half_life = settings.get("half-life");
        Policy::Rank(Box::new(Rate {
            keep: if half_life > 0.0 { narrow((-1.0 / half_life).exp2()) } else { 0.0 },
            shift: f32::MANTISSA_DIGITS - 1 - settings.whole("steps").ilog2(),
            rates: Vec::new(),
        }))
    },
};

#[expect(clippy::cast_possible_truncation, reason = "a weight from 0 to 1")]
fn narrow(weight: f64) -> f32 {
    weight as f32
}

struct Rate {
    /// Weight of the past.
    keep: f32,
    /// Low bits of a rate's float that do not count.
    shift: u32,
    /// Decayed rate by unit number, accesses/s; negative: not known yet.
    rates: Vec<f32>,
}

impl RankPolicy for Rate {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        let heat = view.heat;
        let len = heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.rates.len() < len {
            self.rates.resize(len, -1.0);
        }
        for unit in view.book.newborn() {
            self.rates[unit.index()] = -1.0;
        }
        let mut unknown = 0;
        let rows = heat.unit.iter().zip(&heat.flags).zip(&heat.rate);
        for (key, ((unit, flags), seen)) in keys.iter_mut().zip(rows) {
            let rate = &mut self.rates[unit.index()];
            if observed(*flags) {
                let past = if *rate < 0.0 { *seen } else { *rate };
                let mixed = self.keep * past + (1.0 - self.keep) * seen;
                *rate = mixed.max(COLDEST);
            }
            *key = if *rate < 0.0 {
                unknown += 1;
                UNKNOWN
            } else {
                // Cut off within the step, from the bottom of it.
                rate_key(f32::from_bits(rate.to_bits() >> self.shift << self.shift))
            };
        }
        settle_unknown(keys, unknown);
    }
}
