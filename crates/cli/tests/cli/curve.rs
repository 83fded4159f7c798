//! `curve`: what it prints, and what it says of files that cannot be read.

#![expect(clippy::unwrap_used, reason = "a test's own files")]

use crate::json::{are_documented, section};
use crate::run::{finish, pagetide, scratch};
use pagetide_access::{Access, Header, Kind, Page, StreamWriter};
use pagetide_types::{Bytes, ObjectId};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// One record of oracleGeneral.
pub(crate) fn record(time_s: u32, object: u64, bytes: u32, next: i64) -> Vec<u8> {
    let mut record = time_s.to_le_bytes().to_vec();
    record.extend(object.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend(next.to_le_bytes());
    record
}

pub(crate) fn file(scratch: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Ten rounds over a hundred objects.
pub(crate) fn rounds(scratch: &TempDir) -> PathBuf {
    let records = (0..1000u32).flat_map(|i| record(i / 100, u64::from(i % 100) << 20, 4096, -1));
    file(scratch, "rounds.oracleGeneral", &records.collect::<Vec<u8>>())
}

/// The same in our format.
fn stream(scratch: &TempDir) -> PathBuf {
    let header = Header {
        tool: "test".to_owned(),
        target: "rounds".to_owned(),
        cache: Bytes(0),
        ways: 1,
        dilation: 1.0,
        facts: [].into(),
    };
    let mut writer = StreamWriter::new(Vec::new(), &header).unwrap();
    let pages: Vec<Page> =
        (0..100).map(|number| Page { object: ObjectId(0), number: number * 7 }).collect();
    writer.pages(&pages).unwrap();
    let access = |i: u32| Access { page: i % 100, line: 3, kind: Kind::Read, gap: 1 };
    writer.accesses(0, 0, &(0..1000).map(access).collect::<Vec<_>>()).unwrap();
    file(scratch, "rounds.stream", &writer.finish().unwrap())
}

fn curve(options: &str, path: &Path) -> Value {
    pagetide(&format!("curve --json {options} {}", path.display())).succeeds().json()
}

/// Misses by policy and size.
fn misses(json: &Value) -> Vec<Vec<u64>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    list(&json["policies"])
        .iter()
        .map(|policy| list(&policy["points"]).iter().filter_map(|p| p["misses"].as_u64()).collect())
        .collect()
}

#[test]
fn a_loop_is_missed_whole_until_it_fits_whatever_the_format() {
    let scratch = scratch();
    for path in [rounds(&scratch), stream(&scratch)] {
        let json = curve("--sizes 396K,400K,1G,7p", &path);
        assert_eq!(misses(&json), vec![[1000, 1000, 100, 100]; 3], "{json}");
        let packed = zstd_of(&scratch, &path);
        assert_eq!(misses(&curve("--sizes 396K,400K,1G,7p", &packed)), misses(&json));
        let text = pagetide(&format!("curve --sizes 396K,400K {}", path.display())).succeeds().out;
        for said in ["1 k accesses", "100 ", "400 KiB", "100.00 %", "10.00 %", "lru", "clock"] {
            assert!(text.contains(said), "no '{said}' in {text}");
        }
    }
}

/// A copy compressed by the zstd program, or the file itself where there is none.
fn zstd_of(scratch: &TempDir, path: &Path) -> PathBuf {
    let packed = scratch.path().join("packed.zst");
    let mut zstd = std::process::Command::new("zstd");
    zstd.arg("-qf").arg(path).arg("-o").arg(&packed);
    if zstd.status().is_ok_and(|status| status.success()) {
        return packed;
    }
    pagetide_testing::skip("curve of a compressed file", "there is no zstd program");
    path.to_owned()
}

#[test]
fn all_sizes_are_told_and_lru_knows_each() {
    let scratch = scratch();
    let path = rounds(&scratch);
    let json = curve("", &path);
    assert_eq!(json, curve("--all", &path));
    let sizes: Vec<u64> = json["policies"][0]["points"].as_array().map_or(vec![], |points| {
        points.iter().filter_map(|point| point["size_pages"].as_u64()).collect()
    });
    assert_eq!(sizes, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]);
    assert_eq!(json["policies"][0]["steps"], serde_json::json!([[1, 1000], [100, 100]]));
    assert_eq!(json["policies"][1]["steps"], Value::Null);
}

#[test]
fn addresses_are_cut_into_pages() {
    let scratch = scratch();
    // Sectors 6 to 9: the second half of page 0, and the first half of page 1, which is there twice.
    let bytes = [record(0, 6, 2048, -1), record(1, 8, 512, -1), record(1, 0, 0, -1)].concat();
    let path = file(&scratch, "sectors", &bytes);
    let json = curve("--id-bytes 512 --sizes 1M --policy fifo", &path);
    assert_eq!(
        (&json["accesses"], &json["pages"], &json["left_out"]),
        (&3.into(), &2.into(), &1.into())
    );
    assert_eq!(json["by"], "page");
    assert_eq!(misses(&json), [[2]]);
    let json = curve("--sizes 1M --policy fifo", &path);
    assert_eq!((&json["accesses"], &json["by"]), (&2.into(), &"object".into()));
}

