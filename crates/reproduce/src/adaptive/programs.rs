//! Models of its seven programs (section 5.1, table 3). The paper says little of how they access memory;
//! these models are written from what is known of their algorithms [I], and were committed before anything
//! was compared:
//! - An access is a line that the caches do not have. A loop over an array takes each of its lines once.
//! - A part's weight is its share of the accesses: how often an iteration goes through it, times its size.
//! - What is read once at the start lies first in memory, and so it is what first touch puts into DRAM.
//! - Pages are base pages: a promotion copies for 5 to 7 us (section 3.2).
//! - OpenMP's threads meet at the end of a loop.

use super::runs::System;

/// A program's model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Resident memory, GB.
    pub(super) memory_gb: f64,
    /// DRAM from which on it gains by migration, GB: 0 in what the paper pairs as friendly (table 4); none
    /// in what it pairs as unfriendly; of LU as section 3.1 has it.
    pub(super) friendly_from: Option<u32>,
    /// What a thread computes between two accesses, ns.
    pub(super) compute_ns: f64,
    /// The memory that a parallel loop goes over, GB; none if threads never meet.
    pub(super) loop_gb: Option<f64>,
    /// Its parts, and phases if it has some, in a scenario's words.
    pub(super) parts: &'static str,
}

/// In the order of table 3.
pub(super) const PROGRAMS: [Program; 7] = [
    // Pull-based, as in GAP: in-edges in order, and for each its source's contribution, which is popular
    // by degree; 16 edges are a line, of 16 contributions the caches have about two thirds. Out-edges are
    // only counted, at the start.
    Program {
        name: "PageRank",
        memory_gb: 70.6,
        friendly_from: None,
        compute_ns: 4.0,
        loop_gb: Some(32.0),
        parts: r#"
part = [
  { name = "out-edges", from = 0, to = 0.47, weight = 0.01, walk = "sequential" },
  { name = "in-edges", from = 0.47, to = 0.94, weight = 1, walk = "sequential" },
  { name = "contributions", from = 0.94, to = 0.97, weight = 5, walk = "zipf", exponent = 0.6, object = "64" },
  { name = "scores", from = 0.97, to = 1, weight = 0.1, walk = "sequential", writes = 0.5 },
]"#,
    },
    // YCSB's lookups: down the tree, whose upper levels the caches have, then a record of 1 KiB, a quarter
    // of its lines. The leaves' nodes have five lines.
    Program {
        name: "Silo",
        memory_gb: 79.5,
        friendly_from: None,
        compute_ns: 100.0,
        loop_gb: None,
        parts: r#"
part = [
  { name = "index", from = 0, to = 0.2, weight = 4, walk = "chase", object = "320", run = 2 },
  { name = "records", from = 0.2, to = 1, weight = 4, walk = "zipf", exponent = 0.99, object = "1K", run = 4 },
]"#,
    },
    // A solver that goes through features: the matrix is transposed once, and then read column by column.
    // A line of it is four values, each with an element of the vectors by example; that of the
    // weights is kept meanwhile. The rows that were read from the file stay where they are.
    Program {
        name: "Liblinear",
        memory_gb: 69.0,
        friendly_from: Some(0),
        compute_ns: 8.0,
        loop_gb: Some(1.0),
        parts: r#"
part = [
  { name = "rows", from = 0, to = 0.4, weight = 0.01, walk = "sequential" },
  { name = "columns", from = 0.4, to = 0.85, weight = 1, walk = "sequential" },
  { name = "examples", from = 0.85, to = 0.96, weight = 4, walk = "random", writes = 0.3 },
  { name = "weights", from = 0.96, to = 1, weight = 0.3, walk = "sequential", writes = 0.5 },
]"#,
    },
    // Class D: 2^31 points of 16 bytes twice, and a factor of 8 bytes for each. An iteration multiplies the
    // spectrum by the factors, writes it to the work array, too, and transforms that in place along three
    // axes. Along the third one every thread goes through all planes. It moves 300 GB: as long as phases
    // last, at the bandwidth of CXL.
    Program {
        name: "FT",
        memory_gb: 80.1,
        friendly_from: Some(0),
        compute_ns: 40.0,
        loop_gb: Some(32.0),
        parts: r#"
part = [
  { name = "spectrum", from = 0, to = 0.4, weight = 4, walk = "sequential", writes = 0.5 },
  { name = "work", from = 0.4, to = 0.8, weight = 4, walk = "sequential", writes = 0.5 },
  { name = "work, third axis", from = 0.4, to = 0.8, weight = 2, walk = "sequential", threads = "interleaved", writes = 0.5 },
  { name = "factors", from = 0.8, to = 1, weight = 1, walk = "sequential" },
]
phase = [
  { seconds = 7, weights = { work = 0.5, "work, third axis" = 0 } },
  { seconds = 12, weights = { spectrum = 0, factors = 0 } },
]"#,
    },
    // SSOR: 17 numbers a point. A lower and an upper sweep, in which threads follow each other in
    // wavefronts through all planes; then the right-hand side along three axes. State and residual are
    // gone through seven times an iteration, what is derived from the state six times, the forcing once.
    Program {
        name: "LU",
        memory_gb: 92.5,
        friendly_from: Some(48),
        compute_ns: 40.0,
        loop_gb: Some(1.0),
        parts: r#"
part = [
  { name = "forcing", from = 0, to = 0.294, weight = 0.294, walk = "sequential" },
  { name = "state", from = 0.294, to = 0.588, weight = 1.47, walk = "sequential", writes = 0.2 },
  { name = "state, wavefront", from = 0.294, to = 0.588, weight = 0.588, walk = "sequential", threads = "interleaved" },
  { name = "residual", from = 0.588, to = 0.882, weight = 1.47, walk = "sequential", writes = 0.5 },
  { name = "residual, wavefront", from = 0.588, to = 0.882, weight = 0.588, walk = "sequential", threads = "interleaved", writes = 0.5 },
  { name = "derived", from = 0.882, to = 1, weight = 0.708, walk = "sequential", writes = 0.2 },
]"#,
    },
    // Pentadiagonal solver: 22 numbers a point. The right-hand side is formed and solved along three
    // axes: it is gone through twelve times an iteration, the state six times, what is derived from the state
    // seven times, the forcing once. Along the third axis every thread goes through all planes.
    Program {
        name: "SP",
        memory_gb: 84.1,
        friendly_from: Some(0),
        compute_ns: 12.0,
        loop_gb: Some(4.0),
        parts: r#"
part = [
  { name = "forcing", from = 0, to = 0.227, weight = 0.227, walk = "sequential" },
  { name = "state", from = 0.227, to = 0.454, weight = 1.362, walk = "sequential", writes = 0.2 },
  { name = "right-hand side", from = 0.454, to = 0.681, weight = 1.816, walk = "sequential", writes = 0.5 },
  { name = "right-hand side, third axis", from = 0.454, to = 0.681, weight = 0.908, walk = "sequential", threads = "interleaved", writes = 0.5 },
  { name = "derived", from = 0.681, to = 1, weight = 2.233, walk = "sequential", writes = 0.2 },
]"#,
    },
    // "rand": words of one table, read and written at random; there is no hot set (section 3.1).
    Program {
        name: "GUPS",
        memory_gb: 64.0,
        friendly_from: None,
        compute_ns: 5.0,
        loop_gb: None,
        parts: r#"
part = [{ name = "table", from = 0, to = 1, weight = 1, walk = "random", writes = 0.5 }]"#,
    },
];

