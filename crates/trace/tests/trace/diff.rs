//! Comparing recordings: what must not matter does not, and what differs is told.

use crate::common::{header, record, row, write};
use pagetide_trace::{
    Area, Diff, Epoch, EpochRecord, Error, Header, Recording, RecordingWriter, diff,
};
use pagetide_types::{AreaKind, Bytes, EpochHeat, EpochId, ObjectId, Pid, UnitKey, UnitSize};
use std::path::Path;

/// A program with 40 units of anonymous memory and 10 of a file; `rate(place)` tells the rates.
struct Program {
    /// Object numbers of the address space and of the file.
    objects: (u32, u32),
    /// First address in units.
    base: u64,
    pid: i32,
    command: &'static str,
    file: &'static str,
    /// Lengths of the epochs.
    epochs: Vec<f64>,
    /// Units in reverse order of number.
    reversed: bool,
    rate: fn(usize) -> f32,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            objects: (0, 1),
            base: 1000,
            pid: 17,
            command: "redis-server",
            file: "/srv/data",
            epochs: vec![5.0; 6],
            reversed: false,
            rate: |place| (50 - place) as f32,
        }
    }
}

impl Program {
    fn records(&self) -> Vec<EpochRecord> {
        let (space, file) = (ObjectId(self.objects.0), ObjectId(self.objects.1));
        let mut places: Vec<usize> = (0..50).collect();
        if self.reversed {
            places.reverse();
        }
        let key = |place: &usize| match *place {
            0..40 => UnitKey { object: space, index: self.base + *place as u64 },
            _ => UnitKey { object: file, index: *place as u64 - 40 },
        };
        let area = |object, first, end, kind, name: &str| Area {
            object,
            first,
            end,
            kind,
            name: name.to_owned(),
            pid: Pid(self.pid),
            command: self.command.to_owned(),
            since: EpochId(0),
            mapped: None,
        };
        let areas = vec![
            area(space, self.base, self.base + 40, AreaKind::Anonymous, ""),
            area(file, 0, 10, AreaKind::File, self.file),
        ];
        (0u32..)
            .zip(&self.epochs)
            .map(|(number, length_s)| {
                let mut heat = EpochHeat::new(EpochId(number));
                for (unit, place) in (0..).zip(&places) {
                    heat.push(row(unit, (self.rate)(*place)));
                }
                let first = number == 0;
                EpochRecord {
                    epoch: Epoch {
                        epoch: EpochId(number),
                        length_s: *length_s,
                        ..Epoch::default()
                    },
                    new_units: if first { places.iter().map(key).collect() } else { Vec::new() },
                    new_areas: if first { areas.clone() } else { Vec::new() },
                    heat,
                }
            })
            .collect()
    }

    fn write(&self, path: &Path) -> Recording {
        write(path, &self.records(), 4);
        Recording::open(path).unwrap()
    }
}

fn compare(a: &Program, b: &Program) -> Diff {
    let directory = tempfile::tempdir().unwrap();
    let a = a.write(&directory.path().join("a.heat"));
    let b = b.write(&directory.path().join("b.heat"));
    diff(&a, &b).unwrap()
}

/// What holds when both tell the same of every unit.
fn assert_same(diff: &Diff) {
    assert_eq!(diff.matched_units, 50);
    assert_eq!((diff.a.unmatched_units, diff.b.unmatched_units), (0, 0));
    assert!(diff.a.unmatched_objects.is_empty() && diff.b.unmatched_objects.is_empty());
    assert_eq!(diff.matched_share, 1.0);
    let (rates, hot) = (diff.rates.unwrap(), diff.hot.unwrap());
    assert!((rates.spearman.unwrap() - 1.0).abs() < 1e-12, "{diff:?}");
    for quantile in [rates.log2_ratio_p10, rates.log2_ratio_p50] {
        assert!(quantile.unwrap().abs() < 1e-6, "{diff:?}");
    }
    assert_eq!(hot.jaccard, Some(1.0));
    assert_eq!(hot.a_bytes, hot.b_bytes);
}

