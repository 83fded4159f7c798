//! What the kernel and the machine offer, as plain facts. A fact that cannot be read is absent:
//! reading features never fails. `doctor` says what they mean.

use crate::{Cpu, Hierarchy, Host, MemoryTier, Node, StallEvents, files::decimal};
use pagetide_types::Bytes;
use std::collections::BTreeSet;

/// Capabilities of a process, one bit each (linux/capability.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(pub u64);

impl Capabilities {
    /// Inspect other processes.
    pub const SYS_PTRACE: u32 = 19;
    /// The old right to nearly everything; includes `BPF` and `PERFMON`.
    pub const SYS_ADMIN: u32 = 21;
    /// Advise the kernel about other processes' memory (`process_madvise`).
    pub const SYS_NICE: u32 = 23;
    /// Read the kernel's memory from eBPF programs.
    pub const PERFMON: u32 = 38;
    /// Load eBPF programs.
    pub const BPF: u32 = 39;

    /// Whether it has one, be it by way of `SYS_ADMIN`.
    #[must_use]
    pub const fn has(self, capability: u32) -> bool {
        let implied = matches!(capability, Self::BPF | Self::PERFMON);
        self.0 >> capability & 1 == 1 || implied && self.0 >> Self::SYS_ADMIN & 1 == 1
    }

    /// The names of those that recording needs and that it has not.
    #[must_use]
    pub fn lacking(self) -> Vec<&'static str> {
        const NEEDED: [(u32, &str); 5] = [
            (Capabilities::BPF, "CAP_BPF"),
            (Capabilities::PERFMON, "CAP_PERFMON"),
            (Capabilities::SYS_PTRACE, "CAP_SYS_PTRACE"),
            (Capabilities::SYS_NICE, "CAP_SYS_NICE"),
            (Capabilities::SYS_ADMIN, "CAP_SYS_ADMIN"),
        ];
        let lacks = |(capability, _): &&(u32, &str)| !self.has(*capability);
        NEEDED.iter().filter(lacks).map(|(_, name)| *name).collect()
    }
}

/// Whether parts of the kernel that the recorder stands on are in its type information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTypes {
    /// eBPF iterators over areas of memory (5.12).
    pub area_iterator: bool,
    /// Iterators that visit one process only (6.1).
    pub iterator_by_process: bool,
    /// `bpf_loop` (5.17).
    pub bpf_loop: bool,
    /// `process_madvise` (5.10).
    pub process_madvise: bool,
}

/// How the kernel uses transparent huge pages; each is the choice in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugePages {
    /// `always`, `madvise` or `never`.
    pub enabled: String,
    /// When it may stall to make one: `always`, `defer`, `defer+madvise`, `madvise`, `never`.
    pub defrag: String,
}

/// A counter unit of the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pmu {
    /// `cpu`, or `cpu_core` and `cpu_atom`.
    pub name: String,
    /// Its named events, sorted.
    pub events: Vec<String>,
}

/// All that [`Host::features`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Kernel release, e.g. `6.12.30`.
    pub release: Option<String>,
    /// Identifies this boot.
    pub boot_id: Option<String>,
    /// Effective user of our process.
    pub uid: Option<u32>,
    /// Effective capabilities of our process.
    pub capabilities: Capabilities,
    /// We run in the machine's first PID namespace: our numbers are the kernel's.
    pub first_pid_namespace: Option<bool>,
    /// What the kernel's type information (BTF) shows; none where it has none.
    pub types: Option<KernelTypes>,
    /// `none`, `integrity` or `confidentiality`.
    pub lockdown: Option<String>,
    /// The processor.
    pub cpu: Cpu,
    /// Its counters; empty in most virtual machines.
    pub pmus: Vec<Pmu>,
    /// Those of them that tell how long programs wait for memory.
    pub stall_events: Option<StallEvents>,
    /// Memory in all.
    pub total: Bytes,
    /// Of it, what this process could still get, under the limits of its cgroup.
    pub available: Bytes,
    /// The online NUMA nodes.
    pub nodes: Vec<Node>,
    /// The memory tiers, fastest first.
    pub tiers: Vec<MemoryTier>,
    /// Transparent huge pages; none where the kernel has none.
    pub huge_pages: Option<HugePages>,
    /// Mounted cgroup hierarchies.
    pub cgroups: Vec<Hierarchy>,
    /// Pressure stall information.
    pub pressure: bool,
    /// `kernel.numa_balancing`: 0 off, 1 between CPUs' nodes, 2 tiering, 3 both.
    pub numa_balancing: Option<u32>,
    /// The kernel demotes to slower tiers instead of reclaiming.
    pub demotion: Option<bool>,
    /// Bits of the multi-generational LRU; 0 is off, absent is not built.
    pub lru_gen: Option<u32>,
    /// Active swap devices and their sizes.
    pub swaps: Vec<(String, Bytes)>,
    /// Threads of DAMON that run, e.g. `kdamond.0`.
    pub damon: Vec<String>,
    /// Kernel same-page merging runs.
    pub merging: bool,
}

impl Host {
    /// Whether the kernel demotes pages to slower memory instead of reclaiming them; none where it cannot (before 5.15).
    #[must_use]
    pub fn demotes(&self) -> Option<bool> {
        let text = self.text("sys/kernel/mm/numa/demotion_enabled")?;
        Some(text == "true" || text == "1")
    }

