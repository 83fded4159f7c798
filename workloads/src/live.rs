//! Patterns over real memory: a workload touches what a pattern yields, so that a simulator that
//! takes what the same pattern yields runs the same program.

use crate::{
    args::Common,
    drive::{Summary, drive},
    error::Result,
    memory::Region,
    session::Session,
};
use pagetide_access::patterns::{Pattern, Setup, Walk};
use pagetide_types::Bytes;

/// Maps `size` bytes, lets the pattern fill them, says `ready`, and lets its threads run. `more`
/// makes further `key=value`s of the memory as it was mapped; they come back with what was done.
pub(crate) fn play<P: Pattern>(
    session: &mut Session<'_>,
    name: &str,
    pattern: &P,
    size: Bytes,
    common: &Common,
    more: impl FnOnce(&Setup) -> String,
) -> Result<(Summary, String)> {
    common.check()?;
    pattern.check(&common.setup(size)?)?;
    let mut region = Region::map(size, common.page_size)?;
    // Whole pages: there may be more than was asked for.
    let setup = common.setup(Bytes(region.len()))?;
    region.populate(common.node, pattern.first_touch(&setup), &session.stop)?;
    region.fill(pattern.fill(&setup), &session.stop);
    let more = more(&setup);
    let walks = pattern.walks(&setup)?;
    session.ready(name, &region, &more)?;
    let did = drive(session, name, common, &region, |worker| {
        let mut walk = walks[worker.number as usize].clone();
        while let Some(n) = worker.batch() {
            let now = worker.now;
            walk.batch(n, now, worker);
        }
    })?;
    Ok((did, more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{args::tests::short, stop::Stop};
    use pagetide_access::patterns::{
        Amp, Favour, Gups, HotCold, Keys, Order, Origin, Phases, Pick, Place, PointerChase, Spin,
        Step, Strided, Uniform, Within, Zipf,
    };
    use pagetide_types::UnitSize;
    use std::time::Duration;

    const SIZE: Bytes = Bytes::mib(64);
    const THREADS: u32 = 2;
    const EACH: u32 = 50_000;

    /// Accesses to each page as a program made them, and as a simulator is told them.
    fn live_and_told(pattern: &impl Pattern) -> [Vec<u64>; 2] {
        let common = Common {
            threads: THREADS,
            accesses: Some((EACH * THREADS).into()),
            truth_unit: UnitSize::Base,
            ..short(600.0)
        };
        let mut out = vec![];
        let mut session = Session { out: &mut out, stop: Stop::default() };
        let (did, _) =
            play(&mut session, "test", pattern, SIZE, &common, |_| String::new()).unwrap();
        let mut told = vec![0; did.per_unit.len()];
        for mut walk in pattern.walks(&common.setup(SIZE).unwrap()).unwrap() {
            let mut steps: Vec<Step> = vec![];
            walk.batch(EACH, Duration::ZERO, &mut steps);
            for step in steps {
                told[usize::try_from(step.offset >> 12).unwrap()] += 1;
            }
        }
        [did.per_unit, told]
    }

    #[test]
    fn a_program_touches_what_a_simulator_is_told() {
        fn same(pattern: &impl Pattern, name: &str) {
            let [live, told] = live_and_told(pattern);
            assert!(live == told, "{name}");
            assert_eq!(live.iter().sum::<u64>(), u64::from(EACH * THREADS), "{name}");
        }
        let (hot, granule, object) = (Bytes::mib(4), UnitSize::Base, Bytes(1000));
        same(&Uniform, "uniform");
        same(&Gups, "gups");
        same(&Strided { stride: Bytes(4096 * 3) }, "strided");
        // The program follows what lies in its memory, the simulator a formula.
        same(&PointerChase { slot: Bytes(64) }, "pointer-chase");
        same(&Zipf { exponent: 0.99, object, keys: Keys::Scattered }, "zipf");
        same(&HotCold { hot, ratio: 50.0, place: Place::Random, granule }, "hot-cold");
        // What changes with time does not, in these.
        let (every, access, elsewhere) = (1e6, Within::Random, 0.2);
        for scattered in [false, true] {
            let (set_size, sizes) = (None, vec![]);
            let phases = Phases { sets: 4, set_size, sizes, every, access, elsewhere, scattered };
            same(&phases, "phases");
        }
        let (favour, source) = (vec![Favour::Lfu], Origin::Text);
        same(&Amp { favour, each: 1e6, source, scale: 1e6, cold: 0.1 }, "amp");
        let (pick, order, page) = (Pick::Random, Order::Random, UnitSize::Base);
        same(&Spin { pages: 50, pick, list: vec![], order, page }, "spin");
    }
}
