//! Which object of one recording is which of the other.

use crate::Area;
use crate::object::{Identity, identities};
use pagetide_types::{ObjectId, UnitKey};
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

/// The objects that have units, in order of first sight.
fn objects(areas: &[Area], units: &[UnitKey]) -> Vec<(ObjectId, Identity)> {
    let identities = identities(areas);
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
