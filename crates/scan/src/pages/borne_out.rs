//! Whether pages that were expected to be hotter than others of their region are: the next visits say it. Of pages that
//! are accessed alike some were seen more often, by chance, and the others catch up; who goes by such differences
//! exchanges pages for nothing. It is the slope by which what was seen follows what was foretold, by least squares:
//! 1 where expectations are right, 0 where they were chance. One region says that late where its pages are accessed seldom;
//! all regions of a process that are about as hot say it together after a visit or two, and a region is taken to be like
//! them as far as it has not shown otherwise.

use super::{REGION, has};
use crate::survey::visit::{LATER, Visit};
use pagetide_types::KEEP;

/// A look tells most that saw about so many of the pages, and nothing that saw all but so many of them or less.
const MIDDLE: f64 = 0.4;
const TOO_FEW: f64 = 0.02;
/// They differ by more than chance from so many standard deviations on, and by chance where the slope is so many of them
/// below what matters.
const SURE: f64 = 3.0;
const SURELY_NOT: f64 = 2.0;
const MATTERS: f64 = 0.4;
/// Other regions count as so much information at most, for their slopes differ by a fifth. Before anybody has seen whether
/// expectations are right they are taken to be so by half, or not at all where nothing hints at it, which counts as so much.
const OTHERS: f64 = 25.0;
const BEFORE: f64 = 4.0;

/// See the module. In the inverse of the variance of the slope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BorneOut {
    information: f64,
    /// The slope, times that.
    slope: f64,
}

impl BorneOut {
    /// What was seen counts for less an epoch later.
    pub(super) fn fade(&mut self) {
        self.information *= f64::from(KEEP);
        self.slope *= f64::from(KEEP);
    }

    /// Holds a visit against the rates that were expected before it, each touch bringing in so many lines.
    pub(super) fn learn(&mut self, rates: &[f32; REGION], lines: f64, visit: &Visit) {
        let Some(first_seen) = visit.first_seen.as_deref() else { return };
        let Some((seconds, last)) = telling(visit) else { return };
        let (mut pages, mut sums, mut squares, mut products) = (0.0, [0.0; 2], 0.0, 0.0);
        for page in (0..REGION).filter(|page| has(&visit.own, *page)) {
            let foretold = -(-f64::from(rates[page]) / lines * seconds).exp_m1();
            let seen = f64::from(u8::from(first_seen[page] <= last));
            pages += 1.0;
            (sums[0], sums[1]) = (sums[0] + foretold, sums[1] + seen);
            squares += foretold * foretold;
            products += foretold * seen;
        }
        if pages == 0.0 {
            return;
        }
        let seen = sums[1] / pages;
        let variance = seen * (1.0 - seen);
        if variance > 0.0 {
            self.information += (squares - sums[0] * sums[0] / pages) / variance;
            self.slope += (products - sums[0] * sums[1] / pages) / variance;
        }
    }

    /// Adds what another region says.
    pub(crate) fn add(&mut self, other: &Self) {
        self.information += other.information;
        self.slope += other.slope;
    }

    /// What is known of a region that is one of those which say `all` together.
    pub(super) fn beside(&self, all: &Self) -> Self {
        let others = all.information - self.information;
        let part = if others > OTHERS { OTHERS / others } else { 1.0 };
        Self {
            information: self.information + part * others.max(0.0),
            slope: self.slope + part * (all.slope - self.slope),
        }
    }

    /// How much of a difference that is expected of its pages comes true, 0 to 1; `may`: whether anything hints at their
    /// differing.
    pub(super) fn comes_true(&self, may: bool) -> f64 {
        let before = if may { 0.5 } else { 0.0 };
        ((self.slope + BEFORE * before) / (self.information + BEFORE)).clamp(0.0, 1.0)
    }

    /// Whether its pages differ by more than chance; none as long as that is open.
    pub(super) fn differ(&self) -> Option<bool> {
        let deviations = self.information.sqrt();
        match () {
            () if self.slope > SURE * deviations => Some(true),
            () if self.slope + SURELY_NOT * deviations < MATTERS * self.information => Some(false),
            () => None,
        }
    }
}

/// The look of a visit that tells most: when, in seconds, and the last mark of pages that were seen by then.
fn telling(visit: &Visit) -> Option<(f64, u8)> {
    let pages = f64::from(visit.pages);
    let looks = visit.looks.iter().zip(0..);
    let looks = looks.chain(visit.end.iter().map(|end| (end, LATER)));
    let share = |seen: u16| f64::from(seen) / pages;
    looks
        .filter(|(look, _)| (TOO_FEW..=1.0 - TOO_FEW).contains(&share(look.seen)))
        .min_by(|(a, _), (b, _)| {
            let off = |seen: u16| (share(seen) - MIDDLE).abs();
            off(a.seen).total_cmp(&off(b.seen))
        })
        .map(|(look, mark)| (look.gap_ns * 1e-9, mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::visit::{Look, NEVER};

    /// A visit that saw these pages by its only look, a second after the clearing.
    fn visit(seen: impl Fn(usize) -> bool) -> Visit {
        let first_seen: [u8; REGION] =
            std::array::from_fn(|page| if seen(page) { 0 } else { NEVER });
        let count = first_seen.iter().filter(|mark| **mark == 0).count();
        let look = Look { gap_ns: 1e9, seen: u16::try_from(count).unwrap(), ..Look::default() };
        Visit {
            pages: 512,
            own: [u64::MAX; 8],
            looks: vec![look],
            first_seen: Some(Box::new(first_seen)),
            ..Visit::default()
        }
    }

    #[test]
    fn what_was_foretold_is_held_against_what_came() {
        // The first half of the pages was expected to be accessed four times a second, the others every four seconds.
        let rates = std::array::from_fn(|page| if page < 256 { 32.0 } else { 2.0 });
        let differ = |seen: &dyn Fn(usize) -> bool| {
            let mut borne_out = BorneOut::default();
            borne_out.learn(&rates, 8.0, &visit(seen));
            borne_out.differ()
        };
        assert_eq!(differ(&|page| page < 256 || page % 4 == 0), Some(true));
        assert_eq!(differ(&|page| page % 4 == 0 || page < 64), Some(true), "by a part of it");
        assert_eq!(differ(&|page| page % 2 == 0), Some(false));
        assert_eq!(differ(&|page| page >= 256), Some(false), "nor the other way round");
        assert_eq!(differ(&|_| true), None, "a look that sees all tells nothing");
    }
}
