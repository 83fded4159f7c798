//! A file system of a user's own, that lets nobody look into it, or does not answer: FUSE (linux/fuse.h), served here by
//! as few answers as opening a file takes.

use super::*;
use rustix::io::{FdFlags, fcntl_setfd};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{sync::mpsc, thread, time::Duration};

/// Whoever mounted it.
const NOBODY: u32 = 65534;
const FULL: Dev = Dev { major: 1, minor: 7 };
/// Requests.
const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const INIT: u32 = 26;

/// Opens a file as descriptor 9, and maps it.
const OPENS: &str = "import mmap, os, sys, time; file = os.open(sys.argv[1], os.O_RDWR); os.dup2(file, 9); \
                     mapped = mmap.mmap(file, 4096); print('open', flush=True); time.sleep(60)";

/// `struct fuse_attr`: the root is a folder, all else a file of nobody's.
fn attributes(node: u64) -> Vec<u8> {
    let mode: u32 = if node == 1 { 0o40777 } else { 0o100_666 };
    let longs = [node, 4096, 8, 0, 0, 0].map(u64::to_le_bytes).concat();
    let words = [0, 0, 0, mode, 1, NOBODY, NOBODY, 0, 4096, 0].map(u32::to_le_bytes).concat();
    [longs, words].concat()
}

/// What is answered to a request about a node; its error, if it is none of those that are known.
fn answer(request: u32, node: u64) -> Result<Vec<u8>, i32> {
    match request {
        INIT => {
            let words = [7, 31, 1 << 17, 0, 12 << 16 | 16, 1 << 16, 1, 32].map(u32::to_le_bytes);
            Ok([words.concat(), vec![0; 32]].concat())
        }
        // Valid for no time: whoever wants to know asks again.
        LOOKUP => Ok([[2, 0, 0, 0, 0].map(u64::to_le_bytes).concat(), attributes(2)].concat()),
        GETATTR => Ok([[0u64; 2].map(u64::to_le_bytes).concat(), attributes(node)].concat()),
        OPEN => Ok(vec![0; 16]),
        _ => Err(-38), // ENOSYS
    }
}

/// Mounted, its file `f` open by a process of its user's; it answers no more.
struct Silent {
    folder: tempfile::TempDir,
    opened: Option<Child>,
}

impl Silent {
    fn mount(options: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::options().read(true).write(true).open("/dev/fuse");
        let mut device = open().map_err(|error| format!("/dev/fuse: {error}"))?;
        // mount(8) inherits it.
        fcntl_setfd(&device, FdFlags::empty()).unwrap();
        let all = format!(
            "fd={},rootmode=40000,user_id={NOBODY},group_id={NOBODY}{options}",
            device.as_raw_fd()
        );
        let mut mount = Command::new("mount");
        mount.args(["-i", "-t", "fuse", "-o", &all, "pagetide"]).arg(folder.path());
        let mounted = mount.output().map_err(|error| error.to_string())?;
        fcntl_setfd(&device, FdFlags::CLOEXEC).unwrap();
        if !mounted.status.success() {
            return Err(String::from_utf8_lossy(&mounted.stderr).into_owned());
        }
        let silent = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&silent);
        thread::spawn(move || {
            let mut request = vec![0; 1 << 18];
            while let Ok(length) = device.read(&mut request) {
                let word = |at: usize| u32::from_le_bytes(request[at..at + 4].try_into().unwrap());
                let long = |at: usize| u64::from_le_bytes(request[at..at + 8].try_into().unwrap());
                assert!(length >= 40);
                if asked.load(Ordering::Acquire) || word(4) == FORGET {
                    continue;
                }
                let (said, error) = match answer(word(4), long(16)) {
                    Ok(said) => (said, 0),
                    Err(error) => (Vec::new(), error),
                };
                let length = u32::try_from(16 + said.len()).unwrap();
                let head = [length.to_le_bytes(), error.to_le_bytes()].concat();
                let _ = device.write(&[head, long(8).to_le_bytes().to_vec(), said].concat());
            }
        });
        let mut mounted = Self { folder, opened: None };
        let mut opens = Command::new("python3");
        opens.args(["-c", OPENS]).arg(mounted.folder.path().join("f"));
        opens.uid(NOBODY).gid(NOBODY).current_dir("/");
        let child =
            opens.stdout(Stdio::piped()).spawn().map_err(|error| format!("python3: {error}"))?;
        let child = mounted.opened.insert(child);
        let mut said = [0; 4];
        let read = child.stdout.as_mut().unwrap().read_exact(&mut said);
        silent.store(true, Ordering::Release);
        read.map_err(|error| format!("its file cannot be opened: {error}"))?;
        Ok(mounted)
    }

    fn pid(&self) -> Pid {
        Pid(self.opened.as_ref().unwrap().id().cast_signed())
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // Lazily: whoever still waits for an answer is let go by that.
        let _ = Command::new("umount").args(["-f", "-l"]).arg(self.folder.path()).status();
        if let Some(child) = &mut self.opened {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_file_system_of_a_user_keeps_nobody_from_finding_out_who_has_a_device() {
    let name = "a_file_system_of_a_user_keeps_nobody_from_finding_out_who_has_a_device";
    for options in ["", ",allow_other"] {
        let mounted = match Silent::mount(options) {
            Ok(mounted) => mounted,
            Err(why) => return eprintln!("SKIPPED {name}: no FUSE: {}", why.trim()),
        };
        let pid = mounted.pid();
        let opened = fs::read_link(format!("/proc/{pid}/fd/9")).unwrap();
        assert!(opened.ends_with("f"), "{opened:?}");
        let of = |what: &str, asked: fn(Pid) -> Result<bool, Error>| {
            let (send, found) = mpsc::channel();
            thread::spawn(move || send.send(asked(pid)));
            let found = found.recv_timeout(Duration::from_secs(10));
            found.unwrap_or_else(|_| panic!("{options}: {what}: it waits for an answer"))
        };
        let device = |pid| Host::live().has_open(pid, FULL, DeviceKind::Character);
        assert!(!of("open", device).unwrap_or_else(|error| panic!("{options}: {error}")));
        let device = |pid| Host::live().has_mapped(pid, FULL, DeviceKind::Character);
        assert!(!of("mapped", device).unwrap_or_else(|error| panic!("{options}: {error}")));
        // Who may not look is told so.
        let _ = of("held", |pid| {
            let mut maps = Maps::new();
            Host::live().read_maps(pid, &mut maps)?;
            let area = maps.areas().iter().find(|area| maps.name(area).ends_with("/f"));
            Host::live().held_behind(pid, area.unwrap()).map(|held| held.0 > 0)
        });
    }
}
