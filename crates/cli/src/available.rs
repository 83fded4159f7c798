//! How much memory there is for what a user asks for: better an error than that the kernel ends something.

use pagetide_host::Host;
use pagetide_types::Bytes;

/// What this process can still get: of the machine's memory, in its cgroup, and of addresses, of which it
/// takes twice as many.
pub(crate) fn available() -> Bytes {
    let memory = Host::live().features().available;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let of_addresses = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    let soft = of_addresses.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    soft.map_or(memory, |addresses| memory.min(Bytes(addresses / 2)))
}
