//! Which units of a program's memory were accessed, epoch by epoch: all that AMP knows of it. A
//! text table, small enough to be kept, taken from recordings of programs that ran one after the
//! other.
//!
//! Only the memory that the programs work on is taken, not their code, stacks and libraries.

use super::programs::Programs;
use super::{Result, wrong};
use pagetide_trace::{EpochRecord, Recording};
use pagetide_types::{EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId, UnitSize};
use std::fmt::Write as _;

/// One epoch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Epoch {
    /// Which of the programs; none while one ends and the next fills its memory.
    pub(crate) program: Option<usize>,
    pub(crate) length_s: f64,
    /// By unit, in order of address; empty if there is no program.
    pub(crate) accessed: Vec<bool>,
    /// Units that nobody watched: whether they were accessed is not known.
    pub(crate) unwatched: Vec<bool>,
}

/// Programs that ran one after the other, each with memory of its own, all of the same size.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Accessed {
    pub(crate) epochs: Vec<Epoch>,
}

const HEADER: &str = "program,length_s,accessed,unwatched";

impl Accessed {
    /// Units of each program.
    pub(crate) fn units(&self) -> usize {
        self.epochs.iter().map(|epoch| epoch.accessed.len()).max().unwrap_or(0)
    }

    /// What policies are shown. The units of different programs are different units.
    pub(crate) fn heats(&self) -> impl Iterator<Item = (EpochHeat, f64)> + '_ {
        let all = u32::try_from(self.units()).unwrap_or(u32::MAX);
        (0..).zip(&self.epochs).map(move |(number, epoch)| {
            let mut heat = EpochHeat::with_capacity(EpochId(number), epoch.accessed.len());
            let program = u32::try_from(epoch.program.unwrap_or(0)).unwrap_or(0);
            let units = epoch.accessed.iter().zip(&epoch.unwatched);
            for (unit, (accessed, unwatched)) in (program * all..).zip(units) {
                let pages = UnitSize::Huge.pages();
                let (watched, flags) = match (*accessed, *unwatched) {
                    (true, _) => (pages, HeatFlags::SAMPLED | HeatFlags::ACCESSED),
                    (false, false) => (pages, HeatFlags::SAMPLED | HeatFlags::UNSEEN),
                    (false, true) => (0, HeatFlags(0)),
                };
                heat.push(HeatRow {
                    unit: UnitId(unit),
                    rate: if *accessed { 1.0 } else { 0.0 },
                    flags: flags | HeatFlags::HUGE,
                    pages,
                    watched,
                    touched: if *accessed { pages } else { 0 },
                    node: NodeId(0),
                });
            }
            (heat, epoch.length_s)
        })
    }

    /// As a table; a hexadecimal digit holds four units, the first in its highest bit.
    pub(crate) fn to_csv(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for epoch in &self.epochs {
            let program = epoch.program.map_or(String::new(), |program| program.to_string());
            let unwatched =
                if epoch.unwatched.contains(&true) { hex(&epoch.unwatched) } else { String::new() };
            let (length_s, accessed) = (epoch.length_s, hex(&epoch.accessed));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{program},{length_s:.3},{accessed},{unwatched}");
        }
        text
    }

    /// Reads [`Self::to_csv`].
    pub(crate) fn from_csv(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return Err(wrong(format!("the first line is not {HEADER}")));
        }
        let number = |cell: &str| wrong(format!("not a number: '{cell}'"));
        let epoch = |line: &str| -> Result<Epoch> {
            let cells: Vec<&str> = line.split(',').collect();
            let [program, length_s, accessed, unwatched] = cells[..] else {
                return Err(wrong(format!("not four cells: {line}")));
            };
            let accessed =
                bits(accessed).ok_or_else(|| wrong(format!("not hexadecimal: {line}")))?;
            let unwatched =
                bits(unwatched).ok_or_else(|| wrong(format!("not hexadecimal: {line}")))?;
            Ok(Epoch {
                program: if program.is_empty() {
                    None
                } else {
                    Some(program.parse().map_err(|_| number(program))?)
                },
                length_s: length_s.parse().map_err(|_| number(length_s))?,
                unwatched: if unwatched.is_empty() {
                    vec![false; accessed.len()]
                } else {
                    unwatched
                },
                accessed,
            })
        };
        Ok(Self { epochs: lines.map(epoch).collect::<Result<_>>()? })
    }

    /// From recordings of units of 2 MiB: of programs that ran one after the other, in one
    /// recording, or in one each.
    pub(crate) fn of(paths: &[&str]) -> Result<Self> {
        let mut all = Self::default();
        for path in paths {
            let before = all.epochs.iter().filter_map(|epoch| epoch.program).max();
            let recording = Recording::open(path)?;
            let records: Vec<EpochRecord> =
                recording.records().collect::<std::result::Result<_, _>>()?;
            let programs = Programs::of(&records);
            let mut one = records.iter().map(|record| programs.epoch(record)).collect::<Vec<_>>();
            for epoch in &mut one {
                let number = epoch.program.map(|n| n + before.map_or(0, |before| before + 1));
                epoch.program = number;
            }
            all.epochs.append(&mut one);
        }
        let units = all.units();
        if all.epochs.iter().any(|epoch| ![0, units].contains(&epoch.accessed.len())) {
            return Err(wrong("the programs' memories are of different sizes"));
        }
        Ok(all)
    }
}