#[test]
fn a_recording_is_the_same_as_itself() {
    let diff = compare(&Program::default(), &Program::default());
    assert_same(&diff);
    assert_eq!(diff.a, diff.b);
    assert_eq!((diff.a.epochs, diff.a.seconds, diff.a.units), (6, 30.0, 50));
    assert_eq!(diff.a.resident_mean_bytes, Bytes::mib(100));
    assert_eq!(diff.a.rate, 1275.0);
    // Rates 50, 49, ...: 90 % of 1275 is reached by the 35th.
    let hot = diff.hot.unwrap();
    assert_eq!((hot.a_units, hot.a_bytes), (35, Bytes::mib(70)));
}

#[test]
fn numbering_and_epochs_do_not_matter() {
    let other = Program {
        objects: (7, 3),
        reversed: true,
        epochs: vec![1.0, 2.0, 27.0],
        ..Program::default()
    };
    assert_same(&compare(&Program::default(), &other));
}

#[test]
fn neither_pid_nor_name_of_the_process_matters_when_there_is_one() {
    assert_same(&compare(&Program::default(), &Program { pid: 99, ..Program::default() }));
    assert_same(&compare(&Program::default(), &Program { command: "zipf", ..Program::default() }));
    let other = Program { pid: 99, command: "zipf", ..Program::default() };
    assert_same(&compare(&Program::default(), &other));
}

#[test]
fn twice_the_rates_is_a_ratio_of_two_and_the_same_order() {
    let twice = Program { rate: |place| 2.0 * (50 - place) as f32, ..Program::default() };
    let diff = compare(&twice, &Program::default());
    let rates = diff.rates.unwrap();
    assert!((rates.spearman.unwrap() - 1.0).abs() < 1e-12);
    assert!((rates.log2_ratio_p50.unwrap() - 1.0).abs() < 1e-6);
    assert!((rates.log2_ratio_p90.unwrap() - 1.0).abs() < 1e-6);
    assert_eq!(diff.hot.unwrap().jaccard, Some(1.0));
}

#[test]
fn the_opposite_order_is_a_correlation_of_minus_one() {
    let opposite = Program { rate: |place| (place + 1) as f32, ..Program::default() };
    let diff = compare(&opposite, &Program::default());
    assert!((diff.rates.unwrap().spearman.unwrap() + 1.0).abs() < 1e-12, "{diff:?}");
    // Hot are the upper and the lower 35 of 50: 20 in both.
    assert_eq!(diff.hot.unwrap().jaccard, Some(20.0 / 50.0));
}

#[test]
fn memory_elsewhere_and_files_of_another_name_do_not_match() {
    let other = Program { base: 5000, file: "/srv/other", ..Program::default() };
    let diff = compare(&Program::default(), &other);
    assert_eq!(diff.matched_units, 0);
    assert_eq!((diff.a.unmatched_units, diff.b.unmatched_units), (50, 50));
    // The address spaces match, none of their addresses does; the files do not.
    assert_eq!(diff.a.unmatched_objects, ["/srv/data"]);
    assert_eq!(diff.b.unmatched_objects, ["/srv/other"]);
    assert_eq!((diff.matched_share, diff.rates, diff.hot), (0.0, None, None));
}

#[test]
fn a_rate_is_the_mean_over_the_epochs_in_which_the_unit_was_live() {
    let directory = tempfile::tempdir().unwrap();
    let mut records = Program { epochs: vec![1.0, 3.0], ..Program::default() }.records();
    // Unit 49 is live in the second epoch only; unit 0 has 50 for 1 s, then 10 for 3 s: mean 20.
    records[0].heat = {
        let mut heat = EpochHeat::new(EpochId(0));
        records[0].heat.rows().take(49).for_each(|row| heat.push(row));
        heat
    };
    records[1].heat.rate[0] = 10.0;
    write(&directory.path().join("a.heat"), &records, 4);
    let truth = Program {
        rate: |place| if place == 0 { 20.0 } else { (50 - place) as f32 },
        ..Program::default()
    };
    let a = Recording::open(directory.path().join("a.heat")).unwrap();
    let b = truth.write(&directory.path().join("b.heat"));
    assert_same(&diff(&a, &b).unwrap());
}

