//! Small recordings for tests, drawn and fixed.

use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};
use proptest::collection::vec;
use proptest::prelude::*;

/// Epochs with their lengths in seconds.
pub(crate) type Epochs = Vec<(EpochHeat, f64)>;

/// One unit in one epoch: pages, rate, flags; `None`: not alive.
type Cell = Option<(u16, f32, u8)>;

fn build(rows: &[(Vec<Cell>, f64)]) -> Epochs {
    let epoch = |(id, (cells, length_s)): (u32, &(Vec<Cell>, f64))| {
        let mut heat = EpochHeat::new(EpochId(id));
        for (unit, cell) in (0..).zip(cells) {
            if let Some((pages, rate, flags)) = *cell {
                let (unit, flags, node) = (UnitId(unit), HeatFlags(flags), NodeId(0));
                heat.push(HeatRow { unit, rate, flags, pages, watched: 0, touched: 0, node });
            }
        }
        (heat, *length_s)
    };
    (0..).zip(rows).map(epoch).collect()
}

/// Leads and writes as exact counts have them.
fn count(heat: &mut EpochHeat) {
    // What is charged is not what is ranked by.
    let parts = [0.75f32, 0.25, 1.0, 0.5, 0.0];
    heat.traffic = heat.rate.iter().zip(parts.iter().cycle()).map(|(r, part)| r * part).collect();
    heat.leads = heat
        .traffic
        .iter()
        .zip((0u8..5).cycle())
        .map(|(t, i)| t * f32::from(i % 5) / 4.0)
        .collect();
    heat.writes = heat
        .traffic
        .iter()
        .zip((0u8..5).cycle())
        .map(|(t, i)| t * f32::from(i % 3) / 2.0)
        .collect();
}

/// Few values, so that keys tie, and any flags, as trackers may set them.
fn cell(pages: impl Strategy<Value = u16>) -> impl Strategy<Value = (u16, f32, u8)> {
    let rate = prop_oneof![3 => Just(0.0f32), 3 => (1u8..4).prop_map(f32::from), 2 => 0.0f32..1e6];
    let sampled = HeatFlags::SAMPLED.0;
    let flags = prop_oneof![4 => (0u8..128).prop_map(move |flags| flags | sampled), 1 => 0u8..128];
    // Mostly cleared.
    let flags = (flags, 0u8..8)
        .prop_map(|(flags, keep)| if keep == 0 { flags } else { flags & !HeatFlags::UNCLEARED.0 });
    (pages, rate, flags)
}

fn drawn(
    units: std::ops::Range<usize>,
    pages: impl Strategy<Value = u16> + Clone + 'static,
    length: usize,
) -> impl Strategy<Value = Epochs> {
    units.prop_flat_map(move |units| {
        let epoch = (vec(proptest::option::weighted(0.8, cell(pages.clone())), units), 0.1f64..9.0);
        (vec(epoch, 1..length), any::<bool>()).prop_map(|(rows, exact)| {
            let mut epochs = build(&rows);
            if exact {
                epochs.iter_mut().for_each(|(heat, _)| count(heat));
            }
            epochs
        })
    })
}

/// Units of any size that come, go, grow and shrink.
pub(crate) fn epochs() -> impl Strategy<Value = Epochs> {
    drawn(1..12, prop_oneof![Just(2u16), 1u16..5], 9)
}

/// Units of one page that come and go.
pub(crate) fn uniform_epochs() -> impl Strategy<Value = Epochs> {
    drawn(1..16, Just(1), 12)
}

/// More pages than a grid has steps.
pub(crate) fn large_epochs() -> impl Strategy<Value = Epochs> {
    drawn(290..330, 400u16..=512, 5).prop_filter("some epochs", |epochs| epochs.len() > 2)
}

/// Three epochs of four units, one of which dies while another is born.
pub(crate) fn sample() -> Epochs {
    let seen = HeatFlags(HeatFlags::SAMPLED.0 | HeatFlags::ACCESSED.0).0;
    let idle = HeatFlags(HeatFlags::SAMPLED.0 | HeatFlags::UNSEEN.0).0;
    let hot = |rate| Some((2, rate, seen));
    build(&[
        (vec![hot(5.0), hot(1.0), Some((2, 0.0, idle)), None], 2.0),
        (vec![hot(1.0), hot(9.0), None, hot(3.0)], 2.0),
        (vec![hot(1.0), hot(7.0), None, hot(4.0)], 2.0),
    ])
}

/// Units of one page, a fifth of them hot; one in 16 changes sides in every epoch, and some of
/// the cold ones are accessed now and then.
pub(crate) fn wandering(units: u32, epochs: u32) -> Epochs {
    let draw = |a: u32, b: u32| (a ^ b.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b) >> 16;
    let cell = |epoch: u32, unit: u32| {
        let life = (epoch + draw(unit, 1) % 16) / 16;
        let hot = draw(unit, 2 + life) % 5 == 0;
        let seen = hot || draw(unit, 100 + epoch) % 8 == 0;
        let flag = if seen { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
        let rate = if hot { 50.0 } else { f32::from(u8::from(seen)) };
        Some((1, rate, (HeatFlags::SAMPLED | flag).0))
    };
    let rows: Vec<_> = (0..epochs)
        .map(|epoch| ((0..units).map(|unit| cell(epoch, unit)).collect(), 5.0))
        .collect();
    build(&rows)
}

/// Three units of a page over three epochs of 1, 2 and 1 s.
pub(crate) fn three_units() -> Epochs {
    let epoch = |rates: [f32; 3], length_s| {
        let cell = |rate| {
            let accessed = if rate > 0.0 { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
            Some((1, rate, (HeatFlags::SAMPLED | accessed).0))
        };
        (rates.map(cell).to_vec(), length_s)
    };
    build(&[epoch([0.0, 0.0, 10.0], 1.0), epoch([4.0, 1.0, 6.0], 2.0), epoch([9.0, 0.0, 1.0], 1.0)])
}

/// The largest resident memory of any epoch.
pub(crate) fn footprint(epochs: &Epochs) -> Bytes {
    epochs.iter().map(|(heat, _)| heat.resident()).max().unwrap_or_default()
}
