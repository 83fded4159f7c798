//! `/proc/PID/smaps`: what the memory map does not say. The kernel walks all page tables for
//! it (several ms per GiB), so it is read on demand only.

use crate::{Error, Host, error::Malformed, files::decimal};
use pagetide_types::{Bytes, Pid, VirtAddr};
use std::{
    fs::File,
    io::{BufRead, BufReader},
};

/// Flags of an area that decide how its pages can be watched; a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VmFlags(pub u8);

impl VmFlags {
    /// `lo`: locked in memory; its accessed bits cannot be cleared by `MADV_COLD`.
    pub const LOCKED: Self = Self(1);
    /// `ht`: pages from the hugetlb pool; they cannot be cleared either.
    pub const HUGETLB: Self = Self(2);
    /// `io` or `pf`: a device's memory, no pages of ours.
    pub const DEVICE: Self = Self(4);
    /// `hg`: asked for huge pages (`MADV_HUGEPAGE`).
    pub const WANTS_HUGE: Self = Self(8);
    /// `nh`: refused huge pages (`MADV_NOHUGEPAGE`).
    pub const NO_HUGE: Self = Self(16);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn parse(words: &str) -> Self {
        Self(words.split_ascii_whitespace().fold(0, |bits, word| {
            bits | match word {
                "lo" => Self::LOCKED.0,
                "ht" => Self::HUGETLB.0,
                "io" | "pf" => Self::DEVICE.0,
                "hg" => Self::WANTS_HUGE.0,
                "nh" => Self::NO_HUGE.0,
                _ => 0,
            }
        }))
    }
}

/// What smaps says of one area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaFacts {
    /// First address, as in the memory map.
    pub start: VirtAddr,
    /// One past its last address.
    pub end: VirtAddr,
    /// Resident.
    pub resident: Bytes,
    /// Of it, anonymous memory in transparent huge pages.
    pub anon_huge: Bytes,
    /// Swapped out.
    pub swapped: Bytes,
    /// Its flags.
    pub flags: VmFlags,
}

impl Host {
    /// The facts of all areas of a process, ascending.
    ///
    /// # Errors
    /// When the process is gone or belongs to someone else.
    pub fn area_facts(&self, pid: Pid) -> Result<Vec<AreaFacts>, Error> {
        let path = self.proc(pid, "smaps");
        let file = File::open(&path)
            .map_err(|source| self.gone(pid, crate::files::fault(path.clone(), source)))?;
        let mut reader = Facts::default();
        let mut input = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        let mut number = 0;
        loop {
            line.clear();
            let read = input.read_until(b'\n', &mut line);
            let read =
                read.map_err(|source| self.gone(pid, crate::files::fault(path.clone(), source)))?;
            if read == 0 {
                return Ok(reader.areas);
            }
            number += 1;
            reader.line(number, line.trim_ascii_end()).map_err(|bad| bad.at(path.clone()))?;
        }
    }
}

#[derive(Default)]
struct Facts {
    areas: Vec<AreaFacts>,
}

