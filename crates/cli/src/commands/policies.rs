//! `pagetide policies`: what the registry holds.

use crate::args::JsonArg;
use crate::commands::{out, print_json};
use anyhow::Result;
use pagetide_policy::{Class, REGISTRY};
use pagetide_report::{OptionRow, PolicyRow, Style};
use std::process::ExitCode;

pub(crate) fn run(arguments: &JsonArg) -> Result<ExitCode> {
    let rows: Vec<PolicyRow> = REGISTRY
        .iter()
        .map(|info| PolicyRow {
            name: info.name.to_owned(),
            about: info.summary.to_owned(),
            source: info.source.to_owned(),
            can_run: info.class == Class::Runnable,
            options: info
                .options
                .iter()
                .map(|option| OptionRow {
                    name: option.name.to_owned(),
                    about: option.summary.to_owned(),
                    default: option.default,
                    low: option.range.0,
                    high: option.range.1,
                })
                .collect(),
        })
        .collect();
    if arguments.json {
        print_json(&rows)?;
    } else {
        out(&pagetide_report::policies(&rows, Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}
