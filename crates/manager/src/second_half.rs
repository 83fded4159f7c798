//! What a run came to in its second half, however long it is: by then a policy knows the target.

use crate::EpochLine;
use pagetide_types::Bytes;
use std::iter::Sum;

/// The second half of a run, in which a policy knows the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondHalf {
    /// Where it begins, seconds since the start.
    pub from_s: f64,
    /// Fast memory that the target held, mean over the time.
    pub held: Bytes,
    /// Share of the accesses that went to it.
    pub fast_share: f64,
}

/// What counts of an epoch, or of some together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    start_s: f64,
    length_s: f64,
    /// Sums over the time.
    held: f64,
    accesses: f64,
    from_fast: f64,
}

/// So many are kept; before there are more, each two become one, and from then on twice as many epochs are one.
const PARTS: usize = 4096;

/// The epochs of a run, equally many together where there are many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    parts: Vec<Part>,
    /// The logarithm of how many epochs are together, and how many of them the last part has.
    shift: u32,
    in_last: u32,
}

impl Parts {
    pub(crate) fn keep(&mut self, line: &EpochLine) {
        let accesses = line.accesses_per_s * line.length_s;
        let part = Part {
            start_s: line.start_s,
            length_s: line.length_s,
            held: line.held.as_f64() * line.length_s,
            accesses,
            from_fast: accesses * line.fast_share.unwrap_or_default(),
        };
        self.in_last += 1;
        match self.parts.last_mut().filter(|_| self.in_last <= 1 << self.shift) {
            Some(last) => *last = [*last, part].iter().sum(),
            None => {
                if self.parts.len() == PARTS {
                    self.parts = self.parts.chunks(2).map(|two| two.iter().sum()).collect();
                    self.shift += 1;
                }
                self.parts.push(part);
                self.in_last = 1;
            }
        }
    }

    /// What began in its second half; none without accesses.
    #[must_use]
    pub fn second_half(&self) -> Option<SecondHalf> {
        let (first, last) = (self.parts.first()?, self.parts.last()?);
        let half_s = f64::midpoint(first.start_s, last.start_s + last.length_s);
        let half: Part = self.parts.iter().filter(|part| part.start_s >= half_s).sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        (half.accesses > 0.0).then(|| SecondHalf {
            from_s: half.start_s,
            held: Bytes((half.held / half.length_s) as u64),
            fast_share: half.from_fast / half.accesses,
        })
    }
}

impl<'a> Sum<&'a Part> for Part {
    fn sum<I: Iterator<Item = &'a Part>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            start_s: if sum.length_s > 0.0 { sum.start_s } else { part.start_s },
            length_s: sum.length_s + part.length_s,
            held: sum.held + part.held,
            accesses: sum.accesses + part.accesses,
            from_fast: sum.from_fast + part.from_fast,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_half_is_what_began_in_it_however_long_the_run() {
        let run = |epochs: u32| {
            let mut parts = Parts::default();
            for epoch in 0..epochs {
                let late = epoch >= epochs / 2;
                parts.keep(&EpochLine {
                    epoch,
                    start_s: 5.0 * f64::from(epoch),
                    length_s: 5.0,
                    resident: Bytes::mib(100),
                    held: Bytes::mib(if late { 20 } else { 70 }),
                    accesses_per_s: if epoch % 2 == 0 { 100.0 } else { 300.0 },
                    fast_share: Some(if !late {
                        0.1
                    } else if epoch % 2 == 0 {
                        0.5
                    } else {
                        0.9
                    }),
                    ..EpochLine::default()
                });
            }
            parts.second_half()
        };
        assert_eq!(run(0), None);
        assert_eq!(run(1), None, "an epoch has no halves");
        for epochs in [40, 40_000, 100_000] {
            let half = run(epochs).unwrap();
            let share = |share: f64| (share - 0.8).abs() < 0.001;
            assert!(half.held == Bytes::mib(20) && share(half.fast_share), "{epochs}: {half:?}");
            let from = half.from_s / (5.0 * f64::from(epochs));
            assert!((0.5..0.51).contains(&from), "{epochs}: {half:?}");
        }
    }
}
