//! Two of the CPU's counters on a thread of another process, counted together
//! (`perf_event_open(2)`). Threads that it starts later are counted with it.

use pagetide_host::CpuEvent;
use perf_event_open_sys::{self as sys, bindings};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Counts since the group was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Time that the threads ran, ns, and of it the time that the counters were theirs: others may
    /// want them, too.
    pub(crate) enabled: u64,
    pub(crate) running: u64,
    pub(crate) leader: u64,
    pub(crate) member: u64,
}

impl Reading {
    /// What happened since `before`, extrapolated to the time without counters; None if there
    /// were none at all.
    pub(crate) fn since(&self, before: &Self) -> Option<(f64, f64)> {
        let enabled = self.enabled.saturating_sub(before.enabled);
        let running = self.running.saturating_sub(before.running);
        if running == 0 {
            return None;
        }
        let scale = enabled as f64 / running as f64;
        let scaled = |now: u64, before: u64| now.saturating_sub(before) as f64 * scale;
        Some((scaled(self.leader, before.leader), scaled(self.member, before.member)))
    }
}

/// The counters of one thread and of those that it starts; closed on drop.
#[derive(Debug)]
pub(crate) struct Group {
    leader: OwnedFd,
    _member: OwnedFd,
}

impl Group {
    /// Starts counting on thread `tid`.
    pub(crate) fn open(tid: i32, leader: CpuEvent, member: CpuEvent) -> io::Result<Self> {
        let leader = open(tid, leader, -1)?;
        let member = open(tid, member, leader.as_raw_fd())?;
        Ok(Self { leader, _member: member })
    }

    pub(crate) fn read(&self) -> io::Result<Reading> {
        // As PERF_FORMAT_GROUP lays it out: how many, both times, the counts.
        let mut words = [0u64; 5];
        let size = size_of_val(&words);
        // SAFETY: the buffer is as long as said.
        let got = unsafe { libc::read(self.leader.as_raw_fd(), words.as_mut_ptr().cast(), size) };
        if got < 0 {
            return Err(io::Error::last_os_error());
        }
        if usize::try_from(got) != Ok(size) || words[0] != 2 {
            return Err(io::Error::other("the kernel answered with another number of counters"));
        }
        let [_, enabled, running, leader, member] = words;
        Ok(Reading { enabled, running, leader, member })
    }
}

fn open(tid: i32, event: CpuEvent, group: i32) -> io::Result<OwnedFd> {
    let mut attr = bindings::perf_event_attr {
        type_: event.kind,
        config: event.config,
        read_format: u64::from(
            bindings::PERF_FORMAT_GROUP
                | bindings::PERF_FORMAT_TOTAL_TIME_ENABLED
                | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING,
        ),
        ..Default::default()
    };
    #[expect(clippy::cast_possible_truncation, reason = "some hundred bytes")]
    {
        attr.size = size_of_val(&attr) as u32;
    }
    attr.set_exclude_hv(1);
    attr.set_inherit(1);
    // Not by processes that it starts: they are followed on their own.
    attr.set_inherit_thread(1);
    let flags = u64::from(bindings::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the structure is valid and lives through the call.
    let fd = unsafe { sys::perf_event_open(&raw mut attr, tid, -1, group, flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_extrapolated_to_the_time_without_counters() {
        let before = Reading { enabled: 100, running: 100, leader: 1000, member: 10 };
        let after = Reading { enabled: 500, running: 200, leader: 1300, member: 60 };
        assert_eq!(after.since(&before), Some((1200.0, 200.0)), "a quarter of the time");
        assert_eq!(before.since(&before), None, "nothing ran");
        let without = Reading { enabled: 900, ..before };
        assert_eq!(without.since(&before), None, "it ran, but never had the counters");
    }
}
