//! `pagetide record`: from a target to a recording.

use crate::account_args::AccountArgs;
use crate::args::{RecordArgs, RecordOptions, TargetArgs};
use crate::commands::exact;
use crate::commands::writing::{Output, Writing};
use crate::notes::{CTRL_C_KEEPS, Notes};
use crate::progress::Progress;
use crate::short::{enough, needed, needed_in_words, time, too_short};
use crate::tell::tell;
use crate::{exit, interrupt};
use anyhow::{Context, Result};
use pagetide_host::{Features, Host};
use pagetide_machine::Machine;
use pagetide_privilege::Capabilities;
use pagetide_replay::Plan;
use pagetide_scan::{End, Observer, Options, Recorder, ScanError, Target};
use pagetide_trace::{EpochRecord, Header, RecordingWriter, SCHEMA_VERSION, Source, Unknown};
use pagetide_types::{Bytes, Pid, UnitSize, shell};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) fn run(arguments: &RecordArgs) -> Result<ExitCode> {
    let Some(target) = target(&arguments.target) else {
        exit::missing(
            "record",
            "nothing to record; name a command after --, or give --pid or --cgroup",
        );
    };
    let output = Output::to_keep(&arguments.output);
    let cache = Machine::load(Machine::DEFAULT)?.cache_per_core;
    let what = What {
        target: &target,
        account: &arguments.account,
        then: Capabilities::NONE,
        planned: false,
    };
    let recorded = record(what, &arguments.options, cache, output, false)?;
    let path = shell::shown(&arguments.output.to_string_lossy());
    let began = matches!(target, Target::Command(_));
    let options = &arguments.options;
    tell!("{}", next_step(recorded, began, options, &path));
    Ok(code(recorded.end))
}

/// What was recorded, and what can be done with it. `began`: the target began with the recording.
fn next_step(
    Recorded { end, epochs }: Recorded,
    began: bool,
    options: &RecordOptions,
    path: &str,
) -> String {
    let (limit, needed) = (options.limit, needed(options));
    let ended = matches!(end, End::TargetEnded(_));
    let early = match limit {
        Some(limit) if ended => {
            format!("the target ended before --for {} was over; ", time(limit))
        }
        _ => String::new(),
    };
    if epochs < needed {
        let plural = if epochs == 1 { "" } else { "s" };
        let enough = time(enough(options));
        let longer = match ended {
            true => format!("record a run that takes {enough} or longer"),
            false => format!("--for {enough}"),
        };
        return format!(
            "{early}recorded {epochs} epoch{plural} to {path}, too few for a plan, which needs at least {} after the \
             program has filled its memory: {longer}; pagetide trace info {path} shows what is there",
            needed_in_words(needed)
        );
    }
    // What a plan may leave out at the start, and at the end of a target that ended.
    let left_out = if began { Plan::LEFT_OUT } else { (epochs / 2).max(2) } + u32::from(ended);
    let few = if epochs < needed + left_out {
        let after = if began {
            "those in which a program fills its memory"
        } else {
            "the first half of what ran before"
        };
        let but = if ended { ", without the last, in which it ended" } else { "" };
        let needed = needed_in_words(needed);
        format!(" (it needs {needed} after {after}{but}, so it may ask for more)")
    } else {
        String::new()
    };
    format!("{early}recorded {epochs} epochs to {path}; next: pagetide plan {path}{few}")
}

/// The exit code of a recording that was made: that of the command, as far as there is one.
pub(crate) fn code(end: End) -> ExitCode {
    match end {
        End::TargetEnded(Some(status)) if !status.success() => {
            tell!("pagetide: note: the command ended with {status}");
            ExitCode::from(exit::of_command(status))
        }
        End::Stopped => ExitCode::from(exit::INTERRUPTED),
        _ => ExitCode::SUCCESS,
    }
}

