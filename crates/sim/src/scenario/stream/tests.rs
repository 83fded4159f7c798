//! Streams as programs.

use super::{Streamed, Wanted};
use crate::scenario::spec::Repeat;
use crate::scenario::{Outcome, ScenarioError, parse, run};
use pagetide_access::patterns::Step;
use pagetide_access::{Access, Header, Kind, Page, StreamWriter};
use pagetide_types::{Bytes, ObjectId};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Two objects: pages far apart of the one, a page of the other between them.
const PAGES: [(u32, u64); 4] = [(0, 5000), (0, 5001), (7, 3), (0, 0)];
const GAP: u64 = 4000;

/// A stream: of each block the thread, its time in microseconds, and pages.
fn stream(folder: &TempDir, blocks: &[(u32, u64, &[u32])]) -> PathBuf {
    let header = Header {
        tool: "test".to_owned(),
        target: "a b".to_owned(),
        cache: Bytes(0),
        ways: 16,
        dilation: 1.0,
        facts: [].into(),
    };
    let mut writer = StreamWriter::new(Vec::new(), &header).unwrap();
    let pages = PAGES.map(|(object, number)| Page { object: ObjectId(object), number });
    writer.pages(&pages).unwrap();
    for (thread, time_us, pages) in blocks {
        let access = |page: &u32| Access { page: *page, line: 2, kind: Kind::Read, gap: GAP };
        let accesses: Vec<Access> = pages.iter().map(access).collect();
        writer.accesses(*thread, *time_us, &accesses).unwrap();
    }
    let path = folder.path().join("a.stream");
    fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

/// A trace in oracleGeneral of these objects.
fn oracle(objects: &[u64]) -> Vec<u8> {
    let record = |object: &u64| {
        let mut bytes = [0; 24];
        bytes[4..12].copy_from_slice(&object.to_le_bytes());
        bytes[12..16].copy_from_slice(&100u32.to_le_bytes());
        bytes[16..].copy_from_slice(&u64::MAX.to_le_bytes());
        bytes
    };
    objects.iter().flat_map(record).collect()
}

const SCENARIO: &str = r#"
seconds = 0.01
huge_pages = false
[system]
name = "no-migration"
[[tenant]]
name = "app"
fast_share = 1.0
stream = "FILE"
"#;

fn outcome(text: &str, path: &Path) -> Result<Outcome, ScenarioError> {
    let text = text.replace("FILE", path.to_str().unwrap());
    parse(&text, "x.toml").and_then(|scenario| run(&scenario, None, "x.toml"))
}

/// All steps of each thread, in pages of the tenant's memory.
fn places(path: &Path, huge: bool) -> (u64, Vec<Vec<u64>>) {
    let mut streamed = Streamed::open(path, Wanted { huge, repeat: None }).unwrap();
    let pages = |thread: &mut super::Thread| {
        let mut steps: Vec<Step> = Vec::new();
        thread.source.take(1000, Duration::ZERO, &mut steps);
        steps.iter().map(|step| step.offset >> 12).collect()
    };
    (streamed.pages, streamed.threads.iter_mut().map(pages).collect())
}

#[test]
fn pages_are_numbered_in_the_order_of_their_first_access_and_threads_keep_theirs() {
    let folder = TempDir::new().unwrap();
    let path = stream(&folder, &[(0, 5, &[3, 1]), (1, 9, &[0, 3]), (0, 11, &[0, 3])]);
    let (pages, threads) = places(&path, false);
    assert_eq!((pages, threads), (3, vec![vec![0, 1, 2, 0], vec![2, 0]]), "page 2 has no access");
}

#[test]
fn with_huge_pages_blocks_of_2_mib_stay_together() {
    let folder = TempDir::new().unwrap();
    let path = stream(&folder, &[(0, 0, &[1, 2, 3, 0])]);
    let (pages, threads) = places(&path, true);
    let at = 5000 % 512;
    assert_eq!(threads, [[at + 1, 512 + 3, 1024, at]]);
    assert_eq!(pages, 3 * 512);
}

#[test]
fn a_stream_ends_where_it_ends_or_begins_again_and_its_gaps_take_time() {
    let folder = TempDir::new().unwrap();
    let path = stream(&folder, &[(0, 0, &[0, 1, 2]), (1, 500, &[3, 3]), (0, 900, &[0])]);
    let once = outcome(SCENARIO, &path).unwrap();
    let tenant = &once.tenants[0];
    assert_eq!((tenant.accesses, tenant.fast_share), (6, 1.0));
    // Thread 1 begins after 500 us; each gap takes 1 us, and so does the first touch of a page.
    let right = 500e-6 + 3e-6;
    assert!((tenant.ended_s.unwrap() - right).abs() < 0.2e-6, "{tenant:?}");
    let populated = outcome(&format!("{SCENARIO}populate = true\n"), &path).unwrap();
    let right = 500e-6 + 2e-6;
    assert!((populated.tenants[0].ended_s.unwrap() - right).abs() < 0.2e-6, "{populated:?}");
    let slower = outcome(&format!("{SCENARIO}instruction_ns = 2.5\n"), &path).unwrap();
    let right = 500e-6 + 21e-6;
    assert!((slower.tenants[0].ended_s.unwrap() - right).abs() < 0.2e-6, "{slower:?}");
    let again = outcome(&format!("{SCENARIO}repeat = true\n"), &path).unwrap();
    assert_eq!(again.tenants[0].ended_s, None);
    // 10 ms of one thread and 9.5 ms of the other, an access every us.
    assert!((19_400..19_520).contains(&again.tenants[0].accesses), "{again:?}");
    let thrice = outcome(&format!("{SCENARIO}repeat = 3\n"), &path).unwrap();
    assert_eq!(thrice.tenants[0].accesses, 18);
    // Each access takes 1 us, and so does the first touch of a page.
    let right = 500e-6 + 7e-6;
    assert!((thrice.tenants[0].ended_s.unwrap() - right).abs() < 0.2e-6, "{thrice:?}");
}

#[test]
fn of_oracle_general_objects_are_pages_compressed_or_not() {
    let folder = TempDir::new().unwrap();
    let objects: Vec<u64> = (0..10_000).map(|i| i * i % 701 * 977).collect();
    let (plain, packed) = (folder.path().join("plain"), folder.path().join("packed"));
    fs::write(&plain, oracle(&objects)).unwrap();
    fs::write(&packed, zstd::encode_all(&*oracle(&objects), 1).unwrap()).unwrap();
    let found = places(&plain, true);
    let mut seen: Vec<u64> = Vec::new();
    let number = |object: &u64| {
        let known = seen.iter().position(|known| known == object).unwrap_or_else(|| {
            seen.push(*object);
            seen.len() - 1
        });
        known as u64
    };
    let numbers: Vec<u64> = objects.iter().take(1000).map(number).collect();
    assert_eq!(found.1[0], numbers);
    assert_eq!(found, places(&packed, true));
    let outcomes = [&plain, &packed].map(|path| outcome(SCENARIO, path).unwrap());
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0].tenants[0].accesses, 10_000);
    let again = outcome(&format!("{SCENARIO}repeat = true\n"), &packed).unwrap();
    assert!(again.tenants[0].accesses > 100_000, "{again:?}");
    let twice = outcome(&format!("{SCENARIO}repeat = 2\n"), &packed).unwrap();
    assert_eq!(twice.tenants[0].accesses, 20_000);
}

