//! What a region adds to its pages, and the rows of these: one for each, whoever else maps it.

use super::{Mask, Pages, REGION, turned};
use crate::recorder::heat::{concluded, may_be_accessed};
use crate::survey::measured::Measured;
use crate::target::region::Region;
use crate::target::units::Run;
use pagetide_types::{EpochHeat, HeatFlags, NodeId, UnitId};

/// A region as it contributes to its pages.
pub(super) struct Part<'a> {
    pages: &'a Pages,
    /// Its pages, by their number in the region of the unit.
    resident: Mask,
    /// Of all pages that can be cleared.
    flags: HeatFlags,
    /// It was observed at least once.
    known: bool,
    /// What is expected of all pages, or of the single ones, and what was measured of them.
    rate: f32,
    rates: Option<&'a [f32; REGION]>,
    /// How many times that it is beside other regions, and which part of it at least, but for one chance in ten: what
    /// is off by chance is so for each page by itself, and evens out among those that move; what a visit is off by
    /// beyond that is the same for all of them.
    beside: f32,
    least_part: f32,
    /// Which part of the rate comes in order.
    in_order: f32,
    /// It is charged with its rate; else with what was measured.
    as_expected: bool,
    traffics: Option<&'a [f32; REGION]>,
    /// Bits of single pages count, by the numbers of [`Pages`].
    watched: Mask,
    shared: Mask,
    cores: f32,
    node: NodeId,
    /// The walk's nodes, where not all pages lie on one.
    nodes: &'a [NodeId],
}

/// What a region adds to one page.
#[derive(Default)]
struct Page {
    rate: f32,
    least: f32,
    in_order: f32,
    traffic: f32,
    flags: HeatFlags,
}

/// What a region adds: its pages, or a part of its unit.
pub(super) struct Piece<'a> {
    pub(super) unit: UnitId,
    pub(super) region: usize,
    pub(super) cores: f32,
    pub(super) part: Option<Part<'a>>,
}

/// Whether the regions of a unit are one row.
pub(super) fn is_whole(group: &[Piece<'_>]) -> bool {
    group.iter().any(|piece| piece.part.is_none())
}

fn parts<'a, 'b>(group: &'b [Piece<'a>]) -> impl Iterator<Item = &'b Part<'a>> {
    group.iter().filter_map(|piece| piece.part.as_ref())
}

