//! Linux with `demotion_enabled` and without NUMA balancing: new memory is fast while the node has room;
//! when it runs short, `kswapd` moves what is at the inactive list's tail to the slow node. Nothing
//! comes back. Tenants share the fast node, without limits.

use super::registry::{SystemInfo, keys};
use super::setup::{Given, Told};
use crate::engine::{Fault, System, World};
use crate::kernel::{FirstTouch, Kswapd, Lru, Rules};
use pagetide_policy::SpecError;

struct Demotion {
    memory: FirstTouch,
    lru: Lru,
    kswapd: Kswapd,
    told: Told,
}

impl System for Demotion {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        if !fault.absent() {
            return fault.now_ns;
        }
        let done = self.memory.map(&fault, world);
        self.lru.add_new(fault.page, world);
        if world.pages.tier(fault.page) > 0 {
            self.kswapd.wake_up(world.pages.mapped_with(fault.page).len() as u64);
        }
        done
    }

    fn wait(&mut self, fault: Fault, _: &mut World) -> Option<f64> {
        self.kswapd.blocks(fault.page, fault.core, fault.now_ns)
    }

    fn daemons(&self) -> usize {
        1
    }

    fn wake(&mut self, _: usize, now_ns: f64, world: &mut World) -> f64 {
        let Self { memory, lru, kswapd, told } = self;
        let next = kswapd.wake(now_ns, memory, lru, world);
        for demoted in kswapd.take_demoted() {
            told.moved(demoted.tenant, demoted.pages.len() as u64 * 4096, false);
        }
        next
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as other systems")]
fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    let (mechanism, scale) = (given.mechanism.of(Kswapd::TOGETHER), given.period.scale);
    Ok(Box::new(Demotion {
        memory: given.shared_node(),
        lru: Lru::new(2, given.base_pages(), Rules::InactiveFirst, scale),
        kswapd: Kswapd::new(given.tenants.len(), mechanism, &given.kernel()).scaled(scale),
        told: given.told.clone(),
    }))
}

pub(super) const DEMOTION: SystemInfo = SystemInfo {
    name: "demotion",
    summary: "what is inactive is demoted when fast memory runs short; nothing is promoted",
    source: "Linux, demotion_enabled (since 5.15)",
    keys: keys::MOVING,
    build,
};
