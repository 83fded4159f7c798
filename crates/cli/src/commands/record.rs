//! `pagetide record`: from a target to a recording.

use crate::args::{RecordArgs, RecordOptions, TargetArgs};
use crate::progress::Progress;
use crate::{exit, interrupt};
use anyhow::{Context, Result, bail};
use pagetide_host::Host;
use pagetide_scan::{End, Observer, Options, Recorder, ScanError, Target};
use pagetide_trace::{EpochRecord, Header, RecordingWriter, SCHEMA_VERSION};
use pagetide_types::{Bytes, Pid, UnitSize};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn run(arguments: &RecordArgs) -> Result<ExitCode> {
    let target = target(&arguments.target)?;
    let end = record(&target, &arguments.options, &arguments.output, false)?;
    eprintln!("recorded to {}; next: pagetide plan {0}", arguments.output.display());
    Ok(code(end))
}

/// The exit code of a recording that was made: that of the command, as far as there is one.
pub(crate) fn code(end: End) -> ExitCode {
    match end {
        End::TargetEnded(Some(status)) if !status.success() => {
            eprintln!("pagetide: note: the command ended with {status}");
            ExitCode::from(exit::of_command(status))
        }
        End::Stopped => ExitCode::from(exit::INTERRUPTED),
        _ => ExitCode::SUCCESS,
    }
}

/// The target that the arguments name; exactly one kind.
pub(crate) fn target(arguments: &TargetArgs) -> Result<Target> {
    if !arguments.command.is_empty() {
        return Ok(Target::Command(arguments.command.clone()));
    }
    if let Some(cgroup) = &arguments.cgroup {
        return Ok(Target::Cgroup(cgroup.clone()));
    }
    if arguments.pids.is_empty() {
        bail!("nothing to record; name a command after --, or give --pid or --cgroup");
    }
    Ok(Target::Pids(arguments.pids.iter().map(|pid| Pid(*pid)).collect()))
}

/// Records until the target ends, the time is up or the user interrupts. `output_aside`: what a
/// command prints goes to standard error.
pub(crate) fn record(
    target: &Target,
    options: &RecordOptions,
    output: &Path,
    output_aside: bool,
) -> Result<End> {
    if output.exists() {
        bail!("{} already exists; remove it or name another file", output.display());
    }
    let parent = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        let what = if parent.exists() { "is not a directory" } else { "does not exist" };
        bail!("{} {what}; make it, or write elsewhere", parent.display());
    }
    interrupt::listen();
    let host = Host::live();
    let observer = Observer::start(&host)?;
    let settings = Options {
        epoch: options.epoch,
        budget: options.budget,
        limit: options.limit,
        output_aside,
    };
    let header = header(&host, target, &settings, &observer);
    let mut writer = RecordingWriter::create(output, &header)?;
    let mut recorder = match Recorder::start(observer, host, target, settings) {
        Ok(recorder) => recorder,
        Err(error) => {
            // Nothing was recorded: leave no empty recording behind.
            drop(writer);
            let _ = std::fs::remove_dir_all(output);
            return Err(error.into());
        }
    };
    let progress = Progress::new(options.limit, options.quiet);
    // Writing a span takes long against the gaps of a burst: it has its own thread.
    let (send, receive) = mpsc::sync_channel::<EpochRecord>(4);
    let writing = thread::spawn(move || -> pagetide_trace::Result<()> {
        for record in receive {
            writer.append(record)?;
        }
        writer.finish()
    });
    let end = watch(&mut recorder, &progress, &send);
    progress.finish();
    drop(send);
    // Whatever happened, what was recorded is kept.
    let written = writing.join().map_err(|_| anyhow::anyhow!("the writing thread panicked"))?;
    if written.is_ok() && !matches!(end, Ok(End::TargetEnded(_))) {
        // A command whose recording failed goes on: it is not to suffer from us.
        recorder.terminate();
    }
    written.with_context(|| format!("recording to {}", output.display()))?;
    Ok(end?)
}

/// Epoch by epoch until something ends it.
fn watch(
    recorder: &mut Recorder,
    progress: &Progress,
    send: &mpsc::SyncSender<EpochRecord>,
) -> Result<End, ScanError> {
    loop {
        let (record, end) = recorder.epoch(&interrupt::asked)?;
        if let Some(record) = record {
            progress.update(record.epoch.start_s + record.epoch.length_s, summary(&record));
            if send.send(record).is_err() {
                // The writer gave up and says why.
                return Ok(End::Stopped);
            }
        }
        if let Some(end) = end {
            return Ok(end);
        }
    }
}

fn summary(record: &EpochRecord) -> String {
    let epoch = &record.epoch;
    format!(
        "{} resident in {} process{}, cost {:.1} % of a core",
        record.heat.resident(),
        epoch.processes,
        if epoch.processes == 1 { "" } else { "es" },
        epoch.recorder_s / epoch.length_s.max(1e-9) * 100.0
    )
}

fn header(host: &Host, target: &Target, options: &Options, observer: &Observer) -> Header {
    let features = host.features();
    let mut machine = std::collections::BTreeMap::new();
    let mut note = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            machine.insert(key.to_owned(), value);
        }
    };
    note("kernel", features.release.clone());
    note("cpu", Some(features.cpu.model.clone()));
    note("memory", Some(Bytes(features.total.0).to_string()));
    note("nodes", Some(features.nodes.len().to_string()));
    note("huge_pages", features.huge_pages.as_ref().map(|pages| pages.enabled.clone()));
    note("self_test", Some(observer.summary()));
    Header {
        schema_version: SCHEMA_VERSION,
        tool: concat!("pagetide ", env!("CARGO_PKG_VERSION")).into(),
        started_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_secs()),
        target: target.describe(),
        unit: UnitSize::Huge,
        epoch_s: options.epoch.as_secs_f64(),
        gaps_s: pagetide_scan::gaps_s(),
        budget: options.budget,
        machine,
    }
}
