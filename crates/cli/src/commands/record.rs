//! `pagetide record`: from a target to a recording.

use crate::args::{RecordArgs, RecordOptions, TargetArgs};
use crate::progress::Progress;
use crate::unknown::Unknown;
use crate::{exit, interrupt};
use anyhow::{Context, Result, bail};
use pagetide_host::{Features, Host};
use pagetide_scan::{End, Observer, Options, Recorder, ScanError, Target};
use pagetide_trace::{EpochRecord, Header, Owner, RecordingWriter, SCHEMA_VERSION};
use pagetide_types::{Bytes, Pid};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn run(arguments: &RecordArgs) -> Result<ExitCode> {
    let target = target(&arguments.target)?;
    let output = Output::to_keep(&arguments.output);
    let end = record(&target, &arguments.options, output, false)?;
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

/// Where a recording goes, and whose it is to be.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) path: &'a Path,
    /// None: ours.
    pub(crate) owner: Option<Owner>,
}

impl<'a> Output<'a> {
    /// A recording that stays: for who called us, be it through sudo.
    pub(crate) fn to_keep(path: &'a Path) -> Self {
        Self { path, owner: Owner::behind_sudo() }
    }
}

/// Records until the target ends, the time is up or the user interrupts. `output_aside`: what a
/// command prints goes to standard error.
pub(crate) fn record(
    target: &Target,
    options: &RecordOptions,
    Output { path: output, owner }: Output<'_>,
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
    let features = host.features();
    let observer = Observer::start(&host, &features)?;
    let settings = Options {
        epoch: options.epoch,
        unit: options.unit,
        budget: options.budget,
        limit: options.limit,
        output_aside,
        clear_shared: options.clear_shared,
    };
    let header = header(&features, target, &settings, &observer);
    let mut writer = RecordingWriter::create(output, &header, owner)?;
    let mut recorder = match Recorder::start(observer, host, target, settings) {
        Ok(recorder) => recorder,
        Err(error) => {
            // Nothing was recorded: leave no empty recording behind.
            writer.discard();
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
    let mut unknown = Unknown::default();
    let end = watch(&mut recorder, &progress, &send, &mut unknown);
    progress.finish();
    if let Some(note) = unknown.note(options.clear_shared) {
        eprintln!("pagetide: note: {note}");
    }
    if recorder.crowded() {
        eprintln!(
            "pagetide: note: more than half of the budget went into writing the rates of so many \
             units; to watch more of them choose a longer --epoch, a larger --budget or --unit 2M"
        );
    }
    drop(send);
    // Whatever happened, what was recorded is kept.
    let written = writing.join().map_err(|_| anyhow::anyhow!("the writing thread panicked"))?;
    if written.is_ok() && !matches!(end, Ok(End::TargetEnded(_))) {
        // A command whose recording failed goes on: it is not to suffer from us.
        note_killed(&recorder.terminate());
    }
    let context = || format!("recording to {}", output.display());
    written.with_context(context)?;
    end.with_context(context)
}

fn note_killed(pids: &[Pid]) {
    if !pids.is_empty() {
        let pids: Vec<_> = pids.iter().map(ToString::to_string).collect();
        eprintln!(
            "pagetide: note: killed what did not end within 5 s of SIGTERM: process {}",
            pids.join(", ")
        );
    }
}

/// Epoch by epoch until something ends it.
fn watch(
    recorder: &mut Recorder,
    progress: &Progress,
    send: &mpsc::SyncSender<EpochRecord>,
    unknown: &mut Unknown,
) -> Result<End, ScanError> {
    loop {
        let (record, end) = recorder.epoch(&interrupt::asked)?;
        if let Some(record) = record {
            unknown.add(&record);
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
    let plural = |count: u32, end| if count == 1 { "" } else { end };
    let epochs = epoch.epoch.0 + 1;
    format!(
        "{epochs} epoch{}, {:.0} % watched, {} in {} process{}, cost {:.1} % of a core",
        plural(epochs, "s"),
        epoch.watched_share * 100.0,
        record.heat.resident(),
        epoch.processes,
        plural(epoch.processes, "es"),
        epoch.recorder_s / epoch.length_s.max(1e-9) * 100.0
    )
}

fn header(features: &Features, target: &Target, options: &Options, observer: &Observer) -> Header {
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
    note("stall_counter", features.stall_events.map(|events| events.name.to_owned()));
    note("self_test", Some(observer.summary()));
    Header {
        schema_version: SCHEMA_VERSION,
        tool: concat!("pagetide ", env!("CARGO_PKG_VERSION")).into(),
        started_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_secs()),
        target: target.describe(),
        unit: options.unit,
        epoch_s: options.epoch.as_secs_f64(),
        gaps_s: pagetide_scan::gaps_s(),
        budget: options.budget,
        machine,
    }
}
