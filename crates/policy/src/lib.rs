//! Policies: which units belong in fast memory. One file per policy, one registry line each.
//! No I/O, no clock, no unsafe.

use pagetide_types::EpochHeat;

/// What a policy is shown at the end of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct EpochView<'a> {
    /// The heat of all live units in the epoch that just ended.
    pub heat: &'a EpochHeat,
    /// What the next epoch will bring; only for policies that declare that they need it.
    pub oracle: Option<&'a EpochHeat>,
    /// For every row of `heat`, whether the unit is in fast memory now; only for policies that
    /// declare that they need it (their order depends on the capacity).
    pub fast: Option<&'a [bool]>,
}

/// One order of units per epoch.
///
/// Callers show every epoch once and in order. Implementations write one key per row of
/// `view.heat`, lowest belongs in the fastest memory; are linear in the number of units; are
/// deterministic for a seed; and never read a clock or the host. Equal keys keep their previous
/// order (what is fast stays fast): that, the cut at the budget and the moves are the core's.
pub trait RankPolicy: Send {
    /// Learns from the epoch and writes the keys; `keys.len() == view.heat.len()`.
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]);
}
