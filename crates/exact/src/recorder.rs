//! Runs a command in QEMU, and makes epochs of what is counted.

use crate::{
    cache_model::CacheModel,
    clock::{Clock, Passed},
    command,
    emulator::Emulator,
    error::ExactError,
    objects::Objects,
    process::Process,
    regions::Regions,
    shared::Waits,
    stream::{Out, Streaming},
};
use nix::sys::signal::{Signal, kill};
use pagetide_access::StreamWriter;
use pagetide_host::Host;
use pagetide_trace::{Epoch, EpochRecord};
use pagetide_types::{EpochId, Pid, UnitSize};
use std::{
    collections::HashSet,
    ffi::OsString,
    fs, io,
    os::{fd::AsFd, unix::fs::PermissionsExt},
    path::Path,
    process::{Child, Command, ExitStatus},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Between two looks at clocks and processes.
const TICK: Duration = Duration::from_millis(10);
/// How long processes may take to end when asked.
const PATIENCE: Duration = Duration::from_secs(5);
/// A last epoch shorter than this share of a whole one is dropped, unless it is the only one.
const SHORTEST_LAST: f64 = 0.2;

/// How to count.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Length of an epoch, of the program's own time.
    pub epoch: Duration,
    /// What gets counts of its own.
    pub unit: UnitSize,
    /// Ends the recording after so much of the program's own time.
    pub limit: Option<Duration>,
    /// What the command prints goes to standard error.
    pub output_aside: bool,
    /// The cache behind which misses are counted.
    pub cache: CacheModel,
    /// How many times longer the emulated program takes to compute.
    pub dilation: f64,
}

/// Why a recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The command ended, and all that it started.
    TargetEnded(Option<ExitStatus>),
    /// The time was up.
    Limit,
    /// The caller asked to stop.
    Stopped,
}

/// What could not be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// Programs that were executed outside of QEMU.
    pub strangers: usize,
    /// Processes with threads whose files could not be made.
    pub processes: usize,
    /// Accesses beyond the room of a thread's table.
    pub accesses: u64,
}

/// A program that is counted. Create it, then call [`Recorder::epoch`] until it says that it
/// ended.
pub struct Recorder {
    host: Host,
    folder: TempDir,
    emulator: Emulator,
    options: Options,
    child: Child,
    status: Option<ExitStatus>,
    processes: Vec<Process>,
    known: HashSet<OsString>,
    spaces: u64,
    objects: Arc<Mutex<Objects>>,
    streaming: Option<Streaming>,
    regions: Regions,
    clock: Clock,
    epoch: u32,
    started: Instant,
    /// Of the program's own time: the start of the epoch, and what passed since.
    start_s: f64,
    passed: Passed,
    total: Passed,
    uncounted: Uncounted,
    /// When processes were looked at, and how long they waited for us since the clocks were read.
    looked: Instant,
    held_ns: u64,
    rings_ns: u64,
}

impl Recorder {
    /// Starts the command; its accesses are also written to `stream`, if there is one.
    ///
    /// # Errors
    /// When it cannot be executed in QEMU.
    pub fn start(
        emulator: &Emulator,
        host: Host,
        words: &[OsString],
        options: Options,
        stream: Option<StreamWriter<Out>>,
    ) -> Result<Self, ExactError> {
        let words = command::resolve(words)?;
        let folder = private_folder()?;
        let option = emulator.option(
            folder.path(),
            &options.cache,
            Some(std::process::id()),
            stream.is_some(),
        );
        let write = |name: &str, text: &OsString| {
            use std::os::unix::ffi::OsStrExt;
            let path = folder.path().join(name);
            fs::write(&path, text.as_bytes())
                .map_err(ExactError::system(format!("writing {}", path.display())))
        };
        write("emulator", &emulator.path().as_os_str().to_owned())?;
        write("option", &option)?;
        let mut command = Command::new(emulator.path());
        command.arg("-plugin").arg(option).args(words);
        pagetide_privilege::prepare(&mut command, None);
        if options.output_aside {
            let aside = io::stderr().as_fd().try_clone_to_owned();
            command.stdout(aside.map_err(ExactError::system("duplicating stderr"))?);
        }
        let child = command.spawn();
        let child =
            child.map_err(ExactError::system(format!("starting {}", emulator.path().display())))?;
        let unit = options.unit;
        let objects = Arc::new(Mutex::new(Objects::new(unit)));
        Ok(Self {
            host,
            folder,
            emulator: emulator.clone(),
            child,
            status: None,
            processes: Vec::new(),
            known: HashSet::new(),
            spaces: 0,
            streaming: stream.map(|writer| Streaming::start(writer, Arc::clone(&objects))),
            objects,
            regions: Regions::new(unit),
            clock: Clock::new(options.dilation),
            epoch: 0,
            started: Instant::now(),
            start_s: 0.0,
            passed: Passed::default(),
            total: Passed::default(),
            uncounted: Uncounted::default(),
            looked: Instant::now(),
            held_ns: 0,
            rings_ns: 0,
            options,
        })
    }

