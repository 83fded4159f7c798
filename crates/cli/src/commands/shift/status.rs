//! `pagetide shift status`: what every device is, by the machine and by the journal.

use super::here;
use crate::commands::{out, print_json};
use crate::shift_args::StatusArgs;
use anyhow::Result;
use pagetide_host::{BlockState, DaxDevice, DaxDriver, DaxShown};
use pagetide_shift::{Entry, Identity, Journal, Kernel, LiveKernel, Lock, State};
use pagetide_types::{Bytes, NodeId, PhysAddr};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Serialize)]
struct Status {
    /// Who shifts by himself.
    manager: Option<String>,
    /// Why nobody could here.
    unable: Option<String>,
    /// The folder that has no journal, if it has none: all devices are as if nobody had offered them.
    #[serde(skip)]
    no_journal: Option<PathBuf>,
    devices: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: Option<String>,
    uuid: Option<String>,
    /// Where it lies; none for who may not see that, nor what of it is memory then.
    start: Option<PhysAddr>,
    size: Bytes,
    /// What it has as memory.
    memory: Option<Bytes>,
    node: Option<NodeId>,
    driver: Option<DaxDriver>,
    /// By the journal; none: not ours.
    state: Option<State>,
    blocks_online: Option<usize>,
    blocks: Option<usize>,
    /// Of it, in use; none where it is not memory or the kernel does not tell.
    used: Option<Bytes>,
    /// In words.
    is: &'static str,
}

