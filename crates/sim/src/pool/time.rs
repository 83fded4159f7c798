//! Simulated time: whole picoseconds, so that sums do not depend on their order.

use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it, in picoseconds; 2^64 of them are 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ps(pub u64);

impl Ps {
    /// The beginning, or no time at all.
    pub const ZERO: Self = Self(0);
    /// Never.
    pub const MAX: Self = Self(u64::MAX);

    /// So many nanoseconds, rounded; negative ones are none.
    #[must_use]
    pub fn from_ns(ns: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates at both ends, as it should"
        )]
        let ps = (ns * 1e3).round() as u64;
        Self(ps)
    }

    /// In nanoseconds.
    #[must_use]
    pub const fn ns(self) -> f64 {
        self.0 as f64 * 1e-3
    }

    /// In seconds.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// So many of it, one after the other.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// What is left of it; nothing, if `other` is longer.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Ps {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Ps {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Ps {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.minus(other)
    }
}
