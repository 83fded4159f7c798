//! What each thing that the paper does not say is worth: the gain by migration with it as it is taken here,
//! and with it otherwise. Nothing of it is published.

use super::runs::{Change, Point, Runs, programs, title};
use crate::{Context, Figure, Outcome, ReproduceError, Row};
use pagetide_sim::pool::{Accounting, Migration, SwapStall};
use toml::Value;

pub(super) const FIGURE: Figure = Figure {
    id: "ablations",
    title: "Gain by migration, each inferred setting in turn another (M 50, threshold 10)",
    source: "section 4.1; not published",
    slow: true,
    run,
};

/// See [`Runs::speeds`].
pub(super) const BY_TIME: &str =
    "where pages are local at first, gains are of the time until the last core is done";

const EPOCHS: [(u64, &str); 1] = [(100_000, "100K")];

/// What is another.
pub(super) struct Ablation {
    pub(super) name: &'static str,
    placement: &'static str,
    changes: Vec<Change>,
    migration: fn(Migration) -> Migration,
}

impl Ablation {
    /// A point with it.
    pub(super) fn of(&self, mut point: Point) -> Point {
        point.changes.extend(self.changes.iter().cloned());
        let migration = point.migration.map(self.migration);
        Point { placement: self.placement, migration, ..point }
    }

    /// Whether points in which nothing moves are others, too.
    pub(super) fn is_of_machine(&self) -> bool {
        !self.changes.is_empty() || self.placement != "pool"
    }
}

/// The first of them changes nothing.
pub(super) fn ablations() -> Vec<Ablation> {
    let of = |name, migration| Ablation { name, placement: "pool", changes: vec![], migration };
    let same: fn(Migration) -> Migration = |of| of;
    let machine = |name, change| Ablation { changes: vec![change], ..of(name, same) };
    vec![
        of("as it is", same),
        of("moves cost nothing", |of| Migration { shootdown_us: 0.0, swap_us: 0.0, ..of }),
        of("swaps are done during the shootdown", |of| Migration {
            swap_stall: SwapStall::None,
            ..of
        }),
        of("only who needs a page waits for its swap", |of| Migration {
            swap_stall: SwapStall::Page,
            ..of
        }),
        of("swaps take their turn in the banks", |of| Migration { dma_in_banks: true, ..of }),
        of("an epoch begins when all nodes go on", |of| Migration { tick_in_stall: false, ..of }),
        of("write-backs are no accesses", |of| Migration { count_writes: false, ..of }),
        of("counts are looked for in memory and waited for", |of| Migration {
            accounting: Accounting::Within,
            ..of
        }),
        of("counts are kept over epochs", |of| Migration { keep_counts: true, ..of }),
        of("the table of hot pages keeps the first M", |of| Migration {
            pmt_entries: Some(of.most),
            ..of
        }),
        Ablation { placement: "local-first", ..of("local memory first", same) },
        Ablation { placement: "proportional", ..of("a ninth of the pages local", same) },
        machine(
            "network latency is that of both ways",
            ("network", "round_trip", Value::Boolean(true)),
        ),
        machine("a page lies in one bank", ("pool", "interleave", Value::String("4K".into()))),
        Ablation {
            changes: vec![
                ("pool", "interleave", Value::String("8K".into())),
                ("pool", "rows", table(&[("size", "8K".into()), ("hit_ns", 38.0.into())])),
            ],
            ..of("banks keep rows of 8 KiB open", same)
        },
        machine(
            "writes wait in a buffer of 32",
            ("pool", "write_buffer", table(&[("entries", 32.into())])),
        ),
        machine("ports carry all there is", ("network", "bandwidth_gb_s", Value::Float(1e6))),
        machine("a node's own memory takes 100 ns", ("local", "path_ns", Value::Float(55.0))),
        machine("writes as fast as reads", ("pool", "write_ns", Value::Float(300.0))),
        machine("eight misses under way", ("core", "outstanding", Value::Integer(8))),
        machine("two misses under way", ("core", "outstanding", Value::Integer(2))),
    ]
}

fn table(entries: &[(&str, Value)]) -> Value {
    Value::Table(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for program in programs(context) {
        let runs = Runs::new(context);
        let mut all = ablations();
        all.truncate(if context.small { 3 } else { all.len() });
        for (epoch_cycles, epoch) in EPOCHS {
            let points: Vec<Point> = all
                .iter()
                .flat_map(|ablation| {
                    let of = Migration { epoch_cycles, ..Migration::default() };
                    [Point::of(program), Point::of(program).moving(of)].map(|of| ablation.of(of))
                })
                .collect();
            let speeds = runs.speeds(&points)?;
            for (ablation, speed) in all.iter().zip(speeds.chunks(2)) {
                let what = format!("{}, {epoch}: {}", title(program), ablation.name);
                outcome.rows.push(Row::new(what, "x", speed[1] / speed[0]));
            }
        }
    }
    outcome.notes.push(BY_TIME.into());
    Ok(outcome)
}
