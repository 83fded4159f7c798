//! When memory grows and shrinks.

use super::*;
use proptest::prelude::*;

const OPTIONS: PressureOptions = PressureOptions {
    smoothing: 0.5,
    threshold: Bytes::mib(100),
    growth: 5.0,
    lead: 1.0,
    apart: Duration::from_secs(5),
    stalled: Some(0.1),
};

fn at(second: u64, free_mib: u64) -> Sample {
    let (at, free) = (Duration::from_secs(second), Bytes::mib(free_mib));
    Sample { at, free, stalled: None, conversion: None, again: None }
}

#[test]
fn free_memory_is_smoothed_by_the_formula() {
    let mut pressure = Pressure::new(OPTIONS);
    pressure.check(at(0, 400));
    assert_eq!(pressure.smoothed(), Some(Bytes::mib(400)));
    pressure.check(at(1, 200));
    assert_eq!(pressure.smoothed(), Some(Bytes::mib(300)));
    pressure.check(at(2, 100));
    assert_eq!(pressure.smoothed(), Some(Bytes::mib(200)));
}

#[test]
fn below_the_threshold_it_grows_to_five_times_as_much() {
    let mut pressure = Pressure::new(OPTIONS);
    assert_eq!(pressure.check(at(0, 100)), Verdict::Hold);
    // Five times the threshold is 500, and 80 are free.
    let by = Bytes::mib(420);
    assert_eq!(pressure.check(at(1, 80)), Verdict::Grow { by, why: Trigger::Free });
    // With nothing free all of that is wanted.
    let mut empty = Pressure::new(OPTIONS);
    let by = Bytes::mib(500);
    assert_eq!(empty.check(at(0, 0)), Verdict::Grow { by, why: Trigger::Free });
}

#[test]
fn the_faster_it_falls_the_more_is_asked_for() {
    // Five times what happens to be free would be 400, and then 100.
    let by = |free| match Pressure::new(OPTIONS).check(at(0, free)) {
        Verdict::Grow { by, .. } => by,
        other => panic!("{other:?}"),
    };
    assert_eq!((by(80), by(20)), (Bytes::mib(420), Bytes::mib(480)));
}

/// A check with a device that takes three seconds to become memory.
fn with_device(second: u64, free_mib: u64) -> Sample {
    Sample { conversion: Some(Duration::from_secs(3)), ..at(second, free_mib) }
}

#[test]
fn memory_grows_if_the_threshold_would_be_met_before_a_device_is_memory() {
    let mut pressure = Pressure::new(OPTIONS);
    // 100 MiB a second: what goes in the three seconds that a device takes and the one until the next check, above the
    // threshold.
    for (second, free) in [(0, 900), (1, 800), (2, 700), (3, 600)] {
        pressure.check(with_device(second, free));
    }
    assert_eq!(pressure.used_up(), Bytes::mib(100));
    assert_eq!(pressure.check(with_device(4, 500)), Verdict::Hold);
    // What is foreseen is asked for, and not five times the threshold.
    let by = Bytes::mib(100);
    assert_eq!(pressure.check(with_device(5, 400)), Verdict::Grow { by, why: Trigger::Lead });
}

#[test]
fn where_it_is_looked_again_sooner_a_device_is_begun_later() {
    let mut pressure = Pressure::new(OPTIONS);
    let again = Some(Duration::from_millis(500));
    let check = |second, free| Sample { again, ..with_device(second, free) };
    for (second, free) in [(0, 900), (1, 800), (2, 700), (3, 600)] {
        pressure.check(check(second, free));
        assert_eq!(pressure.short().is_some(), second >= 2, "whether it falls is not known before");
    }
    assert_eq!(pressure.check(check(4, 500)), Verdict::Hold);
    // 100 MiB a second for half a second and the three that a device takes, above the threshold.
    assert_eq!(pressure.short(), Some(Bytes::mib(450)));
    let early = Sample { at: Duration::from_millis(4_300), ..check(4, 449) };
    // What is asked for is what is used up until the next check could bring a device.
    let by = Bytes::mib(51);
    assert_eq!(pressure.check(early), Verdict::Grow { by, why: Trigger::Lead });
    assert_eq!(pressure.short(), None, "it has been begun");
}

