//! Why a page did not move, told apart as far as the kernel tells.

use nix::errno::Errno;
use serde::{Serialize, Serializer};
use std::fmt;

/// Why a page stayed where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Several processes map it, and not all are managed (EACCES).
    Shared,
    /// The kernel holds it just now (EBUSY).
    Busy,
    /// The kernel tried and gave up without a reason: pinned, locked, or under I/O.
    Stuck,
    /// It was unmapped, or given back, while it was to be moved (ENOENT, EFAULT).
    Gone,
    /// The target node has no memory (ENOMEM).
    NoMemory,
    /// Not tried: it would have used up the free reserve of the target node.
    NoRoom,
    /// Not tried: the target node has no free 2 MiB block, and the page is to stay whole.
    NoHugePage,
    /// Not tried: it refused before, and its time to be asked again has not come.
    Waiting,
    /// Not tried: the time for this round was over.
    OutOfTime,
    /// The process has ended (ESRCH).
    ProcessGone,
    /// We may not move its pages (EPERM).
    NotPermitted,
    /// The process may not use the target node (its cpuset or the node's state).
    NodeForbidden,
    /// Another error number.
    Other(i32),
}

impl Refusal {
    /// What a page's own status says.
    pub(crate) fn of_page(errno: Errno) -> Self {
        match errno {
            Errno::EACCES => Self::Shared,
            Errno::EBUSY => Self::Busy,
            Errno::ENOENT | Errno::EFAULT => Self::Gone,
            Errno::ENOMEM => Self::NoMemory,
            other => Self::Other(other as i32),
        }
    }

    /// What the failure of a whole call says of each page that it did not move.
    pub(crate) fn of_call(errno: Errno) -> Self {
        match errno {
            Errno::ESRCH => Self::ProcessGone,
            Errno::EPERM => Self::NotPermitted,
            Errno::EACCES | Errno::ENODEV | Errno::EINVAL => Self::NodeForbidden,
            Errno::ENOMEM => Self::NoMemory,
            other => Self::Other(other as i32),
        }
    }

    /// Whether the page itself is the reason, so that asking again soon is no use.
    #[must_use]
    pub fn is_of_the_page(self) -> bool {
        matches!(self, Self::Shared | Self::Busy | Self::Stuck | Self::Other(_))
    }

    /// What it means and what can be done, in one line.
    #[must_use]
    pub fn meaning(self) -> String {
        match self {
            Self::Shared => {
                "processes that are not managed map them, too; they are left where they are".into()
            }
            Self::Busy => "the kernel held them just then; they are asked again later".into(),
            Self::Stuck => {
                "pinned, locked or under I/O (the kernel does not say which); they are asked \
                 again later, less and less often"
                    .into()
            }
            Self::Gone => "unmapped by the program meanwhile".into(),
            Self::NoMemory => "the target node had no memory; give more --reserve".into(),
            Self::NoRoom => "the target node has no more free memory than its reserve".into(),
            Self::NoHugePage => {
                "the target node has no free 2 MiB block; --split-huge moves them in pieces".into()
            }
            Self::Waiting => "refused before, not yet asked again".into(),
            Self::OutOfTime => "the time for moves in one epoch was over; see --move-time".into(),
            Self::ProcessGone => "the process has ended".into(),
            Self::NotPermitted => {
                "not permitted; run as root, or with CAP_SYS_NICE and CAP_SYS_PTRACE".into()
            }
            Self::NodeForbidden => {
                "the process may not use that node; see its cpuset (Mems_allowed)".into()
            }
            Self::Other(errno) => Errno::from_raw(errno).desc().to_owned(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Shared => "shared",
            Self::Busy => "busy",
            Self::Stuck => "stuck",
            Self::Gone => "gone",
            Self::NoMemory => "no-memory",
            Self::NoRoom => "no-room",
            Self::NoHugePage => "no-huge-page",
            Self::Waiting => "waiting",
            Self::OutOfTime => "out-of-time",
            Self::ProcessGone => "process-gone",
            Self::NotPermitted => "not-permitted",
            Self::NodeForbidden => "node-forbidden",
            Self::Other(errno) => return write!(f, "{:?}", Errno::from_raw(*errno)),
        })
    }
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
