//! Before devices go back who places programs' memory is told, and waited for between the checks: programs may want
//! memory meanwhile.

use super::Daemon;
use crate::{Identity, Kernel, leaving::Announced};
use pagetide_types::{Bytes, NodeId};

/// What is about to leave.
#[derive(Debug)]
pub(crate) struct Told {
    dram: NodeId,
    /// The device that was to go first then.
    first: Identity,
    announced: Announced,
}

impl<K: Kernel> Daemon<K> {
    /// The device that was to go first when it was told.
    pub(super) fn told_first(&self, dram: NodeId) -> Option<&Identity> {
        self.told.as_ref().filter(|told| told.dram == dram).map(|told| &told.first)
    }

    /// Whether devices behind a DRAM may go, so much of a node in all: everybody who heeds that was told and had his time.
    /// Where it was not told yet, it is.
    pub(super) fn may_go(
        &mut self,
        dram: NodeId,
        (node, first): (NodeId, &Identity),
        bytes: Bytes,
    ) -> bool {
        let other = |told: &Told| told.dram != dram || told.announced.node() != node;
        if self.told.as_ref().is_some_and(other) {
            // One announcement at a time.
            return true;
        }
        match &mut self.told {
            Some(told) => told.announced.grow(&self.kernel, bytes),
            None => {
                let made = Announced::make(&self.kernel, (node, bytes), self.options.limit);
                self.told = made.map(|announced| Told { dram, first: first.clone(), announced });
            }
        }
        self.told.as_ref().is_none_or(|told| told.announced.is_over(&self.kernel))
    }

    /// So much of a node has left.
    pub(super) fn told_left(&mut self, node: Option<NodeId>, bytes: Bytes) {
        let Some(Told { dram, first, announced }) = self.told.take() else { return };
        let rest = match node {
            Some(node) if node == announced.node() => announced.left(&self.kernel, bytes),
            _ => Some(announced),
        };
        self.told = rest.map(|announced| Told { dram, first, announced });
    }

    /// Nothing behind a DRAM is about to leave any more.
    pub(super) fn stays(&mut self, dram: NodeId) {
        if let Some(told) = self.told.take_if(|told| told.dram == dram) {
            told.announced.end(&self.kernel);
        }
    }
}