#[test]
fn what_is_wrong_is_said_before_anything_is_simulated() {
    let folder = TempDir::new().unwrap();
    let path = stream(&folder, &[(0, 0, &[0])]);
    let said = |text: &str, path: &Path| outcome(text, path).unwrap_err().to_string();
    for (more, part) in [
        ("pattern = { kind = \"uniform\" }", "give a pattern or a stream, one of them"),
        ("threads = 2", "threads: a stream has its own"),
        ("memory = \"0\"", "less than a page"),
        ("memory = \"8T\"\nreapet = true", "did you mean 'repeat'?"),
        ("repeat = 0", "repeat must be true, or how often the stream is made"),
        ("instruction_ns = -1.0", "instruction_ns must be"),
    ] {
        let error = said(&format!("{SCENARIO}{more}\n"), &path);
        assert!(error.contains(part) && error.contains("x.toml"), "{more}: {error}");
    }
    let error = said(&SCENARIO.replace("seconds", "scale = 10\nseconds"), &path);
    assert!(error.contains("cannot be scaled"), "{error}");
    let huge = SCENARIO.replace("false", "true") + "memory = \"4K\"\n";
    let error = said(&huge, &path);
    assert!(error.contains("its stream touches 2.00 MiB"), "{error}");
    let without = SCENARIO.replace("stream = \"FILE\"", "");
    assert!(said(&without, &path).contains("give a pattern or a stream"));
    let pattern = without.clone() + "pattern = { kind = \"uniform\" }\n";
    assert!(said(&pattern, &path).contains("memory is missing"));
    let pattern = pattern + "memory = \"1M\"\n";
    assert!(said(&(pattern.clone() + "repeat = true\n"), &path).contains("has no end"));
    assert!(said(&(pattern + "instruction_ns = 1.0\n"), &path).contains("compute_ns"));

    let bytes = fs::read(&path).unwrap();
    let bad = folder.path().join("bad");
    for (bytes, part) in [
        (bytes[..bytes.len() - 30].to_vec(), "it was cut"),
        (zstd::encode_all(&*bytes, 1).unwrap(), "zstd -d"),
        (Vec::new(), "it is empty"),
        (oracle(&[1, 2])[..30].to_vec(), "record 1 has 6 of its 24 bytes"),
        (fs::read(stream(&folder, &[])).unwrap(), "no access"),
        (fs::read(stream(&folder, &[(4096, 0, &[0])])).unwrap(), "thread 4096: at most 4096"),
    ] {
        fs::write(&bad, bytes).unwrap();
        let error = said(SCENARIO, &bad);
        let place = format!("x.toml: tenant 'app': {}: ", bad.display());
        assert!(error.starts_with(&place) && error.contains(part), "{part}: {error}");
    }
    assert!(said(SCENARIO, folder.path()).contains("it is no file"));
    // Not opened: nobody will ever write into it.
    let fifo = folder.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(said(SCENARIO, &fifo).contains("it is no file"));
    assert!(said(SCENARIO, Path::new("/no/such")).contains("/no/such: No such file"));
}

