//! Room that is kept free for memory that is not there yet. A kernel puts new memory where there is room, and the hot
//! memory of some programs is new all the time: where nothing is free of fast memory, it is born slow.

use pagetide_types::{Bytes, KEEP};

/// How much was born lately between two decisions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    born: f64,
    seconds: f64,
    squares: f64,
}

/// Memory is born in pieces: so many times the mean is free, and of that an unusual piece takes its part.
const TIMES: f64 = 2.0;
/// In so many seconds it fades as what a policy expects of births does.
const FADES_IN_S: f64 = 5.0;
/// At most so large a part of what the target may have: what fills its memory is done some time.
const MOST: u64 = 8;

impl Ahead {
    /// So much was born in the seconds since the decision before.
    pub(crate) fn add(&mut self, born: Bytes, passed_s: f64) {
        let kept = f64::from(KEEP).powf(passed_s / FADES_IN_S);
        self.born = kept * self.born + born.as_f64();
        self.seconds = kept * self.seconds + passed_s;
        self.squares = kept * self.squares + passed_s * passed_s;
    }

    /// What is to be free after a decision, of a target that may have so much.
    pub(crate) fn room(&self, capacity: Bytes) -> Bytes {
        if self.seconds <= 0.0 {
            return Bytes(0);
        }
        // What is born comes in a long time rather than in a short one.
        let until_next_s = self.squares / self.seconds;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let room = Bytes((TIMES * self.born / self.seconds * until_next_s) as u64);
        room.min(Bytes(capacity.0 / MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUCH: Bytes = Bytes::gib(1);

    #[test]
    fn twice_what_is_born_between_two_decisions_is_to_be_free() {
        let mut ahead = Ahead::default();
        assert_eq!(ahead.room(MUCH), Bytes(0));
        for _ in 0..100 {
            ahead.add(Bytes::mib(10), 5.0);
        }
        let mib = ahead.room(MUCH).as_f64() / Bytes::mib(1).as_f64();
        assert!((mib - 20.0).abs() < 0.01, "{mib}");
        assert_eq!(ahead.room(Bytes::mib(80)), Bytes::mib(10), "an eighth at most");
    }

    #[test]
    fn what_is_to_be_free_is_for_long_times_rather_than_for_short_ones() {
        let mut ahead = Ahead::default();
        for _ in 0..100 {
            ahead.add(Bytes::mib(10), 5.0);
            for _ in 0..5 {
                ahead.add(Bytes(0), 0.2);
            }
        }
        let mib = ahead.room(MUCH).as_f64() / Bytes::mib(1).as_f64();
        assert!((13.0..15.0).contains(&mib), "twice 10 MiB in 6 s, for 4.2 s: {mib}");
    }

    #[test]
    fn what_filled_its_memory_once_is_forgotten() {
        let mut ahead = Ahead::default();
        ahead.add(Bytes::gib(1), 5.0);
        for _ in 0..60 {
            ahead.add(Bytes(0), 5.0);
        }
        assert!(ahead.room(Bytes::gib(8)) < Bytes::mib(8), "{}", ahead.room(Bytes::gib(8)));
    }
}
