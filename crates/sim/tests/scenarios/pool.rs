//! `docs/pool.md` names every key of a pool's scenario, and no other.

use pagetide_sim::pool::scenario::parse;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/pool.md");
const RUNS: &str = "instructions = 1\n[[program]]\nkind = \"is\"\n";

/// The names in backticks of an error's text, but for the first, which is what is wrong.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn listed(text: &str) -> BTreeSet<String> {
    let error = parse(text, "x").unwrap_err().to_string();
    let (_, quoted) = error.split_once("unknown").unwrap();
    quoted.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

/// The keys in the first column of the table under a heading.
#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn first_column(heading: &str) -> BTreeSet<String> {
    let (_, under) = PAGE.split_once(&format!("{heading}\n")).unwrap();
    let under = under.split("\n#").next().unwrap();
    let cells = under.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.map(str::to_owned).collect()
}

#[test]
fn every_key_of_a_pool_is_documented() {
    assert_eq!(first_column("\n## The scenario"), listed("wrong = 1"));
    let migration = format!("{RUNS}[migration]\nwrong = 1\n");
    assert_eq!(first_column("\n### `[migration]`"), listed(&migration));
    let kinds = listed("instructions = 1\n[[program]]\nkind = \"wrong\"\n");
    assert_eq!(first_column("\n### `[[program]]`"), kinds);
    for kind in kinds {
        let text = format!("instructions = 1\n[[program]]\nkind = \"{kind}\"\nwrong = 1\n");
        let (_, row) = PAGE.split_once(&format!("| `{kind}` |")).unwrap();
        let row = row.lines().next().unwrap();
        let keys: BTreeSet<String> = row.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let error = parse(&text, "x").unwrap_err().to_string();
        let (_, known) = error.split_once("unknown").unwrap();
        let known: BTreeSet<String> =
            known.split('`').skip(3).step_by(2).map(str::to_owned).collect();
        assert_eq!(keys, known, "{kind}: {error}");
    }
}

#[test]
fn a_key_that_is_none_is_told_with_the_nearest() {
    let error = parse(&format!("{RUNS}[migration]\nepoch_cicles = 1\n"), "x.toml").unwrap_err();
    assert!(error.to_string().contains("did you mean 'epoch_cycles'?"), "{error}");
}