/// Whether a command can be started, as far as its file tells before anything is begun.
pub(super) fn check_command(target: &Target) -> Result<(), ScanError> {
    let Target::Command(words) = target else { return Ok(()) };
    // Others are looked for in PATH.
    let path = words.first().filter(|word| word.as_bytes().contains(&b'/')).map(Path::new);
    let Some((path, there)) = path.and_then(|path| Some((path, path.metadata().ok()?))) else {
        return Ok(());
    };
    let name = path.display();
    if there.is_dir() {
        let text = format!("'{name}' is a directory; name the program in it");
        return Err(ScanError::Target(text));
    }
    if there.permissions().mode() & 0o111 == 0 {
        let text =
            format!("'{name}' is not executable; chmod +x it, or name the program that reads it");
        return Err(ScanError::Target(text));
    }
    Ok(())
}

/// The target that the arguments name, if they do; at most one kind.
pub(crate) fn target(arguments: &TargetArgs) -> Option<Target> {
    if !arguments.command.is_empty() {
        return Some(Target::Command(arguments.command.clone()));
    }
    if let Some(cgroup) = &arguments.cgroup {
        return Some(Target::Cgroup(cgroup.clone()));
    }
    let pids: Vec<Pid> = arguments.pids.iter().map(|pid| Pid(*pid)).collect();
    (!pids.is_empty()).then_some(Target::Pids(pids))
}

/// What is recorded.
#[derive(Clone, Copy)]
pub(crate) struct What<'a> {
    pub(crate) target: &'a Target,
    pub(crate) account: &'a AccountArgs,
    /// What we go on to need after the recording.
    pub(crate) then: Capabilities,
    /// Whether a plan of it follows.
    pub(crate) planned: bool,
}

/// How a recording went.
#[derive(Clone, Copy)]
pub(crate) struct Recorded {
    pub(crate) end: End,
    /// Epochs that it holds.
    pub(crate) epochs: u32,
}

/// Records until the target ends, the time is up or the user interrupts. `output_aside`: what a
/// command prints goes to standard error. `cache` is that of a core of the machine planned for.
pub(crate) fn record(
    what: What<'_>,
    options: &RecordOptions,
    cache: Option<Bytes>,
    output: Output<'_>,
    output_aside: bool,
) -> Result<Recorded> {
    let What { target, account: asked, then, .. } = what;
    output.check()?;
    output.say_what_it_is();
    check_command(target)?;
    let account = asked.of(matches!(target, Target::Command(_)))?;
    if let (true, Target::Command(words)) = (options.exact.exact, target) {
        if let Some(account) = account {
            // Counting in QEMU takes no privilege at all.
            asked.say(Some(&account));
            let error = pagetide_privilege::again_as(&account);
            return Err(error).with_context(|| format!("going on as {}", account.name));
        }
        return exact::record(words, options, cache, output, output_aside);
    }
    interrupt::listen();
    let host = Host::live();
    let features = host.features();
    let observer = Observer::start(&host, &features)?;
    let settings = Options {
        epoch: options.epoch,
        opening: None,
        single_pages: None,
        unit: options.unit,
        budget: options.budget,
        by_busy_cores: false,
        thrifty: false,
        limit: options.limit,
        account: account.clone(),
        output_aside,
        clear_shared: options.clear_shared,
        cache_per_core: cache.unwrap_or(Options::default().cache_per_core),
        within: options.range.unwrap_or(Options::default().within),
        unmapped: true,
    };
    let header = header(&features, target, &settings, &observer);
    let writer = RecordingWriter::create(output.path, &header, output.owner)?;
    let mut recorder = match Recorder::start(observer, host, target, settings) {
        Ok(recorder) => recorder,
        Err(error) => {
            // Nothing was recorded: leave no empty recording behind.
            writer.discard();
            return Err(error.into());
        }
    };
    // Only now: a target may hold programs that are setuid.
    pagetide_privilege::confine(Capabilities::RECORDING | then)?;
    asked.say(account.as_ref());
    say_too_short(options);
    if let Some(note) = Notes::at_the_start(&recorder) {
        tell!("pagetide: note: {note}");
    }
    let first = format!("the first epoch takes {}", time(options.epoch));
    let progress = Progress::new(
        "recording",
        options.limit,
        options.quiet,
        vec![first, CTRL_C_KEEPS.to_owned()],
    );
    let mut writing = Writing::start(writer, output.path);
    let mut notes = Notes::new(options.clear_shared, options.epoch, Some(options.budget));
    let end = watch(&mut recorder, &progress, |record, also_watched| {
        for note in notes.take(&record, also_watched) {
            progress.say(&format!("pagetide: note: {note}"));
        }
        writing.take(record)
    });
    progress.finish();
    for note in notes.at_the_end(&recorder, what.planned) {
        tell!("pagetide: note: {note}");
    }
    // Whatever happened, what was recorded is kept.
    let written = writing.finish();
    if written.is_ok() && !matches!(end, Ok(End::TargetEnded(_))) {
        // A command whose recording failed goes on: it is not to suffer from us.
        note_killed(&recorder.terminate());
    }
    let epochs = written?;
    Ok(Recorded {
        end: end.with_context(|| format!("recording to {}", output.path.display()))?,
        epochs,
    })
}

