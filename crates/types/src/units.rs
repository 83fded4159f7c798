//! Pages, units, addresses, and what an area of memory is.

use crate::{Bytes, ObjectId};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// An address in a process's virtual address space.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct VirtAddr(pub u64);

impl fmt::Display for VirtAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// An address in the machine's physical address space.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PhysAddr(pub u64);

impl fmt::Display for PhysAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// What one leaf entry of the page table maps (x86-64).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PageSize {
    /// 4 KiB.
    #[serde(rename = "4K")]
    Base,
    /// 2 MiB.
    #[serde(rename = "2M")]
    Huge,
    /// 1 GiB.
    #[serde(rename = "1G")]
    Giant,
}

impl PageSize {
    /// Its size.
    #[must_use]
    pub const fn bytes(self) -> Bytes {
        match self {
            Self::Base => Bytes::kib(4),
            Self::Huge => Bytes::mib(2),
            Self::Giant => Bytes::gib(1),
        }
    }
}

/// What a policy places: a base page, or an aligned region of 2 MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnitSize {
    /// Single base pages.
    #[serde(rename = "4K")]
    Base,
    /// Aligned regions of 2 MiB: one huge page, or up to 512 base pages.
    #[default]
    #[serde(rename = "2M")]
    Huge,
}

impl UnitSize {
    /// log2 of the size in bytes.
    #[must_use]
    pub const fn shift(self) -> u32 {
        match self {
            Self::Base => 12,
            Self::Huge => 21,
        }
    }
    /// Its size when fully resident.
    #[must_use]
    pub const fn bytes(self) -> Bytes {
        Bytes(1 << self.shift())
    }
    /// Base pages in a fully resident unit.
    #[must_use]
    pub const fn pages(self) -> u16 {
        match self {
            Self::Base => 1,
            Self::Huge => 512,
        }
    }
}

impl fmt::Display for UnitSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Base => "4K",
            Self::Huge => "2M",
        })
    }
}

impl FromStr for UnitSize {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<Bytes>() {
            Ok(b) if b == Self::Base.bytes() => Ok(Self::Base),
            Ok(b) if b == Self::Huge.bytes() => Ok(Self::Huge),
            _ => Err(format!("'{text}' is not a unit size; use 4K or 2M")),
        }
    }
}

/// A unit's identity: (object, offset), so that shared pages count once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitKey {
    /// What the memory belongs to.
    pub object: ObjectId,
    /// Offset within the object in units: of the address (anonymous memory) or of the file.
    pub index: u64,
}

/// What an area of a process's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AreaKind {
    /// The `brk` heap.
    Heap,
    /// A thread's stack.
    Stack,
    /// Anonymous private memory, named or not.
    Anonymous,
    /// A mapped file, private or shared.
    File,
    /// Shared memory: System V, POSIX, memfd or shared anonymous.
    Shared,
}

impl AreaKind {
    /// The name used in recordings and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Heap => "heap",
            Self::Stack => "stack",
            Self::Anonymous => "anonymous",
            Self::File => "file",
            Self::Shared => "shared",
        }
    }
}

impl fmt::Display for AreaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for AreaKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Heap, Self::Stack, Self::Anonymous, Self::File, Self::Shared]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("'{text}' is not a kind of area"))
    }
}
