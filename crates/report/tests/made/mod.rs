//! Plans and recordings made by hand, through the same functions that make real ones.

use pagetide_machine::Machine;
use pagetide_replay::{
    AreaHeat, Curve, Heatmap, HeatmapRow, Offer, Overview, Plan, PlanInput, PlanOptions, Point,
    PolicyCurve, RecordingFacts, Role, Share, Sharer, Split, WarmUp, Weighting, plan, split,
};
use pagetide_report::{OptionRow, PolicyRow};
use pagetide_trace::{
    AreaChange, AreaSide, ByProcess, Diff, HotSets, Info, ProcessUse, RateAgreement, Side, Source,
};
use pagetide_types::{AreaKind, Bytes, UnitSize};

const SECONDS: f64 = 45.0;

/// Rate of one unit of 2 MiB, and whether it is saturated.
pub(crate) type Unit = (f64, bool);

/// The heat of a cache under a zipf load.
pub(crate) fn zipf() -> Vec<Unit> {
    (1..=700).map(|i| (3e5 / f64::from(i).powf(1.1), i < 3)).collect()
}

/// Most of the accesses hit a few units too hot to measure, the rest is nearly as warm.
pub(crate) fn saturated() -> Vec<Unit> {
    (0..400).map(|i| if i < 40 { (2e4, true) } else { (3e3, false) }).collect()
}

/// A hot set too hot to measure, and a cold one.
pub(crate) fn partly_saturated() -> Vec<Unit> {
    (0..400).map(|i| if i < 100 { (2e4, true) } else { (2e4 / 60.0, false) }).collect()
}

/// Resident and never accessed.
pub(crate) fn idle() -> Vec<Unit> {
    vec![(0.0, false); 100]
}

fn curve(policy: &str, units: &[Unit], moved_mib: u64) -> Curve {
    let sums = |value: &dyn Fn(&Unit) -> f64| {
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        sums.extend(units.iter().map(|unit| {
            sum += value(unit) * SECONDS;
            sum
        }));
        sums
    };
    let n = units.len();
    let fast_accesses = sums(&|unit| unit.0);
    let fast_saturated = sums(&|unit| if unit.1 { unit.0 } else { 0.0 });
    let moved = vec![Bytes::mib(moved_mib).0; n + 1];
    Curve {
        policy: policy.into(),
        step: Bytes::mib(2),
        epochs: 9,
        seconds: SECONDS,
        accesses: fast_accesses[n],
        saturated: fast_saturated[n],
        unseen_bound: 0.0,
        accessed_units: 9 * n as u64,
        fast_accessed_units: (0..=n as u64).map(|i| 9 * i).collect(),
        fast_unseen_bound: vec![0.0; n + 1],
        one_unit_in: 1,
        promoted: moved.clone(),
        demoted: moved,
        fast_accesses,
        fast_saturated,
        ..Curve::default()
    }
}

/// A few units too hot to measure among many of one heat: alike or not, they need about the same.
pub(crate) fn alike() -> Vec<Unit> {
    (0..400).map(|i| if i < 100 { (2e4, true) } else { (1.0, false) }).collect()
}

/// What else a recording or a machine may be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) fast_capacity: Option<Bytes>,
    pub(crate) uncleared_share: f64,
    pub(crate) clear_shared: bool,
    pub(crate) still_growing: bool,
    pub(crate) shared_memory: bool,
    /// What of it nobody maps; none: that was not counted.
    pub(crate) unmapped: Option<Bytes>,
}

pub(crate) fn plan_of(units: &[Unit], options: &PlanOptions) -> Plan {
    changed_plan(units, options, &Changes::default())
}

