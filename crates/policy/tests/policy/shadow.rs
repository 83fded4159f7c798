//! AMP's shadow of a rival hits what the rival hits that is in force alone, on any heat.

use pagetide_policy::{Decider, Now, PolicySpec, observed};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One unit in one epoch: pages and flags; `None`: not alive.
type Cell = Option<(u16, HeatFlags)>;

fn heat(id: u32, cells: &[Cell]) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(id));
    for (unit, cell) in (0..).zip(cells) {
        if let Some((pages, flags)) = *cell {
            let (unit, node) = (UnitId(unit), NodeId(0));
            heat.push(HeatRow { unit, rate: 0.0, flags, pages, watched: 0, touched: 0, node });
        }
    }
    heat
}

/// A policy in force, shown epochs of 5 s at one capacity.
struct Replayed {
    decider: Decider,
    capacity: Bytes,
}

impl Replayed {
    fn new(spec: &str, capacity: Bytes) -> Self {
        let Ok(spec) = spec.parse::<PolicySpec>() else { panic!("{spec}") };
        Self { decider: Decider::new(&spec), capacity }
    }

    /// Lives through an epoch and decides; what was fast in it.
    fn show(&mut self, heat: &EpochHeat) -> Vec<bool> {
        self.decider.arrive(heat);
        let fast = self.decider.fast(heat, self.capacity);
        let now = Now {
            length_s: 5.0,
            free_moves: false,
            capacity: self.capacity,
            fast: &fast,
            movable: None,
            next: None,
        };
        self.decider.decide(heat, &now);
        fast
    }
}

/// What is known of a unit since the last decision: whether it was accessed; `None`: not observed.
type Gathered = BTreeMap<UnitId, Option<bool>>;

/// Takes in an epoch; what is not alive in it is forgotten.
fn gather(gathered: &mut Gathered, heat: &EpochHeat) {
    gathered.retain(|unit, _| heat.unit.binary_search(unit).is_ok());
    for row in heat.rows() {
        let seen = gathered.entry(row.unit).or_default();
        if observed(row.flags) {
            *seen = Some(*seen == Some(true) || row.flags.has(HeatFlags::ACCESSED));
        }
    }
}

/// Hits as AMP defines them: accessed memory that is fast, as a share of what was observed.
fn hit_ratio(heat: &EpochHeat, gathered: &Gathered, fast: &[bool]) -> f64 {
    let (mut hits, mut all) = (0u64, 0u64);
    for (row, fast) in heat.rows().zip(fast) {
        let (pages, accessed) = (u64::from(row.pages), gathered[&row.unit]);
        all += if accessed.is_some() { pages } else { 0 };
        hits += if accessed == Some(true) && *fast { pages } else { 0 };
    }
    hits as f64 / all as f64
}

fn epochs() -> impl Strategy<Value = Vec<EpochHeat>> {
    let flags = prop_oneof![
        4 => Just(HeatFlags::SAMPLED | HeatFlags::ACCESSED),
        4 => Just(HeatFlags::SAMPLED | HeatFlags::UNSEEN),
        1 => Just(HeatFlags::default()),
        1 => Just(HeatFlags::SAMPLED | HeatFlags::UNCLEARED | HeatFlags::ACCESSED),
    ];
    let cell = proptest::option::weighted(0.9, (1u16..4, flags));
    (1usize..32)
        .prop_flat_map(move |units| vec(vec(cell.clone(), units), 1..24))
        .prop_map(|epochs| (0..).zip(&epochs).map(|(id, cells)| heat(id, cells)).collect())
}

/// AMP that never leaves Random, so that both rivals are in shadow throughout; that chooses between
/// the two; that chooses among all three.
const CHOOSING: [&str; 3] =
    ["amp:threshold=-1", "amp:warm-up=0,threshold=1,window=2", "amp:warm-up=1,threshold=0.2"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_hits_of_a_shadow_are_those_of_the_rival_in_force_alone(
        epochs in epochs(),
        capacity in 0u64..60,
        interval in prop_oneof![Just(5), Just(10), Just(15)],
    ) {
        let capacity = Bytes::kib(4 * capacity);
        let replayed = |spec: &str| Replayed::new(spec, capacity);
        for choosing in CHOOSING {
            let mut amp = replayed(&format!("{choosing},interval={interval}"));
            let mut alone =
                ["lru", "lfu"].map(|name| replayed(&format!("{name}:interval={interval}")));
            let mut gathered = Gathered::new();
            for heat in &epochs {
                amp.show(heat);
                gather(&mut gathered, heat);
                let fast = alone.each_mut().map(|rival| rival.show(heat));
                let Some(told) = amp.decider.observation() else { continue };
                let expected = fast.map(|fast| hit_ratio(heat, &gathered, &fast));
                prop_assert_eq!(&told.figures[2..4], &expected, "{}", choosing);
                gathered.clear();
            }
        }
    }
}
