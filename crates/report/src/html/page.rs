//! What the template is filled with.

use super::answer::{Answer, answers};
use super::compare::Change;
use super::notes::{notes, notes_together};
use super::pictures::{self, Told, Words};
use super::tables::{self, AreaRow, PolicyRow};
use super::{Subject, Together, compare, date};
use crate::number::band;
use crate::said::sentence;
use askama::Template;
use pagetide_replay::{Plan, Role, next_step};

const UPLOT: &str = include_str!("../../vendor/uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../vendor/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../../vendor/uplot/LICENSE");
const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = concat!(
    include_str!("../../assets/format.js"),
    include_str!("../../assets/theme.js"),
    include_str!("../../assets/table.js"),
    include_str!("../../assets/figure.js"),
    include_str!("../../assets/curves.js"),
    include_str!("../../assets/timeline.js"),
    include_str!("../../assets/heat.js"),
    include_str!("../../assets/main.js"),
);

/// One plan as the template shows it.
pub(super) struct View {
    pub(super) name: String,
    pub(super) target: String,
    pub(super) lead: String,
    pub(super) answers: Vec<Answer>,
    pub(super) notes: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) policies: Vec<PolicyRow>,
    pub(super) areas: Vec<AreaRow>,
    pub(super) advice: Vec<Advice>,
    /// What to do with the answer: what it brings, and the line to copy.
    pub(super) next: Option<(String, String)>,
    pub(super) stands_on: Vec<String>,
    pub(super) recorded: Vec<(String, String)>,
    pub(super) machine: Vec<(String, String)>,
    pub(super) no_curve: Option<String>,
    /// What the table of needs is good for where there is one and nothing is recommended.
    pub(super) unanswered: Option<&'static str>,
    /// Whether any of its policies is a bound.
    pub(super) bounds: bool,
    /// Policies whose curves are drawn from less than everything, and from what.
    pub(super) coarse: Vec<String>,
    pub(super) told: Vec<Told>,
    pub(super) slowdown: Words,
    pub(super) hits: Words,
    pub(super) moves: Words,
    pub(super) heat: Words,
    pub(super) rates: Words,
    pub(super) timeline: Words,
}

/// A piece of advice.
pub(super) struct Advice {
    pub(super) text: String,
    pub(super) slowdown: String,
    pub(super) commands: Vec<String>,
}

/// One question with the answer of every plan: what it is, and a sentence.
pub(super) struct Question {
    pub(super) question: &'static str,
    pub(super) cells: Vec<(String, String)>,
}

/// What the pictures that all plans share show, in words.
pub(super) struct Shows {
    pub(super) slowdown: String,
    pub(super) hits: String,
    pub(super) moves: String,
    pub(super) rates: String,
    pub(super) timeline: String,
}

/// A part of a split.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) cells: [String; 4],
}

