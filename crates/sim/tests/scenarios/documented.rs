//! `docs/sim.md` names every key, and no other.

use pagetide_access::patterns::{Part, Phase};
use pagetide_sim::scenario::parse;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/sim.md");

/// The parts of an error's text in backticks, but for the first, which is what is wrong.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn listed(text: &str) -> BTreeSet<String> {
    let error = parse(text, "x").unwrap_err().to_string();
    assert!(error.contains("unknown"), "{error}");
    let (_, quoted) = error.split_once("unknown").unwrap();
    quoted.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

/// The keys in the first column of the table under a heading.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn first_column(heading: &str) -> BTreeSet<String> {
    let (_, under) = PAGE.split_once(&format!("\n### {heading}\n")).unwrap();
    let under = under.split("\n#").next().unwrap();
    let cells = under.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    cells.flat_map(|cell| quoted(&format!("`{cell}"))).collect()
}

fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_of_a_scenario_is_documented() {
    assert_eq!(first_column("Its keys"), listed("wrong = 1"));
    assert_eq!(first_column("`[system]`"), listed("[system]\nwrong = 1"));
    let tenant = "seconds = 1\n[system]\nname = \"amp\"\n[[tenant]]\nmemory = \"1G\"\n";
    assert_eq!(first_column("`[[tenant]]`"), listed(&format!("{tenant}wrong = 1")));
    let kinds = listed(&format!("{tenant}pattern = {{ kind = \"wrong\" }}"));
    assert_eq!(first_column("Patterns"), kinds);
    for kind in kinds {
        let (_, row) = PAGE.split_once(&format!("`{kind}`")).unwrap();
        let row = row.lines().next().unwrap();
        let keys: BTreeSet<_> = quoted(row.split('|').nth(1).unwrap()).into_iter().collect();
        let known = match kind.as_str() {
            // It says that there are none, and which part is missing.
            "uniform" | "gups" => BTreeSet::new(),
            "amp" => {
                listed(&format!("{tenant}pattern = {{ kind = \"amp\", favour = [], wrong = 1 }}"))
            }
            "regions" => {
                listed(&format!("{tenant}pattern = {{ kind = \"regions\", part = [], wrong = 1 }}"))
            }
            kind => listed(&format!("{tenant}pattern = {{ kind = \"{kind}\", wrong = 1 }}")),
        };
        assert_eq!(keys, known, "{kind}");
    }
    let parts = first_column("Parts and phases");
    let known = Part::KEYS.iter().chain(Phase::KEYS);
    assert_eq!(parts, known.map(|key| (*key).to_owned()).collect());
}
