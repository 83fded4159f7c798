//! What an object is: the address space of a process, a file, or shared memory, as its areas tell.

use crate::Area;
use pagetide_types::{AreaKind, ObjectId};
use std::collections::HashMap;

/// What an object is known by beyond its number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Identity {
    /// The address space of a process.
    Process { pid: i32, command: String },
    /// A file or shared memory.
    Named { name: String, kind: AreaKind },
    /// No area tells; taken for an address space.
    Unknown,
}

impl Identity {
    fn of(area: &Area) -> Self {
        match area.kind {
            AreaKind::Heap | AreaKind::Stack | AreaKind::Anonymous => {
                Self::Process { pid: area.pid.0, command: area.command.clone() }
            }
            kind @ (AreaKind::File | AreaKind::Shared) => {
                Self::Named { name: area.shown_name().into_owned(), kind }
            }
        }
    }

    pub(crate) fn is_space(&self) -> bool {
        !matches!(self, Self::Named { .. })
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Process { pid, command } => format!("{command} ({pid})"),
            Self::Named { name, .. } => name.clone(),
            Self::Unknown => "[unknown]".to_owned(),
        }
    }
}

/// What the objects of these areas are. An object with any private memory is an address space,
/// whatever else is mapped there.
pub(crate) fn identities(areas: &[Area]) -> HashMap<ObjectId, Identity> {
    let mut identities: HashMap<ObjectId, Identity> = HashMap::new();
    for area in areas {
        let identity = Identity::of(area);
        let known = identities.entry(area.object).or_insert_with(|| identity.clone());
        if identity.is_space() && !known.is_space() {
            *known = identity;
        }
    }
    identities
}
