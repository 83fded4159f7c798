//! What a reader has to mind before reading on: holes in the recording, an end that was none, and
//! programs too small or too idle for curves.

use super::Subject;
use crate::number::duration;
use crate::said::sentence;
use pagetide_types::UnitSize;

/// The notes on one plan, most important first; most plans have none.
pub(super) fn notes(subject: &Subject) -> Vec<String> {
    let (plan, facts) = (&subject.plan, &subject.plan.recording);
    let mut notes = Vec::new();
    notes.extend(plan.said.caveats.iter().map(|caveat| sentence(caveat)));
    let gaps = &subject.pictures.timeline.gaps;
    if let Some(first) = gaps.first() {
        let missing: u64 = gaps.iter().map(|gap| u64::from(gap.epochs)).sum();
        let (what, place) = match (missing, gaps.len()) {
            (1, _) => ("One epoch is".to_owned(), "after"),
            (n, 1) => (format!("{n} epochs are"), "after"),
            (n, gaps) => (format!("{n} epochs in {gaps} places are"), "the first after"),
        };
        notes.push(format!(
            "{what} missing, {place} {}. Nothing is known of that time: pictures over time leave \
             it blank, and the plan goes on with the next epoch as if it followed.",
            duration(first.start_s)
        ));
    }
    if let Some(why) = &subject.unfinished {
        notes.push(format!("The recording was not ended cleanly: {why}. What is here is whole."));
    }
    if facts.epochs == 1 {
        notes.push("There is a single epoch: pictures over time show one moment.".into());
    }
    if facts.units == 1 {
        notes.push(format!(
            "All memory of the program is a single unit of {}: it is fast or slow as a whole, and \
             there is nothing to place.",
            facts.unit
        ));
    }
    if facts.units > 0 && facts.accesses_per_s <= 0.0 {
        notes.push(
            "No access was seen, so there are no hits, no slowdown and no rates to draw.".into(),
        );
    }
    notes
}

/// What to mind when several plans stand side by side.
pub(super) fn notes_together(subjects: &[Subject]) -> Vec<String> {
    let mut notes = Vec::new();
    let units: Vec<UnitSize> = subjects.iter().map(|s| s.plan.recording.unit).collect();
    if units.windows(2).any(|pair| pair[0] != pair[1]) {
        notes.push(
            "The recordings have units of different sizes. Sizes are compared in bytes and rates \
             per MiB; smaller units tell hot from cold more finely."
                .into(),
        );
    }
    let length: Vec<f64> = subjects.iter().map(|s| s.plan.recording.epoch_s).collect();
    if length.windows(2).any(|pair| (pair[0] - pair[1]).abs() > 1e-9) {
        notes.push(
            "Their epochs have different lengths: policies that decide more often follow changes \
             sooner and move more."
                .into(),
        );
    }
    notes
}
