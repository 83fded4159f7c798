//! `pagetide policies` and `pagetide governors`: what the registries hold.

use crate::args::JsonArg;
use crate::commands::{out, print_json};
use anyhow::Result;
use pagetide_policy::{Class, GOVERNORS, OptionInfo, REGISTRY};
use pagetide_report::{GovernorRow, OptionRow, PolicyRow, Style};
use std::process::ExitCode;

pub(crate) fn policies(arguments: &JsonArg) -> Result<ExitCode> {
    let rows: Vec<PolicyRow> = REGISTRY
        .iter()
        .map(|info| PolicyRow {
            name: info.name.to_owned(),
            about: info.summary.to_owned(),
            source: info.source.to_owned(),
            can_run: info.class == Class::Runnable,
            options: info.options.iter().map(option).collect(),
        })
        .collect();
    if arguments.json {
        print_json(&rows)?;
    } else {
        out(&pagetide_report::policies(&rows, Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn governors(arguments: &JsonArg) -> Result<ExitCode> {
    let rows: Vec<GovernorRow> = GOVERNORS
        .iter()
        .map(|info| GovernorRow {
            name: info.name.to_owned(),
            about: info.summary.to_owned(),
            source: info.source.to_owned(),
            options: info.options.iter().map(option).collect(),
        })
        .collect();
    if arguments.json {
        print_json(&rows)?;
    } else {
        out(&pagetide_report::governors(&rows, Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn option(info: &OptionInfo) -> OptionRow {
    OptionRow {
        name: info.name.to_owned(),
        about: info.summary.to_owned(),
        default: info.default,
        low: info.range.0,
        high: info.range.1,
    }
}
