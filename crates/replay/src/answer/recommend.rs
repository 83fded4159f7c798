//! The recommendation: the smallest fast memory that keeps a slowdown, the policy that needs
//! least of it, and the cases in which a recording cannot tell.
//!
//! One rule says how sure it is, whatever the cause and however much of the traffic it concerns.
//! The recording is read in the harshest and in the kindest way: the first gives a size that is
//! enough, the second the least that may be. Within 10 % of each other: an estimate. Further apart:
//! an upper bound, said as one. So far apart that the upper bound is nearly all of the memory: no
//! answer, for "everything is enough" is none.
//!
//! Made to stay put from one recording of a program to the next: sizes are interpolated between
//! the grid's capacities, a size counts only if every larger one keeps the target too, policies
//! within 1 % of the best give way to the simplest, and all sums run over all evaluated epochs.
//! Where the curve is so flat that a tenth more or less slowdown moves the answer by more than
//! 10 %, the recommendation says so.

use crate::answer::interval::{self, METHOD};
use crate::answer::sentence::{percent, percent_exactly, sentence};
use crate::cost::Reading;
use crate::{Band, Curve, CurveCost, Interval, Plan, PlanInput, RecordingFacts, unknown_heat};
use pagetide_trace::Source;
use pagetide_types::Bytes;
use serde::Serialize;

/// Evaluated epochs below which nothing is recommended.
pub const LEAST_EPOCHS: u32 = 3;
/// Of a program that is sampled so much time must be judged, however short its epochs: accessed bits
/// are looked at so often per second, and what a program does in three is not what it does.
pub const LEAST_SECONDS: f64 = 10.0;
/// Policies that need at most this much more than the best are as good; the simplest is taken.
const AS_GOOD: f64 = 1.01;
/// Two readings of the observation that differ by less agree: the answer is an estimate.
const AGREE: f64 = 1.10;
/// Beyond this they disagree; with nearly everything needed in the worse one, nothing is told.
const DISAGREE: f64 = 1.25;
/// Share of the footprint from which "this much" says no more than "everything".
const NEARLY_ALL: f64 = 0.9;
/// Share of uncleared memory from which the heat of too much is unknown.
const UNCLEARED: f64 = 0.25;

/// How much fast memory, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// The smallest fast memory whose slowdown keeps the target at the high end of its band.
    pub fast_bytes: Bytes,
    /// What might do, were saturated units as hot as they can be and unseen ones never touched.
    pub fast_bytes_low: Bytes,
    /// Where the size lies that a recording without end would give, with a probability of 95 %;
    /// none where it was not found out.
    pub interval: Option<Interval>,
    /// `fast_bytes` over the footprint.
    pub share_of_footprint: f64,
    /// The policy.
    pub policy: String,
    /// The slowdown to expect there.
    pub slowdown: Band,
    /// Whether the observation pins the answer down.
    pub certainty: Certainty,
    /// `fast_bytes` were the target a tenth smaller, and a tenth larger: how steep the curve is.
    pub at_other_targets: OtherTargets,
    /// Other policies whose needs lie within the interval: the recording does not tell them apart.
    pub not_told_apart: Vec<String>,
    /// The answer in one sentence.
    pub sentence: String,
    /// What to mind and what it stands on, a sentence each.
    pub assumptions: Vec<String>,
}

/// What nearby targets would need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OtherTargets {
    /// For nine tenths of the slowdown.
    pub tighter_bytes: Option<Bytes>,
    /// For eleven tenths of it.
    pub looser_bytes: Option<Bytes>,
}

/// How far the observation pins the answer down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// However saturated and unseen units are counted, the answer stays within 10 %.
    Estimate,
    /// This much is enough; less may be.
    UpperBound,
}

/// A policy that can be recommended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) cost: &'a CurveCost<'a>,
    pub(crate) unit: Bytes,
}

