//! Which pages a thread touches, for who sees pages alone and not how many lines of them (see
//! [`super::World::count_touches`]). Pages that are gone through line by line, one after the other, can be told from
//! others by that, whatever is accessed between: alone, or with threads that take pages in turn.

/// Lines of a page.
const LINES: u64 = 64;
/// Of pages that are accessed in a row the recorder takes all 64 lines to be accessed, of others eight, for which a
/// program waits once.
pub const IN_A_ROW: u32 = 64 / 8;
/// Ways through memory that a thread may be on at a time.
const WAYS: usize = 16;
/// From a page to the next one on a way, where as many threads take pages in turn.
const FAR: usize = 64;

/// A page that was begun with its first line.
#[derive(Clone, Copy)]
struct Way {
    page: usize,
    /// The line that comes next; after all, [`LINES`].
    next: u64,
    /// The page before it was gone through whole.
    goes_on: bool,
    /// When it was met last, in accesses: the oldest goes for a new one.
    met: u64,
}

/// See the module.
pub(super) struct Touches {
    ways: [Way; WAYS],
    /// The page of the last access, and its way, if it has one.
    last: usize,
    at: Option<usize>,
    accesses: u64,
}

impl Touches {
    /// None so far.
    pub(super) fn new() -> Self {
        let way = Way { page: usize::MAX, next: 0, goes_on: false, met: 0 };
        Self { ways: [way; WAYS], last: usize::MAX, at: None, accesses: 0 }
    }

    /// What an access to a line adds: touches of single lines or objects, and of pages that come in order.
    pub(super) fn access(&mut self, page: usize, line: u64) -> [u32; 2] {
        self.accesses += 1;
        let comes = std::mem::replace(&mut self.last, page) != page;
        if comes {
            self.at = self.ways.iter().position(|way| way.page == page);
        }
        if line == 0 {
            return self.begin(page, comes);
        }
        let Some(at) = self.at else { return [u32::from(comes), 0] };
        let way = &mut self.ways[at];
        way.met = self.accesses;
        way.next += u64::from(way.next == line);
        [u32::from(comes && !way.goes_on), 0]
    }

    /// A page's first line.
    fn begin(&mut self, page: usize, comes: bool) -> [u32; 2] {
        let is_before = |way: &Way| {
            way.next == LINES
                && page.checked_sub(way.page).is_some_and(|by| (1..=FAR).contains(&by))
        };
        let before = self.ways.iter().position(is_before);
        let oldest = || (0..WAYS).min_by_key(|at| self.ways[*at].met);
        let at = before.or(self.at).or_else(oldest).unwrap_or(0);
        let goes_on = before.is_some();
        self.ways[at] = Way { page, next: 1, goes_on, met: self.accesses };
        self.at = Some(at);
        if goes_on { [0, IN_A_ROW] } else { [u32::from(comes), 0] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lines add in all, from the n-th on.
    fn added(lines: impl Iterator<Item = u64>, from: usize) -> [u32; 2] {
        let mut touches = Touches::new();
        let each = lines.map(|line| touches.access((line / LINES) as usize, line % LINES));
        each.skip(from).fold([0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    }

    #[test]
    fn a_page_that_comes_in_order_counts_as_eight_touches_and_any_other_as_one() {
        // From the middle of a page through three more: the first that is seen whole tells of those after it.
        assert_eq!(added(10..250, 0), [2, 16]);
        let objects = [3, 100, 43, 200].into_iter().flat_map(|page| page * 64..page * 64 + 16);
        assert_eq!(added(objects, 0), [4, 0], "in none of them all lines");
    }

    #[test]
    fn a_page_is_in_order_whatever_comes_between() {
        // Some lines of a sweep, and after them as many at random as the prefetcher has streams.
        let at_random =
            |line: u64| (0..16).map(move |by| (7919 * (16 * line + by) + 5) % 1000 + (1 << 20));
        let lines = (0..640).flat_map(|line| std::iter::once(line).chain(at_random(line)));
        assert_eq!(added(lines, 64 * 17), [9 * 64 * 16, 9 * IN_A_ROW]);
        // Two arrays by turns.
        let arrays = (0..640).flat_map(|line| [line, line + (1 << 20)]);
        assert_eq!(added(arrays, 128), [0, 2 * 9 * IN_A_ROW]);
    }

    #[test]
    fn threads_that_take_pages_in_turn_each_come_to_theirs_in_order() {
        let lines = (0..10).flat_map(|page| page * 24 * 64..page * 24 * 64 + 64);
        assert_eq!(added(lines, 64), [0, 9 * IN_A_ROW]);
        let far = (0..10).flat_map(|page| page * 65 * 64..page * 65 * 64 + 64);
        assert_eq!(added(far, 64), [9, 0]);
    }
}
