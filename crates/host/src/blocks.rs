//! Memory blocks: the pieces in which the kernel takes memory into use and gives it up
//! (Documentation/ABI/testing/sysfs-devices-memory, Documentation/admin-guide/mm/memory-hotplug.rst).

use crate::{Error, Host, files::decimal};
use pagetide_types::{Bytes, NodeId};
use serde::Serialize;

const DIR: &str = "sys/devices/system/memory";

/// A memory block's number: its physical address divided by the size of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BlockId(pub u64);

impl std::fmt::Display for BlockId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether the kernel uses a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockState {
    /// In use.
    Online,
    /// Being given up; pages are still on it.
    GoingOffline,
    /// Known, and not in use.
    Offline,
}

/// A memory block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBlock {
    /// Which.
    pub id: BlockId,
    /// Whether the kernel uses it.
    pub state: BlockState,
    /// Its node, where it is known.
    pub node: Option<NodeId>,
    /// Online: the zone that it is in. Offline: those that it may go to.
    pub zones: Vec<String>,
}

impl MemoryBlock {
    /// Whether it is in use, and for movable pages only.
    #[must_use]
    pub fn movable(&self) -> bool {
        self.state == BlockState::Online && self.zones.len() == 1 && self.zones[0] == "Movable"
    }
}

/// What the kernel does with memory that is added (`auto_online_blocks`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoOnline {
    /// Nothing: user space says when and how.
    Offline,
    /// Takes it at once, in a zone of its own choice.
    Online,
    /// Takes it at once, for the kernel's own pages as well.
    Kernel,
    /// Takes it at once, for movable pages only.
    Movable,
}

impl Host {
    /// Size of a memory block; none on a kernel that cannot add memory.
    ///
    /// # Errors
    /// When the file has an unknown format.
    pub fn block_size(&self) -> Result<Option<Bytes>, Error> {
        let path = format!("{DIR}/block_size_bytes");
        let Some(text) = self.text(&path) else { return Ok(None) };
        match u64::from_str_radix(&text, 16) {
            Ok(size) if size.is_power_of_two() && size >= 4096 => Ok(Some(Bytes(size))),
            _ => Err(Error::Parse {
                path: self.path(path),
                line: 1,
                what: format!("expected a power of two in hexadecimal, found {text:?}"),
            }),
        }
    }

    /// What the kernel does with memory that is added; none where it does not say.
    #[must_use]
    pub fn auto_online(&self) -> Option<AutoOnline> {
        match self.text(format!("{DIR}/auto_online_blocks"))?.as_str() {
            "offline" => Some(AutoOnline::Offline),
            "online" => Some(AutoOnline::Online),
            "online_kernel" => Some(AutoOnline::Kernel),
            "online_movable" => Some(AutoOnline::Movable),
            _ => None,
        }
    }

    /// Whether page structures of added memory may lie on that memory itself
    /// (`memory_hotplug.memmap_on_memory`).
    #[must_use]
    pub fn memmap_on_memory(&self) -> bool {
        self.text("sys/module/memory_hotplug/parameters/memmap_on_memory")
            .is_some_and(|text| text == "Y" || text == "force")
    }

    /// The file that takes a block's new state.
    #[must_use]
    pub fn block_state_path(&self, id: BlockId) -> std::path::PathBuf {
        self.path(format!("{DIR}/memory{id}/state"))
    }

    /// A memory block; none where the kernel knows no memory at its address.
    ///
    /// # Errors
    /// When its state is an unknown word.
    pub fn memory_block(&self, id: BlockId) -> Result<Option<MemoryBlock>, Error> {
        let path = format!("{DIR}/memory{id}/state");
        let Some(text) = self.text(&path) else { return Ok(None) };
        let state = match text.as_str() {
            "online" => BlockState::Online,
            "going-offline" => BlockState::GoingOffline,
            "offline" => BlockState::Offline,
            _ => {
                return Err(Error::Parse {
                    path: self.path(path),
                    line: 1,
                    what: format!("expected online, going-offline or offline, found {text:?}"),
                });
            }
        };
        let dir = format!("{DIR}/memory{id}");
        let node = self.entries(&dir).unwrap_or_default().into_iter().find_map(|name| {
            let number = decimal(name.as_encoded_bytes().strip_prefix(b"node")?)?;
            u16::try_from(number).ok().map(NodeId)
        });
        let zones = self.text(format!("{dir}/valid_zones")).unwrap_or_default();
        let zones = zones.split_whitespace().filter(|zone| *zone != "none").map(Into::into);
        Ok(Some(MemoryBlock { id, state, node, zones: zones.collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn blocks_are_read_with_state_node_and_zone() {
        let fake = Fake::new();
        fake.file(format!("{DIR}/block_size_bytes"), "8000000\n");
        fake.file(format!("{DIR}/auto_online_blocks"), "online_movable\n");
        fake.file(format!("{DIR}/memory33/state"), "online\n");
        fake.file(format!("{DIR}/memory33/valid_zones"), "Movable\n");
        fake.link(format!("{DIR}/memory33/node1"), "../../node/node1");
        fake.file(format!("{DIR}/memory34/state"), "offline\n");
        fake.file(format!("{DIR}/memory34/valid_zones"), "Normal Movable\n");
        let host = fake.host();
        assert_eq!(host.block_size().unwrap(), Some(Bytes::mib(128)));
        assert_eq!(host.auto_online(), Some(AutoOnline::Movable));
        let block = host.memory_block(BlockId(33)).unwrap().unwrap();
        assert_eq!(
            (block.state, block.node, block.movable()),
            (BlockState::Online, Some(NodeId(1)), true)
        );
        let block = host.memory_block(BlockId(34)).unwrap().unwrap();
        assert_eq!((block.state, block.node, block.movable()), (BlockState::Offline, None, false));
        assert_eq!(host.memory_block(BlockId(35)).unwrap(), None);
    }

    #[test]
    fn a_kernel_that_cannot_add_memory_has_no_blocks() {
        let host = Fake::new();
        assert_eq!(host.host().block_size().unwrap(), None);
        assert_eq!(host.host().auto_online(), None);
    }

    #[test]
    fn an_unknown_word_is_named_with_its_file() {
        let fake = Fake::new();
        fake.file(format!("{DIR}/memory1/state"), "melting\n");
        fake.file(format!("{DIR}/block_size_bytes"), "7\n");
        let error = fake.host().memory_block(BlockId(1)).unwrap_err().to_string();
        assert!(error.contains("memory1/state:1") && error.contains("melting"), "{error}");
        assert!(fake.host().block_size().unwrap_err().to_string().contains("power of two"));
    }
}
