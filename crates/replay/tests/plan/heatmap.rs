//! The heatmap keeps every access, in bounded room, under the right name.

use pagetide_replay::HeatmapBuilder;
use pagetide_trace::{Area, Epoch, EpochRecord};
use pagetide_types::{
    AreaKind, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, Pid, UnitId, UnitKey,
};

fn area(name: &str, kind: AreaKind, object: u32, first: u64, end: u64) -> Area {
    Area {
        object: ObjectId(object),
        first,
        end,
        kind,
        name: name.into(),
        pid: Pid(1),
        command: "program".into(),
        since: EpochId(0),
        mapped: None,
    }
}

/// `epochs` epochs of 5 s; unit i lies at i in object 0 and is accessed at `rate(epoch, i)`.
fn build(
    epochs: u32,
    units: u32,
    areas: &[Area],
    rate: impl Fn(u32, u32) -> f32,
) -> HeatmapBuilder {
    build_flagged(epochs, units, areas, rate, |_| HeatFlags::SAMPLED)
}

/// The same; unit i has `flags(i)`.
fn build_flagged(
    epochs: u32,
    units: u32,
    areas: &[Area],
    rate: impl Fn(u32, u32) -> f32,
    flags: impl Fn(u32) -> HeatFlags,
) -> HeatmapBuilder {
    let mut builder = HeatmapBuilder::new();
    for e in 0..epochs {
        let mut heat = EpochHeat::new(EpochId(e));
        for i in 0..units {
            heat.push(HeatRow {
                unit: UnitId(i),
                rate: rate(e, i),
                flags: flags(i),
                pages: 512,
                watched: 512,
                touched: 1,
                node: NodeId(0),
            });
        }
        let key = |i| UnitKey { object: ObjectId(0), index: u64::from(i) };
        builder.push(&EpochRecord {
            epoch: Epoch { epoch: EpochId(e), length_s: 5.0, ..Epoch::default() },
            new_units: if e == 0 { (0..units).map(key).collect() } else { Vec::new() },
            new_areas: if e == 0 { areas.to_vec() } else { Vec::new() },
            heat,
        });
    }
    builder
}

#[test]
fn areas_are_named_and_add_up() {
    let areas =
        [area("[heap]", AreaKind::Heap, 0, 0, 300), area("", AreaKind::Anonymous, 0, 400, 1000)];
    let hot = |_, i| if i < 300 { 100.0 } else { 1.0 };
    let (map, areas) = build(10, 1000, &areas, hot).finish(20, 0);
    let names: Vec<&str> = areas.iter().map(|area| area.name.as_str()).collect();
    assert_eq!(names, ["[anonymous]", "[heap]", "other"]);
    assert!((areas[0].share_of_bytes - 0.6).abs() < 1e-9);
    assert!((areas[1].accesses_per_s - 30_000.0).abs() < 1e-6);
    let shares: f64 = areas.iter().map(|area| area.share_of_accesses).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    assert_eq!((map.column_s, map.lengths_s), (5.0, vec![5.0; 10]));
    assert!((18..=22).contains(&map.rows.len()), "{}", map.rows.len());
    for row in &map.rows {
        assert_eq!(row.rate_per_mib.len(), 10);
        let expected = if areas[row.area].name == "[heap]" { 50.0 } else { 0.5 };
        assert!(row.rate_per_mib.iter().all(|rate| *rate == Some(expected)), "{row:?}");
    }
    let bytes: u64 = map.rows.iter().map(|row| row.bytes.0).sum();
    assert_eq!(bytes, 1000 << 21);
}

/// As the recorder has it of what appears within an epoch: a number at once, rows and areas with the next walk.
#[test]
fn what_has_a_number_before_its_area_is_known_is_named_all_the_same() {
    let grown = [area("[heap]", AreaKind::Heap, 0, 0, 50)];
    let mut builder = build(1, 10, &[area("[heap]", AreaKind::Heap, 0, 0, 10)], |_, _| 1.0);
    let key = |index| UnitKey { object: ObjectId(0), index };
    let record = |e: u32, units: u32, new_units: Vec<UnitKey>, new_areas: &[Area]| {
        let mut heat = EpochHeat::new(EpochId(e));
        for unit in (0..units).map(UnitId) {
            let flags = HeatFlags::SAMPLED;
            heat.push(HeatRow {
                unit,
                rate: 1.0,
                flags,
                pages: 512,
                watched: 512,
                touched: 1,
                node: NodeId(0),
            });
        }
        let epoch = Epoch { epoch: EpochId(e), length_s: 5.0, ..Epoch::default() };
        EpochRecord { epoch, new_units, new_areas: new_areas.to_vec(), heat }
    };
    builder.push(&record(1, 10, (10..60).map(key).collect(), &[]));
    builder.push(&record(2, 60, Vec::new(), &grown));
    let (_, areas) = builder.finish(20, 2);
    let found: Vec<_> = areas.iter().map(|area| (area.name.as_str(), area.bytes.0 >> 21)).collect();
    assert_eq!(found, [("[heap]", 50), ("other", 10)], "ten lie in no area");
}

