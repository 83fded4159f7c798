//! A command that we start: as whom it runs, and that it has nothing of ours.

use crate::account::Account;
use crate::{capability, files, precedence};
use nix::unistd::{Gid, Uid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Puts the same command line in our place, run as `account`; returns only if that fails.
pub fn again_as(account: &Account) -> io::Error {
    let mut words = std::env::args_os();
    let Ok(program) = std::env::current_exe() else { return io::Error::last_os_error() };
    let mut command = Command::new(program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command.args(words);
    prepare(&mut command, Some(account));
    command.exec()
}

/// What sudo tells its command of itself: who runs as the caller was not called through it.
const OF_SUDO: [&str; 5] = ["SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "SUDO_HOME"];

/// Has `command` run as `account` (as we do, if there is none), with the environment of that user;
/// without capabilities that it would only have from us; with the precedence and the limits that we
/// were started with.
pub fn prepare(command: &mut Command, account: Option<&Account>) {
    if let Some(account) = account {
        command.envs(account.environment());
        for name in OF_SUDO {
            command.env_remove(name);
        }
    }
    let change = account.map(|account| Change {
        uid: account.uid,
        gid: account.gid,
        groups: account.groups.iter().map(|group| group.as_raw()).collect(),
    });
    let limit = files::limit_before();
    let nice = precedence::ordinary_nice();
    // SAFETY: between fork and exec only system calls are made; nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            precedence::set_nice(nice);
            files::set_limit(limit)?;
            if let Some(change) = &change {
                change.apply()?;
            }
            capability::pass_none_on()
        });
    }
}

struct Change {
    uid: Uid,
    gid: Gid,
    groups: Vec<libc::gid_t>,
}

impl Change {
    /// For good: real, effective and saved.
    fn apply(&self) -> io::Result<()> {
        let (uid, gid) = (self.uid.as_raw(), self.gid.as_raw());
        // SAFETY: plain system calls that affect this (single-threaded) process only.
        let done = unsafe {
            libc::setgroups(self.groups.len(), self.groups.as_ptr()) == 0
                && libc::setresgid(gid, gid, gid) == 0
                && libc::setresuid(uid, uid, uid) == 0
        };
        if done { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_testing::skip;
    use std::collections::HashMap;

    /// What `/proc/self/status` says of a command, and its environment.
    fn run(account: Option<&Account>) -> (HashMap<String, String>, String) {
        let mut command = Command::new("sh");
        command.args(["-c", "cat /proc/$$/status; echo; echo ---; env; ulimit -n; nice"]);
        command.env("SUDO_UID", "7").env("SUDO_USER", "x");
        prepare(&mut command, account);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (status, rest) = text.split_once("---").unwrap();
        let fields = status.lines().filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        (fields.collect(), rest.to_owned())
    }

    fn is_root(test: &str) -> bool {
        let root = nix::unistd::geteuid().is_root();
        if !root {
            skip(test, "only root can become somebody else");
        }
        root
    }

    #[test]
    fn it_is_the_user_with_all_groups_and_no_capability_at_all() {
        if !is_root("it_is_the_user_with_all_groups_and_no_capability_at_all") {
            return;
        }
        let nobody = Account::named("nobody").unwrap();
        let account = nobody.clone();
        let ran = std::thread::spawn(move || {
            let ours: [libc::gid_t; 2] = [0, 7];
            // Root may have no groups to give up. SAFETY: a plain system call, for this thread alone.
            let set = unsafe { libc::syscall(libc::SYS_setgroups, ours.len(), ours.as_ptr()) };
            assert_eq!(set, 0, "{}", io::Error::last_os_error());
            run(Some(&account))
        });
        let (status, environment) = ran.join().unwrap();
        let id = nobody.uid().to_string();
        assert!(status["Uid"].split_whitespace().all(|word| word == id), "{status:?}");
        let gid = nobody.gid.to_string();
        assert!(status["Gid"].split_whitespace().all(|word| word == gid), "{status:?}");
        let mut groups = status["Groups"].split_whitespace();
        assert!(!groups.any(|group| ["0", "7"].contains(&group)), "{status:?}");
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert_eq!(status[set].trim_start_matches('0'), "", "{set}: {status:?}");
        }
        assert_eq!(status["NoNewPrivs"], "0", "its own setuid programs work");
        let home = format!("HOME={}\n", nobody.home.display());
        assert!(environment.contains(&home) && environment.contains("USER=nobody\n"));
        assert!(!environment.contains("SUDO_"), "{environment}");
    }

    #[test]
    fn without_an_account_it_is_who_we_are_and_keeps_the_environment() {
        let (status, environment) = run(None);
        let us = nix::unistd::geteuid().to_string();
        assert_eq!(status["Uid"].split_whitespace().next(), Some(us.as_str()));
        assert!(environment.contains("SUDO_UID=7\n"));
    }

    #[test]
    fn neither_our_precedence_nor_our_limits_are_passed_on() {
        let (_, before) = run(None);
        std::thread::spawn(move || {
            let _alone = files::ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let limit = files::limit_before().unwrap();
            // Another one than the first: where soft and hard limit are the same, raising changes nothing.
            files::set_limit(Some(libc::rlimit { rlim_cur: limit.rlim_cur - 1, ..limit })).unwrap();
            precedence::hurry();
            let (_, after) = run(None);
            let raised = files::raise_limit();
            let tail =
                |text: &str| text.lines().rev().take(2).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(tail(&after), tail(&before), "{raised:?}");
        })
        .join()
        .unwrap();
    }
}
