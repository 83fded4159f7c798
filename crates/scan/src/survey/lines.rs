//! How many cache lines a program takes from the pages that it touches. One accessed bit does not
//! tell one line of a page from all 64. But a program that reads memory in order touches pages in a
//! row and takes all their lines, and pages in a row can be seen: of pages touched at random few lie
//! in runs, and how few is known.

use crate::pages::Mask;

/// Lines of a page.
const ALL: f64 = 64.0;
/// Lines of a page that is touched by itself: between one (an entry of a table) and all of them (a
/// large value), the middle of the logarithms. Where no page lies in a run the choice cancels out.
const SOME: f64 = 8.0;
/// Pages in a row that are read in order.
const RUN: u32 = 4;

/// Lines taken from `seen` pages, of which so many were read in order.
pub(crate) fn lines(seen: f64, streamed: f64) -> f64 {
    SOME * seen + (ALL - SOME) * streamed
}

/// Pages of `new`, first seen since another look at which `left` were still unseen, that were read in
/// order: those that lie in runs, less what chance puts there. Below 0 where chance put fewer
/// there.
///
/// Hot pages lie together in many programs: how much is put in runs by chance is judged by 64 pages
/// at a time.
pub(crate) fn streamed(new: &Mask, left: &Mask) -> f64 {
    let runs = in_runs(new);
    let words = new.iter().zip(left).zip(&runs);
    words.map(|((new, left), runs)| of_word(new.count_ones(), left.count_ones(), *runs)).sum()
}

fn of_word(new: u32, left: u32, runs: u64) -> f64 {
    if new == left && left >= FLIPPED {
        // None seen before and all since: no pages touched at random come so.
        return f64::from(new);
    }
    // Those seen before lie between them, and end runs.
    let share = f64::from(new) / 64.0;
    // A page's run is as long as the seen neighbours on both sides: two geometric numbers.
    let by_chance = 1.0 - (1.0 - share).powi(2) * (1.0 + 2.0 * share + 3.0 * share * share);
    if by_chance > MOST_BY_CHANCE {
        return 0.0;
    }
    (f64::from(runs.count_ones()) - f64::from(new) * by_chance) / (1.0 - by_chance)
}

/// So many pages of a word, all of them new, were read in order.
const FLIPPED: u32 = 48;
/// Beyond this chance of lying in a run, runs tell nothing.
const MOST_BY_CHANCE: f64 = 0.8;

/// Pages that lie in runs of [`RUN`] or more.
fn in_runs(pages: &Mask) -> Mask {
    let mut starts = *pages;
    for by in 1..RUN {
        let later = down(pages, by);
        starts = std::array::from_fn(|i| starts[i] & later[i]);
    }
    let mut runs = starts;
    for by in 1..RUN {
        let spread = up(&starts, by);
        runs = std::array::from_fn(|i| runs[i] | spread[i]);
    }
    runs
}

/// Every page takes the place of the one `by` places before it; `by` below 64.
fn down(pages: &Mask, by: u32) -> Mask {
    std::array::from_fn(|i| pages[i] >> by | pages.get(i + 1).map_or(0, |next| next << (64 - by)))
}

/// Every page takes the place of the one `by` places after it.
fn up(pages: &Mask, by: u32) -> Mask {
    std::array::from_fn(|i| {
        pages[i] << by | i.checked_sub(1).map_or(0, |before| pages[before] >> (64 - by))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL_LEFT: Mask = [u64::MAX; 8];

    fn count(pages: &Mask) -> u32 {
        pages.iter().map(|word| word.count_ones()).sum()
    }

    #[test]
    fn pages_in_order_are_told_from_pages_at_random() {
        // 40 pages in a row, across the border of a word; then 200.
        let few: Mask = [u64::MAX << 50, (1 << 26) - 1, 0, 0, 0, 0, 0, 0];
        let many: Mask = [u64::MAX << 28, u64::MAX, u64::MAX, (1 << 36) - 1, 0, 0, 0, 0];
        for row in [few, many] {
            let found = streamed(&row, &ALL_LEFT) / f64::from(count(&row));
            assert!((found - 1.0).abs() < 0.1, "{found}");
        }
        let (mut sum, mut all, mut state) = (0.0, 0.0, 1_u64);
        for _ in 0..400 {
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state.rotate_left(32)
            };
            // Half of the pages of one word, a quarter of another, few of the others.
            let seen: Mask = std::array::from_fn(|i| match i {
                0 => random(),
                1 => random() & random(),
                _ => random() & random() & random() & random(),
            });
            sum += streamed(&seen, &ALL_LEFT);
            all += f64::from(count(&seen));
        }
        assert!((sum / all).abs() < 0.03, "{}", sum / all);
    }

    #[test]
    fn a_page_in_order_brings_all_its_lines() {
        assert_eq!(lines(10.0, 10.0), 640.0);
        assert_eq!(lines(10.0, 0.0), 80.0);
    }

    proptest! {
        #[test]
        fn runs_are_found_as_by_hand(seen: Mask) {
            let set = |page: usize| page < 512 && seen[page / 64] >> (page % 64) & 1 != 0;
            let mut expected = Mask::default();
            let mut page = 0;
            while page < 512 {
                let run = (page..512).take_while(|page| set(*page)).count();
                for page in page..page + if run >= RUN as usize { run } else { 0 } {
                    expected[page / 64] |= 1 << (page % 64);
                }
                page += run + 1;
            }
            prop_assert_eq!(in_runs(&seen), expected);
        }
    }
}
