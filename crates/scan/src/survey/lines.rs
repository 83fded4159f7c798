//! How many cache lines a program takes from the pages that it touches. One accessed bit does not
//! tell one line of a page from all 64. But a program that reads memory in order touches pages in a
//! row and takes all their lines, and pages in a row can be seen: of pages touched at random few lie
//! in runs, and how few is known.

use crate::pages::{Mask, both};

/// Lines of a page.
const ALL: f64 = 64.0;
/// Lines of a page that is touched by itself: between one (an entry of a table) and all of them (a
/// large value), the middle of the logarithms. Where no page lies in a run the choice cancels out.
pub const TOUCH: f64 = 8.0;
/// The same where long objects show by the borders within them: of fourteen real programs a touch brought 1 to 6 lines, by
/// exact counts, which miss what system calls read (docs/measurements.md).
const ALONE: f64 = 2.0;
/// Pages in a row that are read in order.
const RUN: u32 = 4;

/// Lines that so many touches of huge pages bring: one bit tells no rows.
pub(crate) fn lines_of_huge(touches: f64) -> f64 {
    TOUCH * touches
}

/// Lines taken from `seen` pages, of which so many were read in order.
pub(crate) fn lines(seen: f64, streamed: f64) -> f64 {
    TOUCH * seen + lines_of_whole(streamed)
}

/// The lines that so many pages bring beside those of a touch where they are read in order.
pub(crate) fn lines_of_whole(pages: f64) -> f64 {
    (ALL - TOUCH) * pages
}

/// Lines that so many pages bring which came in, of which so many were read whole, in order or [`Rows::within`] objects. That
/// may be below none by chance, and then they bring fewer: else regions would be charged more the less sure it is.
pub(crate) fn charged(pages: f64, whole: f64) -> f64 {
    (ALONE * pages + (ALL - ALONE) * whole.min(pages)).max(0.0)
}

/// Of the lines that come in with a page, `lines` on average, the part that comes with pages that are read in order.
pub(crate) fn in_order(lines: f64) -> f64 {
    let pages = ((lines - TOUCH) / (ALL - TOUCH)).clamp(0.0, 1.0);
    ALL * pages / lines.max(1.0)
}

/// How the pages lie that were first seen since another look. Estimates: below 0 where chance put fewer there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// Pages that were read in order: those in runs, less what chance puts there.
    pub(crate) streamed: f64,
    /// Borders between two pages, not of a run, that lie within what one access took, an object that begins anywhere: the longer
    /// it is the likelier a border lies within, and on average there are as many borders as there are pages' worth of lines.
    /// Told in two ways, of which the lesser holds over many visits.
    pub(crate) within: [f64; 2],
    /// What chance adds to both together: the variance.
    pub(crate) noise: f64,
}

impl Rows {
    /// Of `new` pages that were `left` at the look before; `before`: those that it saw, so many times sooner.
    ///
    /// Hot pages lie together in many programs: how much is put in runs by chance is judged by 64 pages
    /// at a time. Those seen before lie between them, and end runs.
    pub(crate) fn of(new: &Mask, left: &Mask, before: &Mask, later: f64) -> Self {
        let (runs, starts) = (runs_of(&starts(new)), starts(left));
        let may_run = runs_of(&starts);
        let windows: Vec<Mask> = (0..RUN).map(|by| up(&starts, by)).collect();
        let mut rows = Self::default();
        for i in 0..new.len() {
            let windows = windows.iter().map(|windows| windows[i].count_ones()).sum();
            let [new, left, runs, may_run] =
                [new[i], left[i], runs[i], may_run[i]].map(u64::count_ones);
            let filled = may_fill(before[i].count_ones(), left + before[i].count_ones(), later);
            let chance = by_chance(new, left, filled, may_run, windows);
            let (streamed, noise) = of_word(new, left, filled, runs, chance);
            rows.streamed += streamed;
            rows.noise += noise;
        }
        let alone = std::array::from_fn(|i| new[i] & !runs[i]);
        rows.within = within(&alone, left);
        // Of m pages chance puts n^2 / m pairs of n at any distance; by the weights of `within` and those side by side.
        rows.noise += 2.0 * count(&alone).powi(2) / count(left).max(1.0);
        rows
    }

