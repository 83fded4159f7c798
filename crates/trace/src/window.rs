//! A part of a recording by time: whole epochs, those of which at least half lies in it.

use crate::Epoch;
use serde::Serialize;
use std::fmt;

/// A part of a recording by time, in whole epochs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Position of its first epoch in the recording.
    pub first_epoch: usize,
    /// How many epochs it has.
    pub epochs: usize,
    /// How many the recording has.
    pub of_epochs: usize,
    /// Where its first epoch starts, seconds since the recording began.
    pub from_s: f64,
    /// Where its last epoch ends.
    pub to_s: f64,
}

impl Window {
    /// Position of the first epoch behind it.
    pub(crate) fn end(&self) -> usize {
        self.first_epoch + self.epochs
    }

    /// The epochs from `from_s` to `to_s`, or why there are none. `nominal_s` is how long an epoch
    /// was to be: an end is beyond the recording's only if it is so by more than half of that.
    pub(crate) fn find(
        epochs: &[Epoch],
        nominal_s: f64,
        from_s: Option<f64>,
        to_s: Option<f64>,
    ) -> Result<Self, String> {
        let times = epoch_times(epochs);
        let last_s = times.last().map_or(0.0, |time| time.1);
        let (from, to) = (from_s.unwrap_or(0.0), to_s.unwrap_or(f64::INFINITY));
        let length = seconds(last_s);
        if from >= to {
            return Err(format!(
                "a part from {} to {} holds nothing; it must begin before it ends",
                seconds(from),
                seconds(to)
            ));
        }
        if from >= last_s {
            return Err(format!(
                "nothing was recorded from {} on: it ends after {length}; begin earlier",
                seconds(from)
            ));
        }
        if to_s.is_some_and(|to| to > last_s + 0.5 * nominal_s) {
            return Err(format!(
                "it ends after {length}, before {}; end earlier, or leave the end out to have all \
                 that was recorded",
                seconds(to)
            ));
        }
        let middle = |time: &(f64, f64)| f64::midpoint(time.0, time.1);
        let inside = |time: &(f64, f64)| (from..to).contains(&middle(time));
        let Some(first) = times.iter().position(inside) else {
            return Err(format!(
                "no epoch of it lies from {} to {}: they are {} long; ask for at least so much",
                seconds(from),
                seconds(to.min(last_s)),
                seconds(nominal_s)
            ));
        };
        let rest = times[first..].iter();
        let count = rest.take_while(|time| inside(time)).count();
        Ok(Self {
            first_epoch: first,
            epochs: count,
            of_epochs: epochs.len(),
            from_s: times[first].0,
            to_s: times[first + count - 1].1,
        })
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {} to {}", seconds(self.from_s), seconds(self.to_s))
    }
}

/// `20 s`, `2.5 s`: a tenth is told where there is one.
fn seconds(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 {
        format!("{value:.0} s")
    } else {
        format!("{value:.1} s")
    }
}

/// Start and end of every epoch, seconds since the recording began. Recordings whose starts do not
/// ascend (made by other tools) get one epoch after the other.
#[must_use]
pub fn epoch_times(epochs: &[Epoch]) -> Vec<(f64, f64)> {
    let length = |epoch: &Epoch| if epoch.length_s.is_finite() { epoch.length_s } else { 0.0 };
    let ascend = epochs.windows(2).all(|pair| pair[1].start_s > pair[0].start_s)
        && epochs.iter().all(|epoch| epoch.start_s.is_finite());
    let mut end = 0.0;
    epochs
        .iter()
        .map(|epoch| {
            let start = if ascend { epoch.start_s } else { end };
            end = start + length(epoch).max(0.0);
            (start, end)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve epochs of 5 s, a little late each.
    fn epochs() -> Vec<Epoch> {
        (0..12u32)
            .map(|i| Epoch { start_s: f64::from(i) * 5.003, length_s: 5.003, ..Epoch::default() })
            .collect()
    }

    fn find(from_s: Option<f64>, to_s: Option<f64>) -> Result<(usize, usize), String> {
        Window::find(&epochs(), 5.0, from_s, to_s).map(|found| (found.first_epoch, found.epochs))
    }

    #[test]
    fn epochs_that_lie_in_it_for_the_most_part_are_its_own() {
        assert_eq!(find(Some(20.0), Some(60.0)), Ok((4, 8)));
        assert_eq!(find(Some(20.0), None), Ok((4, 8)));
        assert_eq!(find(None, Some(20.0)), Ok((0, 4)));
        // 22.4 s is in the first half of the fifth epoch, 22.6 s in the second.
        assert_eq!(find(Some(22.4), Some(33.0)), Ok((4, 3)));
        assert_eq!(find(Some(22.6), Some(33.0)), Ok((5, 2)));
        // A recording of about a minute has a minute.
        assert_eq!(find(None, Some(62.0)), Ok((0, 12)));
        let found = Window::find(&epochs(), 5.0, Some(20.0), Some(60.0));
        assert_eq!(found.map(|found| found.to_string()), Ok("from 20 s to 60 s".to_owned()));
    }

    #[test]
    fn a_part_that_is_none_is_said_with_the_remedy() {
        for (from, to, says) in [
            (Some(60.5), None, "ends after 60 s; begin earlier"),
            (Some(200.0), Some(300.0), "nothing was recorded from 200 s on"),
            (None, Some(63.0), "ends after 60 s, before 63 s; end earlier, or leave the end out"),
            (Some(60.0), Some(20.0), "it must begin before it ends"),
            (Some(20.0), Some(20.0), "from 20 s to 20 s holds nothing"),
            (Some(20.0), Some(21.0), "no epoch of it lies from 20 s to 21 s: they are 5 s long"),
        ] {
            let error = find(from, to).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn starts_that_do_not_ascend_are_those_of_one_epoch_after_the_other() {
        let epochs = [2.0, 3.0].map(|length_s| Epoch { length_s, ..Epoch::default() });
        assert_eq!(epoch_times(&epochs), [(0.0, 2.0), (2.0, 5.0)]);
    }
}
