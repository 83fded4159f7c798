//! A topology as QEMU's arguments. Pure: what runs them is `guest`.
//!
//! Without an HMAT the kernel takes all nodes for one tier, so there is always one.

use crate::{instruction_time::InstructionTime, topology::Topology};
use pagetide_types::Bytes;
use std::path::{Path, PathBuf};

/// Room for labels behind an NVDIMM's memory. Regions and namespaces are multiples of 16 MiB.
const LABELS: Bytes = Bytes::mib(16);

/// Names of the ports between guest and lab, in the order of their numbers from 1 on.
pub(crate) const PORTS: [&str; 4] = ["out", "err", "control", "files"];

/// Files of one guest that QEMU is told of.
#[derive(Debug)]
pub(crate) struct Paths {
    /// The kernel.
    pub(crate) kernel: PathBuf,
    /// The initial file system.
    pub(crate) initrd: PathBuf,
    /// Where the kernel's messages go.
    pub(crate) console: PathBuf,
    /// Sockets that the lab listens on, as [`PORTS`].
    pub(crate) ports: Vec<PathBuf>,
    /// Memory of the NVDIMMs.
    pub(crate) nvdimms: Vec<PathBuf>,
    /// Memory of the CXL devices.
    pub(crate) cxls: Vec<PathBuf>,
    /// What is written to them stays in their files.
    pub(crate) keep: bool,
}

/// Size of an NVDIMM's file: its memory and its labels.
pub(crate) fn nvdimm_file(size: Bytes) -> Bytes {
    Bytes(size.0 + LABELS.0)
}

/// QEMU's arguments for guest number `guest` of `topology`. `time`: what its clock advances by with an
/// instruction, if it goes by them; where all CPUs are idle it goes on to the next timer at once.
pub(crate) fn arguments(
    topology: &Topology,
    paths: &Paths,
    guest: u32,
    time: Option<InstructionTime>,
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |option: &str, value: String| all.extend([format!("-{option}"), value]);
    let nvdimm = if topology.nvdimms.is_empty() { "" } else { ",nvdimm=on" };
    match time {
        None => add("accel", "tcg,thread=multi".into()),
        Some(time) => {
            add("accel", "tcg,thread=single".into());
            add("icount", format!("shift={},sleep=off", time.shift()));
        }
    }
    let (window, cpu) = if topology.cxls.is_empty() {
        // Repeated string instructions count once a byte by instructions, and with these the kernel and the C library clear
        // and copy byte by byte.
        (String::new(), if time.is_some() { "max,erms=off,fsrm=off" } else { "max" })
    } else {
        let size: Bytes = topology.cxls.iter().map(|it| it.size).sum();
        let window = format!(",cxl=on,cxl-fmw.0.targets.0=cxl,cxl-fmw.0.size={}", mib(size));
        // The kernel takes no region into use on a virtual machine, for it cannot flush the caches there.
        (window, "max,hypervisor=off")
    };
    add("machine", format!("q35,hmat=on{nvdimm}{window}"));
    add("cpu", cpu.into());
    add("m", memory(topology));
    add("smp", format!("{}", topology.cpus()));
    // NVDIMMs before nodes: `ranges` relies on the order.
    for (number, (it, path)) in topology.nvdimms.iter().zip(&paths.nvdimms).enumerate() {
        let share = if it.shared || paths.keep { "on" } else { "off" };
        let (path, size) = (in_option(path), mib(nvdimm_file(it.size)));
        add(
            "object",
            format!("memory-backend-file,id=nv{number},share={share},mem-path={path},size={size}"),
        );
        let (node, labels) = (it.node, mib(LABELS));
        add(
            "device",
            format!(
                "nvdimm,id=nvd{number},memdev=nv{number},node={node},unarmed=off,label-size={labels}"
            ),
        );
    }
    for (option, value) in cxls(topology, paths).into_iter().chain(nodes(topology)) {
        add(option, value);
    }
    for (option, value) in distances(topology) {
        add(option, value);
    }
    add("kernel", paths.kernel.display().to_string());
    add("initrd", paths.initrd.display().to_string());
    let extra = if topology.kernel.is_empty() { "" } else { " " };
    add(
        "append",
        format!("console=ttyS0 quiet panic=-1 PAGETIDE_GUEST={guest}{extra}{}", topology.kernel),
    );
    all.extend(["-nodefaults", "-no-user-config", "-no-reboot"].map(Into::into));
    let mut add = |option: &str, value: String| all.extend([format!("-{option}"), value]);
    add("display", "none".into());
    add("chardev", format!("file,id=console,path={}", in_option(&paths.console)));
    add("serial", "chardev:console".into());
    // By its name: a host bridge of CXL is another, which takes none.
    add("device", "virtio-serial-pci,bus=pcie.0".into());
    for ((name, path), number) in PORTS.iter().zip(&paths.ports).zip(1..) {
        add("chardev", format!("socket,id={name},path={}", in_option(path)));
        add("device", format!("virtserialport,chardev={name},name={name},nr={number}"));
    }
    all
}

