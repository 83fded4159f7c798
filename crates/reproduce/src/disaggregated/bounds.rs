//! The most that a cell of figure 5 can gain, without simulating it. A page that comes in takes at best all that its
//! lines ask of the pool's banks along, fetches and write-backs, and at most M come to a node per epoch. What is left is
//! work for the banks, and they do no more of it at a time than all of them together; nor is a program faster
//! than with all memory local. So with a share `s` of the work on the `M x epochs` pages that ask for most, and banks
//! that are busy for a share `b` of the time without migration,
//!
//! ```text
//! gain <= min(all local, 1 / (b (1 - s)))
//! ```
//!
//! Swaps that take their turn in the banks only lower it. What it leaves out: lines that leave the shared cache with their
//! page spare others, and a gain is a mean over cores while this is about the last of them (both small: a test allows 2 %).

use super::figure_5::{EPOCHS, MOST, PUBLISHED};
use super::programs::named;
use super::runs::{Point, Runs, programs, title, value, windows};
use crate::{Context, Figure, Key, Outcome, ReproduceError, Row, Series, Tolerance, Values};
use pagetide_access::Kind;
use pagetide_machine::PoolMachine;
use pagetide_sim::pool::scenario::model_of_program;
use pagetide_sim::pool::{Filtering, What, pass};

pub(super) const FIGURE: Figure = Figure {
    id: "bounds",
    title: "The most that cells of figure 5 can gain",
    source: "Figure 5, section 4.1; the bound is not published",
    slow: true,
    run,
};

/// Numbers of pages for which the share of the work is kept, each the half again of the one before: a bound takes the
/// next larger one.
fn numbers() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |n| Some(n + n.div_ceil(2)))
}

/// By number of pages the share of the banks' work that those ask for which ask for most.
fn shares(mut work: Vec<f64>) -> Vec<(usize, f64)> {
    work.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = work.iter().sum();
    let pages = work.iter().filter(|work| **work > 0.0).count();
    let mut found: Vec<(usize, f64)> = numbers()
        .take_while(|n| *n < pages)
        .map(|n| (n, work[..n].iter().sum::<f64>() / all))
        .collect();
    found.push((pages, 1.0));
    found
}

/// What a program asks of the banks, by page of a node.
fn look(context: &Context, program: &str) -> Result<Values, ReproduceError> {
    let machine = PoolMachine::load(PoolMachine::DEFAULT)?;
    let threads = named(program)?.threads(machine.core.count, 1)?;
    let (warm_up, instructions) = windows(context.small);
    let filtering = Filtering { warm_up, instructions, pages: threads.pages, seed: 1 };
    let mut work = vec![0.0; threads.pages as usize];
    pass(threads.sources, &machine.caches, None, filtering, &mut |seen| {
        if let What::Line(kind) = seen.what {
            let back = kind == Kind::WriteBack;
            work[(seen.line >> 6) as usize] +=
                if back { machine.pool.write_ns } else { machine.pool.read_ns };
        }
    })
    .map_err(|error| ReproduceError::Other(error.to_string()))?;
    Ok(shares(work).into_iter().map(|(pages, share)| (format!("{pages:09}"), share)).collect())
}

/// The most that a cell gains whose moves take this share of the work along.
fn bound(all_local: f64, busy: f64, share: f64) -> f64 {
    all_local.min(1.0 / (busy * (1.0 - share)).max(f64::MIN_POSITIVE))
}

/// A program's bounds by epoch and M.
struct Bounds {
    program: &'static str,
    all_local: f64,
    busy: f64,
    cycles: f64,
    shares: Vec<(usize, f64)>,
}

impl Bounds {
    /// Pages that may come to a node, and the bound.
    fn of(&self, epoch: u64, most: u32) -> (f64, f64) {
        let pages = f64::from(most) * (self.cycles / epoch as f64).ceil();
        let share = self.shares.iter().find(|(n, _)| *n as f64 >= pages).map_or(1.0, |of| of.1);
        (pages, bound(self.all_local, self.busy, share))
    }
}

