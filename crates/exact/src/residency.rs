//! Which base pages of a process are resident, by its `pagemap` (readable without root: only the
//! numbers of frames are kept from others).

use pagetide_types::Pid;
use std::{fs::File, io, os::unix::fs::FileExt};

/// Entries read at a time.
const CHUNK: usize = 1 << 14;
const PRESENT: u64 = 1 << 63;

/// Calls `resident` with the number (address / 4096) of each resident page of a range of page
/// numbers, ascending.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn resident(
    pagemap: &File,
    pages: std::ops::Range<u64>,
    mut resident: impl FnMut(u64),
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK * 8];
    let mut at = pages.start;
    while at < pages.end {
        let wanted = usize::try_from(pages.end - at).unwrap_or(CHUNK).min(CHUNK) * 8;
        let read = pagemap.read_at(&mut buffer[..wanted], at * 8)? / 8 * 8;
        if read == 0 {
            break;
        }
        let (entries, _) = buffer[..read].as_chunks::<8>();
        for entry in entries {
            if u64::from_le_bytes(*entry) & PRESENT != 0 {
                resident(at);
            }
            at += 1;
        }
    }
    Ok(())
}

/// A process's page map.
pub(crate) fn pagemap(pid: Pid) -> io::Result<File> {
    File::open(format!("/proc/{pid}/pagemap"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_touched_are_resident_and_others_not() {
        let us = Pid(std::process::id().cast_signed());
        let mut map = memmap2::MmapMut::map_anon(64 << 12).unwrap();
        for page in [3, 4, 40] {
            map[page << 12] = 1;
        }
        let first = map.as_ptr().addr() as u64 >> 12;
        let mut found = Vec::new();
        resident(&pagemap(us).unwrap(), first..first + 64, |page| found.push(page - first))
            .unwrap();
        // A huge page brings its neighbours.
        assert!([3, 4, 40].iter().all(|page| found.contains(page)), "{found:?}");
    }
}
