//! Counts of a program whose accesses are known, in QEMU; skipped aloud where QEMU or gcc is
//! missing.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use pagetide_access::{Access, Block, Header, Kind, Page, StreamReader, StreamWriter};
use pagetide_exact::{CacheModel, Emulator, End, ExactError, Options, Out, Recorder};
use pagetide_host::Host;
use pagetide_trace::{Area, EpochRecord};
use pagetide_types::{AreaKind, Bytes, ObjectId, UnitSize};
use std::{
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use tempfile::TempDir;

/// Lines of the memory that the program works on, and its size.
const LINES: f64 = (32 << 20) as f64 / 64.0;

/// What it takes to run the program.
struct Known {
    emulator: Emulator,
    program: PathBuf,
    folder: TempDir,
    epoch: Duration,
}

/// What was counted of one object, or of all.
#[derive(Debug, Default)]
struct Sums {
    accesses: f64,
    misses: f64,
    leads: f64,
    writes: f64,
}

/// None where it cannot run here, which was said.
fn known(test: &str) -> Option<Known> {
    let emulator = match Emulator::find() {
        Ok(emulator) => emulator,
        Err(error @ ExactError::NoEmulator) => {
            pagetide_testing::skip(test, &error.to_string());
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("known");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exact/known.c");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-pthread", "-o"]).arg(&program).arg(source);
    assert!(gcc.status().unwrap().success());
    Some(Known { emulator, program, folder, epoch: Duration::from_secs(3600) })
}

impl Known {
    /// In epochs of 100 ms. All in one epoch otherwise: the first is never dropped, however short.
    fn in_epochs(self) -> Self {
        Self { epoch: Duration::from_millis(100), ..self }
    }

    fn record(
        &self,
        arguments: &[&str],
        unit: UnitSize,
        cache: Bytes,
        stream: Option<&Path>,
    ) -> Vec<EpochRecord> {
        let cache = CacheModel::new(cache, 16).unwrap();
        let options = Options {
            epoch: self.epoch,
            unit,
            limit: None,
            output_aside: true,
            cache,
            dilation: 5.0,
        };
        let header = Header {
            tool: "test".to_owned(),
            target: String::new(),
            cache: cache.size(),
            ways: cache.ways(),
            dilation: 5.0,
            facts: [].into(),
        };
        let writer = stream.map(|path| {
            let out: Out = Box::new(File::create(path).unwrap());
            StreamWriter::new(out, &header).unwrap()
        });
        let mut words: Vec<OsString> = vec![self.program.clone().into()];
        words.extend(arguments.iter().map(OsString::from));
        let mut recorder =
            Recorder::start(&self.emulator, Host::live(), &words, options, writer).unwrap();
        let mut records = Vec::new();
        let end = loop {
            let (record, end) = recorder.epoch(&|| false).unwrap();
            records.extend(record);
            if let Some(end) = end {
                break end;
            }
        };
        recorder.finish().unwrap();
        assert_eq!(recorder.uncounted(), Default::default());
        let End::TargetEnded(Some(status)) = end else { panic!("{end:?}") };
        assert_eq!(status.code(), Some(7));
        records
    }
}

/// Counts of all units that `wanted` wants, by object.
fn sums(records: &[EpochRecord], wanted: impl Fn(ObjectId) -> bool) -> Sums {
    let units: Vec<_> = records.iter().flat_map(|record| &record.new_units).collect();
    let mut sums = Sums::default();
    for record in records {
        let (heat, seconds) = (&record.heat, record.epoch.length_s);
        for (i, unit) in heat.unit.iter().enumerate() {
            if wanted(units[unit.index()].object) {
                sums.accesses += f64::from(heat.accesses[i]) * seconds;
                sums.misses += f64::from(heat.traffic[i]) * seconds;
                sums.leads += f64::from(heat.leads[i]) * seconds;
                sums.writes += f64::from(heat.writes[i]) * seconds;
            }
        }
    }
    sums
}

/// The shared memory that the program maps.
fn shared(records: &[EpochRecord]) -> ObjectId {
    let mut objects =
        areas(records).filter(|area| area.kind == AreaKind::Shared).map(|area| area.object);
    let first = objects.next().unwrap();
    assert!(objects.all(|object| object == first));
    first
}

fn areas(records: &[EpochRecord]) -> impl Iterator<Item = &Area> {
    records.iter().flat_map(|record| &record.new_areas)
}

/// Rates are 32-bit floats, and a program has a start and an end.
fn about(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.01, "{value} where {expected} was expected");
}

