//! The plan: everything that `pagetide plan` answers, as data. Keys are stable and documented in
//! docs/plan-json.md. Built from curves and facts alone, so that it can be tested without a
//! recording; [`crate::plan_recording()`] makes those from one.

use crate::answer::advice::advise;
use crate::answer::knee::knee;
use crate::answer::recommend::{Candidate, conditions, recommend};
use crate::answer::stands_on::stands_on;
use crate::{
    Advice, AreaHeat, Band, Charge, CostFacts, CostModel, Curve, CurveCost, Decisions, EpochResult,
    Heatmap, Recommendation, RecordingFacts, Replicates, Said, Told, WarmUp,
};
use pagetide_machine::Machine;
use pagetide_policy::FigureInfo;
use pagetide_types::Bytes;
use serde::Serialize;

/// Version of the plan's keys; grows when one changes its meaning or goes.
pub const PLAN_SCHEMA_VERSION: u32 = 1;

/// What the user asks of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// The slowdown to keep, 0.05 for 5 %.
    pub target_slowdown: f64,
    /// The share of the run time that waits for memory, low and high end, where the user knows
    /// it; 0 to 1.
    pub memory_share: Option<(f64, f64)>,
    /// Which accesses wait for memory, where the recording tells them apart.
    pub charge: Charge,
    /// Most points of a curve in the plan; at least 2.
    pub max_points: usize,
    /// Rows of the heatmap.
    pub heatmap_rows: usize,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            target_slowdown: 0.05,
            memory_share: None,
            charge: Charge::default(),
            max_points: 256,
            heatmap_rows: 20,
        }
    }
}

/// One policy's curve with what a reader needs to know of the policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyCurve {
    /// What it would have achieved.
    pub curve: Curve,
    /// What it does, in a few words.
    pub about: String,
    /// Whether it can be run; otherwise it is a bound: shown, never recommended.
    pub role: Role,
    /// What it told of its decisions.
    pub told: Vec<Told>,
    /// What the figures in that are.
    pub figures: &'static [FigureInfo],
}

/// What a policy is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Can be run, and recommended.
    Candidate,
    /// A bound to compare with: clairvoyant, all fast, all slow.
    Bound,
}

/// What a plan is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanInput {
    /// The recording as a whole.
    pub facts: RecordingFacts,
    /// What was left out at its start.
    pub warm_up: WarmUp,
    /// The policies, the simplest first: of two that need about the same, the first is taken.
    pub curves: Vec<PolicyCurve>,
    /// Heat over address and time.
    pub heatmap: Heatmap,
    /// Heat per area.
    pub areas: Vec<AreaHeat>,
    /// What an interval of the need stands on; none: there is no interval.
    pub replicates: Option<Replicates>,
}

/// The answer of `pagetide plan`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// [`PLAN_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What was recorded.
    pub recording: RecordingFacts,
    /// What was left out at its start.
    pub warm_up: WarmUp,
    /// The machine that the plan is for.
    pub machine: Machine,
    /// The slowdown to keep.
    pub target_slowdown: f64,
    /// The share of the run time taken to wait for memory.
    pub memory_share: Band,
    /// Which accesses were taken to wait for memory, where the recording tells them apart.
    pub charge: Charge,
    /// How much fast memory, under which policy; none when the recording cannot tell.
    pub recommendation: Option<Recommendation>,
    /// Why there is no recommendation.
    pub why_not: Option<String>,
    /// What is said of the answer, or of there being none, wherever it is shown.
    pub said: Said,
    /// The part of the memory that most of the traffic goes to; none if no part is clearly hotter.
    pub hot_set: Option<HotSet>,
    /// Every policy's need and curve.
    pub policies: Vec<PolicyPlan>,
    /// What the recommendation would be, were memory placed by regions of 2 MiB; only of exact
    /// recordings of single pages.
    pub fast_bytes_by_regions: Option<Bytes>,
    /// The recommended policy at the recommended size, an entry per evaluated epoch: what the answer
    /// varies by. Empty without a recommendation.
    pub epochs: Vec<EpochResult>,
    /// Where placement at start is enough, and how. Empty without a recommendation.
    pub advice: Vec<Advice>,
    /// Heat per area, largest first.
    pub areas: Vec<AreaHeat>,
    /// Heat over address and time.
    pub heatmap: Heatmap,
}