pub(super) fn union(group: &[Piece<'_>]) -> Mask {
    std::array::from_fn(|i| parts(group).fold(0, |all, part| all | part.resident[i]))
}

impl<'a> Part<'a> {
    /// None where single pages are not recorded.
    pub(super) fn of(
        region: &'a Region,
        measured: Option<&Measured>,
        cores: f32,
        nodes: &'a [NodeId],
    ) -> Option<Self> {
        let pages = region.pages.as_deref()?;
        let measured = measured.filter(|measured| !region.unknown() && !measured.partly);
        let mut flags = HeatFlags::default();
        if region.huge {
            // One accessed bit for all of them.
            flags |= HeatFlags::HUGE;
            if let Some(measured) = measured {
                flags |= HeatFlags::SAMPLED;
                if measured.accessed {
                    flags |= HeatFlags::ACCESSED;
                }
                if measured.saturated {
                    flags |= HeatFlags::SATURATED;
                }
            }
        }
        let all = [u64::MAX; 8];
        Some(Self {
            pages,
            resident: turned(&pages.resident, pages.skew),
            flags,
            known: region.rate.is_some(),
            rate: region.mean_rate() * cores,
            rates: pages.rates().filter(|_| !region.huge),
            beside: region.beside,
            least_part: region.least_part(),
            in_order: region.in_order,
            as_expected: region.charged_as_expected(),
            traffics: pages.traffic(),
            watched: if region.huge || measured.is_none() {
                Mask::default()
            } else {
                pages.watched
            },
            shared: if region.unknown() { all } else { pages.shared },
            cores,
            node: region.node,
            nodes: if region.huge || region.spread.iter().filter(|pages| **pages > 0).count() < 2 {
                &[]
            } else {
                nodes
            },
        })
    }

    /// What it adds to a page, by its number in [`Pages`].
    #[inline]
    fn page(&self, page: usize) -> Page {
        let (word, bit) = (page / 64, page % 64);
        let set = |mask: &Mask, flag: HeatFlags| flag.0 * u8::from(mask[word] >> bit & 1 != 0);
        let dirty = HeatFlags(set(&self.pages.dirty, HeatFlags::DIRTY));
        if self.shared[word] >> bit & 1 != 0 {
            let huge = HeatFlags(self.flags.0 & HeatFlags::HUGE.0);
            return Page { flags: huge | dirty | HeatFlags::UNCLEARED, ..Page::default() };
        }
        let mut flags = self.flags | dirty;
        if self.watched[word] >> bit & 1 != 0 {
            flags |= HeatFlags::SAMPLED;
            flags |= HeatFlags(set(&self.pages.accessed, HeatFlags::ACCESSED));
        }
        let own = |each: &[f32; REGION]| self.pages.drawn(each[page]) * self.cores * self.beside;
        let rate = self.rates.map_or(self.rate, own);
        let measured = |each: &[f32; REGION]| each[page] * self.cores;
        let traffic = if self.as_expected { rate } else { self.traffics.map_or(0.0, measured) };
        let (least, in_order) = (rate * self.least_part, rate * self.in_order);
        Page { rate, least, in_order, traffic, flags }
    }

    /// Where a page lies, by its number in [`Pages`].
    fn node(&self, page: usize) -> NodeId {
        if self.nodes.is_empty() {
            return self.node;
        }
        self.nodes.get(self.pages.node(page)).copied().unwrap_or(self.node)
    }

    /// Appends the pages of a run of which this is the only region.
    pub(super) fn add_run(&self, run: &Run, heat: &mut EpochHeat) {
        each(run, self.resident[run.word], |unit, page| {
            let page = self.pages.in_table(page);
            let Page { rate, least, in_order, traffic, flags } = self.page(page);
            heat.unit.push(unit);
            heat.rate.push(rate);
            heat.least.push(least);
            heat.in_order.push(in_order);
            heat.traffic.push(traffic);
            heat.flags.push(flags);
            heat.node.push(self.node(page));
        });
    }
}

/// Appends the pages of a run of which several regions hold some.
pub(super) fn add_shared_run(group: &[Piece<'_>], run: &Run, heat: &mut EpochHeat) {
    each(run, union(group)[run.word], |unit, page| {
        let mut sum = Page::default();
        let (mut node, mut open) = (NodeId(0), false);
        for part in parts(group) {
            if part.resident[run.word] >> (page % 64) & 1 != 0 {
                let page = part.pages.in_table(page);
                let Page { rate, least, in_order, traffic, flags } = part.page(page);
                sum.rate += rate;
                sum.least += least;
                sum.in_order += in_order;
                sum.traffic += traffic;
                sum.flags |= flags;
                node = part.node(page);
                let watched = flags.has(HeatFlags::SAMPLED);
                open |= !watched && may_be_accessed(part.known.then_some(rate), part.cores);
            }
        }
        heat.unit.push(unit);
        heat.rate.push(sum.rate);
        heat.least.push(sum.least);
        heat.in_order.push(sum.in_order);
        heat.traffic.push(sum.traffic);
        heat.flags.push(concluded(sum.flags, open));
        heat.node.push(node);
    });
}

/// The set of the first pages of a region.
pub(super) fn first_pages(pages: u16) -> Mask {
    std::array::from_fn(|word| match usize::from(pages).saturating_sub(64 * word) {
        0 => 0,
        left => u64::MAX >> 64_usize.saturating_sub(left),
    })
}

/// Appends the pages of a run of a region that no process maps, so that none accesses them.
pub(super) fn add_unmapped_run(pages: u16, run: &Run, heat: &mut EpochHeat) {
    each(run, first_pages(pages)[run.word], |unit, _| {
        heat.unit.push(unit);
        heat.rate.push(0.0);
        heat.least.push(0.0);
        heat.in_order.push(0.0);
        heat.traffic.push(0.0);
        heat.flags.push(HeatFlags::SAMPLED);
        heat.node.push(NodeId(0));
    });
}

/// Calls `take` with the number and the place in the region of all resident pages of a run.
fn each(run: &Run, resident: u64, mut take: impl FnMut(UnitId, usize)) {
    let mut rest = run.pages & resident;
    while rest != 0 {
        let bit = rest.trailing_zeros();
        rest &= rest - 1;
        let before = run.pages & ((1u64 << bit) - 1);
        take(UnitId(run.first.0 + before.count_ones()), run.word * 64 + bit as usize);
    }
}
