//! Where the units of an epoch lie: what a mover needs to find them.

use super::Recorder;
use crate::pages::has;
use crate::target::region::Region;
use crate::target::units::Run;
use crate::walk::row::Range;
use pagetide_types::{NodeId, Pid, UnitId, UnitSize};
use std::ops::Deref;

const PAGE: u64 = 4096;
const HUGE: u64 = 2 << 20;

/// The part of a unit that one mapping of one process holds. A unit that is mapped several times has
/// several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which unit.
    pub unit: UnitId,
    /// Whose mapping.
    pub pid: Pid,
    /// Its addresses.
    pub range: Range,
    /// Mapped by a huge page.
    pub huge: bool,
    /// Resident base pages on each node that holds some.
    pub nodes: PerNode,
}

/// Nodes and their pages. Of a base page it is one node, and there are many of these: that is held in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerNode(Inner);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Inner {
    One([(NodeId, u16); 1]),
    Others(Box<[(NodeId, u16)]>),
}

impl Deref for PerNode {
    type Target = [(NodeId, u16)];

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Inner::One(one) => one,
            Inner::Others(all) => all,
        }
    }
}

impl FromIterator<(NodeId, u16)> for PerNode {
    fn from_iter<I: IntoIterator<Item = (NodeId, u16)>>(nodes: I) -> Self {
        let mut nodes = nodes.into_iter();
        let first = nodes.next();
        match (first, nodes.next()) {
            (Some(one), None) => Self(Inner::One([one])),
            (first, second) => {
                Self(Inner::Others(first.into_iter().chain(second).chain(nodes).collect()))
            }
        }
    }
}

impl Recorder {
    /// Where the units of the last epoch lay when what is resident was read: each row of its heat that somebody maps has a
    /// place.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let alive = self.regions.iter().filter(|region| self.known[region.process].alive);
        if self.options.unit == UnitSize::Huge {
            return alive.map(|region| self.whole(region, region.unit)).collect();
        }
        let mut regions: Vec<&Region> = alive.collect();
        regions.sort_by_key(|region| region.unit);
        let mut of_unit = vec![0..0; self.units.len()];
        let mut end = 0;
        for group in regions.chunk_by(|a, b| a.unit == b.unit) {
            of_unit[group[0].unit.index()] = end..end + group.len();
            end += group.len();
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
        places
    }

    /// A region that is one unit, or a part of one.
    fn whole(&self, region: &Region, unit: UnitId) -> Place {
        let nodes = self.live.walker.nodes().iter().copied().zip(region.spread);
        Place {
            unit,
            pid: self.known[region.process].pid,
            range: region.range,
            huge: region.huge,
            nodes: nodes.filter(|(_, pages)| *pages > 0).collect(),
        }
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
                places.push(Place {
                    unit: UnitId(run.first.0 + number),
                    pid: self.known[region.process].pid,
                    range: Range { start, end: start + PAGE },
                    huge: false,
                    nodes: [(node, 1)].into_iter().collect(),
                });
            }
        }
    }

    /// Pages were moved: the next epoch walks what is resident, whatever it costs.
    pub fn look_again(&mut self) {
        self.moved = true;
    }
}
