//! Section 3.2: what a migration costs a program that has no use for it, and after how many accesses it
//! would break even.

use super::runs::{NONE, System, TPP_MOD, simulate, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Tolerance};
use pagetide_machine::{Machine, model};

pub(super) const FIGURE: Figure = Figure {
    id: "3.2",
    title: "what promoting a page and demoting another one cost a thread",
    source: "section 3.2",
    slow: false,
    run,
};

/// Two faults, of which the second one migrates, 17 to 33 us: the middle.
const FAULTS_US: f64 = 25.0;
/// A demotion, 9 to 14 us: the middle.
const DEMOTION_US: f64 = 11.5;
/// By how much an access becomes faster where the paper measured it, ns.
const PUBLISHED_GAIN_NS: f64 = 100.0;
const SECONDS: f64 = 100.0;

/// One thread that accesses twice as much memory as DRAM holds, all pages alike. Without spare cores it
/// waits for `kswapd`, too.
fn scenario(scale: u32, spare_cores: u32, system: System) -> String {
    format!(
        "machine = \"adaptive-cxl\"\nscale = {scale}\nseconds = {SECONDS}\nhuge_pages = false\n\
         spare_cores = {spare_cores}\n{}\
         [[tenant]]\nname = \"micro\"\nmemory = \"32G\"\nfast = \"16G\"\n\
         pattern = {{ kind = \"uniform\" }}\n",
        system.lines()
    )
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let texts = [0, 1].map(|cores| [NONE, TPP_MOD].map(|one| scenario(context.scale, cores, one)));
    let found = simulate(context, &texts.concat(), false)?;
    let mut outcome = Outcome::default();
    let machine: Machine = model::load("adaptive-cxl")?;
    let gain_ns = machine.tiers[1].read_latency_ns - machine.tiers[0].read_latency_ns;
    let cases =
        [("on the thread's core", FAULTS_US + DEMOTION_US), ("on a core of its own", FAULTS_US)];
    for ((who, published), pair) in cases.into_iter().zip(found.chunks(2)) {
        let rate = |at: usize| value(&pair[at], "accesses_per_s");
        let pages = value(&pair[1], "promoted")? / 4096.0;
        let lost_us = SECONDS * 1e6 * (1.0 - rate(1)? / rate(0)?) / pages.max(1.0);
        let row = Row::new(format!("a promotion costs, with kswapd {who}"), "us", lost_us);
        outcome.rows.push(row.published(published, Tolerance::Ratio(1.5)));
        let what = format!("accesses until it breaks even, with kswapd {who}");
        let row = Row::new(what, "", lost_us * 1e3 / gain_ns);
        // The same once more, so it is no published figure of its own.
        outcome.rows.push(row);
    }
    outcome.notes.push(format!(
        "published: 17 to 33 us for two faults, 9 to 14 us for a demotion; here is the middle. The paper \
         measured it where the tiers differ by {PUBLISHED_GAIN_NS} ns; here they differ by {gain_ns} ns"
    ));
    outcome.notes.push(
        "a page that goes up is as hot as the one that goes down: nothing is gained (unfriendly 1)"
            .into(),
    );
    Ok(outcome)
}
