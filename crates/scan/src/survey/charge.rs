//! What a plan charges a region of base pages with: the cache lines that came in with its pages in an epoch. One visit says
//! too roughly how many a touch brings (lines.rs, `within`): that is learned from all visits to the region.

use super::lines::charged;
use super::measured::Measured;
use crate::target::region::Region;
use pagetide_types::KEEP;

/// Lines of all regions, fading from epoch to epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Charge {
    expected: f64,
    charged: f64,
}

impl Charge {
    /// Says what is charged of what an epoch measured. The regions have taken it in.
    pub(crate) fn learn(&mut self, measured: &mut [Option<Measured>], regions: &[Region]) {
        self.expected *= f64::from(KEEP);
        self.charged *= f64::from(KEEP);
        for (seen, region) in measured.iter_mut().zip(regions) {
            let Some(Measured { traffic, charged: of, .. }) = seen else { continue };
            // A huge page is charged with what is expected of it.
            if !region.huge {
                *of = charged(traffic.pages, traffic.lines, region.history.borders());
                self.expected += traffic.lines;
                self.charged += *of;
            }
        }
        // All together as much as is expected of them: only whose lines they are is told better.
        if self.charged > 0.0 {
            let each = self.expected / self.charged;
            measured.iter_mut().flatten().for_each(|seen| seen.charged *= each);
        }
    }
}