#[test]
fn units_of_different_sizes_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let header = Header { unit: UnitSize::Base, ..header() };
    let mut writer = RecordingWriter::create(&path, &header, None).unwrap();
    let mut record = record(0, 0, 1);
    record.heat.pages[0] = 1;
    writer.append(record).unwrap();
    writer.finish().unwrap();
    let a = Recording::open(&path).unwrap();
    let b = Program::default().write(&directory.path().join("b.heat"));
    let error = diff(&a, &b).unwrap_err();
    assert!(matches!(error, Error::Units { .. }), "{error:?}");
    let text = error.to_string();
    for part in ["a.heat has units of 4K", "b.heat of 2M", "the same --unit"] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
}

/// Anonymous areas of so many units at these addresses, in one epoch; unit rates are 1 each.
fn anonymous(
    directory: &tempfile::TempDir,
    name: &str,
    areas: &[(u64, u64)],
    pid: i32,
) -> Recording {
    let area = |(first, units): &(u64, u64)| Area {
        object: ObjectId(0),
        first: *first,
        end: first + units,
        kind: AreaKind::Anonymous,
        name: String::new(),
        pid: Pid(pid),
        command: "store".to_owned(),
        since: EpochId(0),
        mapped: None,
    };
    let units = areas.iter().flat_map(|(first, units)| *first..first + units);
    let keys: Vec<_> = units.map(|index| UnitKey { object: ObjectId(0), index }).collect();
    let mut heat = EpochHeat::new(EpochId(0));
    (0u32..).zip(&keys).for_each(|(unit, _)| heat.push(row(unit, 1.0)));
    let record = EpochRecord {
        epoch: Epoch { length_s: 5.0, ..Epoch::default() },
        new_units: keys,
        new_areas: areas.iter().map(area).collect(),
        heat,
    };
    let path = directory.path().join(name);
    write(&path, &[record], 1);
    Recording::open(path).unwrap()
}

#[test]
fn areas_match_after_a_restart_at_other_addresses() {
    let directory = tempfile::tempdir().unwrap();
    // 20, 40 and 60 units; the last in two areas that touch, and far away one that is small.
    let before = [(100, 20), (200, 40), (300, 30), (330, 30), (900, 2)];
    let after = [(7100, 20), (7200, 10), (7300, 60), (7900, 1)];
    let a = anonymous(&directory, "a.heat", &before, 17);
    let b = anonymous(&directory, "b.heat", &after, 99);
    let found = diff(&a, &b).unwrap();
    assert_eq!(found.matched_units, 0, "no address is the same");
    let told: Vec<_> = found
        .areas
        .iter()
        .map(|area| (area.name.as_str(), area.a.bytes.0 >> 21, area.b.accesses_per_s))
        .collect();
    assert_eq!(
        told,
        [
            ("store: anonymous 2", 40, 10.0),
            ("store: anonymous, small", 2, 1.0),
            ("store: anonymous 3", 60, 60.0),
            ("store: anonymous 1", 20, 20.0),
        ]
    );
    // 30 of 122 units, and as much of the accesses, are gone.
    assert!((found.areas[0].change - 30.0 / 122.0).abs() < 1e-12, "{:?}", found.areas[0]);
}

#[test]
fn what_is_on_one_side_only_is_nothing_on_the_other() {
    let other = Program { file: "/srv/other", ..Program::default() };
    let found = compare(&Program::default(), &other);
    let of = |name: &str| found.areas.iter().find(|area| area.name == name).unwrap();
    let (gone, new) = (of("/srv/data"), of("/srv/other"));
    assert_eq!((gone.a, new.b), (new.b, gone.a));
    assert_eq!((gone.a.bytes, gone.b.bytes), (Bytes::mib(20), Bytes(0)));
    assert_eq!((gone.kind, gone.b.accesses_per_s), (Some(AreaKind::File), 0.0));
    let same = of("redis-server: anonymous 1");
    assert_eq!((same.a, same.change), (same.b, 0.0));
}

#[test]
fn nothing_is_compared_when_less_than_half_of_the_memory_matched() {
    // So many of the 40 units of anonymous memory lie where they lay, and the 10 of the file.
    for (shift, share, comparable) in [(15, 0.7, true), (25, 0.5, true), (26, 0.48, false)] {
        let other = Program { base: 1000 + shift, ..Program::default() };
        let diff = compare(&Program::default(), &other);
        assert!((diff.matched_share - share).abs() < 1e-12, "{diff:?}");
        assert_eq!((diff.rates.is_some(), diff.hot.is_some()), (comparable, comparable));
    }
}
