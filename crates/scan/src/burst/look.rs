//! Looking at batches: rows of the page-table walk become trials of their samples.

use super::Bursts;
use crate::batch::Batch;
use crate::costs::Call;
use crate::eyes::Eyes;

impl<E: Eyes> Bursts<'_, E> {
    /// Looks at the pages of `batches` (all of one process) that are still unseen, or (`wiping`)
    /// at the pieces not yet known to be accessed, and at those whose single pages count.
    pub(super) fn look(&mut self, batches: &[usize], wiping: bool) {
        let Some(process) = batches.first().map(|b| self.batches[*b].process) else { return };
        self.ranges.clear();
        self.asked.clear();
        for batch in batches {
            let Batch { first_sample, end_sample, .. } = self.batches[*batch];
            for i in first_sample..end_sample {
                let sample = &self.samples[i];
                if sample.risk > 0 && (!wiping || !sample.accessed || sample.pages.is_some()) {
                    self.ranges.push(sample.range);
                    self.asked.push((i, *batch));
                }
            }
        }
        if self.ranges.is_empty() {
            return;
        }
        let now = self.eyes.now();
        let Ok(activity) = self.eyes.look(process, &self.ranges, &mut self.rows) else {
            self.lost.push(process);
            return;
        };
        let took = self.eyes.now() - now;
        self.tally.look_ns += took;
        let (mut tables, mut huge) = (0, 0);
        let mut rows = self.rows.iter().enumerate().peekable();
        for (request, (i, batch)) in self.asked.iter().enumerate() {
            let sample = &mut self.samples[*i];
            let entry = &self.batches[*batch];
            let ran = entry.ran(activity, now);
            let (mut present, mut accessed, mut ns) = (0, 0, sample.looked_ns);
            let mut bits = None;
            while let Some((i, row)) = rows.next_if(|(_, row)| row.request as usize == request) {
                present += row.present;
                accessed += row.accessed;
                ns = row.ns;
                // A huge page was split, or base pages were collapsed.
                sample.huge = row.huge;
                bits = self.eyes.bits().get(i).filter(|_| !row.huge);
                huge += u64::from(row.huge);
                tables += u64::from(!row.huge);
            }
            sample.take((present, accessed), bits, ns, ran);
        }
        self.tally.calls.push(Call::look(tables, huge, took));
        for batch in batches {
            let entry = &mut self.batches[*batch];
            if entry.ran(activity, now).is_some() {
                (entry.looked_ns, entry.activity) = (now, Some(activity));
            }
        }
    }

    /// The epoch ends: was what was cleared accessed until now?
    pub(super) fn final_looks(&mut self) {
        let mut of_process: Vec<Vec<usize>> = Vec::new();
        for (i, batch) in self.batches.iter().enumerate() {
            if batch.bursts > 0 && !self.lost.contains(&batch.process) {
                if of_process.len() <= batch.process {
                    of_process.resize(batch.process + 1, Vec::new());
                }
                of_process[batch.process].push(i);
            }
        }
        for batches in of_process {
            for chunk in batches.chunks(512) {
                self.look(chunk, false);
            }
        }
    }
}
