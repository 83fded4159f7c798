//! Builds plugins for QEMU at their first use, and keeps them.

use crate::error::BuildError;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// For the compiler: what makes a plugin.
pub const PLUGIN: [&str; 7] =
    ["-std=gnu11", "-O3", "-Wall", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread"];

/// The part of QEMU's interface that our plugins use, as a file of [`build`].
pub const QEMU_HEADER: (&str, &str) = ("qemu.h", include_str!("../plugin/qemu.h"));

/// The plugin (or program) `name` in `folder`, built with these flags if it is not there. `sources`
/// are files by name and text; the first is the one to compile.
///
/// # Errors
/// When there is no compiler, it refuses, or a file cannot be written.
pub fn build(
    name: &str,
    sources: &[(&str, &str)],
    flags: &[&str],
    folder: &Path,
) -> Result<PathBuf, BuildError> {
    let plugin = folder.join(format!("{name}-{:016x}", fingerprint(sources, flags)));
    if plugin.is_file() {
        return Ok(plugin);
    }
    // Beside the plugin, so that it can be renamed in one step, for others that build it at the
    // same time.
    let scratch = tempfile::Builder::new().prefix(".build-").tempdir_in(folder);
    let scratch = scratch.map_err(|error| BuildError::Write(folder.to_owned(), error))?;
    let write = |path: &Path| {
        let path = path.to_owned();
        move |error| BuildError::Write(path, error)
    };
    for (name, text) in sources {
        let path = scratch.path().join(name);
        fs::write(&path, text).map_err(write(&path))?;
    }
    let built = scratch.path().join("built");
    let main = sources.first().map(|(name, _)| scratch.path().join(name)).unwrap_or_default();
    let mut gcc = Command::new("gcc");
    gcc.args(flags).arg("-o").arg(&built).arg(main);
    let gcc = gcc.output().map_err(BuildError::Compiler)?;
    if !gcc.status.success() {
        return Err(BuildError::Refused(String::from_utf8_lossy(&gcc.stderr).into_owned()));
    }
    match fs::rename(&built, &plugin) {
        Ok(()) => Ok(plugin),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(plugin),
        Err(error) => Err(BuildError::Write(plugin, error)),
    }
}

/// Tells versions of a plugin apart (FNV-1a over its code and the compiler's flags).
fn fingerprint(sources: &[(&str, &str)], flags: &[&str]) -> u64 {
    let texts = sources.iter().flat_map(|(name, text)| [*name, *text]);
    let texts = texts.chain(flags.iter().copied());
    texts.flat_map(str::bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_code_or_flags_is_another_plugin() {
        let one = fingerprint(&[("a.c", "x")], &[]);
        assert_ne!(one, fingerprint(&[("a.c", "y")], &[]));
        assert_ne!(one, fingerprint(&[("a.c", "x")], &["-DY"]));
        assert_eq!(one, fingerprint(&[("a.c", "x")], &[]));
    }

    #[test]
    fn the_compilers_complaint_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error =
            build("bad", &[("bad.c", "no C")], &PLUGIN, folder.path()).unwrap_err().to_string();
        assert!(error.contains("bad.c:1"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
