//! The governor that never stops anything.

use super::{Counters, Governor, GovernorInfo, Verdict};

pub(crate) const INFO: GovernorInfo = GovernorInfo {
    name: "none",
    summary: "never stops anything",
    source: "what all systems without one do",
    needs_balance: false,
    options: &[],
    build: |_| Box::new(AlwaysMigrate),
};

struct AlwaysMigrate;

impl Governor for AlwaysMigrate {
    fn judge(&mut self, _: &Counters) -> Verdict {
        Verdict::Migrate
    }
}
