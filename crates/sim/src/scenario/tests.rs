//! Scenarios as their writers see them.

use super::*;

const SMALL: &str = r#"
machine = "nimble-xeon"
seconds = 0.02
warm_up = 0.005
[system]
name = "all-fast"
interval = 0.002
[[tenant]]
name = "table"
memory = "64M"
fast = "16M"
pattern = { kind = "uniform" }
"#;

fn outcome(text: &str, system: &str) -> Outcome {
    run(&parse(text, "x.toml").unwrap(), Some(system), "x.toml").unwrap()
}

#[test]
fn uniform_accesses_are_as_fast_as_the_share_of_memory_that_is() {
    let chase = SMALL.replace("\"uniform\"", "\"pointer-chase\"");
    for (system, share) in [("all-fast", 1.0), ("no-migration", 0.25), ("all-slow", 0.0)] {
        let found = outcome(&chase, system);
        let tenant = &found.tenants[0];
        assert!((tenant.fast_share - share).abs() < 0.01, "{system}: {}", tenant.fast_share);
        let right = share * 84.9 + (1.0 - share) * 199.2;
        assert!((tenant.ns_per_access / right - 1.0).abs() < 0.02, "{system}: {tenant:?}");
        assert_eq!((tenant.promoted, tenant.ended_s), (0, None));
    }
}

#[test]
fn a_hot_set_comes_into_fast_memory_under_every_system_that_moves_pages() {
    // A hot quarter, scattered; the rest is accessed once in ten intervals or so.
    let hot = SMALL
        .replace("kind = \"uniform\"", "kind = \"hot-cold\", ratio = 1e5")
        .replace("seconds = 0.02", "seconds = 0.05")
        .replace("warm_up = 0.005", "warm_up = 0.03");
    let still = outcome(&hot, "no-migration").tenants[0].fast_share;
    assert!(still < 0.6, "{still}");
    for system in ["lru", "lfu", "policy", "amp", "nimble-huge", "nimble-exchange-huge"] {
        let found = outcome(&hot, system);
        assert!(found.tenants[0].fast_share > 0.8, "{system}: {:?}", found.tenants[0]);
        assert!(found.tenants[0].promoted > 0 && !found.decisions.is_empty(), "{system}");
    }
}

#[test]
fn what_is_wrong_is_named_with_a_remedy() {
    for (from, to, part) in [
        ("seconds = 0.02", "secnds = 0.02", "did you mean 'seconds'?"),
        ("interval = 0.002", "intervall = 1", "did you mean 'interval'?"),
        ("kind = \"uniform\"", "kind = \"unifrom\"", "did you mean 'uniform'?"),
        ("kind = \"uniform\"", "kind = \"zipf\", exponnt = 1", "did you mean 'exponent'?"),
        ("kind = \"uniform\"", "kind = \"zipf\", keys = \"scatered\"", "did you mean 'scattered'?"),
        ("kind = \"uniform\"", "kind = \"zipf\", exponent = -1.0", "tenant 'table': exponent -1"),
        ("name = \"all-fast\"", "name = \"nimble-bse\"", "did you mean 'nimble-base'?"),
        ("\"nimble-xeon\"", "\"nimble-xenon\"", "did you mean 'nimble-xeon'?"),
        ("memory = \"64M\"", "memory = \"64\"", "has no unit"),
        ("memory = \"64M\"", "memory = \"1T\"\nscale = 1", "unknown field `scale`"),
        ("seconds = 0.02", "seconds = nan", "seconds must be a number"),
        ("seconds = 0.02", "seconds = 0.001", "leaves nothing"),
        ("seconds = 0.02", "seconds = 1\nscale = 0", "scale must be"),
        ("seconds = 0.02", "seconds = 1\nscale = 1e6", "less than a page"),
        ("memory = \"64M\"", "memory = \"64M\"\nthreads = 0", "threads = 0"),
        ("memory = \"64M\"", "memory = \"64M\"\nfast_share = 0.5", "give one of them"),
        ("memory = \"64M\"", "memory = \"99T\"", "give a larger scale"),
        ("memory = \"64M\"", "memory = \"64M\"\nstart = 7.0", "before the end"),
        ("[system]", "[system]\npolicy = \"lfu:windw=8\"", "did you mean 'window'?"),
        ("[system]", "[system]\nbind = [[0.5, 0.1]]", "is no part of a memory"),
        ("[[tenant]]", "[tenant]", "expected a sequence"),
    ] {
        assert!(SMALL.contains(from), "{from}");
        let text = SMALL.replace(from, to);
        let error = parse(&text, "x.toml")
            .and_then(|scenario| run(&scenario, None, "x.toml"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(part) && error.contains("x.toml"), "{to}: {error}");
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_another_one_another() {
    let text = SMALL.replace("\"uniform\"", "\"zipf\"");
    assert_eq!(outcome(&text, "lru"), outcome(&text, "lru"));
    let other = text.replace("seconds = 0.02", "seconds = 0.02\nseed = 7");
    assert_ne!(outcome(&text, "lru").tenants, outcome(&other, "lru").tenants);
}
