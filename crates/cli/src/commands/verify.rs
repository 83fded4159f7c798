//! What a plan says of a recording, to hold a run against.

use anyhow::{Context, Result, bail};
use pagetide_manager::{SecondHalf, Verified};
use pagetide_policy::PolicySpec;
use pagetide_types::Bytes;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A policy's curve, as `pagetide plan --json` prints it.
pub(crate) struct Said {
    recording: PathBuf,
    unit: String,
    points: Vec<Point>,
}

#[derive(Clone, Copy, Deserialize)]
struct Point {
    fast_bytes: u64,
    hit_ratio: f64,
}

#[derive(Deserialize)]
struct Printed {
    recording: Recorded,
    policies: Vec<Planned>,
}

#[derive(Deserialize)]
struct Recorded {
    unit: String,
}

#[derive(Deserialize)]
struct Planned {
    points: Vec<Point>,
}

impl Said {
    /// Plans in a process of its own: we have the privileges to move other programs' memory, and a recording may be
    /// anybody's.
    pub(crate) fn of(recording: &Path, policy: &PolicySpec, machine: &str) -> Result<Self> {
        let ours = std::env::current_exe().context("finding this program")?;
        let policy = policy.to_string();
        let done = Command::new(ours)
            .args(["plan", "--json", "--policy", &policy, "--machine", machine])
            // Whatever it is called.
            .arg(if recording.is_absolute() {
                recording.to_owned()
            } else {
                Path::new(".").join(recording)
            })
            .stderr(Stdio::inherit())
            .output()
            .context("starting pagetide plan")?;
        if !done.status.success() {
            bail!("--verify: no plan for {} (see above)", recording.display());
        }
        let printed: Printed =
            serde_json::from_slice(&done.stdout).context("reading what pagetide plan printed")?;
        let [planned] = &printed.policies[..] else {
            bail!("--verify: pagetide plan says nothing of policy {policy}");
        };
        Ok(Self {
            recording: recording.to_owned(),
            unit: printed.recording.unit,
            points: planned.points.clone(),
        })
    }

    /// Beside a run that was watched for long enough to have a second half.
    pub(crate) fn beside(&self, run: Option<SecondHalf>) -> Option<Verified> {
        let run = run?;
        Some(Verified {
            recording: self.recording.display().to_string(),
            unit: self.unit.clone(),
            held: run.held,
            plan_share: hits(&self.points, run.held)?,
            run_share: run.fast_share,
            from_s: run.from_s,
        })
    }
}

/// The share of hits with so much fast memory, on a straight line between two points.
fn hits(points: &[Point], fast: Bytes) -> Option<f64> {
    let after = points.partition_point(|point| point.fast_bytes <= fast.0);
    let (Some(low), high) = (points.get(after.checked_sub(1)?), points.get(after)) else {
        return None;
    };
    let Some(high) = high else { return Some(low.hit_ratio) };
    let part = (fast.0 - low.fast_bytes) as f64 / (high.fast_bytes - low.fast_bytes).max(1) as f64;
    Some(low.hit_ratio + part * (high.hit_ratio - low.hit_ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_points_hits_are_on_a_straight_line() {
        let points = [(0, 0.0), (100, 0.5), (200, 0.9)]
            .map(|(fast_bytes, hit_ratio)| Point { fast_bytes, hit_ratio });
        let at = |fast| hits(&points, Bytes(fast)).unwrap();
        assert_eq!((at(0), at(50), at(100), at(150), at(999)), (0.0, 0.25, 0.5, 0.7, 0.9));
        assert_eq!(hits(&[], Bytes(1)), None);
    }
}
