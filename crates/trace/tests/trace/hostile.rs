//! Recordings that somebody made in order to harm who reads them: SECURITY.md.

use crate::common::{header, names, record, records, write};
use nix::{sys::stat::Mode, unistd::mkfifo};
use pagetide_trace::{Error, Recording, RecordingWriter};
use pagetide_types::acts;
use std::{fs, path::Path};

fn read(path: &Path) -> Result<(), Error> {
    let recording = Recording::open(path)?;
    pagetide_trace::info(&recording)?;
    recording.records().try_for_each(|record| record.map(|_| ()))
}

#[test]
fn a_fifo_in_place_of_any_file_is_refused_and_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(3), 3);
    for name in names(&path) {
        let (file, aside) = (path.join(&name), directory.path().join("aside"));
        fs::rename(&file, &aside).unwrap();
        mkfifo(&file, Mode::S_IRWXU).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("FIFO") && error.contains(&name), "{name}: {error}");
        fs::remove_file(&file).unwrap();
        fs::rename(&aside, &file).unwrap();
    }
    read(&path).unwrap();
}

#[test]
fn a_header_without_end_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(3), 3);
    fs::write(path.join("recording.json"), vec![b' '; (1 << 20) + 1]).unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
}

/// A number as Thrift's compact protocol writes it.
fn zigzag(mut value: u64) -> Vec<u8> {
    value <<= 1;
    let mut bytes = Vec::new();
    let byte = |value: u64| u8::try_from(value & 127).unwrap();
    while value >= 128 {
        bytes.push(byte(value) | 128);
        value >>= 7;
    }
    bytes.push(byte(value));
    bytes
}

/// Has the footer of a table claim other rows than there are.
fn claim(file: &Path, rows: u64, claimed: u64) {
    let bytes = fs::read(file).unwrap();
    let footer = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[footer..footer + 4].try_into().unwrap());
    let start = footer - length as usize;
    // Field 3 (the one after the schema) of type i64.
    let wanted = [vec![0x16], zigzag(rows)].concat();
    let found = bytes[start..].windows(wanted.len()).position(|window| window == wanted).unwrap();
    let mut metadata = bytes[start..footer].to_vec();
    metadata.splice(found..found + wanted.len(), [vec![0x16], zigzag(claimed)].concat());
    let length = u32::try_from(metadata.len()).unwrap().to_le_bytes();
    fs::write(file, [&bytes[..start], &metadata, &length, b"PAR1"].concat()).unwrap();
}

#[test]
fn claimed_rows_are_refused_before_anything_is_allocated_for_them() {
    for part in ["epochs", "areas", "units", "heat"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.heat");
        let rows = 77;
        let all: Vec<_> = match part {
            "epochs" => records(77),
            "areas" => {
                let mut one = record(0, 0, 77);
                one.new_areas = vec![one.new_areas[0].clone(); 77];
                vec![one]
            }
            _ => vec![record(0, 0, 77)],
        };
        write(&path, &all, 100);
        for name in names(&path).iter().filter(|name| name.starts_with("sums-")) {
            fs::remove_file(path.join(name)).unwrap();
        }
        let file = path.join(format!("{part}-00000.parquet"));
        claim(&file, rows, 309_000_000_000);
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("claims 309000000000 rows"), "{part}: {error}");
    }
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    for odd in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.heat");
        let mut all = records(3);
        all[1].epoch.length_s = odd;
        write(&path, &all, 1);
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("epoch 1 cannot be"), "{odd}: {error}");
    }
}

#[test]
fn no_word_of_it_acts_on_what_shows_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let evil = "\x1b[2J\x1b[Hroot# \u{202e}\r\n\u{9b}31m";
    let mut header = header();
    (header.tool, header.target) = (evil.to_owned(), evil.to_owned());
    header.machine.insert(evil.to_owned(), evil.to_owned());
    let mut writer = RecordingWriter::create(&path, &header, None).unwrap();
    let mut one = record(0, 0, 7);
    one.new_areas[0].name = evil.to_owned();
    one.new_areas[0].command = evil.to_owned();
    writer.append(one).unwrap();
    writer.finish().unwrap();
    let end = r#"{"epochs": 1, "spans": 1, "failed": "\u001b[2J"}"#;
    fs::write(path.join("end.json"), end).unwrap();

    let recording = Recording::open(&path).unwrap();
    let mut words = vec![recording.header().tool.clone(), recording.header().target.clone()];
    words.extend(recording.header().machine.iter().flat_map(|(k, v)| [k.clone(), v.clone()]));
    words.extend(recording.failed().map(str::to_owned));
    for area in recording.areas().unwrap() {
        words.extend([area.name, area.command]);
    }
    assert!(words.iter().filter(|word| word.contains("\\x1b[2J")).count() >= 7, "{words:?}");
    assert!(!words.concat().chars().any(acts), "{words:?}");
}

#[test]
fn names_longer_than_any_path_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    // A path; one that is too long; many that are too long together.
    for (length, areas, good) in [(4096, 500, true), (40_000, 3, false), (32_000, 9_000, false)] {
        let path = directory.path().join(format!("{length}.heat"));
        let mut one = record(0, 0, 7);
        one.new_areas = vec![one.new_areas[0].clone(); areas];
        one.new_areas.iter_mut().for_each(|area| area.name = "x".repeat(length));
        write(&path, &[one], 1);
        // It stands once in the file, and would stand in memory so many times.
        let told = read(&path);
        assert_eq!(told.is_ok(), good, "{told:?}");
        if let Err(error) = told {
            assert!(error.to_string().contains("'name' are too long"), "{error}");
        }
    }
}
