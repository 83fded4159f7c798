//! Reads a scenario of a pool from TOML. What is wrong is said with the file, the line and the nearest
//! known key.

use super::super::hardware::pages_of;
use super::super::settings::{Chooser, PoolError, refuse};
use super::PoolScenario;
use super::payback_keys::{fill, gives};
use super::run::fits;
use crate::pool::Placement;
use crate::scenario::hint;
use pagetide_machine::{PoolMachine, model};
use toml::Table;

/// The most instructions of a core.
const MOST: u64 = 1_000_000_000_000;

/// A scenario from its text; `origin` names it in errors.
///
/// # Errors
/// Unknown and missing keys, values that make no sense, each in words.
pub fn parse(text: &str, origin: &str) -> Result<PoolScenario, PoolError> {
    let mut scenario: PoolScenario = toml::from_str(text).map_err(|source| PoolError::Syntax {
        origin: origin.to_owned(),
        hint: hint(source.message()),
        source: Box::new(source),
    })?;
    own_keys(&mut scenario, text, origin)?;
    check(&scenario, origin).map_err(|error| error.in_file(origin))?;
    Ok(scenario)
}

/// Gives a scenario's policy the values of its own, where the text gives none.
fn own_keys(scenario: &mut PoolScenario, text: &str, origin: &str) -> Result<(), PoolError> {
    if !scenario.migration.as_ref().is_some_and(|of| of.policy == Chooser::Payback) {
        return Ok(());
    }
    let syntax = |source| PoolError::Syntax {
        origin: origin.to_owned(),
        hint: String::new(),
        source: Box::new(source),
    };
    let mut table: Table = text.parse().map_err(syntax)?;
    fill(&mut table);
    *scenario = table.try_into().map_err(syntax)?;
    // A node with less memory of its own has no room for as many.
    let frames = pages_of(machine(scenario, origin)?.local.capacity);
    if let (Some(migration), false) = (&mut scenario.migration, gives(text, "most"))
        && let Ok(frames) = u32::try_from(frames)
    {
        migration.most = migration.most.min(frames);
    }
    Ok(())
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
    let several = scenario.programs.len() > 1;
    let pages = scenario.programs.iter().enumerate().map(|(number, program)| {
        let of = |error: PoolError| if several { error.of_program(number) } else { error };
        program.check(1).map_err(of)
    });
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
