//! Figure 17 with tables 5 and 6 on the simulator: the synthetic programs of section 6.6, one after
//! the other, and the intervals until the choice follows. From recordings: table 6.

use super::runs::{MEANS, timeline};
use crate::simulated::{Named, simulate_named};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(in crate::amp) const FIGURE: Figure = Figure {
    id: "17",
    title: "choices after a change of the program, and intervals until they follow (table 6)",
    source: "section 6.6",
    slow: false,
    run,
};

/// Table 5, and the intervals of table 6.
const MIXES: [(&str, &str, f64); 6] = [
    ("lru", "lfu", 27.0),
    ("lfu", "lru", 17.0),
    ("lru", "random", 2.0),
    ("lfu", "random", 2.0),
    ("random", "lru", 3.0),
    ("random", "lfu", 4.0),
];

/// Programs and rules: the published code's, with which the published intervals were measured; and
/// the text's with ours.
const WAYS: [(&str, &str, &str); 3] = [
    ("published programs and rules", "code", "ties=3,equal=1"),
    ("published programs, our ties", "code", "ties=0"),
    ("programs of the text, our ties", "text", "ties=0"),
];

const COUNTED: &str = "[I] the paper counts the interval in which the change falls; and Random's \
                       intervals add no hits in the published code";

/// Intervals of each program.
const EACH: usize = 60;

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mixes = if context.small { &MIXES[2..3] } else { &MIXES };
    let ways = if context.small { &WAYS[..1] } else { &WAYS };
    let pairs = ways.iter().flat_map(|way| mixes.iter().map(move |mix| (way, mix)));
    let named: Vec<Named> = pairs.clone().map(|(way, mix)| scenario(context, *way, *mix)).collect();
    let mut outcome = Outcome::default();
    let all = simulate_named(context, "amp-mixes", &named)?;
    for (((way, source, rules), (from, to, published)), values) in pairs.zip(all) {
        let came = super::runs::Came { values };
        let choices = timeline(&came, "mix", "choice");
        let wanted = crate::simulated::CHOICES.iter().position(|choice| choice == to);
        let wanted = wanted.unwrap_or_default() as f64;
        let after = choices.iter().skip(EACH).position(|choice| *choice == wanted);
        // What does not follow takes as long as there is.
        let intervals = after.map_or(EACH as f64, |after| (after + 1) as f64);
        let what = format!("{way}: {} → {}", upper(from), upper(to));
        let within = if *source == "code" && *rules == WAYS[0].2 {
            Tolerance::Ratio(1.5)
        } else {
            Tolerance::None
        };
        let row = Row::new(what, "intervals", intervals).published(*published, within);
        // Between LRU and LFU what counts is dozens.
        let by_one = from == &"random" || to == &"random";
        let counted = by_one && matches!(within, Tolerance::Ratio(_));
        outcome.rows.push(if counted { row.why(COUNTED) } else { row });
        let points = choices.iter().enumerate().map(|(epoch, choice)| (epoch as f64, *choice));
        let line = Series::new(format!("{} → {}", upper(from), upper(to)), "interval", "choice");
        outcome.series.push(line.panel(*way).points(points));
    }
    outcome.notes.push(format!(
        "choices are 0: LRU, 1: LFU, 2: Random; each program runs for {EACH} intervals; a choice \
         that does not follow counts as {EACH}"
    ));
    Ok(outcome)
}

fn upper(choice: &str) -> String {
    if choice == "random" { "Random".to_owned() } else { choice.to_uppercase() }
}

fn scenario(
    context: &Context,
    (_, source, rules): (&str, &str, &str),
    (from, to, _): (&str, &str, f64),
) -> Named {
    let each = 5 * EACH;
    // 160 units at scale 64, as recorded; sets are equal at multiples of 64 MiB.
    let scale = context.scale.min(64);
    let memory = 320 * scale;
    let scenario = format!(
        "machine = \"amp\"\nscale = {scale}\nseconds = {}\n[system]\nname = \"amp\"\n\
         policy = \"amp:interval=0,{rules}\"\n[[tenant]]\nname = \"mix\"\n\
         memory = \"{memory}M\"\ncompute_ns = 100\n[tenant.pattern]\nkind = \"amp\"\n\
         favour = [\"{from}\", \"{to}\"]\neach = {each}.0\nsource = \"{source}\"\n",
        2 * each,
    );
    Named { name: format!("{from},{to},{source},{rules}"), scenario, decisions: Some(&MEANS) }
}
