//! Memory that is felt to be slow: how long the meter holds up a CPU, from a machine's model and
//! the dilation of the emulated CPU.

use crate::topology::Topology;
use pagetide_machine::{Machine, Tier};
use std::fmt::Write as _;

/// Bytes of a line.
const LINE: f64 = 64.0;
/// `MOST_OUTSTANDING` of `lab/meter/felt.h`.
const MOST_OUTSTANDING: u32 = 256;
/// Lines that a core's second-level cache waits for at a time at most: Intel's Golden Cove's; benches/window.py finds more.
const OF_A_CORE: u32 = 48;

/// Why nothing can be felt.
#[derive(Debug, thiserror::Error, PartialEq)]
pub(crate) enum FeltError {
    /// The model has too few tiers.
    #[error("topology '{topology}' has {nodes} tiers, but machine '{machine}' only {tiers}")]
    Tiers {
        /// The topology.
        topology: String,
        /// Its tiers: nodes of different latency.
        nodes: usize,
        /// The machine.
        machine: String,
        /// Its tiers.
        tiers: usize,
    },
    /// The probe in the guest said something else.
    #[error("the guest's measurement of its CPU cannot be read: '{0}'")]
    Times(String),
}

/// What `probe times` measured in the guest, in nanoseconds of its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Times {
    /// Computing without a miss.
    pub(crate) compute: f64,
    /// A load that depends on the one before, and misses.
    pub(crate) chase: f64,
    /// One line of a stream.
    pub(crate) stream: f64,
}

impl Times {
    /// Reads the lines of `probe times`; of nodes the first.
    pub(crate) fn parse(lines: &[impl AsRef<str>]) -> Result<Self, FeltError> {
        let mut times = Self::default();
        for line in lines.iter().map(AsRef::as_ref) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |word: &str| {
                word.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite())
            };
            let wrong = || FeltError::Times(line.to_owned());
            match words[..] {
                ["compute", compute] => times.compute = number(compute).ok_or_else(wrong)?,
                ["node", _, "chase", chase, "median", _, "stream", stream, "median", _] => {
                    if times.chase == 0.0 {
                        times.chase = number(chase).ok_or_else(wrong)?;
                        times.stream = number(stream).ok_or_else(wrong)?;
                    }
                }
                // What only a guest whose time goes by instructions is held against.
                ["crossing", _] | ["node", _, "gather", _, "median", _] => {}
                _ => return Err(wrong()),
            }
        }
        if times.compute == 0.0 || times.chase == 0.0 {
            return Err(FeltError::Times("nothing".into()));
        }
        Ok(times)
    }
}

/// The tier of each node: nodes of equal latency are one tier, the lowest is tier 0.
pub(crate) fn tiers(topology: &Topology, machine: &Machine) -> Result<Vec<usize>, FeltError> {
    let mut latencies: Vec<u32> = topology.nodes.iter().map(|node| node.latency_ns).collect();
    latencies.sort_unstable();
    latencies.dedup();
    if latencies.len() > machine.tiers.len() {
        return Err(FeltError::Tiers {
            topology: topology.name.clone(),
            nodes: latencies.len(),
            machine: machine.name.clone(),
            tiers: machine.tiers.len(),
        });
    }
    let tier = |latency| latencies.iter().take_while(|it| **it < latency).count();
    Ok(topology.nodes.iter().map(|node| tier(node.latency_ns)).collect())
}

/// Memory that is to be felt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Felt<'a> {
    /// The guest.
    pub(crate) topology: &'a Topology,
    /// How slow its memory is to be.
    pub(crate) machine: &'a Machine,
    /// How much slower than the machine the guest lives.
    pub(crate) dilation: f64,
    /// Its time goes by instructions: a CPU has no more lines on their way than a core.
    pub(crate) by_instructions: bool,
}

impl Felt<'_> {
    /// The file that the meter reads: what every CPU's miss in every node takes in the guest's
    /// clock, and what of it the emulated CPU takes itself.
    pub(crate) fn table(&self, own_ns: f64) -> Result<String, FeltError> {
        let tiers = tiers(self.topology, self.machine)?;
        let mut text = format!("own {own_ns:.1}\n");
        let mut cpu = 0;
        for (from, node) in self.topology.nodes.iter().enumerate() {
            for _ in 0..node.cpus {
                for (to, tier) in tiers.iter().enumerate() {
                    // Writing to a String cannot fail.
                    let _ = writeln!(text, "{cpu} {to} {}", self.miss(from, to, *tier));
                }
                cpu += 1;
            }
        }
        Ok(text)
    }

    fn miss(&self, from: usize, to: usize, tier: usize) -> String {
        let tier = &self.machine.tiers[tier];
        let hop = self.topology.latency_ns(from, to) - self.topology.nodes[to].latency_ns;
        let latency = |ns: f64| (ns + f64::from(hop)) * self.dilation;
        let line = |gb_s: f64| LINE / gb_s * self.dilation;
        format!(
            "{:.1} {:.1} {:.3} {:.3} {}",
            latency(tier.read_latency_ns),
            latency(tier.write_latency_ns),
            line(tier.read_bandwidth_gb_s),
            line(tier.write_bandwidth_gb_s),
            outstanding(tier, if self.by_instructions { OF_A_CORE } else { MOST_OUTSTANDING })
        )
    }

    /// What the emulated CPU itself takes for a load that misses, from the chases on node 0
    /// without waits (`before`) and with them (`with`): waits cost more than their time.
    pub(crate) fn corrected(&self, before: &Times, with: &Times) -> f64 {
        let latency = self.machine.tiers[0].read_latency_ns * self.dilation;
        let excess = with.chase - latency.max(before.chase);
        // More than that is another program's doing.
        before.chase + excess.clamp(-before.chase, latency / 2.0)
    }
}

