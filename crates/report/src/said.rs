//! What is said beside the figures ([`Said`]), as a terminal shows it. What it is was decided where the
//! plan was made; the page takes it from there as well.

use crate::Style;
use pagetide_replay::Said;

/// How sure the answer is, and what to mind first.
pub(crate) fn first(said: &Said, style: Style) -> String {
    let mut out = format!("How sure: {}.", said.how_sure.to_lowercase());
    if !said.why_sure.is_empty() {
        out += &format!(" {}", sentence(&said.why_sure));
    }
    style.paragraph("  ", &out) + &minded(said, style)
}

/// What to mind first.
pub(crate) fn minded(said: &Said, style: Style) -> String {
    let minded = said.caveats.iter().map(|caveat| {
        let text = style.paragraph("  ", &format!("Mind: {}", ended(caveat)));
        style.bold(text.trim_end()) + "\n"
    });
    minded.collect()
}

/// What all of it stands on.
pub(crate) fn stands_on(said: &Said, style: Style) -> String {
    if said.stands_on.is_empty() {
        return String::new();
    }
    let clauses = said.stands_on.iter().map(|clause| style.paragraph("  - ", clause));
    style.heading(HEADING) + &clauses.collect::<String>()
}

pub(crate) const HEADING: &str = "What this stands on";

/// A clause with a full stop behind it.
fn ended(clause: &str) -> String {
    format!("{clause}{}", if clause.ends_with('.') { "" } else { "." })
}

/// A clause as a sentence: a capital in front, a full stop behind.
pub(crate) fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let Some(first) = letters.next() else { return String::new() };
    format!("{}{}", first.to_uppercase(), ended(letters.as_str()))
}