#[test]
fn damage_that_comes_while_it_runs_ends_its_threads_and_is_told() {
    let folder = TempDir::new().unwrap();
    let path = stream(&folder, &[(0, 0, &[0, 1]), (1, 0, &[2]), (0, 1, &[3])]);
    let wanted = Wanted { huge: false, repeat: Some(Repeat::Always(true)) };
    let mut streamed = Streamed::open(&path, wanted).unwrap();
    let mut take = |thread: usize, n: u32| {
        let mut steps = Vec::new();
        streamed.threads[thread].source.take(n, Duration::ZERO, &mut steps);
        steps.len()
    };
    assert_eq!(take(0, 2), 2);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 40;
    bytes[last..].fill(0xff);
    fs::write(&path, bytes).unwrap();
    assert_eq!((take(0, 5), take(0, 5), take(1, 5)), (0, 0, 0));
    let said = streamed.failure.take().unwrap().to_string();
    assert!(said.starts_with("the block at byte "), "{said}");

    let path = folder.path().join("trace");
    fs::write(&path, oracle(&[1, 2, 3])).unwrap();
    let mut streamed = Streamed::open(&path, wanted).unwrap();
    fs::write(&path, oracle(&[1, 2, 9])).unwrap();
    let mut steps = Vec::new();
    streamed.threads[0].source.take(5, Duration::ZERO, &mut steps);
    assert_eq!(steps, []);
    let said = streamed.failure.take().unwrap().to_string();
    assert!(said.contains("changed while it was simulated (a new object at record 0"), "{said}");
}
