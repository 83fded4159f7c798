//! Whom to watch: a command that we start, processes with their descendants, or a cgroup.

use crate::error::ScanError;
use pagetide_host::{Cgroup, Host};
use pagetide_types::Pid;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

/// What the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program and its arguments; it is started, and followed with all its descendants.
    Command(Vec<OsString>),
    /// Processes with their descendants.
    Pids(Vec<Pid>),
    /// A cgroup with all below it.
    Cgroup(String),
}

impl Target {
    /// As the recording's header names it.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Command(words) => {
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                words.join(" ")
            }
            Self::Pids(pids) => {
                let pids: Vec<_> = pids.iter().map(ToString::to_string).collect();
                format!("pid {}", pids.join(","))
            }
            Self::Cgroup(path) => format!("cgroup {path}"),
        }
    }
}

/// A target that runs.
pub(crate) enum Following {
    Command { child: Child, status: Option<ExitStatus> },
    Pids(Vec<Pid>),
    Cgroup(Cgroup),
}

impl Following {
    /// Starts or finds the target, and refuses what cannot be watched.
    pub(crate) fn start(
        target: &Target,
        host: &Host,
        output_aside: bool,
    ) -> Result<Self, ScanError> {
        let following = match target {
            Target::Command(words) => Self::spawn(words, output_aside)?,
            Target::Pids(pids) => Self::Pids(pids.clone()),
            Target::Cgroup(path) => {
                let cgroup = host.cgroup(path).map_err(|e| ScanError::Target(e.to_string()))?;
                Self::Cgroup(cgroup)
            }
        };
        if let Self::Pids(pids) = &following {
            for pid in pids {
                let process = host.process(*pid).map_err(|_| ScanError::Gone(*pid))?;
                if process.kernel_thread || process.has_ended() {
                    return Err(ScanError::NoMemory(*pid));
                }
            }
        }
        Ok(following)
    }

    fn spawn(words: &[OsString], output_aside: bool) -> Result<Self, ScanError> {
        let [program, arguments @ ..] = words else {
            return Err(ScanError::Target("no command given; write it after --".into()));
        };
        // Descendants whose parent ends become our children and so stay in sight.
        // SAFETY: plain system call that only affects this process.
        if unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } != 0 {
            return Err(ScanError::last("becoming a subreaper"));
        }
        let mut command = Command::new(program);
        command.args(arguments);
        if output_aside {
            let aside = io::stderr().as_fd().try_clone_to_owned();
            let aside = aside.map_err(|error| ScanError::system("duplicating stderr", error))?;
            command.stdout(aside);
        }
        // A Ctrl-C at the terminal is ours to handle: the command gets a process group of its
        // own only if it is not to read the terminal, so it stays in ours and sees it too.
        // SAFETY: resetting signal dispositions is allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                Ok(())
            });
        }
        match command.spawn() {
            Ok(child) => Ok(Self::Command { child, status: None }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ScanError::Target(
                format!("there is no command '{}'; check the spelling and PATH", program.display()),
            )),
            Err(error) => Err(ScanError::Target(format!(
                "'{}' cannot be started: {error}",
                program.display()
            ))),
        }
    }

    /// The living processes of the target, ascending.
    pub(crate) fn pids(&self, host: &Host) -> Vec<Pid> {
        let found = match self {
            Self::Command { .. } => {
                let us = Pid(std::process::id().cast_signed());
                host.family(&[us]).map(|all| all.into_iter().filter(|pid| *pid != us).collect())
            }
            Self::Pids(roots) => host.family(roots),
            Self::Cgroup(cgroup) => host.members(cgroup),
        };
        let found: Vec<Pid> = found.unwrap_or_default();
        found
            .into_iter()
            .filter(|pid| host.process(*pid).is_ok_and(|p| !p.has_ended() && !p.kernel_thread))
            .collect()
    }

    /// Whether the target has ended; collects the command's exit status.
    pub(crate) fn ended(&mut self, host: &Host) -> bool {
        if let Self::Command { child, status } = self {
            if status.is_none() {
                *status = child.try_wait().unwrap_or(None);
            }
            reap_orphans(child.id());
        }
        self.pids(host).is_empty()
    }

    /// How the command ended, if it is a command and did.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        match self {
            Self::Command { status, .. } => *status,
            _ => None,
        }
    }

    /// Asks a command that we started to end, and waits a while for it.
    pub(crate) fn terminate(&mut self) {
        if let Self::Command { child, status: status @ None } = self {
            // SAFETY: a signal to a child that was not yet collected: its number is its own.
            unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) };
            for _ in 0..50 {
                if let Ok(Some(end)) = child.try_wait() {
                    *status = Some(end);
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        }
    }
}

/// Collects adopted descendants that ended, but not the command itself, whose status is wanted.
fn reap_orphans(command: u32) {
    loop {
        // SAFETY: an all-zero siginfo is valid, and the call fills it in; WNOWAIT leaves the
        // child to be collected.
        let (found, pid) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            (libc::waitid(libc::P_ALL, 0, &raw mut info, flags), info.si_pid())
        };
        if found != 0 || pid == 0 || pid.unsigned_abs() == command {
            return;
        }
        // SAFETY: collects exactly the ended child found above.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
    }
}
