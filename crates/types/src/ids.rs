//! Identities: small integers that must not be mixed up.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A unit's dense number within one recording or one live run, in order of first sight.
    UnitId(u32)
}
id! {
    /// What memory belongs to: the address space of a process, a file, or shared memory.
    ObjectId(u32)
}
id! {
    /// An epoch: the time between two decisions, counted from 0.
    EpochId(u32)
}
id! {
    /// A NUMA node of the kernel.
    NodeId(u16)
}
id! {
    /// A memory tier; 0 is the fastest.
    TierId(u8)
}
id! {
    /// A process (thread group) as the host's PID namespace numbers it.
    Pid(i32)
}

impl UnitId {
    /// As an index into per-unit arrays.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
