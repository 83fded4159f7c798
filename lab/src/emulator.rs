//! Which QEMU runs a guest: the machine's own, or, for CXL memory, one that is new enough.

use crate::{cache::Cache, topology::Topology};
use std::{
    ffi::OsString,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The program, of Debian's package `qemu-system-x86`.
pub(crate) const PROGRAM: &str = "qemu-system-x86_64";

/// The first QEMU in which volatile CXL memory is mapped as memory is. It is there since 8.1, but each access is a call
/// of the emulator's: 7 MiB/s.
const WITH_CXL: u32 = 11;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmulatorError {
    /// The machine's own is too old, and none was fetched.
    #[error(
        "CXL memory needs QEMU {WITH_CXL} or later, and {PROGRAM} here is {0}; scripts/lab-qemu.sh fetches one beside it"
    )]
    TooOld(String),
}

/// A QEMU, and what comes before its arguments.
#[derive(Debug)]
pub(crate) struct Emulator {
    program: PathBuf,
    before: Vec<OsString>,
}

impl Emulator {
    /// The one for a topology.
    pub(crate) fn find(cache: &Cache, topology: &Topology) -> Result<Self, EmulatorError> {
        let own = Self { program: PROGRAM.into(), before: Vec::new() };
        if topology.cxls.is_empty() {
            return Ok(own);
        }
        let fetched = cache.path("qemu");
        if fetched.join("complete").is_file() {
            return Ok(Self::unpacked(&fetched));
        }
        let version = version();
        match version.as_deref().map(major) {
            Some(Some(WITH_CXL..)) => Ok(own),
            _ => Err(EmulatorError::TooOld(version.unwrap_or_else(|| "not there".into()))),
        }
    }

    /// One that lies in a folder with its libraries and firmware, as `scripts/lab-qemu.sh` leaves it. It was built for
    /// another system, so its own loader starts it.
    fn unpacked(folder: &std::path::Path) -> Self {
        let (lib, bin) = (folder.join("lib"), folder.join("bin"));
        let before: [OsString; 5] = [
            "--library-path".into(),
            lib.clone().into(),
            bin.join(PROGRAM).into(),
            "-L".into(),
            folder.join("share").into(),
        ];
        Self { program: lib.join("ld-linux-x86-64.so.2"), before: before.into() }
    }

    /// A command that runs it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.before);
        command
    }
}

/// The machine's own, in words.
fn version() -> Option<String> {
    let said = Command::new(PROGRAM).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    Some(text.lines().next()?.trim_start_matches("QEMU emulator version ").to_owned())
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(major("7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)"), Some(7));
        assert_eq!(major("11.1.3 (Debian 1:11.1.3+ds-1)"), Some(11));
        assert_eq!(major("of tomorrow"), None);
    }

    #[test]
    fn one_that_was_fetched_is_started_by_its_own_loader_and_for_cxl_memory_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let of = |name| Emulator::find(&cache, &Topology::load(name).unwrap());
        std::fs::create_dir(folder.path().join("qemu")).unwrap();
        std::fs::write(folder.path().join("qemu/complete"), "11").unwrap();
        assert_eq!(of("shift").unwrap().command().get_program(), PROGRAM);
        let command = of("shift-cxl").unwrap().command();
        assert!(
            std::path::Path::new(command.get_program()).ends_with("qemu/lib/ld-linux-x86-64.so.2")
        );
        let arguments: Vec<_> = command.get_args().collect();
        assert!(arguments[2].to_string_lossy().ends_with("qemu/bin/qemu-system-x86_64"));
        assert!(arguments[4].to_string_lossy().ends_with("qemu/share"));
    }
}