/// Memory that the lead has taken at 5 s, and what the checks say with so much free from 6 s on.
fn led(then: impl IntoIterator<Item = u64>) -> Vec<Verdict> {
    let mut pressure = Pressure::new(OPTIONS);
    for (second, free) in [(0, 900), (1, 800), (2, 700), (3, 600), (4, 500), (5, 400)] {
        pressure.check(with_device(second, free));
    }
    pressure.grew(Duration::from_secs(5), Bytes::mib(300), Trigger::Lead);
    (6..).zip(then).map(|(second, free)| pressure.check(with_device(second, free))).collect()
}

#[test]
fn what_the_lead_took_goes_back_if_memory_falls_no_more() {
    // Growing would ask for 500. For ten seconds nothing is used up: twice the threshold stays.
    let still = led([490; 11]);
    assert!(still[4..10].iter().all(|verdict| *verdict == Verdict::Hold), "{still:?}");
    assert_eq!(still[10], Verdict::Shrink { by: Bytes::mib(290) });
    assert_eq!(led([510; 11])[10], Verdict::Shrink { by: Bytes::mib(300) }, "no more than it took");
    // A fall begins the ten seconds anew, a flicker does not.
    let falls = led([490, 490, 490, 490, 490, 480, 475, 475, 475, 475, 475]);
    assert_eq!(falls[10], Verdict::Hold);
    let flickers = led([490, 485, 490, 482, 490, 485, 490, 485, 490, 485, 490]);
    assert!(matches!(flickers[10], Verdict::Shrink { .. }), "{flickers:?}");
}

#[test]
fn what_the_threshold_took_stays_as_long_as_the_growth_factor_asks() {
    let mut pressure = Pressure::new(OPTIONS);
    pressure.check(at(0, 50));
    pressure.grew(Duration::from_secs(0), Bytes::mib(300), Trigger::Free);
    assert!((1..60).all(|second| pressure.check(at(second, 490)) == Verdict::Hold));
    // Also of what the lead took, if the threshold is met after all.
    let short = led([300, 200, 50, 10, 490].into_iter().chain([490; 20]));
    assert!(short[5..].iter().all(|verdict| *verdict == Verdict::Hold), "{short:?}");
}

#[test]
fn without_a_lead_or_a_device_only_the_threshold_counts() {
    let mut off = Pressure::new(PressureOptions { lead: 0.0, ..OPTIONS });
    let mut none_left = Pressure::new(OPTIONS);
    for (second, free) in [(0, 500), (1, 400), (2, 300), (3, 200)] {
        assert_eq!(off.check(with_device(second, free)), Verdict::Hold);
        assert_eq!(none_left.check(at(second, free)), Verdict::Hold);
    }
}

#[test]
fn what_growing_asks_for_is_never_given_back() {
    let mut pressure = Pressure::new(OPTIONS);
    assert_eq!(pressure.check(at(0, 500)), Verdict::Hold);
    let mut pressure = Pressure::new(OPTIONS);
    assert_eq!(pressure.check(at(0, 512)), Verdict::Shrink { by: Bytes::mib(12) });
}

#[test]
fn directions_change_five_seconds_apart() {
    let mut pressure = Pressure::new(OPTIONS);
    assert!(matches!(pressure.check(at(0, 50)), Verdict::Grow { .. }));
    pressure.grew(Duration::from_secs(1), Bytes::mib(384), Trigger::Free);
    assert_eq!(pressure.check(at(2, 900)), Verdict::Wait);
    // More of the same may follow at once.
    let mut more = pressure.clone();
    more.grew(Duration::from_secs(2), Bytes::mib(384), Trigger::Free);
    assert!(matches!(more.check(at(3, 10)), Verdict::Grow { .. }));
    assert_eq!(pressure.check(at(5, 900)), Verdict::Wait);
    assert!(matches!(pressure.check(at(6, 900)), Verdict::Shrink { .. }));
    pressure.shrank(Duration::from_secs(7), Bytes::mib(384));
    assert_eq!(pressure.check(at(8, 10)), Verdict::Wait);
    assert!(matches!(pressure.check(at(12, 10)), Verdict::Grow { .. }));
}

#[test]
fn waiting_tasks_are_pressure_too() {
    let mut pressure = Pressure::new(OPTIONS);
    let stalled =
        |second, ms| Sample { stalled: Some(Duration::from_millis(ms)), ..at(second, 300) };
    assert_eq!(pressure.check(stalled(0, 5_000)), Verdict::Hold);
    assert_eq!(pressure.check(stalled(1, 5_099)), Verdict::Hold);
    let verdict = pressure.check(stalled(2, 5_199));
    assert_eq!(verdict, Verdict::Grow { by: Bytes::mib(200), why: Trigger::Stalls });
    let mut deaf = Pressure::new(PressureOptions { stalled: None, ..OPTIONS });
    deaf.check(stalled(0, 0));
    assert_eq!(deaf.check(stalled(1, 1_000)), Verdict::Hold);
}

