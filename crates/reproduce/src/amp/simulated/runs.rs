//! Simulated runs of [programs](super::programs): a program or a mix, a system, fast memory, an
//! interval. What they come to is accesses a second, over those with all memory fast.

use super::programs::{Change, PROGRAMS, Program};
use crate::simulated::{Named, geomean, simulate_named};
use crate::{Context, ReproduceError, Series, Tolerance, Values};

/// What manages memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    AllFast,
    /// Nimble's lists on base pages: they are exchanged in batches, as in the patch that the paper
    /// applies (section 5).
    ListsBase,
    /// Nimble's lists on huge pages.
    ListsHuge,
    Lru,
    Lfu,
    Random,
    Amp,
    /// AMP with other parameters: `ties=3`.
    AmpWith(&'static str),
}

impl System {
    /// As in the figures' legends.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AllFast => "all fast",
            Self::ListsBase => "LRU-lists-b",
            Self::ListsHuge => "LRU-lists-h",
            Self::Lru => "LRU",
            Self::Lfu => "LFU",
            Self::Random => "Random",
            Self::Amp => "AMP",
            Self::AmpWith(options) => options,
        }
    }

    /// The key of the simulator's registry, and the policy in place of its own.
    fn keys(self) -> String {
        let (name, policy) = match self {
            Self::AllFast => ("all-fast", String::new()),
            Self::ListsBase => ("nimble-exchange-base", String::new()),
            Self::ListsHuge => ("nimble-exchange-huge", String::new()),
            Self::Lru => ("lru", String::new()),
            Self::Lfu => ("lfu", String::new()),
            Self::Random => ("random", String::new()),
            Self::Amp => ("amp", String::new()),
            Self::AmpWith(with) => ("amp", format!("policy = \"amp:interval=0,{with}\"\n")),
        };
        format!("name = \"{name}\"\n{policy}")
    }
}

/// The policies that are fixed, in the order of the figures.
pub(super) const FIXED: [System; 3] = [System::Lru, System::Lfu, System::Random];

/// AMP without Random.
pub(super) const NEVER_RANDOM: System = System::AmpWith("threshold=1");

/// What is simulated.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) programs: Vec<Program>,
    pub(super) system: System,
    /// Share of each program's memory.
    pub(super) fast: f64,
    /// Between two decisions, seconds.
    pub(super) interval: f64,
    /// Memory and times are so many times larger than at the context's scale.
    pub(super) finer: u32,
    /// Of the programs.
    pub(super) change: Change,
    /// Of what is random.
    pub(super) seed: u64,
}

/// The usual one, as of scenarios that give none.
pub(super) const SEED: u64 = 0;

/// What AMP tells of a decision, by place: the mean hits of LRU and of LFU.
pub(super) const MEANS: [usize; 2] = [4, 5];

impl Run {
    /// Of one program, with half of its memory fast and decisions every 5 s.
    pub(super) fn of(program: Program, system: System) -> Self {
        Self::mix(&[program], system)
    }

    /// The same of several.
    pub(super) fn mix(programs: &[Program], system: System) -> Self {
        let programs = programs.to_vec();
        let change = Change::default();
        Self { programs, system, fast: 0.5, interval: 5.0, finer: 1, change, seed: SEED }
    }

    fn named(&self, context: &Context) -> Named {
        let Self { system, fast, interval, change, seed, .. } = self;
        let computing = change.computing;
        let names: Vec<&str> = self.programs.iter().map(|program| program.name).collect();
        // Everything is fast, and nothing decides: there is one such point.
        let (fast, interval) =
            if *system == System::AllFast { (1.0, 5.0) } else { (*fast, *interval) };
        let [seconds, warm_up] = if context.small { SMALL_S } else { LONG_S };
        let scale = (context.scale / self.finer).max(1);
        let huge_pages = *system != System::ListsBase;
        let tenants: String =
            self.programs.iter().map(|program| program.tenant(fast, *change)).collect();
        let keys = system.keys();
        // What the figures over time are drawn from.
        let usual = (fast, interval, self.finer, *seed) == (0.5, 5.0, 1, SEED)
            && *change == Change::default()
            && *system == System::Amp
            && names.len() == 1;
        Named {
            name: format!(
                "{},{},{fast},{interval},{computing},{seed}",
                names.join("+"),
                system.name()
            ),
            scenario: format!(
                "machine = \"amp\"\nscale = {scale}\nseconds = {seconds}\nwarm_up = {warm_up}\n\
                 huge_pages = {huge_pages}\ntlb = true\nseed = {seed}\n[system]\n{keys}interval = {interval}\n{tenants}"
            ),
            decisions: usual.then_some(&MEANS),
        }
    }
}