impl Plan {
    /// What is left out at most of a program that fills its memory in its first seconds: two epochs
    /// in which it grows, for the first walk may come before its end, and one in which policies
    /// learn.
    pub const LEFT_OUT: u32 = 3;

    /// Why there is nothing to compare policies by; none if there is.
    #[must_use]
    pub fn nothing_to_compare(&self) -> Option<&'static str> {
        let facts = &self.recording;
        match () {
            () if facts.evaluated_epochs == 0 && facts.epochs > 0 => {
                Some("no epoch could be evaluated: record for longer")
            }
            () if facts.footprint_bytes.0 == 0 => Some("no memory of the target was resident"),
            () if facts.accesses_per_s <= 0.0 => Some("no access was seen"),
            () if facts.cached_share >= 1.0 => Some("the CPU caches serve every access"),
            () if self.policies.is_empty() => Some("no policy was replayed"),
            () => None,
        }
    }

    /// The policy whose curve says most: the recommended one, else the candidate that needs least,
    /// and of those the one that serves most over all sizes of fast memory.
    #[must_use]
    pub fn shown_policy(&self) -> Option<&PolicyPlan> {
        if let Some(answer) = &self.recommendation {
            return self.policies.iter().find(|p| p.policy == answer.policy);
        }
        let served = |p: &PolicyPlan| p.points.iter().map(|point| point.hit_ratio).sum::<f64>();
        let need = |p: &PolicyPlan| p.fast_bytes.map_or(u64::MAX, |bytes| bytes.0);
        let candidates = self.policies.iter().filter(|p| p.role == Role::Candidate);
        candidates
            .min_by(|a, b| need(a).cmp(&need(b)).then_with(|| served(b).total_cmp(&served(a))))
    }

    /// The policy to speak of with so much fast memory: [`Self::shown_policy`]; with less than is recommended, or without a
    /// recommendation, the candidate that is slower by least, if that is clear.
    #[must_use]
    pub fn policy_at(&self, fast: Bytes) -> Option<&PolicyPlan> {
        let shown = self.shown_policy()?;
        if self.recommendation.as_ref().is_some_and(|answer| fast >= answer.fast_bytes) {
            return Some(shown);
        }
        let slowdown = |p: &PolicyPlan| p.at(fast).map_or(f64::INFINITY, |at| at.slowdown.high);
        let candidates = self.policies.iter().filter(|p| p.role == Role::Candidate);
        let best = candidates.min_by(|a, b| slowdown(a).total_cmp(&slowdown(b)))?;
        Some(if slowdown(shown) > CLEARLY * slowdown(best) { best } else { shown })
    }
}

/// So many times the slowdown of another policy is clearly more.
const CLEARLY: f64 = 1.1;

/// Hot memory, as far as one can be parted from cold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HotSet {
    /// Its size: the knee of the candidate that serves most over all capacities.
    pub bytes: Bytes,
    /// Share of the memory traffic that goes to it.
    pub share_of_traffic: f64,
}

/// What one policy needs and what it gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyPlan {
    /// The policy's name.
    pub policy: String,
    /// What it does, in a few words.
    pub about: String,
    /// Candidate or bound.
    pub role: Role,
    /// The smallest fast memory that keeps the target; none when no amount does, or when nothing
    /// was accessed. For a bound that ignores the budget (all-fast) all of the memory.
    pub fast_bytes: Option<Bytes>,
    /// Where the curve of hits bends: the size of the hot set, if there is one.
    pub knee_bytes: Bytes,
    /// The policy at the recommended fast memory.
    pub at_recommended: Option<Point>,
    /// At how many capacities it was replayed, with straight lines between; none: at every one.
    pub replayed_capacities: Option<usize>,
    /// One unit in so many was replayed, and stands for all.
    pub one_unit_in: u64,
    /// The curve, thinned out evenly; the first point is no fast memory, the last is all of it.
    pub points: Vec<Point>,
    /// What it told of its decisions with about the recommended fast memory, or half of the
    /// footprint when nothing is recommended; none for policies that tell nothing.
    pub decisions: Option<Decisions>,
}