#[expect(clippy::unwrap_used, reason = "a machine of ours")]
pub(crate) fn changed_plan(units: &[Unit], options: &PlanOptions, changes: &Changes) -> Plan {
    let mut worse = units.to_vec();
    worse.reverse();
    let mut middling: Vec<Unit> = units.iter().step_by(2).copied().collect();
    middling.extend(units.iter().skip(1).step_by(2));
    let policy = |curve: Curve, role| PolicyCurve {
        about: curve.policy.clone(),
        curve,
        role,
        told: Vec::new(),
        figures: &[],
    };
    let full = |name: &str, fast: bool| {
        let mut all = curve(name, units, 0);
        let value = if fast { all.accesses } else { 0.0 };
        all.fast_accesses.fill(value);
        all.fast_saturated.fill(if fast { all.saturated } else { 0.0 });
        all
    };
    let info = overview();
    let mut areas = info.areas;
    if changes.shared_memory {
        (areas[1].name, areas[1].kind) = ("shared memory".into(), Some(AreaKind::Shared));
    }
    let footprint = Bytes::mib(2 * units.len() as u64);
    let accesses: f64 = units.iter().map(|unit| unit.0).sum();
    let saturated: f64 = units.iter().filter(|unit| unit.1).map(|unit| unit.0).sum();
    let input = PlanInput {
        facts: RecordingFacts {
            units: units.len(),
            footprint_bytes: footprint,
            accesses_per_s: accesses,
            cache_per_core: Bytes::mib(2),
            cached_share: 0.21,
            saturated_share: if accesses > 0.0 { saturated / accesses } else { 0.0 },
            uncleared_share: changes.uncleared_share,
            clear_shared: changes.clear_shared,
            unmapped_bytes: changes.unmapped.unwrap_or_default(),
            unmapped_counted: changes.unmapped.is_some(),
            ..info.facts
        },
        warm_up: WarmUp { still_growing: changes.still_growing, ..info.warm_up },
        curves: vec![
            policy(curve("first-touch", &worse, 0), Role::Candidate),
            policy(curve("random", &worse, 3), Role::Candidate),
            policy(curve("lru", &middling, 40), Role::Candidate),
            policy(curve("lfu", units, 10), Role::Candidate),
            policy(curve("rate", units, 6), Role::Candidate),
            policy(curve("clairvoyant", units, 0), Role::Bound),
            policy(full("all-fast", true), Role::Bound),
            policy(full("all-slow", false), Role::Bound),
        ],
        heatmap: if accesses > 0.0 { info.heatmap } else { untouched() },
        areas: if units.is_empty() { Vec::new() } else { areas },
        replicates: None,
    };
    let mut machine = Machine::load(Machine::DEFAULT).unwrap();
    machine.tiers[0].capacity = changes.fast_capacity;
    plan(input, &machine, options)
}

/// A recording of a key-value store: heap that fills and is read unevenly, a file, a library.
pub(crate) fn overview() -> Overview {
    let area = |name: &str, kind, bytes, share_of_bytes, share: f64| AreaHeat {
        name: name.into(),
        kind,
        bytes,
        share_of_bytes,
        accesses_per_s: share * 1.4e6,
        share_of_accesses: share,
        peak_share_of_accesses: share * 1.1,
    };
    let row = |area, mib, first: usize, rate: f64, wave: f64| HeatmapRow {
        area,
        bytes: Bytes::mib(mib),
        rate_per_mib: (0..12)
            .map(|x| {
                let value = rate * (1.0 + wave * (x as f64 / 2.0).sin());
                #[expect(clippy::cast_possible_truncation, reason = "made by hand")]
                (x >= first).then_some(value as f32)
            })
            .collect(),
        unknown: vec![false; 12],
    };
    let mut rows: Vec<HeatmapRow> =
        (0..12).map(|i| row(0, 100, i / 4, 30_000.0 / 10f64.powf(i as f64 / 3.0), 0.5)).collect();
    rows.push(row(1, 150, 0, 20.0, 0.9));
    rows.push(row(1, 0, 2, 0.0, 0.0));
    rows.push(row(2, 4, 0, 9000.0, 0.2));
    Overview {
        facts: RecordingFacts {
            name: "redis.heat".into(),
            target: "redis-server --port 0 --unixsocket /tmp/demo.sock --save ''".into(),
            started_unix_s: 1_790_000_000,
            source: Source::Sampled,
            unit: UnitSize::Huge,
            epoch_s: 5.0,
            shortest_epoch_s: 5.0,
            longest_epoch_s: 5.0,
            window: None,
            epochs: 12,
            evaluated_epochs: 9,
            seconds: SECONDS,
            units: 700,
            footprint_bytes: Bytes::mib(1400),
            accesses_per_s: 1.4e6,
            traffic_per_s: 0.0,
            leads_per_s: None,
            cache_per_core: Bytes::mib(2),
            cached_share: 0.21,
            saturated_share: 0.03,
            unseen_share: 0.06,
            watched_share: 0.42,
            unwatched_share: 0.0,
            born_bytes: Bytes(0),
            died_bytes: Bytes(0),
            uncleared_share: 0.0,
            clear_shared: false,
            huge_share: 0.0,
            unmapped_bytes: Bytes(0),
            unmapped_counted: true,
            target_cores: 0.83,
            recorder_cores: 0.009,
            stall_share: None,
        },
        warm_up: WarmUp {
            epochs: 3,
            still_growing: false,
            ended: false,
            note: "the first 3 epochs are left out: the program was filling its memory".into(),
        },
        peak_bytes: Bytes::mib(1400),
        areas: vec![
            area("[heap]", Some(AreaKind::Heap), Bytes::mib(1200), 0.85, 0.97),
            area("/var/lib/store/dump.rdb", Some(AreaKind::File), Bytes::mib(150), 0.11, 0.004),
            area("5 other areas", None, Bytes::mib(4), 0.003, 0.026),
        ],
        heatmap: Heatmap { column_s: 5.0, lengths_s: vec![5.0; 12], rows },
    }
}