impl Facts {
    /// A line is a fact (`Rss:   12 kB`) or begins an area (`7f..-7f.. rw-p ...`).
    fn line(&mut self, number: usize, line: &[u8]) -> Result<(), Malformed> {
        let bad = |what| Malformed::new(number, what, line);
        if line.first().is_some_and(u8::is_ascii_uppercase) {
            let area = self.areas.last_mut().ok_or_else(|| bad("an area first"))?;
            let colon = line.iter().position(|&b| b == b':').ok_or_else(|| bad("name: value"))?;
            let value = &line[colon + 1..];
            let amount = || {
                let text = value.strip_suffix(b" kB").unwrap_or(value).trim_ascii();
                let kib = decimal(text).ok_or_else(|| bad("an amount in kB"))?;
                Ok(Bytes(kib.saturating_mul(1024)))
            };
            match &line[..colon] {
                b"Rss" => area.resident = amount()?,
                b"AnonHugePages" => area.anon_huge = amount()?,
                b"Swap" => area.swapped = amount()?,
                b"VmFlags" => area.flags = VmFlags::parse(&String::from_utf8_lossy(value)),
                _ => {}
            }
            return Ok(());
        }
        let span = line.split(|&b| b == b' ').next().unwrap_or_default();
        let span = String::from_utf8_lossy(span);
        let hex = |text| u64::from_str_radix(text, 16).ok().map(VirtAddr);
        let (start, end) = span.split_once('-').ok_or_else(|| bad("an area"))?;
        match (hex(start), hex(end)) {
            (Some(start), Some(end)) if start < end => {
                self.areas.push(AreaFacts { start, end, ..AreaFacts::default() });
                Ok(())
            }
            _ => Err(bad("an area")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use proptest::prelude::*;

    #[test]
    fn reads_facts() {
        let fake = Fake::new();
        fake.file(
            "proc/9/smaps",
            b"1000-4000 rw-p 00000000 00:00 0  Rss: no\xff\nSize: 12 kB\nRss:       8 kB\n\
              Swap:   4 kB\nAnonHugePages: 2048 kB\nTHPeligible:    0\n\
              VmFlags: rd wr mr mw me lo ac sd hg\n\
              5000-6000 rw-s 00000000 00:00 0 /dev/x\nRss: 0 kB\nVmFlags: rd io ht pf nh\n",
        );
        let facts = fake.host().area_facts(Pid(9)).unwrap();
        assert_eq!(facts.len(), 2);
        assert_eq!((facts[0].start, facts[0].end), (VirtAddr(0x1000), VirtAddr(0x4000)));
        assert_eq!((facts[0].resident, facts[0].swapped), (Bytes::kib(8), Bytes::kib(4)));
        assert_eq!(facts[0].anon_huge, Bytes::mib(2));
        assert_eq!(facts[0].flags, VmFlags(VmFlags::LOCKED.0 | VmFlags::WANTS_HUGE.0));
        assert!(facts[1].flags.has(VmFlags::HUGETLB) && facts[1].flags.has(VmFlags::DEVICE));
        assert!(facts[1].flags.has(VmFlags::NO_HUGE) && !facts[1].flags.has(VmFlags::LOCKED));
    }

    #[test]
    fn names_the_line_at_fault() {
        for (text, line) in [
            ("Rss: 8 kB\n", 1),
            ("1000-2000 rw-p\nRss: many kB\n", 2),
            ("1000-2000 rw-p\nRss 8\n", 2),
            ("2000-1000 rw-p\n", 1),
            ("1000-2000 rw-p\n\n", 2),
        ] {
            let fake = Fake::new();
            fake.file("proc/9/smaps", text);
            match fake.host().area_facts(Pid(9)) {
                Err(Error::Parse { line: found, .. }) => assert_eq!(found, line, "{text:?}"),
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn agrees_with_the_memory_map_on_ourselves() {
        let (host, me) = (Host::live(), Pid(i32::try_from(std::process::id()).unwrap()));
        let facts = host.area_facts(me).unwrap();
        let resident: u64 = facts.iter().map(|f| f.resident.0).sum();
        let counted = host.resident(me).unwrap().0;
        assert!(resident > counted / 2 && resident < counted * 2, "{resident} {counted}");
    }

    proptest! {
        #[test]
        fn never_panics(lines in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..60),
                "[0-9a-f]{0,18}-[0-9a-f]{0,18} rw-p".prop_map(String::into_bytes),
                "(Rss|VmFlags|Swap):? {0,2}[0-9a-z ]{0,22}( kB)?".prop_map(String::into_bytes),
            ], 0..20)) {
            let mut facts = Facts::default();
            for (number, line) in lines.iter().enumerate() {
                let _ = facts.line(number, line);
            }
        }
    }
}
