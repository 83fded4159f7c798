//! Reads a scenario of a pool from TOML. What is wrong is said with the file, the line and the nearest
//! known key.

use super::super::hardware::pages_of;
use super::super::settings::{PoolError, refuse};
use super::PoolScenario;
use super::run::fits;
use crate::pool::Placement;
use crate::scenario::hint;
use pagetide_machine::{PoolMachine, model};

/// The most instructions of a core.
const MOST: u64 = 1_000_000_000_000;

/// A scenario from its text; `origin` names it in errors.
///
/// # Errors
/// Unknown and missing keys, values that make no sense, each in words.
pub fn parse(text: &str, origin: &str) -> Result<PoolScenario, PoolError> {
    let scenario: PoolScenario = toml::from_str(text).map_err(|source| PoolError::Syntax {
        origin: origin.to_owned(),
        hint: hint(source.message()),
        source: Box::new(source),
    })?;
    check(&scenario, origin).map_err(|error| error.in_file(origin))?;
    Ok(scenario)
}

fn check(scenario: &PoolScenario, origin: &str) -> Result<(), PoolError> {
    if scenario.programs.is_empty() {
        return refuse("program", &"[]", "nothing runs; give a [[program]] or more");
    }
    if !(1..=MOST).contains(&scenario.instructions) {
        return refuse("instructions", &scenario.instructions, "give from 1 to 10^12");
    }
    if scenario.warm_up > MOST {
        return refuse("warm_up", &scenario.warm_up, "give at most 10^12");
    }
    let _: Placement = scenario.placement.parse()?;
    let machine = machine(scenario, origin)?;
    if let Some(migration) = &scenario.migration {
        migration.check(pages_of(machine.local.capacity))?;
    }
    let pages = scenario.programs.iter().map(|program| program.check(1));
    // What streams have is known when they are read.
    match pages.collect::<Result<Option<Vec<u32>>, PoolError>>()? {
        Some(pages) => fits(scenario, &machine, &pages),
        None => Ok(()),
    }
}

/// The machine that a scenario names or holds, with the nodes that it says.
pub(super) fn machine(scenario: &PoolScenario, origin: &str) -> Result<PoolMachine, PoolError> {
    let wrong = |problem| PoolError::Machine { origin: origin.to_owned(), problem };
    let machine = match &scenario.pool {
        toml::Value::String(name) => PoolMachine::load(name).map_err(wrong)?,
        toml::Value::Table(table) => model::of_table(table, "the table").map_err(wrong)?,
        other => return refuse("pool", other, "give a name, a path or a table"),
    };
    let nodes = scenario.nodes.unwrap_or(machine.nodes);
    if !(1..=1024).contains(&nodes) {
        return refuse("nodes", &nodes, "give from 1 to 1024");
    }
    Ok(PoolMachine { nodes, ..machine })
}
