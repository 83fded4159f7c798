//! Models of eight of its programs: seven of SPEC ACCEL's OpenMP suite, and graph500, of 32 GiB each
//! (section 4.3). The paper says nothing of how they access memory; these models are written from
//! what is generally known of their algorithms [I]. Their parts were committed before anything was compared;
//! that threads meet at the end of a loop was added afterwards (figure 12 has both):
//! - SPEC ACCEL's are loops over large arrays, which several threads share in slices; a time step
//!   touches most arrays once or a few times. Arrays differ in how often.
//! - What is read or computed once at the start lies first in memory, and so it is what first touch
//!   puts into fast memory; what loops work on comes behind it.
//! - Half of what a loop writes it has read before.

/// A program's model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// SPEC's number and name.
    pub(super) name: &'static str,
    /// What a thread computes between two accesses to memory, ns.
    compute_ns: f64,
    /// Its parts, and phases if it has some, in a scenario's words.
    parts: &'static str,
}

pub(super) const PROGRAMS: [Program; 8] = [
    // Two grids of a lattice, one read and the other written, in turn: all memory alike.
    Program {
        name: "504.polbm",
        compute_ns: 2.0,
        parts: r#"
part = [
  { name = "source", from = 0, to = 0.5, weight = 1, walk = "sequential" },
  { name = "target", from = 0.5, to = 1, weight = 1, walk = "sequential", writes = 1 },
]"#,
    },
    // k-space data is short and read for every voxel; the image is swept once.
    Program {
        name: "514.pomriq",
        compute_ns: 20.0,
        parts: r#"
part = [
  { name = "image", from = 0, to = 0.85, weight = 1, walk = "sequential", writes = 0.3 },
  { name = "k-space", from = 0.85, to = 1, weight = 6, walk = "sequential" },
]"#,
    },
    // Molecular dynamics: positions and forces of neighbours at random, their lists in order.
    Program {
        name: "550.pmd",
        compute_ns: 10.0,
        parts: r#"
part = [
  { name = "tables", from = 0, to = 0.2, weight = 0.3, walk = "sequential" },
  { name = "lists", from = 0.2, to = 0.75, weight = 3, walk = "sequential" },
  { name = "particles", from = 0.75, to = 1, weight = 6, walk = "random", writes = 0.3 },
]"#,
    },
    // Large-eddy simulation: many fields, each in a few of a step's loops, and a solver that works
    // on two of them for longer.
    Program {
        name: "551.ppalm",
        compute_ns: 4.0,
        parts: r#"
part = [
  { name = "constants", from = 0, to = 0.2, weight = 0.2, walk = "sequential" },
  { name = "fields", from = 0.2, to = 0.8, weight = 6, walk = "sequential", writes = 0.3 },
  { name = "solver", from = 0.8, to = 1, weight = 3, walk = "sequential", writes = 0.5 },
]
phase = [
  { seconds = 12, weights = { solver = 0.2 } },
  { seconds = 8, weights = { solver = 4, fields = 0.3 } },
]"#,
    },
    // Conjugate gradient: a sparse matrix in order, vectors at random.
    Program {
        name: "554.pcg",
        compute_ns: 6.0,
        parts: r#"
part = [
  { name = "matrix", from = 0, to = 0.8, weight = 6, walk = "sequential" },
  { name = "vectors", from = 0.8, to = 1, weight = 4, walk = "random", writes = 0.1 },
]"#,
    },
    // Seismic waves: velocities and stresses in every step, the medium rarely.
    Program {
        name: "555.pseismic",
        compute_ns: 3.0,
        parts: r#"
part = [
  { name = "medium", from = 0, to = 0.35, weight = 1, walk = "sequential" },
  { name = "waves", from = 0.35, to = 1, weight = 9, walk = "sequential", writes = 0.4 },
]"#,
    },
    // Pentadiagonal solver: sweeps along three axes, two of them in strides over the planes.
    Program {
        name: "556.psp",
        compute_ns: 5.0,
        parts: r#"
part = [
  { name = "forcing", from = 0, to = 0.25, weight = 1, walk = "sequential" },
  { name = "state", from = 0.25, to = 0.6, weight = 3, walk = "sequential", writes = 0.3 },
  { name = "left-hand side", from = 0.6, to = 1, weight = 6, walk = "strided", stride = "20K", writes = 0.5 },
]"#,
    },
    // Breadth-first searches: adjacency lists at random, vertices by degree; in between the result
    // is validated over all edges.
    Program {
        name: "graph500",
        compute_ns: 4.0,
        parts: r#"
part = [
  { name = "edge list", from = 0, to = 0.4, weight = 0.5, walk = "sequential" },
  { name = "adjacency", from = 0.4, to = 0.85, weight = 4, walk = "random", run = 4 },
  { name = "vertices", from = 0.85, to = 1, weight = 5, walk = "zipf", exponent = 0.6, writes = 0.2 },
]
phase = [
  { seconds = 15 },
  { seconds = 5, weights = { "edge list" = 8, adjacency = 0.2 } },
]"#,
    },
];

/// Memory of each, GiB.
pub(super) const MEMORY_GIB: f64 = 32.0;
/// How long each runs, seconds.
const SECONDS: f64 = 100.0;
/// Threads of each: two of the socket's ten cores are left to the kernel [I].
const THREADS: u32 = 8;

/// Accesses of a thread from one barrier to the next: its slice of a loop over 4 GiB, a line each [I].
const LOOP: u64 = (4 << 30) / 64 / THREADS as u64;

/// What is other than described.
#[derive(Clone, Debug, Default)]
pub(super) struct Variant {
    /// A machine in place of the paper's, as an inline table.
    pub(super) machine: Option<String>,
    /// Threads do not wait for each other at the end of a loop, as OpenMP's do.
    pub(super) independent: bool,
}

/// A scenario: a program with so much fast memory, under a system whose other keys stand in
/// `system`.
pub(super) fn scenario(
    program: &Program,
    (scale, fast_gib): (u32, f64),
    system: &str,
    variant: &Variant,
) -> String {
    let Program { name, compute_ns, parts } = program;
    // An inline table has no lines of its own but within its lists.
    let parts = parts.trim().replace("\nphase", ", phase");
    let machine = variant.machine.as_deref().unwrap_or("\"nimble-xeon\"");
    let barrier = if variant.independent { String::new() } else { format!("barrier = {LOOP}\n") };
    format!(
        "machine = {machine}\nscale = {scale}\nseconds = {SECONDS}\ntlb = true\n\
         [system]\n{system}\n\
         [[tenant]]\nname = \"{name}\"\nmemory = \"{MEMORY_GIB}G\"\nfast = \"{fast_gib}G\"\n\
         threads = {THREADS}\ncompute_ns = {compute_ns}\n{barrier}\
         pattern = {{ kind = \"regions\", {parts} }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_sim::scenario::parse;

    #[test]
    fn every_program_is_a_scenario() {
        for program in PROGRAMS {
            for independent in [false, true] {
                let variant = Variant { independent, ..Variant::default() };
                let text = scenario(&program, (64, 16.0), "name = \"all-slow\"", &variant);
                let scenario =
                    parse(&text, program.name).unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(scenario.tenants[0].threads, Some(THREADS));
                assert_eq!(scenario.tenants[0].barrier, (!independent).then_some(LOOP));
            }
        }
    }
}
