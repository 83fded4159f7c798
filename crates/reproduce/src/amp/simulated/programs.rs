//! Models of AMP's eleven programs (section 3.2): their memory as parts, each accessed in a way of its
//! own, one file each (programs/). The programs themselves are not free, or not at hand.
//!
//! Written from what the text says of each program, and from what is generally known of it; what is
//! neither is marked [I]. They were written before any number of theirs was compared with a
//! published one. What holds for all of them:
//!
//! - **Memory** is that of the SPEC speed runs, of class D, or [I] some GiB for the servers; the
//!   text gives no sizes. What would be below 3 GiB is taken as several copies, so that there are
//!   units of 2 MiB enough.
//! - **An interval sees all that is touched once in 5 s.** At some 10^7 accesses a second that is
//!   whatever a loop goes over, however rarely it matters. So programs differ in what they leave
//!   alone for an interval: in windows that move, and in phases.
//! - **Working sets** that move ("strided, with low reuse"): a single pass over more than an
//!   interval's memory touches no page in two intervals running, and would favour nobody. The
//!   authors' own program that favours LRU (section 6.6, its published code) stays for 20 s, four
//!   intervals, on each quarter of its memory; so do these, about [I]. How long they stay is work,
//!   not time: windows have so many passes.
//! - **How much latency matters** is how many accesses wait for the one before: those of a `chase`.
//!   Others are under way together, as many as a core's buffers hold with what it computes between
//!   them; streams are prefetched. `compute_ns` is the time between misses of the last cache as they
//!   are known of such programs (misses per 1000 instructions, instructions a second), not counting
//!   the wait [I]. Figure 10-programs shows what hangs on it.
//! - **Order**: memory is touched first in order of address, as programs read or build what is
//!   given first and compute afterwards; so what lies first is fast first [I]. The same figure has it
//!   the other way round.

/// Which policy the paper found best (table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Lru,
    Lfu,
    Random,
    Neutral,
}

impl Class {
    /// In words, as table 4 has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Lru => "LRU-favour",
            Self::Lfu => "LFU-favour",
            Self::Random => "Random-favour",
            Self::Neutral => "neutral",
        }
    }
}

/// A program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// As in the figures.
    pub(super) name: &'static str,
    pub(super) class: Class,
    /// Keys of a tenant, and its parts and phases.
    text: &'static str,
}

impl Program {
    /// It as a tenant of a scenario, with so much of its memory fast.
    pub(super) fn tenant(&self, fast_share: f64, change: Change) -> String {
        let name = self.name;
        let lines: Vec<String> = self.text.lines().map(|line| change.of(line)).collect();
        let text = lines.join("\n");
        format!("[[tenant]]\nname = \"{name}\"\nfast_share = {fast_share}\n{text}\n")
    }
}

/// What of all programs is changed to see how much hangs on it, for it is [I].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// They compute so many times as long between two accesses; they stay as long in each window.
    pub(super) computing: f64,
    /// What lies first in memory lies last.
    pub(super) reversed: bool,
}

impl Default for Change {
    fn default() -> Self {
        Self { computing: 1.0, reversed: false }
    }
}

impl Change {
    /// A line of a program's text.
    fn of(self, line: &str) -> String {
        let parsed = line.split_once(" = ").and_then(|(key, value)| {
            let value: f64 = value.parse().ok()?;
            match key {
                "compute_ns" => Some((key, value * self.computing)),
                "passes" => Some((key, (value / self.computing).round().max(1.0))),
                "from" if self.reversed => Some(("to", 1.0 - value)),
                "to" if self.reversed => Some(("from", 1.0 - value)),
                _ => None,
            }
        });
        parsed.map_or_else(|| line.to_owned(), |(key, value)| format!("{key} = {value}"))
    }
}

/// All, in the order of figure 2.
pub(super) const PROGRAMS: [Program; 11] = [
    program("mcf", Class::Lru, include_str!("programs/mcf.toml")),
    program("cactus", Class::Lru, include_str!("programs/cactus.toml")),
    program("cg.D", Class::Lru, include_str!("programs/cg-d.toml")),
    program("graph-analytics", Class::Lfu, include_str!("programs/graph-analytics.toml")),
    program("in-memory-analytics", Class::Lfu, include_str!("programs/in-memory-analytics.toml")),
    program("graph500", Class::Lfu, include_str!("programs/graph500.toml")),
    program("pop2", Class::Lfu, include_str!("programs/pop2.toml")),
    program("deepsjeng", Class::Random, include_str!("programs/deepsjeng.toml")),
    program("lbm", Class::Random, include_str!("programs/lbm.toml")),
    program("lu.D", Class::Random, include_str!("programs/lu-d.toml")),
    program("bwaves", Class::Neutral, include_str!("programs/bwaves.toml")),
];

const fn program(name: &'static str, class: Class, text: &'static str) -> Program {
    Program { name, class, text }
}