impl<'a> Candidate<'a> {
    pub(crate) fn curve(&self) -> &'a Curve {
        self.cost.curve()
    }

    /// The entry of the curve that holds so much fast memory.
    pub(crate) fn entry(&self, fast: Bytes) -> usize {
        let curve = self.curve();
        let i = usize::try_from(fast.0.div_ceil(curve.step.0.max(1))).unwrap_or(usize::MAX);
        i.min(curve.fast_accesses.len() - 1)
    }

    /// Whether it never moves anything, however much there is: what is born lies where something died.
    pub(crate) fn moves_nothing(&self) -> bool {
        let none = |moved: &[u64]| moved.iter().all(|bytes| *bytes == 0);
        none(&self.curve().promoted) && none(&self.curve().demoted)
    }

    pub(crate) fn slowdown_at(&self, fast: Bytes) -> f64 {
        self.cost.slowdown(self.entry(fast)).high
    }

    /// What keeps the target. Where the policy was replayed at a choice of sizes it is one of these.
    pub(crate) fn need(&self, target: f64) -> Option<Bytes> {
        let curve = self.curve();
        self.need_by_lines(target).map(|need| {
            let entry = self.entry(need);
            let replayed = curve.replayed_at.iter().find(|at| **at as usize >= entry);
            replayed.map_or(need, |at| curve.capacity(*at as usize))
        })
    }

    /// The same, were the straight lines between the sizes at which it was replayed what it does there.
    pub(crate) fn need_by_lines(&self, target: f64) -> Option<Bytes> {
        smallest(self.curve(), self.unit, target, |i| self.cost.slowdown(i).high)
    }

    /// The need in the kindest reading of the saturated units, the unseen ones, or both.
    fn need_at_best(&self, target: f64, saturated: bool, unseen: bool) -> Option<Bytes> {
        let readings = |i: usize| {
            let value = |saturated_at_most| {
                let reading = Reading { saturated_at_most, unseen_charged: !unseen };
                self.cost.slowdown_as(i, reading)
            };
            if saturated { value(false).min(value(true)) } else { value(false).max(value(true)) }
        };
        smallest(self.curve(), self.unit, target, readings)
    }
}

