//! Advice for the case that needs no migration: bind at start with `numactl` (its man page;
//! weighted interleave: Linux 6.9, Documentation/admin-guide/mm/numa_memory_policy.rst). Given
//! only beside a recommendation, where the recording says that it keeps the target, or that heat is
//! too even for placing.

use crate::answer::sentence::percent;
use crate::{AreaHeat, Band, CurveCost, PlanInput, Recommendation, Role};
use pagetide_machine::Machine;
use pagetide_types::{AreaKind, Bytes, shell};
use serde::Serialize;

/// Placement at start is worth advising if it needs at most this much more than the best policy.
const NEARLY_AS_GOOD: f64 = 1.05;
/// Heat is even if no policy's hits stand further than this above the share of fast memory.
const EVEN: f64 = 0.1;
/// The least share of the memory for which an area is worth a line.
const WORTH: f64 = 0.05;

/// One piece of advice, with lines to copy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// What it is about.
    pub kind: AdviceKind,
    /// The advice in words.
    pub text: String,
    /// Shell lines; fast memory is node 0 and slow memory node 1 in them.
    pub commands: Vec<String>,
    /// The slowdown to expect.
    pub slowdown: Band,
}

/// What a piece of [`Advice`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdviceKind {
    /// Everything may be slow.
    BindSlow,
    /// First touch is as good as any migration.
    FirstTouch,
    /// Heat is even: spread pages by bandwidth.
    WeightedInterleave,
    /// Some areas may be slow from the start.
    AreaSlow,
}

