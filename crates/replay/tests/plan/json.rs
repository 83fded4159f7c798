//! docs/plan-json.md names every key of the plan.

use crate::build::{candidate, curve, cxl, hot_cold, input};
use pagetide_replay::{Heatmap, HeatmapRow, PlanOptions, plan};
use pagetide_types::Bytes;
use serde_json::Value;
use std::collections::BTreeSet;

fn keys(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                into.insert(key.clone());
                keys(value, into);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

#[test]
fn every_key_is_documented_and_the_answer_is_where_it_was_promised() {
    let units = hot_cold(300, 1000, 2000.0, 200.0);
    let mut input = input(vec![candidate(curve("first-touch", &units))]);
    let row = HeatmapRow { area: 0, bytes: Bytes::mib(2), rate_per_mib: vec![None, Some(1.0)] };
    input.heatmap = Heatmap { column_s: 5.0, rows: vec![row] };
    let json = serde_json::to_value(plan(input, &cxl(), &PlanOptions::default())).unwrap();
    assert!(json["recommendation"]["fast_bytes"].is_u64());
    assert_eq!(json["recommendation"]["policy"], "first-touch");
    assert_eq!(json["recommendation"]["certainty"], "estimate");
    assert_eq!(json["advice"][0]["kind"], "first-touch");
    assert!(json["why_not"].is_null());
    assert_eq!(json["recording"]["unit"], "2M");
    let page = include_str!("../../../../docs/plan-json.md");
    let mut found = BTreeSet::new();
    keys(&json, &mut found);
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !page.contains(&format!("`{key}`")) && !page.contains(&format!("\"{key}\"")))
        .collect();
    assert!(missing.is_empty(), "not in docs/plan-json.md: {missing:?}");
}
