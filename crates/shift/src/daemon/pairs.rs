//! Our devices, by the DRAM that they belong to.

use super::{Daemon, DaemonError};
use crate::{Entry, Identity, Journal, Kernel, State, dram_of};
use pagetide_host::{DaxDevice, DaxDriver, Node};
use pagetide_types::{Bytes, NodeId};
use std::collections::BTreeMap;

/// A device of ours, as it is now.
pub(crate) struct Ours {
    pub(crate) id: Identity,
    pub(crate) device: DaxDevice,
    pub(crate) state: State,
    pub(crate) bytes: Bytes,
}

impl Ours {
    /// Whether it was memory, and came back after a reboot, or after it had gone: then it is not, whatever the journal says.
    pub(super) fn was_memory(&self) -> bool {
        self.state == State::Memory && self.device.driver != DaxDriver::Memory
    }
}

/// A pair of nodes, and the devices behind it.
pub(crate) struct Pair {
    pub(crate) dram: NodeId,
    pub(crate) devices: Vec<Ours>,
}

impl<K: Kernel> Daemon<K> {
    /// What the journal says.
    pub(crate) fn entries(&self) -> Result<BTreeMap<Identity, Entry>, DaemonError> {
        Ok(Journal::peek(&self.options.folder, &self.options.machine)?)
    }

    /// Our devices that are there.
    pub(crate) fn ours(&self) -> Result<Vec<Ours>, DaemonError> {
        let entries = self.entries()?;
        let block = self.kernel.block_size()?.unwrap_or_default();
        let ours = |device: DaxDevice| {
            let (id, entry) = entries.iter().find(|(id, _)| id.is(&device))?;
            let bytes = Bytes(block.0 * device.blocks(block).len() as u64);
            Some(Ours { id: id.clone(), device, state: entry.state, bytes })
        };
        Ok(self.kernel.devices()?.into_iter().filter_map(ours).collect())
    }

    /// The same, by the DRAM that they belong to.
    pub(crate) fn pairs(&self, nodes: &[Node]) -> Result<Vec<Pair>, DaemonError> {
        let mut pairs: BTreeMap<NodeId, Vec<Ours>> = BTreeMap::new();
        for ours in self.ours()? {
            let Some(dram) = dram_of(&ours.device, nodes) else { continue };
            pairs.entry(dram).or_default().push(ours);
        }
        Ok(pairs.into_iter().map(|(dram, devices)| Pair { dram, devices }).collect())
    }
}
