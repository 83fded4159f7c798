//! Scenarios as their writers see them.

use super::*;
use crate::systems;
use pagetide_policy::Verdict;

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
        assert!((tenant.ns_per_access.unwrap() / right - 1.0).abs() < 0.02, "{system}: {tenant:?}");
        assert_eq!((tenant.promoted, tenant.ended_s), (0, None));
    }
}

#[test]
fn a_hot_set_comes_into_fast_memory_under_every_system_that_moves_pages() {
    // A hot quarter, scattered; the rest is accessed once in thirty intervals or so.
    let hot = SMALL
        .replace("kind = \"uniform\"", "kind = \"hot-cold\", ratio = 3e5")
        .replace("seconds = 0.02", "seconds = 0.05")
        .replace("warm_up = 0.005", "warm_up = 0.03");
    let still = outcome(&hot, "no-migration").tenants[0].fast_share;
    assert!(still < 0.6, "{still}");
    for system in ["lru", "lfu", "policy", "amp", "nimble-huge", "nimble-exchange-huge"] {
        let found = outcome(&hot, system);
        assert!(found.tenants[0].fast_share > 0.7, "{system}: {:?}", found.tenants[0]);
        assert!(found.tenants[0].promoted > 0 && !found.decisions.is_empty(), "{system}");
    }
}

/// Every eight seconds another quarter of the memory is read, which is all that fast memory holds.
const ROUND: &str = r#"
machine = "nimble-xeon"
scale = 1000
seconds = 200
[system]
name = "lru"
interval = 2
[[tenant]]
memory = "64G"
fast = "16G"
pattern = { kind = "phases", sets = 4, every = 8, access = "sequential" }
"#;

#[test]
fn a_governor_stops_what_goes_up_and_down_for_nothing() {
    let governed = |governor: &str| {
        let named = format!("interval = 2\ngovernor = \"{governor}\"");
        let found = outcome(&ROUND.replace("interval = 2", &named), "lru");
        let turns: Vec<_> = found.decisions.iter().filter_map(|log| log.turn.clone()).collect();
        let told: Vec<_> =
            found.tenants[0].turns.iter().map(|turn| (turn.migrates, turn.at_s)).collect();
        assert_eq!(told.len(), turns.len(), "{governor}");
        for ((migrates, at_s), turn) in told.iter().zip(&turns) {
            assert_eq!(*migrates, turn.verdict == Verdict::Migrate);
            // But for rounding.
            assert!((-1e-9..60.0).contains(&(at_s - turn.at_s)), "{at_s} for {}", turn.at_s);
        }
        (found.tenants[0].promoted, turns)
    };
    let (promoted, turns) = governed("none");
    assert!(promoted > 200 << 30 && turns.is_empty(), "{promoted}");
    // `gain` may take it for a change when for long none of the fast quarter is read.
    for (governor, most) in [("adaptive", 1), ("gain:horizon=30", 3)] {
        let (stopped, turns) = governed(governor);
        assert!(turns.len() <= most, "{governor}: {turns:?}");
        let turn = &turns[0];
        assert!(turn.verdict == Verdict::StandStill && turn.at_s < 70.0, "{turn:?}");
        assert!(stopped < promoted / 2, "{governor}: {stopped} of {promoted}");
    }
    let wrong = ROUND.replace("interval = 2", "governor = \"adaptiv\"");
    let error = run(&parse(&wrong, "x.toml").unwrap(), None, "x.toml").unwrap_err().to_string();
    assert!(error.contains("x.toml: system.governor: unknown governor 'adaptiv'"), "{error}");
}

#[test]
fn a_governor_that_judges_by_accesses_is_refused_where_they_are_not_counted() {
    let governed = |system: &str| {
        let text = ROUND
            .replace("interval = 2", "interval = 2\ngovernor = \"gain\"")
            .replace("\"lru\"", &format!("\"{system}\""));
        parse(&text, "x.toml").unwrap()
    };
    for system in ["tpp", "tpp-mod", "refault-distance", "adaptive", "linux-tiering"] {
        let scenario = governed(system);
        let said = listens(&scenario, "x.toml").unwrap_err().to_string();
        assert!(said.contains(&format!("system '{system}' does not count")), "{said}");
        assert!(said.contains("give one of none, adaptive, or a system"), "{said}");
        let ran = run(&scenario, None, "x.toml").unwrap_err().to_string();
        assert_eq!(ran, said);
    }
    listens(&governed("pagetide"), "x.toml").unwrap();
}

