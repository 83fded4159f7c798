//! A redis server of one's own: on a private unix socket in a temporary folder, nothing kept on
//! disk, ended with its owner.

use crate::{
    error::{Result, WorkloadError, system},
    redis::{address::Address, client::Client},
    stop::Stop,
};
use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{Signal, kill},
    },
    unistd::{Pid, getppid},
};
use std::{
    fs, io,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// How long a server may take to start, and to end when asked.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// A running server; dropped, it is ended and its folder removed.
pub(crate) struct Server {
    child: Child,
    folder: TempDir,
}

impl Server {
    /// Starts a server and waits until it answers. Call it from the thread that lives as long
    /// as the server ought to: the kernel ends the server with that thread, even if it is killed.
    pub(crate) fn start(stop: &Stop) -> Result<Self> {
        let folder = TempDir::with_prefix("pagetide-redis-").map_err(system("make a folder"))?;
        let socket = folder.path().join("socket");
        let mut command = Command::new("redis-server");
        command
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no"])
            .args(["--databases", "1", "--logfile", "log", "--unixsocketperm", "700"])
            .arg("--unixsocket")
            .arg(&socket)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C goes to us alone; we end the server after its load has ended.
            .process_group(0);
        end_with(&mut command, nix::unistd::getpid());
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                WorkloadError::Missing { program: "redis-server", package: "redis-server" }
            }
            _ => system("start redis-server")(error),
        })?;
        let mut server = Self { child, folder };
        server.wait_until_ready(stop)?;
        Ok(server)
    }

    fn wait_until_ready(&mut self, stop: &Stop) -> Result<()> {
        let start = Instant::now();
        loop {
            let answer = Client::connect(&self.address()).and_then(|mut c| c.ask(&[b"PING"]));
            let ended = self.child.try_wait().map_err(system("wait for redis-server"))?;
            match (answer, ended) {
                (Ok(_), None) => return Ok(()),
                (Err(error), None) if start.elapsed() > PATIENCE => return Err(error),
                (_, Some(status)) => {
                    let reason = format!("redis-server ended ({status}): {}", self.last_words());
                    return Err(WorkloadError::Redis {
                        address: self.address().to_string(),
                        reason,
                    });
                }
                _ if stop.is_set() => return Ok(()),
                (Err(_), None) => thread::sleep(LOOK),
            }
        }
    }

    /// The last line of its log.
    fn last_words(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().last().unwrap_or("it left no log").to_owned()
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> Address {
        Address::Unix(self.folder.path().join("socket"))
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

/// Has what is started end with its parent, or not start at all where that has ended already.
fn end_with(command: &mut Command, parent: Pid) {
    let end_with_parent = move || {
        prctl::set_pdeathsig(Signal::SIGTERM)?;
        // It may have ended before that took effect.
        if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
    };
    // SAFETY: between fork and exec this makes two system calls and touches no memory.
    unsafe { command.pre_exec(end_with_parent) };
}

impl Drop for Server {
    fn drop(&mut self) {
        // Not yet waited for, so the pid is still its own.
        if let (Ok(None), Ok(pid)) = (self.child.try_wait(), i32::try_from(self.child.id())) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > PATIENCE {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
            thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_started_for_a_parent_that_has_ended() {
        let starts = |parent| {
            let mut command = Command::new("true");
            end_with(&mut command, parent);
            command.spawn().and_then(|mut child| child.wait()).map_err(|error| error.raw_os_error())
        };
        assert!(starts(nix::unistd::getpid()).is_ok_and(|status| status.success()));
        // As seen by a child that was adopted before it could ask to end with us.
        assert_eq!(starts(Pid::from_raw(i32::MAX)).unwrap_err(), Some(Errno::ESRCH as i32));
    }
}
