//! Parsing a memory map of 10,000 areas: ours against the procfs crate, on the same text.
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

use criterion::{Criterion, criterion_group, criterion_main};
use pagetide_host::{Host, Maps};
use pagetide_types::Pid;
use procfs::{FromBufRead, process::MemoryMaps};
use std::{fmt::Write, fs, hint::black_box};

fn text(areas: u64) -> String {
    let mut text = String::new();
    for i in 0..areas {
        let start = 0x7f00_0000_0000 + i * 0x4000;
        let name = if i % 3 == 0 { "/usr/lib/x86_64-linux-gnu/libc.so.6" } else { "" };
        let head = format!("{start:x}-{:x} rw-p 00000000 fe:00 {} ", start + 0x3000, i % 3);
        writeln!(text, "{head:<73}{name}").unwrap();
    }
    text
}

fn maps(c: &mut Criterion) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("proc/1")).unwrap();
    let path = root.path().join("proc/1/maps");
    fs::write(&path, text(10_000)).unwrap();
    let host = Host::new(root.path());
    let mut group = c.benchmark_group("maps-10000-areas");
    let mut storage = Maps::new();
    group.bench_function("pagetide", |b| {
        b.iter(|| {
            host.read_maps(Pid(1), &mut storage).unwrap();
            black_box(storage.areas().len())
        });
    });
    group.bench_function("procfs", |b| {
        b.iter(|| {
            let bytes = fs::read(&path).unwrap();
            black_box(MemoryMaps::from_buf_read(&bytes[..]).unwrap().0.len())
        });
    });
    group.finish();
}

criterion_group!(benches, maps);
criterion_main!(benches);
