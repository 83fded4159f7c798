//! What to do with a recommendation: the line that has it so, and what it saves.

use crate::{AdviceKind, Plan};
use pagetide_types::{Bytes, shell};
use serde::Serialize;

/// A line to copy, with what it brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// The line, quoted for a shell.
    pub command: String,
    /// Memory that may be slow.
    pub saved: Bytes,
}

/// The policy that `pagetide run` takes without being told.
const DEFAULT_POLICY: &str = "rate";

/// The next step after a plan; none where nothing is recommended, or nothing needs to move.
#[must_use]
pub fn next_step(plan: &Plan) -> Option<NextStep> {
    let answer = plan.recommendation.as_ref()?;
    // A machine that has not so much cannot be told to.
    if plan.machine.fast().capacity.is_some_and(|capacity| capacity < answer.fast_bytes) {
        return None;
    }
    let stays = |kind| matches!(kind, AdviceKind::BindSlow | AdviceKind::FirstTouch);
    if plan.advice.iter().any(|advice| stays(advice.kind)) || answer.fast_bytes == Bytes(0) {
        return None;
    }
    let mut words = vec!["sudo pagetide run --fast".to_owned()];
    words.push(format!("{}M", answer.fast_bytes.0.div_ceil(1 << 20)));
    if answer.policy != DEFAULT_POLICY {
        words.push(format!("--policy {}", shell::quote(&answer.policy)?));
    }
    words.push(target(&plan.recording.target));
    let saved = plan.recording.footprint_bytes.saturating_sub(answer.fast_bytes);
    Some(NextStep { command: words.join(" "), saved })
}

/// A target as `run` is told of it. What is not quoted as we do is not to be copied.
fn target(recorded: &str) -> String {
    let pids = recorded.strip_prefix("pid ");
    if let Some(pids) = pids.filter(|pids| pids.bytes().all(|b| b.is_ascii_digit() || b == b',')) {
        return format!("-p {pids}");
    }
    if let Some(path) = recorded.strip_prefix("cgroup ").and_then(shell::quote) {
        return format!("--cgroup {path}");
    }
    match shell::words(recorded) {
        Some(_) => format!("-- {recorded}"),
        None => "-- COMMAND".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_copied_only_as_we_wrote_it() {
        for (recorded, shown) in [
            ("./app --size 1G", "-- ./app --size 1G"),
            ("sh -c 'a; b'", "-- sh -c 'a; b'"),
            ("pid 17,18", "-p 17,18"),
            ("pid 17; reboot", "-- COMMAND"),
            ("cgroup /a b", "--cgroup '/a b'"),
            ("a; reboot", "-- COMMAND"),
            ("", "-- COMMAND"),
        ] {
            assert_eq!(target(recorded), shown, "{recorded}");
        }
    }
}