/// Nothing is accessed, and one row ends early.
fn untouched() -> Heatmap {
    let row = |bytes, length: usize| HeatmapRow {
        area: 0,
        bytes,
        rate_per_mib: (0..12).map(|x| (x < length).then_some(0.0)).collect(),
        unknown: vec![false; 12],
    };
    Heatmap {
        column_s: 5.0,
        lengths_s: vec![5.0; 12],
        rows: vec![row(Bytes::mib(150), 12), row(Bytes::mib(50), 7)],
    }
}

/// The same recording in figures.
pub(crate) fn info() -> Info {
    Info {
        path: "redis.heat".into(),
        tool: "pagetide 0.1.0".into(),
        schema_version: 1,
        target: overview().facts.target,
        started_unix_s: 1_790_000_000,
        source: Source::Sampled,
        machine: [("kernel", "6.12.43"), ("cpu", "a CPU with 2 cores")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        unit: UnitSize::Huge,
        gaps_s: vec![2e-5, 2e-4, 2e-3, 2e-2, 0.2, 1.0],
        finished: false,
        failed: None,
        leftovers: vec!["heat-00003.parquet.part".into()],
        epochs: 12,
        seconds: 60.0,
        units: 704,
        unit_epochs: 7900,
        areas: 41,
        objects: 9,
        processes: 1,
        resident_mean_bytes: Bytes::mib(1210),
        resident_max_bytes: Bytes::mib(1400),
        sampled_share: 0.8,
        watched_share: 0.42,
        saturated_share: 0.03,
        unseen_share: 0.06,
        huge_share: 0.0,
        uncleared_share: 0.004,
        uncleared_max_bytes: Bytes::kib(512),
        target_cpu_s: 50.2,
        recorder_s: 0.54,
        recorder_share: 0.009,
        budget: 0.01,
        longest_clear_s: 0.00042,
        stall_share: None,
        disk_bytes: Bytes(14_300),
        disk_bytes_per_unit_epoch: 1.81,
    }
}

/// An exact recording: without gaps, budget and clearing calls.
pub(crate) fn exact_info() -> Info {
    Info {
        source: Source::Exact,
        finished: true,
        leftovers: Vec::new(),
        gaps_s: Vec::new(),
        watched_share: 1.0,
        saturated_share: 0.0,
        unseen_share: 0.0,
        uncleared_max_bytes: Bytes(0),
        recorder_s: 7.8,
        recorder_share: 0.13,
        budget: 0.0,
        longest_clear_s: 0.0,
        ..info()
    }
}

pub(crate) fn diff_of_two() -> Diff {
    let side = |units: usize, rate: f64| Side {
        epochs: 12,
        seconds: 60.0,
        units,
        unmatched_units: units - 690,
        unmatched_objects: (700..units).map(|i| format!("/tmp/file-{i}")).collect(),
        resident_mean_bytes: Bytes::mib(1210),
        resident_max_bytes: Bytes::mib(2 * units as u64),
        rate,
    };
    Diff {
        unit: UnitSize::Huge,
        a: side(700, 1.4e6),
        b: side(712, 1.5e6),
        areas: area_changes(),
        matched_units: 690,
        matched_share: 0.968,
        rates: Some(RateAgreement {
            spearman: Some(0.9812),
            ratio_units: 655,
            log2_ratio_p10: Some(-0.4),
            log2_ratio_p50: Some(-0.01),
            log2_ratio_p90: Some(0.5),
        }),
        hot: Some(HotSets {
            a_units: 300,
            b_units: 310,
            a_bytes: Bytes::mib(600),
            b_bytes: Bytes::mib(620),
            jaccard: Some(0.93),
        }),
    }
}

/// One area grew, another is gone, one is as it was.
pub(crate) fn area_changes() -> Vec<AreaChange> {
    let side = |mib, accesses_per_s| AreaSide { bytes: Bytes::mib(mib), accesses_per_s };
    let change = |name: &str, kind, a, b, change| AreaChange {
        name: name.into(),
        kind: Some(kind),
        a,
        b,
        change,
    };
    let none = AreaSide::default();
    vec![
        change("redis-server: [heap]", AreaKind::Heap, side(1200, 1.1e6), side(1400, 1.4e6), 0.2),
        change("/dev/shm/PostgreSQL.*", AreaKind::Shared, side(40, 2e5), none, 0.13),
        change("/usr/lib/libc.so.6", AreaKind::File, side(2, 1e4), side(2, 1e4), 0.0),
    ]
}

/// Memory of two processes, and what belongs to neither alone.
pub(crate) fn by_process() -> ByProcess {
    let of = |pid, name: &str, mib, accesses_per_s: f64, hot| ProcessUse {
        pid,
        name: name.into(),
        bytes: Bytes::mib(mib),
        accesses_per_s,
        share_of_accesses: accesses_per_s / 1.4e6,
        hot_bytes: Bytes::mib(hot),
    };
    ByProcess {
        seconds: 60.0,
        hot_share: 0.9,
        processes: vec![
            of(None, "shared memory", 400, 1.2e6, 120),
            of(Some(4711), "postgres", 12, 1.9e5, 4),
            of(Some(4712), "postgres", 9, 1e4, 0),
        ],
    }
}

/// Two recordings of which nothing can be said.
pub(crate) fn diff_of_nothing() -> Diff {
    Diff {
        unit: UnitSize::Base,
        a: Side::default(),
        b: Side::default(),
        areas: Vec::new(),
        matched_units: 0,
        matched_share: 1.0,
        rates: Some(RateAgreement::default()),
        hot: Some(HotSets::default()),
    }
}

/// Two runs at different addresses: only their files match.
pub(crate) fn diff_of_strangers() -> Diff {
    Diff { matched_units: 41, matched_share: 0.058, rates: None, hot: None, ..diff_of_two() }
}

pub(crate) fn policies() -> Vec<PolicyRow> {
    [
        ("first-touch", "memory stays where it was first touched, fast while there is room", true),
        ("lru", "what was accessed most recently is fast", true),
        ("clairvoyant", "the next epoch's truth", false),
    ]
    .map(|(name, about, can_run)| PolicyRow {
        name: name.into(),
        about: about.into(),
        source: "AMP, IEEE TC 2020, section 4".into(),
        can_run,
        options: Vec::new(),
    })
    .into()
}

/// One policy with two options.
pub(crate) fn policy_with_options() -> Vec<PolicyRow> {
    let option = |name: &str, default, about: &str| OptionRow {
        name: name.into(),
        about: about.into(),
        default,
        low: 0.0,
        high: 100.0,
    };
    let options = vec![
        option("interval", 5.0, "seconds between two decisions, rounded to whole epochs"),
        option("threshold", 0.2, "share by which accessed memory exceeds fast memory"),
    ];
    let mut rows = policies();
    rows.truncate(2);
    rows[1].options = options;
    rows
}

pub(crate) fn split_of_two() -> Split {
    let sharer = |name: &str, units: &[Unit], memory_time| {
        let plan = plan_of(units, &PlanOptions::default());
        let policy = &plan.policies[4];
        let offer = |point: &Point| Offer {
            fast_bytes: point.fast_bytes,
            slowdown: point.slowdown,
            policy: policy.policy.clone(),
        };
        Sharer {
            name: name.into(),
            window: None,
            said: plan.said.clone(),
            points: policy.points.iter().map(offer).collect(),
            memory_time,
            claim: plan.recording.footprint_bytes.as_f64(),
        }
    };
    let sharers = [
        sharer("redis.heat", &zipf(), 0.14),
        sharer("/home/someone/recordings/analytics-nightly.heat", &saturated(), 0.06),
    ];
    split(&sharers, Bytes::gib(1), Weighting::MemoryTime, Share::Utility)
}