/// Said once the recording goes on: what is wrong with the target comes first.
pub(crate) fn say_too_short(options: &RecordOptions) {
    if let Some(note) = too_short(options) {
        tell!("pagetide: note: {note}");
    }
}

pub(crate) fn note_killed(pids: &[Pid]) {
    if !pids.is_empty() {
        let pids: Vec<_> = pids.iter().map(ToString::to_string).collect();
        tell!(
            "pagetide: note: killed what did not end within 5 s of SIGTERM: process {}",
            pids.join(", ")
        );
    }
}

/// Epoch by epoch until something ends it, or `take` wants no more.
fn watch(
    recorder: &mut Recorder,
    progress: &Progress,
    mut take: impl FnMut(EpochRecord, usize) -> bool,
) -> Result<End, ScanError> {
    loop {
        let (record, end) = recorder.epoch(&interrupt::asked)?;
        if let Some(record) = record {
            progress.update(summary(&record));
            if !take(record, recorder.also_watched()) {
                return Ok(End::Stopped);
            }
        }
        if let Some(end) = end {
            return Ok(end);
        }
    }
}

/// What is known after an epoch, the most important part first.
fn summary(record: &EpochRecord) -> Vec<String> {
    let epoch = &record.epoch;
    let plural = |count: u32, end| if count == 1 { "" } else { end };
    let epochs = epoch.epoch.0 + 1;
    let resident = record.heat.resident();
    let mut unknown = Unknown::default();
    unknown.add(epoch, resident);
    let mut parts =
        pagetide_report::seen(record.heat.hot_set(), epoch.watched_share, unknown.share());
    let cost = epoch.recorder_s / epoch.length_s.max(1e-9) * 100.0;
    parts.extend([
        CTRL_C_KEEPS.to_owned(),
        format!("{epochs} epoch{}", plural(epochs, "s")),
        format!("{resident} in {} process{}", epoch.processes, plural(epoch.processes, "es")),
        format!("cost {cost:.1} % of a core"),
    ]);
    parts
}

/// What a recording by the recorder begins with.
pub(crate) fn header(
    features: &Features,
    target: &Target,
    options: &Options,
    observer: &Observer,
) -> Header {
    let mut header = plain_header(features, target, options.unit, options.epoch);
    header.gaps_s = pagetide_scan::gaps_s();
    header.budget = options.budget;
    if options.clear_shared {
        header.machine.insert("clear_shared".to_owned(), "yes".to_owned());
    }
    header.began_with_target = matches!(target, Target::Command(_));
    header.cache_per_core = Some(options.cache_per_core);
    header.machine.insert("self_test".to_owned(), observer.summary());
    header
}