proptest! {
    /// However memory comes and goes, two opposite shifts are never nearer than asked.
    #[test]
    fn opposite_shifts_are_never_too_near(free in prop::collection::vec(0_u64..2_000, 1..100)) {
        let mut pressure = Pressure::new(OPTIONS);
        let mut last: Option<(bool, u64)> = None;
        for (second, free) in (0..).zip(free) {
            let grew = match pressure.check(at(second, free)) {
                Verdict::Grow { by, why } => {
                    prop_assert!(by > Bytes(0));
                    pressure.grew(Duration::from_secs(second), by, why);
                    true
                }
                Verdict::Shrink { by } => {
                    // What remains is what growing would ask for.
                    prop_assert!(free - (by.0 >> 20) >= 499);
                    pressure.shrank(Duration::from_secs(second), by);
                    false
                }
                Verdict::Hold | Verdict::Wait => continue,
            };
            if let Some((before, when)) = last {
                prop_assert!(before == grew || second - when >= 5);
            }
            last = Some((grew, second));
        }
    }

    /// Whatever is free, an option of 0 leaves the verdicts as the paper's formula makes them, and a lead only adds
    /// growing, and only where memory falls.
    #[test]
    fn a_lead_only_adds_growing_where_memory_falls(
        free in prop::collection::vec(0_u64..2_000, 1..100),
    ) {
        let mut paper = Pressure::new(PressureOptions { lead: 0.0, ..OPTIONS });
        let mut ours = Pressure::new(OPTIONS);
        let mut before = 0;
        for (second, free) in (0..).zip(free) {
            let (first, second) = (paper.check(at(second, free)), ours.check(with_device(second, free)));
            match (first, second) {
                (Verdict::Grow { by: less, why: Trigger::Free }, Verdict::Grow { by, why }) => {
                    prop_assert!(by >= less && why == Trigger::Free);
                }
                (Verdict::Hold | Verdict::Shrink { .. }, Verdict::Grow { why, .. }) => {
                    prop_assert!(why == Trigger::Lead && free < before);
                }
                (Verdict::Shrink { by: more }, Verdict::Shrink { by }) => prop_assert!(by <= more),
                (Verdict::Shrink { .. }, Verdict::Hold) => prop_assert!(free < before),
                (first, second) => prop_assert_eq!(first, second),
            }
            before = free;
        }
    }

    /// A program that fills memory at a steady rate never waits for it: as long as a device brings more than what is
    /// used up while it is converted and until the next check, and there is time to see the fall. The threshold is
    /// not met.
    #[test]
    fn memory_comes_before_it_is_used_up(
        rate in 1.0_f64..500.0,
        takes in 0.1_f64..20.0,
        spare in 0.0_f64..3_000.0,
        bonus in 0.0_f64..1_000.0,
    ) {
        // A machine at rest, until the program begins; in MiB and seconds.
        let (mut now, mut free) = (0.0, 100.0 + rate * (takes + 4.0) + spare);
        let device = rate * (takes + 1.0) + bonus;
        let mut pressure = Pressure::new(PressureOptions { smoothing: 0.7, ..OPTIONS });
        let mib = |amount: f64| bytes(amount * f64::from(1 << 20));
        for second in 0..100 {
            let sample = Sample {
                at: Duration::from_secs_f64(now),
                free: mib(free),
                stalled: None,
                conversion: Some(Duration::from_secs_f64(takes)),
                again: None,
            };
            if let Verdict::Grow { by, .. } = pressure.check(sample) {
                let mut gained = 0.0;
                while mib(gained) < by {
                    free -= rate * takes;
                    prop_assert!(free >= 99.999, "{free} MiB after {now} s");
                    (now, free, gained) = (now + takes, free + device, gained + device);
                }
                pressure.grew(Duration::from_secs_f64(now), mib(gained), Trigger::Lead);
            }
            now += 1.0;
            if second >= 3 {
                free -= rate;
            }
            prop_assert!(free >= 99.999, "{free} MiB after {now} s");
        }
    }
}
