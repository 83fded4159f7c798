//! A process that does what a test says, and the governor that is shown its counters.

use pagetide_policy::{Balance, Counters, GovernorSpec, Verdict};
use pagetide_types::Bytes;

/// What a process does in one second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    /// MiB promoted, and MiB that went down again.
    pub(crate) up: f64,
    pub(crate) again: f64,
    /// Part of its memory that is accessed.
    pub(crate) accessed: f64,
    /// And of its memory, what is accessed and fast.
    pub(crate) accessed_fast: f64,
    /// And what is fast, accessed or not.
    pub(crate) watched_fast: f64,
    /// Seconds by which it waits less for what moved lately.
    pub(crate) gained: f64,
    /// The part of that which older moves do not bring any more.
    pub(crate) fading: f64,
    /// Seconds that moving and watching take.
    pub(crate) moving: f64,
    pub(crate) watching: f64,
    /// The part of its memory that was watched, if not all.
    pub(crate) watched: Option<f64>,
    /// In how many pieces it was watched, if not in as many as anybody would want.
    pub(crate) pieces: Option<f64>,
    /// Cores that it keeps busy, if somebody says so.
    pub(crate) cores: Option<f64>,
    /// MiB of fast memory that could be taken, if somebody says so.
    pub(crate) room: Option<f64>,
    /// What it accesses is seen to become another thing.
    pub(crate) changes: bool,
}

/// Memory of the process.
const RESIDENT: Bytes = Bytes::gib(80);

/// A stop or a restart: after how many seconds, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) at_s: f64,
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// By its word the process does what it did before.
    pub(crate) same: bool,
}

/// Every change of mind of a governor over so many seconds, in epochs of some length. `does`: what
/// the process does in a second, by its number and whether it migrates; nothing is promoted while
/// it does not.
#[expect(clippy::unwrap_used, reason = "a test's own text")]
pub(crate) fn turns(
    spec: &str,
    seconds: u32,
    epoch_s: u32,
    mut does: impl FnMut(u32, bool) -> Second,
) -> Vec<Turn> {
    let mut governor = spec.parse::<GovernorSpec>().unwrap().build();
    let mut migrates = true;
    let (mut up, mut again, mut moving_s, mut watching_s) = (0.0, 0.0, 0.0, 0.0);
    let mut changed_s = 0.0;
    let mut turns = Vec::new();
    for epoch in 1..=seconds / epoch_s {
        let (mut accessed, mut accessed_fast, mut gained, mut pieces) = (0.0, 0.0, 0.0, None);
        let (mut watched_fast, mut cores, mut watched, mut fading) = (0.0, None, 0.0, 0.0);
        let mut room = None;
        let part = 1.0 / f64::from(epoch_s);
        for second in (epoch - 1) * epoch_s..epoch * epoch_s {
            let does = does(second, migrates);
            (up, again) = (up + does.up, again + does.again);
            (moving_s, watching_s) = (moving_s + does.moving, watching_s + does.watching);
            accessed += does.accessed * part;
            accessed_fast += does.accessed_fast * part;
            watched_fast += does.watched_fast * part;
            gained += does.gained * part;
            watched += does.watched.unwrap_or(part);
            (pieces, cores, fading, room) = (does.pieces, does.cores, does.fading, does.room);
            changed_s = if does.changes { f64::from(second) } else { changed_s };
        }
        let counters = Counters {
            now_s: f64::from(epoch * epoch_s),
            length_s: f64::from(epoch_s),
            changed_s,
            promoted: mib(up),
            demoted: mib(again),
            promoted_then_demoted: mib(again),
            resident: RESIDENT,
            watched: mib(watched * RESIDENT.as_f64() / 1048576.0),
            watched_fast: mib(watched_fast * RESIDENT.as_f64() / 1048576.0),
            accessed: mib(accessed * RESIDENT.as_f64() / 1048576.0),
            accessed_fast: mib(accessed_fast * RESIDENT.as_f64() / 1048576.0),
            watching_s,
            pieces,
            cores,
            room: room.map(|mib| mib * 1048576.0),
            balance: Some(Balance { gained, moving_s, fading }),
            ..Counters::default()
        };
        let verdict = governor.judge(&counters);
        if migrates != (verdict == Verdict::Migrate) {
            let reason = governor.reason();
            let same = governor.does_the_same();
            turns.push(Turn { at_s: counters.now_s, verdict, reason, same });
        }
        migrates = verdict == Verdict::Migrate;
    }
    turns
}

/// Its moves bring this part of what they cost in as many seconds, 6 s in a horizon of 60 s.
pub(crate) fn brings(part: f64, migrates: bool) -> Second {
    let moving = if migrates { 0.1 } else { 0.0 };
    let gained = if migrates { part * moving } else { 0.0 };
    Second { moving, gained, accessed: 0.5, accessed_fast: 0.2, ..Second::default() }
}

/// When it stopped and when it restarted.
pub(crate) fn times(turns: &[Turn]) -> (Vec<f64>, Vec<f64>) {
    let of = |verdict: Verdict| {
        let of = turns.iter().filter(|turn| turn.verdict == verdict);
        of.map(|turn| turn.at_s).collect()
    };
    (of(Verdict::StandStill), of(Verdict::Migrate))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test's own numbers")]
fn mib(of: f64) -> Bytes {
    Bytes((of * 1048576.0) as u64)
}
