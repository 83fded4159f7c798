//! Keys of `[migration]` that have other values under `policy = "payback"`, if they are not given: it looks often, at
//! all that may pay. What is given is taken, and what that may cost is told.

use super::super::settings::{Chooser, Migration};
use toml::{Table, Value};

const THRESHOLD: u32 = 3;
const MOST: u32 = 500;
const EPOCH_CYCLES: u64 = 10_000;

/// Puts the values of keys that a scenario under `payback` does not give into its table.
pub(super) fn fill(scenario: &mut Table) {
    let Some(Value::Table(migration)) = scenario.get_mut("migration") else { return };
    if migration.get("policy").and_then(Value::as_str) != Some("payback") {
        return;
    }
    let own: [(&str, Value); 4] = [
        ("threshold", i64::from(THRESHOLD).into()),
        ("most", i64::from(MOST).into()),
        ("epoch_cycles", EPOCH_CYCLES.cast_signed().into()),
        ("keep_counts", true.into()),
    ];
    for (key, value) in own {
        migration.entry(key).or_insert(value);
    }
}

/// Whether a text gives a key of `[migration]`.
pub(super) fn gives(text: &str, key: &str) -> bool {
    let table: Option<Table> = text.parse().ok();
    table.is_some_and(|table| table.get("migration").and_then(|of| of.get(key)).is_some())
}

/// Keys under `payback` with which it may bring less than with its own, and their values.
pub(super) fn dear(migration: &Migration) -> Vec<(&'static str, String)> {
    let Migration { policy, threshold, most, epoch_cycles, keep_counts, .. } = migration;
    // With 0 nothing is to move.
    if *policy != Chooser::Payback || *most == 0 {
        return Vec::new();
    }
    [
        ("threshold", threshold.to_string(), *threshold > THRESHOLD),
        ("most", most.to_string(), *most < MOST),
        ("epoch_cycles", epoch_cycles.to_string(), *epoch_cycles > EPOCH_CYCLES),
        ("keep_counts", keep_counts.to_string(), !keep_counts),
    ]
    .into_iter()
    .filter_map(|(key, value, dear)| dear.then_some((key, value)))
    .collect()
}

/// What is said of such keys.
pub(super) fn told(dear: &[(&str, String)]) -> Option<String> {
    let given: Vec<String> = dear.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    (!given.is_empty()).then(|| {
        format!(
            "migration.policy = \"payback\" may gain much less with {}; of its own it has threshold = {THRESHOLD}, \
             most = {MOST}, epoch_cycles = {EPOCH_CYCLES} and keep_counts = true, where these keys are not given",
            given.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn migration(keys: &str) -> Migration {
        let text = format!(
            "instructions = 1\n[[program]]\nkind = \"minife\"\nedge = 20\n[migration]\n{keys}"
        );
        parse(&text, "x.toml").unwrap().migration.unwrap()
    }

    #[test]
    fn payback_has_values_of_its_own_where_none_are_given() {
        let of = migration("policy = \"payback\"\nmost = 7\n");
        let expected = Migration {
            policy: Chooser::Payback,
            threshold: 3,
            most: 7,
            epoch_cycles: 10_000,
            keep_counts: true,
            ..Migration::default()
        };
        assert_eq!(of, expected);
        assert_eq!(migration("policy = \"hottest\""), Migration::default());
        // They are those of the example.
        let text = include_str!("../../../../../scenarios/pool-payback.toml");
        let example: Table = text.parse().unwrap();
        let mut scenario: Table = "[migration]\npolicy = \"payback\"".parse().unwrap();
        fill(&mut scenario);
        assert_eq!(scenario["migration"], example["migration"]);
    }

    #[test]
    fn what_costs_payback_its_gain_is_told() {
        let said = |keys: &str| told(&dear(&migration(keys)));
        let found =
            said("policy = \"payback\"\nepoch_cycles = 1_000_000\nkeep_counts = false\n").unwrap();
        assert!(found.contains("with epoch_cycles = 1000000, keep_counts = false; of"), "{found}");
        assert_eq!(said("policy = \"payback\""), None);
        assert_eq!(said("policy = \"payback\"\nmost = 0"), None);
        assert_eq!(said("epoch_cycles = 1_000_000"), None);
    }
}
