//! How much shared memory no process of the target mapped.

use pagetide_trace::EpochRecord;
use pagetide_types::{AreaKind, Bytes, ObjectId};
use std::collections::HashSet;

/// Which units lie in it, gathered from epochs in order.
#[derive(Debug, Default)]
pub(crate) struct Unmapped {
    objects: HashSet<ObjectId>,
    /// By unit number.
    units: Vec<bool>,
    not_counted: bool,
}

impl Unmapped {
    /// Takes in an epoch; the bytes of it that are of such memory.
    pub(crate) fn of(&mut self, record: &EpochRecord) -> Bytes {
        for area in &record.new_areas {
            match area.mapped {
                Some(false) => _ = self.objects.insert(area.object),
                None if area.kind == AreaKind::Shared => self.not_counted = true,
                None | Some(true) => {}
            }
        }
        self.units.extend(record.new_units.iter().map(|unit| self.objects.contains(&unit.object)));
        let heat = &record.heat;
        let is = |row: &usize| self.units.get(heat.unit[*row].index()) == Some(&true);
        (0..heat.len()).filter(is).map(|row| heat.bytes(row)).sum()
    }

    /// Whether all of it was counted.
    pub(crate) fn was_counted(&self) -> bool {
        !self.not_counted
    }
}
