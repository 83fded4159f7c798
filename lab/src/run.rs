//! `pagetide-lab run`: packs, boots, runs, and brings back what the command left.

use crate::{
    args::Run,
    cache::{Cache, Kernel},
    emulator::Emulator,
    felt::{self, Felt, Times},
    guest::{Guest, GuestError, Sink, Sinks},
    meter::{self, Meter},
    pack::{Load, pack},
    prefix::Prefixed,
    probe::compute_ns,
    qemu::{self, PORTS, Paths},
    topology::Topology,
};
use anyhow::{Context, ensure};
use pagetide_machine::Machine;
use pagetide_types::Bytes;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

/// Measures the emulated CPU, in the guest, by the program that all metered guests have: without
/// felt memory first, then with it.
const MEASURE: &str = "pagetide-lab probe times";
/// How long the meter may take to read a file.
const METER_READS: Duration = Duration::from_secs(30);

/// How often a guest may try to boot: a kernel with several emulated CPUs that patches its own code now and then runs
/// into a breakpoint that is gone already ("Oops: int3"), and ends.
const BOOTS: u32 = 3;

/// All that the guests of one run share.
struct Lab<'a> {
    run: &'a Run,
    topology: Topology,
    machine: Option<Machine>,
    kernel: Kernel,
    emulator: Emulator,
    plugin: Option<PathBuf>,
    folder: tempfile::TempDir,
    stop: Arc<AtomicBool>,
}

/// One guest and its files.
struct Running {
    guest: Guest,
    home: PathBuf,
    dilation: Option<f64>,
}

/// Runs the command; its exit code, or of several guests' the first that is not 0.
pub(crate) fn run(run: &Run) -> anyhow::Result<i32> {
    let topology = Topology::load(&run.topology)?;
    let machine = run.felt.as_deref().map(Machine::load).transpose()?;
    if let Some(machine) = &machine {
        felt::tiers(&topology, machine)?;
    }
    ensure!(
        run.meter.is_none() || topology.cxls.is_empty(),
        "--meter knows no CXL memory: it counts with QEMU 7.2, and not where the window of addresses lies"
    );
    if run.instruction_ns.is_some_and(|time| time.free_percent() > 0) {
        ensure!(
            run.meter.is_some() && topology.cpus() == 1,
            "--instruction-ns below 1 needs --meter, and a topology with one CPU; '{}' has {}",
            topology.name,
            topology.cpus()
        );
    }
    let cache = Cache::find()?;
    let kernel = cache.kernel()?;
    let emulator = Emulator::find(&cache, &topology)?;
    let plugin = run.meter.as_ref().map(|_| meter::plugin(&cache)).transpose()?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let folder = tempfile::Builder::new().prefix("pagetide-lab-").tempdir()?;
    let lab = Lab { run, topology, machine, kernel, emulator, plugin, folder, stop };
    lab.run()
}