impl PolicyPlan {
    /// The policy with so much fast memory: the last point of its curve that fits, or the recommended size if that is nearer,
    /// for what is between two is not charged less than it costs.
    #[must_use]
    pub fn at(&self, fast: Bytes) -> Option<Point> {
        self.sizes()
            .filter(|point| point.fast_bytes <= fast)
            .max_by_key(|point| point.fast_bytes)
            .copied()
    }

    /// All points of its curve that the plan has, in no order.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().chain(&self.at_recommended)
    }
}

/// A policy at one size of fast memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Fast memory.
    pub fast_bytes: Bytes,
    /// Share of the accesses that fast memory served.
    pub hit_ratio: f64,
    /// Slowdown against all memory being fast.
    pub slowdown: Band,
    /// Bytes moved to fast memory per second.
    pub promoted_bytes_per_s: f64,
    /// Bytes moved out of fast memory per second.
    pub demoted_bytes_per_s: f64,
}

/// Makes the plan. Pure: the same input gives the same plan.
#[must_use]
pub fn plan(mut input: PlanInput, machine: &Machine, options: &PlanOptions) -> Plan {
    // What is charged is the same under every policy.
    if let Some(curve) = input.curves.first().map(|p| &p.curve).filter(|c| c.seconds > 0.0) {
        input.facts.traffic_per_s = curve.accesses / curve.seconds;
        let counted = !curve.fast_leads.is_empty();
        input.facts.leads_per_s = counted.then_some(curve.leads / curve.seconds);
    }
    let facts = &input.facts;
    let cost = cost_model(facts, machine, options);
    let target = options.target_slowdown;
    // Nobody runs a bound: its moves are free, so that no policy can do with less.
    let bound = cost.clone().with_free_moves();
    let costs: Vec<CurveCost<'_>> = input
        .curves
        .iter()
        .map(|p| if p.role == Role::Bound { bound.of(&p.curve) } else { cost.of(&p.curve) })
        .collect();
    let candidates: Vec<Candidate<'_>> = std::iter::zip(&input.curves, &costs)
        .filter(|(p, _)| p.role == Role::Candidate)
        .map(|(_, cost)| Candidate { cost, unit: facts.unit.bytes() })
        .collect();
    let answer = recommend(&candidates, &input, target);
    let advice = answer.as_ref().map(|answer| advise(&input, &costs, machine, target, answer));
    let advice = advice.unwrap_or_default();
    let fast = answer.as_ref().ok().map(|answer| answer.fast_bytes);
    let policies = std::iter::zip(&input.curves, &costs)
        .map(|(p, cost)| policy_plan(p, cost, facts.unit.bytes(), target, fast, options.max_points))
        .collect();
    let hot_set = hot_set(&candidates);
    let (mut recommendation, why_not) = match answer {
        Ok(recommendation) => (Some(recommendation), None),
        Err(why_not) => (None, Some(why_not)),
    };
    let best = match &recommendation {
        Some(answer) => candidates.iter().find(|c| c.curve().policy == answer.policy),
        // All curves agree on what was accessed.
        None => candidates.first(),
    };
    let stands_on = best
        .map(|best| stands_on(recommendation.as_ref(), best, &input, machine))
        .unwrap_or_default();
    let conditions = match (&recommendation, best) {
        (Some(answer), Some(best)) => conditions(answer.certainty, best, &input.facts),
        _ => Vec::new(),
    };
    let mut plan = Plan {
        schema_version: PLAN_SCHEMA_VERSION,
        recording: input.facts,
        warm_up: input.warm_up,
        machine: machine.clone(),
        target_slowdown: target,
        memory_share: cost.share(),
        charge: options.charge,
        recommendation: recommendation.take(),
        why_not,
        said: Said::default(),
        hot_set,
        policies,
        fast_bytes_by_regions: None,
        epochs: Vec::new(),
        advice,
        areas: input.areas,
        heatmap: input.heatmap,
    };
    plan.said = Said::of(&plan, conditions, stands_on);
    if let Some(answer) = &mut plan.recommendation {
        answer.assumptions =
            plan.said.caveats.iter().chain(&plan.said.stands_on).cloned().collect();
    }
    plan
}

