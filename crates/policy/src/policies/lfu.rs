//! Least frequently used: by the number of epochs with an access among the last 64 observed.

use crate::options::OptionInfo;
use crate::{Class, EpochView, Needs, Policy, PolicyInfo, RankPolicy};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "lfu",
    summary: "first what was accessed in the most of the last 64 epochs",
    source: "AMP, section 3.1 (popcount of a 64-bit history)",
    class: Class::Runnable,
    needs: Needs::NOTHING,
    options: &[OptionInfo {
        name: "window",
        summary: "epochs of history that count",
        default: 64.0,
        range: (1.0, 64.0),
        whole: true,
    }],
    figures: &[],
    build: |settings| {
        let window = u32::try_from(settings.whole("window")).unwrap_or(64);
        Policy::Rank(Box::new(Lfu { window }))
    },
};

struct Lfu {
    window: u32,
}

impl RankPolicy for Lfu {
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
        let window = self.window;
        view.key_by(keys, |known| window - known.frequency(window));
    }
}
