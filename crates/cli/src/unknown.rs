//! How much of the memory cannot be watched, and what the user can do about it.

use pagetide_trace::EpochRecord;

/// Share of the resident memory from which on it is worth a word.
const WORTH_SAYING: f64 = 0.1;

/// Sums over the epochs of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unknown {
    uncleared: f64,
    resident: f64,
}

impl Unknown {
    pub(crate) fn add(&mut self, record: &EpochRecord) {
        self.uncleared += record.epoch.uncleared_bytes as f64;
        self.resident += record.heat.resident().as_f64();
    }

    /// What to tell the user, if it is much. `clear_shared`: the option was given.
    pub(crate) fn note(&self, clear_shared: bool) -> Option<String> {
        let share = self.uncleared / self.resident;
        if share.is_nan() || share < WORTH_SAYING {
            return None;
        }
        let remedy = if clear_shared {
            "that is of the hugetlb pool, had no turn within the budget, or was not seen for certain"
        } else {
            "--clear-shared watches the shared and the locked part, \
             for which page faults of the program wait about 10 ms per GiB"
        };
        Some(format!(
            "the heat of {:.0} % of the memory is unknown, for several processes map it, or it is \
             locked or of the hugetlb pool; {remedy}",
            share * 100.0
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_unknown_memory_is_said_with_its_remedy() {
        let of = |uncleared, resident| Unknown { uncleared, resident };
        assert_eq!(of(0.0, 0.0).note(false), None, "nothing was resident");
        assert_eq!(of(9.0, 100.0).note(false), None, "libraries are shared nearly everywhere");
        let without = of(60.0, 100.0).note(false).unwrap();
        assert!(without.contains("60 %") && without.contains("--clear-shared"), "{without}");
        let with = of(60.0, 100.0).note(true).unwrap();
        assert!(!with.contains("--clear-shared") && with.contains("hugetlb"), "{with}");
    }
}
