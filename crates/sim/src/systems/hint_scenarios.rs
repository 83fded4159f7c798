//! Programs on which systems that promote by hint faults are tried: 16 GiB of base pages, 256 times
//! smaller. A walk of the scanner takes 6.4 s at the shortest.

use crate::scenario::{Outcome, TenantOutcome, parse, run};

/// A scattered hot set of 3 GiB; the rest is as good as never accessed.
pub(super) const HOT_COLD: &str = "kind = \"hot-cold\", hot = 0.1875, ratio = 1e4";
/// Every line once, in 24 s where all is fast.
pub(super) const STREAM: &str = "kind = \"strided\"";

/// A program, and what it runs on.
pub(super) struct Trial<'a> {
    pub(super) pattern: &'a str,
    /// Fast memory; of 16 GiB.
    pub(super) fast: &'a str,
    pub(super) threads: u32,
    /// Of that, the first half is not counted.
    pub(super) seconds: f64,
    /// Further keys of `[system]`.
    pub(super) keys: &'a str,
    /// In huge pages, 32 times smaller, with a hundredth of the accesses.
    pub(super) huge: bool,
    /// Cores that the kernel has for itself.
    pub(super) spare_cores: u32,
}

pub(super) const TRIAL: Trial<'static> = Trial {
    pattern: HOT_COLD,
    fast: "4G",
    threads: 1,
    seconds: 80.0,
    keys: "",
    huge: false,
    spare_cores: 23,
};

impl Trial<'_> {
    /// What comes of its program under a system.
    #[track_caller]
    pub(super) fn under(&self, system: &str) -> TenantOutcome {
        self.outcome(system).tenants.remove(0)
    }

    /// What comes of it under a system.
    #[track_caller]
    pub(super) fn outcome(&self, system: &str) -> Outcome {
        let Self { pattern, fast, threads, seconds, keys, huge, spare_cores } = self;
        let (scale, compute_ns) = if *huge { (32, 4000) } else { (256, 40) };
        let text = format!(
            "machine = \"adaptive-cxl\"\nscale = {scale}\nhuge_pages = {huge}\n\
             seconds = {seconds}\nwarm_up = {}\nspare_cores = {spare_cores}\n\
             [system]\nname = \"{system}\"\n{keys}\n\
             [[tenant]]\nmemory = \"16G\"\nfast = \"{fast}\"\nthreads = {threads}\n\
             compute_ns = {compute_ns}\npattern = {{ {pattern} }}",
            seconds / 2.0
        );
        run(&parse(&text, "x.toml").unwrap(), None, "x.toml").unwrap()
    }
}

/// All systems that promote by hint faults, and how long each has until it has all of the hot set of
/// [`HOT_COLD`], of which 2 GiB were slow, s; how much it promotes until then at most, GiB. Linux scans
/// half as often after each walk that promoted. NOMAD takes what was accessed twice in short for hot.
const SYSTEMS: &[(&str, f64, f64)] = &[
    ("linux-tiering", 480.0, 2.3),
    ("tpp", 240.0, 2.6),
    ("tpp-mod", 240.0, 4.0),
    ("refault-distance", 240.0, 4.0),
    ("adaptive", 240.0, 2.6),
    ("nomad", 240.0, 12.0),
];

#[test]
fn a_hot_set_that_was_mostly_slow_becomes_fast() {
    let still = TRIAL.under("no-migration").fast_share;
    assert!(still < 0.35, "{still}");
    for (system, seconds, most) in SYSTEMS {
        let found = Trial { seconds: *seconds, ..TRIAL }.under(system);
        assert!(found.fast_share > 0.95, "{system}: {found:?}");
        let up = found.promoted as f64 / 1_073_741_824.0;
        assert!((1.9..*most).contains(&up), "{system}: {up} GiB");
        assert!(found.demoted >= found.promoted, "{system}: {found:?}");
    }
}

#[test]
fn huge_pages_go_up_whole() {
    for (system, ..) in SYSTEMS {
        let found = Trial { seconds: 240.0, huge: true, ..TRIAL }.under(system);
        assert!(found.fast_share > 0.85 && found.promoted > 2 << 30, "{system}: {found:?}");
        assert_eq!(found.promoted % (32 << 21), 0, "{system}");
    }
}

#[test]
fn a_tenant_that_may_have_no_fast_memory_stays_on_the_slow_node() {
    let tenant = |name: &str, fast: &str| {
        format!(
            "[[tenant]]\nname = \"{name}\"\nmemory = \"16G\"\nfast = \"{fast}\"\n\
             compute_ns = 40\npattern = {{ {HOT_COLD} }}\n"
        )
    };
    for (system, ..) in SYSTEMS {
        let text = format!(
            "machine = \"adaptive-cxl\"\nscale = 256\nhuge_pages = false\nseconds = 40\n\
             [system]\nname = \"{system}\"\n{}{}",
            tenant("bound", "0G"),
            tenant("free", "4G")
        );
        let mut found = run(&parse(&text, "x.toml").unwrap(), None, "x.toml").unwrap().tenants;
        let (free, bound) = (found.remove(1), found.remove(0));
        assert_eq!((bound.promoted, bound.demoted, bound.fast_share), (0, 0, 0.0), "{system}");
        assert!(free.promoted > 0 && free.fast_share > 0.3, "{system}: {free:?}");
        // It does not fault for nothing: an access waits for another one, or for what is computed.
        assert!(bound.ns_per_access.unwrap() < 125.0, "{system}: {bound:?}");
    }
}

#[test]
fn where_all_memory_is_fast_nothing_moves_and_little_is_lost() {
    let all = Trial { fast: "20G", ..TRIAL };
    let right = all.under("all-fast");
    for (system, ..) in SYSTEMS {
        let found = all.under(system);
        assert_eq!((found.promoted, found.demoted, found.fast_share), (0, 0, 1.0), "{system}");
        let lost = 1.0 - found.accesses_per_s / right.accesses_per_s;
        // Page tables are walked all the same.
        assert!((0.0..0.05).contains(&lost), "{system}: {lost}");
    }
}
