//! Points that are simulations: a scenario's text is all that decides the result, and so is its key.

use crate::{Context, Key, ReproduceError, Values};
use pagetide_sim::scenario::{Outcome, parse, run};

/// Raised when what the simulator computes changes.
const MODEL: u32 = 1;

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
        (Key::new(figure, MODEL, context.scale).with("scenario", text), text.clone())
    };
    let points: Vec<(Key, String)> = scenarios.iter().map(key).collect();
    context.store.points(&points, |(_, text)| {
        let scenario = parse(text, figure)?;
        Ok(values(&run(&scenario, None, figure)?))
    })
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
