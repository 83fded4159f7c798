//! Whose memory it is.

use crate::common::{header, row};
use pagetide_trace::{
    Area, Epoch, EpochRecord, ProcessUse, Recording, RecordingWriter, by_process,
};
use pagetide_types::{AreaKind, Bytes, EpochHeat, EpochId, ObjectId, Pid, UnitKey};

/// Two processes with private memory of 4 and 2 units, a buffer of 3 that both map, a library.
fn server(directory: &tempfile::TempDir) -> Recording {
    let area = |object, units, kind, name: &str, pid| Area {
        object: ObjectId(object),
        first: 0,
        end: units,
        kind,
        name: name.to_owned(),
        pid: Pid(pid),
        command: "postgres".to_owned(),
        since: EpochId(0),
        mapped: None,
    };
    let new_areas = vec![
        area(0, 4, AreaKind::Heap, "[heap]", 100),
        area(1, 2, AreaKind::Heap, "[heap]", 101),
        area(2, 3, AreaKind::Shared, "/dev/zero", 100),
        area(3, 1, AreaKind::File, "/usr/lib/libc.so.6", 100),
        // A library's data, copied: private memory, for the process has other private memory.
        area(1, 1, AreaKind::File, "/usr/lib/libc.so.6", 101),
    ];
    let new_units: Vec<UnitKey> = [(0, 4), (1, 2), (2, 3), (3, 1)]
        .into_iter()
        .flat_map(|(object, units)| {
            (0..units).map(move |index| UnitKey { object: ObjectId(object), index })
        })
        .collect();
    let mut heat = EpochHeat::new(EpochId(0));
    // The buffer is hot: of 100 accesses per second 90 go to its first two units.
    for (unit, rate) in (0u32..).zip([1.0, 1.0, 1.0, 0.0, 3.0, 1.0, 60.0, 30.0, 1.0, 2.0]) {
        heat.push(row(unit, rate));
    }
    let epoch = Epoch { length_s: 5.0, processes: 2, ..Epoch::default() };
    let path = directory.path().join("pg.heat");
    let mut writer = RecordingWriter::create(&path, &header(), None).unwrap();
    writer.append(EpochRecord { epoch, new_units, new_areas, heat }).unwrap();
    writer.finish().unwrap();
    Recording::open(path).unwrap()
}

#[test]
fn private_memory_is_its_processes_and_shared_memory_nobodys_alone() {
    let directory = tempfile::tempdir().unwrap();
    let found = by_process(&server(&directory)).unwrap();
    let of = |pid, name: &str, units: u64, accesses_per_s, hot: u64| ProcessUse {
        pid,
        name: name.to_owned(),
        bytes: Bytes::mib(2 * units),
        accesses_per_s,
        share_of_accesses: accesses_per_s / 100.0,
        hot_bytes: Bytes::mib(2 * hot),
    };
    assert_eq!(
        found.processes,
        [
            of(Some(100), "postgres", 4, 3.0, 0),
            of(None, "shared memory", 3, 91.0, 2),
            of(Some(101), "postgres", 2, 4.0, 0),
            of(None, "files", 1, 2.0, 0),
        ]
    );
    assert_eq!((found.seconds, found.hot_share), (5.0, 0.9));
}