/// Finds what placement at start can do.
pub(crate) fn advise(
    input: &PlanInput,
    costs: &[CurveCost<'_>],
    machine: &Machine,
    target: f64,
    answer: &Recommendation,
) -> Vec<Advice> {
    // Placements that no curve holds: all curves agree on what was accessed.
    let Some(cost) = costs.first() else { return Vec::new() };
    if input.facts.evaluated_epochs == 0 || cost.curve().accesses <= 0.0 {
        return Vec::new();
    }
    let all_slow = cost.slowdown_of_share(1.0);
    if all_slow.high <= target {
        return vec![Advice {
            kind: AdviceKind::BindSlow,
            text: "All of it may be slow memory: bind the program there.".to_owned(),
            commands: vec![format!("numactl --membind=1 -- {}", command(input))],
            slowdown: all_slow,
        }];
    }
    let mut advice = Vec::new();
    advice.extend(first_touch(input, costs, target, answer));
    advice.extend(interleave(input, cost, machine));
    if advice.is_empty() {
        advice.extend(slow_areas(input, cost, target));
    }
    advice
}

/// The policy that never moves anything. (Others may move each unit once, which curves leave out.)
const FIRST_TOUCH: &str = "first-touch";

/// The command line of the recording, if it was one, and is quoted for a shell: what others wrote
/// into a recording is not to be copied into one.
fn command(input: &PlanInput) -> &str {
    let target = input.facts.target.as_str();
    let other = target.starts_with("pid ") || target.starts_with("cgroup ");
    if other || shell::words(target).is_none() { "COMMAND" } else { target }
}

/// What is only placed at start is nearly as good as the recommendation.
fn first_touch(
    input: &PlanInput,
    costs: &[CurveCost<'_>],
    target: f64,
    answer: &Recommendation,
) -> Option<Advice> {
    if input.facts.is_being_renewed() {
        return None;
    }
    let (cost, need) = std::iter::zip(&input.curves, costs)
        .filter(|(p, _)| p.role == Role::Candidate)
        .filter(|(p, _)| p.curve.policy == FIRST_TOUCH)
        .find_map(|(p, cost)| {
            let high = |i| cost.slowdown(i).high;
            let unit = input.facts.unit.bytes();
            let need = crate::answer::recommend::smallest(&p.curve, unit, target, high)?;
            let most = answer.fast_bytes.as_f64() * NEARLY_AS_GOOD;
            (need.as_f64() <= most && need.0 > 0).then_some((cost, need))
        })?;
    let curve = cost.curve();
    let i = usize::try_from(need.0.div_ceil(curve.step.0.max(1))).unwrap_or(usize::MAX);
    let band = cost.slowdown(i.min(curve.fast_accesses.len() - 1));
    Some(Advice {
        kind: AdviceKind::FirstTouch,
        text: format!(
            "Placement at start is enough: with {need} of fast memory free when it starts, the \
             program needs no migration. First touch fills fast memory and spills to slow."
        ),
        commands: vec![format!("numactl --preferred=0 -- {}", command(input))],
        slowdown: Band { low: band.low.min(target), high: band.high.min(target) },
    })
}

/// Heat is so even that no policy beats spreading pages.
fn interleave(input: &PlanInput, cost: &CurveCost<'_>, machine: &Machine) -> Option<Advice> {
    let mut candidates = input.curves.iter().filter(|p| p.role == Role::Candidate).peekable();
    candidates.peek()?;
    let even = candidates.all(|p| {
        let n = p.curve.fast_accesses.len();
        let share = |i: usize| i as f64 / (n - 1).max(1) as f64;
        n > 1 && (0..n).all(|i| p.curve.hit_ratio(i) - share(i) < EVEN)
    });
    if !even {
        return None;
    }
    let (fast, slow) =
        weights(machine.fast().read_bandwidth_gb_s, machine.slow().read_bandwidth_gb_s);
    let slow_share = f64::from(slow) / f64::from(fast + slow);
    Some(Advice {
        kind: AdviceKind::WeightedInterleave,
        text: format!(
            "Heat is even: no policy serves notably more accesses than its share of fast memory. \
             Spreading pages by bandwidth ({fast}:{slow}, {} of them slow) uses both memories at \
             once and needs no migration. Linux 6.9 or newer.",
            percent(slow_share)
        ),
        commands: vec![
            format!("echo {fast} > /sys/kernel/mm/mempolicy/weighted_interleave/node0"),
            format!("echo {slow} > /sys/kernel/mm/mempolicy/weighted_interleave/node1"),
            format!("numactl --weighted-interleave=0,1 -- {}", command(input)),
        ],
        slowdown: cost.slowdown_of_share(slow_share),
    })
}

/// Small weights in the ratio of two bandwidths, within 5 %; at most 32 to 1.
fn weights(fast: f64, slow: f64) -> (u8, u8) {
    let ratio = (fast / slow).clamp(1.0, 32.0);
    let error = |slow: u8| {
        let exact = ratio * f64::from(slow);
        ((exact.round() - exact) / exact).abs()
    };
    let slow = (1..=7).find(|slow| error(*slow) <= 0.05).unwrap_or(7);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 224")]
    let fast = (ratio * f64::from(slow)).round() as u8;
    (fast, slow)
}

/// Memory policies do not reach the page cache of ordinary files.
fn can_bind(area: &AreaHeat) -> bool {
    matches!(area.kind, Some(AreaKind::Heap | AreaKind::Anonymous | AreaKind::Shared))
}

/// The line that binds a file of shared memory; none for a name that is not written as it is, for
/// recordings show some characters as escapes.
fn bind(name: &str) -> Option<String> {
    let name = shell::quote(name).filter(|_| !name.contains('\\'))?;
    Some(format!("numactl --membind=1 --file {name}"))
}

/// Whole areas so cold, in every part of the recording, that they may start slow together.
fn slow_areas(input: &PlanInput, cost: &CurveCost<'_>, target: f64) -> Option<Advice> {
    let mut cold: Vec<&AreaHeat> =
        input.areas.iter().filter(|area| can_bind(area) && area.share_of_bytes >= WORTH).collect();
    let density = |area: &AreaHeat| area.peak_share_of_accesses / area.share_of_bytes;
    cold.sort_by(|a, b| density(a).total_cmp(&density(b)));
    let mut sum = 0.0;
    let chosen: Vec<&AreaHeat> = cold
        .into_iter()
        .take_while(|area| {
            sum += area.peak_share_of_accesses;
            cost.slowdown_of_share(sum).high <= target
        })
        .collect();
    if chosen.is_empty() {
        return None;
    }
    let bytes: Bytes = chosen.iter().map(|area| area.bytes).sum();
    let share: f64 = chosen.iter().map(|area| area.share_of_accesses).sum();
    let names: Vec<&str> = chosen.iter().map(|area| area.name.as_str()).collect();
    let shared = |area: &&&AreaHeat| {
        area.kind == Some(AreaKind::Shared) && area.name.starts_with("/dev/shm/")
    };
    let commands: Vec<String> =
        chosen.iter().filter(shared).filter_map(|a| bind(&a.name)).collect();
    let how = if commands.len() == chosen.len() {
        "Do that before the program starts."
    } else {
        "The program itself can do that: mbind(2) with MPOL_BIND on node 1."
    };
    Some(Advice {
        kind: AdviceKind::AreaSlow,
        text: format!(
            "{} {} {bytes} and {} {} of the accesses, at no time enough to miss the target: slow \
             from the start. {how}",
            names.join(", "),
            if names.len() == 1 { "holds" } else { "hold" },
            if names.len() == 1 { "takes" } else { "take" },
            percent(share)
        ),
        commands,
        slowdown: cost.slowdown_of_share(share),
    })
}
