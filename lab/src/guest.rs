//! One run of QEMU: started, listened to, and ended, whatever happens to us.

use crate::qemu::{self, Paths};
use nix::sys::{prctl, signal::Signal};
use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::{
        net::{UnixListener, UnixStream},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How long a guest may take to power off, once its command has ended.
const POWER_OFF: Duration = Duration::from_secs(20);
/// How often we look whether QEMU is there and whether we ought to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Lines of the console that errors show.
const LAST_LINES: usize = 15;

/// Why a guest gave no exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GuestError {
    /// QEMU is not there.
    #[error("cannot start {program}; scripts/deps.sh lab installs it", program = qemu::PROGRAM)]
    Start(#[source] io::Error),
    /// A file or socket of the run.
    #[error("cannot use {0}")]
    File(PathBuf, #[source] io::Error),
    /// It did not boot in time.
    #[error("the guest was not ready after {0} s (--boot-timeout); its last lines:\n{1}")]
    Boot(u64, String),
    /// The command did not end in time.
    #[error("the command did not end within {0} s (--timeout); the guest was ended")]
    TimeUp(u64),
    /// The guest ended without a word.
    #[error("the guest ended without an exit code ({0}); its last lines:\n{1}")]
    Lost(String, String),
    /// The guest's first process gave up.
    #[error("the guest gave up: {0}; its last lines:\n{1}")]
    Failed(String, String),
    /// We were told to stop.
    #[error("interrupted; the guest was ended")]
    Interrupted,
}

/// What the guest says about itself, and the way to answer.
#[derive(Debug)]
enum Word {
    Connected(UnixStream),
    Said(String),
    Measured,
    Ready,
    Exit(i32),
    Failed(String),
}

/// Where a guest's output goes.
pub(crate) type Sink = Box<dyn Write + Send>;

/// What is done with a guest's output.
pub(crate) struct Sinks {
    /// The command's standard output.
    pub(crate) out: Sink,
    /// Its standard error.
    pub(crate) err: Sink,
    /// A tar archive of what it left in `/out`; nothing when that is empty.
    pub(crate) files: Sink,
}

/// A guest that runs. QEMU ends with it.
#[derive(Debug)]
pub(crate) struct Guest {
    qemu: Child,
    words: mpsc::Receiver<Word>,
    answer: Option<UnixStream>,
    said: Vec<String>,
    readers: Vec<JoinHandle<io::Result<()>>>,
    console: PathBuf,
    complaints: PathBuf,
    started: Instant,
}

impl Guest {
    /// Starts QEMU with `arguments`. To be called by the thread that lives longest: the kernel
    /// ends QEMU together with it.
    pub(crate) fn start(
        arguments: &[String],
        paths: &Paths,
        sinks: Sinks,
    ) -> Result<Self, GuestError> {
        let mut listeners = Vec::new();
        for path in &paths.ports {
            let listener =
                UnixListener::bind(path).map_err(|error| GuestError::File(path.clone(), error))?;
            listeners.push(listener);
        }
        let complaints = paths.console.with_extension("qemu");
        let qemu = spawn(arguments, &complaints)?;
        let (sender, words) = mpsc::channel();
        let mut readers = Vec::new();
        // In the order of `qemu::PORTS`; the control port is no plain stream.
        let streams = [Some(sinks.out), Some(sinks.err), None, Some(sinks.files)];
        for (listener, sink) in listeners.into_iter().zip(streams) {
            let sender = sender.clone();
            readers.push(thread::spawn(move || match sink {
                Some(sink) => receive(&listener, sink),
                None => listen(&listener, &sender),
            }));
        }
        let console = paths.console.clone();
        Ok(Self {
            qemu,
            words,
            answer: None,
            said: Vec::new(),
            readers,
            console,
            complaints,
            started: Instant::now(),
        })
    }

    /// Waits until the guest is ready for its command; the time that took.
    pub(crate) fn ready(
        &mut self,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Duration, GuestError> {
        loop {
            match self.next(limit, stop)? {
                Some(Word::Ready) => return Ok(self.started.elapsed()),
                Some(_) => {}
                None => return Err(GuestError::Boot(limit.as_secs(), self.last_lines())),
            }
        }
    }

    /// Waits until the guest has measured for the first time; what it said.
    pub(crate) fn measured(
        &mut self,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, GuestError> {
        loop {
            match self.next(limit, stop)? {
                Some(Word::Measured) => return Ok(self.said()),
                Some(_) => {}
                None => return Err(GuestError::Boot(limit.as_secs(), self.last_lines())),
            }
        }
    }

    /// What the guest has said since it was asked last.
    pub(crate) fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    /// Lets the guest measure once more.
    pub(crate) fn again(&mut self) -> Result<(), GuestError> {
        self.answer("again")
    }

    /// Lets a guest that is ready run its command; tells it its CPU's dilation if known.
    pub(crate) fn go(&mut self, dilation: Option<f64>) -> Result<(), GuestError> {
        self.started = Instant::now();
        let dilation = dilation.map_or_else(String::new, |dilation| format!(" {dilation:.2}"));
        self.answer(&format!("go{dilation}"))
    }

    fn answer(&mut self, line: &str) -> Result<(), GuestError> {
        let told = match &mut self.answer {
            Some(stream) => stream.write_all(format!("{line}\n").as_bytes()),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        told.map_err(|error| GuestError::Lost(error.to_string(), self.last_lines()))
    }

    /// Waits until the command has ended and all of its output has arrived; its exit code.
    pub(crate) fn finish(&mut self, limit: Duration, stop: &AtomicBool) -> Result<i32, GuestError> {
        loop {
            match self.next(limit, stop)? {
                Some(Word::Exit(code)) => {
                    self.power_off(stop)?;
                    return Ok(code);
                }
                Some(_) => {}
                None => return Err(GuestError::TimeUp(limit.as_secs())),
            }
        }
    }

    /// The next thing that the guest says, or nothing within `limit` of the start or of `go`.
    fn next(&mut self, limit: Duration, stop: &AtomicBool) -> Result<Option<Word>, GuestError> {
        loop {
            match self.words.recv_timeout(LOOK) {
                Ok(Word::Connected(stream)) => self.answer = Some(stream),
                Ok(Word::Said(line)) => self.said.push(line),
                Ok(Word::Failed(why)) => return Err(GuestError::Failed(why, self.last_lines())),
                Ok(word) => return Ok(Some(word)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    if stop.load(Ordering::Relaxed) {
                        return Err(GuestError::Interrupted);
                    }
                    // What it said before it ended may still be on the way.
                    if let Ok(Some(status)) = self.qemu.try_wait()
                        && let Ok(word) | Err(word) = self
                            .words
                            .recv_timeout(LOOK)
                            .map_err(|_| Word::Failed(format!("QEMU ended with {status}")))
                    {
                        match word {
                            Word::Failed(why) => {
                                return Err(GuestError::Lost(why, self.last_lines()));
                            }
                            word => return Ok(Some(word)),
                        }
                    }
                    if self.started.elapsed() > limit {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Waits for QEMU's end, and for all that is still to be read.
    fn power_off(&mut self, stop: &AtomicBool) -> Result<(), GuestError> {
        let since = Instant::now();
        while let Ok(None) = self.qemu.try_wait() {
            if stop.load(Ordering::Relaxed) {
                return Err(GuestError::Interrupted);
            }
            if since.elapsed() > POWER_OFF {
                self.end();
                break;
            }
            thread::sleep(LOOK / 4);
        }
        for reader in std::mem::take(&mut self.readers) {
            if let Ok(Err(error)) = reader.join() {
                return Err(GuestError::Lost(error.to_string(), self.last_lines()));
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        // Errors mean that it has ended already.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }

    /// What the kernel said when it killed a process for want of memory.
    pub(crate) fn out_of_memory(&self) -> Option<String> {
        let console = fs::read(&self.console).ok()?;
        let console = String::from_utf8_lossy(&console);
        Some(console.lines().find(|line| line.contains("Out of memory: "))?.trim_end().to_owned())
    }

    /// The end of what kernel, setup and QEMU itself have said.
    fn last_lines(&self) -> String {
        let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        last_lines(&read(&self.console)) + &last_lines(&read(&self.complaints))
    }
}

/// The last lines of `text`, or, if the kernel panicked, those from there on; indented.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let panic = lines.iter().position(|line| line.contains("Kernel panic"));
    let from = panic.unwrap_or(lines.len().saturating_sub(LAST_LINES));
    lines[from..].iter().take(LAST_LINES).map(|line| format!("  {line}\n")).collect()
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(arguments: &[String], complaints: &Path) -> Result<Child, GuestError> {
    let log = fs::File::create(complaints)
        .map_err(|error| GuestError::File(complaints.to_owned(), error))?;
    let mut command = Command::new(qemu::PROGRAM);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    // Ctrl-C reaches us alone; we end QEMU.
    command.process_group(0);
    let parent = nix::unistd::getpid();
    let end_with_us = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // We may have ended before that took effect.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec only prctl and getppid are called, which are
    // async-signal-safe; nothing is allocated.
    unsafe { command.pre_exec(end_with_us) };
    command.spawn().map_err(GuestError::Start)
}

/// Copies a port's bytes to `sink` until the guest ends.
fn receive(listener: &UnixListener, mut sink: Sink) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return sink.flush(),
            Ok(count) => {
                sink.write_all(&buffer[..count])?;
                sink.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return sink.flush(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads what the guest says about itself.
fn listen(listener: &UnixListener, words: &mpsc::Sender<Word>) -> io::Result<()> {
    let (stream, _) = listener.accept()?;
    // Who listens no longer has given up on the guest.
    let _ = words.send(Word::Connected(stream.try_clone()?));
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        let _ = words.send(word(&line));
    }
    Ok(())
}

fn word(line: &str) -> Word {
    match line.split_once(' ').unwrap_or((line, "")) {
        ("said", line) => Word::Said(line.to_owned()),
        ("measured", _) => Word::Measured,
        ("ready", _) => Word::Ready,
        ("exit", code) if code.parse::<i32>().is_ok() => {
            Word::Exit(code.parse().unwrap_or_default())
        }
        ("failed", why) => Word::Failed(why.to_owned()),
        _ => Word::Failed(format!("it said '{line}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_or_the_panic() {
        let many: String = (0..100).map(|number| format!("line {number}\r\n\n")).collect();
        let shown = last_lines(&many);
        assert!(shown.starts_with("  line 85\n") && shown.ends_with("  line 99\n"), "{shown}");
        let shown = last_lines(&many.replace("line 50", "Kernel panic - not syncing"));
        assert!(shown.starts_with("  Kernel panic"), "{shown}");
        assert!(shown.ends_with("  line 64\n"), "{shown}");
        assert_eq!(last_lines(""), "");
    }

    #[test]
    fn what_the_guest_says_is_understood() {
        assert!(matches!(word("ready"), Word::Ready));
        assert!(matches!(word("exit 130"), Word::Exit(130)));
        assert!(matches!(word("exit"), Word::Failed(why) if why.contains("'exit'")));
        assert!(matches!(word("said compute 1"), Word::Said(line) if line == "compute 1"));
        assert!(matches!(word("failed insmod x"), Word::Failed(why) if why == "insmod x"));
    }
}
