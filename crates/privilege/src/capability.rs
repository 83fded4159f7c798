//! Sets of capabilities (capabilities(7)) and the calls that change those of a thread. Own calls,
//! because they are also made between fork and exec, where nothing may be allocated.

use std::io;
use std::ops::BitOr;

/// A set of capabilities, one bit each (linux/capability.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(u64);

impl Capabilities {
    /// Gives files away.
    pub const CHOWN: Self = Self(1 << 0);
    /// Reads and writes files of others.
    pub const DAC_OVERRIDE: Self = Self(1 << 1);
    /// Reads files of others.
    pub const DAC_READ_SEARCH: Self = Self(1 << 2);
    /// Ends processes of others: a command that runs as its caller.
    pub const KILL: Self = Self(1 << 5);
    /// Becomes another group.
    pub const SETGID: Self = Self(1 << 6);
    /// Becomes another user.
    pub const SETUID: Self = Self(1 << 7);
    /// Looks at the memory of processes of others.
    pub const SYS_PTRACE: Self = Self(1 << 19);
    /// Reads page frames, and much else.
    pub const SYS_ADMIN: Self = Self(1 << 21);
    /// Moves and ages pages of others; gives threads precedence.
    pub const SYS_NICE: Self = Self(1 << 23);
    /// Raises limits.
    pub const SYS_RESOURCE: Self = Self(1 << 24);
    /// Counts events of processes of others.
    pub const PERFMON: Self = Self(1 << 38);
    /// Loads eBPF programs.
    pub const BPF: Self = Self(1 << 39);

    /// What a recorder goes on to need once its target runs: watching (BPF, PERFMON), looking and
    /// clearing (`SYS_PTRACE`, `SYS_NICE`), page frames (`SYS_ADMIN`), files of a user's directory.
    pub const RECORDING: Self = Self(
        Self::CHOWN.0
            | Self::DAC_OVERRIDE.0
            | Self::DAC_READ_SEARCH.0
            | Self::KILL.0
            | Self::SYS_PTRACE.0
            | Self::SYS_ADMIN.0
            | Self::SYS_NICE.0
            | Self::SYS_RESOURCE.0
            | Self::PERFMON.0
            | Self::BPF.0,
    );
    /// What writing files into a user's directory takes.
    pub const WRITING: Self = Self(Self::CHOWN.0 | Self::DAC_OVERRIDE.0 | Self::DAC_READ_SEARCH.0);
    /// What moving pages of others takes.
    pub const MOVING: Self =
        Self(Self::SYS_PTRACE.0 | Self::SYS_NICE.0 | Self::SYS_ADMIN.0 | Self::DAC_READ_SEARCH.0);
    /// None at all.
    pub const NONE: Self = Self(0);

    /// Keeps of this thread's capabilities those in `self` only, for good: no others can be had
    /// again, and none are passed on to a program that it executes.
    ///
    /// # Errors
    /// What the kernel says; then nothing has changed.
    pub fn keep(self) -> io::Result<()> {
        let had = Sets::of_this_thread()?;
        let kept = had.permitted & self.0;
        drop_ambient();
        Sets { effective: had.effective & kept, permitted: kept, inheritable: 0 }.set()
    }

    /// Those that this thread has in force.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn effective() -> io::Result<Self> {
        Ok(Self(Sets::of_this_thread()?.effective))
    }

    /// Whether all of `other` are in it.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Capabilities {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Takes from what is executed next the capabilities that it would be given without a right of its
/// own: the ambient and the inheritable ones. May be called between fork and exec.
pub(crate) fn pass_none_on() -> io::Result<()> {
    drop_ambient();
    let had = Sets::of_this_thread()?;
    Sets { inheritable: 0, ..had }.set()
}

fn drop_ambient() {
    // SAFETY: plain system call that only affects this thread; fails only where there are none.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
}

/// A thread's sets, as capget(2) has them.
#[derive(Clone, Copy)]
struct Sets {
    effective: u64,
    permitted: u64,
    inheritable: u64,
}

/// `__user_cap_header_struct`.
#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

/// `__user_cap_data_struct`: 32 capabilities each.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

impl Sets {
    fn of_this_thread() -> io::Result<Self> {
        let mut header = Header { version: VERSION, pid: 0 };
        let mut data = [Data::default(); 2];
        // SAFETY: both are as the kernel defines them; this version has two parts.
        let got = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
        if got != 0 {
            return Err(io::Error::last_os_error());
        }
        let [low, high] = data;
        let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        Ok(Self {
            effective: whole(low.effective, high.effective),
            permitted: whole(low.permitted, high.permitted),
            inheritable: whole(low.inheritable, high.inheritable),
        })
    }

    fn set(self) -> io::Result<()> {
        let mut header = Header { version: VERSION, pid: 0 };
        #[expect(clippy::cast_possible_truncation, reason = "a half each")]
        let half = |shift: u32| Data {
            effective: (self.effective >> shift) as u32,
            permitted: (self.permitted >> shift) as u32,
            inheritable: (self.inheritable >> shift) as u32,
        };
        let data = [half(0), half(32)];
        // SAFETY: both are as the kernel defines them; only this thread is affected.
        let set = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) };
        if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn what_a_thread_gave_up_it_cannot_have_again_and_others_keep_theirs() {
        let before = Capabilities::effective().unwrap();
        thread::spawn(|| {
            Capabilities::SYS_NICE.keep().unwrap();
            let after = Capabilities::effective().unwrap();
            assert!(Capabilities::SYS_NICE.holds(after), "{after:?}");
            let more = Sets { effective: 1 << 21, permitted: 1 << 21, inheritable: 0 };
            assert!(more.set().is_err(), "it came back");
        })
        .join()
        .unwrap();
        assert_eq!(Capabilities::effective().unwrap(), before, "another thread's");
    }

    #[test]
    fn what_we_could_pass_on_is_not() {
        let name = "what_we_could_pass_on_is_not";
        if !Capabilities::effective().unwrap().holds(Capabilities::SETUID) {
            return pagetide_testing::skip(name, "only root has something to pass on");
        }
        let status = thread::spawn(|| {
            let had = Sets::of_this_thread().unwrap();
            Sets { inheritable: had.permitted, ..had }.set().unwrap();
            let net_admin: libc::c_ulong = 12;
            // SAFETY: plain system call that only affects this thread.
            let raised = unsafe {
                libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, net_admin, 0, 0)
            };
            assert_eq!(raised, 0, "{}", io::Error::last_os_error());
            let mut command = std::process::Command::new("cat");
            command.arg("/proc/self/status");
            crate::child::prepare(&mut command, None);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        });
        let status = status.join().unwrap();
        for set in ["CapInh:", "CapAmb:"] {
            let of = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
            assert_eq!(of.trim().trim_start_matches('0'), "", "{set} in {status}");
        }
    }

    #[test]
    fn none_of_the_sets_holds_what_would_make_root_again() {
        let sets = [Capabilities::RECORDING, Capabilities::WRITING, Capabilities::MOVING];
        for set in sets {
            assert!(!set.holds(Capabilities::SETUID) && !set.holds(Capabilities::SETGID));
        }
        assert!(!Capabilities::WRITING.holds(Capabilities::SYS_PTRACE));
        assert!(!Capabilities::MOVING.holds(Capabilities::DAC_OVERRIDE));
    }
}