/// A path inside of an option, where commas separate.
pub(crate) fn in_option(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

/// Where a plugin sees a node's memory.
#[derive(Debug, PartialEq)]
pub(crate) struct Range {
    /// The node.
    pub(crate) node: u32,
    /// The first address.
    pub(crate) start: u64,
    /// Bytes from there on.
    pub(crate) size: Bytes,
}

/// Where a plugin sees which memory. QEMU 7.2 tells plugins the offset of the RAM block plus the
/// address of its region in what contains it. Blocks lie behind one another in the order of their
/// objects; a node's region is contained in the machine's memory, an NVDIMM's stands alone. With
/// the NVDIMMs first no two ranges overlap.
pub(crate) fn ranges(topology: &Topology) -> Vec<Range> {
    let mut all = Vec::new();
    let mut offset = 0;
    for it in &topology.nvdimms {
        all.push(Range { node: it.node, start: offset, size: it.size });
        offset += nvdimm_file(it.size).0;
    }
    let mut address = 0;
    for (node, it) in (0..).zip(&topology.nodes) {
        if let Some(size) = it.memory {
            all.push(Range { node, start: offset + address, size });
            offset += size.0;
            address += size.0;
        }
    }
    all
}

fn mib(size: Bytes) -> String {
    format!("{}M", size.0 >> 20)
}

fn memory(topology: &Topology) -> String {
    let size = topology.memory();
    if topology.nvdimms.is_empty() {
        return mib(size);
    }
    // Every module is aligned to 1 GiB of address space.
    let room: u64 =
        topology.nvdimms.iter().map(|it| nvdimm_file(it.size).0 + Bytes::gib(1).0).sum();
    format!("{},slots={},maxmem={}", mib(size), topology.nvdimms.len(), mib(Bytes(size.0 + room)))
}

/// CXL devices, each behind a root port of one host bridge.
fn cxls(topology: &Topology, paths: &Paths) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if !topology.cxls.is_empty() {
        all.push(("device", "pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl".into()));
    }
    for (number, (it, path)) in topology.cxls.iter().zip(&paths.cxls).enumerate() {
        let share = if paths.keep { "on" } else { "off" };
        let (path, size) = (in_option(path), mib(it.size));
        all.push((
            "object",
            format!("memory-backend-file,id=cm{number},share={share},mem-path={path},size={size}"),
        ));
        let port = format!("cxl-rp,bus=cxl,id=cp{number},port={number},chassis=0,slot={number}");
        all.push(("device", port));
        let serial = number + 1;
        let device = format!(
            "cxl-type3,bus=cp{number},id=cd{number},volatile-memdev=cm{number},sn={serial}"
        );
        all.push(("device", device));
    }
    all
}

fn nodes(topology: &Topology) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let mut cpu = 0;
    for (number, node) in topology.nodes.iter().enumerate() {
        let mut parts = format!("node,nodeid={number}");
        if node.cpus > 0 {
            let last = cpu + node.cpus - 1;
            parts +=
                &if last == cpu { format!(",cpus={cpu}") } else { format!(",cpus={cpu}-{last}") };
            cpu += node.cpus;
        } else {
            parts += &format!(",initiator={}", topology.socket(number));
        }
        if let Some(size) = node.memory {
            all.push(("object", format!("memory-backend-ram,id=m{number},size={}", mib(size))));
            parts += &format!(",memdev=m{number}");
        }
        all.push(("numa", parts));
    }
    all
}

