//! How many times longer QEMU with the plugin takes than the CPU.

use crate::{
    cache_model::CacheModel,
    emulator::Emulator,
    error::ExactError,
    recorder::{Options, Recorder},
    stream::Out,
};
use pagetide_access::{Header, StreamWriter};
use pagetide_host::Host;
use pagetide_types::UnitSize;
use std::{ffi::OsString, fs, io, path::Path, process::Command, time::Duration};

/// CPU time of a program that does a little of everything (`plugin/calibrate.c`), in QEMU with the
/// plugin over natively: the smallest of three each. With `stream`, its accesses are written down
/// as well, to nowhere. Takes about two seconds.
///
/// # Errors
/// When it cannot be built or run.
pub fn dilation(emulator: &Emulator, cache: CacheModel, stream: bool) -> Result<f64, ExactError> {
    let program = emulator.calibration()?;
    let folder = tempfile::tempdir().map_err(ExactError::system("making a folder to calibrate"))?;
    let result = folder.path().join("seconds");
    let native = fastest(|| {
        let status = Command::new(&program).arg(&result).status();
        status.map_err(ExactError::system(format!("running {}", program.display())))?;
        seconds(emulator, &result)
    })?;
    let words: Vec<OsString> = vec![program.clone().into(), result.clone().into()];
    let emulated = fastest(|| {
        let options = Options {
            epoch: Duration::from_secs(3600),
            unit: UnitSize::Huge,
            limit: None,
            output_aside: true,
            cache,
            dilation: 1.0,
        };
        let writer = stream.then(|| nowhere(cache)).transpose()?;
        let mut recorder = Recorder::start(emulator, Host::live(), &words, options, writer)?;
        while recorder.epoch(&|| false)?.1.is_none() {}
        recorder.finish()?;
        seconds(emulator, &result)
    })?;
    tracing::debug!(native, emulated, stream, "calibration");
    Ok((emulated / native).max(1.0))
}

fn nowhere(cache: CacheModel) -> Result<StreamWriter<Out>, ExactError> {
    let header = Header {
        tool: String::new(),
        target: String::new(),
        cache: cache.size(),
        ways: cache.ways(),
        dilation: 1.0,
        facts: [].into(),
    };
    let out: Out = Box::new(io::sink());
    Ok(StreamWriter::new(out, &header)?)
}

fn fastest(mut run: impl FnMut() -> Result<f64, ExactError>) -> Result<f64, ExactError> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        best = best.min(run()?);
    }
    Ok(best)
}

/// CPU seconds that the program says it took.
fn seconds(emulator: &Emulator, result: &Path) -> Result<f64, ExactError> {
    let text = fs::read_to_string(result).unwrap_or_default();
    // The next run is not to find this one's.
    let _ = fs::remove_file(result);
    let seconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    seconds.filter(|seconds| *seconds > 0.0).ok_or_else(|| ExactError::Emulator {
        path: emulator.path().to_owned(),
        reason: "the program that times it did not end well; see what it printed".to_owned(),
    })
}
