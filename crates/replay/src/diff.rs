//! Two recordings side by side: what `pagetide trace diff` shows.

use crate::RecordingInfo;
use pagetide_types::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;

/// Two recordings compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// Name of the first.
    pub left: String,
    /// Name of the second.
    pub right: String,
    /// The recordings as wholes.
    pub facts: Vec<DiffRow>,
    /// Areas by name, the larger of both first.
    pub areas: Vec<AreaDiff>,
}

/// One figure of both recordings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiffRow {
    /// What it is; a key of [`crate::RecordingFacts`].
    pub what: &'static str,
    /// What it is measured in.
    pub unit: DiffUnit,
    /// In the first recording.
    pub left: f64,
    /// In the second.
    pub right: f64,
    /// Second over first; none where the first is 0.
    pub ratio: Option<f64>,
}

/// How a [`DiffRow`] is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiffUnit {
    /// A number.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A share, 0 to 1.
    Share,
}

/// One area in both recordings; zeros where it is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AreaDiff {
    /// Its name.
    pub name: String,
    /// Mean resident bytes in the first.
    pub left_bytes: Bytes,
    /// In the second.
    pub right_bytes: Bytes,
    /// Share of the accesses in the first.
    pub left_share: f64,
    /// In the second.
    pub right_share: f64,
}

/// Compares two recordings.
#[must_use]
pub fn diff(left: &RecordingInfo, right: &RecordingInfo) -> Diff {
    let (a, b) = (&left.facts, &right.facts);
    let row = |what, unit, left: f64, right: f64| DiffRow {
        what,
        unit,
        left,
        right,
        ratio: (left > 0.0).then(|| right / left),
    };
    let facts = vec![
        row("seconds", DiffUnit::Seconds, a.seconds, b.seconds),
        row(
            "evaluated_epochs",
            DiffUnit::Count,
            a.evaluated_epochs as f64,
            b.evaluated_epochs as f64,
        ),
        row(
            "footprint_bytes",
            DiffUnit::Bytes,
            a.footprint_bytes.as_f64(),
            b.footprint_bytes.as_f64(),
        ),
        row("accesses_per_s", DiffUnit::Count, a.accesses_per_s, b.accesses_per_s),
        row("saturated_share", DiffUnit::Share, a.saturated_share, b.saturated_share),
        row("unseen_share", DiffUnit::Share, a.unseen_share, b.unseen_share),
        row("watched_share", DiffUnit::Share, a.watched_share, b.watched_share),
        row("huge_share", DiffUnit::Share, a.huge_share, b.huge_share),
        row("target_cores", DiffUnit::Count, a.target_cores, b.target_cores),
        row("recorder_cores", DiffUnit::Share, a.recorder_cores, b.recorder_cores),
    ];
    let mut areas: BTreeMap<&str, AreaDiff> = BTreeMap::new();
    for area in &left.areas {
        let both = areas.entry(&area.name).or_default();
        both.left_bytes += area.bytes;
        both.left_share += area.share_of_accesses;
    }
    for area in &right.areas {
        let both = areas.entry(&area.name).or_default();
        both.right_bytes += area.bytes;
        both.right_share += area.share_of_accesses;
    }
    let mut areas: Vec<AreaDiff> =
        areas.into_iter().map(|(name, both)| AreaDiff { name: name.to_owned(), ..both }).collect();
    areas.sort_by_key(|both| std::cmp::Reverse(both.left_bytes.max(both.right_bytes)));
    Diff { left: a.name.clone(), right: b.name.clone(), facts, areas }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AreaHeat, RecordingFacts};

    #[test]
    fn areas_meet_by_name_and_nothing_is_divided_by_zero() {
        let info = |seconds, areas: &[(&str, u64)]| RecordingInfo {
            facts: RecordingFacts { seconds, ..RecordingFacts::default() },
            areas: areas
                .iter()
                .map(|(name, gib)| AreaHeat {
                    name: (*name).to_owned(),
                    kind: None,
                    bytes: Bytes::gib(*gib),
                    share_of_bytes: 0.5,
                    accesses_per_s: 1.0,
                    share_of_accesses: 0.5,
                    peak_share_of_accesses: 0.5,
                })
                .collect(),
            ..RecordingInfo::default()
        };
        let both = diff(&info(10.0, &[("a", 1), ("b", 2)]), &info(30.0, &[("b", 1), ("c", 9)]));
        assert_eq!(both.facts[0].ratio, Some(3.0));
        assert_eq!(both.facts[1].ratio, None);
        let names: Vec<&str> = both.areas.iter().map(|area| area.name.as_str()).collect();
        assert_eq!(names, ["c", "b", "a"]);
        assert_eq!(
            (both.areas[1].left_bytes, both.areas[1].right_bytes),
            (Bytes::gib(2), Bytes::gib(1))
        );
        assert_eq!(both.areas[0].left_share, 0.0);
    }
}
