//! The four questions that the first screen answers: how much fast memory, which policy, what
//! slowdown, how sure.

use super::Subject;
use crate::number::band;
use pagetide_replay::{Certainty, percent, percent_exactly};

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
                value: "Cannot tell".into(),
                detail: "Below is what the recording shows all the same.".into(),
            },
        ];
    };
    let policy = plan.policies.iter().find(|policy| policy.policy == answer.policy);
    let much = format!(
        "{} of the {} in use",
        percent(answer.share_of_footprint),
        plan.recording.footprint_bytes
    );
    let slowdown = format!(
        "at this size, against all memory being fast; within {target} was asked for, on the machine \
         {}",
        plan.machine.name
    );
    let (sure, doubt) = match answer.certainty {
        Certainty::Estimate => (
            "Estimate",
            "The size stays within 10 %, however what was too hot to measure, and what was never \
             seen, is counted."
                .to_owned(),
        ),
        Certainty::UpperBound => {
            ("Upper bound", format!("This much is enough; {} might do.", answer.fast_bytes_low))
        }
    };
    let waits = answer.assumptions.first().map(|first| format!(" {}", sentence(first)));
    vec![
        Answer { question: MUCH, value: answer.fast_bytes.to_string(), detail: much },
        Answer {
            question: POLICY,
            value: answer.policy.clone(),
            detail: policy.map(|policy| policy.about.clone()).unwrap_or_default(),
        },
        Answer { question: SLOWDOWN, value: band(answer.slowdown), detail: slowdown },
        Answer { question: SURE, value: sure.into(), detail: doubt + &waits.unwrap_or_default() },
    ]
}

const MUCH: &str = "How much fast memory";
const POLICY: &str = "Under which policy";
const SLOWDOWN: &str = "What slowdown";
const SURE: &str = "How sure";

/// A clause as a sentence: a capital in front, a full stop behind.
pub(super) fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if clause.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}
