//! How much of the memory cannot be watched, and what the user can do about it.

use pagetide_trace::EpochRecord;
use pagetide_types::Bytes;

/// Share of the resident memory from which on it is worth a word.
const WORTH_SAYING: f64 = 0.1;
/// Less than this is what every small program shares with others: its libraries.
const LIBRARIES: f64 = 16.0 * 1048576.0;

/// Sums over the epochs of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unknown {
    uncleared: f64,
    resident: f64,
    epochs: f64,
}

impl Unknown {
    pub(crate) fn add(&mut self, record: &EpochRecord) {
        self.uncleared += record.epoch.uncleared_bytes as f64;
        self.resident += record.heat.resident().as_f64();
        self.epochs += 1.0;
    }

    /// What to tell the user, if it is much. `clear_shared`: the option was given.
    pub(crate) fn note(&self, clear_shared: bool) -> Option<String> {
        let (share, mean) = (self.uncleared / self.resident, self.uncleared / self.epochs);
        if share.is_nan() || share < WORTH_SAYING || mean < LIBRARIES {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mean of u64"
        )]
        let bytes = Bytes(mean as u64);
        let remedy = if clear_shared {
            "that is of the hugetlb pool, had no turn within the budget, or was not seen for certain"
        } else {
            "--clear-shared watches the shared and the locked part, \
             for which page faults of the program wait about 10 ms per GiB"
        };
        Some(format!(
            "the heat of {bytes}, {:.0} % of the memory, is unknown, for several processes map it, \
             or it is locked or of the hugetlb pool; {remedy}",
            share * 100.0
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_unknown_memory_is_said_with_its_remedy() {
        // Over two epochs, in MiB.
        let of = |uncleared: f64, resident: f64| Unknown {
            uncleared: 2.0 * uncleared * 1048576.0,
            resident: 2.0 * resident * 1048576.0,
            epochs: 2.0,
        };
        assert_eq!(Unknown::default().note(false), None, "nothing was recorded");
        assert_eq!(of(90.0, 1000.0).note(false), None, "libraries are shared nearly everywhere");
        assert_eq!(of(3.0, 4.0).note(false), None, "a small program is mostly libraries");
        let without = of(600.0, 1000.0).note(false).unwrap();
        assert!(
            without.contains("600 MiB, 60 %") && without.contains("--clear-shared"),
            "{without}"
        );
        let with = of(600.0, 1000.0).note(true).unwrap();
        assert!(!with.contains("--clear-shared") && with.contains("hugetlb"), "{with}");
    }
}
