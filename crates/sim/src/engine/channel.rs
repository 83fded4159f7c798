//! One tier of memory as those who ask see it: a latency, and a channel on which one line is served
//! after the other. What comes while it is busy waits; nothing else makes a loaded memory slower.

use pagetide_machine::Tier;

/// Bytes of a cache line.
pub const LINE: f64 = 64.0;

/// See the module.
#[derive(Clone, Debug)]
pub struct Channel {
    latency_ns: [f64; 2],
    /// What a byte occupies the channel for, read and written, ns.
    byte_ns: [f64; 2],
    free_at: f64,
    busy_ns: f64,
    bytes: [f64; 2],
}

impl Channel {
    /// An idle one.
    #[must_use]
    pub fn new(tier: &Tier) -> Self {
        Self {
            latency_ns: [tier.read_latency_ns, tier.write_latency_ns],
            byte_ns: [1.0 / tier.read_bandwidth_gb_s, 1.0 / tier.write_bandwidth_gb_s],
            free_at: 0.0,
            busy_ns: 0.0,
            bytes: [0.0; 2],
        }
    }

    /// Serves so many bytes that are asked for at `at_ns`, not before what came earlier; when they
    /// are there. A latency passes beside the transfers of others, a transfer does not.
    #[inline]
    pub fn serve(&mut self, at_ns: f64, bytes: f64, write: bool) -> f64 {
        let kind = usize::from(write);
        let takes = bytes * self.byte_ns[kind];
        let start = at_ns.max(self.free_at);
        self.free_at = start + takes;
        self.busy_ns += takes;
        self.bytes[kind] += bytes;
        start + takes.max(self.latency_ns[kind])
    }

    /// From when on nothing is under way.
    #[must_use]
    pub fn free_at(&self) -> f64 {
        self.free_at
    }

    /// For how long it transferred something, ns.
    #[must_use]
    pub fn busy_ns(&self) -> f64 {
        self.busy_ns
    }

    /// Bytes read and written so far.
    #[must_use]
    pub fn bytes(&self) -> [f64; 2] {
        self.bytes
    }
}