    /// What was read whole, in two ways.
    pub(crate) fn whole(&self) -> [f64; 2] {
        self.within.map(|within| self.streamed + within)
    }
}

/// See [`Rows::within`]. Pages that were touched side by side, less what is there besides:
/// - Chance, and hot pages that lie together, put about as many at a distance of two to eight pages, on a line that is drawn
///   through their numbers to a distance of one.
/// - Searches that close in on a place, by halves or otherwise, touch about as many at a distance of two as of one.
///
/// Where many of the pages are touched too few borders are found, for other objects touch the same pages; what mends that makes
/// more of chance, too.
fn within(new: &Mask, left: &Mask) -> [f64; 2] {
    let pairs = |of: &Mask, by| count(&both(of, &down(of, by)));
    if pairs(left, FARTHEST) < FEW_PAIRS {
        return [0.0; 2];
    }
    let (beside, may_be) = (pairs(new, 1), pairs(left, 1));
    let besides = |by| may_be * pairs(new, by) / pairs(left, by).max(1.0);
    // By least squares, from distances of which the middle is 5.
    let weight = |by: u32| (6.0 - f64::from(by)) / 7.0;
    let on_the_line = (2..=FARTHEST).map(|by| weight(by) * besides(by)).sum::<f64>();
    // No more than there are: pages in order at a distance of eight are no objects.
    [on_the_line, besides(2)].map(|others| (beside - others).min(beside))
}

/// The farthest pages that tell how many pairs chance puts side by side, and the fewest pairs so far apart that do.
const FARTHEST: u32 = 8;
const FEW_PAIRS: f64 = 64.0;

fn count(pages: &Mask) -> f64 {
    f64::from(pages.iter().map(|word| word.count_ones()).sum::<u32>())
}

/// Of one word: `new` of the pages that were `left`, `runs` of them in runs, so many `by_chance`. And how far chance is off, the
/// variance: it puts whole runs there, of somewhat more than [`RUN`] pages.
fn of_word(new: u32, left: u32, filled: bool, runs: u32, by_chance: f64) -> (f64, f64) {
    if new == left && left >= FLIPPED && !filled {
        // None seen before and all since: no pages touched at random come so.
        return (f64::from(new), 0.0);
    }
    let share = by_chance / f64::from(new.max(1));
    if share > MOST_BY_CHANCE {
        // From none to all of them may be.
        return (0.0, f64::from(new).powi(2));
    }
    let runs_by_chance = f64::from(RUN + 1) * by_chance;
    ((f64::from(runs) - by_chance) / (1.0 - share), runs_by_chance / (1.0 - share).powi(2))
}

/// How many of `new` pages chance puts in runs. `may_run` of those left lie where runs can be, in so
/// many `windows` of [`RUN`] pages in a row, each page counted with each of its windows.
///
/// A page with m of them, one after the other, lies in a run if all pages of one are new: with
/// share d of the pages new, a chance of m d^3 - (m - 1) d^4 once it is itself.
fn by_chance(new: u32, left: u32, filled: bool, may_run: u32, windows: u32) -> f64 {
    // No more than are soon: what is beyond that was read in order.
    let new = if filled { new } else { new.min(left * 3 / 4) };
    // So many given pages are all new; not by powers of d, which is known by these few pages alone.
    let all_new = |pages: u32| -> f64 {
        (0..pages)
            .map(|i| f64::from(new.saturating_sub(i)) / f64::from(left.max(pages) - i))
            .product()
    };
    let (windows, may_run) = (f64::from(windows), f64::from(may_run));
    all_new(RUN) * windows - all_new(RUN + 1) * (windows - may_run)
}