    /// What could not be counted so far.
    #[must_use]
    pub fn uncounted(&self) -> Uncounted {
        self.alive().fold(self.uncounted, Uncounted::with)
    }

    /// CPU seconds of the emulation so far, and seconds of wall time.
    #[must_use]
    pub fn used_s(&self) -> (f64, f64) {
        (self.total.emulated_s, self.started.elapsed().as_secs_f64())
    }

    /// Records one epoch. `stop` is asked now and then whether to end early.
    ///
    /// # Errors
    /// When what the plugin wrote cannot be read.
    pub fn epoch(
        &mut self,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Option<EpochRecord>, Option<End>), ExactError> {
        let limit = self.options.limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64());
        let length = self.options.epoch.as_secs_f64().min(limit - self.start_s);
        let cpu = process_cpu();
        let end = loop {
            self.tick()?;
            if self.ended() {
                break Some(End::TargetEnded(self.status));
            }
            if stop() {
                break Some(End::Stopped);
            }
            if self.passed.own_s >= length {
                let over = self.start_s + self.passed.own_s >= limit;
                break over.then_some(End::Limit);
            }
            thread::sleep(TICK);
        };
        if end.is_some() {
            self.read_clock();
        }
        let whole = self.passed.own_s >= self.options.epoch.as_secs_f64() * SHORTEST_LAST;
        let wanted = end.is_none() || whole || self.epoch == 0;
        let record = wanted.then(|| self.record(cpu));
        Ok((record.filter(|record| !record.heat.is_empty()), end))
    }

    /// Meets new processes and threads, reads clocks, and lets those go that wait for us.
    fn tick(&mut self) -> Result<(), ExactError> {
        self.meet()?;
        if self.status.is_none() {
            self.status = self.child.try_wait().unwrap_or(None);
        }
        if self.clock.due() {
            self.read_clock();
        }
        let alive = self.alive().count();
        for process in &mut self.processes {
            if process.over {
                continue;
            }
            process.look(&self.host);
            let waits = process.waits();
            let gone = waits.is_none()
                && (has_ended(&self.host, process.pid)
                    || process.became_stranger() && !self.emulator.runs(process.pid));
            if waits.is_none() && !gone || waits.is_some() && !process.drained() {
                continue;
            }
            // Of the last one the memory counts as it is at its end.
            let resident = alive == 1 && waits == Some(Waits::Ends);
            let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
            let (objects, regions) = (&mut *objects, &mut self.regions);
            process.read(&self.host, objects, regions, EpochId(self.epoch), resident);
            self.clock.collect(process.pid);
            process.release();
            // It waited for half of the time since the last look, in the mean.
            self.held_ns += u64::try_from(self.looked.elapsed().as_nanos()).unwrap_or(0) / 2;
            if waits != Some(Waits::Executes) || gone {
                process.over = true;
                self.uncounted = self.uncounted.with(process);
            }
        }
        self.looked = Instant::now();
        Ok(())
    }

    /// Ends an interval of the program's own time.
    fn read_clock(&mut self) {
        let pids: Vec<Pid> = self.alive().map(|process| process.pid).collect();
        let held_ns = self.held_ns();
        let passed = self.clock.passed(&pids, held_ns);
        self.passed.add(passed);
        self.total.add(passed);
        if let Some(streaming) = &self.streaming {
            streaming.set_time(self.total.own_s);
        }
    }

    /// How long processes waited for us since the last call.
    fn held_ns(&mut self) -> u64 {
        let rings: u64 = self.alive().map(Process::waited_ns).sum();
        let waited = rings.saturating_sub(self.rings_ns);
        self.rings_ns = rings;
        waited + std::mem::take(&mut self.held_ns)
    }

    fn alive(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| !process.over)
    }

    /// Whether the command has ended, and all that it started as far as it is counted.
    fn ended(&self) -> bool {
        self.status.is_some() && self.alive().next().is_none()
    }

    /// Opens the files that are new: of processes, then of their threads.
    fn meet(&mut self) -> Result<(), ExactError> {
        let folder = self.folder.path();
        let entries = fs::read_dir(folder)
            .map_err(ExactError::system(format!("reading {}", folder.display())))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut new: Vec<OsString> = names.filter(|name| !self.known.contains(name)).collect();
        // "process" before "cpu".
        new.sort_by_key(|name| !name.as_encoded_bytes().ends_with(b"process"));
        for name in new {
            let path = self.folder.path().join(&name);
            let Some((pid, start, what)) = name.to_str().and_then(parts) else { continue };
            if what == "process" {
                let Some(process) = Process::open(&path, start, self.spaces)? else { continue };
                // The program before in the same process was replaced.
                for before in self.processes.iter_mut().filter(|p| p.pid == process.pid) {
                    before.over = true;
                }
                self.spaces += 1;
                self.processes.push(process);
            } else if let Some(number) = what.strip_suffix(".cpu") {
                let of = |p: &&mut Process| p.pid.0 == pid && p.start == start;
                let Some(process) = self.processes.iter_mut().find(of) else { continue };
                process.add_cpu(&path)?;
                let ring = self.folder.path().join(format!("{pid}.{start}.{number}.ring"));
                if let Some(streaming) = &self.streaming {
                    streaming.add(process.add_ring(&ring, &path)?);
                    let _ = fs::remove_file(&ring);
                }
            } else {
                continue;
            }
            self.known.insert(name);
            // It is mapped; the name is of no use any more.
            let _ = fs::remove_file(&path);
        }
        Ok(())
    }

    /// The epoch that ends now.
    fn record(&mut self, cpu: Duration) -> EpochRecord {
        let epoch = EpochId(self.epoch);
        for process in self.processes.iter_mut().filter(|process| !process.over) {
            let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
            process.read(&self.host, &mut objects, &mut self.regions, epoch, true);
        }
        let length_s = self.passed.own_s.max(1e-6);
        let processes = u32::try_from(self.alive().count()).unwrap_or(u32::MAX);
        let heat = self.regions.heat(epoch, length_s);
        let row = Epoch {
            epoch,
            start_s: self.start_s,
            length_s,
            processes,
            target_cpu_s: self.passed.cpu_s,
            recorder_s: process_cpu().saturating_sub(cpu).as_secs_f64(),
            watched_share: 1.0,
            ..Epoch::default()
        };
        self.start_s += length_s;
        self.passed = Passed::default();
        self.epoch += 1;
        self.processes.retain(|process| !process.over);
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let new_areas = std::mem::take(&mut objects.new_areas);
        drop(objects);
        EpochRecord {
            epoch: row,
            new_units: std::mem::take(&mut self.regions.new_units),
            new_areas,
            heat,
        }
    }

    /// Ends the command with all that it started; says who did not end within 5 s of SIGTERM and
    /// was killed.
    pub fn terminate(&mut self) -> Vec<Pid> {
        self.signal(Signal::SIGTERM);
        self.signal(Signal::SIGCONT);
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            // What cannot be read any more need not be.
            if self.tick().is_err() || self.ended() {
                break;
            }
            thread::sleep(TICK);
        }
        let killed = self.signal(Signal::SIGKILL);
        // It has ended, or was killed just now.
        let _ = self.child.wait();
        killed
    }

    /// Writes what is left of the stream, once the command ended or was ended.
    ///
    /// # Errors
    /// When the stream cannot be written.
    pub fn finish(&mut self) -> Result<(), ExactError> {
        self.streaming.take().map_or(Ok(()), Streaming::finish)
    }

    fn signal(&self, signal: Signal) -> Vec<Pid> {
        let child = Pid(self.child.id().cast_signed());
        let mut pids: Vec<Pid> = self.alive().map(|process| process.pid).collect();
        if self.status.is_none() && !pids.contains(&child) {
            pids.push(child);
        }
        let reached = |pid: &Pid| kill(nix::unistd::Pid::from_raw(pid.0), signal).is_ok();
        pids.into_iter().filter(reached).collect()
    }
}

