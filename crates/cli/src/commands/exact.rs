//! `--exact`: a command in QEMU, every access counted, to a recording.

use crate::args::RecordOptions;
use crate::commands::record::{self, Recorded};
use crate::commands::writing::Output;
use crate::interrupt;
use crate::progress::Progress;
use crate::short::time;
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use pagetide_access::StreamWriter;
use pagetide_exact::{
    BuildError, CacheModel, Emulator, End, ExactError, Options, Out, Recorder, Uncounted, dilation,
};
use pagetide_host::{Features, Host};
use pagetide_scan::Target;
use pagetide_trace::{EpochRecord, Header, Owner, RecordingWriter, Source};
use pagetide_types::Bytes;
use std::ffi::OsString;
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Without a size given by the user or the machine.
const CACHE: Bytes = Bytes::mib(2);

/// Records until the command ends, the time is up or the user interrupts. `cache` is the
/// machine's, if it has one.
pub(crate) fn record(
    words: &[OsString],
    options: &RecordOptions,
    cache: Option<Bytes>,
    Output { path, owner }: Output<'_>,
    output_aside: bool,
) -> Result<Recorded> {
    interrupt::listen();
    let asked = &options.exact;
    let size = asked.cache.or(cache).unwrap_or(CACHE);
    let cache = CacheModel::new(size, asked.ways)?;
    let emulator = Emulator::find().map_err(with_remedy)?;
    let slower = match asked.dilation {
        Some(times) => times,
        None => dilation(&emulator, cache, asked.stream.is_some()).map_err(with_remedy)?,
    };
    let settings = Options {
        epoch: options.epoch,
        unit: options.unit,
        limit: options.limit,
        output_aside,
        cache,
        dilation: slower,
    };
    let host = Host::live();
    let header = header(&host.features(), words, options, &settings, &emulator);
    if let Some(stream) = asked.stream.as_ref().filter(|stream| stream.exists()) {
        bail!("{} already exists; remove it or name another file", stream.display());
    }
    let mut writer = RecordingWriter::create(path, &header, owner)?;
    let stream = match &asked.stream {
        Some(path) => Some(stream(path, &header, &settings, owner)?),
        None => None,
    };
    let mut recorder = match Recorder::start(&emulator, host, words, settings, stream) {
        Ok(recorder) => recorder,
        Err(error) => {
            writer.discard();
            return Err(with_remedy(error));
        }
    };
    record::say_too_short(options);
    let first =
        format!("in QEMU; the first epoch is {} of the program's time", time(options.epoch));
    let progress = Progress::new("recording", None, options.quiet, vec![first]);
    let (mut epochs, mut failed) = (0, None);
    let end = loop {
        let (record, end) = match recorder.epoch(&interrupt::asked) {
            Ok(epoch) => epoch,
            Err(error) => break Err(error),
        };
        if let Some(record) = record {
            progress.update(summary(&record, &recorder));
            epochs += 1;
            if let Err(error) = writer.append(record) {
                failed = Some(error);
                break Ok(End::Stopped);
            }
        }
        if let Some(end) = end {
            break Ok(end);
        }
    };
    progress.finish();
    if failed.is_none() && matches!(end, Ok(End::Limit | End::Stopped)) {
        record::note_killed(&recorder.terminate());
    }
    say_uncounted(recorder.uncounted());
    let streamed = recorder.finish();
    let context = || format!("recording to {}", path.display());
    match failed {
        Some(error) => Err(error).with_context(context)?,
        None => writer.finish().with_context(context)?,
    }
    streamed.with_context(|| {
        format!("writing {}", asked.stream.clone().unwrap_or_default().display())
    })?;
    let end = match end.with_context(context)? {
        End::TargetEnded(status) => pagetide_scan::End::TargetEnded(status),
        End::Limit => pagetide_scan::End::Limit,
        End::Stopped => pagetide_scan::End::Stopped,
    };
    Ok(Recorded { end, epochs })
}

/// Where the plugin cannot be kept another folder helps, which the error does not say by itself.
fn with_remedy(error: ExactError) -> anyhow::Error {
    match error {
        ExactError::Build(BuildError::Write(..)) => anyhow::anyhow!(
            "{error}; there the plugin for QEMU is kept: name a folder that can be written in \
             PAGETIDE_CACHE"
        ),
        error => error.into(),
    }
}

/// The file of the stream, and its header.
fn stream(
    path: &Path,
    header: &Header,
    settings: &Options,
    owner: Option<Owner>,
) -> Result<StreamWriter<Out>> {
    let context = || format!("making {}", path.display());
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path).with_context(context)?;
    if let Some(owner) = owner {
        // Some file systems know no owners.
        let _ = owner.give(&file);
    }
    let header = pagetide_access::Header {
        tool: header.tool.clone(),
        target: header.target.clone(),
        cache: settings.cache.size(),
        ways: settings.cache.ways(),
        dilation: settings.dilation,
        facts: header.machine.clone(),
    };
    let out: Out = Box::new(BufWriter::with_capacity(1 << 20, file));
    Ok(StreamWriter::new(out, &header)?)
}

/// What is known after an epoch, the most important part first.
fn summary(record: &EpochRecord, recorder: &Recorder) -> Vec<String> {
    let epoch = &record.epoch;
    let end_s = epoch.start_s + epoch.length_s;
    let misses: f64 = record.heat.rate.iter().map(|rate| f64::from(*rate)).sum();
    vec![
        format!("{} epochs", epoch.epoch.0 + 1),
        format!("{end_s:.0} s of its own time"),
        format!("{} in {} processes", record.heat.resident(), epoch.processes),
        format!("{:.1} M misses/s", misses * 1e-6),
        format!("{:.0} s of CPU time", recorder.used_s().0),
    ]
}

/// Nothing is left out silently.
fn say_uncounted(uncounted: Uncounted) {
    let note = |text: String| tell!("pagetide: note: {text}");
    if uncounted.strangers > 0 {
        note(format!(
            "{} programs that the command executed were not counted: QEMU for x86-64 cannot run \
             them, or they change rights",
            uncounted.strangers
        ));
    }
    if uncounted.processes > 0 {
        note(format!(
            "threads of {} processes were not counted: they could not write into our folder (a \
             change of user or root?)",
            uncounted.processes
        ));
    }
    if uncounted.accesses > 0 {
        note(format!(
            "{} accesses beyond 128 GiB of a thread's memory were not counted",
            uncounted.accesses
        ));
    }
}

fn header(
    features: &Features,
    words: &[OsString],
    options: &RecordOptions,
    settings: &Options,
    emulator: &Emulator,
) -> Header {
    let target = Target::Command(words.to_vec());
    let mut header = record::plain_header(features, &target, options.unit, options.epoch);
    let cache = settings.cache;
    header.source = Source::Exact;
    header.began_with_target = true;
    header.cache_per_core = (cache.ways() > 0).then(|| cache.size());
    let mut note = |key: &str, value: String| header.machine.insert(key.to_owned(), value);
    note("emulator", format!("QEMU {}", emulator.version()));
    note("dilation", format!("{:.3}", settings.dilation));
    note("cache", cache.size().to_string());
    note("cache_ways", cache.ways().to_string());
    note("pages", "base pages".to_owned());
    header
}
