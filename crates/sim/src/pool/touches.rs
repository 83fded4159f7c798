//! What a core's private caches served, by page and slot of time: enough to know, for whatever time a page may
//! move at, which of its lines the core finds missing afterwards, and which of them it has written since.

use super::counts::PageId;

/// Instructions of a slot: so fine is what is known of when a line was used. A page that has just been swept
/// fills with others' lines for some hundred thousand instructions.
pub(super) const SLOT: u64 = 1024;

/// What was done to a page's lines in a slot, a bit for each line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) slot: u32,
    /// Lines whose first access in the slot the private caches served.
    pub(super) served: u64,
    /// Lines that were written.
    pub(super) written: u64,
}

/// Of each page the slots in which something was done to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches {
    all: Vec<Touch>,
    /// By page: where its slots begin, and one more.
    first: Vec<u32>,
}

impl Touches {
    /// Those of a page from an instruction on: their numbers, of which the last one is not.
    pub(super) fn from(&self, page: PageId, at: u64) -> std::ops::Range<usize> {
        let at_page = page.0 as usize;
        let (Some(first), Some(end)) = (self.first.get(at_page), self.first.get(at_page + 1))
        else {
            return 0..0;
        };
        let (first, end) = (*first as usize, *end as usize);
        // What was done in the slot of the instruction was before it or after it.
        let slot = (at + SLOT / 2) / SLOT;
        let before = self.all[first..end].partition_point(|touch| u64::from(touch.slot) < slot);
        first + before..end
    }

    /// One of them.
    pub(super) fn get(&self, number: usize) -> Touch {
        self.all[number]
    }
}

/// A slot's page.
#[derive(Clone, Copy, Debug)]
struct Noted {
    page: u32,
    touch: Touch,
    /// Lines that were accessed.
    accessed: u64,
}

/// Notes touches in the order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Noting {
    all: Vec<Noted>,
    /// By page, the number of its last one, and one more.
    last: Vec<u32>,
}

impl Noting {
    pub(super) fn new(pages: u32) -> Self {
        Self { all: Vec::new(), last: vec![0; pages as usize] }
    }

    /// A line was accessed.
    #[inline]
    pub(super) fn note(&mut self, line: u32, at: u64, served: bool, write: bool) {
        let (page, bit) = (line >> 6, 1 << (line & 63));
        #[expect(clippy::cast_possible_truncation, reason = "10^12 instructions are 10^9 slots")]
        let slot = (at / SLOT) as u32;
        let last = &mut self.last[page as usize];
        let there = (*last as usize).checked_sub(1).and_then(|at| self.all.get_mut(at));
        let noted = if let Some(noted) = there.filter(|noted| noted.touch.slot == slot) {
            noted
        } else {
            let touch = Touch { slot, ..Touch::default() };
            self.all.push(Noted { page, touch, accessed: 0 });
            #[expect(clippy::cast_possible_truncation, reason = "2^32 would be 100 GB")]
            let number = self.all.len() as u32;
            *last = number;
            let at = self.all.len() - 1;
            &mut self.all[at]
        };
        if served && noted.accessed & bit == 0 {
            noted.touch.served |= bit;
        }
        noted.accessed |= bit;
        noted.touch.written |= if write { bit } else { 0 };
    }

    /// All that was noted, by page.
    pub(super) fn done(mut self) -> Touches {
        self.all.retain(|noted| noted.touch.served | noted.touch.written != 0);
        let mut first = vec![0_u32; self.last.len() + 1];
        self.all.iter().for_each(|noted| first[noted.page as usize + 1] += 1);
        for page in 1..first.len() {
            first[page] += first[page - 1];
        }
        let mut next = first.clone();
        let mut all = vec![Touch::default(); self.all.len()];
        for noted in &self.all {
            let at = &mut next[noted.page as usize];
            all[*at as usize] = noted.touch;
            *at += 1;
        }
        Touches { all, first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Touches of page 0 from then on.
    fn from(touches: &Touches, at: u64) -> Vec<Touch> {
        touches.from(PageId(0), at).map(|number| touches.get(number)).collect()
    }

    #[test]
    fn of_each_slot_it_is_known_which_lines_were_there_when_first_accessed_and_which_written() {
        let mut noting = Noting::new(2);
        for (line, at, served, write) in [
            (3, 0, false, false),
            // Of a line that had to be fetched it says nothing that it was there then.
            (3, 10, true, false),
            (4, 20, true, true),
            (64, 30, true, false),
            (3, SLOT, true, false),
            (5, 9 * SLOT, false, true),
            (6, 11 * SLOT, false, false),
        ] {
            noting.note(line, at, served, write);
        }
        let touches = noting.done();
        let [first, second, third] = [
            Touch { slot: 0, served: 1 << 4, written: 1 << 4 },
            Touch { slot: 1, served: 1 << 3, written: 0 },
            Touch { slot: 9, served: 0, written: 1 << 5 },
        ];
        assert_eq!(from(&touches, 0), [first, second, third]);
        assert_eq!(from(&touches, SLOT), [second, third]);
        assert_eq!(from(&touches, 2 * SLOT), [third]);
        assert_eq!(from(&touches, 10 * SLOT), []);
        assert_eq!(touches.from(PageId(1), 0).len(), 1);
    }
}
