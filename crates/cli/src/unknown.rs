//! How much of the memory cannot be watched, and what the user can do about it.

use pagetide_replay::{percent, unknown_remedy};
use pagetide_trace::Unknown;

/// Share of the resident memory from which on it is worth a word.
const WORTH_SAYING: f64 = 0.1;
/// Less than this is what every small program shares with others: its libraries.
const LIBRARIES: f64 = 16.0 * 1048576.0;

/// What to tell the user, if it is much. `clear_shared`: the option was given.
pub(crate) fn note(unknown: &Unknown, clear_shared: bool) -> Option<String> {
    let (share, mean) = (unknown.share(), unknown.mean());
    if share < WORTH_SAYING || mean.as_f64() < LIBRARIES {
        return None;
    }
    Some(format!(
        "the heat of {mean}, {} of the memory, is unknown, for several processes map it, or it is \
         locked or of the hugetlb pool; {}",
        percent(share),
        unknown_remedy(clear_shared)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_trace::Epoch;
    use pagetide_types::Bytes;

    #[test]
    fn much_unknown_memory_is_said_with_its_remedy() {
        // Over two epochs, in MiB.
        let of = |uncleared: u64, resident: u64, clear_shared: bool| {
            let epoch = Epoch { uncleared_bytes: uncleared << 20, ..Epoch::default() };
            let mut unknown = Unknown::default();
            (0..2).for_each(|_| unknown.add(&epoch, Bytes::mib(resident)));
            note(&unknown, clear_shared)
        };
        assert_eq!(note(&Unknown::default(), false), None, "nothing was recorded");
        assert_eq!(of(90, 1000, false), None, "libraries are shared nearly everywhere");
        assert_eq!(of(3, 4, false), None, "a small program is mostly libraries");
        let without = of(600, 1000, false).unwrap();
        assert!(
            without.contains("600 MiB, 60 %") && without.contains("--clear-shared"),
            "{without}"
        );
        let with = of(600, 1000, true).unwrap();
        assert!(!with.contains("--clear-shared") && with.contains("hugetlb"), "{with}");
    }
}
