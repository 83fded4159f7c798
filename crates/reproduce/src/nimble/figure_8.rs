//! Figure 8: a huge page moved whole, split, and as 512 base pages.

use super::calibration::{Moves, WITHIN, split};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(super) const FIGURE: Figure = Figure {
    id: "8",
    title: "2 MiB as base pages, split, and whole",
    source: "section 4.2.1",
    slow: false,
    run,
};

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let (base, split, huge) =
        (Moves::serial(false).up(512)?, split(1)?, Moves::serial(true).up(1)?);
    let mut kernel = Series::new("kernel", "", "us");
    let mut copy = Series::new("copy", "", "us");
    for (what, time) in [("512 base pages", base), ("split", split), ("whole", huge)] {
        kernel = kernel.point(what, time.kernel_ns / 1e3);
        copy = copy.point(what, (time.total_ns - time.kernel_ns) / 1e3);
    }
    Ok(Outcome {
        rows: vec![
            Row::new("512 base pages", "GB/s", base.gb_s()).published(0.75, WITHIN),
            Row::new("split", "GB/s", split.gb_s()).published(0.75, WITHIN),
            Row::new("whole", "GB/s", huge.gb_s()).published(2.15, WITHIN),
            Row::new("whole over base pages", "x", huge.gb_s() / base.gb_s())
                .published(2.9, WITHIN),
        ],
        notes: vec![
            "the first and the third are the two cells that the machine is calibrated on".into(),
        ],
        series: vec![kernel, copy],
    })
}
