//! AMP by small examples, computed by hand: ages, histories, shadows, the choice.

use crate::orders::{DEAD, Shown, orders};

/// No warm-up, and Random only if everything is accessed and next to nothing is fast.
const RIVALS: &str = "amp:warm-up=0,threshold=0.9";

/// The choice after every epoch.
fn choices<const N: usize>(spec: &str, budget: u64, epochs: &[[f32; N]]) -> Vec<&'static str> {
    let mut shown = Shown::new(spec, budget);
    let choice = |rates: &[f32; N]| {
        shown.show(rates, &[]);
        shown.told().and_then(|told| told.choice).unwrap_or("none")
    };
    epochs.iter().map(choice).collect()
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn three_epochs_of_random_come_first() {
    let mut shown = Shown::new("amp", 2);
    let one_of_four = [0.0, 0.0, 0.0, 1.0];
    for _ in 0..3 {
        assert_eq!(shown.show(&one_of_four, &[]), [0, 1, 2, 3]);
        assert_eq!(shown.told().unwrap().choice, Some("random"));
    }
    // LRU and LFU hit alike in their shadows: LFU.
    assert_eq!(shown.show(&one_of_four, &[]), [3, 0, 1, 2]);
    let told = shown.told().unwrap();
    assert_eq!(told.choice, Some("lfu"));
    // Unit 3 was not in the shadows at the first touch, and in the three epochs after.
    assert!(near(&told.figures, &[0.25, 0.5, 0.25, 0.25, 0.1875, 0.1875]), "{told:?}");
    assert_eq!(choices("amp:warm-up=1,equal=1", 2, &[one_of_four; 3]), ["random", "lru", "lru"]);
}

#[test]
fn the_choice_can_be_taken_away() {
    let all = [[1.0, 1.0, 1.0, 1.0]; 3];
    for (always, choice) in [(1, "lru"), (2, "lfu")] {
        let spec = format!("amp:warm-up=1,always={always}");
        assert_eq!(choices(&spec, 1, &all), ["random", choice, choice]);
    }
    assert_eq!(choices("amp:warm-up=1,always=0", 1, &all), ["random"; 3]);
}

#[test]
fn random_is_chosen_at_once_when_accessed_memory_exceeds_fast_memory_by_a_fifth() {
    let (half, most) = ([1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]);
    let epochs = [half, half, most, half, most];
    // Half is fast: 75 % exceed 70 %.
    let found = choices("amp:warm-up=0", 2, &epochs);
    assert_eq!(found, ["lfu", "lfu", "random", "lfu", "random"]);
    assert_eq!(choices("amp:warm-up=0,threshold=0.3", 2, &epochs), ["lfu"; 5]);
    assert_eq!(choices("amp:warm-up=0", 3, &epochs), ["lfu"; 5]);
    // 80 % is fast and all of it accessed: that does not exceed it.
    assert_eq!(choices("amp:warm-up=0", 4, &[[1.0; 5]; 3]), ["lfu"; 3]);
}

#[test]
fn random_follows_within_two_epochs_of_a_uniform_pattern() {
    let mut epochs = vec![[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]; 60];
    epochs.extend([[1.0; 6]; 3]);
    let found = choices("amp", 3, &epochs);
    assert_eq!((&found[59], &found[60]), (&"lfu", &"random"));
}

/// Three units, one fast. The first is accessed twice, then the second twice, then the first.
const THERE_AND_BACK: [[f32; 3]; 5] =
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];

#[test]
fn the_one_with_more_hits_wins_also_if_it_had_them_in_shadow_only() {
    let mut shown = Shown::new(RIVALS, 1);
    let seen: Vec<_> = THERE_AND_BACK
        .iter()
        .map(|rates| {
            let order = shown.show(rates, &[]);
            let told = shown.told().unwrap();
            (order, told.choice.unwrap(), [told.figures[2], told.figures[3]].map(|h| h > 0.0))
        })
        .collect();
    let row = |order: [u32; 3], choice, hits| (order.to_vec(), choice, hits);
    assert_eq!(
        seen,
        [
            // Frequencies 1 0 0, then 2 0 0, then 2 1 0.
            row([0, 1, 2], "lfu", [true, true]),
            row([0, 1, 2], "lfu", [true, true]),
            row([0, 1, 2], "lfu", [false, false]),
            // LRU had unit 1 in its shadow. Three hits against two. Ages 2 0 4.
            row([1, 0, 2], "lru", [true, false]),
            // LFU's shadow begins where things were: with unit 0. Three against three.
            row([0, 1, 2], "lfu", [false, true]),
        ]
    );
}

#[test]
fn the_mean_is_over_the_window() {
    // Of the last two epochs: 2 2, 1 1, 1 0, 1 1; then LRU hit in none and LFU in both.
    let mut epochs = THERE_AND_BACK.to_vec();
    epochs.push([1.0, 0.0, 0.0]);
    let spec = format!("{RIVALS},window=2");
    assert_eq!(choices(&spec, 1, &epochs), ["lfu", "lfu", "lfu", "lru", "lfu", "lfu"]);
    // Over one epoch LFU never lags.
    let spec = format!("{RIVALS},window=1,equal=1");
    assert_eq!(choices(&spec, 1, &epochs[..5]), ["lru", "lru", "lru", "lru", "lfu"]);
}

