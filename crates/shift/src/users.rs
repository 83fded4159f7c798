//! Who has a device open: asked of the helper that stays, for a process whose memory map is locked (as by a page that a
//! file system in user space does not bring) does not say what it has mapped, and would hold up who asks for it.

use crate::{Answer, Fault, LiveKernel, Why};
use pagetide_host::{Dev, DeviceKind, DeviceUser, Host};
use pagetide_types::Pid;
use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// All processes are looked at within this time, or it is not known who has it open.
const LOOKING: Duration = Duration::from_secs(30);

/// One of them, within this time.
const ONE: Duration = Duration::from_secs(2);

/// Where one did not say what it has, no device can be told to be unused. It is asked again after so long: until then
/// nobody waits for it.
const BLIND: Duration = Duration::from_secs(30);

const DOING: &str = "find out who has it open";

fn said(what: String) -> Fault {
    Fault { doing: DOING.into(), why: Why::Said(what) }
}

/// It has no number by which to look for it.
pub(crate) fn unknown() -> Fault {
    said("the kernel does not tell its number".into())
}

/// Answers `users KIND MAJOR:MINOR` with `done` and numbers and names of processes, or `cannot` and the reason; none: it
/// makes no sense.
pub(crate) fn answer(host: &Host, kind: &str, device: &str) -> Option<String> {
    let kind = match kind {
        "character" => DeviceKind::Character,
        "block" => DeviceKind::Block,
        _ => return None,
    };
    let (major, minor) = device.split_once(':')?;
    let device = Dev { major: major.parse().ok()?, minor: minor.parse().ok()? };
    let words = users_within(host, device, kind, ONE).and_then(|users| {
        let users: Vec<(i32, String)> =
            users.into_iter().map(|user| (user.pid.0, user.name)).collect();
        // A name may have line ends in it.
        serde_json::to_string(&users).map_err(|error| error.to_string())
    });
    Some(match words {
        Ok(words) => format!("done {words}"),
        Err(why) => format!("cannot {}", why.replace('\n', " ")),
    })
}

/// The processes that have a device, each of which is given so long to say so.
fn users_within(
    host: &Host,
    device: Dev,
    kind: DeviceKind,
    each: Duration,
) -> Result<Vec<DeviceUser>, String> {
    let pids = host.pids().map_err(|error| error.to_string())?;
    let (said, answers) = channel();
    let (asks, look) = (pids.clone(), host.clone());
    // It stays behind where a process does not answer, and ends with us.
    let ask = move || {
        for pid in asks {
            if said.send(look.device_user(pid, device, kind)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("users".into()).spawn(ask).map_err(|error| error.to_string())?;
    let answer = |pid: Pid| match answers.recv_timeout(each) {
        Ok(user) => user.map_err(|error| error.to_string()).transpose(),
        Err(RecvTimeoutError::Timeout) => {
            let name = host.process(pid).map(|it| it.name).unwrap_or_default();
            let s = each.as_secs_f64();
            Some(Err(format!("see what {name} ({pid}) has mapped: {STUCK} {s:.0} s")))
        }
        Err(RecvTimeoutError::Disconnected) => Some(Err("look at all processes".into())),
    };
    pids.into_iter().filter_map(answer).collect()
}

/// How it is told that a process did not say what it has.
const STUCK: &str = "it does not say so within";

impl LiveKernel {
    /// Who has a device open or mapped, as `NAME (PID)`, but for us. Where a process did not say so just before, it is not
    /// asked again.
    pub(crate) fn users_of(&self, device: Dev, kind: DeviceKind) -> Answer<Vec<String>> {
        if let Some((since, fault)) = &*self.blind.borrow()
            && since.elapsed() < BLIND
        {
            return Err(fault.clone());
        }
        let users = self.ask_for_users(device, kind);
        let stuck = |fault: &Fault| match &fault.why {
            Why::Said(why) => why.contains(STUCK),
            why => matches!(why, Why::TimeUp(_)),
        };
        let blind = users.as_ref().err().filter(|fault| stuck(fault));
        self.blind.replace(blind.map(|fault| (Instant::now(), fault.clone())));
        users
    }

    fn ask_for_users(&self, device: Dev, kind: DeviceKind) -> Answer<Vec<String>> {
        let kind = match kind {
            DeviceKind::Character => "character",
            DeviceKind::Block => "block",
        };
        let question = format!("users {kind} {}:{}", device.major, device.minor);
        let limit = self.patience.min(LOOKING);
        let words = self.helpers.ask_in_words(DOING, &question, limit, &|| false)?;
        let users: Vec<(i32, String)> = serde_json::from_str(&words)
            .map_err(|error| said(format!("the helper said {words:?} ({error})")))?;
        let us = std::process::id().cast_signed();
        let others = users.into_iter().filter(|(pid, _)| *pid != us);
        Ok(others.map(|(pid, name)| format!("{name} ({pid})")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// `/dev/full`, which nobody has open by chance.
    const FULL: &str = "1:7";

    #[test]
    fn a_name_with_a_line_end_is_told_in_one_line() {
        let root = tempfile::tempdir().unwrap();
        let process = root.path().join("proc/7");
        fs::create_dir_all(process.join("fd")).unwrap();
        fs::write(process.join("stat"), format!("7 (a\nb) S 1{}\n", " 0".repeat(48))).unwrap();
        fs::write(process.join("maps"), "").unwrap();
        let ask = || answer(&Host::new(root.path()), "character", FULL).unwrap();
        assert_eq!(ask(), "done []");
        std::os::unix::fs::symlink("/dev/full", process.join("fd/3")).unwrap();
        assert_eq!(ask(), r#"done [[7,"a\nb"]]"#);
        fs::remove_dir_all(root.path().join("proc")).unwrap();
        assert!(ask().starts_with("cannot "), "{}", ask());
    }

    #[test]
    fn a_process_that_does_not_say_what_it_has_is_named_after_a_moment() {
        let root = tempfile::tempdir().unwrap();
        let process = |pid: u32, name: &str| {
            let folder = root.path().join(format!("proc/{pid}"));
            fs::create_dir_all(folder.join("fd")).unwrap();
            let stat = format!("{pid} ({name}) S 1{}\n", " 0".repeat(48));
            fs::write(folder.join("stat"), stat).unwrap();
            folder.join("maps")
        };
        fs::write(process(7, "first"), "").unwrap();
        // Who opens a pipe that nobody writes to waits.
        let pipe = process(8, "held");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
        fs::write(process(9, "last"), "").unwrap();
        let device = Dev { major: 1, minor: 7 };
        let look = || {
            let each = Duration::from_millis(300);
            users_within(&Host::new(root.path()), device, DeviceKind::Character, each)
        };
        let since = Instant::now();
        let why = look().unwrap_err();
        assert!(why.contains("what held (8) has mapped") && why.contains(STUCK), "{why}");
        assert!(since.elapsed() < Duration::from_secs(20));
        fs::remove_file(&pipe).unwrap();
        fs::write(&pipe, "").unwrap();
        assert_eq!(look(), Ok(vec![]));
    }

    #[test]
    fn what_makes_no_sense_is_not_answered() {
        for (kind, device) in [("tape", FULL), ("block", "1"), ("block", "a:7")] {
            assert_eq!(answer(&Host::live(), kind, device), None);
        }
    }
}
