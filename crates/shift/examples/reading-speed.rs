//! How fast an empty device is read whole, beside read(2) and memcpy: a sparse-free file of zeros in memory.
//! `cargo run --release -p pagetide-shift --example reading-speed -- /dev/shm 1G`
#![expect(clippy::unwrap_used, reason = "a measurement that fails may stop")]

use pagetide_types::Bytes;
use std::{
    fs::File,
    hint::black_box,
    io::{Read, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

/// Each is done so often; the shortest time counts.
const ROUNDS: u32 = 5;

fn main() {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().unwrap_or_else(|| "/dev/shm".into()));
    let size: Bytes = words.next().map_or(Bytes::mib(512), |text| text.parse().unwrap());
    let path = folder.join(format!("reading-speed.{}", std::process::id()));
    let zeros = vec![0_u8; 2 << 20];
    let mut file = File::create_new(&path).unwrap();
    for _ in 0..size.0 / zeros.len() as u64 {
        file.write_all(&zeros).unwrap();
    }
    let name = path.to_str().unwrap();
    let parent = std::os::unix::process::parent_id().to_string();
    for threads in [1, 2, 4] {
        let words = [&parent, "first-nonzero", name, &size.0.to_string(), &threads.to_string()];
        let words = words.map(str::to_owned);
        report(&format!("looked at, {threads} threads"), size, || {
            assert_eq!(pagetide_shift::helper(&words), "done");
        });
    }
    let words = [&parent, "zero", "0", "1000000", name, &size.0.to_string()].map(str::to_owned);
    report("cleared", size, || {
        assert_eq!(pagetide_shift::helper(&words), format!("done {}", size.0));
    });
    let mut buffer = vec![0_u8; 2 << 20];
    report("read(2) in pieces of 2 MiB", size, || {
        let mut file = File::open(&path).unwrap();
        while file.read(&mut buffer).unwrap() > 0 {
            black_box(&buffer);
        }
    });
    let from = vec![1_u8; usize::try_from(size.0).unwrap()];
    let mut to = vec![2_u8; from.len()];
    report("memcpy", size, || {
        to.copy_from_slice(black_box(&from));
        black_box(&to);
    });
    report("memory read", size, || {
        let (words, _) = from.as_chunks::<8>();
        black_box(words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word)));
    });
    std::fs::remove_file(&path).unwrap();
}

fn report(what: &str, size: Bytes, mut act: impl FnMut()) {
    let time = |act: &mut dyn FnMut()| {
        let since = Instant::now();
        act();
        since.elapsed()
    };
    let best: Duration = (0..ROUNDS).map(|_| time(&mut act)).min().unwrap();
    println!("{what:28} {:6.2} GB/s", size.as_f64() / best.as_secs_f64() / 1e9);
}
