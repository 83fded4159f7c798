//! The kernel's own NUMA balancing, put aside while we move pages (`kernel.numa_balancing`,
//! Documentation/admin-guide/sysctl/kernel.rst). Two that move the same pages undo each other's
//! work: mode 1 takes pages to the node of the CPU that touches them, mode 2 to the faster tier.
//!
//! What the value was stands in a note, written before it is changed, with the processes for which
//! it is kept. The last of them restores it; if they were killed, the next start does. The note lies
//! below `/run`, so that it does not outlive the setting, which a boot resets.

use pagetide_host::{Host, Identity};
use pagetide_types::Pid;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

const SYSCTL: &str = "proc/sys/kernel/numa_balancing";
const NOTE: &str = "run/pagetide/numa_balancing";

/// Put aside for as long as this lives.
#[derive(Debug)]
pub struct TakeOver {
    host: Host,
    us: Identity,
}

/// What stands in the note.
#[derive(Debug, Default, PartialEq, Eq)]
struct Note {
    /// The value before; empty: there is no note.
    before: String,
    /// For whom it is kept.
    owners: Vec<Identity>,
}

impl Note {
    /// The value on the first line, a process with its start on each other.
    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let before = lines.next().unwrap_or_default().trim().to_owned();
        let owner = |line: &str| {
            let (pid, start) = line.split_once(' ')?;
            Some(Identity { pid: Pid(pid.parse().ok()?), start_ticks: start.parse().ok()? })
        };
        Self { before, owners: lines.filter_map(owner).collect() }
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.before);
        for owner in &self.owners {
            text += &format!("{} {}\n", owner.pid, owner.start_ticks);
        }
        text
    }
}

impl TakeOver {
    /// Puts the kernel's balancing aside.
    ///
    /// # Errors
    /// When the note cannot be written, or the setting not be changed; then nothing has changed.
    pub fn begin(host: &Host) -> io::Result<Self> {
        let us = host.process(Pid(std::process::id().cast_signed())).map_err(io::Error::other)?.id;
        with_note(host, |note, sysctl| {
            if note.before.is_empty() {
                fs::read_to_string(sysctl)?.trim().clone_into(&mut note.before);
            }
            note.owners.push(us);
            Ok(())
        })?;
        let taken = Self { host: host.clone(), us };
        // Where that fails the note goes again with us.
        fs::write(host.path(SYSCTL), "0\n")?;
        Ok(taken)
    }
}

impl Drop for TakeOver {
    fn drop(&mut self) {
        if let Err(error) = leave(&self.host, Some(self.us)) {
            tracing::warn!(%error, "kernel.numa_balancing could not be restored");
        }
    }
}

/// Restores what runs that were killed had put aside; the value, if there was one.
///
/// # Errors
/// When it cannot be restored.
pub fn restore_left_over(host: &Host) -> io::Result<Option<String>> {
    if host.path(NOTE).exists() { leave(host, None) } else { Ok(None) }
}

/// Takes `us` and whoever has ended from the note; if nobody is left, restores the value and says
/// which. What somebody else has set meanwhile stays.
fn leave(host: &Host, us: Option<Identity>) -> io::Result<Option<String>> {
    let mut restored = None;
    with_note(host, |note, sysctl| {
        note.owners.retain(|owner| Some(*owner) != us && host.is_alive(*owner));
        if !note.owners.is_empty() || note.before.is_empty() {
            return Ok(());
        }
        let before = std::mem::take(&mut note.before);
        if before != "0" && fs::read_to_string(sysctl)?.trim() == "0" {
            fs::write(sysctl, format!("{before}\n"))?;
            restored = Some(before);
        }
        Ok(())
    })?;
    Ok(restored)
}

