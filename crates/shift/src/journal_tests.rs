//! Journals that are whole, torn, damaged, or another machine's.

use super::*;
use pagetide_types::{Bytes, PhysAddr};
use proptest::prelude::*;

fn here() -> Machine {
    Machine { machine: "m1".into(), boot: "b1".into() }
}

fn device(number: u64) -> Identity {
    let uuid = Some(format!("uuid-{number}"));
    Identity { uuid, start: PhysAddr(number << 30), size: Bytes::mib(502) }
}

const EVENTS: [Event; 4] = [Event::Offered, Event::ToMemory, Event::Memory, Event::ToStorage];

/// A journal of four changes of two devices.
fn written(folder: &Path) -> Vec<u8> {
    let mut journal = Journal::open(folder, here()).unwrap();
    for (number, event) in (0..).zip(EVENTS) {
        journal.write(event, &device(number % 2)).unwrap();
    }
    fs::read(folder.join("journal")).unwrap()
}

#[test]
fn what_was_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let later = Machine { boot: "b2".into(), ..here() };
    let mut journal = Journal::open(folder.path(), later.clone()).unwrap();
    assert_eq!(journal.state(&device(0)), Some(State::Memory));
    assert_eq!(journal.state(&device(1)), Some(State::ToStorage));
    assert_eq!(journal.state(&device(2)), None);
    assert_eq!(journal.devices()[&device(0)].boot, "b1");
    assert!(!journal.was_torn());
    journal.write(Event::Storage, &device(1)).unwrap();
    let seen = Journal::peek(folder.path(), &later).unwrap();
    assert_eq!(
        seen[&device(1)],
        Entry { state: State::Storage, boot: "b2".into(), made: None, for_owner: false }
    );
    let none = tempfile::tempdir().unwrap();
    assert_eq!(Journal::peek(none.path(), &here()).unwrap(), BTreeMap::new());
}

#[test]
fn another_device_at_the_same_place_is_told_from_the_one_that_was_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path(), here()).unwrap();
    let is = |made| DaxDevice { made, ..crate::simulated::device(1) };
    // Before, the boot alone was written down.
    journal.write(Event::Memory, &device(1)).unwrap();
    assert!(journal.is_of(&device(1), &is(Some(8))));
    journal.write_of(Event::ToStorage, &device(1), &is(Some(7))).unwrap();
    journal.write(Event::Memory, &device(1)).unwrap();
    let journal = Journal::open(folder.path(), here()).unwrap();
    assert_eq!(journal.devices()[&device(1)].made, Some(7));
    assert!(journal.is_of(&device(1), &is(Some(7))) && !journal.is_of(&device(1), &is(Some(8))));
    let later = Machine { boot: "b2".into(), ..here() };
    let journal = Journal::open(folder.path(), later).unwrap();
    assert!(!journal.is_of(&device(1), &is(Some(7))), "after a reboot all may be others");
}

#[test]
fn a_journal_from_before_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let old = [
        r#"{"pagetide_shift":1,"machine":"m1"}"#,
        r#"{"number":0,"boot":"b1","event":"to-storage","device":{"start":4294967296,"size":526385152}}"#,
    ];
    let sum = |json: &str| format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()));
    fs::write(folder.path().join("journal"), old.map(sum).concat()).unwrap();
    let journal = Journal::open(folder.path(), here()).unwrap();
    let entry = Entry { state: State::ToStorage, boot: "b1".into(), made: None, for_owner: false };
    assert_eq!(journal.devices().values().collect::<Vec<_>>(), [&entry]);
}

#[test]
fn a_journal_cut_off_anywhere_holds_what_was_whole_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let whole = written(folder.path());
    let path = folder.path().join("journal");
    let head = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let ends = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        let mut journal = Journal::open(folder.path(), here()).unwrap();
        let kept = length == 0 || whole[length - 1] == b'\n';
        assert_eq!(journal.was_torn(), !kept, "{length}");
        assert_eq!(journal.devices().len(), ends.saturating_sub(1).min(2), "{length}");
        journal.write(Event::Withdrawn, &device(7)).unwrap();
        let again = Journal::open(folder.path(), here()).unwrap();
        assert_eq!(again.state(&device(7)), Some(State::Withdrawn));
        assert!(!again.was_torn() && fs::read(&path).unwrap().starts_with(&whole[..head]));
    }
}

