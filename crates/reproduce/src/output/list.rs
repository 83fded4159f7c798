//! What there is: papers, and their figures.

use super::text::{add, new, rendered};
use crate::Paper;
use serde::Serialize;

/// The papers, and under each its figures, in so many columns.
#[must_use]
pub fn list(papers: &[Paper], width: usize) -> String {
    let columns = [("figure", false), ("what it shows", false), ("where", false), ("", false)];
    let mut text = String::new();
    for paper in papers {
        let gap = if text.is_empty() { "" } else { "\n" };
        text += &format!("{gap}{}: {}\n", paper.name, paper.title);
        text += &match paper.scale {
            1 => "  memory as large as in the paper\n".to_owned(),
            scale => format!("  memory 1/{scale} of the paper's\n"),
        };
        if paper.figures.is_empty() {
            text += "  no figure so far\n";
            continue;
        }
        let mut table = new(&columns, width);
        for figure in paper.figures {
            let slow = if figure.slow { "slow" } else { "" };
            let cells = [figure.id, figure.title, figure.source, slow];
            add(&mut table, &columns, &cells.map(str::to_owned));
        }
        text += &rendered(&table);
    }
    text
}

#[derive(Serialize)]
struct Listed {
    paper: &'static str,
    title: &'static str,
    scale: u32,
    figures: Vec<ListedFigure>,
}

#[derive(Serialize)]
struct ListedFigure {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    slow: bool,
}

/// The same with stable keys.
#[must_use]
pub fn list_json(papers: &[Paper]) -> impl Serialize + use<> {
    let of = |paper: &Paper| Listed {
        paper: paper.name,
        title: paper.title,
        scale: paper.scale,
        figures: paper
            .figures
            .iter()
            .map(|figure| ListedFigure {
                id: figure.id,
                title: figure.title,
                source: figure.source,
                slow: figure.slow,
            })
            .collect(),
    };
    papers.iter().map(of).collect::<Vec<_>>()
}

#[cfg(test)]
mod tests {
    use super::super::example::PAPER;
    use super::*;

    #[test]
    fn every_paper_and_figure_is_listed() {
        let empty = Paper { name: "empty", figures: &[], ..PAPER };
        let text = list(&[PAPER, empty], 80);
        for said in
            ["example: A", "table-2", "What a copy takes", "section 3.2", "no figure so far"]
        {
            assert!(text.contains(said), "no '{said}' in {text}");
        }
    }
}