/// Changes the note, alone; what it says is on disk before this returns. A note without a value is
/// removed.
fn with_note(
    host: &Host,
    change: impl FnOnce(&mut Note, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let path = host.path(NOTE);
    let mut file = open(&path)?;
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut note = Note::parse(&text);
    change(&mut note, &host.path(SYSCTL))?;
    write(&file, &note)
}

/// Over what stands there, and only then is that cut off: whoever is killed in between leaves a value to restore.
fn write(file: &File, note: &Note) -> io::Result<()> {
    let text = if note.before.is_empty() { String::new() } else { note.text() };
    file.write_all_at(text.as_bytes(), 0)?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

/// Only root may have it: what it says is written into a kernel setting.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::forget;

    /// A host with balancing in mode 1, on which we run, and a process that has ended does not.
    fn host(value: &str) -> (tempfile::TempDir, Host) {
        let root = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        let write = |path: &str, text: &[u8]| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(SYSCTL, value.as_bytes());
        let stat = fs::read("/proc/self/stat").unwrap();
        write(&format!("proc/{pid}/stat"), &stat);
        let host = Host::new(root.path());
        (root, host)
    }

    fn value(host: &Host) -> String {
        fs::read_to_string(host.path(SYSCTL)).unwrap().trim().to_owned()
    }

    /// As if the process that took over had been killed.
    fn kill(host: &Host) {
        fs::write(host.path(NOTE), "1\n4194303 77\n").unwrap();
    }

    #[test]
    fn it_is_off_meanwhile_and_as_before_at_the_end() {
        let (_root, host) = host("1\n");
        let taken = TakeOver::begin(&host).unwrap();
        assert_eq!(value(&host), "0");
        drop(taken);
        assert_eq!(value(&host), "1");
        assert_eq!(restore_left_over(&host).unwrap(), None);
    }

    #[test]
    fn after_a_kill_the_next_start_restores_it() {
        let (_root, host) = host("3\n");
        forget(TakeOver::begin(&host).unwrap());
        assert_eq!(restore_left_over(&host).unwrap(), None, "we live");
        assert_eq!(value(&host), "0");
        kill(&host);
        assert_eq!(restore_left_over(&host).unwrap().as_deref(), Some("1"));
        assert_eq!(value(&host), "1");
        assert_eq!(restore_left_over(&host).unwrap(), None, "once");
    }

    #[test]
    fn who_takes_over_after_a_kill_keeps_the_first_value() {
        let (_root, host) = host("0\n");
        fs::create_dir_all(host.path(NOTE).parent().unwrap()).unwrap();
        kill(&host);
        drop(TakeOver::begin(&host).unwrap());
        assert_eq!(value(&host), "1");
    }

    #[test]
    fn of_two_the_last_one_restores() {
        let (_root, host) = host("1\n");
        let (one, two) = (TakeOver::begin(&host).unwrap(), TakeOver::begin(&host).unwrap());
        // They are one process here; in the note they are told apart by who they are.
        let other = Identity { pid: Pid(4_194_303), start_ticks: 77 };
        assert_eq!(Note::parse(&fs::read_to_string(host.path(NOTE)).unwrap()).owners.len(), 2);
        with_note(&host, |note, _| {
            note.owners[1] = other;
            Ok(())
        })
        .unwrap();
        forget(two);
        assert_eq!(value(&host), "0");
        drop(one);
        assert_eq!(value(&host), "1", "the other one has ended");
    }

    #[test]
    fn whenever_it_is_killed_the_value_stands_in_the_note() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        let id = |pid| Identity { pid: Pid(pid), start_ticks: 77 };
        let notes = [1, 20]
            .map(|owners| Note { before: "1".to_owned(), owners: (0..owners).map(id).collect() });
        let file = open(&path).unwrap();
        write(&file, &notes[0]).unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let note = Note::parse(&fs::read_to_string(&path).unwrap());
                    assert_eq!(note.before, "1");
                }
            });
            (0..3000).for_each(|turn| write(&file, &notes[turn % 2]).unwrap());
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            looks.join().unwrap();
        });
    }

    #[test]
    fn what_somebody_set_meanwhile_stays() {
        let (_root, host) = host("1\n");
        let taken = TakeOver::begin(&host).unwrap();
        fs::write(host.path(SYSCTL), "2\n").unwrap();
        drop(taken);
        assert_eq!(value(&host), "2");
    }

    #[test]
    fn what_was_off_stays_off() {
        let (_root, host) = host("0\n");
        drop(TakeOver::begin(&host).unwrap());
        assert_eq!(value(&host), "0");
    }
}