/// What holds for recordings from any source.
pub(crate) fn plain_header(
    features: &Features,
    target: &Target,
    unit: UnitSize,
    epoch: Duration,
) -> Header {
    let mut machine = std::collections::BTreeMap::new();
    let mut note = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            machine.insert(key.to_owned(), value);
        }
    };
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    note("host", host.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
    note("kernel", features.release.clone());
    note("cpu", Some(features.cpu.model.clone()));
    note("memory", Some(Bytes(features.total.0).to_string()));
    note("nodes", Some(features.nodes.len().to_string()));
    note("huge_pages", features.huge_pages.as_ref().map(|pages| pages.enabled.clone()));
    note("stall_counter", features.stall_events.map(|events| events.name.to_owned()));
    Header {
        schema_version: SCHEMA_VERSION,
        tool: concat!("pagetide ", env!("CARGO_PKG_VERSION")).into(),
        started_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_secs()),
        target: target.describe(),
        unit,
        epoch_s: epoch.as_secs_f64(),
        gaps_s: Vec::new(),
        budget: 0.0,
        source: Source::Sampled,
        began_with_target: false,
        cache_per_core: None,
        machine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::short::tests::options;
    use pagetide_replay::LEAST_EPOCHS;

    const LEFT_OUT: u32 = Plan::LEFT_OUT;

    #[test]
    fn what_comes_next_depends_on_how_many_epochs_there_are() {
        let said = |epochs| {
            let recorded = Recorded { end: End::Limit, epochs };
            next_step(recorded, true, &options(Some(0), 5000), "x.heat")
        };
        assert_eq!(
            said(2),
            "recorded 2 epochs to x.heat, too few for a plan, which needs at least 3 after the program has filled its \
             memory: --for 30s; pagetide trace info x.heat shows what is there"
        );
        assert!(said(1).starts_with("recorded 1 epoch to x.heat, too few"), "{}", said(1));
        assert!(said(LEAST_EPOCHS - 1).contains("too few for a plan"));
        for epochs in LEAST_EPOCHS..LEAST_EPOCHS + LEFT_OUT {
            assert!(
                said(epochs).contains("next: pagetide plan x.heat (it needs 3 after those"),
                "{}",
                said(epochs)
            );
        }
        assert!(said(LEAST_EPOCHS + LEFT_OUT).ends_with("next: pagetide plan x.heat"));
    }

    #[test]
    fn of_short_epochs_a_plan_needs_more() {
        let said = |end, epochs| {
            next_step(Recorded { end, epochs }, false, &options(None, 1000), "x.heat")
        };
        let few = said(End::TargetEnded(None), 7);
        let needs =
            "too few for a plan, which needs at least 10, for 10 s at least, after the program";
        assert!(few.contains(needs), "{few}");
        assert!(few.contains("its memory: record a run that takes 13s or longer; "), "{few}");
        let said = |epochs| said(End::Limit, epochs);
        let perhaps = said(18);
        assert!(perhaps.contains("needs 10, for 10 s at least, after the first"), "{perhaps}");
        assert!(said(19).ends_with("next: pagetide plan x.heat"), "{}", said(19));
    }

    #[test]
    fn a_target_that_ended_or_ran_before_may_have_too_few() {
        let said = |began, end, epochs| {
            let recorded = Recorded { end, epochs };
            next_step(recorded, began, &options(Some(60_000), 5000), "x.heat")
        };
        let ended = End::TargetEnded(None);
        let five = said(false, ended, 5);
        assert_eq!(
            five,
            "the target ended before --for 60s was over; recorded 5 epochs to x.heat; next: \
             pagetide plan x.heat (it needs 3 after the first half of what ran before, without \
             the last, in which it ended, so it may ask for more)"
        );
        assert!(said(false, ended, 1).starts_with("the target ended before --for 60s was over; "));
        // Of six half are not judged, nor is the last; of seven three are.
        for (began, end, least) in [(false, ended, 7), (false, End::Limit, 5), (true, ended, 7)] {
            assert!(said(began, end, least - 1).ends_with("ask for more)"), "{least}");
            assert!(said(began, end, least).ends_with("plan x.heat"), "{least}");
        }
    }
}