impl Uncounted {
    /// What a process adds.
    fn with(self, process: &Process) -> Self {
        Self {
            strangers: self.strangers + usize::from(process.became_stranger()),
            processes: self.processes + usize::from(process.uncounted() > 0),
            accesses: self.accesses + process.lost(),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        for process in &self.processes {
            process.detach();
        }
    }
}

impl Passed {
    fn add(&mut self, other: Self) {
        self.own_s += other.own_s;
        self.cpu_s += other.cpu_s;
        self.emulated_s += other.emulated_s;
    }
}

/// `PID.START.WHAT`.
fn parts(name: &str) -> Option<(i32, u64, &str)> {
    let mut parts = name.splitn(3, '.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?))
        .filter(|(_, _, what)| !what.ends_with(".new"))
}

fn has_ended(host: &Host, pid: Pid) -> bool {
    host.process(pid).map_or(true, |process| process.has_ended())
}

/// In memory where there is a place for that, mode 0700.
pub(crate) fn private_folder() -> Result<TempDir, ExactError> {
    let memory = Path::new("/dev/shm");
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("pagetide-").permissions(fs::Permissions::from_mode(0o700));
        builder
    };
    let made = if memory.is_dir() { builder().tempdir_in(memory) } else { builder().tempdir() };
    made.or_else(|_| builder().tempdir())
        .map_err(ExactError::system("making a folder for what is counted"))
}

/// CPU time of this process.
fn process_cpu() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_nobody_elses_business() {
        let folder = private_folder().unwrap();
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn names_of_files_are_taken_apart() {
        assert_eq!(parts("17.99.0.cpu"), Some((17, 99, "0.cpu")));
        assert_eq!(parts("17.99.process"), Some((17, 99, "process")));
        assert_eq!(parts("17.99.0.cpu.new"), None, "not complete");
        assert_eq!(parts("option"), None);
    }
}
