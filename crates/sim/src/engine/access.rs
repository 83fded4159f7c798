//! What a simulated thread does next.

/// One access to one line of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Access {
    /// Byte of the tenant's memory.
    pub address: u64,
    /// It stores.
    pub write: bool,
    /// Its address comes from the access before, which it waits for.
    pub dependent: bool,
    /// What the thread computes before it, ns.
    pub compute_ns: f32,
}

/// A thread's program. It reads no clock: it is told the time.
pub trait Program: Send {
    /// The next access, at `now_ns` of simulated time; none at its end.
    fn next(&mut self, now_ns: f64) -> Option<Access>;
}

impl<F: FnMut(f64) -> Option<Access> + Send> Program for F {
    fn next(&mut self, now_ns: f64) -> Option<Access> {
        self(now_ns)
    }
}
