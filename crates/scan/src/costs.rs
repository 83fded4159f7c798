//! What observing costs, learned while observing: what a call costs by itself, and what each
//! thing in it adds. The two are learned apart. Where few things are watched a call's own cost
//! would else be taken for theirs, fewer would be watched for it, and so on.

use crate::batch::SIZES;

/// Calls that the assumption counts for.
const ASSUMED_CALLS: f64 = 0.1;
/// What an epoch's calls count for after the next one.
const KEPT: f64 = 0.8;
/// A call counts as at most so many times as dear as was expected: it was interrupted. The rest
/// is charged to [`Costs::action`].
const DEAREST: f64 = 3.0;

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Cleared base pages.
    ClearBase,
    /// Cleared huge pages.
    ClearHuge,
    /// Looked at tables of base pages.
    LookBase,
    /// Looked at huge pages.
    LookHuge,
}

/// A clearing or a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    /// None if it had both huge and base pages in it.
    pub(crate) kind: Option<Kind>,
    /// How many pages or tables.
    pub(crate) things: u64,
    /// How long it took.
    pub(crate) ns: u64,
}

impl Call {
    pub(crate) fn clear(base: u64, huge: u64, ns: u64) -> Self {
        Self::of((Kind::ClearBase, base), (Kind::ClearHuge, huge), ns)
    }

    pub(crate) fn look(tables: u64, huge: u64, ns: u64) -> Self {
        Self::of((Kind::LookBase, tables), (Kind::LookHuge, huge), ns)
    }

    fn of(base: (Kind, u64), huge: (Kind, u64), ns: u64) -> Self {
        let things = base.1 + huge.1;
        let kind = [base, huge].into_iter().find(|(_, count)| *count == things);
        Self { kind: kind.map(|(kind, _)| kind), things, ns }
    }
}

/// Sums over calls, to which a straight line is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    count: f64,
    things: f64,
    squares: f64,
    ns: f64,
    products: f64,
}

impl Sums {
    fn add(&mut self, things: f64, ns: f64, weight: f64) {
        self.count += weight;
        self.things += weight * things;
        self.squares += weight * things * things;
        self.ns += weight * ns;
        self.products += weight * things * ns;
    }

    fn fade(&mut self) {
        let Self { count, things, squares, ns, products } = self;
        for sum in [count, things, squares, ns, products] {
            *sum *= KEPT;
        }
    }

    /// Cost of a call, and of each thing in it, by least squares; neither is below 0.
    fn fit(&self) -> (f64, f64) {
        let (things, ns) = (self.things / self.count, self.ns / self.count);
        let spread = self.squares / self.count - things * things;
        let each = ((self.products / self.count - things * ns) / spread).max(0.0);
        let call = ns - each * things;
        if call < 0.0 { (0.0, self.products / self.squares) } else { (call, each) }
    }
}

/// What calls of one kind cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// A call, whatever is in it, ns.
    pub(crate) call: f64,
    /// Each thing in it, ns.
    pub(crate) each: f64,
    /// Assumed at first.
    assumed: [(f64, f64); 2],
    seen: Sums,
}

impl Line {
    /// To begin with; `things` are usual in a call.
    fn assumed(call: f64, each: f64, things: f64) -> Self {
        let assumed = [0.0, 2.0 * things].map(|things| (things, call + each * things));
        Self { call, each, assumed, seen: Sums::default() }
    }

    /// A call with so many things in it.
    pub(crate) fn of(&self, things: f64) -> f64 {
        self.call + self.each * things
    }

    /// Takes in the calls of an epoch.
    fn learn(&mut self, calls: impl Iterator<Item = (f64, f64)>) {
        self.seen.fade();
        for (things, ns) in calls {
            self.seen.add(things, ns.min(DEAREST * self.of(things)), 1.0);
        }
        let mut sums = self.seen;
        for (things, ns) in self.assumed {
            sums.add(things, ns, ASSUMED_CALLS);
        }
        (self.call, self.each) = sums.fit();
    }
}

/// CPU time, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Clearing; the things are base pages.
    pub(crate) clear_base: Line,
    /// Clearing; the things are huge pages.
    pub(crate) clear_huge: Line,
    /// Looking; the things are tables of base pages.
    pub(crate) look_base: Line,
    /// Looking; the things are huge pages.
    pub(crate) look_huge: Line,
    /// What one clearing or look costs besides: going to sleep and waking up, interruptions.
    pub(crate) action: f64,
}

/// Kinds of calls, in the order of [`Costs::lines`].
const KINDS: [Kind; 4] = [Kind::ClearBase, Kind::ClearHuge, Kind::LookBase, Kind::LookHuge];

impl Default for Costs {
    /// Measured on one core of a virtual machine of 2026; the first epoch corrects them.
    fn default() -> Self {
        Self {
            clear_base: Line::assumed(2_000.0, 60.0, 512.0),
            clear_huge: Line::assumed(2_000.0, 15_000.0, 8.0),
            look_base: Line::assumed(1_500.0, 1_300.0, 8.0),
            look_huge: Line::assumed(1_500.0, 100.0, 8.0),
            action: 7_000.0,
        }
    }
}