fn hex(bits: &[bool]) -> String {
    let digit = |four: &[bool]| {
        let value = (0..4).fold(0, |sum, at| sum << 1 | u32::from(four.get(at) == Some(&true)));
        char::from_digit(value, 16).unwrap_or('0')
    };
    bits.chunks(4).map(digit).collect()
}

fn bits(hex: &str) -> Option<Vec<bool>> {
    let mut bits = Vec::new();
    for digit in hex.chars() {
        let value = digit.to_digit(16)?;
        bits.extend([8, 4, 2, 1].map(|bit| value & bit != 0));
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let epoch = |program, accessed: [bool; 8], unwatched| Epoch {
            program,
            length_s: 0.2,
            accessed: accessed.to_vec(),
            unwatched,
        };
        let (yes, no) = (true, false);
        let none = Epoch { accessed: vec![], ..epoch(None, [no; 8], vec![]) };
        let table = Accessed {
            epochs: vec![
                epoch(Some(0), [yes, no, no, no, no, yes, yes, no], vec![no; 8]),
                none,
                epoch(Some(1), [no; 8], [vec![yes], vec![no; 7]].concat()),
            ],
        };
        let text = table.to_csv();
        assert_eq!(text, format!("{HEADER}\n0,0.200,86,\n,0.200,,\n1,0.200,00,80\n"));
        assert_eq!(Accessed::from_csv(&text).unwrap(), table);
        for broken in
            ["", "program\n", &format!("{HEADER}\n0,0.2,8g,\n"), &format!("{HEADER}\n1\n")]
        {
            assert!(Accessed::from_csv(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn every_program_has_units_of_its_own_and_what_nobody_watched_is_not_known() {
        let text = format!("{HEADER}\n0,0.2,8,4\n1,0.2,1,\n");
        let table = Accessed::from_csv(&text).unwrap();
        let heats: Vec<(EpochHeat, f64)> = table.heats().collect();
        assert_eq!(heats[0].0.unit, (0..4).map(UnitId).collect::<Vec<_>>());
        assert_eq!(heats[1].0.unit, (4..8).map(UnitId).collect::<Vec<_>>());
        let flags = &heats[0].0.flags;
        assert!(flags[0].has(HeatFlags::ACCESSED) && flags[2].has(HeatFlags::UNSEEN));
        assert!(!flags[1].has(HeatFlags::SAMPLED) && !flags[1].has(HeatFlags::ACCESSED));
        assert_eq!(heats[1].1, 0.2);
    }
}
