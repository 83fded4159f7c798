//! Programs under systems, and what governors decided meanwhile.

use super::programs::{DRAM_GB, Program, THREADS};
use crate::simulated::{geomean, resolved, run};
use crate::{Context, Key, Outcome, ReproduceError, Series, Values};
use pagetide_policy::Verdict;
use pagetide_sim::scenario::parse;
use pagetide_sim::sweep::MODEL;
use pagetide_sim::systems::DecisionLog;

/// A system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct System<'a> {
    /// What the paper calls it.
    pub(super) name: &'static str,
    /// The keys of its `[system]`.
    pub(super) keys: &'a str,
    /// Cores for the kernel's threads; those that the programs leave, if none.
    spare_cores: Option<u32>,
}

impl<'a> System<'a> {
    pub(super) const fn of(name: &'static str, keys: &'a str) -> Self {
        Self { name, keys, spare_cores: None }
    }

    const fn with_cores(self, cores: u32) -> Self {
        Self { spare_cores: Some(cores), ..self }
    }

    /// The lines of a scenario that end with its keys.
    pub(super) fn lines(&self) -> String {
        let cores = self.spare_cores.map(|cores| format!("spare_cores = {cores}\n"));
        format!("{}[system]\n{}\n", cores.unwrap_or_default(), self.keys)
    }
}

pub(super) const NONE: System<'static> = System::of("No migration", "name = \"no-migration\"");
pub(super) const LINUX: System<'static> = System::of("Linux", "name = \"linux-tiering\"");
pub(super) const TPP: System<'static> = System::of("TPP", "name = \"tpp\"");
pub(super) const TPP_MOD: System<'static> = System::of("TPP-mod", "name = \"tpp-mod\"");
pub(super) const NOMAD: System<'static> = System::of("NOMAD", "name = \"nomad\"");
/// Its kernel's threads run where the program's do, or on two cores of their own (section 5.1).
pub(super) const MEMTIS: System<'static> = System::of("MEMTIS", "name = \"memtis\"").with_cores(0);
pub(super) const MEMTIS_2: System<'static> =
    System::of("MEMTIS (+2 core)", "name = \"memtis\"").with_cores(2);
/// With as much time for its samples as Pagetide has for watching: half a core.
pub(super) const MEMTIS_CHEAP: System<'static> =
    System::of("MEMTIS (+2 core, 60 ns a sample)", "name = \"memtis\"\nsample_ns = 60")
        .with_cores(2);
/// This project's, as `pagetide run` does it.
pub(super) const PAGETIDE: System<'static> = System::of("Pagetide", "name = \"pagetide\"");
/// Algorithms 1 and 2 as the text tells them, without guards of ours: what is held against published figures.
pub(super) const ADAPTIVE: System<'static> = System::of(
    "Adaptive",
    "name = \"adaptive\"\ngovernor = \"adaptive:churn=0,patience=0,floor=0,backoff=1\"",
);
/// With the guards that the governor has by default.
pub(super) const GUARDED: System<'static> = System::of("Adaptive, guarded", "name = \"adaptive\"");

