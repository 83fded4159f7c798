//! Two programs at a time (table 4): the first one has been running for a while when the second one starts.
//! Both then run for 300 s more [I]. The texts do not say how long a program takes for its work, so what
//! is compared is how fast it works between its start and the end.
//!
//! A program's memory is there when it starts, so the first one has all of DRAM then, whatever the offset;
//! on the paper's machine both fill it at a time when the offset is short. Every thread has a core, where
//! the paper's 24 cores have up to 39 threads.

use super::programs::{Program, SECONDS};
use super::runs::System;
use crate::simulated::simulate;
use crate::{Context, Outcome, ReproduceError, Series, Values};

/// Fast memory that both share, GB (section 5.1).
pub(super) const DRAM_GB: u32 = 32;
/// When the second program starts, s after the first. Those of section 3.3; for figures 14 and 18 the
/// texts give none [I].
pub(super) const OFFSETS_S: [u32; 3] = [5, 200, 400];

/// A program of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) memory_gb: f64,
    pub(super) threads: u32,
}

/// Two programs; the first one starts first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// Friendly to migration (F) or not (U).
    pub(super) case: &'static str,
    pub(super) members: [Member; 2],
}

const fn member(name: &'static str, memory_gb: f64, threads: u32) -> Member {
    Member { name, memory_gb, threads }
}

/// Table 4.
pub(super) const PAIRS: [Pair; 6] = [
    Pair { case: "FF", members: [member("Liblinear", 69.0, 15), member("FT", 40.0, 24)] },
    Pair { case: "FF", members: [member("Liblinear", 72.0, 15), member("SP", 57.0, 9)] },
    Pair { case: "UF", members: [member("Silo", 53.0, 1), member("FT", 80.1, 24)] },
    Pair { case: "UF", members: [member("GUPS", 64.0, 12), member("SP", 57.0, 12)] },
    Pair { case: "UU", members: [member("Silo", 60.0, 1), member("GUPS", 64.0, 24)] },
    Pair { case: "UU", members: [member("PageRank", 70.0, 12), member("GUPS", 64.0, 12)] },
];

/// How DRAM is given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dram {
    /// Who comes first has it, and nothing moves: the first program.
    FirstTouch,
    /// Both share it.
    Shared,
    /// The second program is bound to slow memory.
    Bound,
}

impl Pair {
    /// The pairs of a case.
    pub(super) fn of(case: &str) -> impl Iterator<Item = Self> {
        PAIRS.into_iter().filter(move |pair| pair.case == case)
    }

    /// What pictures call it.
    pub(super) fn name(&self) -> String {
        let [first, second] = self.members;
        format!("{}: {} + {}", self.case, first.name, second.name)
    }

    /// A scenario; a small one has few threads.
    fn scenario(&self, context: &Context, offset_s: u32, (system, dram): (System, Dram)) -> String {
        let fast_gb = if dram == Dram::Shared { [DRAM_GB / 2; 2] } else { [DRAM_GB, 0] };
        let seconds = f64::from(offset_s) + SECONDS;
        let mut text = format!(
            "machine = \"adaptive-cxl\"\nscale = {}\nseconds = {seconds}\nhuge_pages = false\n\
             [system]\n{}\n",
            context.scale, system.keys
        );
        for ((member, fast_gb), start_s) in self.members.iter().zip(fast_gb).zip([0, offset_s]) {
            let threads = if context.small { member.threads.min(2) } else { member.threads };
            let Some(program) = Program::named(member.name) else { continue };
            text += &program.tenant((member.memory_gb, fast_gb), threads, start_s);
        }
        text
    }
}

