//! The four questions that the first screen answers: how much fast memory, which policy, what
//! slowdown, how sure.

use super::Subject;
use crate::number::band;
use crate::said::sentence;
use pagetide_replay::{percent, percent_exactly};

/// A question with its answer: a few characters, and a sentence.
pub(super) struct Answer {
    pub(super) question: &'static str,
    pub(super) value: String,
    pub(super) detail: String,
}

/// The four answers of a plan; what it cannot tell, it says.
pub(super) fn answers(subject: &Subject) -> Vec<Answer> {
    let plan = &subject.plan;
    let target = percent_exactly(plan.target_slowdown);
    let Some(answer) = &plan.recommendation else {
        let why = plan.why_not.clone().unwrap_or_default();
        let open = |question| Answer { question, value: "–".into(), detail: String::new() };
        return vec![
            Answer { question: MUCH, value: "No answer".into(), detail: sentence(&why) },
            open(POLICY),
            Answer {
                question: SLOWDOWN,
                value: "–".into(),
                detail: format!("to be within {target} on the machine {}", plan.machine.name),
            },
            Answer {
                question: SURE,
                value: plan.said.how_sure.clone(),
                detail: "Below is what the recording shows all the same.".into(),
            },
        ];
    };
    let policy = plan.policies.iter().find(|policy| policy.policy == answer.policy);
    let open = answer.interval.filter(pagetide_replay::Interval::is_open);
    let between = open.map_or_else(String::new, |interval| {
        format!("between {} and {}; ", interval.low, interval.high)
    });
    let much = format!(
        "{between}{} of the {} in use",
        percent(answer.share_of_footprint),
        plan.recording.footprint_bytes
    );
    let slowdown = format!(
        "at this size, against all memory being fast; within {target} was asked for, on the machine \
         {}",
        plan.machine.name
    );
    let said = &plan.said;
    let first = said.stands_on.first().map(|first| format!(" {}", sentence(first)));
    let sure = sentence(&said.why_sure) + &first.unwrap_or_default();
    let about = policy.map(|policy| policy.about.clone()).unwrap_or_default();
    let others = match &answer.not_told_apart[..] {
        [] => String::new(),
        others => format!("; {} not told apart from it by this recording", others.join(", ")),
    };
    vec![
        Answer { question: MUCH, value: answer.fast_bytes.to_string(), detail: much },
        Answer { question: POLICY, value: answer.policy.clone(), detail: about + &others },
        Answer { question: SLOWDOWN, value: band(answer.slowdown), detail: slowdown },
        Answer { question: SURE, value: said.how_sure.clone(), detail: sure },
    ]
}

const MUCH: &str = "How much fast memory";
const POLICY: &str = "Under which policy";
const SLOWDOWN: &str = "What slowdown";
const SURE: &str = "How sure";
