//! Points: a program on all nodes of the paper's machine, with or without migration.

use super::programs::named;
use crate::{Context, Key, ReproduceError, Values};
use pagetide_machine::{PoolMachine, model};
use pagetide_sim::pool::scenario::{PoolScenario, Traces, model_of, parse, run};
use pagetide_sim::pool::{Migration, PoolOutcome};
use toml::Value;

/// The paper's programs, in its order.
pub(super) const PROGRAMS: [&str; 5] = ["lulesh", "simplemoc", "pennant", "minife", "is"];

/// What the pictures call them.
pub(super) fn title(program: &str) -> &'static str {
    match program {
        "lulesh" => "LULESH",
        "simplemoc" => "SimpleMOC",
        "pennant" => "PENNANT",
        "minife" => "miniFE",
        _ => "IS",
    }
}

/// Nodes of the paper's machine.
pub(super) const NODES: u32 = 8;

/// A value of the machine that is another: table, key, value.
pub(super) type Change = (&'static str, &'static str, Value);

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) program: &'static str,
    pub(super) machine: &'static str,
    pub(super) nodes: u32,
    pub(super) changes: Vec<Change>,
    pub(super) placement: &'static str,
    pub(super) seed: u64,
    pub(super) migration: Option<Migration>,
}

impl Point {
    /// Eight nodes, nothing moves.
    pub(super) const fn of(program: &'static str) -> Self {
        Self {
            program,
            machine: PoolMachine::DEFAULT,
            nodes: NODES,
            changes: Vec::new(),
            placement: "pool",
            seed: 1,
            migration: None,
        }
    }

    pub(super) fn moving(self, migration: Migration) -> Self {
        Self { migration: Some(migration), ..self }
    }

    /// The same memory inside of each node: one is as good as all.
    pub(super) fn conventional(self) -> Self {
        Self { machine: "pcm-2019-conventional", nodes: 1, ..self }
    }

    /// With other latencies of the slow memory, ns.
    pub(super) fn with_latency(self, (read, write): (f64, f64)) -> Self {
        self.with(("pool", "read_ns", Value::Float(read))).with((
            "pool",
            "write_ns",
            Value::Float(write),
        ))
    }

    pub(super) fn with(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// All memory is the node's own, and as fast as that.
    pub(super) fn all_local(self) -> Self {
        let all = self.with(("local", "capacity", Value::String("8G".into())));
        Self { placement: "local-first", migration: None, ..all }
    }

    fn scenario(&self, small: bool) -> Result<PoolScenario, ReproduceError> {
        let mut machine = model::table::<PoolMachine>(self.machine)?;
        for (table, key, value) in &self.changes {
            if let Some(table) = machine.get_mut(*table).and_then(Value::as_table_mut) {
                table.insert((*key).to_owned(), value.clone());
            }
        }
        let (warm_up, instructions) = windows(small);
        Ok(PoolScenario {
            pool: Value::Table(machine),
            nodes: Some(self.nodes),
            placement: self.placement.to_owned(),
            instructions,
            warm_up,
            seed: self.seed,
            migration: self.migration.clone(),
            programs: vec![named(self.program)?],
        })
    }
}

/// What points came to: `ipc`, `delay-ns`, `local` (the share of fetches that local memory served),
/// `most-accesses`, `most-hot`, `moved`, `stalled-s`, `seconds`, `busy`.
pub(super) struct Runs<'c> {
    context: &'c Context,
    traces: Traces,
}

impl<'c> Runs<'c> {
    pub(super) fn new(context: &'c Context) -> Self {
        Self { context, traces: Traces::default() }
    }

    /// Those of all points, in their order; what is not known is simulated.
    pub(super) fn points(&self, points: &[Point]) -> Result<Vec<Values>, ReproduceError> {
        let keyed = |point: &Point| {
            let scenario = point.scenario(self.context.small)?;
            let text = serde_json::to_string(&scenario).unwrap_or_default();
            let key = Key::new("disaggregated", model_of(&scenario), self.context.scale)
                .with("program", point.program)
                .with("nodes", point.nodes)
                .with("moves", moves(point))
                .with("digest", crate::simulated::digest_of(&text));
            Ok((key, scenario))
        };
        let points: Vec<(Key, PoolScenario)> =
            points.iter().map(keyed).collect::<Result<_, ReproduceError>>()?;
        self.context.store.points(&points, |(_, scenario)| {
            // As who writes a file would give it.
            let text = toml::to_string(scenario)
                .map_err(|error| ReproduceError::Other(error.to_string()))?;
            let scenario = parse(&text, "disaggregated")?;
            let mut watch = |_| !self.context.store.stopped();
            Ok(values(&run(&scenario, "disaggregated", &self.traces, &mut watch)?))
        })
    }

    /// How fast the programs of all points are: instructions per cycle, as published. Where some pages are local at
    /// first, one core may have only such and another none, and a mean of both says little: there it is one over the
    /// time until the last core is done. Only ratios of points with the same placement are of use.
    pub(super) fn speeds(&self, points: &[Point]) -> Result<Vec<f64>, ReproduceError> {
        let of = |(point, values): (&Point, &Values)| match point.placement {
            "pool" => value(values, "ipc"),
            _ => Ok(1.0 / value(values, "seconds")?),
        };
        points.iter().zip(&self.points(points)?).map(of).collect()
    }

    /// Instructions per cycle of all points.
    pub(super) fn ipc(&self, points: &[Point]) -> Result<Vec<f64>, ReproduceError> {
        self.points(points)?.iter().map(|values| value(values, "ipc")).collect()
    }
}

fn moves(point: &Point) -> String {
    point.migration.as_ref().map_or_else(
        || "none".to_owned(),
        |of| format!("{}/{}/{}", of.threshold, of.most, of.epoch_cycles),
    )
}

fn values(outcome: &PoolOutcome) -> Values {
    let nodes = outcome.nodes.len().max(1) as f64;
    let moved: u64 = outcome.nodes.iter().map(|node| node.moved_in).sum();
    let stalled: f64 = outcome.nodes.iter().map(|node| node.stalled_s).sum();
    [
        ("ipc", outcome.ipc),
        ("delay-ns", outcome.delay_ns()),
        ("local", outcome.local_share()),
        ("most-accesses", f64::from(outcome.most_accesses())),
        ("most-hot", outcome.most_hot() as f64),
        ("moved", moved as f64 / nodes),
        ("stalled-s", stalled / nodes),
        ("seconds", outcome.seconds),
        ("busy", outcome.busy_share),
        ("requests", outcome.requests as f64),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Instructions of a core before those that count, and of these.
pub(super) const fn windows(small: bool) -> (u64, u64) {
    if small { (2_000_000, 2_000_000) } else { (100_000_000, 100_000_000) }
}

/// A value of a point.
pub(super) fn value(values: &Values, name: &str) -> Result<f64, ReproduceError> {
    values.get(name).copied().ok_or_else(|| ReproduceError::Missing(name.to_owned()))
}

/// The programs; two of them in a small set.
pub(super) fn programs(context: &Context) -> &'static [&'static str] {
    if context.small { &["simplemoc", "minife"] } else { &PROGRAMS }
}
