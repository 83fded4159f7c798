//! Figure 3: what threads copy without a kernel around it, by their number and the size.

use super::calibration::{WITHIN, machine};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};
use pagetide_machine::Kernel;
use pagetide_sim::movers::{Mechanism, time_of};

pub(super) const FIGURE: Figure = Figure {
    id: "3",
    title: "raw copy throughput by threads and size",
    source: "section 1",
    slow: false,
    run,
};

/// GB/s of so many threads that copy so many base pages.
fn raw(threads: u32, pages: usize) -> Result<f64, ReproduceError> {
    let mut machine = machine()?;
    let kernel = machine.kernel.unwrap_or_default();
    machine.kernel = Some(Kernel { call_us: 0.0, page_us: 0.0, ..kernel });
    let mechanism = Mechanism { threads, together: 0, ..Mechanism::HUGE };
    Ok(time_of(&machine, mechanism, (pages, false), false).gb_s())
}

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    let mut most = 0.0f64;
    for threads in [1, 2, 4, 8, 16] {
        let mut series = Series::new(format!("{threads} threads"), "size, KiB", "GB/s");
        for pages in [1usize, 16, 128, 512, 2048, 16_384] {
            let found = raw(threads, pages)?;
            most = most.max(found);
            series = series.point((pages * 4) as f64, found);
        }
        outcome.series.push(series);
    }
    outcome.rows = vec![
        Row::new("most", "GB/s", most).published(16.0, WITHIN),
        Row::new("2 MiB, 4 threads, over 512 base pages moved", "x", raw(4, 512)? / 0.75)
            .published(10.0, WITHIN),
    ];
    outcome.notes.push("the text gives the factor of 10 without a number of threads".into());
    Ok(outcome)
}
