//! The prefetcher of a core: which accesses go on where one before them left off, line by line. Such lines were
//! asked for ahead of time, and do not wait for a place in the reorder buffer.

/// Streams that it follows at a time, as Intel's do [I].
const STREAMS: usize = 16;

/// See the module.
pub(super) struct Streams {
    /// By stream, the line that comes next.
    next: [u64; STREAMS],
    /// By stream, when it was met last, in accesses: the oldest goes for a new one.
    met: [u64; STREAMS],
    accesses: u64,
}

impl Streams {
    /// It follows none.
    pub(super) fn new() -> Self {
        Self { next: [u64::MAX; STREAMS], met: [0; STREAMS], accesses: 0 }
    }

    /// Whether an access to an address goes on with a stream.
    pub(super) fn goes_on(&mut self, address: u64) -> bool {
        let line = address >> 6;
        self.accesses += 1;
        // Again the line before is no new one.
        let found = self.next.iter().position(|next| *next == line || *next == line + 1);
        let oldest = || (0..STREAMS).min_by_key(|at| self.met[*at]);
        let at = found.or_else(oldest).unwrap_or(0);
        (self.next[at], self.met[at]) = (line + 1, self.accesses);
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_order_are_streams_also_beside_each_other_and_others_are_not() {
        let mut streams = Streams::new();
        for line in 0..100 {
            for array in 0..4u64 {
                let went_on = streams.goes_on((array << 30) + line * 64 + 8);
                assert_eq!(went_on, line > 0, "{array} {line}");
            }
            assert!(!streams.goes_on((line * 7919 + 5) << 20), "at random");
        }
        assert!(!streams.goes_on(99 * 20_480) && !streams.goes_on(100 * 20_480), "far strides");
    }
}