impl Lab<'_> {
    fn run(&self) -> anyhow::Result<i32> {
        pack(&self.load()?, &self.topology, &self.kernel)?.write(&self.initrd())?;
        if let Some(out) = &self.run.out {
            fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
        }
        // One after the other: guests that share memory prepare it in turn.
        let mut guests = (0..self.topology.guests)
            .map(|number| self.boot(number))
            .collect::<anyhow::Result<Vec<_>>>()?;
        for running in &mut guests {
            running.guest.go(running.dilation)?;
        }
        let mut code = 0;
        for (number, running) in (0..).zip(&mut guests) {
            let limit = Duration::from_secs(self.run.timeout);
            let ended = running.guest.finish(limit, &self.stop);
            self.keep(&running.home.join("console"), self.run.console.as_deref(), number)?;
            let ended = ended?;
            if let Some(line) = running.guest.out_of_memory() {
                eprintln!("note: the guest ran out of memory: {line}");
            }
            code = if code == 0 { ended } else { code };
        }
        for (number, running) in (0..).zip(&guests) {
            self.bring_back(number, &running.home)?;
        }
        Ok(code)
    }

    fn initrd(&self) -> PathBuf {
        self.folder.path().join("initrd")
    }

    fn load(&self) -> anyhow::Result<Load> {
        let mut programs = self.run.with.clone();
        if self.plugin.is_some() {
            programs.push(std::env::current_exe()?.display().to_string());
        }
        Ok(Load {
            command: self.run.command.clone(),
            environment: self.run.env.clone(),
            measure: self.measures().then(|| MEASURE.to_owned()),
            programs,
            copies: self.run.copy.clone(),
        })
    }

    /// Boots guest `number` until it is ready for the command; again, if its kernel ended before it had run anything.
    fn boot(&self, number: u32) -> anyhow::Result<Running> {
        let home = self.folder.path().join(number.to_string());
        let mut left = BOOTS;
        loop {
            fs::create_dir(&home)?;
            left -= 1;
            match self.boot_once(number, home.clone()) {
                Err(error) if left > 0 && never_ran(&error) => {
                    eprintln!("note: {error}it boots again");
                    fs::remove_dir_all(&home)?;
                }
                booted => return booted,
            }
        }
    }

    fn boot_once(&self, number: u32, home: PathBuf) -> anyhow::Result<Running> {
        let paths = Paths {
            kernel: self.kernel.image.clone(),
            initrd: self.initrd(),
            console: home.join("console"),
            ports: PORTS.iter().map(|name| home.join(name)).collect(),
            nvdimms: self.nvdimms(number, &home)?,
            cxls: self.cxls(number, &home)?,
            keep: self.run.keep.is_some(),
        };
        let sinks = Sinks {
            out: self.output(number, Box::new(io::stdout())),
            err: self.output(number, Box::new(io::stderr())),
            files: Box::new(fs::File::create(home.join("files.tar"))?),
        };
        let mut arguments =
            qemu::arguments(&self.topology, &paths, number, self.run.instruction_ns);
        if let Some(plugin) = &self.plugin {
            let meter = Meter {
                plugin: plugin.clone(),
                out: home.join("meter"),
                units: self.run.units.as_ref().map(|_| home.join("units")),
                unit_size: self.run.unit_size,
                units_every: self.run.units_every,
                felt: self.machine.as_ref().map(|_| home.join("felt")),
                interval_ms: self.run.interval,
                instruction_time: self.run.instruction_ns,
                cache: self.run.cache,
            };
            arguments.extend(["-plugin".into(), meter.option(&self.topology)]);
        }
        if let (Some(machine), false) = (&self.machine, self.measures()) {
            fs::write(home.join("felt"), self.felt(machine, self.dilation()).table(0.0)?)?;
        }
        let mut guest = Guest::start(&self.emulator, &arguments, &paths, sinks)?;
        let dilation = self.prepare(number, &mut guest, &home);
        self.keep(&paths.console, self.run.console.as_deref(), number)?;
        Ok(Running { dilation: dilation?, guest, home })
    }

    /// Waits until a guest is ready, its memory felt if asked for; the dilation then.
    fn prepare(&self, number: u32, guest: &mut Guest, home: &Path) -> anyhow::Result<Option<f64>> {
        let limit = Duration::from_secs(self.run.boot_timeout);
        let felt = match &self.machine {
            Some(machine) if self.measures() => {
                let times = Times::parse(&guest.measured(limit, &self.stop)?)?;
                let measured = times.compute / compute_ns(200);
                let dilation = self.run.dilation.unwrap_or(measured);
                self.say(&felt::summary(machine, &times, measured, dilation));
                let felt = self.felt(machine, dilation);
                self.tell_meter(&felt.table(times.chase)?, home)?;
                guest.again()?;
                Some((felt, times))
            }
            _ => None,
        };
        let (boot, version) = (guest.ready(limit, &self.stop)?.as_secs_f64(), &self.kernel.version);
        self.say(&format!("guest {number}: Linux {version} ready after {boot:.1} s"));
        let Some((felt, times)) = felt else {
            return Ok(self.machine.as_ref().map(|_| self.dilation()));
        };
        let own = felt.corrected(&times, &Times::parse(&guest.said())?);
        self.tell_meter(&felt.table(own)?, home)?;
        Ok(Some(felt.dilation))
    }

    /// Whether the emulated CPU is measured at boot: where its time goes by instructions it is known.
    fn measures(&self) -> bool {
        self.machine.is_some() && self.run.instruction_ns.is_none()
    }

    /// What is asked for, or 1.
    fn dilation(&self) -> f64 {
        self.run.dilation.unwrap_or(1.0)
    }

    fn felt<'a>(&'a self, machine: &'a Machine, dilation: f64) -> Felt<'a> {
        Felt {
            topology: &self.topology,
            machine,
            dilation,
            by_instructions: self.run.instruction_ns.is_some(),
        }
    }

    /// Hands a file to the meter and waits until it has read it.
    fn tell_meter(&self, table: &str, home: &Path) -> anyhow::Result<()> {
        let path = home.join("felt");
        fs::write(home.join("felt.new"), table)?;
        fs::rename(home.join("felt.new"), &path)?;
        let since = Instant::now();
        while path.exists() {
            ensure!(since.elapsed() < METER_READS, "the meter does not read its times");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The files of a guest's NVDIMMs, created where they are not there yet.
    fn nvdimms(&self, guest: u32, home: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        let common = self.run.keep.as_deref().unwrap_or(self.folder.path());
        let own = self.own(guest, home)?;
        for (number, nvdimm) in self.topology.nvdimms.iter().enumerate() {
            let folder = if nvdimm.shared { common } else { &own };
            let path = folder.join(format!("nvdimm{number}"));
            all.push(memory_file(path, qemu::nvdimm_file(nvdimm.size))?);
        }
        Ok(all)
    }

    /// Those of its CXL devices.
    fn cxls(&self, guest: u32, home: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let own = self.own(guest, home)?;
        let all = self.topology.cxls.iter().enumerate();
        all.map(|(number, cxl)| memory_file(own.join(format!("cxl{number}")), cxl.size)).collect()
    }

    /// The folder of a guest's own memory.
    fn own(&self, guest: u32, home: &Path) -> anyhow::Result<PathBuf> {
        let own = match &self.run.keep {
            Some(keep) => keep.join(guest.to_string()),
            None => home.to_owned(),
        };
        fs::create_dir_all(&own).with_context(|| format!("cannot create {}", own.display()))?;
        Ok(own)
    }

    /// Several guests' lines are told apart by their number.
    fn output(&self, number: u32, sink: Sink) -> Sink {
        if self.topology.guests == 1 { sink } else { Box::new(Prefixed::new(number, sink)) }
    }

    /// Copies what a guest left to where the user asked for it.
    fn bring_back(&self, number: u32, home: &Path) -> anyhow::Result<()> {
        for (name, to) in [("meter", &self.run.meter), ("units", &self.run.units)] {
            self.keep(&home.join(name), to.as_deref(), number)?;
        }
        if let Some(out) = &self.run.out {
            let several = out.join(number.to_string());
            let to = if self.topology.guests == 1 { out } else { &several };
            fs::create_dir_all(to)?;
            unpack(&home.join("files.tar"), to)?;
        }
        Ok(())
    }

    /// Copies a guest's file to `to`, or to `to.NUMBER` if there are several guests.
    fn keep(&self, from: &Path, to: Option<&Path>, number: u32) -> anyhow::Result<()> {
        let Some(to) = to else { return Ok(()) };
        let several = PathBuf::from(format!("{}.{number}", to.display()));
        let to = if self.topology.guests == 1 { to } else { &several };
        fs::copy(from, to).with_context(|| format!("cannot write {}", to.display()))?;
        Ok(())
    }

    fn say(&self, what: &str) {
        if self.run.verbose {
            eprintln!("{what}");
        }
    }
}

/// A file that is memory, created where it is not there yet.
fn memory_file(path: PathBuf, size: Bytes) -> anyhow::Result<PathBuf> {
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
    file.set_len(size.0)?;
    Ok(path)
}

fn never_ran(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(GuestError::NeverRan(_)))
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
    ensure!(tar.success(), "the guest's files did not arrive whole; some are in {}", to.display());
    io::stdout().flush()?;
    Ok(())
}