/// Batches that are cleared one after the other at most, to be looked at together, and for how
/// long at most, ns: every clearing slows the target down for a while.
const MOST_TOGETHER: usize = 32;
const LONGEST_TOGETHER: f64 = 1e6;
/// Calls to look after a clearing, about.
pub(crate) const LOOKS: f64 = 5.0;

impl Costs {
    fn lines(&mut self) -> [&mut Line; 4] {
        [&mut self.clear_base, &mut self.clear_huge, &mut self.look_base, &mut self.look_huge]
    }

    /// Takes in the calls of an epoch, which took `spent_ns` of CPU time in all.
    pub(crate) fn learn(&mut self, calls: &[Call], spent_ns: u64) {
        let mut expected = 0.0;
        for (line, kind) in self.lines().into_iter().zip(KINDS) {
            let of_kind = || calls.iter().filter(move |call| call.kind == Some(kind));
            line.learn(of_kind().map(|call| (call.things as f64, call.ns as f64)));
            expected += of_kind().map(|call| line.of(call.things as f64)).sum::<f64>();
        }
        let mixed = calls.iter().filter(|call| call.kind.is_none());
        expected += mixed.map(|call| call.ns as f64).sum::<f64>();
        learn(&mut self.action, (spent_ns as f64 - expected) / calls.len() as f64);
    }

    /// How many batches to clear one after the other, so that the looks at them, all at once, cost
    /// no more than clearing them.
    pub(crate) fn together(&self) -> usize {
        let kinds = [(&self.clear_base, &self.look_base), (&self.clear_huge, &self.look_huge)];
        let of = |((clear, look), things): ((&Line, &Line), f64)| {
            let looks = LOOKS * (look.call + self.action);
            looks.min(LONGEST_TOGETHER) / clear.of(things)
        };
        let together = kinds.into_iter().zip(SIZES).map(of).sum::<f64>() / 2.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let together = together.round() as usize;
        together.clamp(1, MOST_TOGETHER)
    }
}

/// Moves an average towards a new measurement.
pub(crate) fn learn(average: &mut f64, measured: f64) {
    if measured.is_finite() && measured > 0.0 {
        *average += 0.2 * (measured - *average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_what_is_in_it_are_told_apart() {
        let mut costs = Costs::default();
        for _ in 0..20 {
            let clear = |huge: u64| Call::clear(0, huge, 90_000 + 700 * huge);
            let calls = [1, 2, 5, 8, 8, 8].map(clear);
            costs.learn(&calls, calls.iter().map(|call| call.ns + 30_000).sum());
        }
        let line = costs.clear_huge;
        assert!((line.call / 90_000.0 - 1.0).abs() < 0.1, "{line:?}");
        assert!(line.each < 2_000.0, "{line:?}");
        assert!((costs.action / 30_000.0 - 1.0).abs() < 0.1, "{costs:?}");
    }

    #[test]
    fn what_all_calls_cost_is_not_blamed_on_the_few_things_in_them() {
        let mut costs = Costs::default();
        for _ in 0..20 {
            costs.learn(&[Call::look(0, 2, 90_000); 200], 200 * 90_000);
        }
        let line = costs.look_huge;
        assert!((line.of(2.0) / 90_000.0 - 1.0).abs() < 0.1, "{line:?}");
        assert!(line.call > 60_000.0, "{line:?}");
    }

    #[test]
    fn an_interruption_is_charged_to_whatever_is_done() {
        let mut costs = Costs::default();
        for _ in 0..20 {
            let mut calls = [4, 6, 8, 8].map(|huge| Call::look(0, huge, 10_000));
            calls[3].ns = 400_000;
            costs.learn(&calls, 430_000);
        }
        let line = costs.look_huge;
        assert!(line.of(8.0) < 60_000.0, "{line:?}");
        let all = 4.0 * (line.of(6.5) + costs.action);
        assert!((all / 430_000.0 - 1.0).abs() < 0.1, "{all} {costs:?}");
    }

    #[test]
    fn where_calls_are_dear_more_is_cleared_for_each_look() {
        let mut costs = Costs::default();
        assert!(costs.together() < 3);
        costs.action = 200_000.0;
        assert!(costs.together() > 10, "{}", costs.together());
    }

    #[test]
    fn nothing_costs_less_than_nothing() {
        let mut costs = Costs::default();
        for _ in 0..50 {
            costs.learn(&[Call::clear(1, 0, 100_000), Call::clear(200, 0, 1_000)], 0);
        }
        let falling = costs.clear_base;
        assert!(falling.call >= 0.0 && falling.each >= 0.0, "{falling:?}");
        for _ in 0..50 {
            costs.learn(&[Call::clear(10, 0, 10), Call::clear(200, 0, 90_000)], 0);
        }
        let rising = costs.clear_base;
        assert!(rising.call >= 0.0 && rising.each > 0.0, "{rising:?}");
        costs.learn(&[], 0);
        assert!(costs.clear_base.of(9.0).is_finite() && costs.action.is_finite());
    }
}