#[derive(Template)]
#[template(path = "page.html")]
pub(super) struct Page {
    title: String,
    tool: &'static str,
    made: String,
    many: bool,
    views: Vec<View>,
    answers: Vec<Question>,
    shows: Shows,
    notes: Vec<String>,
    together: Vec<PolicyRow>,
    changes: Vec<Change>,
    agreement: Vec<(&'static str, String)>,
    split: Vec<Part>,
    split_title: String,
    split_says: String,
    split_minded: Vec<String>,
    /// Whether any of the plans has curves over fast memory.
    curves: bool,
    /// How to read the slowdowns.
    band: String,
    data: String,
    style: &'static str,
    uplot_css: &'static str,
    uplot: &'static str,
    uplot_licence: &'static str,
    script: &'static str,
}

/// When and on which host one recording was made, as far as it says.
fn when_and_where(subjects: &[Subject]) -> String {
    let Some(header) = subjects.first().map(|subject| &subject.header) else {
        return String::new();
    };
    let date = date::utc(header.started_unix_s);
    let host = header.machine.get("host").map(|host| format!(" on {host}"));
    format!(", {}{}", date.split(' ').next().unwrap_or_default(), host.unwrap_or_default())
}

impl Page {
    pub(super) fn new(
        subjects: &[Subject],
        names: &[String],
        together: Together<'_>,
        now_unix_s: u64,
        data: String,
    ) -> Self {
        let views: Vec<View> = std::iter::zip(subjects, names)
            .enumerate()
            .map(|(at, (subject, name))| view(subject, name, at))
            .collect();
        let many = views.len() > 1;
        let title = match &views[..] {
            [one] => format!("Fast memory for {}{}", one.target, when_and_where(subjects)),
            _ => format!("Fast memory, compared: {}", names.join(", ")),
        };
        let split = together.split;
        Self {
            title,
            tool: concat!("Pagetide ", env!("CARGO_PKG_VERSION")),
            made: date::utc(now_unix_s),
            many,
            notes: if many { notes_together(subjects) } else { Vec::new() },
            together: if many { tables::needs_together(subjects) } else { Vec::new() },
            changes: together.diff.map(compare::changes).unwrap_or_default(),
            agreement: together.diff.map(compare::agreement).unwrap_or_default(),
            split: split.filter(|split| split.parts.len() > 1).map_or_else(Vec::new, parts),
            split_says: split.map(crate::split::means).unwrap_or_default(),
            split_minded: split.map(crate::split::minded).unwrap_or_default(),
            split_title: split.map(crate::split::title).unwrap_or_default(),
            band: pictures::band_says(subjects),
            curves: views.iter().any(|view| view.no_curve.is_none()),
            answers: if many { side_by_side(&views) } else { Vec::new() },
            shows: shows(&views),
            views,
            data,
            style: STYLE,
            uplot_css: UPLOT_CSS,
            uplot: UPLOT,
            uplot_licence: UPLOT_LICENCE,
            script: SCRIPT,
        }
    }
}

fn side_by_side(views: &[View]) -> Vec<Question> {
    let questions = views.iter().flat_map(|view| view.answers.iter().enumerate());
    let mut rows: Vec<Question> = Vec::new();
    for (at, answer) in questions {
        let cell = (answer.value.clone(), answer.detail.clone());
        match rows.get_mut(at) {
            Some(row) => row.cells.push(cell),
            None => rows.push(Question { question: answer.question, cells: vec![cell] }),
        }
    }
    rows
}

fn shows(views: &[View]) -> Shows {
    let all = |words: fn(&View) -> &Words| {
        let each = views.iter().map(|view| match views {
            [_] => words(view).shows.clone(),
            _ => format!("{}: {}", view.name, words(view).shows),
        });
        each.collect::<Vec<_>>().join(" ")
    };
    Shows {
        slowdown: all(|view| &view.slowdown),
        hits: all(|view| &view.hits),
        moves: all(|view| &view.moves),
        rates: all(|view| &view.rates),
        timeline: all(|view| &view.timeline),
    }
}

fn view(subject: &Subject, name: &str, at: usize) -> View {
    let plan = &subject.plan;
    let facts = &plan.recording;
    let target = if facts.target.is_empty() { &facts.name } else { &facts.target };
    View {
        name: name.to_owned(),
        target: target.clone(),
        lead: lead(plan),
        answers: answers(subject),
        notes: notes(subject),
        columns: tables::policy_columns(subject),
        policies: tables::policy_rows(subject),
        areas: tables::area_rows(subject),
        advice: plan
            .advice
            .iter()
            .map(|advice| Advice {
                text: advice.text.clone(),
                slowdown: band(advice.slowdown),
                commands: advice.commands.clone(),
            })
            .collect(),
        next: next_step(plan).map(|next| (crate::plan::next_says(&next), next.command)),
        stands_on: plan.said.stands_on.iter().map(|clause| sentence(clause)).collect(),
        recorded: tables::recorded(subject),
        machine: tables::machine(subject),
        no_curve: pictures::no_curve(plan),
        unanswered: (plan.recommendation.is_none() && plan.nothing_to_compare().is_none())
            .then_some(crate::plan::UNANSWERED),
        bounds: plan.policies.iter().any(|policy| policy.role == Role::Bound),
        coarse: plan.policies.iter().filter_map(pictures::coarse).collect(),
        told: pictures::told(plan, at),
        slowdown: pictures::over_fast_memory(subject, "slowdown"),
        hits: pictures::over_fast_memory(subject, "hits"),
        moves: pictures::over_fast_memory(subject, "moves"),
        heat: pictures::heat(subject),
        rates: pictures::rates(subject),
        timeline: pictures::timeline(subject),
    }
}

fn lead(plan: &Plan) -> String {
    match (&plan.recommendation, &plan.why_not) {
        (Some(answer), _) => answer.sentence.clone(),
        (None, Some(why)) => sentence(&format!("no recommendation: {why}")),
        (None, None) => "No recommendation.".to_owned(),
    }
}

fn parts(split: &pagetide_replay::Split) -> Vec<Part> {
    let part = |part: &pagetide_replay::Part| Part {
        name: part.name.clone(),
        cells: [
            part.fast_bytes.to_string(),
            part.footprint_bytes.to_string(),
            band(part.slowdown),
            band(part.slowdown_equal),
        ],
    };
    split.parts.iter().map(part).collect()
}