/// A working set that is read once, and then another one, each touched when the program comes to it, on
/// a fast node that holds one of them. It takes 65 us for a page, and demoting one takes 8.
const TWO_SETS: &str = r#"
machine = "nimble-xeon"
seconds = 0.24
warm_up = 0.12
huge_pages = false
[system]
name = "demotion"
[[tenant]]
memory = "16M"
fast = "8M"
populate = false
compute_ns = 1000
pattern = { kind = "phases", sets = 2, every = 0.12, access = "sequential" }
"#;

#[test]
fn demotion_makes_room_for_new_memory_where_no_migration_leaves_it_slow() {
    // 1820 pages in each phase, of which 2001 fit together with what stays free.
    let none = &outcome(TWO_SETS, "no-migration").tenants[0];
    assert!((none.fast_share - 0.1).abs() < 0.01 && none.demoted == 0, "{none:?}");
    let demoted = &outcome(TWO_SETS, "demotion").tenants[0];
    // Between the node's marks are 9 pages. What finds no room wakes the thread; 70 us later there is
    // some, and a page or two has come slow: 9 in 10 to 11, and all of the first 180.
    assert!((0.82..0.92).contains(&demoted.fast_share), "{demoted:?}");
    assert!(demoted.demoted > 5 << 20 && demoted.promoted == 0, "{demoted:?}");
}

#[test]
fn what_was_read_again_and_again_keeps_half_of_the_node_when_it_has_gone_cold() {
    // Read twice and more the first set has become active, and while the inactive list is as long
    // as the active one only that is demoted: of the second set, read twice as well, more than half.
    let again = TWO_SETS.replace("0.12", "0.3").replace("seconds = 0.24", "seconds = 0.6");
    let again = again.replace("warm_up = 0.3", "warm_up = 0.45");
    let demoted = &outcome(&again, "demotion").tenants[0];
    assert!((0.35..0.55).contains(&demoted.fast_share), "{demoted:?}");
}

#[test]
fn of_huge_pages_on_a_small_node_every_second_one_finds_room() {
    // One that finds none makes room for the next one: the marks are closer than its size. Of 34 in the
    // second phase 5 find room without.
    let huge = TWO_SETS
        .replace("huge_pages = false", "")
        .replace("M\"", "0M\"")
        .replace("compute_ns = 1000", "compute_ns = 50")
        .replace("0.12", "0.06")
        .replace("0.24", "0.12");
    let none = &outcome(&huge, "no-migration").tenants[0];
    assert!((none.fast_share - 5.0 / 34.0).abs() < 0.02, "{none:?}");
    let demoted = &outcome(&huge, "demotion").tenants[0];
    assert!((0.5..0.64).contains(&demoted.fast_share), "{demoted:?}");
}

#[test]
fn what_is_not_populated_is_mapped_when_it_is_touched() {
    // 20 us for a page: in 20 ms 1000 of 16384, and what was not touched takes no room.
    let lazy = SMALL
        .replace("\"uniform\"", "\"strided\"")
        .replace("fast = \"16M\"", "fast = \"4M\"\npopulate = false\ncompute_ns = 300");
    let found = &outcome(&lazy, "no-migration").tenants[0];
    assert!(found.fast_share > 0.98, "{found:?}");
    let all = &outcome(&lazy.replace("populate = false", ""), "all-slow").tenants[0];
    assert!(all.accesses > found.accesses, "first touch takes its time: {all:?}");
}

#[test]
fn tenants_that_do_not_fit_into_the_tiers_are_refused_at_every_scale() {
    let on_pcm = |memory: &str, fast: &str, scale: u32| {
        let text = SMALL
            .replace("\"nimble-xeon\"", &format!("\"disaggregated-pcm\"\nscale = {scale}"))
            .replace("64M", memory)
            .replace("fast = \"16M\"", &format!("fast = \"{fast}\""));
        super::check(&parse(&text, "x").unwrap(), "x").map_err(|error| error.to_string())
    };
    for scale in [64, 1024] {
        on_pcm("16G", "256M", scale).unwrap();
        let error = on_pcm("16G", "8G", scale).unwrap_err();
        assert!(error.contains("8.00 GiB of fast memory"), "{error}");
        assert!(error.contains("holds 256 MiB") && error.contains("tier.0.capacity"), "{error}");
        let error = on_pcm("64G", "256M", scale).unwrap_err();
        assert!(error.contains("of slow memory") && error.contains("tier.1.capacity"), "{error}");
    }
    // More than a tenant has memory is of no use to it alone, but to others on a node that they share.
    on_pcm("128M", "1G", 1).unwrap();
    let other = "[[tenant]]\nmemory = \"1G\"\nfast = \"64M\"\npattern = { kind = \"uniform\" }\n";
    let two = |fast: &str| {
        let text = SMALL.replace("\"nimble-xeon\"", "\"disaggregated-pcm\"").replace("64M", "128M");
        let text = text.replace("\"16M\"", &format!("\"{fast}\"")) + other;
        super::check(&parse(&text, "x").unwrap(), "x").map_err(|error| error.to_string())
    };
    two("192M").unwrap();
    let error = two("1G").unwrap_err();
    assert!(error.contains("1.06 GiB of fast memory"), "{error}");
}

