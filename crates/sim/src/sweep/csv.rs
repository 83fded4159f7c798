//! Tables as comma-separated text (RFC 4180).

use super::Plan;
use super::columns::{Cells, Column};
use crate::scenario::Outcome;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The columns of a timeline.
const TIMELINE: &str = "system,tenant,at_s,promote_bytes,demote_bytes,memory_bytes,accessed_bytes,\
                        fast_bytes,accessed_fast_bytes,choice\n";
/// What a timeline of any version begins with, and no table of a sweep.
const BEGINS: &[u8] = b"system,tenant,at_s,";

/// All decisions of all systems, one line each, times and sizes as without `scale`.
#[must_use]
pub fn timeline(plan: &Plan, outcomes: &[Outcome]) -> String {
    let mut out = TIMELINE.to_owned();
    for (point, outcome) in plan.points.iter().zip(outcomes) {
        let scale = point.resolved().scenario.scale;
        for log in &outcome.decisions {
            let tenant = outcome.tenants.get(log.tenant).map_or("", |tenant| tenant.name.as_str());
            let observed = log.observation.as_ref().and_then(|observed| observed.choice);
            let sizes = [log.promote, log.demote, log.memory, log.accessed, log.fast, log.hits];
            let sizes = sizes.map(|bytes| (bytes as f64 * scale).round().to_string()).join(",");
            let (system, tenant) = (quoted(&outcome.system), quoted(tenant));
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "{system},{tenant},{},{sizes},{}",
                (log.at_s * scale * 1e9).round() / 1e9,
                observed.unwrap_or_default()
            );
        }
    }
    out
}

/// Whether a file may be replaced by a timeline: it is one, or empty, or no file that could be lost (`/dev/stdout`).
///
/// # Errors
/// It is there and cannot be read.
pub fn is_timeline(path: &Path) -> io::Result<bool> {
    if !path.metadata().is_ok_and(|there| there.is_file()) {
        return Ok(true);
    }
    let mut begin = Vec::new();
    File::open(path)?.take(BEGINS.len() as u64).read_to_end(&mut begin)?;
    Ok(begin.is_empty() || begin == BEGINS)
}

/// Columns of equal length, as lines.
#[must_use]
pub fn csv(columns: &[Column]) -> String {
    let names: Vec<_> = columns.iter().map(|column| quoted(&column.name)).collect();
    let mut out = names.join(",") + "\n";
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        let cells: Vec<String> = columns.iter().map(|column| cell(&column.cells, row)).collect();
        out += &(cells.join(",") + "\n");
    }
    out
}

fn cell(cells: &Cells, row: usize) -> String {
    match cells {
        Cells::Whole(whole) => whole[row].to_string(),
        Cells::Numbers(numbers) => {
            numbers[row].map_or_else(String::new, |number| number.to_string())
        }
        Cells::Truths(truths) => truths[row].to_string(),
        Cells::Texts(texts) => quoted(&texts[row]).into_owned(),
    }
}

/// A field: names may hold commas, quotes and line breaks.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
