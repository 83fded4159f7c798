//! Where the units of an epoch lie, row by row, and the orders that move them.

use crate::Tiers;
use pagetide_migrate::Order;
use pagetide_scan::Place;
use pagetide_types::{Bytes, EpochHeat, NodeId, PageSize, VirtAddr};
use std::collections::BTreeMap;
use std::ops::Range;

/// The places of all units of an epoch.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Sorted by unit.
    places: Vec<Place>,
    /// Per row of the heat: its places.
    of_row: Vec<Range<usize>>,
    /// Per row: the part of its pages that lies in fast memory, 0 to 1.
    pub(crate) fast_part: Vec<f64>,
}

impl Layout {
    pub(crate) fn new(mut places: Vec<Place>, heat: &EpochHeat, tiers: &Tiers) -> Self {
        places.sort_by_key(|place| place.unit);
        let mut layout = Self::default();
        let mut at = 0;
        for unit in &heat.unit {
            while places.get(at).is_some_and(|place| place.unit < *unit) {
                at += 1;
            }
            let from = at;
            while places.get(at).is_some_and(|place| place.unit == *unit) {
                at += 1;
            }
            layout.of_row.push(from..at);
            layout.fast_part.push(fast_part(&places[from..at], tiers));
        }
        layout.places = places;
        layout
    }

    /// By row, the process that it belongs to: one of those that map it.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let first = |places: &Range<usize>| {
            let pid = self.places[places.clone()].first().map_or(0, |place| place.pid.0);
            u32::try_from(pid).unwrap_or(0)
        };
        self.of_row.iter().map(first).collect()
    }

    /// Whether more of a row lies in fast memory than not.
    pub(crate) fn is_fast(&self, row: usize) -> bool {
        self.fast_part[row] >= 0.5
    }

    /// Orders for a row: what of it is not on nodes of the tier moves to one of them. `room`: what
    /// they could take, as far as is known; it is charged.
    pub(crate) fn orders(
        &self,
        row: usize,
        target: &[NodeId],
        tiers: &Tiers,
        room: &mut BTreeMap<NodeId, Bytes>,
        orders: &mut Vec<Order>,
    ) {
        for place in &self.places[self.of_row[row].clone()] {
            let elsewhere = place.nodes.iter().filter(|(node, _)| !target.contains(node));
            let Some((from, _)) = elsewhere.max_by_key(|(_, pages)| *pages).copied() else {
                continue;
            };
            let (start, end) = (VirtAddr(place.range.start), VirtAddr(place.range.end));
            let unit = PageSize::Huge.bytes().0;
            let huge = place.huge && start.0.is_multiple_of(unit) && end.0.is_multiple_of(unit);
            let nearest = tiers.nearest(from, target);
            let bytes = Bytes(end.0 - start.0);
            let fits = |node: &&NodeId| room.get(node).is_some_and(|room| *room >= bytes);
            let Some(to) = nearest.iter().find(fits).or(nearest.first()).copied() else { return };
            if let Some(room) = room.get_mut(&to) {
                *room = room.saturating_sub(bytes);
            }
            if let Some(room) = room.get_mut(&from) {
                *room += bytes;
            }
            let tag = u32::try_from(row).unwrap_or(u32::MAX);
            orders.push(Order { tag, pid: place.pid, start, end, huge, from, to });
        }
    }
}

fn fast_part(places: &[Place], tiers: &Tiers) -> f64 {
    let (mut fast, mut all) = (0.0, 0.0);
    for (node, pages) in places.iter().flat_map(|place| place.nodes.iter()) {
        all += f64::from(*pages);
        fast += if tiers.is_fast(*node) { f64::from(*pages) } else { 0.0 };
    }
    if all > 0.0 { fast / all } else { 0.0 }
}