/// The smallest capacity from which on `slowdown` stays at or below the target, interpolated
/// between the curve's entries and rounded up to whole units; none if the last entry misses it.
pub(crate) fn smallest(
    curve: &Curve,
    unit: Bytes,
    target: f64,
    slowdown: impl Fn(usize) -> f64,
) -> Option<Bytes> {
    let n = curve.fast_accesses.len();
    let keeps = |i: usize| slowdown(i) <= target;
    let first = (0..n).rev().take_while(|i| keeps(*i)).last()?;
    let Some(before) = first.checked_sub(1) else { return Some(Bytes(0)) };
    let (above, below) = (slowdown(before), slowdown(first));
    let part = if above > below { (above - target) / (above - below) } else { 1.0 };
    let end = curve.capacity(first);
    let bytes = curve.capacity(before).0 + scaled(curve.step, part.clamp(0.0, 1.0));
    Some(Bytes(bytes.next_multiple_of(unit.0.max(1))).min(end.max(unit)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a u64")]
fn scaled(bytes: Bytes, part: f64) -> u64 {
    (bytes.as_f64() * part).ceil() as u64
}

/// Those whose curves go on as they are. Where memory is renewed, who moves nothing does well by where the program began, and
/// for as long as that is there; if nobody else keeps the target, that has to do.
fn lasting<'a>(
    candidates: &[Candidate<'a>],
    facts: &RecordingFacts,
    target: f64,
) -> Vec<Candidate<'a>> {
    let move_some = || candidates.iter().filter(|candidate| !candidate.moves_nothing());
    if facts.is_being_renewed() && move_some().any(|candidate| candidate.need(target).is_some()) {
        return move_some().copied().collect();
    }
    candidates.to_vec()
}

/// Recommends, or says why not.
pub(crate) fn recommend(
    candidates: &[Candidate<'_>],
    input: &PlanInput,
    target: f64,
) -> Result<Recommendation, String> {
    let facts = &input.facts;
    let lasting = lasting(candidates, facts, target);
    let candidates = &lasting[..];
    let best = choose(candidates, facts, target)?;
    let need = best.need(target).unwrap_or_default();
    // The kindest reading may favour another policy than the harshest.
    let at_best = |saturated, unseen| {
        let needs = candidates.iter().filter_map(|c| c.need_at_best(target, saturated, unseen));
        needs.min().unwrap_or(need).min(need)
    };
    let low = at_best(true, true);
    let footprint = facts.footprint_bytes;
    let share = if footprint.0 > 0 { need.as_f64() / footprint.as_f64() } else { 0.0 };
    let by_saturation = at_best(true, false) <= at_best(false, true);
    let doubt = if by_saturation { Doubt::Saturated } else { Doubt::Unseen };
    let certainty = match () {
        () if !apart(low, need, best.unit, AGREE) => Certainty::Estimate,
        () if share < NEARLY_ALL || !apart(low, need, best.unit, DISAGREE) => Certainty::UpperBound,
        () => return Err(cannot_tell(doubt, facts, target, (low, need))),
    };
    let i = best.entry(need);
    let predicted = best.cost.slowdown(i);
    let slowdown = Band { low: predicted.low, high: predicted.high.min(target) };
    let other = OtherTargets {
        tighter_bytes: best.need_by_lines(target * 0.9).map(|bytes| bytes.max(need)),
        looser_bytes: best.need_by_lines(target * 1.1).map(|bytes| bytes.min(need)),
    };
    let policy = best.curve().policy.clone();
    let interval = interval::of(best, input, target, i);
    let mut recommendation = Recommendation {
        fast_bytes: need,
        fast_bytes_low: low,
        interval,
        share_of_footprint: share,
        policy,
        slowdown,
        certainty,
        at_other_targets: other,
        not_told_apart: not_told_apart(candidates, best, target, (need, interval)),
        sentence: String::new(),
        assumptions: Vec::new(),
    };
    let conditions = conditions(certainty, best, facts);
    recommendation.sentence = sentence(&recommendation, doubt, &conditions, facts, target);
    Ok(recommendation)
}

/// What must hold for an answer of this policy.
pub(crate) fn conditions(
    certainty: Certainty,
    best: &Candidate<'_>,
    facts: &RecordingFacts,
) -> Vec<String> {
    // Where their rates could be far higher nothing parts one of them from another.
    let alike = certainty == Certainty::Estimate && best.cost.saturated_multiple() > 1.0;
    let said = || {
        let share = percent(facts.saturated_share);
        format!("units too hot to measure ({share} of the memory traffic) are alike")
    };
    alike.then(said).into_iter().collect()
}

/// Other candidates that need something within the interval of the best, as far as chance or the method may have
/// made the difference: where the curve is flat the interval is wide in sizes, and one that would slow the program
/// down far more than by chance is told apart all the same, for both saw the same epochs.
fn not_told_apart(
    candidates: &[Candidate<'_>],
    best: &Candidate<'_>,
    target: f64,
    (need, interval): (Bytes, Option<Interval>),
) -> Vec<String> {
    let Some(Interval { low, high, slowdown: chance, .. }) = interval else { return Vec::new() };
    let others = candidates.iter().filter(|other| other.curve().policy != best.curve().policy);
    let close = |other: &&Candidate<'_>| {
        other.need(target).is_some_and(|others_need| {
            let by_method =
                !apart(others_need.min(need), others_need.max(need), best.unit, 1.0 + METHOD);
            let by_chance = other.slowdown_at(need) <= best.slowdown_at(need) + chance;
            (low..=high).contains(&others_need) && (by_method || by_chance)
        })
    };
    others.filter(close).map(|other| other.curve().policy.clone()).collect()
}

/// The simplest of the candidates that need least, or why none can be chosen.
fn choose<'a, 'b>(
    candidates: &'b [Candidate<'a>],
    facts: &RecordingFacts,
    target: f64,
) -> Result<&'b Candidate<'a>, String> {
    let Some(any) = candidates.first() else {
        return Err(
            "every policy given is a bound, only to compare with; add one that can be run, \
                    such as rate (pagetide policies lists them)"
                .to_owned(),
        );
    };
    if any.curve().epochs < LEAST_EPOCHS {
        return Err(format!(
            "the {} is too short to tell: {} evaluated, and a plan needs at least \
             {} after the program has filled its memory; {}",
            what_is_short(facts).0,
            match any.curve().epochs {
                0 => "no epoch could be".to_owned(),
                1 => "1 epoch was".to_owned(),
                n => format!("{n} epochs were"),
            },
            least(facts),
            what_is_short(facts).1
        ));
    }
    let seconds = any.curve().seconds;
    if facts.source == Source::Sampled && seconds < LEAST_SECONDS {
        return Err(format!(
            "the {} is too short to tell: {seconds:.1} s were evaluated, and a plan needs \
             {LEAST_SECONDS} s at least, however short the epochs; {}",
            what_is_short(facts).0,
            what_is_short(facts).1
        ));
    }
    if facts.footprint_bytes.0 == 0 {
        return Err("no memory of the target was resident".to_owned());
    }
    if facts.uncleared_share > UNCLEARED {
        return Err(format!(
            "the recording cannot tell: {}",
            unknown_heat(facts.uncleared_share, facts.clear_shared)
        ));
    }
    if any.curve().accesses <= 0.0 && facts.cached_share > 0.0 {
        return Err(format!(
            "all that is accessed fits into the CPU caches ({} per core): how fast the memory is \
             makes no difference to this program",
            facts.cache_per_core
        ));
    }
    if any.curve().accesses <= 0.0 {
        return Err("no access was seen that passes the CPU caches in what was judged: the target was idle then (--from and --to name \
                    another part), what it uses fits them, or nothing of it was watched".into());
    }
    let needs: Vec<_> = candidates.iter().map(|c| c.need(target)).collect();
    let Some(least) = needs.iter().flatten().min() else {
        return Err(format!(
            "no policy keeps the slowdown within {}, not even with all memory fast: its moves \
             alone cost more",
            percent_exactly(target)
        ));
    };
    let enough = (least.as_f64() * AS_GOOD).max((*least + any.unit).as_f64());
    std::iter::zip(candidates, &needs)
        .find(|(_, need)| need.is_some_and(|need| need.as_f64() <= enough))
        .map(|(candidate, _)| candidate)
        .ok_or_else(|| "no policy could be chosen".to_owned())
}

/// What there is too little of, and what helps.
fn what_is_short(facts: &RecordingFacts) -> (String, String) {
    match facts.window {
        Some(window) => (
            format!("part {window} of the recording"),
            "ask for more of it, or record for longer".to_owned(),
        ),
        None if facts.source == Source::Exact => (
            "recording".to_owned(),
            format!(
                "record for longer: times are the program's own, and in QEMU one that stops by the \
                 clock gets little of it; a plan takes {:.0} s or more",
                enough_s(facts)
            ),
        ),
        None => {
            ("recording".to_owned(), format!("record for longer: {:.0} s or more", enough_s(facts)))
        }
    }
}

/// Seconds that hold what has to be judged and what is left out before it, in epochs of this length. Where nothing could be
/// judged nobody knows for how long the program goes on so: twice as long as this was is a beginning.
fn enough_s(facts: &RecordingFacts) -> f64 {
    let by_time = match facts.source {
        Source::Sampled => (LEAST_SECONDS / facts.epoch_s).ceil(),
        Source::Exact => 0.0,
    };
    let left_out = match facts.evaluated_epochs {
        0 => 2 * facts.epochs,
        judged => facts.epochs.saturating_sub(judged),
    };
    let left_out = (left_out as f64).max(f64::from(Plan::LEFT_OUT));
    let epochs = by_time.max(f64::from(LEAST_EPOCHS)) + left_out;
    (epochs * facts.epoch_s).ceil()
}

/// What has to be judged at least.
fn least(facts: &RecordingFacts) -> String {
    let (epoch_s, sampled) = (facts.epoch_s, facts.source == Source::Sampled);
    if sampled && f64::from(LEAST_EPOCHS) * epoch_s < LEAST_SECONDS {
        format!("{LEAST_SECONDS} s in epochs of {epoch_s} s")
    } else {
        format!("{LEAST_EPOCHS} of {epoch_s} s each")
    }
}

/// Whether two sizes differ by more than `factor`, one unit more or less not counted.
fn apart(low: Bytes, high: Bytes, unit: Bytes, factor: f64) -> bool {
    high.saturating_sub(unit).as_f64() > low.as_f64() * factor
}

/// What leaves the answer open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// How hot the units are that are too hot to measure.
    Saturated,
    /// Whether the units never seen accessed were accessed.
    Unseen,
}

impl Doubt {
    /// In words, with the share that it concerns.
    pub(crate) fn says(self, facts: &RecordingFacts) -> String {
        match self {
            Self::Saturated => format!(
                "{} of the memory traffic went to units too hot to measure",
                percent(facts.saturated_share)
            ),
            Self::Unseen => format!(
                "units never seen accessed hold {} of the memory",
                percent(facts.unseen_share)
            ),
        }
    }
}

/// The upper bound is nearly everything, and what may do is much less.
fn cannot_tell(
    doubt: Doubt,
    facts: &RecordingFacts,
    target: f64,
    (low, need): (Bytes, Bytes),
) -> String {
    let (state, remedy) = match doubt {
        Doubt::Saturated if facts.huge_share > 0.5 => (
            "too saturated",
            "; base pages (transparent huge pages off) can be told apart up to higher rates",
        ),
        Doubt::Saturated => ("too saturated", ""),
        Doubt::Unseen => (
            "too little observed",
            "; a longer recording, or a larger budget for watching, may tell",
        ),
    };
    format!(
        "the recording is {state} to tell: {}. A slowdown within {} needs something between {low} \
         and {need} of fast memory, and the upper bound is nearly all of the {} in use{remedy}",
        doubt.says(facts),
        percent_exactly(target),
        facts.footprint_bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_record_follows_from_the_epochs() {
        let enough = |source, epoch_s| {
            enough_s(&RecordingFacts { source, epoch_s, ..RecordingFacts::default() })
        };
        assert_eq!([5.0, 1.0, 0.5].map(|epoch| enough(Source::Sampled, epoch)), [30.0, 13.0, 12.0]);
        assert_eq!([5.0, 0.5].map(|epoch| enough(Source::Exact, epoch)), [30.0, 3.0]);
        let short = RecordingFacts { epoch_s: 5.0, ..RecordingFacts::default() };
        assert_eq!(what_is_short(&short).1, "record for longer: 30 s or more");
        // Of 30 s nothing could be judged, or 10 s.
        let of_30_s = |evaluated_epochs| {
            enough_s(&RecordingFacts { epochs: 6, evaluated_epochs, ..short.clone() })
        };
        assert_eq!([0, 2].map(of_30_s), [75.0, 35.0]);
    }
}
