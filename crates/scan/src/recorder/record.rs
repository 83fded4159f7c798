//! What an epoch adds: heat from what was seen, and what it cost.

use super::Recorder;
use crate::burst::Outcome;
use crate::evidence::Estimate;
use crate::eyes::Eyes;
use crate::live::process_cpu;
use crate::piece::Piece;
use crate::sample::Sample;
use crate::shared::Sharing;
use pagetide_trace::{Epoch, EpochRecord};
use pagetide_types::{EpochId, Pid, UnitSize};

/// What another thread uses to write a row (`trace-speed`, docs/recording.md).
const WRITE_ROW_NS: u64 = 45;
/// Pages that might be shared are looked up in pagemap so often per epoch at most.
pub(super) const SHARED_CHECKS: usize = 256;

impl Recorder {
    /// Turns what was seen into heat, and the epoch into its record.
    pub(super) fn record(
        &mut self,
        outcome: &Outcome,
        start_ns: u64,
        end_ns: u64,
        start_cpu: u64,
    ) -> EpochRecord {
        let record_from = self.live.cpu();
        let mut checks = SHARED_CHECKS;
        let mut watched_pages = 0;
        self.heat.begin(self.units.len());
        let mut samples: Vec<Option<&Sample>> = vec![None; self.pieces.len()];
        let lost = |piece: &Piece| outcome.lost.contains(&piece.process);
        for sample in &outcome.samples {
            samples[sample.piece] = Some(sample);
        }
        for (piece, sample) in self.pieces.iter_mut().zip(&samples) {
            if let Some(pages) = &mut piece.pages {
                pages.begin();
            }
            if lost(piece) {
                continue;
            }
            // Not seen, and perhaps just not visible; of single pages that is so for each.
            let single = piece.pages.is_some();
            let sample = sample.filter(|s| !s.cached || s.idle() || (s.accessed && !single));
            if let Some(sample) = sample.filter(|sample| sample.watched && sample.present > 0) {
                let pages = f32::from(piece.weight());
                tracing::trace!(epoch = self.epoch, unit = piece.unit.0, evidence = ?sample.evidence);
                piece.saturated = false;
                piece.reached = piece.uncleared;
                match piece.memory.learn(&sample.evidence, !piece.huge) {
                    Estimate::Rate(rate) => piece.rate = Some(rate * pages),
                    Estimate::AtLeast(rate) => {
                        piece.rate = Some(rate * pages);
                        piece.saturated = true;
                    }
                    Estimate::Unseen => piece.rate = Some(0.0),
                    Estimate::Nothing => {}
                }
                // Of what stayed in the CPU's cache of translations nothing was seen.
                piece.saturated |= sample.cached && !sample.idle();
                let mean = f64::from(piece.mean_rate());
                if let Some((pages, trials)) = piece.pages.as_mut().zip(sample.pages.as_ref()) {
                    if piece.uncleared {
                        // They were cleared all the same.
                        pages.forget_shared();
                    }
                    pages.learn(trials, mean, &piece.memory, piece.saturated);
                }
                let doubted = piece.saturated
                    || piece.sharing == Sharing::Unknown && sample.touched > 0
                    || piece.pages.as_ref().is_some_and(|pages| pages.wants_look_up());
                if doubted && !piece.uncleared && !piece.huge && checks > 0 {
                    checks -= 1;
                    piece.look_up_sharing(self.known[piece.process].pid);
                }
                watched_pages += u64::from(sample.own());
            }
            if sample.is_some_and(|sample| sample.refused) {
                piece.uncleared = true;
            }
            if self.options.unit == UnitSize::Huge {
                self.heat.add(piece, sample, self.known[piece.process].cores);
            }
        }
        let (heat, uncleared) = if self.options.unit == UnitSize::Huge {
            (self.heat.finish(EpochId(self.epoch)), self.heat.uncleared_pages())
        } else {
            let heat = self.page_heat.collect(
                EpochId(self.epoch),
                &self.pieces,
                &mut self.units,
                |piece| samples[piece],
                |process| (!outcome.lost.contains(&process)).then(|| self.known[process].cores),
            );
            (heat, self.page_heat.uncleared_pages())
        };
        let pages: u64 = heat.pages.iter().map(|pages| u64::from(*pages)).sum();
        let pids: Vec<Pid> = self.known.iter().filter(|k| k.alive).map(|k| k.pid).collect();
        let cpu = self.host.cpu_of(&pids);
        let tally = &outcome.tally;
        let seconds = |ns: u64| ns as f64 * 1e-9;
        let epoch = Epoch {
            epoch: EpochId(self.epoch),
            start_s: seconds(start_ns - self.started_ns),
            length_s: seconds(end_ns - start_ns),
            processes: u32::try_from(pids.len()).unwrap_or(u32::MAX),
            target_cpu_s: cpu.saturating_sub(self.last_cpu).as_secs_f64(),
            clear_s: seconds(tally.clear_ns + tally.refs_ns),
            scan_s: seconds(tally.look_ns + self.census_ns),
            recorder_s: seconds(process_cpu() - start_cpu),
            longest_clear_s: seconds(tally.longest_clear_ns),
            watched_share: (watched_pages as f64 / pages.max(1) as f64).min(1.0),
            uncleared_bytes: uncleared << 12,
            stall_share: self.stalls.share(),
        };
        self.last_cpu = cpu;
        self.ending_ns = self.live.cpu() - record_from + heat.len() as u64 * WRITE_ROW_NS;
        tracing::debug!(epoch = self.epoch, rows = heat.len(), ending_ns = self.ending_ns);
        EpochRecord {
            epoch,
            new_units: std::mem::take(&mut self.units.new_units),
            new_areas: std::mem::take(&mut self.units.new_areas),
            heat,
        }
    }
}
