//! How loads that miss wait beside each other (`lab/meter/overlap.h`), held against a CPU that is followed instruction by
//! instruction.

use std::{
    fmt::Write,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

/// Instructions that wait to retire, and lines on their way.
const WINDOW: usize = 256;
const AT_ONCE: usize = 16;
const PER_NS: u64 = 14;
const FAST_NS: u64 = 100;
const SLOW_NS: u64 = 250;

/// A load that misses, after so many instructions.
struct Load {
    ran: u64,
    address: u64,
    value: u64,
    latency_ns: u64,
}

/// When the last of `loads` was let in, ns: as the meter has it.
#[expect(clippy::unwrap_used, clippy::expect_used, reason = "a test's own program")]
fn as_the_meter_has_it(loads: &[Load]) -> f64 {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("loads");
    let built = Command::new("gcc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("meter"))
        .arg(here.join("tests/overlap/loads.c"))
        .arg("-o")
        .arg(&program)
        .status()
        .expect("gcc, as the meter needs");
    assert!(built.success());
    let mut lines = String::new();
    for load in loads {
        writeln!(lines, "{} {} {} {}", load.ran, load.address, load.value, load.latency_ns)
            .unwrap();
    }
    let mut run = Command::new(program)
        .arg(PER_NS.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    run.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    String::from_utf8(run.wait_with_output().unwrap().stdout).unwrap().trim().parse().unwrap()
}

/// The same, of a CPU that lets an instruction in when that `WINDOW` before it has retired, and retires in order. Each load
/// takes the fill buffer that is free first; with `chained`, it needs what the one before it brings.
#[expect(clippy::unwrap_used, reason = "there are buffers")]
fn instruction_by_instruction(loads: &[Load], chained: bool) -> f64 {
    let mut retired = [0.0_f64; WINDOW];
    let mut buffers = [0.0_f64; AT_ONCE];
    let (mut let_in, mut retires, mut arrived) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut loads = loads.iter().peekable();
    let mut ran = 0_usize;
    loop {
        let oldest = &mut retired[ran % WINDOW];
        let_in = (let_in + 1.0 / PER_NS as f64).max(*oldest);
        if let Some(load) = loads.next_if(|load| load.ran == ran as u64) {
            let buffer = buffers.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            let needs = if chained { arrived } else { 0.0 };
            arrived = let_in.max(*buffer).max(needs) + load.latency_ns as f64;
            *buffer = arrived;
            retires = retires.max(arrived);
            if loads.peek().is_none() {
                return let_in;
            }
        }
        retires = retires.max(let_in);
        *oldest = retires;
        ran += 1;
    }
}

/// 10,000 loads, one in `each` instructions, of which `slow_percent` are slow; far from what others bring, or each where the
/// one before it points to.
fn loads(each: u64, slow_percent: u64, chained: bool) -> Vec<Load> {
    let mut random = 1_u64;
    let mut value = 0;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        random >> 33
    };
    (1..=10_000)
        .map(|n| {
            let address = if chained { value } else { next() << 20 };
            value = 1 << 60 | next() << 20;
            let latency_ns = if next() % 100 < slow_percent { SLOW_NS } else { FAST_NS };
            Load { ran: n * each, address, value, latency_ns }
        })
        .collect()
}

fn ns_a_load(time: f64) -> f64 {
    time / 10_000.0
}

#[test]
fn loads_wait_as_on_a_cpu_that_retires_in_order() {
    for each in [5, 13, 21, 51, 130, 1_000] {
        for slow_percent in [0, 2, 30, 80, 100] {
            let loads = loads(each, slow_percent, false);
            let here = ns_a_load(as_the_meter_has_it(&loads));
            let there = ns_a_load(instruction_by_instruction(&loads, false));
            assert!(
                (here / there - 1.0).abs() < 0.03,
                "one in {each}, {slow_percent} % slow: {here} ns, {there} by instructions"
            );
        }
    }
}

#[test]
fn a_load_that_needs_another_waits_for_it() {
    for (slow_percent, expected) in [(0, 100.0), (30, 145.0), (100, 250.0)] {
        let loads = loads(10, slow_percent, true);
        let here = ns_a_load(as_the_meter_has_it(&loads));
        let there = ns_a_load(instruction_by_instruction(&loads, true));
        assert!((here / there - 1.0).abs() < 0.01, "{here} ns, {there} by instructions");
        assert!((here / expected - 1.0).abs() < 0.03, "{here} ns, expected {expected}");
    }
}

#[test]
fn what_is_computed_beside_a_load_shortens_its_wait() {
    // A window takes 256 / 14 = 18 ns to fill, a load comes every 71 ns.
    let loads = loads(1_000, 0, false);
    let wait = ns_a_load(as_the_meter_has_it(&loads)) - 1_000.0 / PER_NS as f64;
    assert!((wait - (100.0 - 18.3)).abs() < 1.5, "{wait}");
}