const CACHE: Bytes = Bytes::mib(2);
/// Lines that the cache holds: what is still in it at the end is not written back.
const CACHED: f64 = (2 << 20) as f64 / 64.0;

#[test]
fn a_pass_in_order_misses_once_per_line_and_never_leads() {
    let Some(known) = known("a_pass_in_order_misses_once_per_line_and_never_leads") else { return };
    let records = known.record(&["stores"], UnitSize::Huge, CACHE, None);
    let sums = sums(&records, |_| true);
    about(sums.misses, 10.0 * LINES);
    about(sums.writes, 10.0 * LINES - CACHED);
    assert!(sums.leads < 5000.0 && sums.accesses >= sums.misses, "{sums:?}");
    assert!(areas(&records).any(|area| area.kind == AreaKind::Stack), "the stack is known");
}

#[test]
fn scattered_misses_lead_and_reads_write_nothing() {
    let Some(known) = known("scattered_misses_lead_and_reads_write_nothing") else { return };
    let records = known.record(&["scattered"], UnitSize::Base, CACHE, None);
    let sums = sums(&records, |_| true);
    about(sums.misses, 10.0 * LINES);
    about(sums.leads, 10.0 * LINES);
    assert!(sums.writes < 5000.0, "{sums:?}");
    let last = records.last().unwrap();
    assert!(last.heat.pages.iter().all(|pages| *pages == 1));
    assert!(last.heat.len() >= 32 << 8, "a page is a unit");
}

#[test]
fn what_fits_into_the_cache_misses_once() {
    let Some(known) = known("what_fits_into_the_cache_misses_once") else { return };
    let fits = known.record(&["small"], UnitSize::Huge, CACHE, None);
    let fits = sums(&fits, |_| true);
    assert!((4096.0..4096.0 + 5000.0).contains(&fits.misses), "{fits:?}");
    assert!(fits.accesses > 409_600.0, "{fits:?}");
    let without = known.record(&["small"], UnitSize::Huge, Bytes(0), None);
    let without = sums(&without, |_| true);
    about(without.misses, without.accesses);
    assert!(without.accesses > 409_600.0, "{without:?}");
}

#[test]
fn an_access_to_two_lines_misses_twice() {
    let Some(known) = known("an_access_to_two_lines_misses_twice") else { return };
    let sums = sums(&known.record(&["split"], UnitSize::Huge, CACHE, None), |_| true);
    about(sums.misses, LINES);
}

#[test]
fn forks_go_on_and_share_what_they_map() {
    let Some(known) = known("forks_go_on_and_share_what_they_map") else { return };
    let records = known.record(&["fork"], UnitSize::Huge, CACHE, None);
    let shared = shared(&records);
    let sums = sums(&records, |object| object == shared);
    about(sums.misses, 16.0 * LINES);
    // Those that read had not written it: what the others left dirty is not theirs.
    about(sums.writes, LINES - CACHED);
}

#[test]
fn what_is_only_read_is_never_written() {
    let Some(known) = known("what_is_only_read_is_never_written") else { return };
    let records = known.record(&["reads"], UnitSize::Huge, CACHE, None);
    let shared = shared(&records);
    let sums = sums(&records, |object| object == shared);
    about(sums.misses, 4.0 * LINES);
    assert_eq!(sums.writes, 0.0);
}

#[test]
fn what_is_read_and_then_stored_to_is_written_back() {
    let Some(known) = known("what_is_read_and_then_stored_to_is_written_back") else { return };
    let path = known.folder.path().join("stream");
    for stream in [None, Some(path.as_path())] {
        let records = known.record(&["increments"], UnitSize::Huge, CACHE, stream);
        let shared = shared(&records);
        let sums = sums(&records, |object| object == shared);
        about(sums.misses, 4.0 * LINES);
        about(sums.writes, 4.0 * LINES - CACHED);
        assert!((0.98..1.0).contains(&(sums.writes / (4.0 * LINES))), "{sums:?}");
        let Some(path) = stream else { continue };
        // Record by record what the column counts; all of it begins as a load.
        let of = |kind| of_object(path, shared, kind) as f64;
        assert_eq!(of(Kind::WriteBack), sums.writes.round());
        assert_eq!((of(Kind::Read), of(Kind::Write)), (sums.misses.round(), 0.0));
    }
    let records = known.record(&["increments"], UnitSize::Huge, Bytes(0), None);
    let shared = shared(&records);
    let sums = sums(&records, |object| object == shared);
    // Without caches every store is a write.
    about(sums.writes, 4.0 * 8.0 * LINES);
    about(sums.misses, 2.0 * 4.0 * 8.0 * LINES);
}

