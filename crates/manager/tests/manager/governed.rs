//! The governor stands beside the loop, and is told what it needs to know.

use crate::world::{EVERYTHING, FAST, PID, SLOW, World, settings, upside_down};
use pagetide_manager::{Settings, Turn};
use pagetide_migrate::SimPage;
use pagetide_policy::{Counters, Governor, GovernorSpec, Governors, Verdict};
use pagetide_types::{Bytes, Pid, VirtAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Stops after the first epoch.
struct OnceOnly(u32);

impl Governor for OnceOnly {
    fn judge(&mut self, _: &Counters) -> Verdict {
        self.0 += 1;
        if self.0 == 1 { Verdict::Migrate } else { Verdict::StandStill }
    }
    fn reason(&self) -> String {
        "once is enough".to_owned()
    }
}

#[test]
fn the_governor_stands_outside_and_stops_promotions() {
    let governors = Governors::with("once-only", |_| Box::new(OnceOnly(0)));
    let mut world = World::governed(24, 64, &upside_down(), settings(EVERYTHING), governors);
    world.epoch();
    world.manager.tracker().rates.rotate_left(16);
    for _ in 0..3 {
        let line = world.epoch();
        assert!(!line.migrate && line.moves.is_none());
    }
    assert_eq!(world.fast(), (16..32).collect::<Vec<_>>());
    let summary = world.manager.summary();
    assert_eq!((summary.stood_still, summary.governor.as_str()), (3, "once-only"));
    let turn = Turn { at_s: 2.0, pid: 42, stopped: true, reason: "once is enough".to_owned() };
    assert_eq!(summary.turns, [turn]);
    let told = &world.manager.tracker().sparse;
    assert_eq!(
        *told,
        [vec![], vec![PID], vec![PID], vec![PID]],
        "who stands still is watched less"
    );
}

/// Stops after the first epoch, and goes on when it knows how long the process runs.
struct UntilItRan(Option<f64>, u32);

impl Governor for UntilItRan {
    fn judge(&mut self, counters: &Counters) -> Verdict {
        self.0 = self.0.or(counters.cores);
        self.1 += 1;
        if self.1 == 1 || self.0.is_some() { Verdict::Migrate } else { Verdict::StandStill }
    }
    fn reason(&self) -> String {
        format!("{:?} cores", self.0)
    }
}

#[test]
fn a_governor_that_stopped_a_process_knows_how_many_cores_it_keeps_busy() {
    let governors = Governors::with("until-it-ran", |_| Box::new(UntilItRan(None, 0)));
    let mut world = World::governed(24, 64, &upside_down(), settings(EVERYTHING), governors);
    (world.manager.tracker().gap_s, world.manager.tracker().cores) = (0.5, 1.5);
    (0..5).for_each(|_| drop(world.epoch()));
    let turns = &world.manager.summary().turns;
    let told: Vec<_> = turns.iter().map(|turn| (turn.stopped, turn.reason.as_str())).collect();
    // From one decision to the next, whatever lies between epochs.
    assert_eq!(told, [(true, "None cores"), (false, "Some(1.5) cores")]);
}

/// Stops after the first epoch, goes on after so many seconds, and writes down what it was shown.
struct Until(f64, Arc<Mutex<Vec<Counters>>>);

impl Governor for Until {
    #[expect(clippy::unwrap_used, reason = "of its own making")]
    fn judge(&mut self, counters: &Counters) -> Verdict {
        self.1.lock().unwrap().push(*counters);
        let stands = (2.0..self.0).contains(&counters.now_s);
        if stands { Verdict::StandStill } else { Verdict::Migrate }
    }
    fn reason(&self) -> String {
        String::new()
    }
}

fn until(goes_on_s: f64) -> (World, Arc<Mutex<Vec<Counters>>>) {
    let seen = Arc::default();
    let told = Arc::clone(&seen);
    let governors =
        Governors::with("until", move |_| Box::new(Until(goes_on_s, Arc::clone(&told))));
    (World::governed(24, 64, &upside_down(), settings(EVERYTHING), governors), seen)
}

#[test]
fn while_all_stand_still_only_what_is_visited_is_looked_at_and_the_governor_sees_the_same() {
    let (mut world, seen) = until(100.0);
    let lines: Vec<_> = (0..130).map(|_| world.epoch()).collect();
    let whole: Vec<u32> = lines.iter().filter(|line| !line.glance).map(|line| line.epoch).collect();
    // In the third nothing turned any more. After a minute all is looked at, and after that nothing turned in the last.
    assert_eq!(whole, [0, 1, 2, 63].into_iter().chain(100..130).collect::<Vec<_>>());
    let seen = seen.lock().unwrap();
    let units = |bytes: Bytes| bytes.0 >> 21;
    let shown = |at: usize| {
        let Counters { resident, watched, watched_fast, accessed_fast, room, .. } = seen[at];
        ([resident, watched, watched_fast, accessed_fast].map(units), room)
    };
    assert_eq!((shown(2).0, shown(10).0), ([32, 32, 16, 16], [32, 16, 8, 8]));
    assert_eq!(shown(2).1, shown(10).1);
    assert!(seen.iter().zip(1u32..).all(|(counters, at)| counters.now_s == f64::from(at)));
    let [whole, glance] = [2, 10].map(|at: usize| &lines[at]);
    assert_eq!((glance.resident, glance.held), (whole.resident, whole.held));
    assert_eq!((glance.fast_share, glance.migrate), (whole.fast_share, false));
    assert_eq!(lines[99].turns.len(), 1, "and it goes on at once");
    assert_eq!(world.manager.tracker().hurried, 1);
}

#[test]
fn all_is_looked_at_again_when_memory_comes_or_fast_memory_goes() {
    let whole = |change: fn(&mut World)| {
        let (mut world, _) = until(1e9);
        (0..10).for_each(|_| drop(world.epoch()));
        change(&mut world);
        (0..3).map(|_| !world.epoch().glance).collect::<Vec<_>>()
    };
    assert_eq!(whole(|_| ()), [false; 3]);
    // The epoch in which it shows was begun before.
    let grows = |world: &mut World| {
        let (start, end) = (VirtAddr(32 << 21), VirtAddr(33 << 21));
        world.kernel.map(PID, start, end, true, SimPage::on(SLOW));
        world.manager.tracker().rates.push(1.0);
    };
    assert_eq!(whole(grows), [false, true, false]);
    let other = |world: &mut World| {
        let (start, end) = (VirtAddr(0), VirtAddr(4 << 21));
        world.kernel.map(Pid(7), start, end, true, SimPage::on(FAST));
    };
    assert_eq!(whole(other), [false, true, true], "and some goes down for the reserve");
    assert_eq!(whole(|world| world.manager.tracker().changes = true), [false, true, false]);
}

#[test]
fn a_dry_run_takes_units_that_are_visited_alone_to_lie_where_it_decided() {
    let seen = Arc::default();
    let told = Arc::clone(&seen);
    let governors = Governors::with("until", move |_| Box::new(Until(1e9, Arc::clone(&told))));
    let settings = Settings { dry_run: true, ..settings(EVERYTHING) };
    let mut world = World::governed(24, 64, &upside_down(), settings, governors);
    let lines: Vec<_> = (0..10).map(|_| world.epoch()).collect();
    assert!(lines[9].glance && !lines[2].glance);
    let seen: Vec<Counters> = seen.lock().unwrap().clone();
    let of_it = |at: usize| seen[at].accessed_fast.as_f64() / seen[at].watched.as_f64();
    assert_eq!((of_it(2), of_it(9)), (0.5, 0.5));
    assert_eq!(seen[2].room, seen[9].room);
}

/// Stops by the clock.
struct AfterTenSeconds;

impl Governor for AfterTenSeconds {
    fn judge(&mut self, counters: &Counters) -> Verdict {
        if counters.now_s < 10.0 { Verdict::Migrate } else { Verdict::StandStill }
    }
    fn reason(&self) -> String {
        "ten seconds are over".to_owned()
    }
}

#[test]
fn what_passes_between_epochs_counts_for_the_governor() {
    for (gap_s, at_s) in [(0.0, 10.0), (2.0, 10.0), (3.0, 13.0)] {
        let governors = Governors::with("ten-seconds", |_| Box::new(AfterTenSeconds));
        let mut world = World::governed(24, 64, &upside_down(), settings(EVERYTHING), governors);
        world.manager.tracker().gap_s = gap_s;
        (0..12).for_each(|_| drop(world.epoch()));
        let [turn] = &world.manager.summary().turns[..] else { panic!() };
        assert_eq!(turn.at_s, at_s, "gaps of {gap_s} s");
    }
}

#[test]
fn whoever_watches_is_told_what_deciding_took() {
    let mut world = World::new(24, 64, &upside_down(), settings(EVERYTHING));
    world.epoch();
    let decided = world.manager.tracker().decided;
    assert!(decided > Duration::ZERO && decided < Duration::from_secs(1), "{decided:?}");
}

#[test]
fn all_that_the_program_computes_counts_and_not_observing_alone() {
    let mut world = World::new(24, 64, &upside_down(), settings(EVERYTHING));
    world.epoch();
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(200) {
        std::hint::spin_loop();
    }
    let line = world.epoch();
    // Of a busy machine a part.
    assert!(line.cpu_s > 0.01 && line.observer_s == 0.0, "{line:?}");
    assert!(world.manager.summary().cpu_s >= line.cpu_s);
}

/// Every epoch another half is hot, and changes places with the one before.
#[expect(clippy::unwrap_used, reason = "of its own making")]
fn alternating(dry_run: bool) -> World {
    let governor: GovernorSpec = "adaptive:every=1".parse().unwrap();
    let settings = Settings { dry_run, ..settings(EVERYTHING) };
    let mut world = World::governed(24, 64, &upside_down(), settings, (&governor).into());
    for _ in 0..30 {
        world.epoch();
        world.manager.tracker().rates.rotate_left(16);
    }
    world
}

#[test]
fn ping_pong_is_stopped_and_the_summary_says_why_in_a_dry_run_too() {
    for dry_run in [false, true] {
        let world = alternating(dry_run);
        let summary = world.manager.summary();
        let [turn] = summary.turns.as_slice() else { panic!("{:?}", summary.turns) };
        assert!(turn.stopped && (10.0..=16.0).contains(&turn.at_s), "{turn:?}");
        assert_eq!(turn.reason, "ping-pong: of 256 MiB promoted in 8 s, 256 MiB went down again");
        assert!(summary.stood_still > 10 && summary.last.promote == Bytes(0), "{summary:?}");
    }
}
