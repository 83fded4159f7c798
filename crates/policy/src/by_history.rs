//! Orders by age and history, after every epoch or after every interval of so many seconds.

use crate::interval_history::IntervalHistory;
use crate::options::Settings;
use crate::period::{EVERY_EPOCH, PHASE, Period};
use crate::policy::key_by;
use crate::{EpochView, Known};

/// What a policy by age or history keeps beside its rule.
pub(crate) struct ByHistory {
    /// `None`: it decides after every epoch, and what is kept for all policies is enough.
    intervals: Option<(Period, IntervalHistory)>,
}

impl ByHistory {
    /// From the options [`EVERY_EPOCH`] and [`PHASE`], which the policy declares.
    pub(crate) fn new(settings: &Settings<'_>) -> Self {
        let (interval, phase) = (settings.get(EVERY_EPOCH.name), settings.get(PHASE.name));
        let period = (interval > 0.0).then(|| Period::new(interval, phase));
        Self { intervals: period.map(|period| (period, IntervalHistory::default())) }
    }

    /// Writes `key` of what is known of every unit where a decision is due, otherwise equal keys,
    /// which change no order.
    pub(crate) fn rank(
        &mut self,
        view: &EpochView<'_>,
        keys: &mut [u32],
        key: impl Fn(Known) -> u32,
    ) {
        let Some((period, history)) = &mut self.intervals else {
            view.key_by(keys, key);
            return;
        };
        history.gather(view.heat);
        if !period.due(view.length_s) {
            keys.fill(0);
            return;
        }
        for unit in &view.heat.unit {
            history.end_interval(*unit);
        }
        key_by(keys, &view.heat.unit, |unit| history.get(unit), key);
    }
}
