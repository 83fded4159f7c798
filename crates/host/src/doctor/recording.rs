//! What recording needs of the machine: architecture, rights, kernel, page tables.

use super::{Finding, Status};
use crate::{Features, KernelTypes};
use std::env::consts::ARCH;

pub(super) fn findings(features: &Features) -> Vec<Finding> {
    vec![
        architecture(ARCH),
        rights(features),
        kernel(features),
        lockdown(features),
        namespace(features),
        page_tables(features),
        encryption(features),
        virtual_machine(features),
        stall_counters(features),
    ]
}

fn architecture(arch: &str) -> Finding {
    let (status, meaning) = match arch {
        "x86_64" => (Status::Ok, "Its page tables can be read."),
        _ => (
            Status::Missing,
            "Only x86-64 page tables can be read; record on an x86-64 machine. Recordings can be \
             planned with anywhere.",
        ),
    };
    Finding::new("architecture", arch, status, meaning)
}

fn rights(features: &Features) -> Finding {
    let lacking = features.capabilities.lacking();
    let user = features.uid.map_or("unknown user".to_owned(), |uid| format!("uid {uid}"));
    if lacking.is_empty() {
        let meaning = "Enough to read page tables and to clear accessed bits.";
        return Finding::new("rights", format!("{user}, all needed"), Status::Ok, meaning);
    }
    let meaning = if features.uid == Some(0) {
        "Root without these capabilities, as in most containers: start the container privileged, \
         or record from the host."
    } else {
        "Recording needs them: run with sudo."
    };
    let value = format!("{user}, without {}", lacking.join(", "));
    Finding::new("rights", value, Status::Missing, meaning)
}

fn kernel(features: &Features) -> Finding {
    let value = features.release.clone().unwrap_or_else(|| "unknown".into());
    let Some(types) = features.types else {
        return Finding::new(
            "kernel",
            format!("{value}, no type information (BTF)"),
            Status::Missing,
            "The eBPF programs need /sys/kernel/btf/vmlinux: boot a kernel built with \
             CONFIG_DEBUG_INFO_BTF=y, as the distributions' kernels are.",
        );
    };
    let KernelTypes { area_iterator, iterator_by_process, bpf_loop, process_madvise } = types;
    let lacking: Vec<&str> = [
        (area_iterator, "eBPF iterators over memory areas (Linux 5.12)"),
        (bpf_loop, "bpf_loop (5.17)"),
        (iterator_by_process, "iterators over one process (6.1)"),
        (process_madvise || ARCH != "x86_64", "process_madvise (5.10)"),
    ]
    .into_iter()
    .filter_map(|(there, name)| (!there).then_some(name))
    .collect();
    if lacking.is_empty() {
        let meaning = "Has what recording stands on, with type information (BTF).";
        return Finding::new("kernel", value, Status::Ok, meaning);
    }
    let meaning = format!("Lacks {}: boot Linux 6.1 or later.", lacking.join(", "));
    Finding::new("kernel", value, Status::Missing, meaning)
}

fn lockdown(features: &Features) -> Finding {
    let mode = features.lockdown.as_deref();
    let (status, meaning) = match mode {
        Some("confidentiality") => (
            Status::Missing,
            "The kernel lets nobody read its memory, page tables included: boot with \
             lockdown=integrity or lockdown=none.",
        ),
        Some("integrity") => (Status::Ok, "Reading page tables is still allowed."),
        _ => (Status::Ok, "No restriction."),
    };
    Finding::new("lockdown", mode.unwrap_or("none"), status, meaning)
}

fn namespace(features: &Features) -> Finding {
    match features.first_pid_namespace {
        Some(false) => Finding::new(
            "pid-namespace",
            "a container's",
            Status::Note,
            "Only this container's processes can be recorded; record from the host to see others.",
        ),
        Some(true) => Finding::new(
            "pid-namespace",
            "the machine's",
            Status::Ok,
            "All processes can be seen, those in containers too.",
        ),
        None => Finding::new(
            "pid-namespace",
            "unknown",
            Status::Note,
            "/proc/self/ns/pid cannot be read; is /proc mounted?",
        ),
    }
}

fn page_tables(features: &Features) -> Finding {
    let levels = if features.cpu.five_levels { 5 } else { 4 };
    let bits = match features.cpu.physical_bits {
        Some(bits) => format!(", {bits} bit physical addresses"),
        None => String::new(),
    };
    let value = format!("{levels} levels{bits}");
    Finding::new("page-tables", value, Status::Ok, "Both four and five levels are read.")
}

fn encryption(features: &Features) -> Finding {
    let flags = features.cpu.encryption.join(", ");
    if flags.is_empty() {
        let meaning = "Page-table entries carry plain physical addresses.";
        return Finding::new("memory-encryption", "none", Status::Ok, meaning);
    }
    Finding::new(
        "memory-encryption",
        flags,
        Status::Note,
        "Where it is active, page-table entries carry an encryption bit; the self-test shows \
         whether they are read correctly. Untested by the authors.",
    )
}

fn virtual_machine(features: &Features) -> Finding {
    if features.cpu.hypervisor {
        return Finding::new(
            "virtualisation",
            "virtual machine",
            Status::Note,
            "Programs in this machine can be recorded; where the host really keeps their memory \
             cannot be seen from here.",
        );
    }
    Finding::new(
        "virtualisation",
        "bare metal",
        Status::Ok,
        "Virtual machines that run here cannot be recorded from outside: their accesses set no \
         bits in the host's page tables. Record inside them.",
    )
}

fn stall_counters(features: &Features) -> Finding {
    if let Some(events) = &features.stall_events {
        return Finding::new(
            "stall-counters",
            events.name,
            Status::Ok,
            "How long the program waits for memory is counted while recording, so slowdown is \
             predicted as a point, not a band. Unverified: the authors have no machine with such \
             counters.",
        );
    }
    let value = if features.pmus.is_empty() { "no counters" } else { "no stall events" };
    let remedy =
        if features.cpu.hypervisor { "; give the virtual machine a PMU to have them" } else { "" };
    Finding::new(
        "stall-counters",
        value,
        Status::Note,
        format!(
            "How long the program waits for memory cannot be measured, so slowdown is predicted \
             as a band{remedy}."
        ),
    )
}
