//! Which area a unit belongs to, and how areas share the rows of a heatmap. Areas of one name
//! and kind count together (an allocator's arenas, a library's segments); past 256 names the
//! rest is one area.

use pagetide_trace::{Area, AreaMap};
use pagetide_types::{AreaKind, UnitKey};
use std::collections::BTreeMap;

/// Names told apart while streaming.
const NAMES: usize = 256;
/// Areas shown by name; the rest is summed up.
const SHOWN: usize = 9;
/// The least share of bytes or accesses for which an area is named.
const WORTH_NAMING: f64 = 0.01;

/// The areas of a recording as far as they are known.
#[derive(Debug)]
pub(crate) struct AreaNames {
    named: Vec<(String, Option<AreaKind>)>,
    by_name: BTreeMap<(String, AreaKind), u32>,
    map: AreaMap,
}

impl Default for AreaNames {
    /// Position 0 is what belongs to no known area.
    fn default() -> Self {
        Self {
            named: vec![("other".to_owned(), None)],
            by_name: BTreeMap::new(),
            map: AreaMap::default(),
        }
    }
}

impl AreaNames {
    /// Takes in areas seen for the first time.
    pub(crate) fn add(&mut self, areas: &[Area]) {
        for area in areas {
            let name = area.shown_name().into_owned();
            let next = self.named.len();
            self.by_name.entry((name.clone(), area.kind)).or_insert_with(|| {
                if next > NAMES {
                    return 0;
                }
                // No address leads to what nobody maps.
                self.named.push((name, Some(area.kind).filter(|_| area.mapped != Some(false))));
                u32::try_from(next).unwrap_or(0)
            });
        }
        self.map.extend(areas);
    }

    /// The position of a unit's area; none while nobody has said what it is.
    pub(crate) fn of(&self, key: &UnitKey) -> Option<u32> {
        let area = self.map.find(*key)?;
        let name = (area.shown_name().into_owned(), area.kind);
        Some(self.by_name.get(&name).copied().unwrap_or(0))
    }

    /// How many there are, with the unnamed one.
    pub(crate) fn len(&self) -> usize {
        self.named.len()
    }
}

/// Which areas are shown, in which order, and how many rows each gets.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Name and kind of the shown areas, largest first, the summed-up rest last.
    pub(crate) shown: Vec<(String, Option<AreaKind>)>,
    /// For every known area, its position in `shown`.
    pub(crate) place: Vec<usize>,
    /// Rows per shown area, at least 1.
    pub(crate) rows: Vec<usize>,
}

impl Layout {
    /// `sums` are accesses and bytes per known area; about `rows` rows are dealt out by bytes.
    pub(crate) fn new(sums: &[(f64, f64)], names: &AreaNames, rows: usize) -> Self {
        let accesses: f64 = sums.iter().map(|sum| sum.0).sum();
        let bytes: f64 = sums.iter().map(|sum| sum.1).sum();
        let worth = |i: usize| {
            i > 0
                && (sums[i].1 > WORTH_NAMING * bytes
                    || (sums[i].0 > WORTH_NAMING * accesses && sums[i].1 > 0.0))
        };
        let mut order: Vec<usize> = (0..sums.len()).filter(|i| worth(*i)).collect();
        order.sort_by(|a, b| sums[*b].1.total_cmp(&sums[*a].1));
        order.truncate(SHOWN);
        let mut place = vec![order.len(); sums.len()];
        for (position, area) in order.iter().enumerate() {
            place[*area] = position;
        }
        let rest = (0..sums.len()).filter(|i| place[*i] == order.len() && sums[*i].1 > 0.0);
        let (count, rest_bytes) =
            rest.fold((0usize, 0.0), |(count, sum), i| (count + 1, sum + sums[i].1));
        let mut shown: Vec<_> = order.iter().map(|i| names.named[*i].clone()).collect();
        let mut sizes: Vec<f64> = order.iter().map(|i| sums[*i].1).collect();
        // Units of no area at all are among the rest, so the last place always exists.
        shown.push((if count > 1 { format!("{count} other areas") } else { "other".into() }, None));
        sizes.push(rest_bytes);
        let spare = rows.saturating_sub(shown.len()) as f64;
        let rows = sizes.iter().map(|size| 1 + share_of(spare, *size, bytes)).collect();
        Self { shown, place, rows }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to `spare`")]
fn share_of(spare: f64, size: f64, all: f64) -> usize {
    if all > 0.0 { (spare * size / all).round().clamp(0.0, spare) as usize } else { 0 }
}
