//! What a policy is: a key per unit and epoch, and what its registry entry says of it.

use crate::options::{OptionInfo, Settings};
use crate::{AccessHistory, Known};
use pagetide_types::{Bytes, EpochHeat, UnitId};

/// What a policy is shown at the end of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct EpochView<'a> {
    /// The heat of all live units in the epoch that just ended.
    pub heat: &'a EpochHeat,
    /// Age and history of every unit, this epoch included; kept once for all policies.
    pub history: &'a AccessHistory,
    /// Seconds since the decision before it.
    pub length_s: f64,
    /// The program is only being put in place: what the decision at the end of this epoch moves is
    /// paid by nobody. Never so in a live run.
    pub free_moves: bool,
    /// Of so many units of the program one is shown: what is counted of all stands for so many times
    /// as much. 1, but where a replay takes a sample.
    pub one_unit_in: u64,
    /// What the next epoch will bring; only for policies that declare that they need it.
    pub oracle: Option<&'a EpochHeat>,
    /// Where the units are now; only for policies that declare that they need it (their order
    /// depends on the capacity).
    pub placement: Option<Placement<'a>>,
}

/// Where the units of an epoch are.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// For every row of the heat, whether the unit is in fast memory.
    pub fast: &'a [bool],
    /// The tenant's fast memory.
    pub capacity: Bytes,
}

impl EpochView<'_> {
    /// Whether the unit of a row is fast, as far as the policy is shown.
    pub(crate) fn is_fast(&self, row: usize) -> bool {
        self.placement.is_some_and(|now| now.fast[row])
    }

    /// The tenant's fast memory in base pages; 0 where the policy is not shown.
    pub(crate) fn capacity_pages(&self) -> u64 {
        self.placement.map_or(0, |now| now.capacity.0 >> 12)
    }

    /// [`key_by`] what all policies know.
    pub(crate) fn key_by(&self, keys: &mut [u32], key: impl Fn(Known) -> u32) {
        key_by(keys, &self.heat.unit, |unit| self.history.get(unit), key);
    }
}

/// Writes `key` of what is `known` of every unit; a unit that was never observed ranks in the
/// middle: it gets the median key of the known ones. Nothing speaks for it and nothing
/// against it, and being sticky it stays where it is when its neighbours do.
pub(crate) fn key_by(
    keys: &mut [u32],
    units: &[UnitId],
    known: impl Fn(UnitId) -> Option<Known>,
    key: impl Fn(Known) -> u32,
) {
    let mut unknown = 0;
    for (slot, unit) in keys.iter_mut().zip(units) {
        *slot = match known(*unit) {
            Some(known) => key(known).min(UNKNOWN - 1),
            None => {
                unknown += 1;
                UNKNOWN
            }
        };
    }
    fill_unknown(keys, unknown);
}

/// Stands for the key of a unit of which nothing is known, until [`fill_unknown`].
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Gives the `unknown` keys that are [`UNKNOWN`] the median of the others.
pub(crate) fn fill_unknown(keys: &mut [u32], unknown: usize) {
    if unknown == 0 {
        return;
    }
    let mut known: Vec<u32> = keys.iter().copied().filter(|key| *key != UNKNOWN).collect();
    let middle = known.len() / 2;
    let median = if known.is_empty() { 0 } else { *known.select_nth_unstable(middle).1 };
    for key in keys.iter_mut().filter(|key| **key == UNKNOWN) {
        *key = median;
    }
}

/// Rates up to this one, an access in 12 days, count as equal.
pub(crate) const COLDEST: f32 = f32::from_bits((127 - 20) << 23);

/// Orders by rate, the highest first; exact from [`COLDEST`] on. The bits of positive floats
/// order like the floats and are a piecewise linear logarithm of them.
pub(crate) fn rate_key(rate: f32) -> u32 {
    f32::INFINITY.to_bits() - rate.max(COLDEST).to_bits()
}