pub(crate) fn status(arguments: &StatusArgs) -> Result<ExitCode> {
    let (kernel, machine) = here(false)?;
    let folder = &arguments.state.state;
    let entries = Journal::peek(folder, &machine)?;
    let manager = Lock::manager_of(folder);
    let mut devices = Vec::new();
    let there = kernel.host().dax_devices_shown()?;
    for shown in &there {
        devices.push(match &shown.whole {
            Some(device) => {
                let entry = entries.iter().find(|(id, _)| id.is(device));
                row(&kernel, device, entry, manager.is_some())?
            }
            None => in_part(shown, &entries),
        });
    }
    devices.extend(gone(&entries, &there));
    let no_journal = (!folder.join("journal").exists()).then(|| folder.clone());
    let unable = pagetide_shift::can_run(&kernel).err().map(|why| why.to_string());
    let status = Status { manager, unable, no_journal, devices };
    if arguments.state.json {
        print_json(&status)?;
    } else {
        out(&text(&status))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(
    kernel: &LiveKernel,
    device: &DaxDevice,
    entry: Option<(&Identity, &Entry)>,
    managed: bool,
) -> Result<Row> {
    let size = kernel.block_size()?.unwrap_or_default();
    let blocks = if size == Bytes(0) { Vec::new() } else { device.blocks(size) };
    let mut online = 0;
    for block in &blocks {
        online +=
            usize::from(kernel.block(*block)?.is_some_and(|it| it.state == BlockState::Online));
    }
    let used = if online > 0 { pagetide_shift::usage(kernel, device).ok() } else { None };
    let state = entry.map(|(_, entry)| entry.state);
    let driver = &device.driver;
    let is = match state {
        _ if device.ranges > 1 => "of several ranges: none of ours converts it",
        None if online > 0 => "memory, not ours",
        None => "not prepared",
        Some(State::Storage) if *driver == DaxDriver::Storage => "storage, may become memory",
        Some(State::Memory) if *driver == DaxDriver::Memory && online == blocks.len() => "memory",
        Some(State::Withdrawn) if *driver == DaxDriver::Storage => "storage, given back",
        Some(State::ToStorage) if managed && online == 0 => {
            "no memory any more; until it is zeroed other programs' memory may be on it"
        }
        Some(State::ToMemory | State::ToStorage | State::Memory) => {
            "not finished: recover makes it right; until then other programs' memory may be on it"
        }
        Some(State::Storage | State::Withdrawn) => "storage by the journal, but not driven as such",
    };
    Ok(Row {
        name: Some(device.name.clone()),
        uuid: device.uuid.clone(),
        start: Some(device.start),
        size: device.size,
        memory: Some(Bytes(size.0 * blocks.len() as u64)),
        node: device.target,
        driver: Some(driver.clone()),
        state,
        blocks_online: Some(online),
        blocks: Some(blocks.len()),
        used: used.map(|(used, _)| used),
        is,
    })
}

/// Whether a device whose address may not be read is one of the journal: its namespace tells that.
fn is(id: &Identity, shown: &DaxShown) -> bool {
    id.uuid.is_some() && id.uuid == shown.uuid && id.size == shown.size
}

/// A device whose address may not be read.
fn in_part(shown: &DaxShown, entries: &BTreeMap<Identity, Entry>) -> Row {
    let state = entries.iter().find(|(id, _)| is(id, shown)).map(|(_, entry)| entry.state);
    Row {
        name: Some(shown.name.clone()),
        uuid: shown.uuid.clone(),
        start: None,
        size: shown.size,
        memory: None,
        node: shown.target,
        driver: Some(shown.driver.clone()),
        state,
        blocks_online: None,
        blocks: None,
        used: None,
        is: match (state, &shown.driver) {
            (Some(State::Storage), DaxDriver::Storage) => "storage, may become memory",
            (Some(State::Withdrawn), DaxDriver::Storage) => "storage, given back",
            (Some(State::Memory), DaxDriver::Memory) => "memory",
            (None, _) if shown.uuid.is_some() => "not prepared",
            _ => "root sees what it is",
        },
    }
}

/// Devices of the journal that the machine has not, as far as that can be told.
fn gone(entries: &BTreeMap<Identity, Entry>, there: &[DaxShown]) -> Vec<Row> {
    let may_be = |id: &Identity, shown: &DaxShown| match &shown.whole {
        Some(device) => id.is(device),
        None => is(id, shown) || (id.uuid.is_none() && shown.uuid.is_none()),
    };
    entries
        .iter()
        .filter(|(id, _)| !there.iter().any(|shown| may_be(id, shown)))
        .map(|(id, entry)| Row {
            name: None,
            uuid: id.uuid.clone(),
            start: Some(id.start),
            size: id.size,
            memory: Some(Bytes(0)),
            node: None,
            driver: None,
            state: Some(entry.state),
            blocks_online: Some(0),
            blocks: Some(0),
            used: None,
            is: if entry.state.is_dirty() {
                "gone; should it come back, other programs' memory may be on it"
            } else {
                "gone"
            },
        })
        .collect()
}

fn text(status: &Status) -> String {
    let mut text = match &status.manager {
        Some(who) => format!("managed by {who}\n"),
        None => "nobody manages memory here (pagetide shift run)\n".to_owned(),
    };
    if let Some(why) = &status.unable {
        text += &format!("`pagetide shift run` would refuse: {why}\n");
    }
    if status.devices.is_empty() {
        text += "no dax device: neither persistent memory in mode devdax nor CXL memory\n";
    }
    for row in &status.devices {
        let name = row.name.as_deref().or(row.uuid.as_deref()).unwrap_or("?");
        let node = row.node.map_or_else(String::new, |node| format!(" of node {node}"));
        let used = row.used.map_or_else(String::new, |used| format!(", {used} used"));
        let at = row.start.map_or_else(String::new, |start| format!(" at {start}"));
        text += &format!("{name:<10} {:>9}{node}{at}: {}{used}\n", row.size.to_string(), row.is);
    }
    if let Some(folder) = status.no_journal.as_ref().filter(|_| !status.devices.is_empty()) {
        text += &format!(
            "no journal in {}: no device is ours (pagetide shift prepare)\n",
            folder.display()
        );
    }
    if status.devices.iter().any(|row| row.start.is_none()) {
        text += "where devices lie, and what of them is in use, root alone may see\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device as anybody sees it, with labels or without.
    fn shown(uuid: Option<&str>, driver: DaxDriver) -> DaxShown {
        DaxShown {
            name: "dax1.0".into(),
            size: Bytes::mib(502),
            target: Some(NodeId(1)),
            driver,
            uuid: uuid.map(str::to_owned),
            whole: None,
        }
    }

    fn journal(uuid: Option<&str>, state: State) -> BTreeMap<Identity, Entry> {
        let (uuid, start, size) = (uuid.map(str::to_owned), PhysAddr(1 << 32), Bytes::mib(502));
        let entry = Entry { state, boot: "b".into(), made: None, for_owner: false };
        [(Identity { uuid, start, size }, entry)].into()
    }

    #[test]
    fn who_may_not_see_where_a_device_lies_is_told_what_it_is() {
        let labelled = Some("u");
        for (state, driver, is) in [
            (State::Storage, DaxDriver::Storage, "storage, may become memory"),
            (State::Withdrawn, DaxDriver::Storage, "storage, given back"),
            (State::Memory, DaxDriver::Memory, "memory"),
            (State::ToStorage, DaxDriver::None, "root sees what it is"),
        ] {
            let row = in_part(&shown(labelled, driver), &journal(labelled, state));
            assert_eq!((row.is, row.state), (is, Some(state)));
            let mut status =
                Status { manager: None, unable: None, no_journal: None, devices: vec![row] };
            let told = text(&status);
            assert!(told.contains(&format!("dax1.0       502 MiB of node 1: {is}\n")), "{told}");
            assert!(told.ends_with("root alone may see\n"), "{told}");
            assert!(!told.contains("no journal"), "{told}");
            // A folder that was mistyped.
            status.no_journal = Some("/var/lib/page-tide".into());
            assert!(text(&status).contains("no journal in /var/lib/page-tide: "), "{status:?}");
        }
        let other = in_part(&shown(labelled, DaxDriver::Storage), &BTreeMap::new());
        assert_eq!((other.is, other.start), ("not prepared", None));
    }

    #[test]
    fn what_cannot_be_told_from_others_is_not_called_gone() {
        let place = journal(None, State::Memory);
        let row = in_part(&shown(None, DaxDriver::Memory), &place);
        assert_eq!((row.is, row.state), ("root sees what it is", None));
        assert!(gone(&place, &[shown(None, DaxDriver::Memory)]).is_empty());
        assert_eq!(gone(&place, &[shown(Some("u"), DaxDriver::Memory)]).len(), 1);
        assert_eq!(gone(&place, &[]).len(), 1);
    }
}