/// Pairs by offset and system.
pub(super) struct Pairs {
    systems: Vec<(System<'static>, Dram)>,
    /// A pair, its offset, and what it came to by system.
    rows: Vec<(Pair, u32, Vec<Values>)>,
}

/// Every pair at every offset under every system; the first of them is what all are compared with.
pub(super) fn run(
    context: &Context,
    pairs: &[Pair],
    offsets_s: &[u32],
    systems: &[(System<'static>, Dram)],
) -> Result<Pairs, ReproduceError> {
    let cases: Vec<(Pair, u32)> = pairs
        .iter()
        .flat_map(|pair| offsets_s.iter().map(move |offset| (*pair, *offset)))
        .collect();
    let texts: Vec<String> = cases
        .iter()
        .flat_map(|(pair, offset)| {
            systems.iter().map(move |system| pair.scenario(context, *offset, *system))
        })
        .collect();
    let found = simulate(context, "adaptive-pairs", &texts)?;
    let rows = cases.into_iter().zip(found.chunks(systems.len()));
    let rows = rows.map(|((pair, offset), values)| (pair, offset, values.to_vec())).collect();
    Ok(Pairs { systems: systems.to_vec(), rows })
}

/// How many times faster a program of a pair is than under the first system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speedup {
    pub(super) pair: Pair,
    pub(super) offset_s: u32,
    pub(super) program: &'static str,
    pub(super) factor: f64,
}

impl Pairs {
    /// By pair, offset and program, under a system.
    pub(super) fn speedups(&self, under: (System, Dram)) -> Vec<Speedup> {
        let Some(at) = self.systems.iter().position(|one| *one == under) else { return Vec::new() };
        let of = |(pair, offset_s, values): &(Pair, u32, Vec<Values>)| {
            let (pair, offset_s, values) = (*pair, *offset_s, values.clone());
            pair.members.map(|Member { name: program, .. }| {
                let rate = |at: usize| {
                    values[at]
                        .get(&format!("{program}.accesses_per_s"))
                        .copied()
                        .unwrap_or(f64::NAN)
                };
                Speedup { pair, offset_s, program, factor: rate(at) / rate(0) }
            })
        };
        self.rows.iter().flat_map(of).collect()
    }

    /// Execution times over the first system's: bars by program and offset, one picture for each pair.
    pub(super) fn draw(&self, outcome: &mut Outcome) {
        for system in &self.systems {
            let speedups = self.speedups(*system);
            let mut names: Vec<String> = speedups.iter().map(|one| one.pair.name()).collect();
            names.dedup();
            for name in names {
                let points = speedups
                    .iter()
                    .filter(|one| one.pair.name() == name)
                    .map(|one| (format!("{}, {} s", one.program, one.offset_s), 1.0 / one.factor));
                let label = if system.1 == Dram::Bound { "Manual bind" } else { system.0.name };
                let series = Series::new(label, "", "execution time over no migration");
                outcome.series.push(series.panel(&name).points(points));
            }
        }
        outcome.notes.push("the programs are models [I]: see adaptive/programs.rs".into());
        outcome.notes.push(
            "a program's memory is there when it starts: the first one has all of DRAM at every offset [I]"
                .into(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adaptive::runs::TPP_MOD;
    use pagetide_sim::scenario::parse;

    #[test]
    fn every_pair_is_a_scenario_of_both_with_the_second_one_later() {
        let context = Context { small: false, ..Context::in_memory(1024) };
        for pair in PAIRS {
            for dram in [Dram::FirstTouch, Dram::Shared, Dram::Bound] {
                let text = pair.scenario(&context, 200, (TPP_MOD, dram));
                let scenario =
                    parse(&text, "pair").unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!((scenario.tenants.len(), scenario.seconds), (2, 500.0));
                let fast: u64 =
                    scenario.tenants.iter().filter_map(|tenant| Some(tenant.fast?.0)).sum();
                assert_eq!(fast, u64::from(DRAM_GB) << 30);
                for (tenant, member) in scenario.tenants.iter().zip(pair.members) {
                    assert_eq!(
                        (&*tenant.name, tenant.threads),
                        (member.name, Some(member.threads))
                    );
                }
                let starts: Vec<f64> = scenario.tenants.iter().map(|tenant| tenant.start).collect();
                assert_eq!(starts, [0.0, 200.0]);
            }
        }
    }

    #[test]
    fn cases_are_what_the_paper_calls_friendly() {
        for pair in PAIRS {
            let letter = |member: Member| {
                let friendly = Program::named(member.name).unwrap().friendly(DRAM_GB);
                if friendly { 'F' } else { 'U' }
            };
            let letters: String = pair.members.map(letter).iter().collect();
            assert_eq!(letters, pair.case, "{}", pair.name());
        }
        assert_eq!(Pair::of("UF").count(), 2);
    }
}