/// Of pages at random no larger part is set by a look four times as late, at most, as one that saw a third of them or fewer.
const SOON: f64 = 0.75;

/// Whether a look so many times as late as the first one, which saw `seen` of `pages`, may find all pages touched by chance
/// alone: of pages accessed alike, at random, each is as likely as there in every such time since.
fn may_fill(seen: u32, pages: u32, later: f64) -> bool {
    let seen = f64::from(seen) + 1.0;
    // It may have seen fewer than usual: but for one chance in twenty or less.
    let part = ((seen + 2.0 * seen.sqrt()) / f64::from(pages.max(1))).min(1.0);
    later > 4.0 && 1.0 - (1.0 - part).powf(later - 1.0) > SOON
}

/// So many pages of a word, all of them new, were read in order.
const FLIPPED: u32 = 48;
/// Beyond this chance of lying in a run, runs tell nothing.
const MOST_BY_CHANCE: f64 = 0.8;

/// Pages with which a run of [`RUN`] or more begins or could: after each come enough others.
fn starts(pages: &Mask) -> Mask {
    let mut starts = *pages;
    for by in 1..RUN {
        let later = down(pages, by);
        starts = std::array::from_fn(|i| starts[i] & later[i]);
    }
    starts
}

/// The pages of all runs that begin so.
fn runs_of(starts: &Mask) -> Mask {
    let mut runs = *starts;
    for by in 1..RUN {
        let spread = up(starts, by);
        runs = std::array::from_fn(|i| runs[i] | spread[i]);
    }
    runs
}

/// Every page takes the place of the one `by` places before it; `by` below 64.
fn down(pages: &Mask, by: u32) -> Mask {
    std::array::from_fn(|i| pages[i] >> by | pages.get(i + 1).map_or(0, |next| next << (64 - by)))
}

