//! The truth as a recording: epochs, flags, units, and its end.

use super::{number, read, run, run_until, run_with_truth};
use crate::stop::Stop;
use nix::sys::signal::{Signal, raise};
use pagetide_testing::undisturbed;
use pagetide_types::{AreaKind, HeatFlags, ObjectId, UnitSize};
use std::{thread, time::Duration};

#[test]
fn epochs_follow_each_other_and_sum_to_all_accesses() {
    let ran = run_with_truth("uniform --size 8M --seconds 0.7 --truth-epoch 0.2 --threads 2");
    let epochs = ran.recording.epochs();
    assert_eq!(epochs.len(), 4);
    for (i, (epoch, length)) in epochs.iter().zip([0.2, 0.2, 0.2, 0.1]).enumerate() {
        assert!((epoch.length_s - length).abs() < 1e-6, "{epoch:?}");
        assert!((epoch.start_s - 0.2 * i as f64).abs() < 1e-6, "{epoch:?}");
        assert!(epoch.target_cpu_s > 0.0 && epoch.watched_share == 1.0, "{epoch:?}");
    }
    let sum: f64 = ran.per_unit().iter().sum();
    let accesses = number(&ran.printed, "accesses");
    assert!((sum / accesses - 1.0).abs() < 0.02, "{sum} instead of {accesses}");
    assert!((number(&ran.printed, "seconds") - 0.7).abs() < 0.01);
}

#[test]
fn an_end_at_an_epochs_end_makes_no_further_epoch() {
    let ran = run_with_truth("uniform --size 4M --seconds 0.4 --truth-epoch 0.2");
    assert_eq!(ran.recording.epochs().len(), 2);
}

#[test]
fn units_are_addresses_and_the_area_is_the_range() {
    for (unit, size, units) in [("2M", UnitSize::Huge, 3), ("4K", UnitSize::Base, 1152)] {
        let ran = run_with_truth(&format!(
            "strided --size 4608K --page-size 4K --truth-unit {unit} --accesses 100000"
        ));
        let from = ran.printed.find("range=0x").unwrap() + 8;
        let start = ran.printed[from..].split('-').next().unwrap();
        let first = u64::from_str_radix(start, 16).unwrap() >> size.shift();
        let keys = ran.recording.units().unwrap();
        assert_eq!(keys.len(), units);
        for (index, key) in (first..).zip(&keys) {
            assert_eq!((key.object, key.index), (ObjectId(0), index));
        }
        let area = &ran.recording.areas().unwrap()[0];
        assert_eq!((area.first, area.end), (first, first + units as u64));
        assert_eq!((area.kind, area.command.as_str()), (AreaKind::Anonymous, "strided"));
        assert_eq!(ran.heats[0].resident().0, 4608 << 10);
        // Two whole units of 2 MiB and a quarter of a third one.
        if size == UnitSize::Huge {
            assert_eq!(ran.heats[0].pages, [512, 512, 128]);
            assert_eq!(ran.heats[0].touched, [512, 512, 128]);
        }
    }
}

#[test]
fn base_pages_touched_in_a_huge_unit_are_counted() {
    let ran =
        run_with_truth("spin --size 8M --page-size 4K --list 0,1,511,512,2047 --accesses 5000");
    assert_eq!(ran.heats[0].touched, [3, 1, 0, 1]);
    assert_eq!(ran.heats[0].watched, [512; 4]);
}

#[test]
fn flags_say_what_was_seen() {
    let ran = run_with_truth("spin --size 8M --page-size 4K --list 0 --accesses 5000");
    let all = HeatFlags::SAMPLED | HeatFlags::DIRTY;
    assert_eq!(ran.heats[0].flags[0], all | HeatFlags::ACCESSED);
    assert_eq!(ran.heats[0].flags[3], all | HeatFlags::UNSEEN);
    let ran = run_with_truth("spin --size 8M --page-size 2M --list 0 --accesses 5000");
    let obtained = number(&ran.printed, "huge") > 0.0;
    assert_eq!(ran.heats[0].flags[0].has(HeatFlags::HUGE), obtained);
}

#[test]
fn a_rate_is_kept() {
    undisturbed("a_rate_is_kept", 5, || {
        for (rate, threads, least, most) in [(200_000, 2, 120_000.0, 201_000.0), (3, 1, 3.0, 4.0)] {
            let line = format!("uniform --size 4M --rate {rate} --threads {threads} --seconds 1");
            let made = number(&run(&line).unwrap(), "accesses");
            assert!(made <= most, "{made} in a second");
            // What a busy machine kept it from is not made up for.
            if made < least {
                return Err(format!("{made} in a second instead of {rate}"));
            }
        }
        Ok(())
    });
}

#[test]
fn an_early_end_leaves_a_whole_truth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.heat");
    let stop = Stop::default();
    let line = format!(
        "uniform --size 4M --seconds 600 --rate 1000 --threads 3 --truth-epoch 0.1 --truth {}",
        path.display()
    );
    let printed = thread::scope(|scope| {
        let (line, until) = (&line, stop.clone());
        let running = scope.spawn(move || run_until(line, until).unwrap());
        // Spans of 1 and 3 epochs.
        while !running.is_finished() && !path.join("heat-00001.parquet").exists() {
            thread::sleep(Duration::from_millis(10));
        }
        stop.set();
        running.join().unwrap()
    });
    let ran = read(folder, printed);
    let epochs = ran.recording.epochs().len();
    assert!((4..6000).contains(&epochs), "{epochs} epochs");
    assert!(ran.printed.contains("ready") && ran.printed.contains("done"), "{}", ran.printed);
}

#[test]
fn signals_ask_for_the_end() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let stop = Stop::on_signals().unwrap();
        assert!(!stop.is_set());
        raise(signal).unwrap();
        assert!(stop.is_set());
    }
}

#[test]
fn a_truth_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let error = run(&format!("uniform --size 4M --truth {}", folder.path().display())).unwrap_err();
    let message = error.to_string();
    let path = folder.path().display().to_string();
    assert!(message.contains(&path) && message.contains("exists"), "{message}");
}
