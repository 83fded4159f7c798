//! Which of the CPU's counters tell how long a program waits for memory. No machine of the authors
//! has such counters: **unverified**.
//!
//! The share wanted is that of the time which slower memory would lengthen, so waits for data that
//! a cache holds should not count:
//!
//! - `CYCLE_ACTIVITY.STALLS_L3_MISS` over unhalted cycles, on the Intel cores that are known to
//!   have it: cycles in which nothing was executed while a demand load missed the last cache
//!   (Intel SDM vol. 3, "Performance Monitoring Events", event A3H, umask 06H, counter mask 6; the
//!   `DRAM_Bound` of the top-down method). Waits for stores and prefetches are not in it.
//! - Else `topdown-mem-bound` over `slots`, where sysfs names them (Linux,
//!   `tools/perf/Documentation/topdown.txt`): waits for any level of the caches are in it, so the
//!   share is too high rather than too low.
//! - Else none. AMD's events and `stalled-cycles-backend` tell waits for memory neither from those
//!   for caches nor, in part, from those for the units of the core; CPUs with two kinds of cores
//!   (`cpu_core`, `cpu_atom`) count each on its own.

use crate::Host;

const PMU: &str = "sys/bus/event_source/devices/cpu";
/// `PERF_TYPE_HARDWARE` and its `PERF_COUNT_HW_CPU_CYCLES` (linux/perf_event.h).
const CYCLES: CpuEvent = CpuEvent { kind: 0, config: 0 };
const STALLS_L3_MISS: u64 = selector(0xa3, 0x06, 6);
/// Models of Intel's family 6 with that event at that place (Linux, `tools/perf/pmu-events/arch/
/// x86`): Skylake to Comet Lake, Cascade Lake, Ice Lake, Tiger Lake, Rocket Lake, Sapphire,
/// Emerald and Granite Rapids.
const MODELS: [u32; 18] = [
    0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7, 0x8f, 0xcf,
    0xad, 0xae,
];

/// An event as `perf_event_open(2)` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuEvent {
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// `perf_event_attr.config`.
    pub config: u64,
}

/// Two events, to be counted as a group led by the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallEvents {
    /// The event that counts the waits.
    pub name: &'static str,
    /// All cycles, or slots.
    pub whole: CpuEvent,
    /// Those that waited for memory.
    pub stalled: CpuEvent,
}

/// `IA32_PERFEVTSELx` (Intel SDM vol. 3, "Architectural Performance Monitoring").
const fn selector(event: u64, umask: u64, counter_mask: u64) -> u64 {
    event | umask << 8 | counter_mask << 24
}

impl Host {
    /// The counters that tell how long programs wait for memory; none where there are none.
    #[must_use]
    pub fn stall_events(&self) -> Option<StallEvents> {
        let kind = self.text(format!("{PMU}/type"))?.parse().ok()?;
        if known_intel(&self.text("proc/cpuinfo")?) {
            let stalled = CpuEvent { kind, config: STALLS_L3_MISS };
            return Some(StallEvents {
                name: "CYCLE_ACTIVITY.STALLS_L3_MISS",
                whole: CYCLES,
                stalled,
            });
        }
        let event = |name: &str| {
            let config = named(&self.text(format!("{PMU}/events/{name}"))?)?;
            Some(CpuEvent { kind, config })
        };
        let (whole, stalled) = (event("slots")?, event("topdown-mem-bound")?);
        Some(StallEvents { name: "topdown-mem-bound", whole, stalled })
    }
}

fn known_intel(cpuinfo: &str) -> bool {
    let field = |name: &str| {
        let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
    };
    let number = |name| field(name).and_then(|value| value.parse().ok());
    field("vendor_id") == Some("GenuineIntel")
        && number("cpu family") == Some(6u32)
        && number("model").is_some_and(|model| MODELS.contains(&model))
}

/// `event=0x00,umask=0x87`, as x86 lays it out; none where a term is not known here.
fn named(text: &str) -> Option<u64> {
    let mut config = 0;
    for term in text.split(',') {
        let (key, value) = term.split_once('=')?;
        let value = u64::from_str_radix(value.trim_start_matches("0x"), 16).ok()?;
        config |= match key {
            "event" => selector(value, 0, 0),
            "umask" => selector(0, value, 0),
            "cmask" => selector(0, 0, value),
            _ => return None,
        };
    }
    Some(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn machine(vendor: &str, model: u32, events: &[(&str, &str)]) -> Option<StallEvents> {
        let fake = Fake::new();
        let cpuinfo = format!(
            "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: 6\nmodel\t\t: {model}\n\
             model name\t: A CPU\n"
        );
        fake.file("proc/cpuinfo", cpuinfo).file(format!("{PMU}/type"), "4\n");
        for (name, event) in events {
            fake.file(format!("{PMU}/events/{name}"), event);
        }
        fake.host().stall_events()
    }

    const TOPDOWN: [(&str, &str); 2] =
        [("slots", "event=0x00,umask=0x4\n"), ("topdown-mem-bound", "event=0x00,umask=0x87\n")];

    #[test]
    fn a_known_core_counts_its_waits_for_memory_alone() {
        let events = machine("GenuineIntel", 0x8f, &TOPDOWN).unwrap();
        assert_eq!(events.name, "CYCLE_ACTIVITY.STALLS_L3_MISS");
        assert_eq!(events.stalled, CpuEvent { kind: 4, config: 0x0600_06a3 });
        assert_eq!(events.whole, CpuEvent { kind: 0, config: 0 });
    }

    #[test]
    fn an_unknown_core_counts_what_sysfs_names() {
        let events = machine("GenuineIntel", 0xfe, &TOPDOWN).unwrap();
        assert_eq!(events.name, "topdown-mem-bound");
        assert_eq!(events.whole.config, 0x400);
        assert_eq!(events.stalled.config, 0x8700);
        assert_eq!(machine("GenuineIntel", 0xfe, &TOPDOWN[1..]), None, "a part of nothing");
        let odd = [TOPDOWN[0], ("topdown-mem-bound", "event=0x0,ldlat=0x3")];
        assert_eq!(machine("GenuineIntel", 0xfe, &odd), None, "a term that is not known");
    }

    #[test]
    fn others_count_nothing() {
        let amd = [("stalled-cycles-backend", "event=0xd1")];
        assert_eq!(machine("AuthenticAMD", 0x8f, &amd), None);
        let hybrid = Fake::new();
        hybrid
            .file("proc/cpuinfo", "vendor_id: GenuineIntel\ncpu family: 6\nmodel: 151\n")
            .file("sys/bus/event_source/devices/cpu_core/type", "4\n");
        assert_eq!(hybrid.host().stall_events(), None);
        assert_eq!(Fake::new().host().stall_events(), None, "a machine that says nothing");
    }
}
