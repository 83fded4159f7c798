//! Finds QEMU and says what it takes to load our plugin into it.

use crate::{build, build::QEMU_HEADER, cache_model::CacheModel, error::ExactError, folder};
use pagetide_types::Pid;
use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

const NAME: &str = "qemu-x86_64";

/// The plugin's files by name; the first is the one to compile.
const SOURCES: [(&str, &str); 9] = [
    ("exact.c", include_str!("../plugin/exact.c")),
    ("cache.h", include_str!("../plugin/cache.h")),
    ("execute.h", include_str!("../plugin/execute.h")),
    ("files.h", include_str!("../plugin/files.h")),
    ("leads.h", include_str!("../plugin/leads.h")),
    ("pages.h", include_str!("../plugin/pages.h")),
    QEMU_HEADER,
    ("shared.h", include_str!("../plugin/shared.h")),
    ("stream.h", include_str!("../plugin/stream.h")),
];

/// Ours to time QEMU with.
const CALIBRATE: [(&str, &str); 1] = [("calibrate.c", include_str!("../plugin/calibrate.c"))];

/// QEMU with the plugin built for it.
#[derive(Clone, Debug)]
pub struct Emulator {
    path: PathBuf,
    version: String,
    plugin: PathBuf,
}

impl Emulator {
    /// Finds QEMU in PATH, and builds the plugin if this is its first use.
    ///
    /// # Errors
    /// When QEMU or the compiler is missing, or the plugin's folder is not ours alone.
    pub fn find() -> Result<Self, ExactError> {
        let path = in_path(OsStr::new(NAME)).ok_or(ExactError::NoEmulator)?;
        let refused = |reason: String| ExactError::Emulator { path: path.clone(), reason };
        let output = Command::new(&path).arg("--version").output();
        let output = output.map_err(|error| refused(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version =
            text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let version = version.unwrap_or_default().to_owned();
        let major: u32 = version.split('.').next().unwrap_or_default().parse().unwrap_or(0);
        if major < 6 {
            let reason = format!("it says it is version '{version}', and 6 or newer is needed");
            return Err(refused(reason));
        }
        // QEMU 9.0 dropped version 1 of its interface; what we use of it stayed the same.
        let interface = if major < 9 { "-DPLUGIN_VERSION=1" } else { "-DPLUGIN_VERSION=2" };
        let flags: Vec<&str> = build::PLUGIN.into_iter().chain([interface]).collect();
        let plugin = build::build("exact.so", &SOURCES, &flags, &folder::cache()?)?;
        Ok(Self { path, version, plugin })
    }

    /// QEMU's version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The program to time it with, built if this is its first use.
    pub(crate) fn calibration(&self) -> Result<PathBuf, ExactError> {
        Ok(build::build("calibrate", &CALIBRATE, &["-std=gnu11", "-O2"], &folder::cache()?)?)
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is what runs in a process.
    pub(crate) fn runs(&self, pid: Pid) -> bool {
        let real = self.path.canonicalize();
        std::fs::read_link(format!("/proc/{pid}/exe")).ok() == real.ok()
    }

    /// The value of its option `-plugin`. For a `recorder` (a process), which maps the files in
    /// `folder`, programs wait when they end.
    pub(crate) fn option(
        &self,
        folder: &Path,
        cache: &CacheModel,
        recorder: Option<u32>,
        stream: bool,
    ) -> OsString {
        let mut option = OsString::from("file=");
        option.push(in_option(&self.plugin));
        option.push(",folder=");
        option.push(in_option(folder));
        option.push(format!(",sets={},ways={}", cache.sets(), cache.ways()));
        if let Some(recorder) = recorder {
            option.push(format!(",recorder={recorder}"));
        }
        if stream {
            option.push(",stream=1");
        }
        option
    }
}

/// QEMU parts options by commas; one in a value is doubled.
fn in_option(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = path.as_os_str().as_bytes().iter();
    let doubled = bytes.flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b',')));
    OsString::from_vec(doubled.collect())
}

/// Where a command lies: itself if it names a path, else the first executable of that name in
/// PATH.
pub(crate) fn in_path(command: &OsStr) -> Option<PathBuf> {
    use nix::unistd::{AccessFlags, access};
    let executable =
        |path: &PathBuf| path.is_file() && access(path.as_path(), AccessFlags::X_OK).is_ok();
    if Path::new(command).components().count() > 1 || command.is_empty() {
        return Some(PathBuf::from(command)).filter(executable);
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(command)).find(executable)
}