/// What placements cost on this machine.
pub(crate) fn cost_model(
    facts: &RecordingFacts,
    machine: &Machine,
    options: &PlanOptions,
) -> CostModel {
    let target = CostFacts {
        target_cpu_s: facts.target_cores * facts.seconds,
        stall_share: facts.stall_share,
    };
    CostModel::new(machine, &target, options.memory_share).with_charge(options.charge)
}

fn hot_set(candidates: &[Candidate<'_>]) -> Option<HotSet> {
    let served = |curve: &Curve| curve.fast_accesses.iter().sum::<f64>();
    let curve =
        candidates.iter().map(Candidate::curve).max_by(|a, b| served(a).total_cmp(&served(b)))?;
    let bytes = knee(curve);
    let i = usize::try_from(bytes.0 / curve.step.0.max(1)).unwrap_or(usize::MAX);
    let n = curve.fast_accesses.len();
    (i + 1 < n).then(|| HotSet { bytes, share_of_traffic: curve.hit_ratio(i) })
}

fn policy_plan(
    policy: &PolicyCurve,
    cost: &CurveCost<'_>,
    unit: Bytes,
    target: f64,
    recommended: Option<Bytes>,
    max_points: usize,
) -> PolicyPlan {
    let curve = &policy.curve;
    let n = curve.fast_accesses.len();
    let point = |i: usize| Point {
        fast_bytes: curve.capacity(i),
        hit_ratio: curve.hit_ratio(i),
        slowdown: cost.slowdown(i),
        promoted_bytes_per_s: per_second(curve.promoted[i], curve.seconds),
        demoted_bytes_per_s: per_second(curve.demoted[i], curve.seconds),
    };
    let at = |bytes: Bytes| {
        let i = if curve.step.0 == 0 { 0 } else { bytes.0.div_ceil(curve.step.0) };
        (n > 0).then(|| point(usize::try_from(i).unwrap_or(usize::MAX).min(n - 1)))
    };
    PolicyPlan {
        policy: curve.policy.clone(),
        about: policy.about.clone(),
        role: policy.role,
        fast_bytes: match curve.fast_accesses.first() {
            // It has served accesses with no fast memory at all: it ignores the budget, and needs
            // what it uses.
            Some(served) if *served > 0.0 => Some(curve.capacity(n - 1)),
            _ => Candidate { cost, unit }.need(target).filter(|_| curve.accesses > 0.0),
        },
        knee_bytes: knee(curve),
        at_recommended: recommended.and_then(at),
        replayed_capacities: Some(curve.replayed_at.len()).filter(|n| *n > 0),
        one_unit_in: curve.one_unit_in.max(1),
        points: thinned(n, max_points).map(point).collect(),
        decisions: Decisions::near(
            &policy.told,
            policy.figures,
            recommended.unwrap_or(Bytes(curve.step.0 * n as u64 / 2)),
        ),
    }
}

fn per_second(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 / seconds } else { 0.0 }
}

/// At most `most` of `0..n`, evenly, with both ends.
fn thinned(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let take = n.min(most.max(2));
    (0..take).map(move |k| if take < 2 { 0 } else { (k * (n - 1) + (take - 1) / 2) / (take - 1) })
}