/// Latencies and bandwidths (HMAT), and distances (SLIT).
fn distances(topology: &Topology) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let numbers = || 0..topology.nodes.len();
    for from in numbers() {
        for to in numbers().filter(|to| *to > from) {
            let distance = topology.distance(from, to);
            all.push(("numa", format!("dist,src={from},dst={to},val={distance}")));
        }
    }
    for from in numbers().filter(|from| topology.nodes[*from].cpus > 0) {
        for to in numbers() {
            let between = format!("hmat-lb,initiator={from},target={to},hierarchy=memory");
            let (latency, bandwidth) =
                (topology.latency_ns(from, to), topology.nodes[to].bandwidth_gb_s);
            all.push(("numa", format!("{between},data-type=access-latency,latency={latency}")));
            all.push((
                "numa",
                format!("{between},data-type=access-bandwidth,bandwidth={bandwidth}G"),
            ));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_line(name: &str) -> String {
        command_line_by(None, name)
    }

    fn command_line_by(time: Option<InstructionTime>, name: &str) -> String {
        let topology = Topology::load(name).unwrap();
        let paths = Paths {
            kernel: "/k".into(),
            initrd: "/i".into(),
            console: "/c".into(),
            ports: PORTS.iter().map(|name| PathBuf::from(format!("/p/{name}"))).collect(),
            nvdimms: topology.nvdimms.iter().map(|_| PathBuf::from("/n")).collect(),
            cxls: topology.cxls.iter().map(|_| PathBuf::from("/c,xl")).collect(),
            keep: name.starts_with("shift"),
        };
        arguments(&topology, &paths, 1, time).join(" ").replace(" -", "\n-")
    }

    #[test]
    fn the_kernel_is_told_of_two_tiers() {
        assert_eq!(
            command_line("two-tiers"),
            "-accel tcg,thread=multi
-machine q35,hmat=on
-cpu max
-m 3328M
-smp 2
-object memory-backend-ram,id=m0,size=1280M
-numa node,nodeid=0,cpus=0-1,memdev=m0
-object memory-backend-ram,id=m1,size=2048M
-numa node,nodeid=1,initiator=0,memdev=m1
-numa dist,src=0,dst=1,val=35
-numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-latency,latency=100
-numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=100G
-numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-latency,latency=350
-numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-bandwidth,bandwidth=15G
-kernel /k
-initrd /i
-append console=ttyS0 quiet panic=-1 PAGETIDE_GUEST=1
-nodefaults
-no-user-config
-no-reboot
-display none
-chardev file,id=console,path=/c
-serial chardev:console
-device virtio-serial-pci,bus=pcie.0
-chardev socket,id=out,path=/p/out
-device virtserialport,chardev=out,name=out,nr=1
-chardev socket,id=err,path=/p/err
-device virtserialport,chardev=err,name=err,nr=2
-chardev socket,id=control,path=/p/control
-device virtserialport,chardev=control,name=control,nr=3
-chardev socket,id=files,path=/p/files
-device virtserialport,chardev=files,name=files,nr=4"
        );
    }

    #[test]
    fn time_by_instructions_is_a_shift_of_icount_and_one_thread() {
        let line = command_line_by(Some("8".parse().unwrap()), "two-tiers");
        assert!(
            line.starts_with("-accel tcg,thread=single\n-icount shift=3,sleep=off\n"),
            "{line}"
        );
    }

    #[test]
    fn every_pair_of_cpus_and_memory_has_its_cost() {
        let line = command_line("two-pairs");
        for part in [
            "-numa node,nodeid=1,cpus=1,memdev=m1",
            "-numa node,nodeid=3,initiator=1,memdev=m3",
            "initiator=0,target=3,hierarchy=memory,data-type=access-latency,latency=370",
            "initiator=1,target=3,hierarchy=memory,data-type=access-latency,latency=300",
            "-numa dist,src=0,dst=3,val=28",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert_eq!(line.matches("access-latency").count(), 8);
    }

    #[test]
    fn nvdimms_have_room_for_labels_and_a_node_without_memory() {
        let line = command_line("pool");
        for part in [
            "-machine q35,hmat=on,nvdimm=on",
            "-m 1024M,slots=1,maxmem=3088M",
            "-numa node,nodeid=1,initiator=0\n",
            "-object memory-backend-file,id=nv0,share=on,mem-path=/n,size=1040M",
            "-device nvdimm,id=nvd0,memdev=nv0,node=1,unarmed=off,label-size=16M",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert!(command_line("nvdimm").contains("share=off"));
        // What is to outlive a reboot is written to the files.
        assert_eq!(command_line("shift").matches("share=on").count(), 3);
    }

    #[test]
    fn cxl_memory_lies_behind_root_ports_in_one_window() {
        let line = command_line("shift-cxl");
        for part in [
            "-machine q35,hmat=on,nvdimm=on,cxl=on,cxl-fmw.0.targets.0=cxl,cxl-fmw.0.size=1024M\n",
            "-cpu max,hypervisor=off\n",
            "-device pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl\n",
            "-object memory-backend-file,id=cm1,share=on,mem-path=/c,,xl,size=512M\n",
            "-device cxl-rp,bus=cxl,id=cp1,port=1,chassis=0,slot=1\n",
            "-device cxl-type3,bus=cp1,id=cd1,volatile-memdev=cm1,sn=2\n",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }

    #[test]
    fn a_plugin_sees_no_address_twice() {
        for name in Topology::names() {
            let topology = Topology::load(name).unwrap();
            let mut all = ranges(&topology);
            all.sort_by_key(|range| range.start);
            for pair in all.windows(2) {
                assert!(pair[0].start + pair[0].size.0 <= pair[1].start, "{name}: {pair:?}");
            }
        }
        let pairs = ranges(&Topology::load("two-pairs").unwrap());
        let starts: Vec<u64> = pairs.iter().map(|range| range.start >> 20).collect();
        assert_eq!(starts, [0, 1536, 3072, 5120]);
        let pool = ranges(&Topology::load("pool").unwrap());
        let expected = [(1, 0, Bytes::gib(1)), (0, 1040 << 20, Bytes::gib(1))];
        assert_eq!(pool, expected.map(|(node, start, size)| Range { node, start, size }));
    }

    #[test]
    fn commas_of_paths_do_not_separate() {
        assert_eq!(in_option(Path::new("/a,b")), "/a,,b");
    }
}