#[test]
fn two_tenants_of_one_name_are_refused() {
    let tenant = &SMALL[SMALL.find("[[tenant]]").unwrap()..];
    let error = parse(&format!("{SMALL}{tenant}"), "x").unwrap_err().to_string();
    assert!(error.contains("two tenants are called 'table'"), "{error}");
}

#[test]
fn a_scenario_that_ends_before_the_first_decision_is_refused() {
    let of = |seconds: &str, system: &str| {
        let text = SMALL
            .replace("seconds = 0.02", &format!("seconds = {seconds}"))
            .replace("interval = 0.002", "interval = 0.01")
            .replace("all-fast", system);
        let scenario = parse(&text, "x.toml").unwrap();
        let checked = super::check(&scenario, "x.toml").map_err(|error| error.to_string());
        let ran = run(&scenario, None, "x.toml").map_err(|error| error.to_string());
        assert_eq!(checked, ran.map(drop), "{system}");
        checked
    };
    for system in ["lru", "amp", "nimble-base", "pagetide"] {
        let error = of("0.009", system).unwrap_err();
        assert!(error.contains("seconds = 0.009: system") && error.contains(system), "{error}");
        assert!(error.contains("after 0.01 s") && error.contains("system.interval"), "{error}");
        of("0.011", system).unwrap();
    }
    for system in ["no-migration", "all-slow", "memtis", "linux-tiering", "nomad"] {
        of("0.009", system).unwrap();
    }
    // It opens with shorter intervals.
    assert_eq!(systems::find("pagetide").unwrap().decides_after_s(5.0), Some(1.0));
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
        (
            "\"uniform\"",
            "\"hot-cold\", hot = \"6M\"",
            "hot must be a share of the memory, from 0 to 1",
        ),
        ("\"uniform\"", "\"hot-cold\", hot = 60000000", "from 0 to 1, not 60000000"),
        ("\"uniform\"", "\"hot-cold\", hot = 0.3", "19.2 MiB of 64.0 MiB, no whole number"),
        ("\"nimble-xeon\"", "\"nimble-xenon\"", "did you mean 'nimble-xeon'?"),
        ("\"nimble-xeon\"", "7", "must be a name, a path or a table, not 7"),
        ("memory = \"64M\"", "memory = \"64\"", "has no unit"),
        ("memory = \"64M\"", "memory = \"1T\"\nscale = 1", "unknown field `scale`"),
        ("seconds = 0.02", "seconds = 1\nplacement = 1", "scenarios of a pool (docs/pool.md)"),
        ("seconds = 0.02", "seconds = nan", "seconds must be a number"),
        ("seconds = 0.02", "seconds = \"1\"", "give a number, without quotes"),
        ("memory = \"64M\"", "memory = 64", "give a text in quotes"),
        ("interval = 0.002", "promote_rate_limit = -5", "promote_rate_limit must be"),
        ("interval = 0.002", "promote_rate_limit = nan", "promote_rate_limit must be"),
        ("interval = 0.002", "sample_ns = -1", "sample_ns must be"),
        ("interval = 0.002", "threads = 0", "nobody copies"),
        ("name = \"all-fast\"", "name = \"bind\"", "bind = [[0.0, 0.25]]"),
        ("memory = \"64M\"", "memory = \"64M\"\nbarrier = 0", "nobody would get past it"),
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
fn a_scale_that_leaves_no_whole_units_is_blamed_itself() {
    let hot = SMALL.replace("\"uniform\"", "\"hot-cold\"");
    for (scale, part) in
        [("7", "memory 9.14 MiB: no whole number"), ("16", "hot 0.25: 1.00 MiB of 4.00 MiB")]
    {
        let text = hot.replace("[system]", &format!("scale = {scale}\n[system]"));
        let error = run(&parse(&text, "x").unwrap(), None, "x").unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("another `scale`"), "{error}");
        assert!(!error.contains("granule"), "{error}");
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_another_one_another() {
    let text = SMALL.replace("\"uniform\"", "\"zipf\"");
    assert_eq!(outcome(&text, "lru"), outcome(&text, "lru"));
    let other = text.replace("seconds = 0.02", "seconds = 0.02\nseed = 7");
    assert_ne!(outcome(&text, "lru").tenants, outcome(&other, "lru").tenants);
}

#[test]
fn a_machine_may_stand_in_the_scenario() {
    let machine = include_str!("../../../../machines/nimble-xeon.toml");
    let table: toml::Table = machine.parse().unwrap();
    let mut scenario: toml::Table = SMALL.parse().unwrap();
    scenario.insert("machine".to_owned(), table.into());
    let inside = toml::to_string(&scenario).unwrap();
    assert_eq!(outcome(&inside, "lru"), outcome(SMALL, "lru"));
}

/// Uniform accesses under a TLB and caches, at a scale.
fn filtered(keys: &str) -> f64 {
    let text = SMALL.replace("seconds = 0.02", &format!("seconds = 0.02\n{keys}"));
    outcome(&text, "no-migration").tenants[0].ns_per_access.unwrap()
}

#[test]
fn tlb_and_caches_are_off_unless_asked_for_and_reach_as_far_at_every_scale() {
    let (without, with) = (filtered(""), filtered("tlb = true\ncaches = true"));
    assert_eq!(without, filtered("tlb = false\ncaches = false"));
    assert_ne!(with, without);
    let found = filtered("tlb = true\ncaches = true\nscale = 4");
    assert!((found / with - 1.0).abs() < 0.03, "{found} for {with}");
}

#[test]
fn who_waits_for_a_chase_waits_for_walks_and_not_for_memory_where_it_hits() {
    let chase = |keys: &str| {
        let text = SMALL
            .replace("\"uniform\"", "\"pointer-chase\"")
            .replace("memory = \"64M\"\nfast = \"16M\"", "memory = \"16M\"")
            .replace("seconds = 0.02", &format!("seconds = 0.06\n{keys}"))
            .replace("warm_up = 0.005", "warm_up = 0.04");
        outcome(&text, "all-fast").tenants[0].clone()
    };
    let near =
        |found: f64, right: f64| assert!((found / right - 1.0).abs() < 0.01, "{found} {right}");
    near(chase("").ns_per_access.unwrap(), 84.9);
    // 8 pages of 2 MiB are all translated, and 16 of 25 MiB cached.
    near(chase("caches = true\ntlb = true").ns_per_access.unwrap(), 21.7);
    // Of 4,096 pages of 4 KiB 64 are translated by the first level, 1,024 by the second.
    let base = chase("huge_pages = false\ntlb = true").ns_per_access.unwrap();
    near(base, 84.9 + (3072.0 * 30.0 + 960.0 * 3.0) / 4096.0);
    assert_eq!(chase("caches = true").fast_share, 0.0, "nothing goes to memory");
}

#[test]
fn accessed_bits_behind_a_tlb_find_the_hot_set_and_so_do_sampled_events() {
    for tracker in ["accessed-bits", "event-sampling"] {
        let hot = SMALL
            .replace("kind = \"uniform\"", "kind = \"hot-cold\", ratio = 1e5")
            .replace("interval = 0.002", &format!("interval = 0.002\ntracker = \"{tracker}\""))
            .replace("seconds = 0.02", "seconds = 0.05\ntlb = true")
            .replace("warm_up = 0.005", "warm_up = 0.03");
        let found = outcome(&hot, "lru");
        assert!(found.tenants[0].fast_share > 0.8, "{tracker}: {:?}", found.tenants[0]);
    }
}

#[test]
fn more_memory_than_the_caches_tell_apart_is_refused() {
    let text = SMALL
        .replace("memory = \"64M\"", "memory = \"32T\"")
        .replace("seconds = 0.02", "seconds = 0.02\nscale = 8\ncaches = true");
    let error = run(&parse(&text, "x.toml").unwrap(), None, "x.toml").unwrap_err().to_string();
    assert!(error.contains("give less memory") && error.contains("x.toml"), "{error}");
}
