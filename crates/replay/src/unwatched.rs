//! Memory that nobody had watched yet. Where a recorder's budget does not reach all of a target, it
//! watches units in turns, and a unit's rate is unknown until it had its turn: it would look as if it
//! became hot then. It counts as what was seen of it first; if it never had a turn, as the nearest
//! unit that had one. (The mean would make many lukewarm units of few hot ones.)

use pagetide_trace::{Epoch, Recording};
use pagetide_types::{Bytes, EpochHeat, HeatFlags};

/// Epochs of which more than this share was watched have no gaps worth a look.
const ALL: f64 = 0.995;

/// When every unit of a recording was first watched, and what was seen then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unwatched {
    /// By unit: the epoch, none if it never was, and accesses per second of a page, of its own or
    /// its neighbour's. Empty if everything was watched all the time.
    first: Vec<(Option<u32>, f32)>,
}

impl Unwatched {
    /// Reads the heat of the recording once, if something was not watched.
    ///
    /// # Errors
    /// A span that is damaged or missing.
    pub fn read(recording: &Recording) -> Result<Self, pagetide_trace::Error> {
        if recording.epochs().iter().all(|epoch| epoch.watched_share >= ALL) {
            return Ok(Self::default());
        }
        let mut first = vec![(None, 0.0); recording.unit_count()];
        for heat in recording.heat() {
            let heat = heat?;
            for i in 0..heat.len() {
                let first = &mut first[heat.unit[i].index()];
                if first.0.is_none() && known(&heat, i) {
                    *first = (Some(heat.epoch.0), heat.rate[i] / f32::from(heat.pages[i].max(1)));
                }
            }
        }
        let (units, mut rates) = (recording.units()?, Vec::new());
        let mut by_address: Vec<usize> = (0..first.len().min(units.len())).collect();
        by_address.sort_unstable_by_key(|unit| units[*unit]);
        for of_object in by_address.chunk_by(|a, b| units[*a].object == units[*b].object) {
            let index = |at: usize| units[of_object[at]].index;
            let watched: Vec<usize> =
                (0..of_object.len()).filter(|at| first[of_object[*at]].0.is_some()).collect();
            for (at, unit) in of_object.iter().enumerate().filter(|(_, u)| first[**u].0.is_none()) {
                let next = watched.partition_point(|other| *other < at);
                let near = watched[next.saturating_sub(1)..].iter().take(2);
                let nearest = near.min_by_key(|other| index(**other).abs_diff(index(at)));
                rates.push((*unit, nearest.map_or(0.0, |other| first[of_object[*other]].1)));
            }
        }
        for (unit, rate) in rates {
            first[unit].1 = rate;
        }
        Ok(Self { first })
    }

    /// Puts the rates in their place. Says how much memory they are of.
    pub fn fill(&self, heat: &mut EpochHeat, epoch: &Epoch) -> Bytes {
        let mut filled = Bytes(0);
        if self.first.is_empty() || epoch.watched_share >= ALL {
            return filled;
        }
        for i in 0..heat.len() {
            let (from, rate) = self.first[heat.unit[i].index()];
            if from.is_some_and(|from| from <= heat.epoch.0)
                || heat.flags[i].has(HeatFlags::UNCLEARED)
            {
                continue;
            }
            heat.rate[i] = rate * f32::from(heat.pages[i]);
            filled += heat.bytes(i);
        }
        filled
    }
}

/// Whether the unit was watched, now or before: who is not watched keeps its rate.
fn known(heat: &EpochHeat, row: usize) -> bool {
    heat.flags[row].has(HeatFlags::SAMPLED) || heat.rate[row] > 0.0
}
