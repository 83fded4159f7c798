//! Everything that is said of a plan beside its figures: how sure the answer is, what must hold for
//! it, what to mind, what it stands on. It is decided here, once. The terminal, the page and JSON say
//! it as it is here, with a size of fast memory given or without.

use crate::answer::sentence::{if_clause, percents};
use crate::answer::stands_on::FLAT;
use crate::{Certainty, Plan, Recommendation};
use pagetide_types::Bytes;
use serde::Serialize;

/// What is said of a plan. All are clauses without a capital and a full stop.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Said {
    /// How sure the answer is, in a word or two.
    pub how_sure: String,
    /// What makes it so.
    pub why_sure: String,
    /// What must hold for it: each follows an "if". The sentence of a recommendation has them.
    pub conditions: Vec<String>,
    /// What to mind before anything else; it stands right under the answer.
    pub caveats: Vec<String>,
    /// What the answer stands on, or without one the figures; most important first.
    pub stands_on: Vec<String>,
}

impl Said {
    /// Of a plan that is whole but for this.
    pub(crate) fn of(plan: &Plan, conditions: Vec<String>, stands_on: Vec<String>) -> Self {
        let (how_sure, why_sure) = sure(plan, &conditions);
        let size = plan.recommendation.as_ref().map(|answer| answer.fast_bytes);
        let caveats = caveats(plan, size);
        Self { how_sure: how_sure.to_owned(), why_sure, conditions, caveats, stands_on }
    }
}

impl Plan {
    /// What is said where there is so much fast memory, whatever is recommended.
    #[must_use]
    pub fn said_at(&self, fast: Bytes) -> Said {
        let mut caveats = caveats(self, Some(fast));
        caveats.extend(less_than_needed(self, fast));
        let mut said = Said { caveats, ..self.said.clone() };
        // The size is given, not chosen by a target.
        said.stands_on.retain(|clause| !clause.starts_with(FLAT));
        said
    }

    /// The slowdown with so much fast memory, in a sentence; none if nothing was replayed.
    #[must_use]
    pub fn sentence_at(&self, fast: Bytes) -> Option<String> {
        let policy = self.policy_at(fast)?;
        let ifs = if_clause(&self.said.conditions);
        Some(format!(
            "Predicted slowdown: {} under the policy {}, against all memory being fast{ifs}.",
            percents(policy.at(fast)?.slowdown),
            policy.policy
        ))
    }
}

fn sure(plan: &Plan, conditions: &[String]) -> (&'static str, String) {
    let Some(answer) = &plan.recommendation else {
        return ("Cannot tell", plan.why_not.clone().unwrap_or_default());
    };
    match answer.certainty {
        Certainty::Estimate => {
            let how = if conditions.is_empty() { "Estimate" } else { "Conditional estimate" };
            let but = if chance_is_wide(answer) { "but for chance " } else { "" };
            let stays = format!(
                "{but}the size stays within 10 %, however what was too hot to measure, and what \
                 was never seen, is counted"
            );
            (how, format!("{stays}{}", if_clause(conditions)))
        }
        Certainty::UpperBound => {
            ("Upper bound", format!("this much is enough; {} might do", answer.fast_bytes_low))
        }
    }
}

/// Whether another recording may well give a size that is more than a tenth off.
fn chance_is_wide(answer: &Recommendation) -> bool {
    let size = answer.fast_bytes.as_f64();
    answer.interval.as_ref().is_some_and(|interval| {
        interval.low.as_f64() < 0.9 * size || interval.high.as_f64() > 1.1 * size
    })
}

/// What to mind with so much fast memory, most important first.
fn caveats(plan: &Plan, fast: Option<Bytes>) -> Vec<String> {
    let facts = &plan.recording;
    // Without an answer the reason for that says it.
    let unknown = plan.recommendation.as_ref().and_then(|_: &Recommendation| facts.unknown());
    [
        fast.and_then(|fast| no_room(plan, fast)),
        facts.part(),
        plan.warm_up.warning(),
        unknown.filter(|_| facts.much_is_unknown()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// So much of the need is hardly less than it.
const NEARLY: f64 = 0.9;

/// How far figures are off for much less than the need: nineteen programs, with half of it (docs/measurements.md, "Sizes
/// between").
fn less_than_needed(plan: &Plan, fast: Bytes) -> Option<String> {
    let need = plan.recommendation.as_ref()?.fast_bytes;
    let rough = plan.recording.traffic_was_sampled() && fast.as_f64() < NEARLY * need.as_f64();
    rough.then(|| {
        "for less than is needed this is rough: with half of it, programs that were also counted exactly waited 1.2 times \
         as long as said on the median, and half of them between 0.95 and 1.4 times"
            .to_owned()
    })
}

/// That the machine has not so much fast memory, and what that means.
fn no_room(plan: &Plan, fast: Bytes) -> Option<String> {
    let tier = plan.machine.fast();
    let capacity = tier.capacity.filter(|capacity| *capacity < fast)?;
    let with = plan.policy_at(capacity).and_then(|policy| {
        let slowdown = percents(policy.at(capacity)?.slowdown);
        Some(format!(": with that the slowdown is {slowdown} under the policy {}", policy.policy))
    });
    let with = with.unwrap_or_default();
    Some(format!("machine {} has only {capacity} of {}{with}", plan.machine.name, tier.name))
}
