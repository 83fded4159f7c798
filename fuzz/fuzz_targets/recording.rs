//! Recordings: one file of a small one is replaced by the input (its first byte says which), and all
//! of it is read, summed up and planned for, as `pagetide plan` does.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pagetide_machine::Machine;
use pagetide_replay::{PlanOptions, plan_recording};
use pagetide_trace::{Area, Epoch, EpochRecord, Header, Recording, RecordingWriter, Source};
use pagetide_types::{
    AreaKind, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId, UnitKey,
    UnitSize, acts,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const FILES: [&str; 6] = [
    "recording.json",
    "end.json",
    "epochs-00000.parquet",
    "areas-00000.parquet",
    "units-00000.parquet",
    "heat-00000.parquet",
];

/// A recording that is whole, and the bytes of its files.
struct Whole {
    path: PathBuf,
    files: Vec<Vec<u8>>,
    _folder: tempfile::TempDir,
}

fn whole() -> &'static Whole {
    static WHOLE: OnceLock<Whole> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.heat");
        write(&path);
        fs::remove_file(path.join("sums-00000.json")).expect("sums");
        let files: Vec<Vec<u8>> = FILES.iter().map(|name| fs::read(path.join(name)).expect("a file")).collect();
        if let Some(seeds) = std::env::var_os("SEEDS") {
            // What fuzz/corpus/recording was made of: SEEDS=fuzz/corpus/recording.
            for (i, file) in (0u8..).zip(&files) {
                let seed = [&[i][..], file].concat();
                fs::write(Path::new(&seeds).join(FILES[usize::from(i)]), seed).expect("a seed");
            }
        }
        Whole { path, files, _folder: folder }
    })
}

fn write(path: &Path) {
    let header = Header {
        schema_version: pagetide_trace::SCHEMA_VERSION,
        tool: "fuzz".into(),
        started_unix_s: 1,
        target: "program".into(),
        unit: UnitSize::Huge,
        epoch_s: 5.0,
        gaps_s: vec![0.1],
        budget: 0.01,
        source: Source::Sampled,
        began_with_target: false,
        cache_per_core: None,
        machine: [("kernel".to_owned(), "6.12".to_owned())].into(),
    };
    let mut writer =
        RecordingWriter::create(path, &header, None).expect("a recording").with_span(99, usize::MAX);
    for number in 0..12u32 {
        let mut heat = EpochHeat::new(EpochId(number));
        for unit in 0..9 {
            heat.push(HeatRow {
                unit: UnitId(unit),
                rate: 1000.0 / (unit as f32 + 1.0),
                flags: HeatFlags::SAMPLED | HeatFlags::ACCESSED,
                pages: 512,
                watched: 512,
                touched: 9,
                node: NodeId(0),
            });
        }
        let first = number == 0;
        let area = Area {
            object: ObjectId(0),
            first: 0,
            end: 9,
            kind: AreaKind::Heap,
            name: "[heap]".into(),
            pid: Pid(7),
            command: "program".into(),
            since: EpochId(0),
            mapped: Some(true),
        };
        let key = |index| UnitKey { object: ObjectId(0), index };
        let epoch = Epoch {
            epoch: EpochId(number),
            start_s: f64::from(number) * 5.0,
            length_s: 5.0,
            processes: 1,
            target_cpu_s: 5.0,
            watched_share: 1.0,
            ..Epoch::default()
        };
        let record = EpochRecord {
            epoch,
            new_units: if first { (0..9).map(key).collect() } else { Vec::new() },
            new_areas: if first { vec![area] } else { Vec::new() },
            heat,
        };
        writer.append(record).expect("an epoch");
    }
    writer.finish().expect("the end");
}

fuzz_target!(|data: &[u8]| {
    let Some((which, bytes)) = data.split_first() else { return };
    let whole = whole();
    let which = usize::from(*which) % FILES.len();
    let file = whole.path.join(FILES[which]);
    fs::write(&file, bytes).expect("writing");
    look(&whole.path);
    fs::write(&file, &whole.files[which]).expect("writing");
});

fn look(path: &Path) {
    let Ok(recording) = Recording::open(path) else { return };
    assert!(!recording.header().target.chars().any(acts));
    let _ = pagetide_trace::info(&recording);
    let _ = recording.units();
    let _ = recording.areas();
    let _ = pagetide_trace::export(&recording, pagetide_trace::ExportFormat::Csv, &mut std::io::sink());
    let _ = pagetide_trace::diff(&recording, &recording);
    let _ = pagetide_trace::by_process(&recording);
    let _ = recording.clone().within(Some(1.0), None).map(|part| part.records().count());
    let machine = Machine::load(Machine::DEFAULT).expect("a machine");
    let policies = ["rate", "lru", "first-touch"].map(|name| name.parse().expect("a policy"));
    let _ = plan_recording(&recording, &policies, &machine, &PlanOptions::default());
}
