//! Where the units of an epoch lie, row by row, and the orders that move them.

use crate::Tiers;
use pagetide_migrate::{Mapping, Order, Sharing};
use pagetide_scan::{Place, Range};
use pagetide_types::{Bytes, EpochHeat, NodeId, PageSize, Pid, VirtAddr};
use std::collections::BTreeMap;

/// The places of all units of an epoch.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// By unit.
    places: Vec<Place>,
    /// Per row of the heat: how many places end before the next row's.
    ends: Vec<u32>,
    /// Per row: the part of its pages that lies in fast memory, 0 to 1.
    fast_part: Vec<f32>,
    /// Per row: the process that it belongs to, one of those that map it.
    pub(crate) process: Vec<u32>,
}

impl Layout {
    /// `places`: by unit.
    pub(crate) fn new(places: Vec<Place>, heat: &EpochHeat, tiers: &Tiers) -> Self {
        debug_assert!(places.is_sorted_by_key(|place| place.unit));
        let mut layout = Self {
            ends: Vec::with_capacity(heat.len()),
            fast_part: Vec::with_capacity(heat.len()),
            process: Vec::with_capacity(heat.len()),
            ..Self::default()
        };
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let mut at = 0;
        for unit in &heat.unit {
            while places.get(at).is_some_and(|place| place.unit < *unit) {
                at += 1;
            }
            let from = at;
            while places.get(at).is_some_and(|place| place.unit == *unit) {
                at += 1;
            }
            let places = &places[from..at];
            layout.ends.push(number(at));
            layout.fast_part.push(part(places, |node| tiers.is_fast(node)));
            let pid = places.first().map_or(0, |place| place.pid.0);
            layout.process.push(u32::try_from(pid).unwrap_or(0));
        }
        layout.places = places;
        layout
    }

    /// The places of a row.
    fn of_row(&self, row: usize) -> &[Place] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start as usize..self.ends[row] as usize]
    }

    /// The part of a row's pages that lies in fast memory, 0 to 1.
    pub(crate) fn fast_part(&self, row: usize) -> f64 {
        self.fast_part[row].into()
    }

    /// Whether more of a row lies in fast memory than not.
    pub(crate) fn is_fast(&self, row: usize) -> bool {
        self.fast_part[row] >= 0.5
    }

    /// The part of a row's pages for which something holds of their node, 0 to 1.
    pub(crate) fn part(&self, row: usize, holds: impl Fn(NodeId) -> bool) -> f64 {
        part(self.of_row(row), holds).into()
    }

    /// Orders for a row: what of it is not on nodes of the tier moves to one of them, the nearest to the process's `home`, or
    /// else to where it is. `room`: what they could take, as far as is known; it is charged. `sharing`: asked of memory that several of the
    /// tenant's processes map; where nobody else does it moves once, by who has most of it elsewhere.
    pub(crate) fn orders(
        &self,
        row: usize,
        Target { nodes: target, tiers, home }: &mut Target<'_>,
        sharing: &mut dyn FnMut(&[Mapping]) -> Sharing,
        room: &mut BTreeMap<NodeId, Bytes>,
        orders: &mut Vec<Order>,
    ) {
        let places = self.of_row(row);
        let several = places.windows(2).any(|pair| pair[0].pid != pair[1].pid);
        let mappings = || places.iter().map(mapping).collect::<Vec<_>>();
        let shared = several && sharing(&mappings()) == Sharing::Among;
        let elsewhere = |place: &Place| {
            let pages = place.nodes().filter(|(node, _)| !target.contains(node));
            pages.map(|(_, pages)| u32::from(pages)).sum::<u32>()
        };
        let most = places.iter().max_by_key(|place| elsewhere(place));
        let once = most.filter(|_| shared).map(std::slice::from_ref);
        for place in once.unwrap_or(places) {
            let elsewhere = place.nodes().filter(|(node, _)| !target.contains(node));
            let Some((from, _)) = elsewhere.max_by_key(|(_, pages)| *pages) else {
                continue;
            };
            let Range { start, end } = place.range();
            let (start, end) = (VirtAddr(start), VirtAddr(end));
            let unit = PageSize::Huge.bytes().0;
            let huge =
                place.is_huge() && start.0.is_multiple_of(unit) && end.0.is_multiple_of(unit);
            let nearest = tiers.nearest(home(place.pid).unwrap_or(from), target);
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
            orders.push(Order { tag, pid: place.pid, start, end, huge, from, to, shared });
        }
    }
}

/// Where rows go: to the nodes of a tier.
pub(crate) struct Target<'a> {
    pub(crate) nodes: &'a [NodeId],
    pub(crate) tiers: &'a Tiers,
    /// The node by whose CPUs all of a process runs, if it does.
    pub(crate) home: &'a mut dyn FnMut(Pid) -> Option<NodeId>,
}

