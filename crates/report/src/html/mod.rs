//! Plans as one HTML file that needs no network: what was answered, drawn and told in words.
//! Tables and words are in the page itself; its pictures are drawn by the scripts inside from the
//! plan as `pagetide plan --json` prints it and from [`Pictures`].

mod answer;
mod compare;
mod date;
mod notes;
mod page;
mod pictures;
mod tables;

use askama::Template;
use pagetide_replay::{Pictures, Plan, Split};
use pagetide_trace::{Diff, Header};
use serde::Serialize;

/// One plan of a page.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The answer.
    pub plan: Plan,
    /// What is drawn beside it.
    pub pictures: Pictures,
    /// How it was recorded.
    pub header: Header,
    /// Why the recording was not ended cleanly, as far as is known; none if it was.
    pub unfinished: Option<String>,
}

/// What is known of several subjects together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Together<'a> {
    /// How the recordings of the first two differ.
    pub diff: Option<&'a Diff>,
    /// How they share fast memory.
    pub split: Option<&'a Split>,
}

/// What the scripts draw from.
#[derive(Serialize)]
struct Data<'a> {
    tool: &'static str,
    subjects: Vec<Drawn<'a>>,
}

#[derive(Serialize)]
struct Drawn<'a> {
    name: &'a str,
    /// The policy whose curve stands out; none where there is no curve to draw.
    shown: Option<&'a str>,
    plan: &'a Plan,
    pictures: &'a Pictures,
}

/// The page of one plan, or of several side by side. `now_unix_s` is when it is made.
///
/// # Errors
/// Only what writing to memory can fail with.
pub fn html(
    subjects: &[Subject],
    together: Together<'_>,
    now_unix_s: u64,
) -> Result<String, std::fmt::Error> {
    let names = compare::names(subjects);
    let drawn = std::iter::zip(subjects, &names);
    let data = Data {
        tool: concat!("pagetide ", env!("CARGO_PKG_VERSION")),
        subjects: drawn
            .map(|(subject, name)| Drawn {
                name,
                shown: subject
                    .plan
                    .shown_policy()
                    .filter(|_| subject.plan.nothing_to_compare().is_none())
                    .map(|policy| policy.policy.as_str()),
                plan: &subject.plan,
                pictures: &subject.pictures,
            })
            .collect(),
    };
    let data = serde_json::to_string(&data).map_err(|_| std::fmt::Error)?;
    let page = page::Page::new(subjects, &names, together, now_unix_s, inert(&data));
    let page = page.render().map_err(|_| std::fmt::Error)?;
    // Names of paths and machines, too: nothing in a page turns the direction of what is read.
    Ok(pagetide_types::printable_lines(&page).into_owned())
}

/// JSON that cannot end the element that holds it, nor begin a comment.
fn inert(json: &str) -> String {
    pagetide_types::printable_json(json).replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_cannot_break_out_of_the_data() {
        let json = inert("{\"target\":\"</script><!--<b>\u{2028}\u{202e}\"}");
        assert!(!json.contains('<') && json.is_ascii(), "{json}");
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["target"], "</script><!--<b>\u{2028}\u{202e}");
    }
}
