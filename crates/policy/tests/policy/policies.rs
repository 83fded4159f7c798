//! Every policy by small examples, computed by hand: what it is shown, and the order it makes.

use crate::orders::{DEAD, NOT_SAMPLED, UNCLEARED, orders};

#[test]
fn lru_puts_the_most_recently_accessed_first_and_ties_keep_their_order() {
    let found = orders(
        "lru",
        0,
        &[
            // Ages 1 0 1 0.
            [0.0, 5.0, 0.0, 1.0],
            // Ages 0 1 2 0: unit 3 was ahead of 0.
            [9.0, 0.0, 0.0, 1.0],
            // Ages 1 2 0 1.
            [0.0, 0.0, 1.0, 0.0],
            [0.0; 4],
        ],
    );
    assert_eq!(found, [[1, 3, 0, 2], [3, 0, 1, 2], [2, 3, 0, 1]]);
}

#[test]
fn lfu_puts_what_was_accessed_in_most_epochs_first() {
    let epochs = [
        // Counts 1 1 0.
        [1.0, 9.0, 0.0],
        // Counts 2 1 1: unit 1 was ahead of 2.
        [1.0, 0.0, 9.0],
        // Counts 2 1 2: unit 0 was ahead of 2.
        [0.0, 0.0, 9.0],
        [0.0; 3],
    ];
    assert_eq!(orders("lfu", 0, &epochs), [[0, 1, 2], [0, 1, 2], [0, 2, 1]]);
    // Of the last two epochs only: counts 1 0 2.
    assert_eq!(orders("lfu:window=2", 0, &epochs)[2], [2, 0, 1]);
}

#[test]
fn lfu_remembers_64_epochs_and_no_more() {
    let mut epochs = vec![[1.0, 0.0]; 40];
    epochs.extend([[0.0, 1.0]; 80]);
    let found = orders("lfu", 0, &epochs);
    // After 40 + x epochs unit 0 has min(40, 64 - x) of the last 64 and unit 1 has x.
    assert_eq!((&found[39], &found[71]), (&vec![0, 1], &vec![0, 1]));
    assert_eq!(found[72], [1, 0]);
}

#[test]
fn rate_orders_by_what_is_expected_now() {
    let epochs = [[100.0, 400.0, 0.0], [400.0, 0.0, 200.0], [0.0, 0.0, 800.0], [0.0; 3]];
    // Ties keep their order.
    assert_eq!(orders("rate", 0, &epochs), [[1, 0, 2], [0, 2, 1], [2, 0, 1]]);
}

#[test]
fn within_a_band_of_the_rate_what_is_fast_stays_fast() {
    let epochs = [[100.0, 90.0], [90.0, 100.0], [66.0, 127.0], [30.0, 127.0], [0.0; 2]];
    let found = orders("rate:steps=1", 0, &epochs);
    assert_eq!(found, [[0, 1], [0, 1], [0, 1], [1, 0]]);
    // With fine steps every difference of some percent counts.
    assert_eq!(orders("rate:steps=64", 0, &epochs)[1], [1, 0]);
}

#[test]
fn clairvoyant_orders_by_the_next_epoch() {
    let found = orders("clairvoyant", 0, &[[9.0, 0.0, 1.0], [0.0, 0.1, 7.0], [1.0, DEAD, 2.0]]);
    assert_eq!(found, [[2, 1, 0], [2, 0, 1]]);
}

#[test]
fn random_moves_nothing_while_fast_memory_is_full() {
    let epochs = [[1.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]; 6];
    let found = orders("random", 2, &epochs);
    assert_eq!(found, [[0, 1, 2, 3, 4, 5, 6, 7]; 5]);
}

#[test]
fn random_fills_freed_room_from_all_slow_units() {
    let mut drawn = std::collections::BTreeSet::new();
    for seed in 0..64 {
        let mut epochs = [[1.0; 6]; 3];
        (epochs[1][0], epochs[2][0]) = (DEAD, DEAD);
        let found = orders(&format!("random:seed={seed}"), 2, &epochs);
        assert_eq!(found[1][0], 1, "what is fast stays: {found:?}");
        drawn.insert(found[1][1]);
    }
    assert_eq!(drawn, [2, 3, 4, 5].into());
}

