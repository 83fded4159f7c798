//! Runs `pagetide-lab` as a user would.

use std::{
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// The lab's binary.
pub(crate) const LAB: &str = env!("CARGO_BIN_EXE_pagetide-lab");

/// What a run left.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

/// A run of the lab, to be added to.
pub(crate) fn lab() -> Command {
    let mut command = Command::new(LAB);
    command.arg("run").current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    // A busy machine takes its time; that is no reason to fail.
    command.args(["--boot-timeout", "600", "--timeout", "1800"]);
    command
}

/// Runs the lab to its end.
#[expect(clippy::expect_used, reason = "a test's own command")]
pub(crate) fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the lab's binary is there");
    Ran {
        code: status.code().unwrap_or(-1),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}

/// Runs shell commands in a guest of `topology` and gives their output; they must succeed.
pub(crate) fn shell(topology: &str, commands: &str) -> String {
    let run = ran(lab().args(["-t", topology, "--with", LAB, "--", "sh", "-ec", commands]));
    assert_eq!(run.code, 0, "{run:?}");
    run.out
}

/// Does something beside four threads that compute.
pub(crate) fn beside_others<T>(what: impl FnOnce() -> T) -> T {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stopped = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = Stop(&stopped);
        for _ in 0..4 {
            scope.spawn(|| {
                while !stopped.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        what()
    })
}

/// Whether guests can be booted here; says why not.
pub(crate) fn can_boot(test: &str) -> bool {
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../.cache/lab/kernel/complete");
    let here = Command::new("qemu-system-x86_64").arg("--version").output().is_ok();
    let why = match (here, std::path::Path::new(kernel).exists()) {
        (true, true) => return true,
        (false, _) => "no QEMU; scripts/deps.sh lab installs it",
        (true, false) => "no kernel for guests; scripts/deps.sh lab fetches it",
    };
    eprintln!("SKIPPED {test}: {why}");
    false
}

/// Whether guests with CXL memory can; says why not.
pub(crate) fn can_have_cxl(test: &str) -> bool {
    if !can_boot(test) {
        return false;
    }
    let fetched = concat!(env!("CARGO_MANIFEST_DIR"), "/../.cache/lab/qemu/complete");
    let own = Command::new("qemu-system-x86_64").arg("--version").output();
    let version = own.ok().and_then(|said| String::from_utf8(said.stdout).ok());
    let major = version.as_deref().and_then(|said| {
        said.trim_start_matches("QEMU emulator version ").split('.').next()?.parse::<u32>().ok()
    });
    if std::path::Path::new(fetched).exists() || major >= Some(11) {
        return true;
    }
    eprintln!("SKIPPED {test}: no QEMU of version 11 or later; scripts/lab-qemu.sh fetches one");
    false
}

/// The program `pagetide` that was built beside the lab.
pub(crate) fn pagetide(test: &str) -> Option<PathBuf> {
    let path = PathBuf::from(LAB).with_file_name("pagetide");
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED {test}: {} was not built", path.display());
    None
}
