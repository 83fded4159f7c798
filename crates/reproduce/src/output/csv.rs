//! Figures as CSV files: `PAPER-FIGURE.csv` has the rows, `PAPER-FIGURE-series.csv` what
//! benches/reproduction.py draws.

use super::{Done, verdict, within};
use crate::{At, Paper, ReproduceError, Row, Series, make_folder};
use std::fs;
use std::path::{Path, PathBuf};

const ROWS: &str = "what,unit,published,ours,ratio,within,verdict,why";
const SERIES: &str = "panel,series,published,x_label,y_label,x,y";

/// Writes a figure's files into a folder, which is made if it is not there; those that it has
/// nothing for are not written.
///
/// # Errors
/// A file cannot be written.
pub fn write_csv(
    folder: &Path,
    paper: &Paper,
    done: &Done,
) -> Result<Vec<PathBuf>, ReproduceError> {
    make_folder(folder)?;
    let name = format!("{}-{}", paper.name, done.figure.id);
    let mut written = Vec::new();
    for (end, header, lines) in [
        ("", ROWS, done.outcome.rows.iter().map(row).collect::<String>()),
        ("-series", SERIES, done.outcome.series.iter().map(series).collect()),
    ] {
        if !lines.is_empty() {
            let path = folder.join(format!("{name}{end}.csv"));
            let text = format!("{header}\n{lines}");
            fs::write(&path, text).map_err(ReproduceError::file(&path))?;
            written.push(path);
        }
    }
    Ok(written)
}

fn row(row: &Row) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    line(&[
        &row.what,
        row.unit,
        &number(row.published),
        &row.ours.to_string(),
        &number(row.ratio()),
        &within(row.within),
        verdict(row),
        row.why.as_deref().unwrap_or_default(),
    ])
}

fn series(series: &Series) -> String {
    let Series { name, panel, published, x_label, y_label, points } = series;
    let published = if *published { "yes" } else { "no" };
    let one = |(x, y): &(At, f64)| {
        let x = match x {
            At::Number(number) => number.to_string(),
            At::Word(word) => word.clone(),
        };
        line(&[panel, name, published, x_label, y_label, &x, &y.to_string()])
    };
    points.iter().map(one).collect()
}

/// Cells are quoted where RFC 4180 asks for it.
fn line(cells: &[&str]) -> String {
    let cells = cells.iter().map(|cell| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            (*cell).to_owned()
        }
    });
    cells.collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::example::{PAPER, done};
    use super::*;

    #[test]
    fn rows_and_series_have_a_file_each() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("new");
        assert_eq!(write_csv(&into, &PAPER, &done()).unwrap().len(), 2);
        let read = |name: &str| fs::read_to_string(into.join(name)).unwrap();
        assert_eq!(
            read("example-table-2.csv"),
            format!(
                "{ROWS}\n\"one thread, 4 KiB\",GB/s,2.5,3,1.2,1/1.5 to 1.5,met,\n\
                 \"four \"\"threads\"\"\",GB/s,10,20,2,± 5 %,missed,another | machine\n\
                 time,us,,12345.6,,,,\n"
            )
        );
        assert_eq!(
            read("example-table-2-series.csv"),
            format!(
                "{SERIES}\n,copy,no,threads,GB/s,1,3\n,copy,no,threads,GB/s,4,20\n\
                 b,copy,yes,program,GB/s,\"x, y\",0.5\n"
            )
        );
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let error = write_csv(Path::new("/dev/null/x"), &PAPER, &done()).unwrap_err().to_string();
        assert!(error.starts_with("/dev/null/x: "), "{error}");
    }
}
