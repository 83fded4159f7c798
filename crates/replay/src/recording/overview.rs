//! What is known of a recording as a whole, gathered in one pass: [`RecordingFacts`], the
//! warm-up, the areas and the heatmap.

use crate::recording::unmapped::Unmapped;
use crate::recording::{ended_in_the_last, not_judged_before, whole_bytes};
use crate::{AreaHeat, CpuCache, Heatmap, HeatmapBuilder, RecordingFacts, WarmUp, not_judged};
use pagetide_trace::{Epoch, EpochRecord, Header, Recording, Unknown};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, UnitId};
use serde::Serialize;

/// A recording as a whole: what a plan begins with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// Sums and means over the evaluated epochs.
    pub facts: RecordingFacts,
    /// What was left out of them at the start.
    pub warm_up: WarmUp,
    /// Most resident bytes in one epoch, warm-up included.
    pub peak_bytes: Bytes,
    /// Heat per area, largest first.
    pub areas: Vec<AreaHeat>,
    /// Heat over address and time.
    pub heatmap: Heatmap,
}

/// What one epoch adds to the sums.
#[derive(Clone, Debug, Default)]
struct Sums {
    epoch: Epoch,
    units: usize,
    resident: Bytes,
    accesses: f64,
    /// Of the accesses, those past the CPU caches; of those, the saturated.
    traffic: f64,
    saturated: f64,
    unseen_bytes: f64,
    unwatched_bytes: f64,
    huge_bytes: f64,
    unmapped_bytes: f64,
    born: Bytes,
    /// Died before its end, and had been there for half of the time or more.
    died: Bytes,
}

impl Sums {
    /// `measured`: the traffic was, and is not the rate less what a model of the caches holds.
    fn of(epoch: &Epoch, heat: &EpochHeat, measured: bool) -> Self {
        let mut sums = Self { units: heat.len(), resident: heat.resident(), ..Self::default() };
        let length = if epoch.length_s.is_finite() { epoch.length_s.max(0.0) } else { 0.0 };
        for i in 0..heat.len() {
            let (flags, bytes) = (heat.flags[i], heat.bytes(i).as_f64());
            let traffic = f64::from(heat.memory_rate(i)) * length;
            // Where only the traffic was measured nobody knows what the caches served.
            let all = match heat.accesses.get(i) {
                Some(accesses) => f64::from(*accesses) * length,
                None if measured && !flags.has(HeatFlags::HUGE) => traffic,
                None => f64::from(heat.rate[i]) * length,
            };
            sums.accesses += all;
            sums.traffic += traffic;
            if flags.has(HeatFlags::SATURATED) {
                sums.saturated += traffic;
            }
            if flags.has(HeatFlags::UNSEEN) {
                sums.unseen_bytes += bytes;
            }
            if flags.has(HeatFlags::HUGE) {
                sums.huge_bytes += bytes;
            }
        }
        sums.epoch = Epoch { length_s: length, ..epoch.clone() };
        sums
    }
}

/// Which units had their turn to be watched; by unit number.
#[derive(Debug, Default)]
struct Watched(Vec<bool>);

impl Watched {
    /// The resident bytes of units of which nothing has been seen up to this epoch.
    fn not_yet(&mut self, heat: &EpochHeat) -> Bytes {
        let most = heat.unit.last().map_or(0, |unit| unit.index() + 1);
        self.0.resize(most.max(self.0.len()), false);
        let mut bytes = Bytes(0);
        for (row, unit) in heat.unit.iter().enumerate() {
            let watched = &mut self.0[unit.index()];
            *watched |= heat.flags[row].has(HeatFlags::SAMPLED);
            if !*watched && !heat.flags[row].has(HeatFlags::UNCLEARED) {
                bytes += heat.bytes(row);
            }
        }
        bytes
    }
}

/// Who is there, and since which epoch.
#[derive(Debug, Default)]
struct Lives {
    epoch: usize,
    /// Unit, since when, its pages; ascending.
    there: Vec<(UnitId, usize, u16)>,
}

impl Lives {
    /// The resident bytes that were born in an epoch, and those that died before its end and had been there for half of
    /// the time or more.
    fn next(&mut self, heat: &EpochHeat) -> (Bytes, Bytes) {
        let before = std::mem::take(&mut self.there);
        let (mut born, mut died) = (Bytes(0), Bytes(0));
        let old = |since: usize| 2 * since <= self.epoch;
        let mut others = before.into_iter().peekable();
        let mut die = |(_, since, pages): (UnitId, usize, u16)| {
            if old(since) {
                died += Bytes(4096 * u64::from(pages));
            }
        };
        for (row, unit) in heat.unit.iter().enumerate() {
            while let Some(dead) = others.next_if(|(other, ..)| other < unit) {
                die(dead);
            }
            let since = others.next_if(|(other, ..)| other == unit).map(|(_, since, _)| since);
            if since.is_none() && self.epoch > 0 {
                born += heat.bytes(row);
            }
            self.there.push((*unit, since.unwrap_or(self.epoch), heat.pages[row]));
        }
        others.for_each(die);
        self.epoch += 1;
        (born, died)
    }
}

impl Overview {
    /// Reads the whole recording; `heatmap_rows` as in [`HeatmapBuilder::finish`]. Traffic is
    /// what `cache` lets through.
    ///
    /// # Errors
    /// A span that is damaged or missing.
    pub fn read(
        recording: &Recording,
        heatmap_rows: usize,
        cache: CpuCache,
    ) -> Result<Self, pagetide_trace::Error> {
        Self::of(recording, recording.records(), heatmap_rows, cache)
    }

