//! `pagetide-lab run`: packs, boots, runs, and brings back what the command left.

use crate::{
    args::Run,
    cache::Cache,
    guest::{Guest, Sink, Sinks},
    meter::{self, Meter},
    pack::{Load, pack},
    prefix::Prefixed,
    qemu::{self, PORTS, Paths},
    topology::Topology,
};
use anyhow::Context;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Runs the command; its exit code, or of several guests' the first that is not 0.
pub(crate) fn run(run: &Run) -> anyhow::Result<i32> {
    let topology = Topology::load(&run.topology)?;
    let cache = Cache::find()?;
    let kernel = cache.kernel()?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    let folder = tempfile::Builder::new().prefix("pagetide-lab-").tempdir()?;
    let initrd = folder.path().join("initrd");
    let mut programs = run.with.clone();
    if run.meter.is_some() {
        programs.push(std::env::current_exe()?.display().to_string());
    }
    let load = Load {
        command: run.command.clone(),
        environment: run.env.clone(),
        programs,
        copies: run.copy.clone(),
    };
    pack(&load, &topology, &kernel)?.write(&initrd)?;
    if let Some(out) = &run.out {
        fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    }

    let plugin = run.meter.as_ref().map(|_| meter::plugin(&cache)).transpose()?;
    let mut guests = Vec::new();
    let mut archives = Vec::new();
    for number in 0..topology.guests {
        let home = folder.path().join(number.to_string());
        fs::create_dir(&home)?;
        let paths = Paths {
            kernel: kernel.image.clone(),
            initrd: initrd.clone(),
            console: home.join("console"),
            ports: PORTS.iter().map(|name| home.join(name)).collect(),
            nvdimms: nvdimms(&topology, folder.path(), &home)?,
        };
        let archive = home.join("files.tar");
        let sinks = Sinks {
            out: output(&topology, number, Box::new(io::stdout())),
            err: output(&topology, number, Box::new(io::stderr())),
            files: Box::new(fs::File::create(&archive)?),
        };
        let mut arguments = qemu::arguments(&topology, &paths, number);
        if let Some(plugin) = &plugin {
            let meter = Meter {
                plugin: plugin.clone(),
                out: home.join("meter"),
                units: run.units.as_ref().map(|_| home.join("units")),
                felt: None,
                interval_ms: run.interval,
                cache: run.cache,
            };
            arguments.extend(["-plugin".into(), meter.option(&topology)]);
        }
        // One after the other: guests that share memory prepare it in turn.
        let mut guest = Guest::start(&arguments, &paths, sinks)?;
        let boot = guest.ready(Duration::from_secs(run.boot_timeout), &stop);
        keep_console(run, &topology, number, &paths.console)?;
        let boot = boot?;
        if run.verbose {
            eprintln!(
                "guest {number}: Linux {} ready after {:.1} s",
                kernel.version,
                boot.as_secs_f64()
            );
        }
        guests.push((guest, paths.console));
        archives.push(archive);
    }
    for (guest, _) in &mut guests {
        guest.go()?;
    }
    let mut code = 0;
    for (number, (guest, console)) in (0..).zip(&mut guests) {
        let ended = guest.finish(Duration::from_secs(run.timeout), &stop);
        keep_console(run, &topology, number, console)?;
        let ended = ended?;
        code = if code == 0 { ended } else { code };
    }
    for (number, archive) in (0..).zip(&archives) {
        for (name, to) in [("meter", &run.meter), ("units", &run.units)] {
            if let Some(to) = to {
                keep(&archive.with_file_name(name), to, &topology, number)?;
            }
        }
        if let Some(out) = place(run, &topology, number)? {
            unpack(archive, &out)?;
        }
    }
    Ok(code)
}

/// The files of the guest's NVDIMMs, created where they are not there yet.
fn nvdimms(topology: &Topology, shared: &Path, own: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for (number, nvdimm) in topology.nvdimms.iter().enumerate() {
        let path = if nvdimm.shared { shared } else { own }.join(format!("nvdimm{number}"));
        fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?
            .set_len(qemu::nvdimm_file(nvdimm.size).0)?;
        all.push(path);
    }
    Ok(all)
}

/// Several guests' lines are told apart by their number.
fn output(topology: &Topology, number: u32, sink: Sink) -> Sink {
    if topology.guests == 1 { sink } else { Box::new(Prefixed::new(number, sink)) }
}

/// Where a guest's files go: `--out`, or below it a folder for each of several guests.
fn place(run: &Run, topology: &Topology, number: u32) -> anyhow::Result<Option<PathBuf>> {
    let Some(out) = &run.out else { return Ok(None) };
    let place = if topology.guests == 1 { out.clone() } else { out.join(number.to_string()) };
    fs::create_dir_all(&place)?;
    Ok(Some(place))
}

/// Keeps the kernel's messages, if somebody asked for them.
fn keep_console(run: &Run, topology: &Topology, number: u32, from: &Path) -> anyhow::Result<()> {
    run.console.as_ref().map_or(Ok(()), |to| keep(from, to, topology, number))
}

/// Copies a guest's file to `to`, or to `to.NUMBER` if there are several guests.
fn keep(from: &Path, to: &Path, topology: &Topology, number: u32) -> anyhow::Result<()> {
    let several = PathBuf::from(format!("{}.{number}", to.display()));
    let to = if topology.guests == 1 { to } else { &several };
    fs::copy(from, to).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(())
}

fn unpack(archive: &Path, to: &Path) -> anyhow::Result<()> {
    if fs::metadata(archive)?.len() == 0 {
        return Ok(());
    }
    let tar = Command::new("tar")
        .args(["--no-same-owner", "-xf"])
        .arg(archive)
        .arg("-C")
        .arg(to)
        .status()
        .context("cannot run tar")?;
    anyhow::ensure!(
        tar.success(),
        "the guest's files did not arrive whole; some are in {}",
        to.display()
    );
    io::stdout().flush()?;
    Ok(())
}
