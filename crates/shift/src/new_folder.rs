//! A folder of state that was made for a change which was refused is unmade: nothing of ours is there then.

use crate::{Journal, Lock, lock::LOCKED};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folders that are not there yet, before they are made for a change.
#[derive(Debug)]
pub struct NewFolder {
    /// The innermost first.
    missing: Vec<PathBuf>,
}

impl NewFolder {
    /// Looks which of a folder and those above it are missing.
    #[must_use]
    pub fn look(folder: &Path) -> Self {
        let above = folder.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists());
        Self { missing: above.map(Path::to_owned).collect() }
    }

    /// Unmakes them, if the journal in it knows no device; under the lock, which ends with this.
    pub fn unmake(self, journal: &Journal, lock: Lock) {
        if let Some(folder) = self.missing.first()
            && journal.devices().is_empty()
        {
            for name in ["journal", LOCKED] {
                // Whoever waits for the lock sees that its file is gone.
                let _ = fs::remove_file(folder.join(name));
            }
        }
        drop(lock);
        if journal.devices().is_empty() {
            // Not where anybody else has put something.
            self.missing.iter().take_while(|it| fs::remove_dir(it).is_ok()).count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Identity, Machine, simulated::device};
    use std::{thread, time::Duration};

    fn opened(folder: &Path) -> (Journal, Lock) {
        let lock = Lock::change(folder, Duration::ZERO).unwrap();
        let machine = Machine { machine: "m".into(), boot: "b".into() };
        (Journal::open(folder, machine).unwrap(), lock)
    }

    #[test]
    fn what_was_made_for_nothing_is_unmade_and_what_was_there_stays() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        let new = NewFolder::look(&folder);
        let (journal, lock) = opened(&folder);
        new.unmake(&journal, lock);
        assert!(root.path().exists() && !root.path().join("a").exists());
        // It was there, and empty.
        fs::create_dir_all(&folder).unwrap();
        let new = NewFolder::look(&folder);
        let (journal, lock) = opened(&folder);
        new.unmake(&journal, lock);
        assert!(folder.join("journal").exists());
    }

    #[test]
    fn what_knows_a_device_stays_and_so_does_what_is_somebody_elses() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        let new = NewFolder::look(&folder);
        let (mut journal, lock) = opened(&folder);
        journal.write(Event::Offered, &Identity::of(&device(1))).unwrap();
        new.unmake(&journal, lock);
        assert!(folder.join("journal").exists());
        let folder = root.path().join("c/d");
        let new = NewFolder::look(&folder);
        let (journal, lock) = opened(&folder);
        fs::write(root.path().join("c/mine"), "x").unwrap();
        new.unmake(&journal, lock);
        assert!(!folder.exists() && root.path().join("c/mine").exists());
    }

    #[test]
    fn who_waits_for_the_lock_gets_one_that_is_there() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a");
        let new = NewFolder::look(&folder);
        let (journal, lock) = opened(&folder);
        thread::scope(|scope| {
            let waits = scope.spawn(|| Lock::change(&folder, Duration::from_secs(20)).unwrap());
            thread::sleep(Duration::from_millis(200));
            new.unmake(&journal, lock);
            let _held = waits.join().unwrap();
            // Another is kept out by it.
            Lock::change(&folder, Duration::ZERO).unwrap_err();
        });
    }
}
