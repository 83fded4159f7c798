//! For tests: a process whose pages are accessed at random with known rates, as the survey
//! sees it.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "simulated times and small counts"
)]

use crate::bits::eyes::{Eyes, Lost};
use crate::target::activity::Activity;
use crate::walk::row::{Range, Row, RowBits};
use pagetide_types::NodeId;

/// Pages that are accessed at random with given rates; acting takes time, waiting costs nothing.
pub(crate) struct Simulated {
    pub(crate) now: u64,
    pub(crate) cpu: u64,
    /// Rate, accessed bit and time by page (512 numbers for a huge page).
    pages: Vec<(f64, bool, u64)>,
    /// By page, how often both it and the next one are accessed together, and until when that was looked up.
    together: Vec<(f64, u64)>,
    huge: bool,
    /// What going to sleep and waking up costs, a flush of the translations, and how far clocks
    /// may be off, ns; at most, each.
    pub(crate) wake_ns: u64,
    pub(crate) flush_ns: u64,
    pub(crate) clock_ns: u64,
    bits: Vec<RowBits>,
    random: u64,
    pub(crate) gone_at: u64,
    /// It runs for this share of every 17 ms.
    pub(crate) running: f64,
}

const SLICE_NS: f64 = 17e6;

/// Numbers between 0 and 1.
pub(crate) fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut words = words(seed);
    move || (words() >> 11) as f64 / (1u64 << 53) as f64
}

/// Numbers whose upper bits are random.
pub(crate) fn words(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state
    }
}

impl Simulated {
    pub(crate) fn new(huge: bool, rates: impl IntoIterator<Item = f64>) -> Self {
        Self {
            now: 1,
            cpu: 0,
            pages: rates.into_iter().map(|rate| (rate, true, 0)).collect(),
            together: Vec::new(),
            huge,
            wake_ns: 5_000,
            flush_ns: 0,
            clock_ns: 0,
            bits: Vec::new(),
            random: 7,
            gone_at: u64::MAX,
            running: 1.0,
        }
    }

    /// From now on a page is accessed so often.
    pub(crate) fn set_rate(&mut self, page: u64, rate: f64) {
        self.advance(page);
        if let Some(state) = self.state(page) {
            state.0 = rate;
        }
    }

    /// By page, how often something is accessed that begins on it and ends on the next one.
    pub(crate) fn set_together(&mut self, rates: impl IntoIterator<Item = f64>) {
        self.together = rates.into_iter().map(|rate| (rate, 0)).collect();
    }

    /// Another course of chance.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    }

    fn state(&mut self, page: u64) -> Option<&mut (f64, bool, u64)> {
        let place = if self.huge { page / 512 } else { page };
        self.pages.get_mut(place as usize)
    }

    fn at_most(&mut self, ns: u64) -> u64 {
        (self.uniform() * ns as f64) as u64
    }

    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.random >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn spend(&mut self, ns: u64) {
        self.now += ns;
        self.cpu += ns;
    }

    /// CPU time used by the process until `ns`.
    fn running_until(&self, ns: u64) -> u64 {
        let slices = ns as f64 / SLICE_NS;
        ((slices.floor() * self.running + (slices.fract()).min(self.running)) * SLICE_NS) as u64
    }

    /// Brings what begins on a page and ends on the next one up to date.
    fn advance_together(&mut self, page: u64) {
        let Some((rate, since)) = self.together.get(page as usize).copied() else { return };
        let passed = (self.now - since) as f64 * 1e-9;
        // How long ago it was accessed last.
        let last_s = -self.uniform().ln() / rate.max(1e-12);
        self.together[page as usize].1 = self.now;
        if last_s < passed {
            let at = self.now - (last_s * 1e9) as u64;
            for page in [page, page + 1] {
                if let Some(state) = self.state(page).filter(|(_, _, cleared)| *cleared < at) {
                    state.1 = true;
                }
            }
        }
    }

    /// Brings the bit of a page up to date.
    fn advance(&mut self, page: u64) -> Option<bool> {
        if let Some(before) = page.checked_sub(1) {
            self.advance_together(before);
        }
        self.advance_together(page);
        let (rate, bit, since) = *self.state(page)?;
        if bit {
            return Some(true);
        }
        let ran = self.running_until(self.now) - self.running_until(since);
        let chance = -(-rate * ran as f64 * 1e-9).exp_m1();
        let bit = bit || self.uniform() < chance;
        let now = self.now;
        *self.state(page)? = (rate, bit, now);
        Some(bit)
    }

    fn page_numbers(&self, range: &Range) -> impl Iterator<Item = u64> + use<> {
        (range.start / 4096..range.end / 4096).step_by(if self.huge { 512 } else { 1 })
    }
}

impl Eyes for Simulated {
    fn now(&mut self) -> u64 {
        self.spend(30);
        self.now
    }
    fn cpu(&mut self) -> u64 {
        self.cpu
    }
    fn activity(&mut self, _: usize) -> Result<Activity, Lost> {
        let slices = self.now as f64 / SLICE_NS;
        let running = slices.fract() < self.running;
        let switched = if self.running < 1.0 { 2.0 * slices.floor() } else { 0.0 };
        Ok(Activity {
            exec_ns: self.running_until(self.now),
            switches: switched as u64 + u64::from(!running),
            running: u32::from(running),
        })
    }
    fn wait_until(&mut self, ns: u64) {
        let woken = self.at_most(self.wake_ns);
        if self.now < ns {
            self.now = ns + woken;
        }
        self.cpu += woken;
    }
    fn clear(&mut self, _: usize, ranges: &[Range], _: &mut Vec<usize>) -> Result<(), Lost> {
        self.spend(1_000);
        for range in ranges {
            for page in self.page_numbers(range) {
                self.spend(if self.huge { 1_500 } else { 50 });
                let now = self.now;
                if let Some(state) = self.state(page) {
                    (state.1, state.2) = (false, now);
                }
            }
            let flush = self.at_most(self.flush_ns);
            self.spend(flush);
        }
        if self.now > self.gone_at { Err(Lost) } else { Ok(()) }
    }
    fn look(&mut self, _: usize, ranges: &[Range], rows: &mut Vec<Row>) -> Result<Activity, Lost> {
        rows.clear();
        self.bits.clear();
        let activity = self.activity(0);
        self.spend(1_500);
        for (request, range) in ranges.iter().enumerate() {
            self.spend(if self.huge { 60 } else { 1_000 });
            let (mut present, mut accessed) = (0, 0);
            let mut bits = RowBits::default();
            for page in self.page_numbers(range) {
                if let Some(bit) = self.advance(page) {
                    let (word, place) = (page as usize % 512 / 64, page % 64);
                    bits.present[word] |= 1 << place;
                    bits.accessed[word] |= u64::from(bit) << place;
                    let pages = if self.huge { 512 } else { 1 };
                    present += pages;
                    accessed += if bit { pages } else { 0 };
                }
            }
            if present > 0 {
                self.bits.push(bits);
                rows.push(Row {
                    addr: range.start,
                    ns: self.now + self.at_most(self.clock_ns),
                    request: request as u32,
                    present,
                    accessed,
                    dirty: 0,
                    huge: self.huge,
                    joined: 0,
                    node: NodeId(0),
                    spread: [present, 0, 0, 0, 0, 0, 0, 0],
                });
            }
        }
        if self.now > self.gone_at { Err(Lost) } else { activity }
    }
    fn bits(&self) -> &[RowBits] {
        &self.bits
    }
}
