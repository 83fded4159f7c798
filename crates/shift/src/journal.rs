//! What was converted, on disk: append-only lines of JSON, each with a checksum and flushed before
//! the machine is changed.
//!
//! The first line names the machine; every line its number and its boot. A line that was torn by a
//! crash is the last one, and has no end: it is dropped, because what it announces has not begun. Any other
//! damage, and a journal of another machine, are refused: what is memory here could
//! otherwise be taken for storage.

use crate::{
    Entry, Event, Identity, JournalError, Machine, State,
    journal_lines::{Body, Contents, VERSION, line, read},
    lock::{make, open_to_all},
};
use pagetide_host::DaxDevice;
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// One that is longer is written anew, with what it comes to.
const LONG: u64 = 1 << 20;

/// The journal of a machine.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// None: it is only looked at.
    file: Option<File>,
    here: Machine,
    devices: BTreeMap<Identity, Entry>,
    next: u64,
    length: u64,
    torn: bool,
}

impl Journal {
    /// The journal in a folder, made where there is none; for who holds the lock.
    ///
    /// # Errors
    /// When it is damaged, another machine's, or cannot be read or made.
    pub fn open(folder: &Path, here: Machine) -> Result<Self, JournalError> {
        let path = folder.join("journal");
        let wrong = |doing| {
            let path = path.clone();
            move |source| JournalError::Io { doing, path, source }
        };
        make(folder).map_err(wrong("make the folder of"))?;
        let mut file = open_to_all(&path).map_err(wrong("open"))?;
        let read = read(&mut file, &path, &here)?;
        if read.torn {
            // What was never written whole was never begun.
            file.set_len(read.length).map_err(wrong("shorten"))?;
            file.sync_all().map_err(wrong("flush"))?;
        }
        let mut journal = Self::of(path.clone(), Some(file), here, read);
        if journal.length == 0 {
            let machine = journal.here.machine.clone();
            journal.append(&Body::Head { pagetide_shift: VERSION, machine })?;
            // The file's name must survive, too.
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(wrong("flush the folder of"))?;
        }
        if journal.length > LONG {
            journal.shorten(folder)?;
        }
        Ok(journal)
    }

    /// The journal in a folder, or an empty one where there is none: to see what would be done. Nothing is made or changed,
    /// and nothing can be written.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn look(folder: &Path, here: Machine) -> Result<Self, JournalError> {
        let path = folder.join("journal");
        let read = Contents::of(&path, &here)?;
        Ok(Self::of(path, None, here, read))
    }

    fn of(path: PathBuf, file: Option<File>, here: Machine, read: Contents) -> Self {
        let Contents { devices, next, length, torn } = read;
        Self { path, file, here, devices, next, length, torn }
    }

    /// Writes the journal anew with one line for each device, and puts it in its own place.
    fn shorten(&mut self, folder: &Path) -> Result<(), JournalError> {
        let path = folder.join("journal.new");
        let wrong = |doing| {
            let path = path.clone();
            move |source| JournalError::Io { doing, path, source }
        };
        let machine = self.here.machine.clone();
        let mut bodies = vec![Body::Head { pagetide_shift: VERSION, machine }];
        for (number, (device, entry)) in (0..).zip(&self.devices) {
            bodies.push(entry.line(number, device.clone()));
        }
        let lines: serde_json::Result<Vec<String>> = bodies.iter().map(line).collect();
        let text = lines.map_err(|error| wrong("write")(error.into()))?.concat();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o644)
            .open(&path)
            .map_err(wrong("open"))?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(wrong("write"))?;
        fs::rename(&path, &self.path).map_err(wrong("put in its place"))?;
        File::open(folder).and_then(|it| it.sync_all()).map_err(wrong("flush the folder of"))?;
        (self.file, self.next, self.length) =
            (Some(file), bodies.len() as u64 - 1, text.len() as u64);
        Ok(())
    }

    /// What a journal says, without changing anything; nothing where there is none.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn peek(folder: &Path, here: &Machine) -> Result<BTreeMap<Identity, Entry>, JournalError> {
        Ok(Contents::of(&folder.join("journal"), here)?.devices)
    }

    /// Every device that the journal knows.
    #[must_use]
    pub fn devices(&self) -> &BTreeMap<Identity, Entry> {
        &self.devices
    }

    /// What a device is; none for a device that is not ours.
    #[must_use]
    pub fn state(&self, device: &Identity) -> Option<State> {
        self.devices.get(device).map(|entry| entry.state)
    }

    /// Whether what it says of a device was written in this boot, and of the one that is there now.
    pub(crate) fn is_of(&self, id: &Identity, device: &DaxDevice) -> bool {
        self.devices.get(id).is_some_and(|entry| {
            // Journals before this was written down know the boot alone.
            let same = entry.made.zip(device.made).is_none_or(|(then, now)| then == now);
            entry.boot == self.here.boot && same
        })
    }

    /// Whether its last line was torn by a crash, and was dropped.
    #[must_use]
    pub fn was_torn(&self) -> bool {
        self.torn
    }

    /// Writes a line and flushes it; only then may the machine be changed.
    ///
    /// # Errors
    /// When it cannot be written: then nothing may be changed.
    pub fn write(&mut self, event: Event, id: &Identity) -> Result<(), JournalError> {
        let made = self.devices.get(id).and_then(|entry| entry.made);
        self.put(event, id, made)
    }

    /// The same, of a device that was looked at and is the one meant: another at its place is told from it from now on.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_of(
        &mut self,
        event: Event,
        id: &Identity,
        device: &DaxDevice,
    ) -> Result<(), JournalError> {
        self.put(event, id, device.made)
    }

    /// Writes down that its owner wants what is on its way to storage; which device that is stays as it was.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) fn is_wanted_by_its_owner(&mut self, id: &Identity) -> Result<(), JournalError> {
        match self.devices.get(id) {
            Some(entry) if entry.state == State::ToStorage && !entry.for_owner => {
                self.insert(id, Entry { for_owner: true, ..entry.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Whether it is on its way to storage for its owner.
    pub(crate) fn is_for_owner(&self, id: &Identity) -> bool {
        self.devices.get(id).is_some_and(|entry| entry.for_owner)
    }

    fn put(&mut self, event: Event, id: &Identity, made: Option<u64>) -> Result<(), JournalError> {
        let for_owner = event == Event::ToStorage && self.is_for_owner(id);
        let boot = self.here.boot.clone();
        self.insert(id, Entry { state: event.into(), boot, made, for_owner })
    }

    fn insert(&mut self, id: &Identity, entry: Entry) -> Result<(), JournalError> {
        self.append(&entry.line(self.next, id.clone()))?;
        self.next += 1;
        self.devices.insert(id.clone(), entry);
        Ok(())
    }

    fn append(&mut self, body: &Body) -> Result<(), JournalError> {
        let wrong = |doing, source| JournalError::Io { doing, path: self.path.clone(), source };
        let line = line(body).map_err(|error| wrong("write", error.into()))?;
        let Some(file) = &mut self.file else {
            return Err(wrong("write", io::ErrorKind::ReadOnlyFilesystem.into()));
        };
        let written = file
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| file.write_all(line.as_bytes()))
            .and_then(|()| file.sync_data());
        if let Err(source) = written {
            // Half a line must not stand before the next one.
            let _ = file.set_len(self.length);
            return Err(wrong("write", source));
        }
        self.length += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
