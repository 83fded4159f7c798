//! What a core has under way: misses in its fill buffers, which leave in any order, and all accesses in
//! its reorder buffer, which leave in order. A slow miss holds up a buffer, and nothing else until the
//! reorder buffer is full: so many accesses have come after it, or so much computing.

/// See the module.
pub(super) struct UnderWay {
    /// When each fill buffer is free, and the one that is free first.
    buffers: Box<[f64]>,
    first: usize,
    /// When each of the last accesses was there; the oldest is at `oldest`.
    window: Box<[f64]>,
    oldest: usize,
    /// Beside each of these, how much the thread computes until then; the newest so many are in the reorder
    /// buffer still, as far as computing tells.
    places: Box<[f64]>,
    inside: usize,
    /// When all that is older than the window was there.
    retired_ns: f64,
}

impl UnderWay {
    /// Nothing is under way.
    pub(super) fn new(buffers: u32, window: u32) -> Self {
        let of = |count: u32| vec![0.0; count.max(1) as usize].into_boxed_slice();
        let window = of(window.max(buffers));
        let places = window.clone();
        let (first, oldest, inside) = (0, 0, 0);
        Self { buffers: of(buffers), first, window, oldest, places, inside, retired_ns: 0.0 }
    }

    /// From when on there is room for one more, ns.
    #[inline]
    pub(super) fn room_ns(&self) -> f64 {
        self.buffers[self.first].max(self.retired_ns).max(self.window[self.oldest])
    }

    /// What comes before this place leaves the reorder buffer, and the next access waits for it.
    #[inline]
    pub(super) fn retire(&mut self, place: f64) {
        while self.inside > 0 {
            let at = match self.oldest.checked_sub(self.inside) {
                Some(at) => at,
                None => self.oldest + self.window.len() - self.inside,
            };
            if self.places[at] > place {
                return;
            }
            self.retired_ns = self.retired_ns.max(self.window[at]);
            self.inside -= 1;
        }
    }

    /// One more at a place, which is there at `done_ns`; what was fetched ahead of time takes a buffer
    /// alone.
    #[inline]
    pub(super) fn put(&mut self, done_ns: f64, place: f64, fetched: bool) {
        self.retired_ns = self.retired_ns.max(self.window[self.oldest]);
        self.window[self.oldest] = if fetched { 0.0 } else { done_ns };
        self.places[self.oldest] = place;
        self.inside = (self.inside + 1).min(self.window.len());
        self.oldest += 1;
        if self.oldest == self.window.len() {
            self.oldest = 0;
        }
        self.buffers[self.first] = done_ns;
        let mut first = 0;
        for at in 1..self.buffers.len() {
            if self.buffers[at] < self.buffers[first] {
                first = at;
            }
        }
        self.first = first;
    }

    /// When all of it is there, ns.
    pub(super) fn all_ns(&self) -> f64 {
        self.window.iter().chain(&self.buffers).copied().fold(self.retired_ns, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of some accesses begins that take so long.
    fn begins(buffers: u32, window: u32, takes: &[f64]) -> Vec<f64> {
        let mut under_way = UnderWay::new(buffers, window);
        let mut now = 0.0f64;
        let begin = |takes: &f64| {
            now = now.max(under_way.room_ns());
            under_way.put(now + takes, 0.0, false);
            now
        };
        takes.iter().map(begin).collect()
    }

    #[test]
    fn a_slow_one_holds_up_its_buffer_alone_until_the_window_is_full() {
        let mut takes = vec![10.0; 8];
        takes[0] = 100.0;
        assert_eq!(begins(2, 100, &takes), [0.0, 0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        // Four after it, and no more.
        assert_eq!(begins(2, 5, &takes), [0.0, 0.0, 10.0, 20.0, 30.0, 100.0, 100.0, 110.0]);
    }

    #[test]
    fn what_comes_late_in_the_program_waits_for_what_came_early() {
        let mut under_way = UnderWay::new(10, 10);
        for (place, done) in [(0.0, 500.0), (20.0, 300.0), (40.0, 700.0)] {
            under_way.put(done, place, false);
        }
        let mut room = |place| {
            under_way.retire(place);
            under_way.room_ns()
        };
        assert_eq!([room(-1.0), room(19.0), room(20.0), room(40.0)], [0.0, 500.0, 500.0, 700.0]);
    }

    #[test]
    fn one_buffer_is_one_after_the_other() {
        assert_eq!(begins(1, 1, &[5.0, 7.0, 1.0]), [0.0, 5.0, 12.0]);
    }
}