#[test]
fn what_was_not_observed_keeps_age_history_and_rate() {
    for spec in ["lru", "lfu", "rate"] {
        let found = orders(
            spec,
            0,
            &[[5.0, 1.0, 0.0], [NOT_SAMPLED, 0.0, 0.0], [UNCLEARED, 0.0, 0.0], [0.0; 3]],
        );
        assert_eq!(found, [[0, 1, 2]; 3], "{spec}");
    }
}

#[test]
fn what_was_never_observed_ranks_in_the_middle() {
    for spec in ["lru", "lfu", "rate"] {
        // The middle of one, zero and zero is zero; of one, one and zero it is one.
        let found =
            orders(spec, 0, &[[UNCLEARED, 0.0, 0.0, 5.0], [UNCLEARED, 0.0, 5.0, 5.0], [0.0; 4]]);
        assert_eq!(found[0], [3, 0, 1, 2], "{spec}");
        assert_eq!(found[1].iter().position(|unit| *unit == 1), Some(3), "{spec}: {found:?}");
        assert_eq!(orders(spec, 0, &[[NOT_SAMPLED; 4]; 2]), [[0, 1, 2, 3]], "{spec}");
    }
}

#[test]
fn a_unit_that_returns_is_new() {
    let hot_then_gone = [[9.0, 1.0], [9.0, 1.0], [DEAD, 1.0], [0.0, 1.0], [0.0; 2]];
    for spec in ["lru", "lfu", "rate"] {
        assert_eq!(orders(spec, 0, &hot_then_gone)[3], [1, 0], "{spec}");
    }
}

#[test]
fn with_an_interval_of_two_epochs_every_other_one_decides_on_the_accesses_of_both() {
    let epochs = [[0.0, 5.0, 5.0], [0.0, 0.0, 5.0], [5.0, 0.0, 0.0], [0.0; 3], [0.0; 3]];
    for spec in ["lru", "lfu"] {
        // Unit 2 was accessed last, and more often than 1.
        assert_eq!(orders(spec, 0, &epochs)[1], [2, 1, 0], "{spec}");
        let found = orders(&format!("{spec}:interval=10"), 0, &epochs);
        // Both were accessed in the first interval, and in the second unit 0 was.
        let second = if spec == "lru" { [0, 1, 2] } else { [1, 2, 0] };
        assert_eq!(found, [[0, 1, 2], [1, 2, 0], [1, 2, 0], second], "{spec}");
        // The first interval is half over: it ends after one epoch, the second after three.
        let found = orders(&format!("{spec}:interval=10,phase=5"), 0, &epochs);
        let second = if spec == "lru" { [2, 0, 1] } else { [2, 1, 0] };
        assert_eq!(found, [[1, 2, 0], [1, 2, 0], second, second], "{spec}");
    }
}

#[test]
fn an_interval_of_one_epoch_and_none_are_the_same() {
    let epochs = [
        [5.0, 0.0, 0.0, NOT_SAMPLED],
        [0.0, 5.0, UNCLEARED, 0.0],
        [DEAD, 0.0, 0.0, 5.0],
        [0.0, NOT_SAMPLED, 5.0, 0.0],
        [5.0, 0.0, 0.0, 0.0],
        [0.0; 4],
    ];
    for name in ["lru", "lfu", "random"] {
        let every = orders(name, 2, &epochs);
        assert_eq!(orders(&format!("{name}:interval=5"), 2, &epochs), every, "{name}");
    }
}

#[test]
fn random_draws_at_the_end_of_an_interval_only() {
    let drawn = |dies: usize| {
        let mut drawn = std::collections::BTreeSet::new();
        for seed in 0..64 {
            let mut epochs = [[1.0; 6]; 5];
            epochs[dies..].iter_mut().for_each(|epoch| epoch[0] = DEAD);
            let found = orders(&format!("random:interval=10,seed={seed}"), 2, &epochs);
            drawn.insert(found[dies][1]);
        }
        drawn
    };
    assert_eq!(drawn(1), [2, 3, 4, 5].into());
    // Between two decisions the order stays: what comes next has the room.
    assert_eq!(drawn(2), [2].into());
    assert_eq!(drawn(3), [2, 3, 4, 5].into());
}
