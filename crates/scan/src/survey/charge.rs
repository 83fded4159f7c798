//! What a plan charges a region of base pages with: the cache lines that came in with its pages in an epoch, by that epoch's
//! visits (`History::charge`).

use super::measured::Measured;
use crate::target::region::Region;

/// Says what is charged of what an epoch measured, which the regions have taken in. `cores`: by process, CPU seconds used per
/// second.
pub(crate) fn charge(measured: &mut [Option<Measured>], regions: &[Region], cores: &[f32]) {
    let (mut expected, mut all) = (0.0, 0.0);
    for (seen, region) in measured.iter_mut().zip(regions) {
        let Some(Measured { traffic, charged: of, .. }) = seen else { continue };
        // A huge page is charged with what is expected of it.
        if !region.huge {
            *of = region.history.charge(traffic);
            let cores = cores.get(region.process).copied().map_or(1.0, f64::from);
            expected += cores * traffic.lines;
            all += cores * *of;
        }
    }
    // All together as much as by pages in a row alone: only whose lines they are is told better.
    if all > 0.0 {
        measured.iter_mut().flatten().for_each(|seen| seen.charged *= expected / all);
    }
}
