//! Random epochs of units that are born, die, grow, and are seen or not.

use pagetide_types::{EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};
use proptest::collection::vec;
use proptest::prelude::*;

/// One unit in one epoch: pages, rate, flags; `None`: not alive.
pub(crate) type Cell = Option<(u16, f32, u8)>;

/// Epochs of cells, one per unit.
pub(crate) fn build(epochs: &[Vec<Cell>]) -> Vec<EpochHeat> {
    let epoch = |(id, cells): (u32, &Vec<Cell>)| {
        let mut heat = EpochHeat::new(EpochId(id));
        for (unit, cell) in (0..).zip(cells) {
            if let Some((pages, rate, flags)) = *cell {
                let (unit, flags, node) = (UnitId(unit), HeatFlags(flags), NodeId(0));
                heat.push(HeatRow { unit, rate, flags, pages, watched: 0, touched: 0, node });
            }
        }
        heat
    };
    (0..).zip(epochs).map(epoch).collect()
}

/// Up to 13 epochs of up to 23 units.
pub(crate) fn epochs() -> impl Strategy<Value = Vec<EpochHeat>> {
    let rate = prop_oneof![Just(0.0f32), (1u8..4).prop_map(f32::from), 0.0f32..1e6];
    let cell = (1u16..6, rate, (0u8..128).prop_map(|flags| flags | HeatFlags::SAMPLED.0));
    let unit = proptest::option::weighted(0.8, cell);
    (1usize..24)
        .prop_flat_map(move |units| vec(vec(unit.clone(), units), 1..14))
        .prop_map(|epochs| build(&epochs))
}
