//! What areas are called: as they are shown, and so that the name is the same after a restart.

use crate::Area;
use pagetide_types::AreaKind;
use std::borrow::Cow;

/// What the kernel calls shared memory that is no file of its own.
const NAMELESS: &str = "/dev/zero";
/// Files whose names are made up anew by every run lie here.
const TEMPORARY: [&str; 4] = ["/tmp/", "/var/tmp/", "/run/", "/dev/shm/"];
/// A number of so many digits is one that a run chose: a process, a key.
const DIGITS: usize = 3;

impl Area {
    /// What it is called where it is shown: shared memory without a file is no device, and memory
    /// without a name has that of its kind.
    #[must_use]
    pub fn shown_name(&self) -> Cow<'_, str> {
        let name = self.plain_name();
        match self.mapped {
            Some(false) => Cow::Owned(format!("{name}, not mapped")),
            _ => name,
        }
    }

    fn plain_name(&self) -> Cow<'_, str> {
        match self.kind {
            AreaKind::Shared if self.name.is_empty() || self.name == NAMELESS => {
                Cow::Borrowed("shared memory")
            }
            _ if self.name.is_empty() => Cow::Owned(format!("[{}]", self.kind)),
            _ => Cow::Borrowed(&self.name),
        }
    }

    /// The same without what changes from run to run: numbers in the names of shared memory and of
    /// temporary files (`/dev/shm/PostgreSQL.1804289383` is `/dev/shm/PostgreSQL.*`).
    #[must_use]
    pub fn lasting_name(&self) -> Cow<'_, str> {
        let shown = self.shown_name();
        let temporary = TEMPORARY.iter().any(|folder| self.name.starts_with(folder));
        if self.kind == AreaKind::Shared || temporary {
            Cow::Owned(without_numbers(&shown))
        } else {
            shown
        }
    }
}

/// Long numbers as `*`. Names of System V memory keep their key: who asks for it chooses it.
fn without_numbers(name: &str) -> String {
    if name.starts_with("/SYSV") {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        out += before;
        out += if number.len() >= DIGITS { "*" } else { number };
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, ObjectId, Pid};

    fn area(kind: AreaKind, name: &str) -> Area {
        Area {
            object: ObjectId(0),
            first: 0,
            end: 1,
            kind,
            name: name.to_owned(),
            pid: Pid(1),
            command: "postgres".to_owned(),
            since: EpochId(0),
            mapped: None,
        }
    }

    fn names(kind: AreaKind, name: &str) -> (String, String) {
        let area = area(kind, name);
        (area.shown_name().into_owned(), area.lasting_name().into_owned())
    }

    #[test]
    fn shared_memory_is_called_so_and_no_device() {
        for name in ["/dev/zero", ""] {
            assert_eq!(names(AreaKind::Shared, name).0, "shared memory");
        }
        assert_eq!(names(AreaKind::Anonymous, "").0, "[anonymous]");
        assert_eq!(names(AreaKind::Anonymous, "/dev/zero").0, "/dev/zero");
        assert_eq!(names(AreaKind::Heap, "[heap]").0, "[heap]");
    }

    #[test]
    fn what_nobody_maps_is_called_so() {
        let shown = |mapped| {
            let area = Area { mapped, ..area(AreaKind::Shared, "/memfd:pool") };
            area.shown_name().into_owned()
        };
        assert_eq!([None, Some(true)].map(shown), ["/memfd:pool"; 2]);
        assert_eq!(shown(Some(false)), "/memfd:pool, not mapped");
    }

    #[test]
    fn names_survive_a_restart() {
        for (kind, name, lasting) in [
            (AreaKind::Shared, "/dev/shm/PostgreSQL.1804289383", "/dev/shm/PostgreSQL.*"),
            (AreaKind::Shared, "/memfd:pool-4711-2", "/memfd:pool-*-2"),
            (AreaKind::Shared, "/SYSV0052e2c1", "/SYSV0052e2c1"),
            (AreaKind::File, "/tmp/perf-4242.map", "/tmp/perf-*.map"),
            // What lasts keeps its numbers: versions, and files that are named by them.
            (AreaKind::File, "/usr/lib/libLLVM-15.so.1", "/usr/lib/libLLVM-15.so.1"),
            (AreaKind::File, "/var/lib/pg/base/16384/16397", "/var/lib/pg/base/16384/16397"),
            (AreaKind::Heap, "[heap]", "[heap]"),
        ] {
            assert_eq!(names(kind, name).1, lasting);
        }
    }
}
