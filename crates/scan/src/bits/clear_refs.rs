//! Clearing accessed bits by `/proc/PID/clear_refs`: of all mappings of files (and shared memory)
//! or all anonymous memory of a process, also of pages that `MADV_COLD` passes over because
//! several processes map them or they are locked (fs/proc/task_mmu.c). Not of the hugetlb pool.
//!
//! It has a price: the memory map's write lock is held for 4 to 11 ms per GiB of base pages, and
//! page faults of the target wait for it. And it flushes no translations: pages that stay in the
//! CPU's cache of them look untouched.

use pagetide_host::Host;
use pagetide_types::Pid;
use std::fs::OpenOptions;
use std::io::{self, Write};

/// Which mappings are cleared together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Of a file or shared memory.
    Files,
    /// All others.
    Anonymous,
}

/// Clears the bits of all mappings of that kind; `still` says whether the number is that of the
/// process that is meant. An open file belongs to the process that had the number when it was
/// opened, so that is asked in between.
pub(crate) fn clear(
    host: &Host,
    pid: Pid,
    kind: Kind,
    still: impl FnOnce() -> bool,
) -> io::Result<()> {
    let what = match kind {
        Kind::Files => b"3",
        Kind::Anonymous => b"2",
    };
    let mut file =
        OpenOptions::new().write(true).open(host.path(format!("proc/{pid}/clear_refs")))?;
    if !still() {
        return Err(io::ErrorKind::NotFound.into());
    }
    file.write_all(what)
}