#[test]
fn another_machine_s_journal_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let whole = written(folder.path());
    let other = Machine { machine: "m2".into(), boot: "b1".into() };
    let error = Journal::open(folder.path(), other).unwrap_err().to_string();
    assert!(error.contains("machine m1") && error.contains("this is m2"), "{error}");
    assert!(error.contains("--state"), "{error}");
    assert_eq!(fs::read(folder.path().join("journal")).unwrap(), whole);
}

#[test]
fn a_change_that_is_missing_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let whole = written(folder.path());
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    lines.remove(2);
    fs::write(folder.path().join("journal"), lines.concat()).unwrap();
    let error = Journal::open(folder.path(), here()).unwrap_err().to_string();
    assert!(error.contains("journal:3") && error.contains("change 1 is missing"), "{error}");
    lines.remove(0);
    fs::write(folder.path().join("journal"), lines.concat()).unwrap();
    let error = Journal::open(folder.path(), here()).unwrap_err().to_string();
    assert!(error.contains("its beginning is missing"), "{error}");
}

#[test]
fn a_long_journal_is_written_anew_with_what_it_comes_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path(), here()).unwrap();
    while journal.length <= LONG {
        for event in EVENTS {
            // Without waiting for the disk each time, as `write` would.
            let text: String = (0..200)
                .map(|more| {
                    let (boot, device) = ("b1".to_owned(), device(more % 3));
                    let number = journal.next + more;
                    let entry = Entry { state: event.into(), boot, made: Some(9), for_owner: true };
                    line(&entry.line(number, device)).unwrap()
                })
                .collect();
            journal.next += 200;
            let file = journal.file.as_mut().unwrap();
            file.seek(SeekFrom::End(0)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            journal.length += text.len() as u64;
        }
    }
    let mut anew = Journal::open(folder.path(), here()).unwrap();
    assert!(fs::metadata(folder.path().join("journal")).unwrap().len() < 1000);
    let states: Vec<State> = anew.devices().values().map(|entry| entry.state).collect();
    assert_eq!(states, [State::ToStorage; 3]);
    assert!(anew.devices().values().all(|entry| entry.made == Some(9) && entry.for_owner));
    anew.write(Event::Storage, &device(1)).unwrap();
    let again = Journal::open(folder.path(), here()).unwrap();
    assert_eq!(again.state(&device(1)), Some(State::Storage));
    assert_eq!(again.state(&device(2)), Some(State::ToStorage));
}

#[test]
fn a_later_format_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let head = line(&Body::Head { pagetide_shift: 9, machine: "m1".into() }).unwrap();
    fs::write(folder.path().join("journal"), head).unwrap();
    let error = Journal::open(folder.path(), here()).unwrap_err().to_string();
    assert!(error.contains("format 9"), "{error}");
}

proptest! {
    /// One changed byte is never read as something else: it is refused, or, at the very end, drops the
    /// last line, as if that had been torn.
    #[test]
    fn a_changed_byte_is_noticed(at: prop::sample::Index, to: u8) {
        let folder = tempfile::tempdir().unwrap();
        let whole = written(folder.path());
        let mut bytes = whole.clone();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to && !bytes[at].eq_ignore_ascii_case(&to));
        bytes[at] = to;
        fs::write(folder.path().join("journal"), &bytes).unwrap();
        match Journal::open(folder.path(), here()) {
            Ok(journal) => {
                prop_assert!(at == whole.len() - 1 && journal.was_torn());
                prop_assert_eq!(journal.state(&device(1)), Some(State::ToMemory));
            }
            Err(error) => {
                let damaged = matches!(error, JournalError::Damaged { .. });
                prop_assert!(damaged, "{}", error);
            }
        }
    }

    #[test]
    fn never_panics(bytes: Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("journal"), bytes).unwrap();
        let _ = Journal::open(folder.path(), here());
    }
}

#[test]
fn a_journal_that_is_looked_at_is_neither_made_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    let mut journal = Journal::look(&none, here()).unwrap();
    assert!(journal.devices().is_empty() && !none.exists());
    assert!(journal.write(Event::Offered, &device(1)).is_err() && !none.exists());
    let mut whole = written(folder.path());
    // A torn end stays, too.
    whole.extend(b"0123");
    fs::write(folder.path().join("journal"), &whole).unwrap();
    let mut journal = Journal::look(folder.path(), here()).unwrap();
    assert_eq!(journal.state(&device(0)), Some(State::Memory));
    assert!(journal.was_torn() && journal.write(Event::Storage, &device(0)).is_err());
    assert_eq!(fs::read(folder.path().join("journal")).unwrap(), whole);
}
