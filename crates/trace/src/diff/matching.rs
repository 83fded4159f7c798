//! Which object of one recording is which of the other.

use crate::Area;
use pagetide_types::{AreaKind, ObjectId, UnitKey};
use std::collections::HashMap;

/// A number for each object of both recordings; matching objects have the same one.
#[derive(Debug, Default)]
pub(super) struct Match {
    pub(super) a: HashMap<ObjectId, u32>,
    pub(super) b: HashMap<ObjectId, u32>,
    /// Names of the objects without a counterpart.
    pub(super) unmatched_a: Vec<String>,
    pub(super) unmatched_b: Vec<String>,
}

/// What an object is matched by.
#[derive(Clone, Debug, PartialEq)]
enum Identity {
    /// The address space of a process.
    Process { pid: i32, command: String },
    /// A file or shared memory.
    Named(String),
    /// No area tells; taken for an address space.
    Unknown,
}

impl Identity {
    fn of(area: &Area) -> Self {
        match area.kind {
            AreaKind::Heap | AreaKind::Stack | AreaKind::Anonymous => {
                Self::Process { pid: area.pid.0, command: area.command.clone() }
            }
            AreaKind::File | AreaKind::Shared => Self::Named(area.name.clone()),
        }
    }

    fn is_space(&self) -> bool {
        !matches!(self, Self::Named(_))
    }

    fn name(&self) -> String {
        match self {
            Self::Process { pid, command } => format!("{command} ({pid})"),
            Self::Named(name) if name.is_empty() => "[shared memory]".to_owned(),
            Self::Named(name) => name.clone(),
            Self::Unknown => "[unknown]".to_owned(),
        }
    }
}

/// The objects that have units, in order of first sight. An object with any private memory is an
/// address space, whatever else is mapped there.
fn objects(areas: &[Area], units: &[UnitKey]) -> Vec<(ObjectId, Identity)> {
    let mut identities: HashMap<ObjectId, Identity> = HashMap::new();
    for area in areas {
        let identity = Identity::of(area);
        let known = identities.entry(area.object).or_insert_with(|| identity.clone());
        if identity.is_space() && !known.is_space() {
            *known = identity;
        }
    }
    let mut objects: Vec<(ObjectId, Identity)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for unit in units {
        if seen.insert(unit.object) {
            let identity = identities.get(&unit.object).cloned().unwrap_or(Identity::Unknown);
            objects.push((unit.object, identity));
        }
    }
    objects
}

/// Rules, the strictest first; each pairs what is left in order of first sight.
const RULES: [fn(&Identity, &Identity) -> bool; 3] = [
    |a, b| a == b && *a != Identity::Unknown,
    |a, b| matches!((a, b), (Identity::Process { pid: a, .. }, Identity::Process { pid: b, .. }) if a == b),
    |a, b| matches!((a, b), (Identity::Process { command: a, .. }, Identity::Process { command: b, .. }) if a == b),
];

impl Match {
    /// Matches the objects that have units.
    pub(super) fn new(
        areas_a: &[Area],
        units_a: &[UnitKey],
        areas_b: &[Area],
        units_b: &[UnitKey],
    ) -> Self {
        let mut left_a = objects(areas_a, units_a);
        let mut left_b = objects(areas_b, units_b);
        let mut result = Self::default();
        let mut number = 0..;
        let mut pair = |a: ObjectId, b: ObjectId, result: &mut Self| {
            let number = number.next().unwrap_or(u32::MAX);
            result.a.insert(a, number);
            result.b.insert(b, number);
        };
        for rule in RULES {
            left_a.retain(|(a, identity)| {
                let Some(at) = left_b.iter().position(|(_, other)| rule(identity, other)) else {
                    return true;
                };
                pair(*a, left_b.remove(at).0, &mut result);
                false
            });
        }
        // One address space left on either side is the same program under another name.
        let spaces = |left: &[(ObjectId, Identity)]| {
            let found: Vec<usize> = (0..left.len()).filter(|i| left[*i].1.is_space()).collect();
            if let [sole] = found[..] { Some(sole) } else { None }
        };
        if let (Some(a), Some(b)) = (spaces(&left_a), spaces(&left_b)) {
            pair(left_a.remove(a).0, left_b.remove(b).0, &mut result);
        }
        let first = u32::try_from(result.a.len()).unwrap_or(u32::MAX);
        for (number, (object, identity)) in (first..).zip(left_a) {
            result.a.insert(object, number);
            result.unmatched_a.push(identity.name());
        }
        let first =
            first.saturating_add(u32::try_from(result.unmatched_a.len()).unwrap_or(u32::MAX));
        for (number, (object, identity)) in (first..).zip(left_b) {
            result.b.insert(object, number);
            result.unmatched_b.push(identity.name());
        }
        result
    }
}
