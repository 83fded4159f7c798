//! Something that carries one line after the other: a node's port, a module's channel.

use super::Ps;

/// Bytes of a line.
const LINE: f64 = 64.0;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// What a line takes; nothing, if bandwidth is unlimited.
    line: Ps,
    free_at: Ps,
}

impl Link {
    pub(super) fn new(gb_s: Option<f64>) -> Self {
        Self { line: gb_s.map_or(Ps::ZERO, |gb_s| Ps::from_ns(LINE / gb_s)), free_at: Ps::ZERO }
    }

    /// What a line takes.
    pub(super) const fn line(&self) -> Ps {
        self.line
    }

    /// When a line that comes at `now` has passed.
    #[inline]
    pub(super) fn pass(&mut self, now: Ps) -> Ps {
        self.free_at = now.max(self.free_at) + self.line;
        self.free_at
    }

    /// Carries other bytes as well, such as lists of pages, without anyone waiting for them.
    pub(super) fn occupy(&mut self, now: Ps, bytes: u64) {
        self.free_at = now.max(self.free_at) + self.line.times(bytes.div_ceil(64));
    }
}
