//! The tables of figures 3, 4 and 7, in Markdown, from the tables of single recordings.

use super::{Result, files, frequency, scan_ratios, within, wrong};
use crate::ReproduceError;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// All that the folder has tables for.
pub(crate) fn section(folder: &Path) -> Result<String> {
    let mut text = String::new();
    text.push_str(&frequencies(&read(folder, "frequency-", frequency::HEADER)?)?);
    text.push_str(&ratios(&read(folder, "scan-ratios-", scan_ratios::HEADER)?)?);
    text.push_str(&homogeneity(&read(folder, "within-", within::HEADER)?)?);
    Ok(text)
}

/// The lines of all tables of a kind, by the recording that they begin with.
type Lines = BTreeMap<String, Vec<Vec<String>>>;

fn read(folder: &Path, prefix: &str, header: &str) -> Result<Lines> {
    let mut lines = Lines::new();
    for path in files(folder)? {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !file.starts_with(prefix) || !file.ends_with(".csv") {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(ReproduceError::file(&path))?;
        let rest = text.strip_prefix(header).and_then(|rest| rest.strip_prefix('\n'));
        let wrong = || wrong(format!("{}: the first line is not {header}", path.display()));
        for line in rest.ok_or_else(wrong)?.lines() {
            let mut cells = line.split(',').map(str::to_owned);
            let name = cells.next().unwrap_or_default();
            lines.entry(name).or_default().push(cells.collect());
        }
    }
    Ok(lines)
}

fn number(cell: &str) -> Result<f64> {
    cell.parse().map_err(|_| wrong(format!("not a number: '{cell}'")))
}

/// Epochs that fill the history.
const FILLED: usize = 8;

/// Figure 3: the mean share of the memory by frequency, once all of the history is there.
fn frequencies(lines: &Lines) -> Result<String> {
    if lines.is_empty() {
        return Ok(String::new());
    }
    let mut text = String::from(
        "\n### Figure 3: how much of the memory is accessed in how many of eight epochs of 4 s\n\n\
         | recording | epochs | MiB | in none | 1 or 2 | 3 to 5 | 6 or 7 | in all 8 |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (name, rows) in lines {
        let rows = rows.get(FILLED..).unwrap_or_default();
        let mut sums = [0.0; 9];
        for row in rows {
            for (sum, cell) in sums.iter_mut().zip(&row[1..]) {
                *sum += number(cell)?;
            }
        }
        let all: f64 = sums.iter().sum();
        let share = |range: std::ops::RangeInclusive<usize>| {
            100.0 * sums[range].iter().sum::<f64>() / all.max(1e-9)
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {:.0} | {:.0} % | {:.0} % | {:.0} % | {:.0} % | {:.0} % |",
            rows.len(),
            all / rows.len().max(1) as f64,
            share(0..=0),
            share(1..=2),
            share(3..=5),
            share(6..=7),
            share(8..=8)
        );
    }
    Ok(text)
}

/// Figure 4: the best and the worst pair of scan ratios.
fn ratios(lines: &Lines) -> Result<String> {
    if lines.is_empty() {
        return Ok(String::new());
    }
    let mut text = String::from(
        "\n### Figure 4: two lists over both scan ratios, half of the memory fast\n\n\
         | recording | best (active, inactive) | hits, performance, MiB/s moved | worst | hits, \
         performance, MiB/s moved | best over worst | AMP | clairvoyant |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (name, rows) in lines {
        let low = |row: &[String]| number(&row[5]);
        let shown = |row: &[String]| -> Result<String> {
            let (hits, moved) = (100.0 * number(&row[3])?, number(&row[4])?);
            Ok(format!("{hits:.0} %, {:.2}–{:.2}, {moved:.0}", low(row)?, number(&row[6])?))
        };
        let mut grid = Vec::new();
        for row in rows.iter().filter(|row| row[0] == "two-lists") {
            grid.push((low(row)?, row));
        }
        grid.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(worst), Some(best)) = (grid.first(), grid.last()) else { continue };
        let other = |policy: &str| {
            rows.iter().find(|row| row[0] == policy).map_or(Ok("–".into()), |row| shown(row))
        };
        let _ = writeln!(
            text,
            "| {name} | {}, {} | {} | {}, {} | {} | {:+.0} % | {} | {} |",
            best.1[1],
            best.1[2],
            shown(best.1)?,
            worst.1[1],
            worst.1[2],
            shown(worst.1)?,
            100.0 * (best.0 / worst.0 - 1.0),
            other("amp")?,
            other("clairvoyant")?
        );
    }
    Ok(text)
}

/// Figure 7: the share of base pages that are accessed in regions of 2 MiB where any is.
fn homogeneity(lines: &Lines) -> Result<String> {
    if lines.is_empty() {
        return Ok(String::new());
    }
    let mut text = String::from(
        "\n### Figure 7: base pages accessed within 32 s, of 2 MiB of which any is\n\n\
         | recording | regions, over all intervals | left out: not whole, not known | mean \
         | lower quartile | median | regions accessed whole |\n|---|---|---|---|---|---|---|\n",
    );
    for (name, rows) in lines {
        let mut counts = BTreeMap::new();
        let mut left_out = [0.0; 2];
        for row in rows {
            match row[0].as_str() {
                within::NOT_WHOLE => left_out[0] += number(&row[1])?,
                within::UNKNOWN => left_out[1] += number(&row[1])?,
                pages => {
                    let pages = pages.parse::<u32>();
                    let pages = pages.map_err(|_| wrong(format!("not a number: '{}'", row[0])))?;
                    *counts.entry(pages).or_insert(0.0) += number(&row[1])?;
                }
            }
        }
        let all: f64 = counts.values().sum();
        let mean = counts.iter().map(|(pages, n)| f64::from(*pages) * n).sum::<f64>() / all;
        let below = |part: f64| {
            let mut sum = 0.0;
            let found = counts.iter().find(|(_, n)| {
                sum += **n;
                sum >= part * all
            });
            found.map_or(0, |(pages, _)| *pages)
        };
        let whole = counts.get(&512).copied().unwrap_or(0.0);
        let percent = |pages: f64| 100.0 * pages / 512.0;
        let _ = writeln!(
            text,
            "| {name} | {all:.0} | {:.0}, {:.0} | {:.0} % | {:.0} % | {:.0} % | {:.0} % |",
            left_out[0],
            left_out[1],
            percent(mean),
            percent(below(0.25).into()),
            percent(below(0.5).into()),
            100.0 * whole / all
        );
    }
    Ok(text)
}
