//! Whom to watch: a command that we start, processes with their descendants, or a cgroup.

use crate::error::ScanError;
use crate::target::pidfd;
use pagetide_host::{Cgroup, Host};
use pagetide_privilege::Account;
use pagetide_types::{Pid, shell};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long processes that were asked to end may take for it.
const PATIENCE: Duration = Duration::from_secs(5);

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
                // Quoted, so that it can be copied, and told from what only looks like it.
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                let shown: Vec<_> = words.iter().map(|word| shell::shown(word)).collect();
                shown.join(" ")
            }
            Self::Pids(pids) => {
                let pids: Vec<_> = pids.iter().map(ToString::to_string).collect();
                format!("pid {}", pids.join(","))
            }
            Self::Cgroup(path) => format!("cgroup {path}"),
        }
    }
}

/// A process that was named: held from the start, so that its number cannot come to mean another.
pub(crate) struct Root {
    pid: Pid,
    process: OwnedFd,
}

impl Root {
    fn open(pid: Pid, host: &Host) -> Result<Self, ScanError> {
        let process = pidfd::open(pid).map_err(|error| match error.raw_os_error() {
            Some(libc::ESRCH | libc::EINVAL) => ScanError::Gone(pid),
            _ => ScanError::system(format!("opening process {pid}"), error),
        })?;
        let found = host.process(pid).map_err(|_| ScanError::Gone(pid))?;
        if found.kernel_thread || found.has_ended() || pidfd::has_ended(&process) {
            return Err(ScanError::NoMemory(pid));
        }
        Ok(Self { pid, process })
    }

    /// It and its descendants; none once it has ended, whoever has its number then.
    fn family(&self, host: &Host) -> Vec<Pid> {
        let family = host.family(&[self.pid]).unwrap_or_default();
        // Asked afterwards: until here the number was its own.
        if pidfd::has_ended(&self.process) { Vec::new() } else { family }
    }
}

/// A target that runs.
pub(crate) enum Following {
    Command { child: Child, status: Option<ExitStatus> },
    Pids(Vec<Root>),
    Cgroup(Cgroup),
}

impl Following {
    /// Starts or finds the target, and refuses what cannot be watched.
    pub(crate) fn start(
        target: &Target,
        host: &Host,
        account: Option<&Account>,
        output_aside: bool,
    ) -> Result<Self, ScanError> {
        let following = match target {
            Target::Command(words) => Self::spawn(words, account, output_aside)?,
            Target::Pids(pids) => {
                Self::Pids(pids.iter().map(|pid| Root::open(*pid, host)).collect::<Result<_, _>>()?)
            }
            Target::Cgroup(path) => {
                let cgroup = host.cgroup(path).map_err(|e| ScanError::Target(e.to_string()))?;
                Self::Cgroup(cgroup)
            }
        };
        match &following {
            Self::Cgroup(cgroup) if following.pids(host).is_empty() => {
                return Err(ScanError::Target(format!(
                    "the cgroup {} holds no process to watch; start the program in it first",
                    cgroup.dir.display()
                )));
            }
            Self::Pids(_) | Self::Cgroup(_) | Self::Command { .. } => {}
        }
        Ok(following)
    }

    fn spawn(
        words: &[OsString],
        account: Option<&Account>,
        output_aside: bool,
    ) -> Result<Self, ScanError> {
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
        // It stays in our process group: it may read the terminal, and a Ctrl-C there reaches it
        // as well.
        pagetide_privilege::prepare(&mut command, account);
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
            Self::Pids(roots) => {
                let mut all: Vec<Pid> = roots.iter().flat_map(|root| root.family(host)).collect();
                all.sort_unstable();
                all.dedup();
                Ok(all)
            }
            Self::Cgroup(cgroup) => host.members(cgroup),
        };
        let found: Vec<Pid> = found.unwrap_or_default();
        found
            .into_iter()
            .filter(|pid| host.process(*pid).is_ok_and(|p| !p.has_ended() && !p.kernel_thread))
            .collect()
    }

    /// Whether the target has ended; collects the command's exit status. `known` are processes of
    /// it that were met: while one of them runs nobody else is looked for.
    pub(crate) fn ended(&mut self, host: &Host, known: &[Arc<OwnedFd>]) -> bool {
        if let Self::Command { child, status } = self {
            if status.is_none() {
                *status = child.try_wait().unwrap_or(None);
            }
            reap_orphans(child.id());
        }
        // From a cgroup one can go away without an end.
        let runs = !matches!(self, Self::Cgroup(_)) && !all_ended(known);
        !runs && self.pids(host).is_empty()
    }

    /// How the command ended, if it is a command and did.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        match self {
            Self::Command { status, .. } => *status,
            _ => None,
        }
    }

    /// Ends a command that we started, with all its descendants: asks them, and kills those that
    /// do not end within [`PATIENCE`]. Says whom it killed. Does nothing to other targets.
    pub(crate) fn terminate(&mut self, host: &Host) -> Vec<Pid> {
        let mut killed = Vec::new();
        if !matches!(self, Self::Command { .. }) {
            return killed;
        }
        // Once only: what they start in order to end well is not to be asked as well.
        self.signal_all(host, &[libc::SIGTERM, libc::SIGCONT]);
        if self.ends_within(host, PATIENCE) {
            return killed;
        }
        // Several times, for they may have started others meanwhile.
        for _ in 0..10 {
            killed.extend(self.signal_all(host, &[libc::SIGKILL]));
            if self.ends_within(host, PATIENCE / 20) {
                break;
            }
        }
        killed.sort_unstable();
        killed.dedup();
        killed
    }

    /// Sends signals to every process of the target; whom they reached.
    fn signal_all(&self, host: &Host, signals: &[libc::c_int]) -> Vec<Pid> {
        let open = |pid: Pid| Some((pid, pidfd::open(pid).ok()?));
        let opened: Vec<(Pid, OwnedFd)> = self.pids(host).into_iter().filter_map(open).collect();
        // A number may have passed on to a stranger before it was opened: look again.
        let still = self.pids(host);
        let all = opened.into_iter().filter(|(pid, _)| still.contains(pid));
        all.filter(|(_, fd)| signals.iter().all(|signal| pidfd::signal(fd, *signal)))
            .map(|(pid, _)| pid)
            .collect()
    }

    fn ends_within(&mut self, host: &Host, time: Duration) -> bool {
        let start = Instant::now();
        while !self.ended(host, &[]) {
            if start.elapsed() > time {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }
}

/// Whether none of these processes runs any more.
pub(crate) fn all_ended(processes: &[Arc<OwnedFd>]) -> bool {
    processes.iter().all(|process| pidfd::has_ended(process))
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

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_testing::{process_with_number, skip};

    #[test]
    fn a_number_that_passed_on_to_a_stranger_is_the_end_of_the_target() {
        let host = Host::live();
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = Pid(child.id().cast_signed());
        let mut following =
            Following::start(&Target::Pids(vec![pid]), &host, None, false).ok().unwrap();
        assert_eq!(following.pids(&host), [pid]);
        assert!(!following.ended(&host, &[]));
        child.kill().unwrap();
        child.wait().unwrap();
        let Some(stranger) = process_with_number(pid.0) else {
            return skip(
                "a_number_that_passed_on_to_a_stranger_is_the_end_of_the_target",
                "a process number cannot be chosen here",
            );
        };
        assert!(host.process(pid).is_ok(), "somebody has the number");
        assert_eq!(following.pids(&host), []);
        assert!(following.ended(&host, &[]));
        drop(stranger);
    }
}