/// How long programs run and from when on accesses are counted: 8 intervals of warm-up, then 60,
/// of which 36 are AMP's window.
const LONG_S: [f64; 2] = [340.0, 40.0];
/// For tests.
const SMALL_S: [f64; 2] = [120.0, 40.0];

/// What a run came to.
#[derive(Clone, Debug)]
pub(super) struct Came {
    pub(super) values: Values,
}

impl Came {
    /// A value of one of its programs, by [`crate::simulated`]'s name.
    pub(super) fn of(&self, program: &str, what: &str) -> Result<f64, ReproduceError> {
        let name = format!("{program}.{what}");
        self.values.get(&name).copied().ok_or(ReproduceError::Missing(name))
    }
}

/// What runs came to, in order; what is not known yet is simulated.
pub(super) fn came(context: &Context, runs: &[Run]) -> Result<Vec<Came>, ReproduceError> {
    let named: Vec<Named> = runs.iter().map(|run| run.named(context)).collect();
    let values = simulate_named(context, "amp-programs", &named)?;
    Ok(values.into_iter().map(|values| Came { values }).collect())
}

/// The programs that a figure is made of: all, or few large ones of each class.
pub(super) fn programs(context: &Context) -> Vec<Program> {
    let small = ["cg.D", "graph500", "lu.D"];
    let chosen = |program: &&Program| !context.small || small.contains(&program.name);
    PROGRAMS.iter().filter(chosen).copied().collect()
}

/// How many decisions there are, and a value of each, by name: `choice` or a place of [`MEANS`].
pub(super) fn timeline(came: &Came, program: &str, what: &str) -> Vec<f64> {
    let value = |epoch: usize| came.values.get(&format!("{program}.{epoch}.{what}")).copied();
    (0..).map_while(value).collect()
}

/// The performance of programs under systems, over that with all memory fast.
pub(super) struct Performance {
    pub(super) programs: Vec<Program>,
    pub(super) systems: Vec<System>,
    /// By program, by system.
    pub(super) came: Vec<Vec<Came>>,
    pub(super) normalised: Vec<Vec<f64>>,
}

/// See [`Performance`]; `change` makes runs others than usual.
pub(super) fn performance(
    context: &Context,
    systems: &[System],
    change: impl Fn(&mut Run),
) -> Result<Performance, ReproduceError> {
    let programs = programs(context);
    let mut runs = Vec::new();
    for program in &programs {
        for system in [&[System::AllFast], systems].concat() {
            let mut run = Run::of(*program, system);
            change(&mut run);
            runs.push(run);
        }
    }
    let all = came(context, &runs)?;
    let mut came = Vec::new();
    let mut normalised = Vec::new();
    for (program, runs) in programs.iter().zip(all.chunks(systems.len() + 1)) {
        let rate = |came: &Came| came.of(program.name, "accesses_per_s");
        let fast = rate(&runs[0])?;
        let over = |came: &Came| Ok(rate(came)? / fast);
        normalised.push(runs[1..].iter().map(over).collect::<Result<Vec<_>, ReproduceError>>()?);
        came.push(runs[1..].to_vec());
    }
    Ok(Performance { programs, systems: systems.to_vec(), came, normalised })
}

impl Performance {
    /// Of a system, by program.
    pub(super) fn of(&self, system: System) -> Vec<f64> {
        let at = self.systems.iter().position(|known| *known == system);
        at.map_or_else(Vec::new, |at| self.normalised.iter().map(|row| row[at]).collect())
    }

    /// The best of some systems, by program.
    pub(super) fn best(&self, systems: &[System]) -> Vec<f64> {
        let all: Vec<Vec<f64>> = systems.iter().map(|system| self.of(*system)).collect();
        let best = |row: usize| all.iter().map(|of| of[row]).fold(0.0, f64::max);
        (0..self.programs.len()).map(best).collect()
    }

    /// Bars, one colour for each system.
    pub(super) fn series(&self, panel: &str) -> Vec<Series> {
        let bars = |system: &System| {
            let names = self.programs.iter().map(|program| program.name);
            let all = self.of(*system);
            let mean = geomean(all.iter().copied());
            Series::new(system.name(), "program", "performance, all fast is 1")
                .panel(panel)
                .points(names.zip(all))
                .point("geomean", mean)
        };
        self.systems.iter().map(bars).collect()
    }
}

/// By how many percent the geometric mean of the first is above that of the second.
pub(super) fn gain(of: &[f64], over: &[f64]) -> f64 {
    100.0 * (geomean(of.iter().copied()) / geomean(over.iter().copied()) - 1.0)
}

/// What is promised of a gain: a factor of 1.5.
pub(super) const WITHIN: Tolerance = Tolerance::Ratio(1.5);
