//! `pagetide shift status`: what every device is, by the machine and by the journal.

use super::here;
use crate::commands::{out, print_json};
use crate::shift_args::StatusArgs;
use anyhow::Result;
use pagetide_host::{BlockState, DaxDevice, DaxDriver};
use pagetide_shift::{Entry, Identity, Journal, Kernel, LiveKernel, Lock, State};
use pagetide_types::{Bytes, NodeId, PhysAddr};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;

#[derive(Debug, Serialize)]
struct Status {
    /// Who shifts by himself.
    manager: Option<String>,
    devices: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: Option<String>,
    uuid: Option<String>,
    start: PhysAddr,
    size: Bytes,
    /// What it has as memory.
    memory: Bytes,
    node: Option<NodeId>,
    driver: Option<DaxDriver>,
    /// By the journal; none: not ours.
    state: Option<State>,
    blocks_online: usize,
    blocks: usize,
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
    let there = kernel.devices()?;
    for device in &there {
        let entry = entries.iter().find(|(id, _)| id.is(device));
        devices.push(row(&kernel, device, entry, manager.is_some())?);
    }
    devices.extend(gone(&entries, &there));
    let status = Status { manager, devices };
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
        start: device.start,
        size: device.size,
        memory: Bytes(size.0 * blocks.len() as u64),
        node: device.target,
        driver: Some(driver.clone()),
        state,
        blocks_online: online,
        blocks: blocks.len(),
        used: used.map(|(used, _)| used),
        is,
    })
}

/// Devices of the journal that the machine has not.
fn gone(entries: &BTreeMap<Identity, Entry>, there: &[DaxDevice]) -> Vec<Row> {
    entries
        .iter()
        .filter(|(id, _)| !there.iter().any(|device| id.is(device)))
        .map(|(id, entry)| Row {
            name: None,
            uuid: id.uuid.clone(),
            start: id.start,
            size: id.size,
            memory: Bytes(0),
            node: None,
            driver: None,
            state: Some(entry.state),
            blocks_online: 0,
            blocks: 0,
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
    if status.devices.is_empty() {
        text += "no dax device: neither persistent memory in mode devdax nor CXL memory\n";
    }
    for row in &status.devices {
        let name = row.name.as_deref().or(row.uuid.as_deref()).unwrap_or("?");
        let node = row.node.map_or_else(String::new, |node| format!(" of node {node}"));
        let used = row.used.map_or_else(String::new, |used| format!(", {used} used"));
        text += &format!(
            "{name:<10} {:>9}{node} at {}: {}{used}\n",
            row.size.to_string(),
            row.start,
            row.is
        );
    }
    text
}