/// What each scenario came to: of its tenant `accesses_per_s`, `fast_share`, `promoted`, `demoted` (bytes),
/// `stops` and `restarts`, and when the first two of each were (`first-stop-s`, …), as far as there were any; with `over_time` every answer of its governor, too: see [`Answer`].
pub(super) fn simulate(
    context: &Context,
    scenarios: &[String],
    over_time: bool,
) -> Result<Vec<Values>, ReproduceError> {
    let key = |text: &String| {
        let key = Key::new("adaptive", MODEL, context.scale).with("over-time", over_time);
        let key = key.with("scenario", text).with("digest", resolved(text, "adaptive")?);
        Ok((key, text.clone()))
    };
    let points: Vec<(Key, String)> =
        scenarios.iter().map(key).collect::<Result<_, ReproduceError>>()?;
    context.store.points(&points, |(_, text)| {
        let scenario = parse(text, "adaptive")?;
        let outcome = run(context, &scenario, "adaptive")?;
        let mut values = Values::new();
        for tenant in &outcome.tenants {
            let mut put = |name: &str, value: f64| values.insert(name.to_owned(), value);
            put("accesses_per_s", tenant.accesses_per_s);
            put("fast_share", tenant.fast_share);
            put("promoted", tenant.promoted as f64);
            put("demoted", tenant.demoted as f64);
        }
        let turns = |verdict: Verdict| {
            let is_one =
                |log: &&DecisionLog| log.turn.as_ref().is_some_and(|turn| turn.verdict == verdict);
            outcome.decisions.iter().filter(is_one).count() as f64
        };
        values.insert("stops".to_owned(), turns(Verdict::StandStill));
        values.insert("restarts".to_owned(), turns(Verdict::Migrate));
        for (verdict, names) in [
            (Verdict::StandStill, ["first-stop-s", "second-stop-s"]),
            (Verdict::Migrate, ["first-restart-s", "second-restart-s"]),
        ] {
            let all = outcome.decisions.iter().filter_map(|log| log.turn.as_ref());
            let at = all.filter(|turn| turn.verdict == verdict).map(|turn| turn.at_s);
            values.extend(names.map(str::to_owned).into_iter().zip(at));
        }
        if over_time {
            for (number, log) in outcome.decisions.iter().enumerate() {
                let mut put = |name, value| values.insert(format!("{number}.{name}"), value);
                put("s", log.at_s * scenario.scale);
                put("promoted", log.promote as f64 * scenario.scale);
                put("demote-promoted", log.promoted_then_demoted as f64 * scenario.scale);
                put("accessed", log.accessed as f64 * scenario.scale);
            }
        }
        Ok(values)
    })
}

/// A governor's answer, and what it was told since the one before; bytes.
pub(super) struct Answer {
    pub(super) at_s: f64,
    pub(super) promoted: f64,
    pub(super) demote_promoted: f64,
    /// Of what was looked at while the program was stopped.
    pub(super) accessed: f64,
}

/// All answers of a point's governor, in order.
pub(super) fn answers(values: &Values) -> Vec<Answer> {
    let answer = |number: usize| {
        let of = |name| values.get(&format!("{number}.{name}")).copied();
        Some(Answer {
            at_s: of("s")?,
            promoted: of("promoted")?,
            demote_promoted: of("demote-promoted")?,
            accessed: of("accessed")?,
        })
    };
    (0..).map_while(answer).collect()
}

/// A value of a point.
pub(super) fn value(values: &Values, name: &str) -> Result<f64, ReproduceError> {
    values.get(name).copied().ok_or_else(|| ReproduceError::Missing(name.to_owned()))
}

