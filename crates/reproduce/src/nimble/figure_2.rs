//! Figure 2: what moving base pages takes on Linux, and how fast it is: most of it is not the copy.

use super::calibration::{Moves, WITHIN, split};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(super) const FIGURE: Figure = Figure {
    id: "2",
    title: "cost and throughput of moving one base page, 512, and a huge page that is split",
    source: "section 1",
    slow: false,
    run,
};

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let moves = [
        ("1 base page", Moves::serial(false).up(1)?),
        ("512 base pages", Moves::serial(false).up(512)?),
        ("1 huge page, split", split(1)?),
    ];
    let (labels, unit) = ("", "us a base page");
    let mut kernel = Series::new("kernel", labels, unit);
    let mut copy = Series::new("copy", labels, unit);
    for (what, time) in &moves {
        let pages = time.bytes / 4096.0;
        kernel = kernel.point(*what, time.kernel_ns / 1e3 / pages);
        copy = copy.point(*what, (time.total_ns - time.kernel_ns) / 1e3 / pages);
    }
    let [one, many, huge] = moves.map(|(what, time)| (what, time.gb_s()));
    Ok(Outcome {
        rows: vec![
            Row::new(one.0, "MB/s", 1e3 * one.1).published(40.0, WITHIN),
            Row::new(many.0, "GB/s", many.1).published(0.75, WITHIN),
            Row::new(huge.0, "GB/s", huge.1).published(0.75, WITHIN),
        ],
        notes: vec![
            "512 base pages are one of the two cells that the machine is calibrated on".into(),
        ],
        series: vec![kernel, copy],
    })
}