    /// As [`Self::read`]; `records` are those of the recording, on which the caller may look, too.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of(
        recording: &Recording,
        records: impl Iterator<Item = Result<EpochRecord, pagetide_trace::Error>>,
        heatmap_rows: usize,
        cache: CpuCache,
    ) -> Result<Self, pagetide_trace::Error> {
        let mut builder = HeatmapBuilder::new();
        let (mut epochs, mut cache_per_core) = (Vec::new(), cache.per_core());
        let mut lives = Lives::default();
        let (mut watched, mut unmapped) = (Watched::default(), Unmapped::default());
        for record in records {
            let mut record = record?;
            builder.push(&record);
            let measured = !record.heat.traffic.is_empty();
            if measured {
                cache_per_core = recording.header().cache_per_core.unwrap_or(cache_per_core);
            }
            cache.filter_epoch(&mut record.heat, &record.epoch);
            let (born, died) = lives.next(&record.heat);
            let sums = Sums::of(&record.epoch, &record.heat, measured);
            let unwatched_bytes = watched.not_yet(&record.heat).as_f64();
            let unmapped_bytes = unmapped.of(&record).as_f64();
            epochs.push(Sums { unwatched_bytes, unmapped_bytes, born, died, ..sums });
        }
        let resident: Vec<Bytes> = epochs.iter().map(|epoch| epoch.resident).collect();
        let header = recording.header();
        let mut warm_up = match recording.first_epoch() {
            0 => not_judged(&resident, header.began_with_target),
            first => not_judged_before(&resident, first),
        };
        if ended_in_the_last(recording.epochs(), &warm_up) {
            warm_up = warm_up.ended();
        }
        let (heatmap, areas) = builder.finish(heatmap_rows, warm_up.epochs);
        let name = recording.path().display().to_string();
        Ok(Self {
            facts: RecordingFacts {
                epochs: recording.window().map_or(epochs.len(), |window| window.of_epochs),
                window: recording.window(),
                unmapped_counted: unmapped.was_counted(),
                ..facts(name, header, &epochs, &warm_up, cache_per_core)
            },
            warm_up,
            peak_bytes: resident.iter().copied().max().unwrap_or_default(),
            areas,
            heatmap,
        })
    }
}

fn facts(
    name: String,
    header: &Header,
    all: &[Sums],
    warm_up: &WarmUp,
    cache_per_core: Bytes,
) -> RecordingFacts {
    let used = &all[warm_up.epochs.min(all.len())..warm_up.looked_at(all.len())];
    let sum = |value: &dyn Fn(&Sums) -> f64| used.iter().map(value).sum::<f64>();
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let seconds = sum(&|e| e.epoch.length_s);
    let resident = sum(&|e| e.resident.as_f64());
    let (accesses, traffic) = (sum(&|e| e.accesses), sum(&|e| e.traffic));
    let mut unknown = Unknown::default();
    used.iter().for_each(|e| unknown.add(&e.epoch, e.resident));
    let whole = &all[..all.len().saturating_sub(1).max(1).min(all.len())];
    let lengths = || whole.iter().map(|e| e.epoch.length_s);
    let stalls: Vec<f64> = used.iter().filter_map(|e| e.epoch.stall_share).collect();
    RecordingFacts {
        name,
        target: header.target.clone(),
        started_unix_s: header.started_unix_s,
        source: header.source,
        unit: header.unit,
        epoch_s: header.epoch_s,
        shortest_epoch_s: lengths().reduce(f64::min).unwrap_or(0.0),
        longest_epoch_s: lengths().reduce(f64::max).unwrap_or(0.0),
        window: None,
        epochs: all.len(),
        evaluated_epochs: used.len(),
        seconds,
        units: used.iter().map(|e| e.units).max().unwrap_or(0),
        footprint_bytes: used.iter().map(|e| e.resident).max().unwrap_or_default(),
        accesses_per_s: ratio(accesses, seconds),
        traffic_per_s: ratio(traffic, seconds),
        leads_per_s: None,
        cache_per_core,
        cached_share: ratio(accesses - traffic, accesses).clamp(0.0, 1.0),
        saturated_share: ratio(sum(&|e| e.saturated), traffic),
        unseen_share: ratio(sum(&|e| e.unseen_bytes), resident),
        unwatched_share: ratio(sum(&|e| e.unwatched_bytes), resident),
        watched_share: ratio(sum(&|e| e.epoch.watched_share), used.len() as f64),
        born_bytes: whole_bytes(ratio(sum(&|e| e.born.as_f64()), used.len() as f64)),
        died_bytes: whole_bytes(ratio(sum(&|e| e.died.as_f64()), used.len() as f64)),
        uncleared_share: unknown.share(),
        clear_shared: header.machine.get("clear_shared").is_some_and(|asked| asked == "yes"),
        huge_share: ratio(sum(&|e| e.huge_bytes), resident),
        unmapped_bytes: whole_bytes(ratio(sum(&|e| e.unmapped_bytes), used.len() as f64)),
        unmapped_counted: true,
        target_cores: ratio(sum(&|e| e.epoch.target_cpu_s), seconds),
        recorder_cores: ratio(sum(&|e| e.epoch.recorder_s), seconds),
        stall_share: (stalls.len() == used.len() && !stalls.is_empty())
            .then(|| stalls.iter().sum::<f64>() / stalls.len() as f64),
    }
}
