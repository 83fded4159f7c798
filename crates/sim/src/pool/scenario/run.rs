//! Runs a scenario of a pool.

use super::super::engine::{Engine, Program};
use super::super::outcome::PoolOutcome;
use super::super::settings::PoolError;
use super::PoolScenario;
use super::program::ProgramSpec;
use super::read::machine;
use super::traces::{Traced, Traces};
use pagetide_machine::PoolMachine;

/// What comes of a scenario; `origin` names it in errors. `watch` is told which share is done, and ends
/// it by answering false.
///
/// # Errors
/// What makes no sense, before anything runs; [`PoolError::Stopped`].
pub fn run(
    scenario: &PoolScenario,
    origin: &str,
    traces: &Traces,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<PoolOutcome, PoolError> {
    simulate(scenario, origin, traces, watch).map_err(|error| error.in_file(origin))
}

fn simulate(
    scenario: &PoolScenario,
    origin: &str,
    traces: &Traces,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<PoolOutcome, PoolError> {
    let machine = machine(scenario, origin)?;
    if !watch(0.0) {
        return Err(PoolError::Stopped);
    }
    let nodes = machine.nodes as usize;
    let length = (scenario.warm_up, scenario.instructions);
    // Of streams, too many pages are told before caches are filled for minutes; of others they were told before.
    let (alone, streams) = (scenario.programs.len() == 1, scenario.programs.iter().any(is_stream));
    if streams && !alone {
        let of = |program: &ProgramSpec| program.threads(machine.core.count, scenario.seed);
        let pages = scenario.programs.iter().map(|program| of(program).map(|of| of.pages));
        fits(scenario, &machine, &pages.collect::<Result<Vec<u32>, _>>()?)?;
    }
    let fits =
        |pages: u32| if streams && alone { fits(scenario, &machine, &[pages]) } else { Ok(()) };
    let traced: Vec<Traced> = scenario
        .programs
        .iter()
        .enumerate()
        .map(|(number, program)| {
            let of = |error: PoolError| if alone { error } else { error.of_program(number) };
            traces.of(program, &machine, length, scenario.seed, &fits).map_err(of)
        })
        .collect::<Result<_, _>>()?;
    let of_node = |node: usize| {
        let (filtered, pages) = &*traced[node % traced.len()];
        Program { misses: &filtered.misses, pages: *pages }
    };
    let programs: Vec<Program<'_>> = (0..nodes).map(of_node).collect();
    let placement = (scenario.placement.parse()?, scenario.seed);
    let mut engine = Engine::new(&machine, &programs, placement, scenario.migration.as_ref())?;
    if scenario.migration.as_ref().is_some_and(|migration| migration.most > 0) {
        let of_node = |node: usize| &traced[node % traced.len()].0;
        engine = engine.sharing(&(0..nodes).map(of_node).collect::<Vec<_>>());
    }
    engine.run(watch)
}

const fn is_stream(program: &ProgramSpec) -> bool {
    matches!(program, ProgramSpec::Stream { .. })
}

/// Whether programs of so many pages, which nodes take in turn, fit into a scenario's nodes and pool.
///
/// # Errors
/// Which key is in the way.
pub(super) fn fits(
    scenario: &PoolScenario,
    machine: &PoolMachine,
    pages: &[u32],
) -> Result<(), PoolError> {
    let program = |node: usize| Program { misses: &[], pages: pages[node % pages.len()] };
    let programs: Vec<Program<'_>> = (0..machine.nodes as usize).map(program).collect();
    let placement = (scenario.placement.parse()?, scenario.seed);
    Engine::new(machine, &programs, placement, scenario.migration.as_ref()).map(|_| ())
}
