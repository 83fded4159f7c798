//! `pagetide trace`: looks into recordings.

use crate::commands::{open, out, print_json};
use crate::trace_args::{ByArg, ExportFormat, TraceCommand};
use anyhow::Result;
use pagetide_privilege::{Paths, without_privileges};
use pagetide_replay::{CpuCache, Overview};
use pagetide_report::Style;
use pagetide_trace::{Recording, Totals};
use std::io::{self, Write};
use std::process::ExitCode;

/// Rows of the heatmap.
const HEATMAP_ROWS: usize = 20;

pub(crate) fn run(command: &TraceCommand) -> Result<ExitCode> {
    let read = match command {
        TraceCommand::Info { recording, .. } | TraceCommand::Export { recording, .. } => {
            vec![recording.clone()]
        }
        TraceCommand::Diff { first, second, .. } => vec![first.clone(), second.clone()],
    };
    without_privileges(&Paths { read, ..Paths::default() })?;
    match command {
        TraceCommand::Info { recording, by: ByArg::Process, json } => {
            let recording = open(recording)?;
            let by = pagetide_trace::by_process(&recording)?;
            if json.json {
                print_json(&by)?;
            } else {
                let name = recording.path().to_string_lossy();
                let target = &recording.header().target;
                let style = Style::of_stdout();
                out(&pagetide_report::trace_processes(&by, &name, target, style))?;
            }
        }
        TraceCommand::Info { recording, by: ByArg::Area, json } => {
            let recording = Recording::open(recording)?;
            if json.json {
                print_json(&pagetide_trace::info(&recording)?)?;
            } else {
                // Both in one pass: reading is most of the time.
                let mut totals = Totals::default();
                let records = recording.records().inspect(|record| {
                    if let Ok(record) = record {
                        totals.add(&record.epoch, &record.heat);
                    }
                });
                let overview = Overview::of(&recording, records, HEATMAP_ROWS, CpuCache::NONE)?;
                let info = pagetide_trace::info_with(&recording, &totals)?;
                out(&pagetide_report::trace_info(&info, &overview, Style::of_stdout()))?;
            }
        }
        TraceCommand::Export { recording, format } => {
            let format = match format {
                ExportFormat::Csv => pagetide_trace::ExportFormat::Csv,
                ExportFormat::Jsonl => pagetide_trace::ExportFormat::JsonLines,
            };
            // Its names are escaped where recordings are read.
            let mut stdout = io::BufWriter::new(io::stdout().lock());
            pagetide_trace::export(&Recording::open(recording)?, format, &mut stdout)?;
            stdout.flush()?;
        }
        TraceCommand::Diff { first, second, verbose, json } => {
            let diff = pagetide_trace::diff(&open(first)?, &open(second)?)?;
            if json.json {
                print_json(&diff)?;
            } else {
                let (first, second) = (first.to_string_lossy(), second.to_string_lossy());
                let (names, style) = ([&*first, &*second], Style::of_stdout());
                out(&pagetide_report::trace_diff(&diff, names, *verbose, style))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
