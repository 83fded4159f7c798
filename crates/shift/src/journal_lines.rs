//! The lines of a journal: how they are written and read, and what they come to.

use crate::{Entry, Event, Identity, JournalError, Machine};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::Path,
};

/// The format's number.
pub(crate) const VERSION: u32 = 1;
/// A journal that is longer was not written by us.
const LONGEST: u64 = 16 << 20;

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Body {
    Head {
        pagetide_shift: u32,
        machine: String,
    },
    Change {
        number: u64,
        boot: String,
        event: Event,
        device: Identity,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        made: Option<u64>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_owner: bool,
    },
}

impl Entry {
    /// The line that says so of a device.
    pub(crate) fn line(&self, number: u64, device: Identity) -> Body {
        let Self { state, boot, made, for_owner } = self.clone();
        Body::Change { number, boot, event: state.into(), device, made, for_owner }
    }
}

/// `CRC32 JSON`.
pub(crate) fn line(body: &Body) -> serde_json::Result<String> {
    let json = serde_json::to_string(body)?;
    Ok(format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())))
}

fn parse(line: &[u8]) -> Result<Body, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not text".to_owned())?;
    let (sum, json) = text.split_once(' ').ok_or("no checksum")?;
    if u32::from_str_radix(sum, 16) != Ok(crc32fast::hash(json.as_bytes())) {
        return Err("the checksum does not fit".into());
    }
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// What the lines come to.
#[derive(Default)]
pub(crate) struct Contents {
    pub(crate) devices: BTreeMap<Identity, Entry>,
    /// The number of the next line.
    pub(crate) next: u64,
    /// Of the lines that are whole, in bytes.
    pub(crate) length: u64,
    pub(crate) torn: bool,
}

impl Contents {
    /// What a journal says; nothing where there is none.
    pub(crate) fn of(path: &Path, here: &Machine) -> Result<Self, JournalError> {
        match File::open(path) {
            Ok(mut file) => read(&mut file, path, here),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(JournalError::Io { doing: "open", path: path.into(), source }),
        }
    }
}

/// What a journal says that was opened.
pub(crate) fn read(file: &mut File, path: &Path, here: &Machine) -> Result<Contents, JournalError> {
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|source| JournalError::Io {
        doing: "read",
        path: path.into(),
        source,
    })?;
    if bytes.len() as u64 > LONGEST {
        let what = format!("it is longer than {LONGEST} bytes");
        return Err(JournalError::Damaged { path: path.into(), line: 1, what });
    }
    let mut read = Contents::default();
    let damaged = |line, what: &str| {
        let (path, what) = (path.to_owned(), what.to_owned());
        JournalError::Damaged { path, line, what }
    };
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let Some(body) = line.strip_suffix(b"\n") else {
            // The last one was not written to its end.
            read.torn = true;
            break;
        };
        match (parse(body), number) {
            (Err(what), _) => return Err(damaged(number, &what)),
            (Ok(Body::Head { pagetide_shift, .. }), 1) if pagetide_shift > VERSION => {
                return Err(JournalError::Later { path: path.into(), found: pagetide_shift });
            }
            (Ok(Body::Head { machine, .. }), 1) if machine == here.machine => {}
            (Ok(Body::Head { machine: theirs, .. }), 1) => {
                let ours = here.machine.clone();
                return Err(JournalError::OtherMachine { path: path.into(), theirs, ours });
            }
            (Ok(Body::Head { .. }), _) => return Err(damaged(number, "a second beginning")),
            (Ok(Body::Change { .. }), 1) => return Err(damaged(1, "its beginning is missing")),
            (Ok(Body::Change { number: is, boot, event, device, made, for_owner }), _) => {
                if is != read.next {
                    return Err(damaged(number, &format!("change {} is missing", read.next)));
                }
                read.next += 1;
                read.devices.insert(device, Entry { state: event.into(), boot, made, for_owner });
            }
        }
        read.length += line.len() as u64;
    }
    Ok(read)
}
