//! Figures as JSON, with stable keys: docs/reproduction.md.

use super::Done;
use crate::outcome::{Tolerance, Verdict};
use crate::{Context, Paper, Row, Series};
use serde::Serialize;

#[derive(Serialize)]
struct Made<'a> {
    paper: &'static str,
    title: &'static str,
    scale: u32,
    small: bool,
    figures: Vec<MadeFigure<'a>>,
}

#[derive(Serialize)]
struct MadeFigure<'a> {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    rows: Vec<MadeRow<'a>>,
    notes: &'a [String],
    series: &'a [Series],
}

#[derive(Serialize)]
struct MadeRow<'a> {
    what: &'a str,
    unit: &'static str,
    published: Option<f64>,
    ours: f64,
    ratio: Option<f64>,
    within: Option<Tolerance>,
    verdict: Option<Verdict>,
    why: Option<&'a str>,
}

/// What was made of a paper, and how.
#[must_use]
pub fn json<'a>(paper: &Paper, context: &Context, done: &'a [Done]) -> impl Serialize + use<'a> {
    let figures = done.iter().map(|Done { figure, outcome }| MadeFigure {
        id: figure.id,
        title: figure.title,
        source: figure.source,
        rows: outcome.rows.iter().map(row).collect(),
        notes: &outcome.notes,
        series: &outcome.series,
    });
    Made {
        paper: paper.name,
        title: paper.title,
        scale: context.scale,
        small: context.small,
        figures: figures.collect(),
    }
}

fn row(row: &Row) -> MadeRow<'_> {
    MadeRow {
        what: &row.what,
        unit: row.unit,
        published: row.published,
        ours: row.ours,
        ratio: row.ratio(),
        within: Some(row.within).filter(|within| *within != Tolerance::None),
        verdict: row.verdict(),
        why: row.why.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{PAPER, done};
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/reproduction.md");

    #[test]
    fn every_key_is_documented() {
        let made = [done()];
        let made = json(&PAPER, &Context::in_memory(64), &made);
        let text = serde_json::to_value(made).unwrap();
        assert_eq!(text["figures"][0]["rows"][0]["within"]["ratio"], 1.5);
        assert_eq!(text["figures"][0]["rows"][1]["verdict"], "missed");
        assert_eq!(text["figures"][0]["series"][0]["points"][1], serde_json::json!([4.0, 20.0]));
        documented(&text);
        documented(&serde_json::to_value(super::super::list_json(&[PAPER])).unwrap());
    }

    fn documented(value: &serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                assert!(PAGE.contains(&format!("`{key}`")), "{key} is not documented");
                documented(value);
            }),
            Value::Array(list) => list.iter().for_each(documented),
            _ => {}
        }
    }
}