#[test]
fn columns_are_as_long_as_their_epochs() {
    let lengths = [1.0, 1.0, 2.0, 2.0, 0.5];
    let mut builder = HeatmapBuilder::new();
    for (number, length_s) in (0..).zip(lengths) {
        builder.push(&EpochRecord {
            epoch: Epoch { epoch: EpochId(number), length_s, ..Epoch::default() },
            ..EpochRecord::default()
        });
    }
    let (map, _) = builder.finish(20, 0);
    assert_eq!((map.column_s, &map.lengths_s[..]), (2.0, &lengths[..]));
}

#[test]
fn many_units_and_epochs_are_merged_and_none_is_lost() {
    let hot = |e, i: u32| if i.is_multiple_of(2) { 2.0 } else { (e % 2) as f32 * 4.0 };
    let heap = [area("[heap]", AreaKind::Heap, 0, 0, 20_000)];
    let (map, areas) = build(500, 20_000, &heap, hot).finish(20, 0);
    assert_eq!(areas.len(), 1);
    assert!((areas[0].accesses_per_s - 40_000.0).abs() < 1e-3, "{areas:?}");
    assert!(map.rows[0].rate_per_mib.len() <= 60);
    // 500 epochs: 31 columns of 16 and one of 4.
    assert_eq!((map.column_s, map.lengths_s.len()), (80.0, 32));
    assert_eq!(map.lengths_s.iter().sum::<f64>(), 2500.0);
    let rates = map.rows.iter().flat_map(|row| &row.rate_per_mib).flatten();
    assert!(rates.into_iter().all(|rate| (rate - 1.0).abs() < 1e-5));
}

#[test]
fn a_change_over_time_shows_in_its_peak_and_warm_up_is_left_out() {
    let areas = [area("a", AreaKind::Anonymous, 0, 0, 50), area("b", AreaKind::File, 0, 50, 100)];
    let swaps = |e, i| if (i < 50) == (e < 5) { 10.0 } else { 0.0 };
    let (_, found) = build(10, 100, &areas, swaps).finish(20, 0);
    assert!(found.iter().all(|a| a.peak_share_of_accesses == 1.0 && a.share_of_accesses == 0.5));
    let (_, found) = build(10, 100, &areas, swaps).finish(20, 5);
    assert_eq!(found.iter().find(|a| a.name == "a").unwrap().accesses_per_s, 0.0);
}

#[test]
fn what_cannot_be_cleared_is_unknown_and_not_cold() {
    let areas = [area("a", AreaKind::Shared, 0, 0, 60), area("b", AreaKind::Heap, 0, 60, 100)];
    let flags = |i| if i < 60 { HeatFlags::UNCLEARED } else { HeatFlags::SAMPLED };
    let (map, found) = build_flagged(4, 100, &areas, |_, _| 0.0, flags).finish(20, 0);
    for row in &map.rows {
        let shared = found[row.area].name == "a";
        assert_eq!(row.unknown, vec![shared; 4], "{row:?}");
    }
    // What was seen accessed is not unknown, though some of it cannot be cleared.
    let seen = HeatFlags::UNCLEARED | HeatFlags::SAMPLED | HeatFlags::ACCESSED;
    let (map, _) = build_flagged(4, 100, &areas, |_, _| 9.0, |_| seen).finish(20, 0);
    assert!(map.rows.iter().all(|row| !row.unknown.contains(&true)));
}

/// What is to be expected of them is not 0, since an access may have been missed.
#[test]
fn memory_in_which_no_access_was_seen_looks_so() {
    let areas = [area("idle", AreaKind::Heap, 0, 0, 10), area("rare", AreaKind::Heap, 0, 10, 20)];
    let looked = |flag| HeatFlags::SAMPLED | flag;
    // Of the second area only one unit was seen accessed; the last one was not looked at.
    let flags = |i| match i {
        10 => looked(HeatFlags::ACCESSED),
        19 => HeatFlags::default(),
        _ => looked(HeatFlags::UNSEEN),
    };
    let (heatmap, named) = build_flagged(4, 20, &areas, |_, _| 5.0, flags).finish(2, 0);
    let rates = |name: &str| {
        let row = heatmap.rows.iter().find(|row| named[row.area].name == name).unwrap();
        row.rate_per_mib.clone()
    };
    assert_eq!(rates("idle"), [Some(0.0); 4]);
    assert_eq!(rates("rare"), [Some(2.5); 4]);
    assert!(named.iter().all(|area| area.accesses_per_s > 0.0), "the figures are what is expected");
}

#[test]
fn nothing_recorded_gives_an_empty_picture() {
    let (map, areas) = HeatmapBuilder::new().finish(20, 3);
    assert!(map.rows.is_empty() && areas.is_empty());
    let (map, areas) = build(1, 1, &[], |_, _| 0.0).finish(20, 0);
    assert_eq!((map.rows.len(), areas.len()), (1, 1));
    assert_eq!(map.rows[0].rate_per_mib, [Some(0.0)]);
}