fn bounds(context: &Context) -> Result<Vec<Bounds>, ReproduceError> {
    let machine = PoolMachine::load(PoolMachine::DEFAULT)?;
    let text = serde_json::to_string(&(&machine.caches, &machine.pool)).unwrap_or_default();
    let digest = crate::simulated::digest_of(&text);
    let key = |program: &&'static str| {
        let key =
            Key::new("disaggregated/bounds", model_of_program(&named(program)?), context.scale)
                .with("program", program)
                .with("window", format!("{:?}", windows(context.small)))
                .with("digest", &digest);
        Ok((key, *program))
    };
    let points: Vec<(Key, &'static str)> =
        programs(context).iter().map(key).collect::<Result<_, ReproduceError>>()?;
    let looked = context.store.points(&points, |(_, program)| look(context, program))?;
    let runs = Runs::new(context);
    programs(context)
        .iter()
        .zip(looked)
        .map(|(program, shares)| {
            let found = runs.points(&[Point::of(program), Point::of(program).all_local()])?;
            let none = &found[0];
            let all_local = value(&found[1], "ipc")? / value(none, "ipc")?;
            let cycles = value(none, "seconds")? * machine.core.ghz * 1e9;
            let number = |(pages, share): (String, f64)| Some((pages.parse().ok()?, share));
            let shares = shares.into_iter().filter_map(number).collect();
            Ok(Bounds { program, all_local, busy: value(none, "busy")?, cycles, shares })
        })
        .collect()
}

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for of in bounds(context)? {
        let name = title(of.program);
        let mut row = |what: &str, unit, value| {
            outcome.rows.push(Row::new(format!("{name}: {what}"), unit, value));
        };
        row("gain if all memory were local", "x", of.all_local);
        row(
            "pages of a node that ask for anything",
            "",
            of.shares.last().map_or(0.0, |of| of.0 as f64),
        );
        row("busy banks, nothing moves", "%", 100.0 * of.busy);
        row("cycles, nothing moves", "", of.cycles);
        for (epoch, epoch_name) in EPOCHS {
            let mut series = Series::new(name, "pages per epoch (M)", "gain at most")
                .panel(format!("epoch {epoch_name}"));
            for most in MOST.into_iter().rev() {
                series = series.point(f64::from(most), of.of(epoch, most).1);
            }
            outcome.series.push(series);
        }
        let mut told = Vec::new();
        for (program, epoch, most, _, published) in PUBLISHED {
            let cycles = EPOCHS.iter().find(|(_, name)| *name == epoch).map_or(0, |of| of.0);
            // All thresholds have the same bound: the largest figure stands for them.
            let largest = PUBLISHED
                .iter()
                .filter(|of| (of.0, of.1, of.2) == (program, epoch, most))
                .map(|of| of.4)
                .fold(published, f64::max);
            if program != of.program || told.contains(&(epoch, most)) {
                continue;
            }
            told.push((epoch, most));
            let (pages, at_most) = of.of(cycles, most);
            let what = format!("{name}: {epoch} cycles, M {most}, at most");
            let row = Row::new(what, "x", at_most).published(largest, Tolerance::None);
            let more = if largest > at_most { "; published is more" } else { "" };
            outcome.rows.push(row.why(format!("{pages:.0} pages may come to a node{more}")));
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_share_of_the_work_comes_first() {
        let work = vec![1.0, 0.0, 4.0, 3.0, 2.0];
        assert_eq!(shares(work), [(1, 0.4), (2, 0.7), (3, 0.9), (4, 1.0)]);
    }

    #[test]
    fn what_stays_in_the_pool_takes_the_banks_their_time() {
        assert_eq!(bound(5.0, 1.0, 0.5), 2.0);
        assert_eq!(bound(5.0, 0.5, 0.5), 4.0);
        assert_eq!(bound(5.0, 1.0, 1.0), 5.0, "no faster than local memory");
        assert_eq!(bound(5.0, 0.5, 0.0), 2.0, "banks that are idle for half of the time");
    }
}
