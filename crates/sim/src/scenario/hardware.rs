//! The TLBs and caches of a scenario's machine: none unless it asks for them, and then those of the
//! machine's file, or of Intel's Haswell where that has none.

use super::error::ScenarioError;
use super::spec::Scenario;
use crate::engine::Hardware;
use pagetide_machine::{Cache, Machine};
use pagetide_types::Bytes;

/// Those of a machine, scaled, for so many bytes of memory.
pub(super) fn hardware(
    scenario: &Scenario,
    machine: &Machine,
    bytes: u64,
    origin: &str,
) -> Result<Hardware, ScenarioError> {
    let tlb = scenario.tlb.then(|| machine.tlb.clone().unwrap_or_default());
    let caches = match (scenario.caches, machine.caches.is_empty()) {
        (false, _) => Vec::new(),
        (true, false) => machine.caches.clone(),
        (true, true) => Cache::haswell(),
    };
    let wrong = |problem| ScenarioError::Value { origin: origin.to_owned(), problem };
    let hardware = Hardware::new(tlb.as_ref(), &caches, scenario.scale)
        .map_err(|error| wrong(format!("machine '{}': cache or tlb: {error}", machine.name)))?;
    if bytes > hardware.limit() {
        let most = Bytes(hardware.limit());
        return Err(wrong(format!(
            "the tenants' memory over scale is more than {most}, which tlb and caches of this scale \
             can tell apart; give less memory, or a smaller scale"
        )));
    }
    Ok(hardware)
}
