//! By access rate, with hysteresis. Ours: accessed bits say *whether* a unit was accessed in an
//! epoch, rates *how often*, which age and frequency cannot tell apart once everything is accessed
//! in every epoch.
//!
//! The rate of a unit is what is to be expected of it by all that was seen so far (the recorder
//! pools epochs, and forgets when the program changes), so it is taken as it is. But to order alike
//! units by what is left of chance costs moves and gains nothing. So what orders is the band that a
//! rate lies in, half an octave wide; a unit keeps its band until its rate has left it by a quarter
//! of its width (a Schmitt trigger), and units in one band stay where they are. And it decides every
//! two seconds at most: what would pay for a move takes longer to show.
//!
//! What is born is taken for what was born before it, until it was looked at: it comes where the mean rate
//! of that belongs. Programs that move their hot memory (tables that grow, copying collectors) would else find it slow until
//! the next decision.

use crate::births::Births;
use crate::options::OptionInfo;
use crate::period::{INTERVAL, PHASE, Period};
use crate::policy::{COLDEST, UNKNOWN, fill_unknown, rate_key};
use crate::{Birth, Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy, observed};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "rate",
    summary: "the highest rate per page first; small differences move nothing",
    source: "ours",
    class: Class::Runnable,
    needs: Needs { scatters: true, by_rates: true, births: true, ..Needs::NOTHING },
    options: &[
        OptionInfo {
            name: "steps",
            summary: "bands per doubling of the rate (rounded to a power of two) between which \
                      units are told apart",
            default: 2.0,
            range: (1.0, 256.0),
            whole: true,
        },
        OptionInfo {
            summary: "seconds between two decisions, in whole epochs; 0: one after every epoch",
            default: 2.0,
            ..INTERVAL
        },
        PHASE,
    ],
    figures: &[],
    build: |settings| {
        Policy::Rank(Box::new(Rate {
            drop: f32::MANTISSA_DIGITS - 1 - settings.whole("steps").ilog2(),
            period: Period::new(settings.get(INTERVAL.name), settings.get(PHASE.name)),
            units: Vec::new(),
            births: Births::default(),
        }))
    },
};

/// A rate has left its band once it is this share of the band's width beyond it.
const BEYOND: f32 = 0.25;
/// The first epochs all decide: much is to be put in place.
const FIRST_EPOCHS: u32 = 3;

struct Rate {
    /// Low bits of a rate's float that do not count: a band is what the others say.
    drop: u32,
    period: Period,
    /// By unit number.
    units: Vec<Unit>,
    births: Births,
}

/// What a unit is ranked by.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// The middle of its band, accesses/s; 0: it was never observed.
    middle: f32,
    /// As of the last decision.
    key: u32,
}

const NEW: Unit = Unit { middle: 0.0, key: UNKNOWN };

impl RankPolicy for Rate {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        let heat = view.heat;
        let len = heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.units.len() < len {
            self.units.resize(len, NEW);
        }
        self.births.observe(view);
        for unit in view.history.newborn() {
            self.units[unit.index()] = NEW;
        }
        if let Some(Birth { key, .. }) = self.birth() {
            view.history.born(heat).for_each(|row| self.units[heat.unit[row].index()].key = key);
        }
        let early = view.free_moves || view.history.epochs() <= FIRST_EPOCHS;
        let decides = self.period.due(view.length_s) || early;
        let mut unknown = 0;
        let rows = heat.unit.iter().zip(&heat.flags).zip(&heat.rate).zip(&heat.pages);
        for (key, (((unit, flags), rate), pages)) in keys.iter_mut().zip(rows) {
            let unit = &mut self.units[unit.index()];
            let never_seen = unit.middle <= 0.0;
            if observed(*flags) {
                unit.observe(rate.clamp(COLDEST, f32::MAX), self.drop);
            }
            if unit.middle > 0.0 && (decides || never_seen) {
                // Per page: a small unit that is as hot gives more for the same memory. Rounded, so
                // that a page more or less moves nothing.
                unit.key = rate_key(unit.middle / f32::from(pages.max(&1).next_power_of_two()));
            }
            unknown += usize::from(unit.key == UNKNOWN);
            *key = unit.key;
        }
        fill_unknown(keys, unknown);
    }

    fn birth(&self) -> Option<Birth> {
        let rate = self.births.rate()?;
        let mut unit = NEW;
        #[expect(clippy::cast_possible_truncation, reason = "a rate to seven digits")]
        unit.observe((rate as f32).clamp(COLDEST, f32::MAX), self.drop);
        Some(Birth { key: rate_key(unit.middle), rate })
    }
}

impl Unit {
    /// Keeps its band, or takes the one that `rate` lies in.
    fn observe(&mut self, rate: f32, drop: u32) {
        let low = rate.to_bits() >> drop << drop;
        let middle = f32::from_bits(low + (1 << drop >> 1)).min(f32::MAX);
        let width =
            f32::from_bits(low.saturating_add(1 << drop)).min(f32::MAX) - f32::from_bits(low);
        // Bands grow with the rate: that of the smaller of both says how far is far.
        let far = (0.5 + BEYOND) * width.min(self.middle);
        if self.middle <= 0.0 || (rate - self.middle).abs() > far {
            self.middle = middle;
        }
    }
}
