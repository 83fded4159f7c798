//! How many times longer QEMU with the plugin takes than the CPU.

use crate::{cache_model::CacheModel, emulator::Emulator, error::ExactError, recorder};
use std::{path::Path, process::Command};

/// CPU time of a program that does a little of everything (`plugin/calibrate.c`), in QEMU with the
/// plugin over natively: the smallest of three each. Takes about two seconds.
///
/// # Errors
/// When it cannot be built or run.
pub fn dilation(emulator: &Emulator, cache: &CacheModel) -> Result<f64, ExactError> {
    let program = emulator.calibration()?;
    let native = fastest(|| time(&mut Command::new(&program)))?;
    let emulated = fastest(|| {
        let folder = recorder::private_folder()?;
        let option = emulator.option(folder.path(), cache, None, false);
        time(Command::new(emulator.path()).arg("-plugin").arg(option).arg(&program))
    })?;
    tracing::debug!(native, emulated, "calibration");
    Ok((emulated / native).max(1.0))
}

fn fastest(mut run: impl FnMut() -> Result<f64, ExactError>) -> Result<f64, ExactError> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        best = best.min(run()?);
    }
    Ok(best)
}

/// CPU seconds that the program says it took.
fn time(command: &mut Command) -> Result<f64, ExactError> {
    let path = Path::new(command.get_program()).display().to_string();
    let output = command.output().map_err(ExactError::system(format!("running {path}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    seconds.filter(|seconds| *seconds > 0.0).ok_or_else(|| ExactError::Emulator {
        path: command.get_program().into(),
        reason: format!(
            "the program that times it ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ),
    })
}
