//! What a machine has beside its tiers, as far as a simulation needs it: cores, translation buffers,
//! caches, and what a kernel's work costs. All of it is optional in a machine's file.

use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer, Serialize};

/// Its cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cores {
    /// How many; every thread of a program has one, the kernel's threads have what is left.
    pub count: u32,
    /// Misses that a core has under way at most; they leave in any order.
    pub outstanding: u32,
    /// Accesses from the oldest that is not there yet to the newest, at most: its reorder buffer.
    pub reorder: u32,
    /// The same in instructions: what is computed between accesses takes room in it, too, four in a
    /// nanosecond; lines that a prefetcher asked for do not.
    pub instructions: u32,
    /// Time between two accesses that wait for nothing, nanoseconds.
    pub issue_ns: f64,
}

impl Default for Cores {
    /// \[I\] ten line fill buffers, 72 loads and 192 instructions, as Intel's cores of 2013 had; 16, 192 and 512
    /// today.
    fn default() -> Self {
        Self { count: 16, outstanding: 10, reorder: 72, instructions: 192, issue_ns: 0.25 }
    }
}

/// What work of the kernel takes. The defaults are those of Linux 6 on a present server, measured
/// on the platform of `adaptive-cxl` where that says them, else \[I\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// First touch of a 4 KiB page, microseconds.
    pub first_touch_4k_us: f64,
    /// First touch of a 2 MiB page, which is zeroed, microseconds.
    pub first_touch_2m_us: f64,
    /// A hint fault that moves nothing, microseconds.
    pub hint_fault_us: f64,
    /// A request to move pages, however many, microseconds: what it takes before the first one.
    pub call_us: f64,
    /// One page of a request beside its copy, of any size, microseconds: allocate, unmap, remap,
    /// free.
    pub page_us: f64,
    /// The share of `page_us` that allocating and freeing take; pages that are exchanged go
    /// without.
    pub allocation_share: f64,
    /// Splitting a 2 MiB page, microseconds.
    pub split_us: f64,
    /// What a flush of translations takes from each core that runs the program, microseconds.
    pub interrupt_us: f64,
    /// What one thread copies, 10^9 bytes per second.
    pub copy_gb_s: f64,
    /// Handing a part of a copy to one of several threads and waiting for it, microseconds.
    pub launch_us: f64,
    /// Looking at the accessed bit of one entry and clearing it, nanoseconds.
    pub scan_ns: f64,
}

impl Default for Kernel {
    fn default() -> Self {
        Self {
            first_touch_4k_us: 1.0,
            first_touch_2m_us: 120.0,
            hint_fault_us: 4.5, // adaptive migration decision: 4-5 us
            call_us: 20.0,
            page_us: 7.0, // the same: allocate 1-2, unmap 2-4, remap 2-3 us
            allocation_share: 0.2,
            split_us: 15.0,
            interrupt_us: 0.7,
            copy_gb_s: 6.0,
            launch_us: 5.0,
            scan_ns: 60.0,
        }
    }
}

/// Its translation buffers, of every core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tlb {
    /// First level for 4 KiB pages, entries.
    pub first_4k: u32,
    /// First level for 2 MiB pages, entries.
    pub first_2m: u32,
    /// Ways of both.
    pub first_ways: u32,
    /// Second level, for both sizes, entries.
    pub second: u32,
    /// Its ways.
    pub second_ways: u32,
    /// What a hit in the second level takes, nanoseconds.
    pub second_ns: f64,
    /// Walking the page tables to a 4 KiB page, nanoseconds.
    pub walk_4k_ns: f64,
    /// The same to a 2 MiB page.
    pub walk_2m_ns: f64,
    /// Walks that a core has under way at most; Intel's Haswell has 1 page walker, Skylake and later
    /// have 2.
    pub walkers: u32,
    /// The last cache, in which entries of page tables stay until as many lines have come into it;
    /// 0: walks find all entries in caches.
    #[serde(deserialize_with = "size")]
    pub last_cache: Bytes,
}

impl Default for Tlb {
    /// \[I\] Intel's Haswell: 64 and 32 entries of 4 ways, 1,024 of 8; walks whose last entry comes
    /// from the last cache (4 KiB), or from the second (2 MiB).
    fn default() -> Self {
        Self {
            first_4k: 64,
            first_2m: 32,
            first_ways: 4,
            second: 1024,
            second_ways: 8,
            second_ns: 3.0,
            walk_4k_ns: 30.0,
            walk_2m_ns: 12.0,
            walkers: 1,
            last_cache: Bytes(0),
        }
    }
}

/// One level of its caches, the nearest to the core first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Its size; of one core, unless it is shared.
    #[serde(deserialize_with = "size")]
    pub size: Bytes,
    /// Its ways.
    pub ways: u32,
    /// What a hit takes, nanoseconds.
    pub hit_ns: f64,
    /// All cores share it. Only the last level may be.
    #[serde(default)]
    pub shared: bool,
}

