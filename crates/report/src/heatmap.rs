//! The address x time heatmap: rows are parts of named areas, shades are access rates on a
//! logarithmic scale.

use crate::Style;
use crate::number::{count, duration};
use crate::style::short_name;
use pagetide_replay::{AreaHeat, Heatmap};

/// Shades from cool to hot, and their terminal colours when colour is welcome.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const COLOURS: [u8; 4] = [60, 132, 209, 220];
/// Resident, and no access was seen; not resident is a space.
const UNTOUCHED: char = '·';
/// Nobody knows: accessed bits that cannot be cleared.
const UNKNOWN: char = '╱';
/// Columns for the area's name and size.
const LABEL: usize = 24;
/// Columns of the picture.
const WIDEST: usize = 60;
/// Decades of rates that the shades cover: at most, anything cooler having the coolest, and at
/// least, so that noise does not look like structure.
const DECADES: (f64, f64) = (2.0, 4.0);
/// The scale ends no lower, in accesses per second and MiB: a program that does next to nothing is
/// not to look hot. As on the page.
const HOT: f64 = 100.0;

/// The heatmap with its axis and legend, or a sentence where nothing was recorded.
pub(crate) fn heatmap(map: &Heatmap, areas: &[AreaHeat], style: Style) -> String {
    let columns = map.rows.iter().map(|row| row.rate_per_mib.len()).max().unwrap_or(0);
    if columns == 0 {
        return style.paragraph("  ", "No memory of the target was resident.");
    }
    let label = if style.width() < 60 { LABEL - 5 } else { LABEL };
    let room = style.width().saturating_sub(label + 3).clamp(8, WIDEST);
    let merge = columns.div_ceil(room);
    let shown = columns.div_ceil(merge);
    let repeat = (room / shown).max(1);
    let rows: Vec<Vec<Option<f64>>> =
        map.rows.iter().map(|row| merged(&row.rate_per_mib, merge, shown)).collect();
    let scale = Scale::of(rows.iter().flatten().flatten().copied());
    let mut out = String::new();
    let mut last = usize::MAX;
    let mut any_unknown = false;
    for (row, rates) in map.rows.iter().zip(&rows) {
        let unknown = mostly(&row.unknown, merge, shown);
        any_unknown |= unknown.contains(&true);
        let area = areas.get(row.area);
        let name = match area {
            Some(area) if row.area != last => {
                let size = area.bytes.to_string();
                let name = short_name(&area.name, label - size.len() - 1);
                format!("{name:<width$}{size}", width = label - size.len())
            }
            _ => " ".repeat(label),
        };
        last = row.area;
        let cells: String = rates
            .iter()
            .zip(&unknown)
            .map(|(rate, unknown)| {
                let (shade, colour) = if *unknown { (UNKNOWN, None) } else { scale.shade(*rate) };
                let text = shade.to_string().repeat(repeat);
                colour.map_or_else(|| text.clone(), |colour| style.in_colour(colour, &text))
            })
            .collect();
        out += format!(" {name} {cells}").trim_end();
        out.push('\n');
    }
    let seconds: f64 = map.lengths_s.iter().sum();
    let width = shown * repeat;
    let end = duration(seconds);
    let gap = width.saturating_sub("0 s".len() + end.chars().count()).max(1);
    let indent = " ".repeat(label + 2);
    out += &style.dim(&format!("{indent}0 s{}{end}", " ".repeat(gap)));
    out.push('\n');
    out + &scale.legend(any_unknown, style)
}

/// Of every `merge` neighbouring columns, whether most are set.
fn mostly(columns: &[bool], merge: usize, shown: usize) -> Vec<bool> {
    let set = |part: &[bool]| 2 * part.iter().filter(|set| **set).count() > part.len();
    let mut cells: Vec<bool> = columns.chunks(merge).map(set).collect();
    cells.resize(shown, false);
    cells
}

/// The mean of every `merge` neighbouring columns.
fn merged(rates: &[Option<f32>], merge: usize, shown: usize) -> Vec<Option<f64>> {
    let mut cells: Vec<Option<f64>> = rates
        .chunks(merge)
        .map(|part| {
            let known: Vec<f64> = part.iter().flatten().map(|rate| f64::from(*rate)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        })
        .collect();
    cells.resize(shown, None);
    cells
}

/// Where the shades begin and end; both are 0 where no access was seen.
struct Scale {
    coolest: f64,
    hottest: f64,
}

impl Scale {
    fn of(rates: impl Iterator<Item = f64>) -> Self {
        let seen: Vec<f64> = rates.filter(|rate| *rate > 0.0).collect();
        if seen.is_empty() {
            return Self { coolest: 0.0, hottest: 0.0 };
        }
        let hottest = seen.iter().copied().fold(HOT, f64::max);
        let coolest = seen
            .iter()
            .copied()
            .fold(hottest, f64::min)
            .clamp(hottest / 10f64.powf(DECADES.1), hottest / 10f64.powf(DECADES.0));
        Self { coolest, hottest }
    }

    fn steps(&self) -> f64 {
        (self.hottest / self.coolest).log10()
    }

    fn shade(&self, rate: Option<f64>) -> (char, Option<u8>) {
        match rate {
            None => (' ', None),
            Some(rate) if rate <= 0.0 => (UNTOUCHED, None),
            Some(rate) => {
                let part = (rate / self.coolest).log10() / self.steps();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clamped"
                )]
                let i = (part * 4.0).clamp(0.0, 3.0) as usize;
                (SHADES[i], Some(COLOURS[i]))
            }
        }
    }

    fn legend(&self, any_unknown: bool, style: Style) -> String {
        let unknown = format!("{UNKNOWN} unknown, for its accessed bits cannot be cleared");
        if self.hottest <= 0.0 {
            let unknown = if any_unknown { format!(" {unknown}.") } else { String::new() };
            return style.paragraph("  ", &format!("No access was seen.{unknown}"));
        }
        let mut text = format!("accesses/s per MiB: {UNTOUCHED} none seen");
        if any_unknown {
            text += &format!("  {unknown}");
        }
        for (i, shade) in SHADES.iter().enumerate() {
            let upto = self.coolest * 10f64.powf(self.steps() * (i + 1) as f64 / 4.0);
            text += &format!("  {shade} to {}", count(upto).replace(' ', "\u{a0}"));
        }
        text += "; sizes are means over time";
        style.dim(style.paragraph("  ", &text).trim_end()) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shades(rates: &[f64]) -> String {
        let scale = Scale::of(rates.iter().copied());
        rates.iter().map(|rate| scale.shade(Some(*rate)).0).collect()
    }

    #[test]
    fn a_program_that_does_next_to_nothing_does_not_look_hot() {
        assert_eq!(shades(&[0.0, 0.01, 0.01]), "·░░");
        assert_eq!(shades(&[0.0, 0.01, 5.0, 90.0]), "·░▓█");
        assert_eq!(shades(&[0.0, 0.0]), "··");
    }

    #[test]
    fn the_scale_ends_with_what_is_hottest() {
        assert_eq!(shades(&[0.01, 20.0, 200.0, 2e3, 3e4]), "░░▒▓█");
        assert_eq!(shades(&[5e4, 5e4]), "██");
    }
}