/// Every page takes the place of the one `by` places after it; `by` below 64.
fn up(pages: &Mask, by: u32) -> Mask {
    if by == 0 {
        return *pages;
    }
    std::array::from_fn(|i| {
        pages[i] << by | i.checked_sub(1).map_or(0, |before| pages[before] >> (64 - by))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::simulated::words;
    use proptest::prelude::*;

    const ALL_LEFT: Mask = [u64::MAX; 8];

    /// Not long after a look that saw nothing.
    fn soon(new: &Mask, left: &Mask) -> Rows {
        Rows::of(new, left, &Mask::default(), 1.0)
    }

    #[test]
    fn pages_in_order_are_told_from_pages_at_random() {
        // 40 pages in a row, across the border of a word; then 200.
        let few: Mask = [u64::MAX << 50, (1 << 26) - 1, 0, 0, 0, 0, 0, 0];
        let many: Mask = [u64::MAX << 28, u64::MAX, u64::MAX, (1 << 36) - 1, 0, 0, 0, 0];
        for row in [few, many] {
            let found = soon(&row, &ALL_LEFT).streamed / count(&row);
            assert!((found - 1.0).abs() < 0.1, "{found}");
        }
        let (mut sum, mut all, mut words) = (0.0, 0.0, words(1));
        let mut random = || words().rotate_left(32);
        for _ in 0..400 {
            // Half of the pages of one word, a quarter of another, few of the others.
            let seen: Mask = std::array::from_fn(|i| match i {
                0 => random(),
                1 => random() & random(),
                _ => random() & random() & random() & random(),
            });
            sum += soon(&seen, &ALL_LEFT).streamed;
            all += count(&seen);
        }
        assert!((sum / all).abs() < 0.03, "{}", sum / all);
    }

    /// What `within` says, over many visits, by page touched.
    fn found(mut visit: impl FnMut() -> Mask) -> f64 {
        let (mut sums, mut all) = ([0.0; 2], 0.0);
        for seen in std::iter::repeat_with(&mut visit).take(2000) {
            sums.iter_mut()
                .zip(soon(&seen, &ALL_LEFT).within)
                .for_each(|(sum, found)| *sum += found);
            all += count(&seen);
        }
        sums[0].min(sums[1]) / all
    }

    /// Borders within objects of so many bytes that begin at random places of `hot` pages, by page touched; so many of
    /// them a visit.
    fn borders(bytes: u64, objects: usize, hot: impl Fn(u64) -> bool) -> f64 {
        let mut words = words(1);
        found(|| {
            let mut seen = Mask::default();
            let starts = std::iter::repeat_with(|| words() % (512 << 12));
            for start in starts.filter(|start| hot(start >> 12)).take(objects) {
                for page in start >> 12..=((start + bytes - 1) >> 12).min(511) {
                    seen[usize::try_from(page / 64).unwrap()] |= 1 << (page % 64);
                }
            }
            seen
        })
    }

    #[test]
    fn long_objects_are_told_from_short_ones_by_the_borders_within_them() {
        for bytes in [8, 64, 200, 500, 1000, 1600, 3000] {
            for (objects, least) in [(5, 0.9), (20, 0.85), (60, 0.65), (150, 0.3)] {
                let part = bytes as f64 / 4096.0;
                let (found, right) = (borders(bytes, objects, |_| true), part / (1.0 + part));
                let shown = least * right - 0.02..right + 0.02;
                assert!(shown.contains(&found), "{bytes} B, {objects}: {found} for {right}");
            }
        }
        // Of two pages: half of the borders is missed, or more.
        let two = borders(8192, 20, |_| true);
        assert!((0.25..0.7).contains(&two), "{two}");
    }

    #[test]
    fn hot_pages_that_lie_together_are_no_long_objects_nor_are_pages_in_order() {
        for (together, every) in [(8, 64), (16, 64), (64, 512), (1, 4)] {
            let found = borders(8, 20, |page| page % every < together);
            assert!(found.abs() < 0.1, "{together} of {every}: {found}");
        }
        let least = |set: &dyn Fn(usize) -> bool| {
            let of_word = |word: usize| {
                (0..64).filter(|page| set(word * 64 + page)).map(|page| 1u64 << page).sum()
            };
            let found = soon(&std::array::from_fn(of_word), &ALL_LEFT).within;
            found[0].min(found[1])
        };
        for stride in 2..20 {
            let found = least(&|page| page.is_multiple_of(stride));
            assert!(found <= 0.0, "every {stride}th page: {found}");
        }
        for run in [8, 20, 200] {
            let found = least(&|page| (100..100 + run).contains(&page));
            assert!(found < 1.0, "{run}: {found}");
        }
    }

    #[test]
    fn searches_that_close_in_on_a_place_are_no_long_objects() {
        let mut words = words(1);
        let set = |seen: &mut Mask, page: u64| {
            seen[usize::try_from(page / 64).unwrap()] |= 1 << (page % 64);
        };
        // By halves, as far as pages go; and two ends of a range that shrinks.
        let halves = found(|| {
            let mut seen = Mask::default();
            for goal in std::iter::repeat_with(|| words() % 512).take(20) {
                for half in [1, 2, 4, 8, 16] {
                    set(&mut seen, goal / (2 * half) * (2 * half) + half);
                }
            }
            seen
        });
        let ends = found(|| {
            let mut seen = Mask::default();
            for _ in 0..20 {
                let goal = words() % 448;
                for page in [goal, goal + words() % 64, goal + words() % 8] {
                    set(&mut seen, page);
                }
            }
            seen
        });
        assert!(halves < 0.05 && ends < 0.05, "{halves}, {ends}");
    }

    #[test]
    fn pages_at_random_where_few_were_left_are_not_in_order() {
        // The first 16 or 32 pages of a word were left, or every fourth was seen before.
        for left in [0xffff, 0xffff_ffff, !0x1111_1111_1111_1111] {
            let (mut sum, mut all, mut words) = (0.0, 0.0, words(1));
            for _ in 0..4000 {
                let new: Mask = [words().rotate_left(32) & left, 0, 0, 0, 0, 0, 0, 0];
                sum += soon(&new, &[left, 0, 0, 0, 0, 0, 0, 0]).streamed;
                all += count(&new);
            }
            assert!((sum / all).abs() < 0.1, "{left:x}: {}", sum / all);
        }
    }

    #[test]
    fn pages_at_random_that_are_nearly_all_touched_are_not_in_order() {
        let mut chance = crate::survey::simulated::random(1);
        let mut pages = |part: f64| -> Mask {
            let mut word = || (0..64).map(|page| u64::from(chance() < part) << page).sum();
            std::array::from_fn(|_| word())
        };
        // At random, so of those that the first look left these are touched by one sixteen times as late.
        for before in [0.02_f64, 0.05, 0.1, 0.15, 0.2, 0.3] {
            let since = 1.0 - (1.0 - before).powi(15);
            let (mut sum, mut all) = (0.0, 0.0);
            for _ in 0..1000 {
                let left = pages(1.0 - before);
                let new = both(&left, &pages(since));
                sum += Rows::of(&new, &left, &left.map(|word| !word), 16.0).streamed;
                all += count(&new);
            }
            assert!((sum / all).abs() < 0.02, "{before}, {since}: {}", sum / all);
        }
    }

    #[test]
    fn chance_fills_what_a_much_later_look_sees_unless_the_first_saw_next_to_nothing() {
        let filled = |seen, later| may_fill(seen, 64, later);
        assert_eq!([0, 1, 2, 9].map(|seen| filled(seen, 16.0)), [false, false, true, true]);
        assert_eq!([0, 1, 2, 9].map(|seen| filled(seen, 256.0)), [true; 4]);
        assert!(!filled(64, 4.0), "soon after it");
    }

    #[test]
    fn where_chance_may_have_touched_all_nothing_is_known_rather_than_none_in_order() {
        let before: Mask = [0x0101_0101_0101_0101; 8];
        let left = before.map(|word| !word);
        let rows = Rows::of(&left, &left, &before, 16.0);
        assert_eq!(rows.streamed, 0.0);
        assert!(rows.noise.sqrt() > 100.0, "give or take {} of 448", rows.noise.sqrt());
    }

    #[test]
    fn the_front_of_a_row_counts() {
        // Half of a word was seen at the first look, and all of the rest, or nearly, since.
        let left: Mask = [!0 << 30, !0, 0, 0, 0, 0, 0, 0];
        for unseen in [0, 1 << 20, 1 << 45] {
            let new: Mask = [left[0] & !unseen, 0, 0, 0, 0, 0, 0, 0];
            let found = soon(&new, &left).streamed / count(&new);
            assert!(found > 0.95, "{found}");
        }
    }

    #[test]
    fn a_page_in_order_brings_all_its_lines() {
        assert_eq!(lines(10.0, 10.0), 640.0);
        assert_eq!(lines(10.0, 0.0), 80.0);
    }

    #[test]
    fn a_page_is_charged_with_two_lines_and_with_all_where_it_came_in_whole() {
        assert_eq!([0.0, 0.5, 1.0].map(|whole| charged(1.0, whole)), [2.0, 33.0, 64.0]);
    }

    #[test]
    fn of_lines_per_page_it_is_known_how_many_came_in_order() {
        assert_eq!([1.0, 8.0, 64.0, 70.0].map(in_order), [0.0, 0.0, 1.0, 64.0 / 70.0]);
        // Three pages of four by themselves: 24 lines, and 64 with the fourth.
        assert!((in_order(88.0 / 4.0) - 64.0 / 88.0).abs() < 1e-9);
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
            prop_assert_eq!(runs_of(&starts(&seen)), expected);
        }
    }
}