impl Cache {
    /// Intel's Haswell with 10 cores at 2.3 GHz: 4 and 12 cycles (Intel's optimisation manual), and
    /// for the last level about 50 \[I\].
    #[must_use]
    pub fn haswell() -> Vec<Self> {
        let level = |size, ways, hit_ns, shared| Self { size, ways, hit_ns, shared };
        vec![
            level(Bytes::kib(32), 8, 1.7, false),
            level(Bytes::kib(256), 8, 5.2, false),
            level(Bytes::mib(25), 20, 21.7, true),
        ]
    }
}

fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

impl Cores {
    pub(crate) const KEYS: &'static [&'static str] =
        &["count", "outstanding", "reorder", "instructions", "issue_ns"];

    pub(crate) fn problem(&self) -> Option<String> {
        let sizes = [self.outstanding, self.reorder, self.instructions];
        if self.count == 0 || !sizes.iter().all(|size| (1..=4096).contains(size)) {
            return Some(
                "core: count, outstanding, reorder and instructions must be 1 or more, the three at most 4096"
                    .into(),
            );
        }
        not_negative("core", &[("issue_ns", self.issue_ns)])
    }
}

impl Kernel {
    pub(crate) const KEYS: &'static [&'static str] = &[
        "first_touch_4k_us",
        "first_touch_2m_us",
        "hint_fault_us",
        "call_us",
        "page_us",
        "allocation_share",
        "split_us",
        "interrupt_us",
        "copy_gb_s",
        "launch_us",
        "scan_ns",
    ];

    pub(crate) fn problem(&self) -> Option<String> {
        if !(self.copy_gb_s.is_finite() && self.copy_gb_s > 0.0) {
            return Some(format!("kernel: copy_gb_s must be above 0, not {}", self.copy_gb_s));
        }
        if !(0.0..=1.0).contains(&self.allocation_share) {
            let share = self.allocation_share;
            return Some(format!("kernel: allocation_share must be from 0 to 1, not {share}"));
        }
        not_negative(
            "kernel",
            &[
                ("first_touch_4k_us", self.first_touch_4k_us),
                ("first_touch_2m_us", self.first_touch_2m_us),
                ("hint_fault_us", self.hint_fault_us),
                ("call_us", self.call_us),
                ("page_us", self.page_us),
                ("split_us", self.split_us),
                ("interrupt_us", self.interrupt_us),
                ("launch_us", self.launch_us),
                ("scan_ns", self.scan_ns),
            ],
        )
    }
}

impl Tlb {
    pub(crate) const KEYS: &'static [&'static str] = &[
        "first_4k",
        "first_2m",
        "first_ways",
        "second",
        "second_ways",
        "second_ns",
        "walk_4k_ns",
        "walk_2m_ns",
        "walkers",
        "last_cache",
    ];

    pub(crate) fn problem(&self) -> Option<String> {
        if !(1..=64).contains(&self.walkers) {
            return Some(format!("tlb: walkers must be from 1 to 64, not {}", self.walkers));
        }
        for (key, entries, ways) in [
            ("first_4k", self.first_4k, self.first_ways),
            ("first_2m", self.first_2m, self.first_ways),
            ("second", self.second, self.second_ways),
        ] {
            if entries > 0 && (ways == 0 || entries > 1 << 20) {
                return Some(format!(
                    "tlb: {key} needs 1 way or more and at most 1,048,576 entries"
                ));
            }
        }
        not_negative(
            "tlb",
            &[
                ("second_ns", self.second_ns),
                ("walk_4k_ns", self.walk_4k_ns),
                ("walk_2m_ns", self.walk_2m_ns),
            ],
        )
    }
}

impl Cache {
    pub(crate) const KEYS: &'static [&'static str] = &["size", "ways", "hit_ns", "shared"];

    pub(crate) fn problem(all: &[Self]) -> Option<String> {
        if all.len() > 3 {
            return Some("at most three levels of [[cache]]".into());
        }
        if all.iter().rev().skip(1).any(|level| level.shared) {
            return Some("cache: only the last level may be shared".into());
        }
        let wrong = all.iter().find(|level| level.ways == 0 || level.size.0 < 64);
        if wrong.is_some() {
            return Some("cache: a level has 1 way or more and 64 bytes or more".into());
        }
        let hit_ns = all.iter().map(|level| level.hit_ns);
        hit_ns
            .filter(|hit_ns| !(hit_ns.is_finite() && *hit_ns > 0.0))
            .map(|hit_ns| format!("cache: hit_ns must be above 0, not {hit_ns}"))
            .next()
    }
}

/// The first value that is negative, or no number.
fn not_negative(table: &str, values: &[(&str, f64)]) -> Option<String> {
    values
        .iter()
        .find(|(_, value)| !value.is_finite() || *value < 0.0)
        .map(|(key, value)| format!("{table}: {key} must be 0 or above, not {value}"))
}