#[test]
fn frequency_counts_the_bits_of_a_history_of_64_epochs_or_fewer() {
    // LFU throughout: what one loses the other has never had.
    let mut epochs = vec![[1.0, 0.0]; 40];
    epochs.extend([[0.0, 1.0]; 80]);
    let spec = "amp:warm-up=0,threshold=1,window=10000";
    let mut shown = Shown::new(spec, 0);
    let found: Vec<_> = epochs.iter().map(|rates| shown.show(rates, &[])).collect();
    // As in `lfu`: after 40 + x epochs unit 0 has min(40, 64 - x) of the last 64, unit 1 has x.
    assert_eq!((&found[71], &found[72]), (&vec![0, 1], &vec![1, 0]));
    let mut shown = Shown::new(&format!("{spec},history=4"), 0);
    let found: Vec<_> = epochs.iter().map(|rates| shown.show(rates, &[])).collect();
    assert_eq!((&found[41], &found[42]), (&vec![0, 1], &vec![1, 0]));
}

#[test]
fn what_decides_among_equal_ages_is_a_parameter() {
    let epochs = [
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        // Ages 3 0 0 5, frequencies 2 3 2 0.
        [0.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        // Ages 5 0 0 7, frequencies 2 4 4 0; unit 2 is ahead.
        [0.0, 1.0, 1.0, 0.0],
        [0.0; 4],
    ];
    let orders = |ties| {
        let spec = format!("{RIVALS},window=1,equal=1,ties={ties}");
        let found = orders(&spec, 1, &epochs);
        (found[4].clone(), found[6].clone())
    };
    assert_eq!(orders(0), (vec![1, 2, 0, 3], vec![2, 1, 0, 3]), "what is fast stays");
    assert_eq!(orders(1), (vec![1, 2, 0, 3], vec![1, 2, 0, 3]), "by address");
    assert_eq!(orders(2).0, [1, 2, 0, 3], "the more frequent first");
    assert_eq!(orders(3).0, [2, 1, 0, 3], "the less frequent first");
}

#[test]
fn between_two_decisions_accesses_are_gathered_and_nothing_moves() {
    let spec = format!("{RIVALS},interval=10");
    let mut shown = Shown::new(&spec, 1);
    assert_eq!(shown.show(&[0.0, 1.0, 0.0], &[]), [0, 1, 2]);
    assert_eq!(shown.told(), None);
    shown.show(&[1.0, 0.0, 0.0], &[]);
    assert!(near(&shown.told().unwrap().figures[..1], &[2.0 / 3.0]));
    let phased = choices(&format!("{RIVALS},interval=10,phase=5"), 1, &THERE_AND_BACK);
    assert_eq!(phased, ["lfu", "none", "lfu", "none", "lfu"]);
}

#[test]
fn the_choice_outlives_every_unit_and_ages_do_not() {
    let mut shown = Shown::new(RIVALS, 1);
    THERE_AND_BACK[..4].iter().for_each(|rates| drop(shown.show(rates, &[])));
    assert_eq!(shown.told().unwrap().choice, Some("lru"));
    // Everything is gone: nothing to decide on, nothing forgotten.
    assert_eq!(shown.show(&[DEAD; 3], &[]), Vec::<u32>::new());
    assert_eq!(shown.told(), None);
    // Others come. Both rivals have the first touch to go by: LRU stays ahead by its hits.
    assert_eq!(shown.show(&[0.0, 0.0, 1.0], &[]), [2, 0, 1]);
    let told = shown.told().unwrap();
    assert_eq!(told.choice, Some("lru"));
    assert!(near(&told.figures[4..], &[0.2, 2.0 / 15.0]), "{told:?}");
}

/// 64 units, in every epoch 12 in a row, three further each time: what was accessed last is
/// accessed next, and nothing more often than anything else.
fn sliding(epoch: usize) -> [f32; 64] {
    std::array::from_fn(|unit| f32::from(u8::from((unit + 640 - 3 * epoch) % 64 < 12)))
}

/// Hot units, accessed in every other epoch, and a scan over the others, nine in every epoch: what
/// was accessed last is not accessed next.
fn hot_under_a_scan(epoch: usize) -> [f32; 64] {
    let scanned = |unit: usize| (unit - 14 + 500 - 9 * (epoch % 50)) % 50 < 9;
    std::array::from_fn(|unit| {
        let seen = if unit < 14 { unit % 2 == epoch % 2 } else { scanned(unit) };
        f32::from(u8::from(seen))
    })
}

#[test]
fn the_choice_follows_a_program_there_and_back() {
    let mut epochs: Vec<[f32; 64]> = (0..80).map(sliding).collect();
    epochs.extend((80..160).map(hot_under_a_scan));
    epochs.extend((160..200).map(sliding));
    epochs.extend([[1.0; 64]; 5]);
    let found = choices("amp", 16, &epochs);
    let after = |from: usize, choice| found[from..].iter().take_while(|c| **c != choice).count();
    assert!(found[10..80].iter().all(|choice| *choice == "lru"), "{found:?}");
    // The means of the window hold on to the past, but not longer than it is.
    assert!((1..36).contains(&after(80, "lfu")), "{found:?}");
    assert!(found[120..160].iter().all(|choice| *choice == "lfu"), "{found:?}");
    assert!((1..36).contains(&after(160, "lru")), "{found:?}");
    assert_eq!((found[199], after(200, "random")), ("lru", 0));
}