    /// Reads all features; the slowest part is a pass over some MiB of type information.
    #[must_use]
    pub fn features(&self) -> Features {
        let status = self.text("proc/self/status").unwrap_or_default();
        let field = |text: &str, key: &str, word: usize| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            line.split_whitespace().nth(word).map(str::to_owned)
        };
        let caps = field(&status, "CapEff:", 0).and_then(|c| u64::from_str_radix(&c, 16).ok());
        let namespace = self.link("proc/self/ns/pid").ok();
        let number = |path: &str| self.text(path).and_then(|text| text.parse().ok());
        Features {
            release: self.text("proc/sys/kernel/osrelease"),
            boot_id: self.text("proc/sys/kernel/random/boot_id"),
            uid: field(&status, "Uid:", 1).and_then(|uid| uid.parse().ok()),
            capabilities: Capabilities(caps.unwrap_or(0)),
            first_pid_namespace: namespace.map(|ns| ns.to_str() == Some(FIRST_PID_NAMESPACE)),
            types: self.kernel_types(),
            lockdown: self.text("sys/kernel/security/lockdown").and_then(|t| chosen(&t)),
            cpu: self.cpu(),
            pmus: self.pmus(),
            stall_events: self.stall_events(),
            total: self.meminfo().get("MemTotal"),
            available: self.memory_left().unwrap_or(Bytes(u64::MAX)).min(self.machine_available()),
            nodes: self.nodes().unwrap_or_default(),
            tiers: self.memory_tiers().unwrap_or_default(),
            huge_pages: self.huge_pages(),
            cgroups: self.cgroup_hierarchies().unwrap_or_default(),
            pressure: self.text("proc/pressure/memory").is_some(),
            numa_balancing: number("proc/sys/kernel/numa_balancing"),
            demotion: self.demotes(),
            lru_gen: self
                .text("sys/kernel/mm/lru_gen/enabled")
                .and_then(|t| u32::from_str_radix(t.trim_start_matches("0x"), 16).ok()),
            swaps: swaps(&self.text("proc/swaps").unwrap_or_default()),
            damon: self.damon_threads(),
            merging: self.text("sys/kernel/mm/ksm/run").is_some_and(|run| run == "1"),
        }
    }

    fn huge_pages(&self) -> Option<HugePages> {
        const DIR: &str = "sys/kernel/mm/transparent_hugepage";
        let choice = |file| self.text(format!("{DIR}/{file}")).and_then(|text| chosen(&text));
        Some(HugePages { enabled: choice("enabled")?, defrag: choice("defrag")? })
    }

    /// Names in the string table of the kernel's BTF, which is a list of texts ended by 0.
    fn kernel_types(&self) -> Option<KernelTypes> {
        let btf = self.read("sys/kernel/btf/vmlinux").ok().filter(|btf| !btf.is_empty())?;
        const NAMES: [&[u8]; 4] = [
            b"bpf_iter__task_vma",
            b"BPF_TASK_ITER_TGID",
            b"bpf_loop",
            b"__x64_sys_process_madvise",
        ];
        let mut found = [false; NAMES.len()];
        for text in btf.split(|&b| b == 0) {
            if let Some(name) = NAMES.iter().position(|name| *name == text) {
                found[name] = true;
            }
        }
        let [area_iterator, iterator_by_process, bpf_loop, process_madvise] = found;
        Some(KernelTypes { area_iterator, iterator_by_process, bpf_loop, process_madvise })
    }

    fn pmus(&self) -> Vec<Pmu> {
        const DIR: &str = "sys/bus/event_source/devices";
        let is_cpu = |name: &String| name == "cpu" || name.starts_with("cpu_");
        let names = self.entries(DIR).unwrap_or_default();
        let names: BTreeSet<String> =
            names.into_iter().filter_map(|n| n.into_string().ok()).filter(is_cpu).collect();
        let pmu = |name: String| {
            let events = self.entries(format!("{DIR}/{name}/events")).unwrap_or_default();
            let events: BTreeSet<String> = events
                .into_iter()
                .filter_map(|event| event.into_string().ok())
                .filter(|event| !event.contains('.')) // `.unit` and `.scale` of another event
                .collect();
            Pmu { name, events: events.into_iter().collect() }
        };
        names.into_iter().map(pmu).collect()
    }

    /// By their threads: whoever started them, through sysfs or a module.
    fn damon_threads(&self) -> Vec<String> {
        let pids = self.pids().unwrap_or_default();
        let processes = pids.into_iter().filter_map(|pid| self.process(pid).ok());
        processes
            .filter(|process| process.kernel_thread && process.name.starts_with("kdamond"))
            .map(|process| process.name)
            .collect()
    }
}

/// What `/proc/self/ns/pid` shows outside of containers (`PROC_PID_INIT_INO`).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// `Filename Type Size Used Priority`, sizes in KiB; names have no blanks (they are escaped).
fn swaps(text: &str) -> Vec<(String, Bytes)> {
    let devices = text.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let kib = decimal(words.nth(1)?.as_bytes())?;
        Some((name.to_owned(), Bytes(kib.saturating_mul(1024))))
    });
    devices.collect()
}

#[cfg(test)]
#[path = "features_tests.rs"]
pub(crate) mod tests;