/// The 2 MiB that a place is in.
fn mapping(place: &Place) -> Mapping {
    let unit = PageSize::Huge.bytes().0;
    let start = place.range().start & !(unit - 1);
    Mapping { pid: place.pid, start: VirtAddr(start), end: VirtAddr(start + unit) }
}

fn part(places: &[Place], holds: impl Fn(NodeId) -> bool) -> f32 {
    let (mut part, mut all) = (0.0, 0.0);
    for (node, pages) in places.iter().flat_map(Place::nodes) {
        all += f32::from(pages);
        part += if holds(node) { f32::from(pages) } else { 0.0 };
    }
    if all > 0.0 { part / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_host::Node;
    use pagetide_types::{EpochId, HeatFlags, HeatRow, UnitId};

    const UNIT: u64 = 2 << 20;

    /// Pages of the unit on node 1, by a process at an address.
    fn place(pid: i32, start: u64, pages: u16) -> Place {
        let range = Range { start, end: start + UNIT / 2 };
        let nodes = [(NodeId(1), pages)];
        Place::new(UnitId(0), Pid(pid), range, false, nodes)
    }

    /// Orders to node 0: whose, and whether shared.
    fn orders(places: Vec<Place>, answer: Sharing) -> (Vec<(i32, bool)>, Vec<Vec<Mapping>>) {
        let mut heat = EpochHeat::new(EpochId(0));
        let (unit, node) = (UnitId(0), NodeId(1));
        let flags = HeatFlags::SAMPLED;
        heat.push(HeatRow { unit, rate: 1.0, flags, pages: 256, watched: 256, touched: 1, node });
        let mut tiers = Tiers::default();
        (tiers.fast, tiers.slow) = (vec![NodeId(0)], vec![NodeId(1)]);
        let layout = Layout::new(places, &heat, &tiers);
        let (mut asked, mut found) = (Vec::new(), Vec::new());
        let mut sharing = |mappings: &[Mapping]| {
            asked.push(mappings.to_vec());
            answer
        };
        let mut target = Target { nodes: &tiers.fast, tiers: &tiers, home: &mut |_| None };
        layout.orders(0, &mut target, &mut sharing, &mut BTreeMap::new(), &mut found);
        (found.into_iter().map(|order| (order.pid.0, order.shared)).collect(), asked)
    }

    #[test]
    fn memory_that_only_the_tenants_processes_map_moves_once_by_who_has_most_of_it() {
        let places = || vec![place(7, 10 * UNIT, 5), place(8, 30 * UNIT, 200)];
        let (found, asked) = orders(places(), Sharing::Among);
        assert_eq!(found, [(8, true)]);
        let of = |pid, start: u64| Mapping {
            pid: Pid(pid),
            start: VirtAddr(start),
            end: VirtAddr(start + UNIT),
        };
        assert_eq!(asked, [[of(7, 10 * UNIT), of(8, 30 * UNIT)]], "all of the 2 MiB");
        assert_eq!(orders(places(), Sharing::Outside).0, [(7, false), (8, false)]);
    }

    #[test]
    fn two_mappings_of_one_process_are_two_pieces_of_memory() {
        let places = vec![place(7, 10 * UNIT, 5), place(7, 10 * UNIT + UNIT / 2, 200)];
        let (found, asked) = orders(places, Sharing::Among);
        assert_eq!((found, asked.len()), (vec![(7, false), (7, false)], 0));
    }

    #[test]
    fn memory_goes_to_the_node_nearest_to_its_process_home_or_else_to_where_it_lies() {
        let mut heat = EpochHeat::new(EpochId(0));
        let (unit, node) = (UnitId(0), NodeId(1));
        let flags = HeatFlags::SAMPLED;
        heat.push(HeatRow { unit, rate: 1.0, flags, pages: 256, watched: 256, touched: 1, node });
        // Node 1 is slow, and near to node 0.
        let node = |id: u16, distances: &[u32]| Node {
            id: NodeId(id),
            cpus: vec![],
            total: Bytes::gib(1),
            free: Bytes::gib(1),
            distances: distances.to_vec(),
        };
        let nodes = vec![node(0, &[10, 14, 21]), node(1, &[14, 10, 24]), node(2, &[21, 24, 10])];
        let online = [0, 1, 2].map(NodeId);
        let tiers = Tiers::of(nodes, &online, &[], &[NodeId(0), NodeId(2)], &[]).unwrap();
        let layout = Layout::new(vec![place(7, 10 * UNIT, 5)], &heat, &tiers);
        let to = |home: Option<NodeId>| {
            let mut found = Vec::new();
            let mut target = Target { nodes: &tiers.fast, tiers: &tiers, home: &mut |_| home };
            let sharing = &mut |_: &[Mapping]| Sharing::Apart;
            layout.orders(0, &mut target, sharing, &mut BTreeMap::new(), &mut found);
            found[0].to
        };
        assert_eq!(to(None), NodeId(0));
        assert_eq!(to(Some(NodeId(2))), NodeId(2));
    }
}
