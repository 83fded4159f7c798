//! Trackers: what a system learns of accesses. Each says what it saw of an interval as the same heat
//! that a recording holds, and what that cost.

mod accessed_bits;
mod event_sampling;
mod exact;
mod hint_faults;
mod survey;

pub use accessed_bits::AccessedBits;
pub use event_sampling::{EventSampling, SAMPLE_NS};
pub use exact::Exact;
pub use hint_faults::HintFaults;
pub use survey::Survey;

use crate::engine::{World, bit};
use crate::kernel::Units;
use pagetide_policy::Watch;
use pagetide_types::{EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

/// Watches a tenant's memory.
pub trait Tracker: Send {
    /// Begins to watch.
    fn begin(&mut self, world: &mut World) {
        let _ = world;
    }

    /// What was seen in the interval that ends now; the next one begins.
    fn look(&mut self, interval: &Interval<'_>, world: &mut World) -> Looked;

    /// How well to watch from now on.
    fn watch(&mut self, watch: Watch) {
        let _ = watch;
    }

    /// Whether it has a thread of the kernel for itself.
    fn has_thread(&self) -> bool {
        false
    }

    /// That thread works at `now_ns` on what was seen of a tenant; when it goes on, ns, or never
    /// (infinity).
    fn work(&mut self, tenant: usize, units: &Units, now_ns: f64, world: &mut World) -> f64 {
        let _ = (tenant, units, now_ns, world);
        f64::INFINITY
    }

    /// A thread faulted at a page because it was asked to.
    fn fault(&mut self, unit: usize) {
        let _ = unit;
    }
}

/// What a tracker is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// Whose memory.
    pub tenant: usize,
    /// In which units.
    pub units: &'a Units,
    /// The number of the interval.
    pub epoch: u32,
    /// Its length in simulated time, seconds.
    pub length_s: f64,
}

impl Interval<'_> {
    /// A second, of something that was seen so many times.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a rate")]
    pub fn rate(&self, times: u64) -> f32 {
        (times as f64 / self.length_s.max(1e-9)) as f32
    }
}

/// What a tracker saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    /// Mapped units and their heat.
    pub heat: EpochHeat,
    /// CPU time of the kernel that the look took, ns.
    pub cpu_ns: f64,
    /// What its own thread took since the last one, which it has taken from cores already, ns.
    pub thread_ns: f64,
}

/// The heat of all mapped units; `seen` says of a unit whether it was accessed (none: not watched),
/// and how often a second.
fn heat(
    interval: &Interval<'_>,
    world: &mut World,
    mut seen: impl FnMut(usize, &mut World) -> (Option<bool>, f32),
) -> EpochHeat {
    let units = interval.units;
    let mut heat = EpochHeat::with_capacity(EpochId(interval.epoch), units.len());
    for unit in 0..units.len() {
        let pages = u16::try_from(units.mapped(unit, world)).unwrap_or(512);
        if pages == 0 {
            continue;
        }
        let (accessed, rate) = seen(unit, world);
        let first = units.range(unit).start;
        let mut flags = match accessed {
            Some(true) => HeatFlags::SAMPLED | HeatFlags::ACCESSED,
            Some(false) => HeatFlags::SAMPLED | HeatFlags::UNSEEN,
            None => HeatFlags::default(),
        };
        if world.pages.entry(first) & bit::HUGE != 0 {
            flags |= HeatFlags::HUGE;
        }
        let node = if world.pages.tier(first) == 0 { NodeId(0) } else { NodeId(1) };
        heat.push(HeatRow {
            unit: UnitId(u32::try_from(unit).unwrap_or(u32::MAX)),
            rate,
            flags,
            pages,
            watched: if accessed.is_some() { pages } else { 0 },
            touched: if accessed == Some(true) { pages } else { 0 },
            node,
        });
    }
    heat
}
