//! Who has a device open: asked of the helper that stays, for a process whose memory map is locked (as by a page that a
//! file system in user space does not bring) does not say what it has mapped, and would hold up who asks for it.

use crate::{Answer, Fault, LiveKernel, Why};
use pagetide_host::{Dev, DeviceKind, Host};
use std::time::Duration;

/// All processes are looked at within this time, or it is not known who has it open.
const LOOKING: Duration = Duration::from_secs(30);

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
    let users = host.device_users(device, kind).map_err(|error| error.to_string());
    let words = users.and_then(|users| {
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

impl LiveKernel {
    /// Who has a device open or mapped, as `NAME (PID)`, but for us.
    pub(crate) fn users_of(&self, device: Dev, kind: DeviceKind) -> Answer<Vec<String>> {
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
    fn what_makes_no_sense_is_not_answered() {
        for (kind, device) in [("tape", FULL), ("block", "1"), ("block", "a:7")] {
            assert_eq!(answer(&Host::live(), kind, device), None);
        }
    }
}