/// One order of units per epoch.
///
/// Callers show every epoch once and in order, with a history that has seen the same epochs.
/// Implementations write one key per row of `view.heat`, lowest belongs in the fastest memory;
/// are linear in the number of units; are deterministic for their options; and never read a
/// clock or the host. Equal keys keep their previous order (what is fast stays fast): that, the
/// cut at the budget and the moves are the core's.
pub trait RankPolicy: Send {
    /// Learns from the epoch and writes the keys; `keys.len() == view.heat.len()`.
    fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]);

    /// What is to be expected of memory that is born in the next epoch, as far as what was born before tells: it comes
    /// behind the units of its key. Where nothing is expected it comes last.
    fn birth(&self) -> Option<Birth> {
        None
    }

    /// What the last [`Self::rank`] saw and chose, if it decided anything that is worth telling.
    fn observation(&self) -> Option<Observation> {
        None
    }
}

/// What is expected of memory that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Birth {
    /// As [`RankPolicy::rank`] would write it.
    pub key: u32,
    /// Accesses per second of a base page.
    pub rate: f64,
}

/// What a policy tells of one decision, for reports; nothing depends on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Which of several ways it follows from now on, for policies that choose between some.
    pub choice: Option<&'static str>,
    /// The values of [`PolicyInfo::figures`], in their order; finite.
    pub figures: Vec<f64>,
}

/// One figure of a policy's [`Observation`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureInfo {
    /// Lower case and hyphens.
    pub name: &'static str,
    /// What it is and its unit, one line.
    pub summary: &'static str,
}

/// A policy ready to run.
pub enum Policy {
    /// Decides after every epoch by one order.
    Rank(Box<dyn RankPolicy>),
    /// Decides nothing.
    Fixed(Fixed),
}

/// Placements that no decision changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// A unit stays where its first touch put it: fast while there was room.
    Born,
    /// Everything is fast, whatever the capacity.
    AllFast,
    /// Everything is slow, whatever the capacity.
    AllSlow,
}

/// Whether a policy can be run or only be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Knows only the past and keeps to the budget: can be run live.
    Runnable,
    /// Knows the future or ignores the budget: a bound.
    Bound,
}

/// What a policy must be shown besides heat and history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The next epoch ([`EpochView::oracle`]).
    pub oracle: bool,
    /// Where units are ([`EpochView::placement`]): its order depends on the capacity.
    pub placement: bool,
    /// Nothing: units with equal keys are alike to it, in whatever order. Where they lie is seen, those of them that move are scattered over
    /// memory. What goes in one piece is some threads' part of an array, for which all others wait at the end of a
    /// loop.
    pub scatters: bool,
    /// Less: of the history who was born is enough ([`AccessHistory::of_births`]). It goes by how often a second units are
    /// accessed, so that what is known of these tells what there is to gain.
    pub by_rates: bool,
    /// Nothing: it has a key for what is born ([`RankPolicy::birth`]), once something was.
    pub births: bool,
}

impl Needs {
    /// Heat and history are enough.
    pub const NOTHING: Self =
        Self { oracle: false, placement: false, scatters: false, by_rates: false, births: false };
}

/// A policy's entry in the registry.
#[derive(Debug)]
pub struct PolicyInfo {
    /// Unique; lower case and hyphens.
    pub name: &'static str,
    /// What it does, one line without a full stop.
    pub summary: &'static str,
    /// Paper and section it comes from, or that it is ours.
    pub source: &'static str,
    /// Whether it can be run.
    pub class: Class,
    /// What it must be shown.
    pub needs: Needs,
    /// Its parameters.
    pub options: &'static [OptionInfo],
    /// What its [`Observation`]s hold; empty if it makes none.
    pub figures: &'static [FigureInfo],
    /// Makes one from checked options.
    pub(crate) build: fn(&Settings<'_>) -> Policy,
}
