//! Heat as CSV and as JSON lines.

use crate::common::{record, records, write};
use pagetide_trace::{Error, ExportFormat, Recording, export};
use pagetide_types::{AreaKind, HeatFlags, NodeId};
use std::io::{self, Write};

fn exported(path: &std::path::Path, format: ExportFormat) -> (u64, String) {
    let mut out = Vec::new();
    let rows = export(&Recording::open(path).unwrap(), format, &mut out).unwrap();
    (rows, String::from_utf8(out).unwrap())
}

#[test]
fn csv_has_a_line_of_names_and_one_line_per_unit_and_epoch() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut written = [record(0, 0, 1), record(1, 1, 1)];
    written[1].new_areas[0].kind = AreaKind::File;
    written[1].new_areas[0].name = "/srv/a,\"b\"".to_owned();
    written[1].heat.flags[1] = HeatFlags(0x7f).without(HeatFlags::UNSEEN);
    written[1].heat.node[1] = NodeId(3);
    // Measured in the second epoch alone, and not all of it.
    written[1].heat.traffic = vec![0.5, 16.0];
    written[1].heat.accesses = vec![3.0, 24.0];
    write(&path, &written, 1);
    let (rows, text) = exported(&path, ExportFormat::Csv);
    assert_eq!(rows, 3);
    let expected = "\
epoch,start_s,unit,object,address,kind,area,pid,rate,sampled,accessed,dirty,saturated,unseen,uncleared,huge,pages,watched,touched,node,traffic,accesses,leads,writes
0,0,0,0,8727373545472,anonymous,,17,0,1,1,0,0,0,0,0,512,64,3,0,,,,
1,5,0,0,8727373545472,anonymous,,17,0,1,1,0,0,0,0,0,512,64,3,0,0.5,3,,
1,5,1,0,8727375642624,file,\"/srv/a,\"\"b\"\"\",17,1,1,1,1,1,0,1,1,512,64,3,3,16,24,,
";
    assert_eq!(text, expected);
}

#[test]
fn json_lines_have_the_same_fields() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut written = records(3);
    for heat in written[1..].iter_mut().map(|record| &mut record.heat) {
        heat.traffic = heat.rate.clone();
        heat.accesses = heat.rate.iter().map(|rate| rate * 2.0).collect();
        heat.leads = vec![0.25; heat.len()];
        heat.writes = vec![0.0; heat.len()];
    }
    write(&path, &written, 2);
    let (rows, csv) = exported(&path, ExportFormat::Csv);
    let (json_rows, json) = exported(&path, ExportFormat::JsonLines);
    assert_eq!((rows, json_rows), (33, 33));
    let mut csv = csv.lines();
    let names: Vec<&str> = csv.next().unwrap().split(',').collect();
    for (line, object) in csv.zip(json.lines()) {
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        assert_eq!(object.as_object().unwrap().len(), names.len());
        for (name, field) in names.iter().zip(line.split(',')) {
            let same = match &object[*name] {
                serde_json::Value::Bool(value) => field == if *value { "1" } else { "0" },
                serde_json::Value::String(value) => field == value,
                serde_json::Value::Null => field.is_empty(),
                number => number.as_f64() == field.parse().ok() && number.is_number(),
            };
            assert!(same, "{name}: {field} in CSV, {} in JSON", object[*name]);
        }
    }
}

#[test]
fn units_without_an_area_have_empty_fields() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    let mut written = record(0, 0, 1);
    written.new_areas.clear();
    write(&path, &[written], 1);
    let (_, text) = exported(&path, ExportFormat::Csv);
    assert!(text.contains("\n0,0,0,0,8727373545472,,,0,0,1,"), "{text}");
}

#[test]
fn an_output_that_fails_is_told_apart_from_the_recording() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.heat");
    write(&path, &records(1), 1);
    let recording = Recording::open(&path).unwrap();
    for format in [ExportFormat::Csv, ExportFormat::JsonLines] {
        let error = export(&recording, format, &mut Closed).unwrap_err();
        assert!(
            matches!(&error, Error::Output(e) if e.kind() == io::ErrorKind::BrokenPipe),
            "{error:?}"
        );
    }
}

#[test]
fn formats_have_names() {
    assert_eq!("csv".parse(), Ok(ExportFormat::Csv));
    assert_eq!("jsonl".parse(), Ok(ExportFormat::JsonLines));
    assert!("xml".parse::<ExportFormat>().unwrap_err().contains("csv or jsonl"));
}
