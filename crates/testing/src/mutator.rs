//! Damages bytes, the same way for a seed on every machine: what tests of readers feed on. The kinds of damage
//! are those of AFL's "havoc" (lcamtuf's technical whitepaper, section 4): what finds most.

/// No input grows beyond this by being damaged, bytes.
const LONGEST: usize = 1 << 15;
/// Longest part that is repeated, taken out or taken over, bytes.
const PART: usize = 256;
/// Numbers at which readers err.
const EDGES: [u64; 14] = [
    0,
    1,
    0x7f,
    0x80,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];
/// Words at which readers of text err.
const WORDS: [&[u8]; 14] = [
    b"-1",
    b"0",
    b"18446744073709551616",
    b"1e309",
    b"nan",
    b"inf",
    b"\"",
    b"\n",
    b"=",
    b"[",
    b"[[",
    b"{",
    b"\0",
    b"\xff\xfe",
];

/// A source of damage.
#[derive(Clone, Debug)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// One whose damage follows from the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Random bits (splitmix64: Steele et al., "Fast splittable pseudorandom number generators", 2014).
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below another; 0 below 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() % (limit.max(1) as u64)).unwrap_or(0)
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// Damages an input once, or a few times; `others` are inputs of which parts may come in.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>, others: &[impl AsRef<[u8]>]) {
        let most = [1, 1, 2, 4, 8][self.below(5)];
        for _ in 0..=self.below(most) {
            self.once(bytes, others);
        }
        bytes.truncate(LONGEST);
    }

    fn once(&mut self, bytes: &mut Vec<u8>, others: &[impl AsRef<[u8]>]) {
        let at = self.below(bytes.len());
        let part = at..bytes.len().min(at + 1 + self.below(PART));
        match self.below(12) {
            0 | 1 => self.flip(bytes, at),
            2 => bytes.truncate(at),
            3 | 4 => self.edge(bytes, at),
            5 => {
                bytes.drain(part);
            }
            6 => self.repeat(bytes, part),
            7 | 8 => self.splice(bytes, at, others),
            9 => self.swap(bytes, at),
            10 => {
                let word: &[u8] = self.pick(&WORDS).copied().unwrap_or_default();
                bytes.splice(at..at, word.iter().copied());
            }
            _ => {
                let filling = if self.below(2) == 0 { 0 } else { 0xff };
                bytes[part].fill(filling);
            }
        }
    }

    /// A bit, or all of a byte.
    fn flip(&mut self, bytes: &mut [u8], at: usize) {
        let noise = self.bits().to_le_bytes()[0];
        let by = if self.below(3) == 0 { noise } else { 1 << (noise % 8) };
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= by;
        }
    }

    /// A number of 1, 2, 4 or 8 bytes, in either order, or a few more or less than what is there.
    fn edge(&mut self, bytes: &mut [u8], at: usize) {
        let length = 1 << self.below(4);
        let Some(there) = bytes.get_mut(at..at + length) else { return };
        let mut eight = [0; 8];
        eight[..length].copy_from_slice(there);
        let few = self.bits() % 33;
        let number = if self.below(3) == 0 {
            u64::from_le_bytes(eight).wrapping_add(few).wrapping_sub(16)
        } else {
            self.pick(&EDGES).copied().unwrap_or_default()
        };
        there.copy_from_slice(&number.to_le_bytes()[..length]);
        if self.below(4) == 0 {
            there.reverse();
        }
    }

    /// A part again and again.
    fn repeat(&mut self, bytes: &mut Vec<u8>, part: std::ops::Range<usize>) {
        let times = [1, 2, 16, 128][self.below(4)];
        let again = bytes[part.clone()].repeat(times);
        bytes.splice(part.end..part.end, again);
    }

    /// A part of another input, in between or over what is there.
    fn splice(&mut self, bytes: &mut Vec<u8>, at: usize, others: &[impl AsRef<[u8]>]) {
        let Some(other) = self.pick(others).map(AsRef::as_ref) else { return };
        let from = self.below(other.len());
        // Sometimes all that follows: the beginning of one and the end of another.
        let most = if self.below(4) == 0 { other.len() } else { PART };
        let part = &other[from..other.len().min(from + 1 + self.below(most))];
        let over = if self.below(2) == 0 { at } else { bytes.len().min(at + part.len()) };
        bytes.splice(at..over, part.iter().copied());
    }

    /// The other byte order, of one number or of all from here on.
    fn swap(&mut self, bytes: &mut [u8], at: usize) {
        let length = 2 << self.below(3);
        let count = if self.below(4) == 0 { usize::MAX } else { 1 };
        bytes[at..].chunks_exact_mut(length).take(count).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_follows_from_the_seed() {
        let damaged = |seed| {
            let mut mutator = Mutator::new(seed);
            let mut bytes = b"some bytes to be damaged".to_vec();
            mutator.mutate(&mut bytes, &[b"others".to_vec()]);
            bytes
        };
        let all: Vec<_> = (0..100).map(damaged).collect();
        assert_eq!(all, (0..100).map(damaged).collect::<Vec<_>>());
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert!(different.len() > 80, "{}", different.len());
    }

    #[test]
    fn any_input_can_be_damaged_again_and_again_and_stays_short() {
        for start in [&b""[..], b"a", b"0123456789abcdef"] {
            let (mut bytes, mut mutator) = (start.to_vec(), Mutator::new(7));
            for _ in 0..20_000 {
                mutator.mutate(&mut bytes, &[&b""[..], b"xyz"]);
                assert!(bytes.len() <= LONGEST);
            }
            let none: [&[u8]; 0] = [];
            mutator.mutate(&mut bytes, &none);
        }
    }
}