#[test]
fn a_sample_tells_its_error() {
    let scratch = scratch();
    let records = (0..200_000u32).flat_map(|i| record(0, u64::from(i) * 7919 % 5003 % 4000, 1, -1));
    let path = file(&scratch, "many", &records.collect::<Vec<u8>>());
    for sample in ["0.1", "10%", "500"] {
        let json = curve(&format!("--policy lru --sizes 1M,10M --sample {sample}"), &path);
        let points = &json["policies"][0]["points"];
        for point in [&points[0], &points[1]] {
            assert!(point["error"].as_f64().is_some_and(|error| error < 0.5), "{json}");
        }
        assert!(json["sample"]["rate"].as_f64().is_some_and(|rate| rate < 0.2), "{json}");
        let line = format!("curve --sizes 1M,4K --policy lru --sample {sample} {}", path.display());
        let text = pagetide(&line).succeeds().out;
        assert!(text.contains('±') && text.contains('?') && text.contains("Sampled"), "{text}");
    }
    assert_eq!(
        curve("--sample 0.1 --sizes 1M", &path)["sample"],
        curve("--sample 10% --sizes 2M", &path)["sample"]
    );
}

#[test]
fn every_key_of_curve_is_documented() {
    let scratch = scratch();
    are_documented(&curve("", &rounds(&scratch)), None, &without_sample());
    let json = curve("--sample 0.5", &rounds(&scratch));
    are_documented(&json, None, section("curve"));
}

/// The page without the rows of what only a sample has.
fn without_sample() -> String {
    let rows = section("curve").lines().filter(|line| !line.starts_with("| `rate`"));
    rows.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_trace_that_is_wrong_is_named_with_file_and_record() {
    let scratch = scratch();
    let good = record(5, 1, 4096, -1);
    let path = |name: &str, bytes: &[u8]| file(&scratch, name, bytes);
    let backwards = [good.clone(), record(4, 1, 4096, -1)].concat();
    let absurd = [good.clone(), record(5, 1, 4096, 2 << 56)].concat();
    let long = [good.clone(), record(5, 1 << 40, u32::MAX, -1)].concat();
    let nothing = record(5, 1, 0, -1);
    let huge = [b"PTACCESS\x01\0\0\0\xff\xff\xff\xff".as_slice(), &good].concat();
    for (options, path, said) in [
        ("", path("empty", &[]), "empty"),
        ("", path("cut", &good[..23]), "record 0 has 23 of its 24 bytes"),
        ("", path("backwards", &backwards), "record 1 is of second 4"),
        ("", path("absurd", &absurd), "record 1 says that the next request"),
        ("--by page", path("long", &long), "record 1 is of 4294967295 bytes"),
        ("", path("nothing", &nothing), "there is no access in it"),
        ("", path("huge", &huge), "says that it is 4294967295 bytes long"),
        ("", path("text", b"time,object,size,next\n1,"), "record 0 says"),
        ("", path("not.zst", b"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff"), "not.zst"),
        ("", scratch.path().join("missing"), "record --exact --stream"),
        ("", scratch.path().to_owned(), "record --exact --stream"),
    ] {
        let outcome = pagetide(&format!("curve {options} --json {}", path.display()));
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        outcome.fails(1, &[name, said]);
        assert_eq!((outcome.out.as_str(), outcome.err.lines().count()), ("", 1), "{outcome:?}");
    }
}

#[test]
fn a_cut_stream_is_named() {
    let scratch = scratch();
    let whole = stream(&scratch);
    let bytes = fs::read(&whole).unwrap();
    let cut = file(&scratch, "cut.stream", &bytes[..bytes.len() - 3]);
    pagetide(&format!("curve {}", cut.display())).fails(1, &["cut.stream", "it was cut"]);
}

#[test]
fn values_of_curve_that_make_no_sense_are_named_with_an_example() {
    let scratch = scratch();
    let path = rounds(&scratch);
    for (options, said) in [
        ("--sizes 0", "'0' is less than a page of 4.00 KiB"),
        ("--sizes 0p", "is not a whole number from 1 on"),
        ("--sizes 1000B", "'1000B' is less than a page"),
        ("--sizes 64", "'64' has no unit"),
        ("--sizes 1000000T", "too large"),
        ("--sizes -1G", "'-1G' is not an amount of memory"),
        ("--sample 0", "'0' is no sample"),
        ("--sample 1.5", "'1.5' is no sample"),
        ("--sample NaN", "'NaN' is no sample"),
        ("--sample 100%", "'100%' is no sample"),
        ("--sample -1", "'-1' is no sample"),
        ("--policy arc", "[possible values: lru, fifo, clock]"),
        ("--by line", "[possible values: object, page]"),
        ("--id-bytes 0", "is not a whole number from 1 on"),
        ("--all --sizes 1G", "cannot be used with"),
    ] {
        pagetide(&format!("curve {options} {}", path.display())).fails(2, &[said]);
    }
    let many = format!("curve --sample 500 {}", path.display());
    pagetide(&many).fails(1, &["works for lru alone, not for fifo", "give a share"]);
    let none = format!("curve --by object --id-bytes 512 {}", path.display());
    pagetide(&none).fails(1, &["--id-bytes", "--by object"]);
    let ours = stream(&scratch);
    for option in ["--by page", "--by object", "--id-bytes 64"] {
        let said = ["rounds.stream", "stream of pages", "for oracleGeneral"];
        pagetide(&format!("curve {option} {}", ours.display())).fails(1, &said);
    }
}

/// A pipe can be read as well as a file.
#[test]
fn a_pipe_is_read() {
    let scratch = scratch();
    let mut shell = std::process::Command::new("sh");
    shell.args([
        "-c",
        "cat \"$1\" | \"$0\" curve --json --sizes 1M /dev/stdin",
        crate::run::PAGETIDE,
    ]);
    shell.arg(rounds(&scratch));
    assert_eq!(misses(&finish(shell).succeeds().json()), [[100], [100], [100]]);
}
