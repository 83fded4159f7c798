//! Whether the constants matter that the texts do not give: each parameter of Algorithms 1 and 2 halved and doubled, the
//! others as they ship.

use super::figure_7;
use super::programs::Program;
use super::runs::{NONE, System, simulate, threads, value};
use crate::{Context, Figure, Outcome, ReproduceError, Row};
use pagetide_policy::{GOVERNORS, OptionInfo};

pub(super) const FIGURE: Figure = Figure {
    id: "constants",
    title: "each constant of algorithms 1 and 2 halved and doubled",
    source: "ours",
    slow: true,
    run,
};

const GOVERNOR: &str = "adaptive";
/// Seeds of the three phases.
const SEEDS: u32 = 3;
/// Programs of figure 10, and their DRAM, GB: migration costs the first one, and is worth it for the second one.
const PROGRAMS: [(&str, u32); 2] = [("PageRank", 16), ("Liblinear", 48)];

/// The governor with one parameter changed, or none.
struct Variant {
    name: String,
    system: String,
}

impl Variant {
    fn new(name: String, options: &str) -> Self {
        let system = format!("name = \"adaptive\"\ngovernor = \"{GOVERNOR}{options}\"");
        Self { name, system }
    }

    fn of(option: &OptionInfo, value: f64) -> Self {
        let name = format!("{} {value} (default {})", option.name, option.default);
        Self::new(name, &format!(":{}={value}", option.name))
    }
}

/// Half and twice the default, as far as that is another value that the parameter may have.
fn half_and_twice(option: &OptionInfo) -> impl Iterator<Item = f64> {
    let (least, most) = option.range;
    let (whole, default) = (option.whole, option.default);
    [default / 2.0, default * 2.0]
        .map(|value| if whole { value.round() } else { value }.clamp(least, most))
        .into_iter()
        .filter(move |value| *value != default)
}

fn variants(context: &Context) -> Vec<Variant> {
    let known = GOVERNORS.iter().find(|info| info.name == GOVERNOR);
    let options = known.map(|info| info.options).unwrap_or_default();
    let changed =
        options.iter().flat_map(|option| half_and_twice(option).map(|v| Variant::of(option, v)));
    let all = std::iter::once(Variant::new("as it ships".into(), "")).chain(changed);
    all.take(if context.small { 3 } else { usize::MAX }).collect()
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for Variant { name, system } in variants(context) {
        let system = System::of("", &system);
        let [right, moving, seeds] = figure_7::right(context, context.scale, system, SEEDS)?;
        let what = format!("{name}: seeds with three stops and two restarts, of {seeds}");
        outcome.rows.push(Row::new(what, "", right));
        let what = format!("{name}: of these, with pages that go up in each phase");
        outcome.rows.push(Row::new(what, "", moving));
        for (program, dram_gb) in PROGRAMS {
            let Some(program) = Program::named(program) else { continue };
            let what = (context.scale, threads(context), dram_gb);
            let texts = [NONE, system].map(|system| program.scenario(what, system));
            let found = simulate(context, &texts, false)?;
            let rate = |at: usize| value(&found[at], "accesses_per_s");
            let what = format!("{name}: {} at {dram_gb} GB, over no migration", program.name);
            outcome.rows.push(Row::new(what, "%", 100.0 * (rate(1)? / rate(0)? - 1.0)));
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_halved_and_doubled_within_what_it_may_be() {
        let option =
            OptionInfo { name: "of", summary: "", default: 1.0, range: (0.0, 1.5), whole: false };
        assert_eq!(half_and_twice(&option).collect::<Vec<_>>(), [0.5, 1.5]);
        let whole = OptionInfo { default: 3.0, range: (0.0, 9.0), whole: true, ..option };
        assert_eq!(half_and_twice(&whole).collect::<Vec<_>>(), [2.0, 6.0]);
        let least = OptionInfo { default: 1.0, range: (1.0, 9.0), ..whole };
        assert_eq!(half_and_twice(&least).collect::<Vec<_>>(), [2.0], "no less than the least");
    }
}
