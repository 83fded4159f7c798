//! Whose memory it is: `pagetide trace info --by process`. Private memory belongs to one process.
//! Of shared memory and files a recording holds each once, whoever maps it: they have lines of
//! their own.

use crate::info::whole_bytes;
use crate::object::{Identity, identities};
use crate::unit_sums::UnitSums;
use crate::{Recording, Result};
use pagetide_types::{AreaKind, Bytes, ObjectId};
use serde::Serialize;
use std::collections::HashMap;

/// Share of the accesses that the hot part of a recording makes up.
const HOT: f64 = 0.9;

/// A recording by processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByProcess {
    /// Seconds that were summed up.
    pub seconds: f64,
    /// Share of the accesses that goes to the hot part.
    pub hot_share: f64,
    /// Who has memory, most first.
    pub processes: Vec<ProcessUse>,
}

/// The memory of a process, or what belongs to none alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessUse {
    /// Its number; none for shared memory and files.
    pub pid: Option<i32>,
    /// Its name, `shared memory` or `files`.
    pub name: String,
    /// Resident bytes, mean over the time of the recording.
    pub bytes: Bytes,
    /// Accesses per second.
    pub accesses_per_s: f64,
    /// Their share of all accesses.
    pub share_of_accesses: f64,
    /// The part of `bytes` in the hottest units that together get [`ByProcess::hot_share`] of all
    /// accesses.
    pub hot_bytes: Bytes,
}

/// Reads all of `recording` once.
///
/// # Errors
/// As for reading: [`crate::Error::Missing`], [`crate::Error::Damaged`], [`crate::Error::Column`].
pub fn by_process(recording: &Recording) -> Result<ByProcess> {
    let sums = UnitSums::of(recording)?;
    let keys = recording.units()?;
    let objects = identities(&recording.areas()?);
    let holder = |object: &ObjectId| match objects.get(object) {
        Some(Identity::Named { kind: AreaKind::Shared, .. }) => Holder::Shared,
        Some(Identity::Named { .. }) => Holder::Files,
        Some(Identity::Process { .. } | Identity::Unknown) | None => Holder::Process(*object),
    };
    let all: f64 = sums.units.iter().map(|sum| sum.accesses).sum();
    let hot = hot(&sums, all);
    let mut uses: HashMap<Holder, [f64; 3]> = HashMap::new();
    for (at, (key, sum)) in keys.iter().zip(&sums.units).enumerate() {
        if sum.live_s > 0.0 {
            let used = uses.entry(holder(&key.object)).or_default();
            used[0] += sum.byte_s;
            used[1] += sum.accesses;
            used[2] += if hot[at] { sum.byte_s } else { 0.0 };
        }
    }
    let per_s = |value: f64| if sums.seconds > 0.0 { value / sums.seconds } else { 0.0 };
    let mut processes: Vec<ProcessUse> = uses
        .into_iter()
        .map(|(holder, [byte_s, accesses, hot_byte_s])| {
            let (pid, name) = holder.named(&objects);
            ProcessUse {
                pid,
                name,
                bytes: whole_bytes(per_s(byte_s)),
                accesses_per_s: per_s(accesses),
                share_of_accesses: if all > 0.0 { accesses / all } else { 0.0 },
                hot_bytes: whole_bytes(per_s(hot_byte_s)),
            }
        })
        .collect();
    processes.sort_by(|a, b| {
        b.bytes.cmp(&a.bytes).then_with(|| (a.pid, &a.name).cmp(&(b.pid, &b.name)))
    });
    Ok(ByProcess { seconds: sums.seconds, hot_share: HOT, processes })
}

/// Who has a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Process(ObjectId),
    Shared,
    Files,
}

impl Holder {
    fn named(self, objects: &HashMap<ObjectId, Identity>) -> (Option<i32>, String) {
        match self {
            Self::Shared => (None, "shared memory".to_owned()),
            Self::Files => (None, "files".to_owned()),
            Self::Process(object) => match objects.get(&object) {
                Some(Identity::Process { pid, command }) => (Some(*pid), command.clone()),
                _ => (None, "of no known process".to_owned()),
            },
        }
    }
}

/// Which units are hot: the hottest by rate, until they make up their share of `all` accesses.
fn hot(sums: &UnitSums, all: f64) -> Vec<bool> {
    let rate = |at: usize| sums.units[at].accesses / sums.units[at].live_s;
    let mut order: Vec<usize> =
        (0..sums.units.len()).filter(|at| sums.units[*at].accesses > 0.0).collect();
    order.sort_by(|a, b| rate(*b).total_cmp(&rate(*a)).then(a.cmp(b)));
    let mut hot = vec![false; sums.units.len()];
    let mut reached = 0.0;
    for at in order {
        if reached >= HOT * all {
            break;
        }
        reached += sums.units[at].accesses;
        hot[at] = true;
    }
    hot
}
