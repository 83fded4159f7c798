//! The plan as JSON: the answer is where it was promised.

use crate::build::{candidate, curve, cxl, hot_cold, input};
use pagetide_policy::{FigureInfo, Observation};
use pagetide_replay::{Heatmap, HeatmapRow, PlanOptions, Told, plan};
use pagetide_types::Bytes;

#[test]
fn the_answer_is_where_it_was_promised() {
    let units = hot_cold(300, 1000, 2000.0, 200.0);
    let mut input = input(vec![candidate(curve("first-touch", &units))]);
    let row = HeatmapRow {
        area: 0,
        bytes: Bytes::mib(2),
        rate_per_mib: vec![None, Some(1.0)],
        unknown: vec![false; 2],
    };
    input.heatmap = Heatmap { column_s: 5.0, lengths_s: vec![5.0; 2], rows: vec![row] };
    input.curves[0].told = vec![Told {
        capacity: Bytes::mib(600),
        decisions: vec![(3, Observation { choice: Some("lru"), figures: vec![0.5] })],
    }];
    input.curves[0].figures = &[FigureInfo { name: "hits", summary: "share that was hit" }];
    let json = serde_json::to_value(plan(input, &cxl(), &PlanOptions::default())).unwrap();
    assert!(json["recommendation"]["fast_bytes"].is_u64());
    assert_eq!(json["recommendation"]["policy"], "first-touch");
    assert_eq!(json["recommendation"]["certainty"], "estimate");
    assert_eq!(json["advice"][0]["kind"], "first-touch");
    assert!(json["why_not"].is_null());
    let told = &json["policies"][0]["decisions"];
    assert_eq!((&told["epochs"][0], &told["choices"][0]["choice"]), (&3.into(), &"lru".into()));
    assert_eq!(told["figures"][0]["values"][0], 0.5);
    assert_eq!(json["recording"]["unit"], "2M");
}
