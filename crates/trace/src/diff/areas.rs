//! Two recordings area by area. Areas are told apart by names that survive a restart: files and
//! shared memory by theirs, private memory by the process's name and what it is, large anonymous
//! areas by their number in order of address.

use crate::info::whole_bytes;
use crate::object::{Identity, identities};
use crate::unit_sums::UnitSums;
use crate::{Area, AreaMap};
use pagetide_types::{AreaKind, Bytes, ObjectId, UnitKey};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// An anonymous area of this share of its recording's memory has a number; smaller ones of a
/// process count together.
const NUMBERED: f64 = 0.02;

/// What became of an area.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AreaChange {
    /// What it is called in both.
    pub name: String,
    /// What it is; none if that is not known.
    pub kind: Option<AreaKind>,
    /// The first recording.
    pub a: AreaSide,
    /// The second recording.
    pub b: AreaSide,
    /// By how much it changed: of its share of the accesses per second and of that of the memory,
    /// of the recording that has more, the larger. 0 to 1.
    pub change: f64,
}

/// An area in one of two recordings; nothing if it is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AreaSide {
    /// Resident bytes, mean over time.
    pub bytes: Bytes,
    /// Accesses per second.
    pub accesses_per_s: f64,
}

/// Name and kind.
type Key = (String, Option<AreaKind>);

/// Accesses per second and mean bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    accesses: f64,
    bytes: f64,
}

impl Sum {
    fn side(self) -> AreaSide {
        AreaSide { bytes: whole_bytes(self.bytes), accesses_per_s: self.accesses }
    }
}

/// What changed in every area, most first.
pub(super) fn changes(a: &ByArea, b: &ByArea) -> Vec<AreaChange> {
    let whole = |value: fn(&Sum) -> f64| {
        let of = |side: &ByArea| side.0.values().map(value).sum::<f64>();
        of(a).max(of(b))
    };
    let (accesses, bytes) = (whole(|sum| sum.accesses), whole(|sum| sum.bytes));
    let share = |part: f64, whole: f64| if whole > 0.0 { part.abs() / whole } else { 0.0 };
    let mut keys: Vec<&Key> = a.0.keys().chain(b.0.keys()).collect();
    keys.sort();
    keys.dedup();
    let change = |key: &Key| {
        let of = |side: &ByArea| side.0.get(key).copied().unwrap_or_default();
        let (a, b) = (of(a), of(b));
        AreaChange {
            name: key.0.clone(),
            kind: key.1,
            a: a.side(),
            b: b.side(),
            change: share(b.accesses - a.accesses, accesses).max(share(b.bytes - a.bytes, bytes)),
        }
    };
    let mut changes: Vec<AreaChange> = keys.into_iter().map(change).collect();
    let size = |change: &AreaChange| change.a.bytes.max(change.b.bytes);
    changes.sort_by(|x, y| y.change.total_cmp(&x.change).then_with(|| size(y).cmp(&size(x))));
    changes
}

/// A recording by areas.
pub(super) struct ByArea(BTreeMap<Key, Sum>);

impl ByArea {
    /// Of a recording with these areas and units, that adds up to `sums`.
    pub(super) fn of(areas: &[Area], keys: &[UnitKey], sums: &UnitSums) -> Self {
        let (map, objects) = (AreaMap::new(areas), identities(areas));
        let extents = Extents::new(areas);
        let per_s = |value: f64| if sums.seconds > 0.0 { value / sums.seconds } else { 0.0 };
        // By process name, anonymous memory by extent; the rest by its key at once.
        let mut by_key: BTreeMap<Key, Sum> = BTreeMap::new();
        let mut anonymous: BTreeMap<(ObjectId, usize), Sum> = BTreeMap::new();
        for (key, sum) in keys.iter().zip(&sums.units).filter(|(_, sum)| sum.live_s > 0.0) {
            let sum = Sum { accesses: per_s(sum.accesses), bytes: per_s(sum.byte_s) };
            let area = map.find(*key);
            let extent = area.filter(|area| is_nameless(area)).and_then(|_| extents.find(*key));
            let into = match extent {
                Some(extent) => anonymous.entry((key.object, extent)).or_default(),
                None => by_key.entry(name(area, objects.get(&key.object))).or_default(),
            };
            into.accesses += sum.accesses;
            into.bytes += sum.bytes;
        }
        let all: f64 = by_key.values().chain(anonymous.values()).map(|sum| sum.bytes).sum();
        // Each process begins with 1, so that those of one name count together.
        let mut numbers: HashMap<ObjectId, usize> = HashMap::new();
        for ((object, _), sum) in anonymous {
            let command = command(objects.get(&object));
            let name = if sum.bytes >= NUMBERED * all {
                let number = numbers.entry(object).or_insert(0);
                *number += 1;
                format!("{command}: anonymous {number}")
            } else {
                format!("{command}: anonymous, small")
            };
            let into = by_key.entry((name, Some(AreaKind::Anonymous))).or_default();
            into.accesses += sum.accesses;
            into.bytes += sum.bytes;
        }
        Self(by_key)
    }
}

fn is_nameless(area: &Area) -> bool {
    area.kind == AreaKind::Anonymous && area.name.is_empty()
}

/// The name of a process, whatever its number.
fn command(identity: Option<&Identity>) -> String {
    match identity {
        Some(Identity::Process { command, .. }) if !command.is_empty() => command.clone(),
        _ => "a process".to_owned(),
    }
}

/// What a unit's area is called. Private memory is that of a process of some name.
fn name(area: Option<&Area>, identity: Option<&Identity>) -> Key {
    let Some(area) = area else { return ("in no known area".to_owned(), None) };
    let lasting = area.lasting_name();
    let private = identity.is_some_and(Identity::is_space);
    let name =
        if private { format!("{}: {lasting}", command(identity)) } else { lasting.into_owned() };
    (name, Some(area.kind))
}

/// Anonymous areas without a name, those that touch taken together: the kernel merges and splits
/// them as it likes.
struct Extents(HashMap<ObjectId, Vec<(u64, u64)>>);

impl Extents {
    fn new(areas: &[Area]) -> Self {
        let mut objects: HashMap<ObjectId, Vec<(u64, u64)>> = HashMap::new();
        for area in areas.iter().filter(|area| is_nameless(area)) {
            objects.entry(area.object).or_default().push((area.first, area.end));
        }
        for ranges in objects.values_mut() {
            ranges.sort_unstable();
            let mut merged: Vec<(u64, u64)> = Vec::new();
            for (first, end) in ranges.drain(..) {
                match merged.last_mut().filter(|last| first <= last.1) {
                    Some(last) => last.1 = last.1.max(end),
                    None => merged.push((first, end)),
                }
            }
            *ranges = merged;
        }
        Self(objects)
    }

    /// The position of the one that holds `unit`, in order of address.
    fn find(&self, unit: UnitKey) -> Option<usize> {
        let ranges = self.0.get(&unit.object)?;
        let after = ranges.partition_point(|(first, _)| *first <= unit.index);
        after.checked_sub(1).filter(|at| ranges[*at].1 > unit.index)
    }
}
