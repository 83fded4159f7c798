//! A scenario of a pool with values set: as [`crate::sweep::Draft`] does it for one of tiers.

use super::super::settings::PoolError;
use super::payback_keys::fill;
use super::plan::model_of;
use super::{PoolScenario, parse};
use crate::scenario::shorter;
use crate::sweep::{Setting, SweepError, key, longer, lost, ordered, set, taken};
use pagetide_machine::{PoolMachine, model};
use toml::{Table, Value};

/// The scenario with values set, and all that decides what comes of it.
pub(super) fn resolved(
    table: &Table,
    text: &str,
    origin: &str,
    settings: &[Setting],
) -> Result<(PoolScenario, String), SweepError> {
    let mut root = changed(table, origin, settings)?;
    let scenario = match settings {
        [] => parse(text, origin)?,
        _ => parse(&text_of(&root), origin)
            .map_err(|error| blamed(table, origin, settings, error))?,
    };
    machine(&mut root, origin)?;
    if let Value::Table(table) = &mut root {
        fill(table);
    }
    let key = format!("pool {} {}", model_of(&scenario), key(&root, "program"));
    Ok((scenario, key))
}

/// The scenario's table with values set.
fn changed(table: &Table, origin: &str, settings: &[Setting]) -> Result<Value, SweepError> {
    let mut root = Value::Table(table.clone());
    let ordered = ordered(settings);
    for setting in &ordered {
        let path: Vec<&str> = setting.path().split('.').collect();
        if let ["pool", _, ..] = path[..] {
            machine(&mut root, origin)?;
        }
        set(&mut root, &path, setting.value())
            .map_err(|problem| wrong(origin, setting, problem))?;
    }
    match lost(&root, &ordered) {
        Some((setting, by)) => Err(wrong(origin, setting, taken(by))),
        None => Ok(root),
    }
}

fn text_of(root: &Value) -> String {
    root.as_table().map(Table::to_string).unwrap_or_default()
}

fn wrong(origin: &str, setting: &Setting, problem: String) -> SweepError {
    SweepError::Setting { origin: origin.to_owned(), setting: setting.to_string(), problem }
}

/// The first setting with which the scenario cannot be read any more; nobody wrote the text that it stands in now.
fn blamed(table: &Table, origin: &str, settings: &[Setting], error: PoolError) -> SweepError {
    let syntax = |settings: &[Setting]| match parse(
        &text_of(&changed(table, origin, settings).ok()?),
        origin,
    ) {
        Err(PoolError::Syntax { source, hint, .. }) => Some((source, hint)),
        _ => None,
    };
    if !matches!(error, PoolError::Syntax { .. }) || syntax(&[]).is_some() {
        return error.into();
    }
    let first = (1..=settings.len()).find_map(|some| Some((some, syntax(&settings[..some])?)));
    first.map_or_else(
        || error.into(),
        |(some, (source, hint))| {
            let setting = &settings[some - 1];
            let hint = longer(table, setting.path())
                .map_or(hint, |path| format!("did you mean '{path}'?"));
            let problem = format!("{}; {hint}", shorter(source.message()));
            wrong(origin, setting, problem.trim_end_matches("; ").to_owned())
        },
    )
}

/// Puts the table of the machine in the place of its name.
fn machine(root: &mut Value, origin: &str) -> Result<(), SweepError> {
    let Value::Table(table) = root else { return Ok(()) };
    let there = table.entry("pool").or_insert_with(|| PoolMachine::DEFAULT.into());
    if let Value::String(name) = there {
        let named = model::table::<PoolMachine>(name).map_err(|source| SweepError::Machine {
            origin: origin.to_owned(),
            source: Box::new(source),
        })?;
        *there = Value::Table(named);
    }
    Ok(())
}
