//! Papers and their figures; unknown ones are errors that name the nearest known.

use crate::{Figure, ReproduceError, adaptive, amp, disaggregated, nimble, pmshifter};
use pagetide_types::nearest;

/// One paper.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// What it is called here, a word.
    pub name: &'static str,
    /// Authors, title, where and when it was published.
    pub title: &'static str,
    /// Memory is this many times smaller than the published, unless another scale is asked for.
    pub scale: u32,
    /// Its figures, in the paper's order.
    pub figures: &'static [Figure],
    /// Published figures that are parts of one of these, and of which.
    pub parts: &'static [(&'static str, &'static str)],
}

/// All papers.
pub const PAPERS: &[Paper] =
    &[nimble::PAPER, amp::PAPER, adaptive::PAPER, disaggregated::PAPER, pmshifter::PAPER];

/// The paper of this name.
///
/// # Errors
/// There is none.
pub fn paper(name: &str) -> Result<&'static Paper, ReproduceError> {
    PAPERS.iter().find(|paper| paper.name == name).ok_or_else(|| {
        let known: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        ReproduceError::UnknownPaper {
            name: name.to_owned(),
            hint: nearest(name, known.iter().copied()),
            known: known.join(", "),
        }
    })
}

impl Paper {
    /// The figure of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn figure(&self, id: &str) -> Result<&'static Figure, ReproduceError> {
        self.figures.iter().find(|figure| figure.id == id).ok_or_else(|| {
            let known: Vec<&str> = self.figures.iter().map(|figure| figure.id).collect();
            let whole = self.parts.iter().find(|(part, _)| *part == id);
            ReproduceError::UnknownFigure {
                paper: self.name,
                id: id.to_owned(),
                hint: whole.map_or_else(
                    || nearest(id, known.iter().copied()),
                    |(_, whole)| format!("it is a part of figure {whole}; "),
                ),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn papers_and_their_figures_have_names_of_their_own() {
        let names: BTreeSet<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        assert_eq!(names.len(), PAPERS.len());
        for paper in PAPERS {
            let ids: BTreeSet<&str> = paper.figures.iter().map(|figure| figure.id).collect();
            assert_eq!(ids.len(), paper.figures.len(), "{}", paper.name);
            assert!(paper.scale > 0);
            for figure in paper.figures {
                // It is a part of the names of files.
                let good =
                    |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
                assert!(figure.id.chars().all(good), "{}", figure.id);
                assert!(!figure.title.contains('\n') && !figure.source.is_empty(), "{}", figure.id);
            }
            for (part, whole) in paper.parts {
                assert!(ids.contains(whole) && !ids.contains(part), "{part} of {whole}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_told_with_the_nearest_known() {
        assert_eq!(paper("amp").unwrap().name, "amp");
        let error = paper("nimbel").unwrap_err().to_string();
        assert!(error.contains("'nimbel'; did you mean 'nimble'? known are"), "{error}");
        let error = paper("zzz").unwrap_err().to_string();
        assert!(
            error.contains("'zzz'; known are nimble, amp, adaptive, disaggregated, pmshifter"),
            "{error}"
        );
        let none = Paper { name: "x", title: "", scale: 1, figures: &[], parts: &[] };
        let error = none.figure("8").unwrap_err().to_string();
        assert!(error.contains("paper x has no figure '8'; known are none"), "{error}");
        for (part, whole) in [("12", "14"), ("15", "18")] {
            let error = adaptive::PAPER.figure(part).unwrap_err().to_string();
            assert!(
                error.contains(&format!("'{part}'; it is a part of figure {whole};")),
                "{error}"
            );
        }
        assert_eq!(nearest("table2", ["8", "table-2"]), "did you mean 'table-2'? ");
    }
}
