//! How many files may be open: every process that is watched takes two descriptors, every thread
//! whose stalls are counted two more. The soft limit of 1,024 is for programs that use select(2)
//! (systemd's documentation of `LimitNOFILE`); we raise ours, and what we start has the old one.

use std::io;
use std::sync::OnceLock;

static BEFORE: OnceLock<Option<libc::rlimit>> = OnceLock::new();

/// The limit as it was when we were started.
pub(crate) fn limit_before() -> Option<libc::rlimit> {
    *BEFORE.get_or_init(current)
}

fn current() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid rlimit to be filled in.
    (unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0).then_some(limit)
}

/// Raises the soft limit to the hard one; how many files may be open now.
pub fn raise_limit() -> Option<u64> {
    let before = limit_before()?;
    let raised = libc::rlimit { rlim_cur: before.rlim_max, ..before };
    // It stays as it is where that is refused.
    let _ = set_limit(Some(raised));
    Some(current()?.rlim_cur)
}

/// May be called between fork and exec.
pub(crate) fn set_limit(limit: Option<libc::rlimit>) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    // SAFETY: a valid rlimit.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Tests that change the limit, which is that of all threads, do so one after the other.
#[cfg(test)]
pub(crate) static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_are_allowed() {
        let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = limit_before().unwrap();
        assert_eq!(raise_limit(), Some(before.rlim_max));
        assert_eq!(limit_before().unwrap().rlim_cur, before.rlim_cur, "remembered for others");
    }
}