#[test]
fn a_line_is_written_back_when_it_goes() {
    let Some(known) = known("a_line_is_written_back_when_it_goes") else { return };
    let records = known.in_epochs().record(&["later"], UnitSize::Base, CACHE, None);
    let shared = shared(&records);
    about(sums(&records, |object| object == shared).writes, LINES / 32.0);
    // Its page was not accessed in that epoch.
    let units: Vec<_> = records.iter().flat_map(|record| &record.new_units).collect();
    let late: f64 = records.iter().fold(0.0, |sum, record| {
        let heat = &record.heat;
        let of = |i: &usize| units[heat.unit[*i].index()].object == shared && heat.touched[*i] == 0;
        let rates = (0..heat.len()).filter(of).map(|i| f64::from(heat.writes[i]));
        sum + rates.sum::<f64>() * record.epoch.length_s
    });
    about(late, LINES / 32.0);
}

#[test]
fn every_thread_has_a_cache_and_is_counted() {
    let Some(known) = known("every_thread_has_a_cache_and_is_counted") else { return };
    let records = known.record(&["threads"], UnitSize::Huge, CACHE, None);
    about(sums(&records, |_| true).misses, 15.0 * LINES);
}

#[test]
fn memory_that_is_given_back_is_not_resident() {
    let Some(known) = known("memory_that_is_given_back_is_not_resident") else { return };
    let records = known.in_epochs().record(&["unmap"], UnitSize::Huge, CACHE, None);
    // In the epoch in which it went it is still there.
    let most = records.iter().map(|record| record.heat.resident()).max().unwrap();
    let last = records.last().unwrap().heat.resident();
    assert!((Bytes::mib(16)..Bytes::mib(20)).contains(&last), "{last} of {most}");
}

#[test]
fn programs_that_are_executed_are_counted() {
    let Some(known) = known("programs_that_are_executed_are_counted") else { return };
    let program = known.program.to_str().unwrap().to_owned();
    let records = known.record(&["execute", &program, "stores"], UnitSize::Huge, CACHE, None);
    about(sums(&records, |_| true).misses, 10.0 * LINES);
    let script = known.folder.path().join("script");
    std::fs::write(&script, format!("#!/bin/sh\nexec {program} $1\n")).unwrap();
    Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let script = script.to_str().unwrap();
    let records = known.record(&["execute", script, "stores"], UnitSize::Huge, CACHE, None);
    about(sums(&records, |_| true).misses, 10.0 * LINES);
}

/// Pages and accesses of a stream.
fn read(path: &Path) -> (Vec<Page>, Vec<Access>) {
    let (mut pages, mut all) = (Vec::new(), Vec::new());
    for block in StreamReader::new(std::io::BufReader::new(File::open(path).unwrap())).unwrap() {
        match block.unwrap() {
            Block::Pages(new) => pages.extend(new),
            Block::Accesses { accesses, .. } => all.extend(accesses),
        }
    }
    (pages, all)
}

/// Records of this kind of an object.
fn of_object(path: &Path, object: ObjectId, kind: Kind) -> usize {
    let (pages, all) = read(path);
    let is = |access: &&Access| access.kind == kind && pages[access.page as usize].object == object;
    all.iter().filter(is).count()
}

#[test]
fn a_stream_holds_what_was_counted() {
    let Some(known) = known("a_stream_holds_what_was_counted") else { return };
    let path = known.folder.path().join("stream");
    let records = known.record(&["stores"], UnitSize::Huge, CACHE, Some(&path));
    let counted = sums(&records, |_| true);
    let (pages, all) = read(&path);
    let of = |kind| all.iter().filter(|access| access.kind == kind).count() as f64;
    about(of(Kind::Read) + of(Kind::Write), counted.misses);
    about(of(Kind::Write), 10.0 * LINES);
    // All that is not in the caches at the end was written back.
    about(of(Kind::WriteBack), 10.0 * LINES - CACHED);
    assert!(pages.len() >= 32 << 8, "{}", pages.len());
    // The loop has a handful of instructions per line.
    let gaps: f64 = all.iter().map(|access| access.gap as f64).sum();
    assert!((2.0..10.0).contains(&(gaps / (10.0 * LINES))), "{gaps}");
}
