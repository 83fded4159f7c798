//! The slowdown over fast memory as a small chart: the band of one policy, the target and the
//! recommended size. Rows go in steps of 1, 2, 5, so that small slowdowns can be read.

use crate::Style;
use pagetide_replay::{PolicyPlan, percent};
use pagetide_types::Bytes;

/// The chart's rows, highest first.
const ROWS: [f64; 9] = [2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005];
/// Columns left of the picture.
const LABEL: usize = 8;
/// Columns of the picture.
const WIDEST: usize = 64;

/// The band of `policy`; empty when it has fewer than two points or never slows down.
pub(crate) fn slowdown(
    policy: &PolicyPlan,
    target: f64,
    recommended: Option<Bytes>,
    style: Style,
) -> String {
    let n = policy.points.len();
    let whole = policy.points.last().map_or(Bytes(0), |point| point.fast_bytes);
    let ever = policy.points.iter().any(|point| point.slowdown.high > 0.0);
    if n < 2 || whole.0 == 0 || !ever {
        return String::new();
    }
    let width = style.width().saturating_sub(LABEL + 4).clamp(16, WIDEST);
    let column = |bytes: Bytes| {
        let part = bytes.as_f64() / whole.as_f64() * (width - 1) as f64;
        rounded(part).min(width - 1)
    };
    let mut high = vec![ROWS.len(); width];
    let mut low = vec![ROWS.len(); width];
    for x in 0..width {
        let bytes = whole.as_f64() * x as f64 / (width - 1) as f64;
        let i = policy.points.partition_point(|p| p.fast_bytes.as_f64() < bytes).min(n - 1);
        high[x] = row(policy.points[i].slowdown.high);
        low[x] = row(policy.points[i].slowdown.low);
    }
    let top = high.iter().copied().min().unwrap_or(0).min(row(target));
    let mark = recommended.map(column);
    let mut out = String::new();
    for (y, level) in ROWS.iter().enumerate().skip(top) {
        let at_target = y == row(target);
        let cells: String = (0..width)
            .map(|x| match () {
                () if y == high[x] => '━',
                () if y > high[x] && y <= low[x] && y < ROWS.len() => '░',
                () if mark == Some(x) => '│',
                () if at_target => '┄',
                () => ' ',
            })
            .collect();
        out += &style.dim(&format!("{:>LABEL$} ┤", percent(*level)));
        out += cells.trim_end();
        out.push('\n');
    }
    let mut axis: Vec<char> = vec!['─'; width];
    if let Some(x) = mark {
        axis[x] = '┴';
    }
    let axis: String = axis.into_iter().collect();
    out += &style.dim(&format!("{} └{axis}\n", " ".repeat(LABEL)));
    out + &style.dim(&labels(width, mark, recommended, whole))
}

/// `0`, the recommended size under its mark if there is room, and the footprint.
fn labels(width: usize, mark: Option<usize>, recommended: Option<Bytes>, whole: Bytes) -> String {
    let mut line: Vec<char> = vec![' '; width];
    let mut put = |text: &str, middle: usize| {
        let chars: Vec<char> = text.chars().collect();
        let start = middle.saturating_sub(chars.len() / 2).min(width - chars.len().min(width));
        let end = (start + chars.len()).min(width);
        let free = line[start.saturating_sub(1)..(end + 1).min(width)].iter().all(|c| *c == ' ');
        if free {
            line[start..end].copy_from_slice(&chars[..end - start]);
        }
    };
    put("0", 0);
    put(&whole.to_string(), width - 1);
    if let (Some(x), Some(bytes)) = (mark, recommended) {
        put(&bytes.to_string(), x);
    }
    let line: String = line.into_iter().collect();
    format!("{}  {}\n", " ".repeat(LABEL), line.trim_end())
}

/// The row nearest to a slowdown on the 1-2-5 scale; past the last row for (nearly) none.
fn row(slowdown: f64) -> usize {
    if slowdown < ROWS[ROWS.len() - 1] * 0.7 {
        return ROWS.len();
    }
    let distance = |level: f64| (slowdown / level).ln().abs();
    let nearest = (0..ROWS.len()).min_by(|a, b| distance(ROWS[*a]).total_cmp(&distance(ROWS[*b])));
    nearest.unwrap_or(0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the width")]
fn rounded(value: f64) -> usize {
    value.round().max(0.0) as usize
}
