//! All that was published, on a pool whose banks keep a row open, as the memory model of the paper's simulator does
//! (machines/pools/pcm-2019-rows.toml), beside banks that serve in order. Nothing in it was chosen by what was
//! published.

use super::misses::{WITHIN, published};
use super::runs::{Point, Runs, programs};
use super::statistics::median;
use crate::{Context, Figure, Outcome, ReproduceError, Row, Verdict};

const MACHINE: &str = "pcm-2019-rows";

pub(super) const FIGURE: Figure = Figure {
    id: "open-rows",
    title: "Figures 3, 5, 6 and 7 where banks keep a row open, as in the paper's simulator",
    source: "figures 3, 5, 6, 7; SST's Messier",
    slow: true,
    run,
};

fn run(context: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let mut off = [Vec::new(), Vec::new()];
    let mut met = [0, 0];
    for program in programs(context) {
        let runs = Runs::new(context);
        let mut all = published(program);
        all.truncate(if context.small { 2 } else { all.len() });
        let points: Vec<Point> = all
            .iter()
            .flat_map(|of| [&of.point, &of.over])
            .flat_map(|point| [Point { machine: MACHINE, ..point.clone() }, point.clone()])
            .collect();
        for (of, ipc) in all.iter().zip(runs.ipc(&points)?.chunks(4)) {
            let [rows, order] = [ipc[0] / ipc[2], ipc[1] / ipc[3]];
            for (at, ours) in [rows, order].into_iter().enumerate() {
                off[at].push((ours / of.ratio).ln().abs());
                let row = Row::new("", "", ours).published(of.ratio, WITHIN);
                met[at] += usize::from(row.verdict() == Some(Verdict::Met));
            }
            let row = Row::new(of.what.clone(), "x", rows).published(of.ratio, WITHIN);
            outcome.rows.push(row.why(format!("served in order {order:.2}")));
        }
    }
    let [rows, order] = off.map(|mut off| median(&mut off).exp());
    outcome.notes.push(format!(
        "off by a factor of {rows:.2} on the median, either way, {} of {} within 15 %; served in order {order:.2}, {}",
        met[0],
        outcome.rows.len(),
        met[1]
    ));
    Ok(outcome)
}
