//! Other programs read a recording as it is: DuckDB, Polars and pandas, whichever of them is
//! there. The interpreter is `$PAGETIDE_PYTHON`, or the one in `.cache/venv` of the repository.

use crate::common::{record, records, skip, write};
use pagetide_trace::{Area, EpochRecord, Recording};
use pagetide_types::{AreaKind, HeatFlags, NodeId, ObjectId};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Prints for each library that can be imported its name and the sums of the columns.
const SCRIPT: &str = include_str!("foreign.py");

fn python() -> Option<PathBuf> {
    if let Some(python) = env::var_os("PAGETIDE_PYTHON") {
        return Some(python.into());
    }
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/venv/bin/python");
    venv.exists().then_some(venv)
}

/// What the script has to print after a library's name.
fn expected(path: &Path) -> String {
    let recording = Recording::open(path).unwrap();
    let (mut rate, mut sums) = (0.0, [0u64; 10]);
    for heat in recording.heat().map(Result::unwrap) {
        for row in heat.rows() {
            rate += f64::from(row.rate);
            let values = [
                1,
                u64::from(heat.epoch.0),
                u64::from(row.unit.0),
                u64::from(row.flags.has(HeatFlags::SAMPLED)),
                u64::from(row.flags.has(HeatFlags::ACCESSED)),
                u64::from(row.flags.has(HeatFlags::HUGE)),
                u64::from(row.pages),
                u64::from(row.watched),
                u64::from(row.touched),
                u64::from(row.node.0),
            ];
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += value;
            }
        }
    }
    let index: u64 = recording.units().unwrap().iter().map(|unit| unit.index).sum();
    let stalls = recording.epochs().iter().filter(|epoch| epoch.stall_share.is_some()).count();
    let names: Vec<String> =
        recording.areas().unwrap().into_iter().map(|area| area.command).collect();
    let heat: Vec<String> = sums.iter().map(u64::to_string).collect();
    format!("{} {rate:.1} {index} {stalls} {}", heat.join(" "), names.join(","))
}

#[test]
fn other_programs_read_a_recording_as_it_is() {
    const NAME: &str = "other_programs_read_a_recording_as_it_is";
    let Some(python) = python() else {
        return skip(NAME, "no $PAGETIDE_PYTHON and no .cache/venv/bin/python with duckdb");
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut written = records(7);
    for (node, record) in (0..).zip(&mut written) {
        record.heat.node.fill(NodeId(node));
        record.heat.flags.fill(HeatFlags(0x55));
        record.heat.touched.fill(u16::MAX);
    }
    write(&path, &written, 3);
    let output =
        Command::new(&python).args(["-c", SCRIPT]).arg(&path).output().unwrap_or_else(|error| {
            panic!("{} cannot be run: {error}", python.display());
        });
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    if text.is_empty() {
        return skip(NAME, "neither duckdb nor polars nor pandas with pyarrow is installed");
    }
    let expected = expected(&path);
    for line in text.lines() {
        let (library, sums) = line.split_once(' ').unwrap();
        assert_eq!(sums, expected, "as read by {library}");
    }
}

/// Two epochs of 5 s; six units of heap, the first of which is never accessed, and four, then
/// six, of a file. Unit `u` has rate `u`.
fn heap_and_file() -> [EpochRecord; 2] {
    let mut records = [record(0, 0, 10), record(1, 10, 2)];
    for record in &mut records {
        record.heat.flags[0] = HeatFlags::SAMPLED | HeatFlags::UNSEEN;
        for (unit, key) in (record.heat.len() - record.new_units.len()..).zip(&mut record.new_units)
        {
            if unit >= 6 {
                key.object = ObjectId(1);
            }
        }
    }
    let area = records[0].new_areas[0].clone();
    let heap = Area { kind: AreaKind::Heap, name: "[heap]".to_owned(), ..area.clone() };
    let file = Area {
        object: ObjectId(1),
        end: area.end + 2,
        kind: AreaKind::File,
        name: "/srv/data".to_owned(),
        ..area
    };
    // The file's addresses were another one's before: its units are not to count twice.
    let before = Area { name: "/srv/before".to_owned(), ..file.clone() };
    records[0].new_areas = vec![heap, before, file];
    records[1].new_areas.clear();
    records
}

#[test]
fn the_documented_statement_runs_and_answers_what_the_page_says() {
    const NAME: &str = "the_documented_statement_runs_and_answers_what_the_page_says";
    let page = include_str!("../../../../docs/recording.md");
    let statement = page.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    let Some(python) = python() else {
        return skip(NAME, "no $PAGETIDE_PYTHON and no .cache/venv/bin/python with duckdb");
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &heap_and_file(), 12);
    let script = "import sys\ntry:\n import duckdb\nexcept ImportError:\n sys.exit(3)\n\
                  for row in duckdb.sql(sys.argv[1]).fetchall(): print('|', *row, '|', sep=' | ')";
    let statement = statement.replace("NAME.heat", path.to_str().unwrap());
    let output = Command::new(python).args(["-c", script, &statement]).output().unwrap();
    if output.status.code() == Some(3) {
        return skip(NAME, "duckdb is not installed");
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<String> =
        text.lines().map(|l| l.replace("| | ", "| ").replace(" | |", " |")).collect();
    assert_eq!(rows.len(), 2, "{text}");
    let page_rows: Vec<&str> =
        page.lines().filter(|line| rows.iter().any(|row| row == line)).collect();
    assert_eq!(page_rows, rows, "docs/recording.md shows another answer");
}
