//! Figures as a part of a page: a heading and a table for each.

use super::{Done, name, number, summary, verdict, within};
use crate::Paper;

/// All of them, in their order; `pictures` is where the page finds their pictures, if there are any.
#[must_use]
pub fn markdown(paper: &Paper, done: &[Done], pictures: Option<&str>) -> String {
    let figures: Vec<String> = done.iter().map(|done| figure(paper, done, pictures)).collect();
    figures.join("\n")
}

fn figure(paper: &Paper, done: &Done, pictures: Option<&str>) -> String {
    let Done { figure, outcome } = done;
    let mut text = format!("### {}: {} ({})\n", name(figure), figure.title, figure.source);
    if let Some(folder) = pictures.filter(|_| !outcome.series.is_empty()) {
        let (name, id) = (name(figure), figure.id);
        text += &format!("\n![{name}]({folder}/{}-{id}.svg)\n", paper.name);
    }
    if !outcome.rows.is_empty() {
        text +=
            "\n| | published | ours | ratio | within | | why |\n|---|---|---|---|---|---|---|\n";
    }
    for row in &outcome.rows {
        let unit =
            |value: f64| format!("{} {}", number::short(value), row.unit).trim_end().to_owned();
        let cells = [
            row.what.clone(),
            row.published.map_or_else(String::new, unit),
            unit(row.ours),
            row.ratio().map_or_else(String::new, number::ratio),
            within(row.within),
            if verdict(row) == "missed" { "**missed**" } else { verdict(row) }.to_owned(),
            row.why.clone().unwrap_or_default(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    let said: Vec<String> = summary(outcome).into_iter().chain(outcome.notes.clone()).collect();
    if !said.is_empty() {
        text += &format!("\n- {}\n", said.join("\n- "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::example::{PAPER, done};
    use super::*;

    #[test]
    fn a_figure_is_a_heading_a_table_and_what_is_to_be_known() {
        let expected = "\
### Table 2: What a copy takes (section 3.2)

![Table 2](../x/example-table-2.svg)

| | published | ours | ratio | within | | why |
|---|---|---|---|---|---|---|
| one thread, 4 KiB | 2.5 GB/s | 3 GB/s | 1.20 | 1/1.5 to 1.5 | met |  |
| four \"threads\" | 10 GB/s | 20 GB/s | 2.00 | ± 5 % | **missed** | another \\| machine |
| time |  | 12346 us |  |  |  |  |

- 1 of 2 published numbers are met
- Memory is smaller.
";
        assert_eq!(markdown(&PAPER, &[done()], Some("../x")), expected);
        assert!(!markdown(&PAPER, &[done()], None).contains("svg"));
    }
}
