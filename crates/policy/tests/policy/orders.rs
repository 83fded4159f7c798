//! Shows a policy epochs that are written down as rates.

use pagetide_policy::{
    AccessHistory, EpochView, Needs, Observation, Placement, Policy, PolicySpec, PriorityOrder,
    RankPolicy,
};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

pub(crate) const NOT_SAMPLED: f32 = -1.0;
pub(crate) const UNCLEARED: f32 = -2.0;
pub(crate) const DEAD: f32 = -3.0;

/// Units of so many pages; a rate above 0 means accessed.
fn heat(rates: &[f32], pages: u16) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(0));
    for (unit, rate) in (0..).zip(rates) {
        let flags = match *rate {
            DEAD => continue,
            NOT_SAMPLED => HeatFlags::ACCESSED,
            UNCLEARED => HeatFlags::SAMPLED | HeatFlags::UNCLEARED | HeatFlags::ACCESSED,
            0.0 => HeatFlags::SAMPLED | HeatFlags::UNSEEN,
            _ => HeatFlags::SAMPLED | HeatFlags::ACCESSED,
        };
        let (unit, rate, node) = (UnitId(unit), rate.max(0.0), NodeId(0));
        heat.push(HeatRow { unit, rate, flags, pages, watched: pages, touched: 0, node });
    }
    heat
}

/// A policy at one capacity, shown one epoch after the other.
pub(crate) struct Shown {
    policy: Box<dyn RankPolicy>,
    needs: Needs,
    capacity: Bytes,
    /// Of a unit.
    pages: u16,
    order: PriorityOrder,
    history: AccessHistory,
}

impl Shown {
    /// Units of one page; fast memory for `budget` of them.
    pub(crate) fn new(spec: &str, budget: u64) -> Self {
        Self::of_units(spec, budget, 1)
    }

    /// The same with units of so many pages.
    pub(crate) fn of_units(spec: &str, budget: u64, pages: u16) -> Self {
        let Ok(spec) = spec.parse::<PolicySpec>() else { panic!("{spec}") };
        let Policy::Rank(policy) = spec.build() else { panic!("{spec} has no order") };
        let (order, history) = (PriorityOrder::new(), AccessHistory::default());
        let capacity = Bytes((budget * u64::from(pages)) << 12);
        Self { policy, needs: spec.info().needs, capacity, pages, order, history }
    }

    /// The order after an epoch of 5 s; `next` is for clairvoyants.
    pub(crate) fn show(&mut self, rates: &[f32], next: &[f32]) -> Vec<u32> {
        let (heat, next) = (heat(rates, self.pages), heat(next, self.pages));
        self.history.update(&heat);
        self.order.arrive(&heat);
        let now = Placement { fast: &self.fast(&heat), capacity: self.capacity };
        let mut keys = vec![0; heat.len()];
        let view = EpochView {
            heat: &heat,
            history: &self.history,
            length_s: 5.0,
            free_moves: false,
            one_unit_in: 1,
            oracle: self.needs.oracle.then_some(&next),
            placement: self.needs.placement.then_some(now),
        };
        self.policy.rank(&view, &mut keys);
        self.order.rank(&keys);
        self.order.units().map(|unit| unit.0).collect()
    }

    fn fast(&self, heat: &EpochHeat) -> Vec<bool> {
        self.order.cut(heat, self.capacity)
    }

    /// What it told of its last decision.
    pub(crate) fn told(&self) -> Option<Observation> {
        self.policy.observation()
    }
}

/// The order after every epoch but the last, which only the clairvoyant is shown; `budget` pages.
pub(crate) fn orders<const N: usize>(
    spec: &str,
    budget: u64,
    epochs: &[[f32; N]],
) -> Vec<Vec<u32>> {
    let mut shown = Shown::new(spec, budget);
    epochs.windows(2).map(|pair| shown.show(&pair[0], &pair[1])).collect()
}
