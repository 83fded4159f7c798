//! A tenant's policy at work, epoch by epoch: the same order, cut and moves in the replay of a
//! recording and in the live loop.

use crate::moves;
use crate::{
    AccessHistory, Birth, EpochView, Fixed, Moves, Needs, Observation, Placement, Policy,
    PolicySpec, PriorityOrder,
};
use pagetide_types::{Bytes, EpochHeat, UnitId};

/// What a decision is made on, beside the heat of the epoch that just ended.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Seconds since the decision before it; a replay's epochs follow each other.
    pub length_s: f64,
    /// See [`EpochView::free_moves`].
    pub free_moves: bool,
    /// The tenant's fast memory from now on.
    pub capacity: Bytes,
    /// Which rows of the heat are fast.
    pub fast: &'a [bool],
    /// Which rows may move; all, if there are none. The others keep their places and what they
    /// take of the capacity.
    pub movable: Option<&'a [bool]>,
    /// What the next epoch will bring, where it is known (replay).
    pub next: Option<&'a EpochHeat>,
}

/// One policy, the order of its units, and what it remembers of them.
pub struct Decider {
    policy: Policy,
    needs: Needs,
    order: PriorityOrder,
    history: AccessHistory,
    /// Where the units of the epoch that arrived last are was seen.
    seen: bool,
}

impl Decider {
    /// A policy that has seen no epoch.
    #[must_use]
    pub fn new(spec: &PolicySpec) -> Self {
        Self::with(spec.build(), spec.info().needs)
    }

    /// The same for a policy that is in no registry.
    #[must_use]
    pub fn with(policy: Policy, needs: Needs) -> Self {
        let order = PriorityOrder::new();
        let history =
            if needs.by_rates { AccessHistory::of_births() } else { AccessHistory::default() };
        Self { policy, needs, order, history, seen: false }
    }

    /// What its policy must be shown.
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Lives through an epoch; once for each, in order. Whether what was born in it came before units
    /// that were there ([`crate::RankPolicy::birth`]): those that this pushed to slow memory were moved. Where what is born really
    /// goes is the kernel's choice, which a live run takes as it finds it ([`Self::reconcile`]).
    pub fn arrive(&mut self, heat: &EpochHeat) -> bool {
        self.seen = false;
        self.history.update(heat);
        let birth = self.birth();
        self.order.arrive_by(heat, birth.map(|birth| birth.key))
    }

    /// What its policy expects of memory that is born.
    #[must_use]
    pub fn birth(&self) -> Option<Birth> {
        match &self.policy {
            Policy::Rank(policy) => policy.birth(),
            Policy::Fixed(_) => None,
        }
    }

    /// How much was born in the epoch that arrived last.
    #[must_use]
    pub fn born(&self, heat: &EpochHeat) -> Bytes {
        self.history.born(heat).map(|row| heat.bytes(row)).sum()
    }

    /// Rows of units that come behind what is born, as of the last decision.
    pub(crate) fn behind_births(&self) -> impl Iterator<Item = usize> + '_ {
        let key = self.birth().map(|birth| birth.key);
        key.into_iter().flat_map(|key| self.order.behind(key))
    }

    /// Where the units of the epoch that arrived last were seen, if that is known: what is fast
    /// comes first, otherwise the order stays or is [scattered](Needs::scatters). A replay goes without, and takes every move that it
    /// decided on for made; its order is the same at every capacity.
    pub fn reconcile(&mut self, fast: &[bool]) {
        self.seen = true;
        if !self.needs.scatters {
            self.order.reconcile(fast);
        }
    }

    /// Which rows of the epoch that arrived last are fast, if every decision was carried out.
    #[must_use]
    pub fn fast(&self, heat: &EpochHeat, capacity: Bytes) -> Vec<bool> {
        match self.policy {
            Policy::Fixed(Fixed::AllFast) => vec![true; heat.len()],
            Policy::Fixed(Fixed::AllSlow) => vec![false; heat.len()],
            _ => self.order.cut(heat, capacity),
        }
    }

    /// Decides at the end of the epoch that arrived last.
    pub fn decide(&mut self, heat: &EpochHeat, now: &Now<'_>) -> Moves {
        let Policy::Rank(policy) = &mut self.policy else { return Moves::default() };
        let needs = self.needs;
        let mut keys = vec![0; heat.len()];
        let placement = Placement { fast: now.fast, capacity: now.capacity };
        let view = EpochView {
            heat,
            history: &self.history,
            length_s: now.length_s,
            free_moves: now.free_moves,
            one_unit_in: 1,
            oracle: now.next.filter(|_| needs.oracle),
            placement: needs.placement.then_some(placement),
        };
        policy.rank(&view, &mut keys);
        if std::mem::take(&mut self.seen) && needs.scatters {
            self.order.rank_scattered(heat, now.fast, &keys);
        } else {
            self.order.rank(&keys);
        }
        let fixed = |row: usize| match now.movable {
            Some(movable) if !movable[row] => Some(now.fast[row]),
            _ => None,
        };
        let wanted = self.order.cut_around(heat, now.capacity, fixed);
        moves(&self.order, heat, now.fast, &wanted)
    }

    /// The rows of the units from the fastest memory to the slowest.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.order.rows()
    }

    /// The units from the fastest memory to the slowest.
    pub fn units(&self) -> impl DoubleEndedIterator<Item = UnitId> + '_ {
        self.order.units()
    }

    /// What the last decision saw and chose, if the policy tells.
    #[must_use]
    pub fn observation(&self) -> Option<Observation> {
        match &self.policy {
            Policy::Rank(policy) => policy.observation(),
            Policy::Fixed(_) => None,
        }
    }
}
