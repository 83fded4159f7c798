//! Section 4.7: the same with slower and faster slow memory; the paper gives no numbers, and says that
//! trends are similar.

use super::calibration::table;
use super::figure_12::{CONFIGURATIONS, performance, speedups};
use super::programs::Variant;
use crate::simulated::geomean;
use crate::{Context, Figure, Outcome, ReproduceError, Series};

pub(super) const FIGURE: Figure = Figure {
    id: "4.7",
    title: "the six configurations by latency and bandwidth of the slow tier",
    source: "section 4.7",
    slow: true,
    run,
};

/// Latency, ns, and bandwidth, GB/s, of the slow tier of figure 12.
const USUAL: (f64, f64) = (199.2, 17.0);

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let tiers: &[(f64, f64)] = if context.small {
        &[(400.0, 8.5)]
    } else {
        &[(140.0, 25.0), USUAL, (300.0, 12.0), (400.0, 8.5)]
    };
    let mut series: Vec<Series> = CONFIGURATIONS
        .iter()
        .map(|(name, ..)| Series::new(*name, "slow tier, ns", "speed-up over All Remote"))
        .collect();
    let systems = CONFIGURATIONS.map(|(_, system, _)| format!("name = \"{system}\""));
    for (latency, bandwidth) in tiers {
        let usual = (*latency, *bandwidth) == USUAL;
        let machine = table(|machine| {
            let slow = &mut machine["tier"][1];
            for key in ["read_latency_ns", "write_latency_ns"] {
                slow[key] = toml::Value::Float(*latency);
            }
            for key in ["read_bandwidth_gb_s", "write_bandwidth_gb_s"] {
                slow[key] = toml::Value::Float(*bandwidth);
            }
        })?;
        let machine = Some(machine).filter(|_| !usual);
        let variant = Variant { machine, ..Variant::default() };
        let found = speedups(&performance(context, "end-to-end", 16.0, &systems, &variant)?);
        for (series, row) in series.iter_mut().zip(&found) {
            *series = series.clone().point(*latency, geomean(row.iter().copied()));
        }
    }
    Ok(Outcome { series, ..Outcome::default() })
}
