//! Tests of features on fake machines: a full one, an empty one, odd texts.

use super::*;
use crate::fake::Fake;
use proptest::prelude::*;

/// A bare-metal server with everything; shared with the tests of `doctor`.
pub(crate) fn server() -> Fake {
    let fake = Fake::new();
    fake.file(
        "proc/self/status",
        "Name:\tx\nUid:\t1000\t0\t0\t0\nCapEff:\t000001ffffffffff\n",
    )
    .link("proc/self/ns/pid", "pid:[4026531836]")
    .file("proc/self/mountinfo", "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    .file("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
    .file("proc/meminfo", "MemTotal:       1048576 kB\nMemAvailable:    524288 kB\n")
    .file("proc/sys/kernel/osrelease", "6.12.30-amd64\n")
    .file("proc/sys/kernel/random/boot_id", "abc\n")
    .file("proc/sys/kernel/numa_balancing", "0\n")
    .file("proc/pressure/memory", "some avg10=0.00\n")
    .file("proc/swaps", "Filename Type Size Used Priority\n")
    .file(
        "proc/cpuinfo",
        "processor: 0\nmodel name: Server CPU\nflags: fpu lm\n\
         address sizes: 46 bits physical, 48 bits virtual\n",
    )
    .file(
        "sys/kernel/btf/vmlinux",
        b"\x9f\xeb\0bpf_iter__task_vma\0BPF_TASK_ITER_TGID\0bpf_loop\0__x64_sys_process_madvise\0",
    )
    .file("sys/kernel/security/lockdown", "[none] integrity confidentiality\n")
    .file("sys/bus/event_source/devices/cpu/type", "4\n")
    .file("sys/bus/event_source/devices/cpu/events/slots", "event=0x00,umask=0x4\n")
    .file("sys/bus/event_source/devices/cpu/events/topdown-mem-bound", "event=0x00,umask=0x87\n")
    .file("sys/bus/event_source/devices/cpu/events/mem-loads", "x\n")
    .file("sys/bus/event_source/devices/cpu/events/power.scale", "x\n")
    .dir("sys/bus/event_source/devices/software")
    .file("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")
    .file("sys/kernel/mm/transparent_hugepage/defrag", "always defer [madvise] never\n")
    .file("sys/kernel/mm/numa/demotion_enabled", "false\n")
    .file("sys/kernel/mm/lru_gen/enabled", "0x0000\n")
    .file("sys/kernel/mm/ksm/run", "0\n")
    .file("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0\n")
    .file("sys/devices/virtual/memory_tiering/memory_tier9/nodelist", "1\n")
    .file("sys/devices/system/node/online", "0-1\n")
    .file("sys/devices/system/node/node0/cpulist", "0\n")
    .file("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 786432 kB\n")
    .file("sys/devices/system/node/node1/cpulist", "\n")
    .file("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 262144 kB\n");
    fake
}

#[test]
fn reads_a_server() {
    let fake = server();
    let features = fake.host().features();
    assert_eq!(features.release.as_deref(), Some("6.12.30-amd64"));
    assert_eq!((features.uid, features.first_pid_namespace), (Some(0), Some(true)));
    for capability in [19, 21, 23, 38, 39] {
        assert!(features.capabilities.has(capability));
    }
    let all = KernelTypes {
        area_iterator: true,
        iterator_by_process: true,
        bpf_loop: true,
        process_madvise: true,
    };
    assert_eq!(features.types, Some(all));
    assert_eq!(features.lockdown.as_deref(), Some("none"));
    assert_eq!(features.pmus.len(), 1);
    assert_eq!(features.stall_events.unwrap().name, "topdown-mem-bound");
    assert_eq!(features.pmus[0].events, ["mem-loads", "slots", "topdown-mem-bound"]);
    assert_eq!((features.total, features.available), (Bytes::gib(1), Bytes::mib(512)));
    assert_eq!((features.nodes.len(), features.tiers.len()), (2, 2));
    let huge = features.huge_pages.unwrap();
    assert_eq!((huge.enabled.as_str(), huge.defrag.as_str()), ("always", "madvise"));
    assert!(features.pressure && !features.merging && features.damon.is_empty());
    assert_eq!((features.demotion, features.lru_gen), (Some(false), Some(0)));
    assert!(features.cgroups[0].has("memory"));
}

#[test]
fn a_machine_that_says_nothing() {
    let fake = Fake::new();
    let features = fake.host().features();
    let expected = Features {
        nodes: features.nodes.clone(), // node 0 is always there
        ..Features::default()
    };
    assert_eq!(features, expected);
    assert_eq!(features.nodes.len(), 1);
}

#[test]
fn what_interferes() {
    let fake = server();
    fake.stat(77, "kdamond.0", 'S', 2, 0x20_8040, 9);
    fake.stat(78, "kdamond.imitator", 'S', 1, 0x40_0000, 9); // a user's process
    fake.file(
        "proc/swaps",
        "Filename Type Size\n/dev/zram0 partition 2048 0 100\n/a\\040b file 4 0 1\nodd\n",
    );
    fake.file("sys/kernel/mm/lru_gen/enabled", "0x0007\n");
    fake.file("sys/kernel/mm/ksm/run", "1\n");
    fake.file("proc/sys/kernel/numa_balancing", "2\n");
    let features = fake.host().features();
    assert_eq!(features.damon, ["kdamond.0"]);
    let swaps = [("/dev/zram0".to_owned(), Bytes::mib(2)), ("/a\\040b".to_owned(), Bytes::kib(4))];
    assert_eq!(features.swaps, swaps);
    assert_eq!((features.lru_gen, features.numa_balancing), (Some(7), Some(2)));
    assert!(features.merging);
}

#[test]
fn an_administrator_may_load_programs() {
    let admin = Capabilities(1 << 21);
    assert!(admin.has(Capabilities::BPF) && admin.has(Capabilities::PERFMON));
    assert!(!admin.has(Capabilities::SYS_PTRACE) && !admin.has(Capabilities::SYS_NICE));
    assert!(!Capabilities(1 << 39).has(Capabilities::PERFMON));
}

#[test]
fn a_name_must_match_as_a_whole() {
    let fake = Fake::new();
    fake.file("sys/kernel/btf/vmlinux", b"\0bpf_loop_x\0xbpf_iter__task_vma\0");
    assert_eq!(fake.host().features().types, Some(KernelTypes::default()));
    fake.file("sys/kernel/btf/vmlinux", b"");
    assert_eq!(fake.host().features().types, None);
}

#[test]
fn this_machine() {
    let features = Host::live().features();
    assert!(features.release.is_some() && features.boot_id.is_some() && features.uid.is_some());
    assert!(features.total > features.available);
}

proptest! {
    #[test]
    fn odd_texts_never_panic(text in "[\\[\\]a-z0-9: \n]{0,40}") {
        let _ = (chosen(&text), swaps(&text));
    }
}
