//! Processes that come and go, watched on this machine.

use super::*;
use crate::observer::{Observer, REMEMBERED};
use crate::recorder::Options;
use crate::target::claims::Claims;
use crate::target::follow::Target;
use pagetide_host::Host;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// A shell that runs a script, as long as it is looked at.
struct Shell(Child);

impl Shell {
    fn runs(script: &str) -> Self {
        Self(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }

    fn pid(&self) -> Pid {
        Pid(self.0.id().cast_signed())
    }

    /// A recorder of it; none without root.
    fn recorded(&self, test: &str) -> Option<Recorder> {
        let host = Host::live();
        let observer = match Observer::start(&host, &host.features()) {
            Ok(observer) => observer,
            Err(error) => {
                pagetide_testing::skip(test, &error.to_string());
                return None;
            }
        };
        let epoch = Duration::from_millis(100);
        let options = Options { epoch, budget: 0.2, ..Options::default() };
        Some(Recorder::start(observer, host, &Target::Pids(vec![self.pid()]), options).unwrap())
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn of_processes_without_end_only_those_that_run_are_kept() {
    let name = "of_processes_without_end_only_those_that_run_are_kept";
    let shell = Shell::runs("while :; do for i in 1 2 3 4 5; do sleep 0.15 & done; wait; done");
    let Some(mut recorder) = shell.recorded(name) else { return };
    let mut most = 0;
    // Some five in an epoch.
    while recorder.spaces < 60 {
        assert!(recorder.epoch < 1000, "{} met", recorder.spaces);
        let (_, end) = recorder.epoch(&|| false).unwrap();
        assert_eq!(end, None);
        most = most.max(recorder.processes());
    }
    assert!(recorder.known.len() < 30, "{} for {most} at once", recorder.known.len());
    assert_eq!(recorder.known.len(), recorder.live.followed.len());
}

#[test]
fn what_is_dear_is_done_less_often() {
    let epochs =
        |cost_ns| (0..20).filter(|epoch| is_due(*epoch, cost_ns, 10e6)).collect::<Vec<_>>();
    assert_eq!(epochs(2_000_000).len(), 20, "a fifth of the budget");
    assert_eq!(epochs(18_000_000), [0, 9, 18]);
    assert_eq!(epochs(u64::MAX), [0], "but at first");
}

#[test]
fn whom_it_is_dear_to_look_for_is_met_later_but_not_while_nobody_is_left() {
    let name = "whom_it_is_dear_to_look_for_is_met_later_but_not_while_nobody_is_left";
    let folder = tempfile::tempdir().unwrap();
    // Of one, the shell could take the end of the first word for the second.
    let [go, end] = ["go", "end"].map(|name| folder.path().join(name));
    assert!(Command::new("mkfifo").args([&go, &end]).status().unwrap().success());
    let (first, second) = (go.display(), end.display());
    let mut shell =
        Shell::runs(&format!("read x < {first}; sleep 60 & read x < {second}; kill $!"));
    let Some(mut recorder) = shell.recorded(name) else { return };
    recorder.epoch(&|| false).unwrap();
    assert_eq!(recorder.processes(), 1);
    let dear = 1 << 40;
    recorder.refresh_ns = dear;
    std::fs::write(&go, "\n").unwrap();
    while Host::live().family(&[shell.pid()]).unwrap().len() < 2 {
        assert!(shell.0.try_wait().unwrap().is_none(), "it ended before anybody looked");
        std::thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..3 {
        recorder.epoch(&|| false).unwrap();
    }
    assert_eq!((recorder.processes(), recorder.refresh_ns), (1, dear), "nobody was looked for");
    recorder.known[0].alive = false;
    recorder.epoch(&|| false).unwrap();
    assert_eq!(recorder.processes(), 2);
    std::fs::write(&end, "\n").unwrap();
    shell.0.wait().unwrap();
}

#[test]
fn who_executes_another_program_stays_claimed() {
    let name = "who_executes_another_program_stays_claimed";
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("go");
    let waits = format!("until [ -e {} ]; do sleep 0.02; done; exec sleep 60", told.display());
    let shell = Shell::runs(&waits);
    let Some(mut recorder) = shell.recorded(name) else { return };
    recorder.epoch(&|| false).unwrap();
    std::fs::write(told, "").unwrap();
    let executes = |recorder: &Recorder| {
        let mut alive = recorder.known.iter().filter(|known| known.alive);
        alive.any(|known| known.pid == shell.pid() && known.command == "sleep")
    };
    let met = (0..200).any(|_| {
        recorder.epoch(&|| false).unwrap();
        executes(&recorder)
    });
    assert!(met, "the shell as another program");
    for _ in 0..5 {
        recorder.epoch(&|| false).unwrap();
    }
    let other = Claims::on(Path::new(REMEMBERED));
    assert!(!other.take(shell.pid()), "another recorder is not told of this one");
}
