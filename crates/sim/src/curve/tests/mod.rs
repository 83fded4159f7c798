//! Caches against naive ones and closed forms, samples against what is exact.

mod closed_forms;
mod naive;
mod samples;

use super::{Curves, Misses, Policy, Sample, Simulation, Sizes};

/// Runs everything in one pass.
#[track_caller]
fn run(policies: &[Policy], sizes: &Sizes, sample: Option<Sample>, names: &[u64]) -> Curves {
    let mut simulation = Simulation::new(policies, sizes, sample).unwrap();
    simulation.access(names).unwrap();
    simulation.curves()
}

/// Misses of a policy at sizes, exactly.
#[track_caller]
fn misses(policy: Policy, sizes: &[u32], names: &[u64]) -> Vec<u64> {
    let curves = run(&[policy], &Sizes::Of(sizes.to_vec()), None, names);
    let points = curves.curves[0].points.iter();
    points
        .map(|point| match point.misses {
            Misses::Exact(misses) => misses,
            other => panic!("not exact: {other:?}"),
        })
        .collect()
}