/// What is going to be felt, in words.
pub(crate) fn summary(machine: &Machine, times: &Times, measured: f64, dilation: f64) -> String {
    let fastest = fastest_stream_gb_s(times, dilation);
    format!(
        "felt: {dilation:.1} times slower than {} (measured {measured:.1}); a stream of one CPU \
         reaches {fastest:.0} GB/s at most",
        machine.name
    )
}

/// Lines that may be on their way at a time: twice as many as a stream needs for the tier's
/// bandwidth, so that the channel does not run dry while the CPU is about something else; so many at most.
fn outstanding(tier: &Tier, most: u32) -> u32 {
    let lines = 2.0
        * (tier.read_latency_ns * tier.read_bandwidth_gb_s)
            .max(tier.write_latency_ns * tier.write_bandwidth_gb_s)
        / LINE;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let lines = lines.ceil().clamp(1.0, f64::from(most)) as u32;
    lines
}

/// The bandwidth at which the emulated CPU itself streams, in the machine's time: a faster tier
/// is not felt to be as fast as it is.
fn fastest_stream_gb_s(times: &Times, dilation: f64) -> f64 {
    LINE / times.stream * dilation
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    fn cxl() -> &'static Machine {
        static CXL: LazyLock<Machine> = LazyLock::new(|| Machine::load("cxl").unwrap());
        &CXL
    }

    fn felt(topology: &Topology, dilation: f64) -> Felt<'_> {
        Felt { topology, machine: cxl(), dilation, by_instructions: false }
    }

    #[test]
    fn the_times_of_the_machine_are_dilated() {
        let topology = Topology::load("two-tiers").unwrap();
        let text = felt(&topology, 10.0).table(300.0).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (5, "own 300.0"));
        // CXL: 250 ns and 28 GB/s; 64 bytes take 2.29 ns, 109.4 lines are on their way.
        assert!(lines[2].starts_with("0 1 2500.0 2500.0 22.857 "), "{text}");
        assert!(lines[2].ends_with(" 219"), "{text}");
        assert_eq!(lines[4].strip_prefix("1 "), lines[2].strip_prefix("0 "));
        let core = Felt { by_instructions: true, ..felt(&topology, 1.0) };
        assert!(core.table(0.0).unwrap().lines().nth(2).unwrap().ends_with(" 48"));
    }

    #[test]
    fn the_other_socket_is_a_hop_away() {
        let topology = Topology::load("two-pairs").unwrap();
        assert_eq!(tiers(&topology, cxl()), Ok(vec![0, 0, 1, 1]));
        let text = felt(&topology, 1.0).table(0.0).unwrap();
        assert!(text.contains("\n0 2 250.0 ") && text.contains("\n0 3 320.0 "), "{text}");
        assert!(text.contains("\n1 2 320.0 ") && text.contains("\n1 3 250.0 "), "{text}");
    }

    #[test]
    fn a_machine_with_too_few_tiers_is_named() {
        let topology = Topology::load("three-tiers").unwrap();
        let error = felt(&topology, 1.0).table(0.0).unwrap_err().to_string();
        assert_eq!(error, "topology 'three-tiers' has 3 tiers, but machine 'cxl' only 2");
    }

    #[test]
    fn what_the_probe_says_is_read_or_refused() {
        let lines = [
            "compute 400.5",
            "crossing 22.789",
            "node 0 chase 300 median 310 stream 20 median 22",
            "node 0 gather 9 median 9",
            "node 1 chase 9 median 9 stream 9 median 9",
        ];
        let times = Times { compute: 400.5, chase: 300.0, stream: 20.0 };
        assert_eq!(Times::parse(&lines), Ok(times));
        assert_eq!(fastest_stream_gb_s(&times, 10.0).round(), 32.0);
        for wrong in ["", "compute 0", "compute x", "node 0 chase 1", "Killed"] {
            assert!(Times::parse(&[wrong]).is_err(), "{wrong}");
        }
        assert!(Times::parse(&["compute 5"]).is_err());
    }

    #[test]
    fn waits_that_take_longer_are_shortened() {
        let topology = Topology::load("two-tiers").unwrap();
        let chase = |chase| Times { chase, ..Times::default() };
        let corrected = |with| felt(&topology, 10.0).corrected(&chase(300.0), &chase(with));
        // 100 ns are to take 1,000: 50 too long, 50 too short, and far too long.
        assert_eq!([1050.0, 950.0, 9000.0].map(corrected), [350.0, 250.0, 800.0]);
        // Where the emulated CPU is slower than the machine's memory there is nothing to wait.
        assert_eq!(felt(&topology, 2.0).corrected(&chase(300.0), &chase(310.0)), 310.0);
    }
}
