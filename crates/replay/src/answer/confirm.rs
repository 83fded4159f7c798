//! A policy that is replayed at a choice of sizes has straight lines between them, and what it needs lies, at first, on
//! one of these. It is replayed with just as much. Where the line promised too much, the need is looked for again above,
//! until it is a size with which the policy was seen to keep the target.

use crate::answer::recommend::Candidate;
use crate::curves::{More, replay_more};
use crate::{CostModel, PolicyCurve, ReplayError, ReplayOptions, Role};
use pagetide_policy::PolicySpec;
use pagetide_types::{Bytes, EpochHeat};

/// So often a need is looked for at most; then it is the next larger size that was replayed from the beginning.
const ROUNDS: usize = 8;
/// Where a line promised too much, what is left of it is replayed at so many sizes at once.
const PARTS: u32 = 4;

/// What a policy is to keep.
pub(crate) struct Asked {
    pub(crate) cost: CostModel,
    pub(crate) unit: Bytes,
    pub(crate) target: f64,
}

/// How far the look for one policy's need has come.
#[derive(Clone, Debug, Default)]
struct Look {
    /// The entries that were replayed with every unit.
    replayed: Vec<u32>,
    /// What it needed by the lines before the last round.
    last: Option<u32>,
    missed: bool,
}

/// Replays the policies of `curves` (those of `specs`) with what they need, as their curves have it, until it is enough.
pub(crate) fn confirm<E, I>(
    curves: &mut [PolicyCurve],
    specs: &[PolicySpec],
    asked: &Asked,
    options: &ReplayOptions,
    epochs: impl Fn() -> I,
) -> Result<(), E>
where
    E: From<ReplayError>,
    I: IntoIterator<Item = Result<(EpochHeat, f64), E>>,
{
    let all_units = |policy: &PolicyCurve| match policy.curve.one_unit_in {
        0 | 1 => policy.curve.replayed_at.clone(),
        _ => Vec::new(),
    };
    let look = |policy| Look { replayed: all_units(policy), ..Look::default() };
    let mut looks: Vec<Look> = curves.iter().map(look).collect();
    for _ in 0..ROUNDS {
        let mut wanted = Vec::new();
        for ((policy, spec), look) in curves.iter_mut().zip(specs).zip(&mut looks) {
            let bins = asked.next(policy, look);
            if !bins.is_empty() {
                look.replayed.extend(&bins);
                let PolicyCurve { curve, told, .. } = policy;
                wanted.push(More { spec, curve, told, bins });
            }
        }
        if wanted.is_empty() {
            break;
        }
        replay_more(epochs(), wanted, options)?;
    }
    Ok(())
}

impl Asked {
    /// The entries at which a policy is to be replayed next; none once it was seen to keep the target.
    fn next(&self, policy: &PolicyCurve, look: &mut Look) -> Vec<u32> {
        let curve = &policy.curve;
        if policy.role != Role::Candidate || curve.replayed_at.is_empty() {
            return Vec::new();
        }
        let cost = self.cost.of(curve);
        if let Some(last) = look.last {
            look.missed = cost.slowdown(last as usize).high > self.target;
            if !look.missed {
                return Vec::new();
            }
        }
        let candidate = Candidate { cost: &cost, unit: self.unit };
        let need = candidate.need_by_lines(self.target).map(|need| candidate.entry(need));
        let need = need.and_then(|entry| u32::try_from(entry).ok());
        let Some(need) = need.filter(|need| !look.replayed.contains(need)) else {
            return Vec::new();
        };
        look.last = Some(need);
        let enough = curve.replayed_at.iter().copied().find(|at| *at > need).unwrap_or(need);
        let parts = if look.missed { PARTS } else { 1 };
        let mut bins: Vec<u32> =
            (0..parts).map(|part| need + (enough - need) * part / parts).collect();
        bins.dedup();
        bins
    }
}
