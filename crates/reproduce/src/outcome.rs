//! What a figure came to: numbers beside those that were published.

use crate::Series;
use serde::Serialize;

/// What a figure came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Numbers, those that were published beside ours.
    pub rows: Vec<Row>,
    /// What a reader must know beside the numbers.
    pub notes: Vec<String>,
    /// What pictures are drawn from.
    pub series: Vec<Series>,
}

/// How far ours may be from what was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    /// Ours over published lies between 1/f and f, this being f, 1 or more.
    Ratio(f64),
    /// Ours is off by at most so many percent of what was published.
    Percent(f64),
    /// Nothing is promised.
    #[default]
    None,
}

/// Whether ours is as near as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is.
    Met,
    /// It is not.
    Missed,
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is a number of.
    pub what: String,
    /// Its unit, such as `GB/s`, `%`, `us`; empty if it has none.
    pub unit: &'static str,
    /// As published; none if it was not.
    pub published: Option<f64>,
    /// Ours.
    pub ours: f64,
    /// How far apart they may be.
    pub within: Tolerance,
    /// Why they are apart, as far as that is known.
    pub why: Option<String>,
}

impl Row {
    /// A number of ours.
    #[must_use]
    pub fn new(what: impl Into<String>, unit: &'static str, ours: f64) -> Self {
        let (published, within, why) = (None, Tolerance::None, None);
        Self { what: what.into(), unit, published, ours, within, why }
    }

    /// What was published of it, and how near ours should be.
    #[must_use]
    pub fn published(self, published: f64, within: Tolerance) -> Self {
        Self { published: Some(published), within, ..self }
    }

    /// Why ours is another.
    #[must_use]
    pub fn why(self, why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..self }
    }

    /// Ours over what was published; none without it, or if it is 0.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.published.filter(|published| *published != 0.0).map(|published| self.ours / published)
    }

    /// Whether ours is near enough; none if nothing was published or promised.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let published = self.published?;
        let met = match self.within {
            Tolerance::None => return None,
            Tolerance::Ratio(most) => {
                self.ratio().is_some_and(|ratio| (1.0 / most..=most).contains(&ratio))
            }
            Tolerance::Percent(most) => {
                (self.ours - published).abs() <= published.abs() * most / 100.0
            }
        };
        Some(if met { Verdict::Met } else { Verdict::Missed })
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Met, Missed};
    use super::*;

    fn verdict(ours: f64, published: f64, within: Tolerance) -> Option<Verdict> {
        Row::new("x", "", ours).published(published, within).verdict()
    }

    #[test]
    fn a_ratio_holds_in_both_directions() {
        let twice = Tolerance::Ratio(2.0);
        for (ours, said) in
            [(5.0, Met), (4.9, Missed), (20.0, Met), (20.1, Missed), (-10.0, Missed)]
        {
            assert_eq!(verdict(ours, 10.0, twice), Some(said), "{ours}");
        }
        assert_eq!(verdict(0.0, 0.0, twice), Some(Missed), "nothing has a ratio to nothing");
        assert_eq!(verdict(f64::NAN, 10.0, twice), Some(Missed));
    }

    #[test]
    fn percent_are_of_what_was_published() {
        let tenth = Tolerance::Percent(10.0);
        for (ours, said) in [(9.0, Met), (8.99, Missed), (11.0, Met), (11.1, Missed)] {
            assert_eq!(verdict(ours, 10.0, tenth), Some(said), "{ours}");
        }
        assert_eq!(verdict(-9.5, -10.0, tenth), Some(Met));
        assert_eq!(verdict(0.0, 0.0, tenth), Some(Met));
        assert_eq!(verdict(f64::NAN, 10.0, tenth), Some(Missed));
    }

    #[test]
    fn nothing_is_met_or_missed_where_nothing_was_published_or_promised() {
        let row = Row::new("x", "us", 3.0);
        assert_eq!((row.ratio(), row.verdict()), (None, None));
        let row = row.published(2.0, Tolerance::None).why("another machine");
        assert_eq!((row.ratio(), row.verdict()), (Some(1.5), None));
    }
}
