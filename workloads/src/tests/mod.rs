//! The programs as a user runs them: arguments in; lines, truth and errors out.

mod arguments;
mod patterns;
mod redis;
mod truth;

use crate::{error::Result, registry::Workload, session::Session, stop::Stop};
use clap::Parser;
use pagetide_trace::Recording;
use pagetide_types::EpochHeat;
use tempfile::TempDir;

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    workload: Workload,
}

/// The workload that a command line asks for.
fn parse(line: &str) -> Workload {
    let words = std::iter::once("workload").chain(line.split_whitespace());
    Line::try_parse_from(words).unwrap_or_else(|e| panic!("{line}: {e}")).workload
}

/// Runs a command line; what it printed.
fn run_until(line: &str, stop: Stop) -> Result<String> {
    let mut out = vec![];
    parse(line).program().run(&mut Session { out: &mut out, stop })?;
    Ok(String::from_utf8(out).unwrap())
}

fn run(line: &str) -> Result<String> {
    run_until(line, Stop::default())
}

/// The number behind `key=` in printed lines.
fn number(printed: &str, key: &str) -> f64 {
    let from = printed.find(&format!(" {key}=")).unwrap_or_else(|| panic!("{key} in {printed}"));
    let value = printed[from + key.len() + 2..].split_whitespace().next().unwrap();
    value.parse().unwrap()
}

/// What a run left: its lines, and its truth.
struct Ran {
    printed: String,
    recording: Recording,
    heats: Vec<EpochHeat>,
    /// Holds the recording.
    _folder: TempDir,
}

impl Ran {
    /// Accesses per unit in all epochs, as the recording's rates say.
    fn per_unit(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.recording.unit_count()];
        for (heat, epoch) in self.heats.iter().zip(self.recording.epochs()) {
            for row in heat.rows() {
                sums[row.unit.index()] += f64::from(row.rate) * epoch.length_s;
            }
        }
        sums
    }
}

/// Runs a command line with `--truth`.
fn run_with_truth(line: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.heat");
    let printed = run(&format!("{line} --truth {}", path.display())).unwrap();
    read(folder, printed)
}

/// Reads `truth.heat` in a folder.
fn read(folder: TempDir, printed: String) -> Ran {
    let recording = Recording::open(folder.path().join("truth.heat")).unwrap();
    assert!(recording.finished());
    let heats = recording.heat().collect::<std::result::Result<_, _>>().unwrap();
    Ran { printed, recording, heats, _folder: folder }
}
