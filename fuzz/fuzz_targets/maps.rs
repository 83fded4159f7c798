//! What the kernel says of a process, names of its choice included: /proc/PID/maps and stat.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pagetide_host::{Host, Maps};
use pagetide_types::Pid;
use std::fs;
use std::sync::OnceLock;

fuzz_target!(|data: &[u8]| {
    static ROOT: OnceLock<tempfile::TempDir> = OnceLock::new();
    let root = ROOT.get_or_init(|| tempfile::tempdir().expect("a folder")).path();
    let folder = root.join("proc/7");
    fs::create_dir_all(&folder).expect("a folder");
    for name in ["maps", "stat", "cmdline", "statm"] {
        fs::write(folder.join(name), data).expect("a file");
    }
    let host = Host::new(root);
    let mut maps = Maps::new();
    if host.read_maps(Pid(7), &mut maps).is_ok() {
        for area in maps.areas() {
            assert!(area.start < area.end);
            std::hint::black_box((maps.name(area), maps.path(area)));
        }
    }
    let _ = host.process(Pid(7));
    let _ = host.command_line(Pid(7));
    let _ = host.resident(Pid(7));
});
