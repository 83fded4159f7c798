//! Who refused is asked again later, each time after twice as long.

use std::collections::HashMap;
use std::hash::Hash;

/// Rounds between two tries at most.
const LONGEST: u32 = 64;

/// Remembers who refused, and when to ask again. Time is counted in rounds.
#[derive(Clone, Debug)]
pub struct BackOff<K> {
    round: u32,
    waiting: HashMap<K, Wait>,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    /// First round in which to ask again.
    until: u32,
    /// Rounds to wait after the next refusal.
    next: u32,
}

impl<K> Default for BackOff<K> {
    fn default() -> Self {
        Self { round: 0, waiting: HashMap::new() }
    }
}

impl<K: Eq + Hash> BackOff<K> {
    /// Begins the next round. Who was not refused again long after its time is forgotten.
    pub fn next_round(&mut self) {
        self.round = self.round.saturating_add(1);
        let round = self.round;
        self.waiting.retain(|_, wait| round <= wait.until.saturating_add(LONGEST));
    }

    /// Whether its time has not come yet.
    #[must_use]
    pub fn waits(&self, who: &K) -> bool {
        self.waiting.get(who).is_some_and(|wait| self.round < wait.until)
    }

    /// It refused: it waits for the next round, then two, four, up to 64.
    pub fn refused(&mut self, who: K) {
        let wait = self.waiting.entry(who).or_insert(Wait { until: 0, next: 1 });
        // Refusing twice in one round is one refusal.
        if wait.until > self.round {
            return;
        }
        wait.until = self.round.saturating_add(1 + wait.next);
        wait.next = (wait.next * 2).min(LONGEST);
    }

    /// It did what was asked.
    pub fn obeyed(&mut self, who: &K) {
        self.waiting.remove(who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds in which someone who always refuses is asked.
    fn asked(rounds: u32) -> Vec<u32> {
        let mut backoff = BackOff::default();
        let mut asked = Vec::new();
        for round in 1..=rounds {
            backoff.next_round();
            if !backoff.waits(&'a') {
                asked.push(round);
                backoff.refused('a');
                backoff.refused('a');
            }
        }
        asked
    }

    #[test]
    fn each_refusal_doubles_the_wait_up_to_64_rounds() {
        assert_eq!(asked(40), [1, 3, 6, 11, 20, 37]);
        let late = asked(600);
        let gaps: Vec<u32> = late.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.iter().max(), Some(&65));
    }

    #[test]
    fn who_obeys_is_forgotten_and_so_is_who_is_not_asked_again() {
        let mut backoff = BackOff::default();
        backoff.next_round();
        backoff.refused('a');
        backoff.refused('b');
        backoff.obeyed(&'a');
        assert!(!backoff.waits(&'a') && backoff.waits(&'b'));
        for _ in 0..100 {
            backoff.next_round();
        }
        assert!(backoff.waiting.is_empty());
    }
}
