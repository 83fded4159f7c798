//! Figure 3: how much of the memory was accessed in how many of the last eight epochs of 4 s,
//! over time.

use pagetide_trace::{Error, Recording};
use pagetide_types::{EpochHeat, HeatFlags};
use std::fmt::Write as _;

/// Bits of history, as in the figure.
const HISTORY: u32 = 8;
/// Its epochs, in s.
const EPOCH_S: f64 = 4.0;

#[derive(Clone, Copy, Default)]
struct Unit {
    history: u8,
    observed: bool,
    accessed: bool,
}

/// Counts as epochs of a recording go by.
#[derive(Default)]
pub(crate) struct Frequency {
    units: Vec<Unit>,
    since_s: f64,
    now_s: f64,
    /// The time, and base pages by frequency.
    rows: Vec<(f64, [u64; HISTORY as usize + 1])>,
}

/// Of a whole recording.
pub(crate) fn of(recording: &Recording) -> Result<Frequency, Error> {
    let mut frequency = Frequency::default();
    for (heat, epoch) in recording.heat().zip(recording.epochs()) {
        frequency.push(&heat?, epoch.length_s);
    }
    Ok(frequency)
}

impl Frequency {
    /// Takes in an epoch of a recording, whose epochs are to be much shorter than 4 s.
    pub(crate) fn push(&mut self, heat: &EpochHeat, length_s: f64) {
        let len = heat.unit.last().map_or(0, |last| last.index() + 1);
        self.units.resize(self.units.len().max(len), Unit::default());
        for (unit, flags) in heat.unit.iter().zip(&heat.flags) {
            let unit = &mut self.units[unit.index()];
            unit.observed |= flags.has(HeatFlags::SAMPLED);
            unit.accessed |= flags.has(HeatFlags::ACCESSED);
        }
        self.now_s += length_s;
        self.since_s += length_s;
        if self.since_s + length_s / 2.0 <= EPOCH_S {
            return;
        }
        self.since_s = 0.0;
        if heat.is_empty() {
            return;
        }
        let mut pages = [0; HISTORY as usize + 1];
        for (unit, count) in heat.unit.iter().zip(&heat.pages) {
            let Unit { history, observed, accessed } = self.units[unit.index()];
            // What nobody watched keeps its history.
            let history = if observed { history >> 1 | u8::from(accessed) << 7 } else { history };
            self.units[unit.index()] = Unit { history, ..Unit::default() };
            pages[history.count_ones() as usize] += u64::from(*count);
        }
        self.rows.push((self.now_s, pages));
    }

    /// One line per epoch: the recording's name, the time, and MiB by frequency: see [`HEADER`].
    pub(crate) fn lines(&self, name: &str) -> String {
        let mut text = String::new();
        for (now_s, pages) in &self.rows {
            let _ = write!(text, "{name},{now_s:.0}");
            for pages in pages {
                let _ = write!(text, ",{:.1}", *pages as f64 / 256.0);
            }
            text.push('\n');
        }
        text
    }
}

/// The columns of [`Frequency::lines`].
pub(crate) const HEADER: &str =
    "recording,seconds,mib_0,mib_1,mib_2,mib_3,mib_4,mib_5,mib_6,mib_7,mib_8";

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatRow, NodeId, UnitId};

    /// Units of 256 pages, a letter each: accessed, watched only, or neither.
    fn epoch(units: &str) -> EpochHeat {
        let mut heat = EpochHeat::new(EpochId(0));
        for (unit, what) in (0..).zip(units.chars()) {
            let flags = match what {
                'a' => HeatFlags::SAMPLED | HeatFlags::ACCESSED,
                'w' => HeatFlags::SAMPLED,
                _ => HeatFlags(0),
            };
            let (unit, node) = (UnitId(unit), NodeId(0));
            heat.push(HeatRow { unit, rate: 0.0, flags, pages: 256, watched: 0, touched: 0, node });
        }
        heat
    }

    #[test]
    fn a_unit_counts_once_per_four_seconds_and_keeps_its_history_unwatched() {
        let mut frequency = Frequency::default();
        for epochs in [["aw-", "wa-"], ["aww", "www"], ["w--", "w--"]] {
            epochs.iter().for_each(|units| frequency.push(&epoch(units), 2.0));
        }
        let expected = "x,4,1.0,2.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0\n\
                        x,8,1.0,1.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0\n\
                        x,12,1.0,1.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0\n";
        assert_eq!(frequency.lines("x"), expected);
        (0..16).for_each(|_| frequency.push(&epoch("aw"), 4.0));
        assert_eq!(frequency.rows.last().unwrap().1, [256, 0, 0, 0, 0, 0, 0, 0, 256]);
    }
}
