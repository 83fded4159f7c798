//! `pagetide shift run`: one check after the other.

use super::{Unable, here, need_root, open};
use crate::commands::out;
use crate::interrupt;
use crate::shift_args::ShiftRunArgs;
use crate::tell::tell;
use anyhow::Result;
use pagetide_host::{Host, Node};
use pagetide_manager::Amount;
use pagetide_shift::{
    Check, Daemon, DaemonError, DaemonOptions, Demotion, Entry, GLANCE, Happened, Identity,
    Journal, Kernel, LiveKernel, Lock, PressureOptions, State, Threshold,
};
use pagetide_types::Bytes;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Where the machine's lock lies, until it is booted again.
const RUN: &str = "/run/pagetide/shift";
/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// How often a signal is looked for while a device is zeroed.
const PIECE: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &ShiftRunArgs) -> Result<ExitCode> {
    need_root()?;
    let (kernel, machine) = here(arguments.count_free_only)?;
    pagetide_shift::can_run(&kernel).map_err(Unable::Kernel)?;
    let folder = &arguments.state.state;
    // What may not be used is refused before anything is made beside it.
    Journal::peek(folder, &machine)?;
    // A dry run leaves nothing behind, and is nobody's rival.
    let _manager =
        if arguments.dry_run { None } else { Some(Lock::manager(folder, Path::new(RUN))?) };
    interrupt::listen();
    if let Err(error) = pagetide_shift::stay_in_memory() {
        tell!("pagetide: note: it may be paged out itself when memory gets short: {error}");
    }
    // A daemon before us may have been killed in the middle.
    if !arguments.dry_run {
        let (recovered, _) =
            pagetide_shift::recover(&kernel, &[], || open(folder, &machine, false))?;
        for it in recovered.iter().filter_map(|it| it.is.as_ref().err()) {
            tell!("pagetide: note: {it}");
        }
    }
    if nothing_offered(&Journal::peek(folder, &machine)?) {
        tell!(
            "pagetide: note: no device is prepared, so nothing becomes memory; `pagetide shift prepare` offers one, \
             also while this runs, and `pagetide shift status` lists them"
        );
    }
    let nodes = kernel.host().nodes().unwrap_or_default();
    if asks_for_all(&arguments.threshold, arguments.growth, &nodes) {
        tell!(
            "pagetide: note: --growth times --threshold is all that DRAM has, or more: the last devices that become \
             memory never go back; lower one of them"
        );
    }
    let demotion = if arguments.demote && !arguments.dry_run {
        Some(Demotion::on(kernel.host())?)
    } else {
        None
    };
    if demotion.is_none() && kernel.host().demotes() == Some(false) {
        tell!(
            "pagetide: note: the kernel's demotion is off: DRAM that is full swaps although the memory behind it is \
             free; --demote switches it on while this runs"
        );
    }
    let options = DaemonOptions {
        folder: folder.clone(),
        machine,
        threshold: match arguments.threshold {
            Amount::Bytes(bytes) => Threshold::Bytes(bytes),
            Amount::Share(share) => Threshold::Share(share),
        },
        pressure: PressureOptions {
            smoothing: arguments.smoothing,
            threshold: Bytes(0),
            growth: arguments.growth,
            lead: arguments.lead,
            apart: arguments.apart,
            stalled: arguments.stalled,
        },
        limit: arguments.time,
        at_most: arguments.at_most,
        compact: arguments.compact,
        dry_run: arguments.dry_run,
    };
    let host = kernel.host().clone();
    if !arguments.dry_run
        && let Err(fault) = kernel.be_ready()
    {
        tell!("pagetide: note: {fault}");
    }
    let mut daemon = Daemon::new(kernel, options);
    let since = Instant::now();
    let (mut next, mut glanced) = (since, since);
    let mut said = None;
    while !interrupt::asked() && arguments.limit.is_none_or(|limit| since.elapsed() < limit) {
        if next > Instant::now() && glanced.elapsed() >= GLANCE {
            glanced = Instant::now();
            if daemon.is_due() {
                next = glanced;
            }
        }
        let left = next.saturating_duration_since(Instant::now());
        let did = if left > Duration::ZERO {
            daemon.zero(left.min(PIECE)).map(|more| {
                if !more {
                    thread::sleep(LOOK.min(left));
                }
                None
            })
        } else {
            // A check that was late is not made up for.
            next = (next + arguments.every).max(Instant::now());
            check(&mut daemon, &host).map(Some)
        };
        if did.is_err() {
            tell_rest(&mut daemon, arguments)?;
        }
        match did {
            Ok(None) => {}
            Ok(Some(check)) => {
                said = None;
                if arguments.verbose || !check.happened.is_empty() {
                    say(&check, arguments)?;
                }
            }
            // Without the journal nothing may be changed.
            Err(DaemonError::Journal(error)) => return Err(error.into()),
            // What cannot be read now, or is locked, may be at the next check.
            Err(error) => {
                let error = error.to_string();
                if said.as_ref() != Some(&error) {
                    tell!("pagetide: note: {error}");
                    said = Some(error);
                }
                thread::sleep(LOOK.min(left));
            }
        }
    }
    drop(demotion);
    if daemon.is_zeroing() {
        tell!(
            "pagetide: note: what is no memory any more is zeroed before this ends; after another Ctrl-C \
             `pagetide shift recover` has to do it"
        );
    }
    let finished = daemon.finish();
    tell_rest(&mut daemon, arguments)?;
    finished?;
    Ok(if interrupt::asked() {
        ExitCode::from(crate::exit::INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Whether more is to be free than any node with CPUs has.
fn asks_for_all(threshold: &Amount, growth: f64, nodes: &[Node]) -> bool {
    match threshold {
        Amount::Share(share) => share * growth >= 1.0,
        Amount::Bytes(bytes) => {
            let most = nodes.iter().filter(|node| !node.cpus.is_empty()).map(|node| node.total.0);
            most.max().is_some_and(|most| bytes.0 as f64 * growth >= most as f64)
        }
    }
}

fn check(daemon: &mut Daemon<LiveKernel>, host: &Host) -> Result<Check, DaemonError> {
    let stalled = host.memory_stalls()?.map(|stalls| stalls.some);
    daemon.check(&host.nodes()?, stalled)
}

/// Says what happened and no check tells.
fn tell_rest(daemon: &mut Daemon<LiveKernel>, arguments: &ShiftRunArgs) -> Result<()> {
    let happened = daemon.untold();
    if happened.is_empty() {
        return Ok(());
    }
    let seconds = daemon.kernel().now().as_secs_f64();
    say(&Check { seconds, pairs: Vec::new(), happened }, arguments)
}

/// Whether no device is ours to convert.
fn nothing_offered(entries: &BTreeMap<Identity, Entry>) -> bool {
    entries.values().all(|entry| entry.state == State::Withdrawn)
}

fn say(check: &Check, arguments: &ShiftRunArgs) -> Result<()> {
    if arguments.state.json {
        return out(&format!("{}\n", serde_json::to_string(check)?));
    }
    let mut text = String::new();
    if arguments.verbose {
        for pair in &check.pairs {
            let next = pair
                .conversion
                .map_or_else(String::new, |seconds| format!(", the next one takes {seconds:.1} s"));
            text += &format!(
                "{:.1} s  node {}: {} free (smoothed {}, threshold {}, {}/s used up), {} of devices are memory, {} \
                 could be{next}\n",
                check.seconds,
                pair.dram,
                pair.free,
                pair.smoothed,
                pair.threshold,
                pair.used_up,
                pair.memory,
                pair.storage
            );
        }
    }
    for happened in &check.happened {
        let what = match happened {
            Happened::Grew { device, bytes, why, seconds } => {
                let why = match why {
                    pagetide_shift::Trigger::Free => "little is free",
                    pagetide_shift::Trigger::Lead => "what is free is used up fast",
                    pagetide_shift::Trigger::Stalls => "tasks wait for memory",
                };
                format!("{device} is memory now: {bytes} in {seconds:.2} s, because {why}")
            }
            Happened::Shrank { device, bytes, moved, seconds } => {
                let moved = match moved {
                    Bytes(0) => String::new(),
                    moved => format!(", {moved} of programs' memory moved to DRAM"),
                };
                format!("{device} is no memory any more: {bytes} in {seconds:.2} s{moved}")
            }
            Happened::Zeroed { device, seconds } => {
                format!("{device} is storage again, zeroed, {seconds:.2} s after it was memory")
            }
            Happened::Again { device, bytes, seconds } => format!(
                "{device} is memory again, before it was zeroed: {bytes} in {seconds:.2} s, because programs want it"
            ),
            Happened::Restored { device, bytes } => {
                format!("{device} is memory again, {bytes}: its conversion was left in the middle")
            }
            Happened::Refused { device, why } => format!("{device} is left as it is: {why}"),
            Happened::Exhausted { wanted } => format!(
                "{wanted} more are wanted, and no device is left that could become memory: the kernel swaps as usual"
            ),
            Happened::NoDevice => "there is no dax device yet, neither persistent memory in mode devdax nor CXL \
                memory; it is looked for at every check. `pagetide shift prepare --region REGION --size SIZE` makes some \
                of a region (`ndctl list -R`)"
                .to_owned(),
            Happened::Compacted(compacted) => super::compact::words(compacted),
            Happened::Would { what, device, bytes } => {
                let to = if *what == "grow" { "memory" } else { "storage" };
                format!("would turn {device} into {to}: {bytes}")
            }
        };
        text += &format!("{:.1} s  {what}\n", check.seconds);
    }
    out(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::NodeId;

    #[test]
    fn more_than_dram_has_is_not_asked_for_unnoticed() {
        let node = |cpus: &[u32], gib| Node {
            id: NodeId(0),
            cpus: cpus.to_vec(),
            total: Bytes::gib(gib),
            free: Bytes(0),
            distances: vec![10],
        };
        // The larger one is persistent memory.
        let nodes = [node(&[0], 8), node(&[], 64)];
        let asks = |threshold, growth| asks_for_all(&threshold, growth, &nodes);
        assert!(!asks(Amount::Share(0.1), 5.0) && asks(Amount::Share(0.1), 10.0));
        assert!(
            !asks(Amount::Bytes(Bytes::gib(1)), 5.0) && asks(Amount::Bytes(Bytes::gib(1)), 8.0)
        );
    }
}
