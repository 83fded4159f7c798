//! One run of QEMU: started, listened to, and ended, whatever happens to us.

use crate::{
    console,
    emulator::{Emulator, PROGRAM},
    qemu::Paths,
    spawn::spawn,
    words::{Word, listen},
};
use std::{
    io::{self, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    process::Child,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How long a guest may take to power off, once its command has ended.
const POWER_OFF: Duration = Duration::from_secs(20);
/// How often we look whether QEMU is there and whether we ought to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Why a guest gave no exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GuestError {
    /// QEMU is not there.
    #[error("cannot start {program}; scripts/deps.sh lab installs it", program = PROGRAM)]
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
    /// Its kernel ended before it ran anything of ours.
    #[error("the guest's kernel ended before its first process ran; its last lines:\n{0}")]
    NeverRan(String),
    /// The guest's first process gave up.
    #[error("the guest gave up: {0}; its last lines:\n{1}")]
    Failed(String, String),
    /// We were told to stop.
    #[error("interrupted; the guest was ended")]
    Interrupted,
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
    up: bool,
    said: Vec<String>,
    readers: Vec<JoinHandle<io::Result<()>>>,
    console: PathBuf,
    complaints: PathBuf,
    started: Instant,
}

impl Guest {
    /// Starts `emulator` with `arguments`. To be called by the thread that lives longest: the kernel
    /// ends QEMU together with it.
    pub(crate) fn start(
        emulator: &Emulator,
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
        let qemu = spawn(emulator, arguments, &complaints)?;
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
            up: false,
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
            if let Ok(word) = self.words.recv_timeout(LOOK) {
                if let Some(word) = self.hear(word)? {
                    return Ok(Some(word));
                }
                continue;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(GuestError::Interrupted);
            }
            if let Ok(Some(status)) = self.qemu.try_wait() {
                // What it said before it ended may still be on the way.
                while let Ok(word) = self.words.recv_timeout(LOOK) {
                    if let Some(word) = self.hear(word)? {
                        return Ok(Some(word));
                    }
                }
                if status.success() && !self.up {
                    return Err(GuestError::NeverRan(self.last_lines()));
                }
                let why = format!("QEMU ended with {status}");
                return Err(GuestError::Lost(why, self.last_lines()));
            }
            if self.started.elapsed() > limit {
                return Ok(None);
            }
        }
    }

    /// Keeps what is for later; what is left is an answer to who waits.
    fn hear(&mut self, word: Word) -> Result<Option<Word>, GuestError> {
        match word {
            Word::Connected(stream) => self.answer = Some(stream),
            Word::Up => self.up = true,
            Word::Said(line) => self.said.push(line),
            Word::Failed(why) => return Err(GuestError::Failed(why, self.last_lines())),
            word => return Ok(Some(word)),
        }
        Ok(None)
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
        console::out_of_memory(&self.console)
    }

    /// The end of what kernel, setup and QEMU itself have said.
    fn last_lines(&self) -> String {
        console::last_lines(&self.console) + &console::last_lines(&self.complaints)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.end();
    }
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
