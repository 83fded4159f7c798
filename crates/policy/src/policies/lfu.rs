//! Least frequently used: by the number of epochs (or intervals) with an access among the last 64
//! observed.

use crate::by_history::ByHistory;
use crate::options::OptionInfo;
use crate::period::{EVERY_EPOCH, PHASE};
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

const WINDOW: OptionInfo = OptionInfo {
    name: "window",
    summary: "epochs of history that count; with an interval, intervals",
    default: 64.0,
    range: (1.0, 64.0),
    whole: true,
};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "lfu",
    summary: "first what was accessed in the most of the last 64 epochs",
    source: "AMP, section 3.1 (popcount of a 64-bit history)",
    class: Class::Runnable,
    needs: Needs::NOTHING,
    options: &[WINDOW, EVERY_EPOCH, PHASE],
    figures: &[],
    build: |settings| {
        let window = u32::try_from(settings.whole(WINDOW.name)).unwrap_or(64);
        Policy::Rank(Box::new(Lfu { window, history: ByHistory::new(settings) }))
    },
};

struct Lfu {
    window: u32,
    history: ByHistory,
}

impl RankPolicy for Lfu {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        let window = self.window;
        self.history.rank(view, keys, |known| window - known.frequency(window));
    }
}