/// Programs by DRAM and system.
pub(super) struct Grid {
    systems: Vec<System<'static>>,
    /// A program, its DRAM in GB, and accesses a second by system.
    pub(super) rows: Vec<(&'static Program, u32, Vec<f64>)>,
    /// By row, when the last system's governor stopped it first, s.
    first_stop_s: Vec<Option<f64>>,
}

/// So many threads of each program under each system, at all sizes of DRAM.
pub(super) fn grid(
    context: &Context,
    threads: u32,
    programs: &[&'static Program],
    systems: &[System<'static>],
) -> Result<Grid, ReproduceError> {
    let sizes = if context.small { &DRAM_GB[..1] } else { &DRAM_GB };
    grid_of(context, threads, (programs, sizes), systems)
}

/// The same at other sizes.
pub(super) fn grid_of(
    context: &Context,
    threads: u32,
    (programs, sizes): (&[&'static Program], &[u32]),
    systems: &[System<'static>],
) -> Result<Grid, ReproduceError> {
    let pairs: Vec<(&Program, u32)> = programs
        .iter()
        .flat_map(|program| sizes.iter().map(move |dram_gb| (*program, *dram_gb)))
        .collect();
    let scenario = |(program, dram_gb): &(&'static Program, u32)| {
        let (program, what) = (*program, (context.scale, threads, *dram_gb));
        systems.iter().map(move |system| program.scenario(what, *system))
    };
    let texts: Vec<String> = pairs.iter().flat_map(scenario).collect();
    let found = simulate(context, &texts, false)?;
    let rates = |row: &[Values]| -> Result<Vec<f64>, ReproduceError> {
        row.iter().map(|one| value(one, "accesses_per_s")).collect()
    };
    let (mut rows, mut first_stop_s) = (Vec::new(), Vec::new());
    for ((program, dram_gb), row) in pairs.into_iter().zip(found.chunks(systems.len())) {
        rows.push((program, dram_gb, rates(row)?));
        first_stop_s.push(row.last().and_then(|last| last.get("first-stop-s").copied()));
    }
    Ok(Grid { systems: systems.to_vec(), rows, first_stop_s })
}

impl Grid {
    /// How many times faster than under another system a program is under this one, by row.
    pub(super) fn speedups(&self, system: System, over: System) -> Vec<f64> {
        let (Some(one), Some(other)) = (self.at(system), self.at(over)) else { return Vec::new() };
        self.rows.iter().map(|(_, _, rates)| rates[one] / rates[other]).collect()
    }

    /// The place of a system in its rows.
    fn at(&self, system: System) -> Option<usize> {
        self.systems.iter().position(|one| *one == system)
    }

    /// By row, how fast a program is under this system, of the best one.
    pub(super) fn of_best(&self, system: System) -> Vec<f64> {
        let Some(at) = self.at(system) else { return Vec::new() };
        let best = |rates: &[f64]| rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        self.rows.iter().map(|(_, _, rates)| rates[at] / best(rates)).collect()
    }

    /// The geometric mean of [`Self::speedups`] over rows of which something holds; none without one.
    pub(super) fn mean(
        &self,
        (system, over): (System, System),
        holds: impl Fn(&Program, u32) -> bool,
    ) -> Option<f64> {
        let rows = self.rows.iter().zip(self.speedups(system, over));
        let of = rows.filter(|((program, dram_gb, _), _)| holds(program, *dram_gb));
        let speedups: Vec<f64> = of.map(|row| row.1).collect();
        (!speedups.is_empty()).then(|| geomean(speedups))
    }

    /// When the last system's governor stopped each program first: after how much of its run nothing was
    /// lost any more.
    pub(super) fn stops(&self) -> Series {
        let points =
            self.rows.iter().zip(&self.first_stop_s).filter_map(|((program, gb, _), at)| {
                Some((format!("{}, {gb} GB", program.name), (*at)?))
            });
        Series::new("Adaptive", "", "first stop, s").panel("first stop").points(points)
    }

    /// Execution times against no migration: bars by program, one picture for each size.
    pub(super) fn draw(&self, outcome: &mut Outcome) {
        let mut sizes: Vec<u32> = self.rows.iter().map(|row| row.1).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            for system in &self.systems {
                let rows = self.rows.iter().zip(self.speedups(NONE, *system));
                let points = rows
                    .filter(|((_, dram_gb, _), _)| *dram_gb == size)
                    .map(|((program, ..), time)| (program.name, time));
                let series = Series::new(system.name, "", "execution time over no migration");
                outcome.series.push(series.panel(format!("{size} GB of DRAM")).points(points));
            }
        }
        outcome.notes.push("the programs are models [I]: see adaptive/programs.rs".into());
    }
}

/// The programs that a context asks for.
pub(super) fn programs(context: &Context) -> Vec<&'static Program> {
    let small = ["Liblinear", "GUPS"];
    let all = super::programs::PROGRAMS.iter();
    all.filter(|program| !context.small || small.contains(&program.name)).collect()
}

/// Threads of programs, fewer in a small set.
pub(super) fn threads(context: &Context) -> u32 {
    if context.small { 2 } else { THREADS }
}
