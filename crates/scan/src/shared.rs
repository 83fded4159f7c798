//! Which pages the kernel will not clear: those that more than one mapping holds (and the zero
//! page), by bit 56 of `/proc/PID/pagemap` (Documentation/admin-guide/mm/pagemap.rst).

use crate::walker::Range;
use pagetide_types::Pid;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;
const EXCLUSIVE: u64 = 1 << 56;
const PRESENT: u64 = 1 << 63;

/// Share of the resident pages of `range` (2 MiB at most) that only one mapping holds.
pub(crate) fn exclusive_share(pid: Pid, range: Range) -> io::Result<f64> {
    let mut entries = [0u8; 512 * 8];
    let pages = ((range.end - range.start) / PAGE).min(512);
    let wanted = &mut entries[..pages as usize * 8];
    File::open(format!("/proc/{pid}/pagemap"))?.read_exact_at(wanted, range.start / PAGE * 8)?;
    let (mut present, mut exclusive) = (0u32, 0u32);
    for entry in wanted.chunks_exact(8) {
        let mut bytes = [0u8; 8];
        bytes.copy_from_slice(entry);
        let entry = u64::from_le_bytes(bytes);
        present += u32::from(entry & PRESENT != 0);
        exclusive += u32::from(entry & PRESENT != 0 && entry & EXCLUSIVE != 0);
    }
    Ok(if present == 0 { 1.0 } else { f64::from(exclusive) / f64::from(present) })
}
