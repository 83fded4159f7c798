//! Where the units of an epoch lie: what a mover needs to find them.

use super::Recorder;
use crate::pages::has;
use crate::target::region::Region;
use crate::target::units::Run;
use crate::walk::row::Range;
use pagetide_types::{NodeId, Pid, UnitId, UnitSize};

const PAGE: u64 = 4096;
const HUGE: u64 = 2 << 20;

/// The part of a unit that one mapping of one process holds. A unit that is mapped several times has
/// several. Most are single base pages, and there are many of these: 24 bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which unit.
    pub unit: UnitId,
    /// Whose mapping.
    pub pid: Pid,
    /// The first address; of a single page with its node in the bits below [`PAGE`].
    start: u64,
    /// None: a single page.
    more: Option<Box<More>>,
}

/// What a place of more than a page has besides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct More {
    end: u64,
    huge: bool,
    nodes: Vec<(NodeId, u16)>,
}

impl Place {
    /// So many addresses, mapped by a huge page or not, with so many resident base pages on each node that holds some.
    #[must_use]
    pub fn new(
        unit: UnitId,
        pid: Pid,
        range: Range,
        huge: bool,
        nodes: impl IntoIterator<Item = (NodeId, u16)>,
    ) -> Self {
        let more = More { end: range.end, huge, nodes: nodes.into_iter().collect() };
        Self { unit, pid, start: range.start, more: Some(Box::new(more)) }
    }

    /// A base page that is a unit.
    #[must_use]
    pub fn of_page(unit: UnitId, pid: Pid, start: u64, node: NodeId) -> Self {
        debug_assert!(u64::from(node.0) < PAGE && start.is_multiple_of(PAGE));
        Self { unit, pid, start: start | u64::from(node.0), more: None }
    }

    /// Its addresses.
    #[must_use]
    pub fn range(&self) -> Range {
        match &self.more {
            Some(more) => Range { start: self.start, end: more.end },
            None => Range { start: self.start & !(PAGE - 1), end: (self.start | (PAGE - 1)) + 1 },
        }
    }

    /// Mapped by a huge page.
    #[must_use]
    pub fn is_huge(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.huge)
    }

    /// Resident base pages on each node that holds some.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, u16)> + '_ {
        let page = (NodeId((self.start & (PAGE - 1)) as u16), 1);
        let nodes = self.more.as_ref().map_or(&[][..], |more| &more.nodes);
        nodes.iter().copied().chain(self.more.is_none().then_some(page))
    }

    /// They have moved.
    pub fn lies(&mut self, nodes: impl IntoIterator<Item = (NodeId, u16)>) {
        let mut nodes = nodes.into_iter();
        match &mut self.more {
            Some(more) => more.nodes = nodes.collect(),
            None => {
                if let Some((node, _)) = nodes.next() {
                    self.start = self.start & !(PAGE - 1) | u64::from(node.0);
                }
            }
        }
    }
}

impl Recorder {
    /// Where the units of the last epoch lay when what is resident was read, by unit: each row of its heat that somebody maps
    /// has a place.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let alive = self.regions.iter().filter(|region| self.known[region.process].alive);
        if self.options.unit == UnitSize::Huge {
            let mut places: Vec<_> = alive.map(|region| self.whole(region, region.unit)).collect();
            places.sort_by_key(|place| place.unit);
            return places;
        }
        let has_rows = |region: &&Region| self.page_heat.has_rows(region.unit);
        let mut regions: Vec<&Region> = alive.filter(has_rows).collect();
        regions.sort_by_key(|region| region.unit);
        let mut of_unit = vec![0..0; self.units.len()];
        let (mut end, mut several) = (0, false);
        for group in regions.chunk_by(|a, b| a.unit == b.unit) {
            of_unit[group[0].unit.index()] = end..end + group.len();
            end += group.len();
            several |= group.len() > 1;
        }
        let runs = self.units.runs();
        let single = runs.iter().filter(|run| !self.page_heat.is_whole(run.region));
        let singles: u32 = single.map(|run| run.pages.count_ones()).sum();
        let mut places = Vec::with_capacity(regions.len() + singles as usize);
        for run in runs {
            let group = &regions[of_unit[run.region.index()].clone()];
            // As its rows are: nobody may have visited it yet, whatever is known of its pages.
            if !self.page_heat.is_whole(run.region) {
                group.iter().for_each(|region| self.single(region, run, &mut places));
            } else if run.pages == 0 {
                places.extend(group.iter().map(|region| self.whole(region, run.first)));
            }
        }
        if several {
            places.sort_by_key(|place| place.unit);
        }
        places
    }

    /// A region that is one unit, or a part of one.
    fn whole(&self, region: &Region, unit: UnitId) -> Place {
        let nodes = self.live.walker.nodes().iter().copied().zip(region.spread);
        let nodes = nodes.filter(|(_, pages)| *pages > 0);
        Place::new(unit, self.known[region.process].pid, region.range, region.huge, nodes)
    }

    /// Pages of a region that got their numbers together.
    fn single(&self, region: &Region, run: &Run, places: &mut Vec<Place>) {
        let Some(pages) = region.pages.as_deref() else { return };
        let nodes = self.live.walker.nodes();
        let table = region.range.start & !(HUGE - 1);
        let mut rest = run.pages;
        for number in 0u32.. {
            if rest == 0 {
                break;
            }
            let page = pages.in_table(run.word * 64 + rest.trailing_zeros() as usize);
            rest &= rest - 1;
            let start = table + page as u64 * PAGE;
            let inside = (region.range.start..region.range.end).contains(&start);
            if inside && has(&pages.resident, page) {
                let node = nodes.get(pages.node(page)).copied().unwrap_or(region.node);
                let unit = UnitId(run.first.0 + number);
                places.push(Place::of_page(unit, self.known[region.process].pid, start, node));
            }
        }
    }

    /// Pages were moved: the next epoch walks what is resident, whatever it costs.
    pub fn look_again(&mut self) {
        self.moved = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_page_is_held_in_24_bytes() {
        assert_eq!(size_of::<Place>(), 24);
        let mut place = Place::of_page(UnitId(9), Pid(7), 5 * PAGE, NodeId(3));
        let range = Range { start: 5 * PAGE, end: 6 * PAGE };
        assert_eq!((place.range(), place.is_huge()), (range, false));
        assert_eq!(place.nodes().collect::<Vec<_>>(), [(NodeId(3), 1)]);
        place.lies([(NodeId(1023), 1)]);
        assert_eq!(place.range(), range);
        assert_eq!(place.nodes().collect::<Vec<_>>(), [(NodeId(1023), 1)]);
    }

    #[test]
    fn what_is_larger_may_lie_on_several_nodes() {
        let range = Range { start: 2 * HUGE, end: 3 * HUGE };
        let nodes = [(NodeId(0), 12), (NodeId(1), 500)];
        let mut place = Place::new(UnitId(9), Pid(7), range, true, nodes);
        assert_eq!((place.range(), place.is_huge()), (range, true));
        assert_eq!(place.nodes().collect::<Vec<_>>(), nodes);
        place.lies([(NodeId(1), 512)]);
        assert_eq!(place.nodes().collect::<Vec<_>>(), [(NodeId(1), 512)]);
    }
}
