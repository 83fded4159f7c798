//! Points that are simulations. All that decides the result is the scenario with the figures of the machine
//! that it names, so a digest of both is in the key.

use crate::{Context, Key, ReproduceError, Values};
use pagetide_sim::scenario::{Outcome, Scenario, parse, run_watched};
use pagetide_sim::sweep::{Draft, MODEL};
use pagetide_sim::systems::DecisionLog;

/// What each scenario came to, in order; those that are not known yet are simulated, in parallel.
/// A tenant's values have its name before them: `graph.accesses_per_s`; see [`values`].
///
/// # Errors
/// A scenario that makes no sense; what the store says.
pub(crate) fn simulate(
    context: &Context,
    figure: &str,
    scenarios: &[String],
) -> Result<Vec<Values>, ReproduceError> {
    let key = |text: &String| {
        let key = Key::new(figure, MODEL, context.scale).with("scenario", text);
        Ok((key.with("digest", resolved(text, figure)?), text.clone()))
    };
    let points: Vec<(Key, String)> =
        scenarios.iter().map(key).collect::<Result<_, ReproduceError>>()?;
    context
        .store
        .points(&points, |(_, text)| Ok(values(&run(context, &parse(text, figure)?, figure)?)))
}

/// A scenario with a name of its own: short keys for scenarios of many lines.
pub(crate) struct Named {
    /// What tells it apart from others, for who reads the file of points.
    pub(crate) name: String,
    pub(crate) scenario: String,
    /// Every decision is kept, too, with these of the figures that its policy tells, by place; see
    /// [`decisions`].
    pub(crate) decisions: Option<&'static [usize]>,
}

/// The same as [`simulate`] for scenarios with names, whose text is in the key only as a digest.
///
/// # Errors
/// As [`simulate`].
pub(crate) fn simulate_named<'a>(
    context: &Context,
    figure: &str,
    scenarios: &'a [Named],
) -> Result<Vec<Values>, ReproduceError> {
    let point = |named: &'a Named| {
        let Named { name, scenario, decisions } = named;
        let key = Key::new(figure, MODEL, context.scale)
            .with("name", name)
            .with("decisions", u8::from(decisions.is_some()))
            .with("digest", resolved(scenario, figure)?);
        Ok((key, named))
    };
    let points: Vec<(Key, &'a Named)> =
        scenarios.iter().map(point).collect::<Result<_, ReproduceError>>()?;
    context.store.points(&points, |(_, named)| {
        let outcome = run(context, &parse(&named.scenario, figure)?, figure)?;
        let mut values = values(&outcome);
        features(&outcome, &mut values);
        if let Some(figures) = named.decisions {
            decisions(&outcome, figures, &mut values);
        }
        Ok(values)
    })
}

/// What comes of a scenario, unless it is stopped.
///
/// # Errors
/// One that makes no sense; [`ReproduceError::Stopped`].
pub(crate) fn run(
    context: &Context,
    scenario: &Scenario,
    figure: &str,
) -> Result<Outcome, ReproduceError> {
    Ok(run_watched(scenario, None, figure, &mut |_| !context.store.stopped())?)
}

/// A digest of a scenario and of the machine that it names.
pub(crate) fn resolved(text: &str, figure: &str) -> Result<String, ReproduceError> {
    let resolved = Draft::new(text, figure)?.with(&[])?;
    Ok(digest_of(&resolved.key))
}

/// A digest of a text.
pub(crate) fn digest_of(text: &str) -> String {
    format!("{:016x}", digest(text))
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits: the same on every machine and in every version.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A policy's choices, as numbers.
pub(crate) const CHOICES: [&str; 3] = ["lru", "lfu", "random"];

/// Of each tenant's decisions the means: AMP's three features (section 4.1), and how often which
/// policy was chosen.
fn features(outcome: &Outcome, values: &mut Values) {
    for (number, tenant) in outcome.tenants.iter().enumerate() {
        let of = |log: &&DecisionLog| log.tenant == number && log.memory > 0;
        let logs: Vec<&DecisionLog> = outcome.decisions.iter().filter(of).collect();
        let count = logs.len().max(1) as f64;
        let mut put = |name: &str, feature: &dyn Fn(&DecisionLog) -> f64| {
            let sum: f64 = logs.iter().map(|log| feature(log)).sum();
            values.insert(format!("{}.{name}", tenant.name), sum / count);
        };
        put("hits", &|log| log.hits as f64 / log.memory as f64);
        put("accessed", &|log| log.accessed as f64 / log.memory as f64);
        put("stable", &|log| 1.0 - (log.promote + log.demote) as f64 / log.memory as f64);
        for choice in CHOICES {
            put(choice, &|log| f64::from(u8::from(chosen(log) == Some(choice))));
        }
    }
}

fn chosen(log: &DecisionLog) -> Option<&'static str> {
    log.observation.as_ref().and_then(|observation| observation.choice)
}

/// Every decision: `graph.7.choice`, a place in [`CHOICES`], and of what the policy told `graph.7.2`,
/// its figure at place 2.
fn decisions(outcome: &Outcome, figures: &[usize], values: &mut Values) {
    for (number, tenant) in outcome.tenants.iter().enumerate() {
        let logs = outcome.decisions.iter().filter(|log| log.tenant == number);
        for (epoch, log) in logs.enumerate() {
            let name = |what: &str| format!("{}.{epoch}.{what}", tenant.name);
            let choice = CHOICES.iter().position(|choice| chosen(log) == Some(choice));
            if let Some(choice) = choice {
                values.insert(name("choice"), choice as f64);
            }
            for at in figures {
                let told = log.observation.as_ref().and_then(|told| told.figures.get(*at));
                values.extend(told.map(|figure| (name(&at.to_string()), *figure)));
            }
        }
    }
}

/// An outcome by name.
fn values(outcome: &Outcome) -> Values {
    let mut values = Values::new();
    let mut put = |name: String, value: f64| values.insert(name, value);
    for tenant in &outcome.tenants {
        let name = &tenant.name;
        put(format!("{name}.accesses_per_s"), tenant.accesses_per_s);
        put(format!("{name}.fast_share"), tenant.fast_share);
        put(format!("{name}.promoted"), tenant.promoted as f64);
        put(format!("{name}.demoted"), tenant.demoted as f64);
        if let Some(ended) = tenant.ended_s {
            put(format!("{name}.ended_s"), ended);
        }
    }
    put("kernel_cores".to_owned(), outcome.kernel_cores);
    put("stolen_cores".to_owned(), outcome.stolen_cores);
    values
}

/// The geometric mean of what is above 0.
pub(crate) fn geomean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value.ln();
        count += 1.0;
    }
    f64::exp(sum / f64::max(count, 1.0))
}
