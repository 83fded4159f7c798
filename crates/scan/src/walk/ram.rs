//! Which physical addresses are memory: `/proc/iomem`. What else there is (devices, holes) must not
//! be read, and a page table that was freed while it was copied may point anywhere.

use crate::error::ScanError;
use std::ops::Range;

// As in walk.h.
pub(crate) const MAX_RAM: usize = 64;

/// Memory as the kernel uses it now, ascending: ranges of physical addresses.
pub(crate) fn read() -> Result<Vec<Range<u64>>, ScanError> {
    let text = std::fs::read_to_string("/proc/iomem")
        .map_err(|error| ScanError::system("reading /proc/iomem", error))?;
    let ranges = parse(&text);
    match ranges.len() {
        // Without CAP_SYS_ADMIN all addresses read as zero.
        0 => Err(ScanError::not_permitted()),
        1..=MAX_RAM => Ok(ranges),
        many => Err(ScanError::Refused(format!(
            "at most {MAX_RAM} ranges of memory are supported, this machine has {many} \
             (/proc/iomem)"
        ))),
    }
}

/// The lines `start-end : System RAM`, those of memory that a driver added (`System RAM (kmem)`)
/// included; neighbours are one.
fn parse(iomem: &str) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = iomem.lines().filter_map(of_line).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn of_line(line: &str) -> Option<Range<u64>> {
    let (range, name) = line.split_once(" : ")?;
    if !name.starts_with("System RAM") {
        return None;
    }
    let (start, last) = range.trim().split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(last)?.checked_add(1)?);
    (start < end && end > 1).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn memory_is_what_the_kernel_calls_so_at_any_depth() {
        let iomem = "00001000-0009fbff : System RAM\n\
                     000a0000-000fffff : PCI Bus 0000:00\n  000c0000-000c7fff : Video ROM\n\
                     00100000-bfffffff : System RAM\n  01000000-02ffffff : Kernel code\n\
                     100000000-13fffffff : System RAM\n140000000-17fffffff : System RAM\n\
                     200000000-2ffffffff : CXL Window 0\n  200000000-2ffffffff : dax0.0\n    \
                     210000000-2ffffffff : System RAM (kmem)\n";
        assert_eq!(
            parse(iomem),
            [
                0x1000..0x9_fc00,
                0x10_0000..0xc000_0000,
                0x1_0000_0000..0x1_8000_0000,
                0x2_1000_0000..0x3_0000_0000
            ]
        );
    }

    #[test]
    fn addresses_that_are_hidden_are_none() {
        assert_eq!(parse("00000000-00000000 : System RAM\n"), []);
        assert_eq!(parse(""), []);
    }

    proptest! {
        #[test]
        fn never_panics_and_ascends(text in "([0-9a-f]{0,16}-[0-9a-f]{0,17} : System RAM\n?){0,9}") {
            let ranges = parse(&text);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
