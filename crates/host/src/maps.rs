//! `/proc/PID/maps`, parsed in place into storage that is used again: one scan of a process
//! with 10,000 areas must not cost more here than in the page tables.

use crate::{Area, Dev, Error, Host, Perms, Skip, area::classify, error::Malformed, files::fault};
use pagetide_types::{Pid, VirtAddr};
use std::{borrow::Cow, ffi::OsStr, fs::File, io::Read, os::unix::ffi::OsStrExt};

/// A process's areas, ascending and without overlap.
#[derive(Debug, Default)]
pub struct Maps {
    text: Vec<u8>,
    areas: Vec<Area>,
}

impl Maps {
    /// Empty; fill it with [`Host::read_maps`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The areas of the last reading.
    #[must_use]
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// The name of an area of the last reading: a path, `[heap]`, `[anon:...]`, or empty.
    /// Without the mark of deletion; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn name(&self, area: &Area) -> Cow<'_, str> {
        match unescape(self.raw_name(area)) {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The name as the exact bytes of a path.
    #[must_use]
    pub fn path(&self, area: &Area) -> Cow<'_, OsStr> {
        match unescape(self.raw_name(area)) {
            Cow::Borrowed(bytes) => Cow::Borrowed(OsStr::from_bytes(bytes)),
            Cow::Owned(bytes) => Cow::Owned(OsStr::from_bytes(&bytes).to_owned()),
        }
    }

    /// Whether two areas of the last reading are called the same.
    #[must_use]
    pub fn have_one_name(&self, one: &Area, other: &Area) -> bool {
        self.raw_name(one) == self.raw_name(other)
    }

    fn raw_name(&self, area: &Area) -> &[u8] {
        let (start, len) = area.name;
        self.text.get(start..start + len).unwrap_or_default()
    }

    /// Marks areas on these devices as hugetlb (see [`Host::hugetlb_devices`]): a path alone
    /// does not show where a hugetlbfs is mounted.
    pub fn mark_hugetlb(&mut self, devices: &[Dev]) {
        for area in self.areas.iter_mut().filter(|area| area.backing().is_some()) {
            if devices.contains(&area.dev) {
                area.skip = Some(Skip::Hugetlb);
            }
        }
    }

    /// Parses `self.text`. The kernel may list a growing area twice when it is read in pieces:
    /// the second is cut where the first ended.
    fn parse(&mut self) -> Result<(), Malformed> {
        self.areas.clear();
        let mut at = 0;
        let mut line = 0;
        let mut last_end = 0;
        while at < self.text.len() {
            line += 1;
            let rest = &self.text[at..];
            let mut cursor = Cursor { bytes: rest, at: 0 };
            let Some(mut area) = cursor.area() else {
                let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                return Err(Malformed::new(line, "an area of a memory map", &rest[..end]));
            };
            area.name.0 += at;
            at += cursor.at;
            if area.start.0 < last_end {
                let cut = last_end.min(area.end.0) - area.start.0;
                area.start.0 += cut;
                if area.backing().is_some() {
                    area.offset = area.offset.saturating_add(cut);
                }
                if area.is_empty() {
                    continue;
                }
            }
            last_end = area.end.0;
            self.areas.push(area);
        }
        Ok(())
    }
}

impl Host {
    /// Reads a process's areas into `maps`, whose storage is used again. A process whose
    /// memory is gone (ended, or a kernel thread) has none.
    ///
    /// # Errors
    /// When the process is gone or belongs to someone else; `maps` is then empty.
    pub fn read_maps(&self, pid: Pid, maps: &mut Maps) -> Result<(), Error> {
        maps.areas.clear();
        maps.text.clear();
        let path = self.proc(pid, "maps");
        File::open(&path)
            .and_then(|mut file| file.read_to_end(&mut maps.text))
            .map_err(|source| self.gone(pid, fault(path.clone(), source)))?;
        maps.parse().map_err(|bad| {
            maps.areas.clear();
            bad.at(path)
        })
    }
}

/// The kernel writes a line end in a name as `\012`.
fn unescape(name: &[u8]) -> Cow<'_, [u8]> {
    const LINE_END: &[u8] = b"\\012";
    if !name.windows(4).any(|w| w == LINE_END) {
        return Cow::Borrowed(name);
    }
    let mut plain = Vec::with_capacity(name.len());
    let mut at = 0;
    while at < name.len() {
        if name[at..].starts_with(LINE_END) {
            plain.push(b'\n');
            at += LINE_END.len();
        } else {
            plain.push(name[at]);
            at += 1;
        }
    }
    Cow::Owned(plain)
}

/// Reads one line: `start-end perms offset major:minor inode   name`.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn area(&mut self) -> Option<Area> {
        let start = self.number(16, b'-')?;
        let end = self.number(16, b' ')?;
        let perms = self.perms()?;
        let offset = self.number(16, b' ')?;
        let major = u32::try_from(self.number(16, b':')?).ok()?;
        let minor = u32::try_from(self.number(16, b' ')?).ok()?;
        // The inode is followed by a space even where there is no name; be lenient about it.
        let inode = self.inode()?;
        while self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let name_at = self.at;
        self.at += len + usize::from(len < rest.len());
        let written = &rest[..len];
        let name = written.strip_suffix(b" (deleted)").unwrap_or(written);
        let deleted = name.len() < len;
        let (kind, skip) = classify(name, perms, deleted, inode);
        (start < end).then_some(Area {
            start: VirtAddr(start),
            end: VirtAddr(end),
            perms,
            offset,
            dev: Dev { major, minor },
            inode,
            kind,
            skip,
            deleted,
            name: (name_at, name.len()),
        })
    }

    /// A number and the separator behind it.
    fn number(&mut self, radix: u64, separator: u8) -> Option<u64> {
        let value = self.digits(radix)?;
        let found = *self.bytes.get(self.at)?;
        self.at += 1;
        (found == separator).then_some(value)
    }

    fn inode(&mut self) -> Option<u64> {
        let value = self.digits(10)?;
        matches!(self.bytes.get(self.at), None | Some(b' ' | b'\n')).then_some(value)
    }

    fn digits(&mut self, radix: u64) -> Option<u64> {
        let first = self.at;
        let mut value = 0u64;
        while let Some(&byte) = self.bytes.get(self.at) {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' if radix == 16 => byte - b'a' + 10,
                _ => break,
            };
            value = value.checked_mul(radix)?.checked_add(u64::from(digit))?;
            self.at += 1;
        }
        (self.at > first).then_some(value)
    }

    /// `rwxp` and the space behind it.
    fn perms(&mut self) -> Option<Perms> {
        let letters = self.bytes.get(self.at..self.at + 5)?;
        let mut bits = 0;
        for (i, (&letter, &set)) in letters.iter().zip(b"rwxs").enumerate() {
            match letter {
                _ if letter == set => bits |= 1 << i,
                b'-' if i < 3 => {}
                b'p' if i == 3 => {}
                _ => return None,
            }
        }
        self.at += 5;
        (letters[4] == b' ').then_some(Perms(bits))
    }
}

#[cfg(test)]
#[path = "maps_tests.rs"]
mod tests;