/// Fast memory, GB.
pub(super) const DRAM_GB: [u32; 3] = [16, 32, 48];
/// One on each core.
pub(super) const THREADS: u32 = 24;
/// How long a program runs, seconds: what is learned at the start counts [I].
pub(super) const SECONDS: f64 = 300.0;

impl Program {
    /// The program of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        PROGRAMS.iter().find(|program| program.name == name)
    }

    /// Whether the paper has it gain by migration with so much DRAM.
    pub(super) fn friendly(&self, dram_gb: u32) -> bool {
        self.friendly_from.is_some_and(|from| dram_gb >= from)
    }

    /// A scenario: so many threads of it, alone, with so much DRAM, under a system.
    pub(super) fn scenario(&self, what: (u32, u32, u32), system: System) -> String {
        self.lasting(SECONDS, what, system)
    }

    /// The same for so many seconds.
    pub(super) fn lasting(
        &self,
        seconds: f64,
        (scale, threads, dram_gb): (u32, u32, u32),
        system: System,
    ) -> String {
        let tenant = self.tenant((self.memory_gb, dram_gb), threads, 0);
        format!(
            "machine = \"adaptive-cxl\"\nscale = {scale}\nseconds = {seconds}\nhuge_pages = false\n\
             {}{tenant}",
            system.lines()
        )
    }

    /// So many threads of it in a scenario, with so much memory and DRAM, from so many seconds on.
    pub(super) fn tenant(
        &self,
        (memory_gb, dram_gb): (f64, u32),
        threads: u32,
        start_s: u32,
    ) -> String {
        let Self { name, compute_ns, loop_gb, parts, .. } = self;
        // An inline table has no lines of its own but within its lists.
        let parts = parts.trim().replace("\nphase", ", phase");
        // Accesses of a thread: its share of the loop's lines.
        let size = memory_gb / self.memory_gb;
        let accesses = |gb: f64| gb * size * f64::from(1 << 24) / f64::from(threads);
        let barrier = loop_gb.map(|gb| format!("barrier = {:.0}\n", accesses(gb)));
        let barrier = barrier.unwrap_or_default();
        let start = if start_s > 0 { format!("start = {start_s}\n") } else { String::new() };
        format!(
            "[[tenant]]\nname = \"{name}\"\nmemory = \"{memory_gb}G\"\nfast = \"{dram_gb}G\"\n\
             threads = {threads}\ncompute_ns = {compute_ns}\n{barrier}{start}\
             pattern = {{ kind = \"regions\", {parts} }}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::ADAPTIVE;
    use super::*;
    use pagetide_sim::scenario::{Input, PatternSpec, parse};

    #[test]
    fn every_program_is_a_scenario_whose_parts_are_all_of_its_memory() {
        for program in PROGRAMS {
            for threads in [1, THREADS] {
                let text = program.scenario((1024, threads, 16), ADAPTIVE);
                let scenario =
                    parse(&text, program.name).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let tenant = &scenario.tenants[0];
                assert_eq!(tenant.threads, Some(threads));
                assert_eq!(tenant.barrier.is_some(), program.loop_gb.is_some());
                let Some(Input::Pattern(PatternSpec::Regions(regions))) = tenant.input() else {
                    panic!("parts")
                };
                let mut end = 0.0;
                for part in &regions.parts {
                    assert!(part.from <= end && part.to >= end, "{}: {}", program.name, part.name);
                    end = part.to;
                }
                assert!((end - 1.0_f64).abs() < 1e-9, "{}", program.name);
            }
        }
    }

    #[test]
    fn friendly_is_what_the_paper_says() {
        let friendly = |dram_gb| {
            let names = PROGRAMS.iter().filter(move |program| program.friendly(dram_gb));
            names.map(|program| program.name).collect::<Vec<_>>()
        };
        assert_eq!(friendly(16), ["Liblinear", "FT", "SP"]);
        assert_eq!(friendly(32), friendly(16));
        assert_eq!(friendly(48), ["Liblinear", "FT", "LU", "SP"]);
        assert!(DRAM_GB.iter().all(|gb| *gb < 64) && Program::named("GUPS").is_some());
    }
}
