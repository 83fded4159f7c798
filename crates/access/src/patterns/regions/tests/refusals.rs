//! What is refused, and in which words.

use super::*;

/// What is changed in a part, and what is said of it.
type Case<'a> = (&'a dyn Fn(&mut Part), &'a str);

#[test]
fn refuses_what_makes_no_sense() {
    let setup = setup(SIZE, 4);
    let of = |change: &dyn Fn(&mut Part)| {
        let mut part = part("grid", 0.25, 0.5, PartWalk::SEQUENTIAL);
        change(&mut part);
        only(part)
    };
    let sweep = |stride, window, passes| PartWalk::Sweep { stride: Bytes(stride), window, passes };
    let cases: [Case; 24] = [
        (&|p| p.from = 0.5, "from 0.5 of 'grid': give less than `to`, 0.5"),
        (&|p| p.from = f64::NAN, "from NaN of 'grid': give a share between 0 and 1"),
        (&|p| p.to = 1.5, "to 1.5 of 'grid': give a share"),
        (&|p| p.to = 0.2501, "to 0.2501 of 'grid': less than a page"),
        (&|p| p.weight = 0.0, "weight 0 of 'grid': give a number above 0"),
        (&|p| p.weight = f64::NAN, "weight NaN of 'grid'"),
        (&|p| p.writes = -0.1, "writes -0.1 of 'grid': give a share"),
        (&|p| p.run = 0, "run 0 of 'grid': give 1 to 1048576 lines"),
        (&|p| p.walk = sweep(0, 1.0, 1), "stride 0 of 'grid': give a multiple of 64 bytes"),
        (&|p| p.walk = sweep(100, 1.0, 1), "stride 100 of 'grid': give a multiple of 64"),
        (&|p| p.walk = sweep(8 << 20, 1.0, 1), "at most the part's 4.00 MiB"),
        (&|p| p.walk = sweep(2 << 20, 1.0, 1), "threads 4 of 'grid': too many"),
        (&|p| p.walk = sweep(64, 0.0, 1), "window 0 of 'grid': give a number above 0"),
        (
            &|p| p.walk = sweep(64, 1.1, 1),
            "window 1.1 of 'grid': give a number above 0 and at most 1",
        ),
        (&|p| p.walk = sweep(64, 1.0, 0), "passes 0 of 'grid': give 1 to"),
        (
            &|p| (p.walk, p.run) = (sweep(256, 1.0, 1), 5),
            "run 5 of 'grid': 4 lines fit into `stride`",
        ),
        (&|p| (p.walk, p.run) = (zipf(), 5), "run 5 of 'grid': 4 lines fit into `object`"),
        (&|p| (p.walk, p.run) = (chase(), 4), "run 4 of 'grid': 3 lines fit into `object`"),
        (&|p| (p.walk, p.run) = (PartWalk::Random, 70_000), "run 70000 of 'grid': 65536 lines"),
        (
            &|p| (p.walk, p.writes) = (chase(), 0.6),
            "writes 0.6 of 'grid': an object is read before",
        ),
        (&|p| p.walk = PartWalk::Chase { object: Bytes(8) }, "object 8 of 'grid'"),
        (
            &|p| {
                let (object, keys) = (Bytes(64), Keys::InOrder);
                p.walk = PartWalk::Zipf { exponent: -1.0, object, keys };
            },
            "exponent -1 of 'grid': give a number from 0 (uniform)",
        ),
        (
            &|p| (p.walk, p.threads) = (chase(), Some(Sharing::Interleaved)),
            "threads interleaved of 'grid': only sweeps are",
        ),
        (
            &|p| (p.to, p.threads) = (0.2508, Some(Sharing::Interleaved)),
            "threads 4 of 'grid': too many",
        ),
    ];
    for (change, reason) in cases {
        refused(&of(change), &setup, reason);
    }
}

#[test]
fn refuses_parts_and_phases_that_do_not_go_together() {
    let setup = setup(SIZE, 1);
    let regions = regions();
    let with = |change: &dyn Fn(&mut Regions)| {
        let mut regions = regions.clone();
        change(&mut regions);
        regions
    };
    let phase = |name: &str, factor, others| Phase {
        seconds: 1.0,
        weights: BTreeMap::from([(name.to_owned(), factor)]),
        others,
    };
    refused(&with(&|r| r.parts.clear()), &setup, "part (none): give at least one");
    let same = |r: &mut Regions| r.parts[1].name = "grid".into();
    refused(&with(&same), &setup, "name grid: two parts have it");
    let overlap = |r: &mut Regions| r.parts.push(part("heap", 0.9, 1.0, chase()));
    refused(&with(&overlap), &setup, "from 0.9 of 'heap': overlaps 'list', which is chased, too");
    for (phase, reason) in [
        (phase("girds", 1.0, 1.0), "weights girds: no such part; known: grid, rows, table,"),
        (phase("grid", -1.0, 1.0), "weights -1 of 'grid': give a factor from 0"),
        (phase("grid", 1.0, f64::NAN), "others NaN: give a factor from 0"),
        (phase("grid", 0.0, 0.0), "weights 0: no part is accessed in the phase"),
        (Phase { seconds: 0.0, ..phase("grid", 1.0, 1.0) }, "seconds 0: give a number above 0"),
    ] {
        refused(&with(&|r| r.phases.push(phase.clone())), &setup, reason);
    }
}
