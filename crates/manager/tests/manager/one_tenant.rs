//! The live loop and a ledger carry out the same decisions: there is one tenant.

use crate::world::{EVERYTHING, FAST, SLOW, World, settings, unit};
use pagetide_manager::{Amount, Budget, Settings, Tracker};
use pagetide_policy::{Places, Room, Tenant};
use pagetide_types::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_heat_gives_the_same_moves_live_and_on_a_ledger(
        epochs in vec(vec(0u8..6, 16), 2..8),
        fast in 1usize..16,
        policy in 0usize..5,
    ) {
        let policy = ["rate:steps=256,interval=0", "lru", "lfu", "random", "two-lists"][policy];
        let capacity = Bytes::mib(2 * fast as u64);
        // First touch, and all that a live loop needs besides: a reserve, room to move.
        let units: Vec<_> =
            (0..16).map(|at| unit(1.0, if at < fast { FAST } else { SLOW })).collect();
        let budget = Budget { fast: Some(Amount::Bytes(capacity)), ..EVERYTHING };
        let settings = Settings { policy: policy.parse().unwrap(), ..settings(budget) };
        let mut world = World::new(64, 64, &units, settings);
        let mut ledger = Tenant::of(&policy.parse().unwrap());
        for rates in &epochs {
            // By rate, what is alike is scattered where memory is seen, and a ledger keeps its order: none are alike.
            let apart = if policy.starts_with("rate") { 0.05 } else { 0.0 };
            let rate = |(rate, at): (&u8, u8)| f32::from(*rate) + apart * f32::from(at + 1);
            let rates: Vec<f32> = rates.iter().zip(0..).map(rate).collect();
            world.manager.tracker().rates.clone_from(&rates);
            // The ledger is shown what the loop will be shown.
            let tracker = world.manager.tracker();
            let told = (tracker.epochs, tracker.told);
            let heat = tracker.epoch(&|| false, false, &mut ()).unwrap().record.unwrap().heat;
            (tracker.epochs, tracker.told) = told;
            let line = world.epoch();
            ledger.arrive(&heat);
            let decided =
                ledger.decide(&heat, 1.0, Places::default(), Room::Ledger(capacity), (false, None));
            let bytes = |rows: &[usize]| Bytes::mib(2 * rows.len() as u64);
            prop_assert_eq!(line.promote, bytes(&decided.chosen.promote), "{}", policy);
            prop_assert_eq!(line.demote, bytes(&decided.chosen.demote), "{}", policy);
            let on_ledger = ledger.fast(&heat, capacity);
            let on_ledger: Vec<u64> =
                (0..16).zip(on_ledger).filter_map(|(unit, fast)| fast.then_some(unit)).collect();
            prop_assert_eq!(world.fast(), on_ledger, "{}", policy);
        }
    }
}
