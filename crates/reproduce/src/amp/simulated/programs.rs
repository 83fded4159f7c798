//! Models of AMP's eleven programs (section 3.2): their memory as parts, each accessed in a way of its
//! own. The programs themselves are not free, or not at hand.
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
//!   All others are ten at a time, and cost no more than the program computes meanwhile, unless
//!   they come faster than slow memory serves ten: every 36 ns. `compute_ns` is the time between
//!   misses of the last cache as they are known of such programs (misses per 1000 instructions,
//!   instructions a second), not counting the wait [I].
//! - **Order**: memory is touched first in order of address, as programs read or build what is
//!   given first and compute afterwards; so what lies first is fast first.

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
    /// It as a tenant of a scenario, with so much of its memory fast. It computes `computing` times as
    /// long between two accesses, and stays as long in each window.
    pub(super) fn tenant(&self, fast_share: f64, computing: f64) -> String {
        let changed = |line: &str| match line.split_once(" = ") {
            Some((key @ "compute_ns", ns)) => of(ns, |ns| format!("{key} = {}", ns * computing)),
            Some((key @ "passes", count)) => {
                of(count, |count| format!("{key} = {}", (count / computing).round().max(1.0)))
            }
            _ => line.to_owned(),
        };
        let text: Vec<String> = self.text.trim_start().lines().map(changed).collect();
        let name = self.name;
        format!(
            "[[tenant]]\nname = \"{name}\"\nfast_share = {fast_share}\n{}\n",
            text.join("\n")
        )
    }
}

/// A line made of a number that one of the texts below holds.
fn of(number: &str, line: impl Fn(f64) -> String) -> String {
    line(number.parse().expect("a number"))
}

/// All, in the order of figure 2.
pub(super) const PROGRAMS: [Program; 11] = [
    MCF,
    CACTUS,
    CG,
    GRAPH_ANALYTICS,
    IN_MEMORY_ANALYTICS,
    GRAPH500,
    POP2,
    DEEPSJENG,
    LBM,
    LU,
    BWAVES,
];

/// Minimum-cost flow. *Text*: pointer chasing in `price_out_impl` that is strided, for what it chases
/// lies in sequence (code 1). *Known*: one thread; nodes, some percent of the memory, are looked up
/// from arcs all the time and wait for them; the loop of code 1 begins from the list's start again
/// and again, so a stretch of arcs is passed many times before the list has moved on. *[I]*: a
/// quarter of the arcs at a time, 20 passes.
const MCF: Program = Program {
    name: "mcf",
    class: Class::Lru,
    text: r#"
memory = "4G"
threads = 1
compute_ns = 15
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "nodes"
from = 0.0
to = 0.06
weight = 0.25
walk = "chase"
[[tenant.pattern.part]]
name = "arcs"
from = 0.06
to = 1.0
weight = 0.75
walk = "sequential"
window = 0.25
passes = 28
writes = 0.1
"#,
};

/// Numerical relativity. *Text*: strides over one dimension of a matrix of several. *Known*: more than
/// a hundred grid functions, updated group by group; much computing at each point. *[I]*: a quarter
/// of them at a time, one line of four (neighbours along the other dimensions are in the caches);
/// parameters and boundaries all the time.
const CACTUS: Program = Program {
    name: "cactus",
    class: Class::Lru,
    text: r#"
memory = "6600M"
threads = 2
compute_ns = 40
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "parameters"
from = 0.0
to = 0.05
weight = 0.15
walk = "chase"
[[tenant.pattern.part]]
name = "grid functions"
from = 0.05
to = 1.0
weight = 0.85
walk = "strided"
stride = "256"
window = 0.25
passes = 170
writes = 0.3
"#,
};

/// Conjugate gradients on a sparse matrix, class D. *Text*: a large matrix, accessed sequentially with
/// low reuse. *Known*: nearly all memory is the matrix with its column numbers; a vector is gathered
/// by these, in no order. *[I]*: a quarter of the matrix at a time.
const CG: Program = Program {
    name: "cg.D",
    class: Class::Lru,
    text: r#"
memory = "16G"
threads = 1
compute_ns = 20
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "vectors"
from = 0.0
to = 0.04
weight = 0.3
walk = "random"
[[tenant.pattern.part]]
name = "matrix"
from = 0.04
to = 1.0
weight = 0.7
walk = "sequential"
window = 0.25
passes = 8
"#,
};

/// `PageRank` in Spark. *Text*: ranks of neighbours are updated, those of vertices with many
/// neighbours more often; several scans across (figure 3), which push them out under LRU. *Known*:
/// the graph is read first; ranks are objects behind pointers. *[I]*: an iteration of 24 s updates
/// along the edges, then 8 s only scan, for the next stage's partitions; results are written in
/// between; a tenth of the heap is dead.
const GRAPH_ANALYTICS: Program = Program {
    name: "graph-analytics",
    class: Class::Lfu,
    text: r#"
memory = "8G"
threads = 2
compute_ns = 40
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "edges"
from = 0.0
to = 0.5
weight = 0.3
walk = "sequential"
[[tenant.pattern.part]]
name = "ranks"
from = 0.5
to = 0.8
weight = 0.45
walk = "zipf"
exponent = 0.7
object = "4K"
writes = 0.3
[[tenant.pattern.part]]
name = "references"
from = 0.5
to = 0.8
weight = 0.2
walk = "chase"
[[tenant.pattern.part]]
name = "results"
from = 0.8
to = 0.9
weight = 0.05
walk = "sequential"
writes = 1.0
[[tenant.pattern.phase]]
seconds = 24
[[tenant.pattern.phase]]
seconds = 8
weights = { ranks = 0, references = 0 }
"#,
};

/// Alternating least squares in Spark. *Text*: trains a model several times; for each the data is
/// loaded by a scan, while the model is used frequently. From figure 15: the hot set changes within
/// 5 s. *Known*: users' factors are solved for with the items' fixed, then the other way round.
/// *[I]*: 10 s of loading, in which most accesses are to the buffers that lines are parsed in; then
/// 32 s of training, a side every 8 s, with few accesses to the data itself.
const IN_MEMORY_ANALYTICS: Program = Program {
    name: "in-memory-analytics",
    class: Class::Lfu,
    text: r#"
memory = "8G"
threads = 2
compute_ns = 40
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "data"
from = 0.0
to = 0.55
weight = 0.1
walk = "sequential"
[[tenant.pattern.part]]
name = "users"
from = 0.55
to = 0.75
weight = 0.3
walk = "random"
writes = 0.2
[[tenant.pattern.part]]
name = "users' objects"
from = 0.55
to = 0.75
weight = 0.15
walk = "chase"
[[tenant.pattern.part]]
name = "items"
from = 0.75
to = 0.95
weight = 0.3
walk = "random"
writes = 0.2
[[tenant.pattern.part]]
name = "items' objects"
from = 0.75
to = 0.95
weight = 0.15
walk = "chase"
[[tenant.pattern.part]]
name = "buffers"
from = 0.95
to = 1.0
weight = 0.1
walk = "random"
writes = 0.5
[[tenant.pattern.phase]]
seconds = 10
weights = { data = 1, buffers = 3 }
others = 0
[[tenant.pattern.phase]]
seconds = 8
weights = { users = 0.2, "users' objects" = 0.2 }
[[tenant.pattern.phase]]
seconds = 8
weights = { items = 0.2, "items' objects" = 0.2 }
[[tenant.pattern.phase]]
seconds = 8
weights = { users = 0.2, "users' objects" = 0.2 }
[[tenant.pattern.phase]]
seconds = 8
weights = { items = 0.2, "items' objects" = 0.2 }
"#,
};

/// Breadth-first searches over a graph of 2^26 vertices or so. *Text*: many searches, each of which is
/// validated, so the graph is accessed frequently. *Known*: the list of edges is made first, the
/// compressed graph from it; a search follows edges to vertices all over it, waiting for each;
/// validation passes over the list of edges with the parents found, and takes longer than the
/// search. *[I]*: 6 s and 20 s, and some look-ups in the graph while it validates.
const GRAPH500: Program = Program {
    name: "graph500",
    class: Class::Lfu,
    text: r#"
memory = "12G"
threads = 2
compute_ns = 15
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "list of edges"
from = 0.0
to = 0.5
weight = 0.2
walk = "sequential"
[[tenant.pattern.part]]
name = "graph"
from = 0.5
to = 0.92
weight = 0.3
walk = "random"
run = 4
[[tenant.pattern.part]]
name = "vertices"
from = 0.5
to = 0.92
weight = 0.3
walk = "chase"
[[tenant.pattern.part]]
name = "parents"
from = 0.92
to = 1.0
weight = 0.2
walk = "random"
writes = 0.3
[[tenant.pattern.phase]]
seconds = 6
weights = { "list of edges" = 0 }
[[tenant.pattern.phase]]
seconds = 20
weights = { graph = 0, vertices = 0 }
"#,
};

/// An ocean model. *Text*: only that it favours LFU, for a structure that is accessed frequently.
/// *Known*: a solver iterates over the surface's fields, and needs them over and over; the water's
/// fields, three-dimensional, are passed over once in each step. 1.5 GiB: four copies. *[I]*: 8 s
/// in the water, 12 s in the solver, which has a third of the memory with its operators.
const POP2: Program = Program {
    name: "pop2",
    class: Class::Lfu,
    text: r#"
memory = "6G"
threads = 2
compute_ns = 40
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "water"
from = 0.0
to = 0.6
weight = 0.4
walk = "sequential"
writes = 0.3
[[tenant.pattern.part]]
name = "surface"
from = 0.6
to = 0.93
weight = 0.45
walk = "random"
run = 8
writes = 0.2
[[tenant.pattern.part]]
name = "operators"
from = 0.6
to = 0.93
weight = 0.15
walk = "chase"
[[tenant.pattern.part]]
name = "parameters"
from = 0.93
to = 1.0
weight = 0.1
walk = "random"
[[tenant.pattern.phase]]
seconds = 8
weights = { surface = 0, operators = 0 }
[[tenant.pattern.phase]]
seconds = 12
weights = { water = 0 }
"#,
};

/// Chess. *Text*: a hash table of positions, accessed at random. *Known*: 7 GB, nearly all of it the
/// table; less than one miss in 1000 instructions, and the search waits for it.
const DEEPSJENG: Program = Program {
    name: "deepsjeng",
    class: Class::Random,
    text: r#"
memory = "7G"
threads = 1
compute_ns = 250
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "table"
from = 0.0
to = 0.97
weight = 0.9
walk = "chase"
writes = 0.3
[[tenant.pattern.part]]
name = "stack"
from = 0.97
to = 1.0
weight = 0.1
walk = "random"
writes = 0.5
"#,
};

/// Fluids by lattice Boltzmann. *Text*: sweeps its grids several times within a short time; all pages
/// have the same recency and frequency. *Known*: two grids, one read and one written, 3.2 GB;
/// limited by bandwidth.
const LBM: Program = Program {
    name: "lbm",
    class: Class::Random,
    text: r#"
memory = "3200M"
threads = 1
compute_ns = 14
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "source"
from = 0.0
to = 0.5
weight = 0.5
walk = "sequential"
[[tenant.pattern.part]]
name = "destination"
from = 0.5
to = 1.0
weight = 0.5
walk = "sequential"
writes = 1.0
"#,
};

/// A solver by lower and upper triangles, class D. *Text*: pages with similar recency and frequency;
/// from figure 15: most pages are accessed within 5 s, and within 2 s too few for Random to be
/// chosen, so that migrations cost 13.8 %. So a pass over its fields takes somewhat more than 5 s.
/// *Known*: planes of small matrices are made and used again for each step of the wavefront, which
/// waits for them. *[I]*: these lie first; a twentieth of the memory, results, is not accessed until the end.
const LU: Program = Program {
    name: "lu.D",
    class: Class::Random,
    text: r#"
memory = "8900M"
threads = 2
compute_ns = 40
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "fields"
from = 0.05
to = 0.95
weight = 0.75
walk = "sequential"
writes = 0.3
[[tenant.pattern.part]]
name = "planes"
from = 0.0
to = 0.05
weight = 0.25
walk = "chase"
writes = 0.3
"#,
};

/// Blast waves. *Text*: two phases: the first accesses frequently accessed data continuously (pattern
/// A, for LFU), the second the remaining working set, strided (B, for LRU). *Known*: 11.5 GB.
/// *[I]*: 45 s each; A has a third of the memory; B a third of the rest at a time.
const BWAVES: Program = Program {
    name: "bwaves",
    class: Class::Neutral,
    text: r#"
memory = "11500M"
threads = 2
compute_ns = 30
[tenant.pattern]
kind = "regions"
[[tenant.pattern.part]]
name = "rest"
from = 0.0
to = 0.62
weight = 1.0
walk = "strided"
stride = "256"
window = 0.34
passes = 25
writes = 0.3
[[tenant.pattern.part]]
name = "frequent"
from = 0.62
to = 0.95
weight = 0.7
walk = "random"
run = 8
[[tenant.pattern.part]]
name = "solver"
from = 0.62
to = 0.95
weight = 0.3
walk = "chase"
[[tenant.pattern.phase]]
seconds = 45
weights = { rest = 0 }
[[tenant.pattern.phase]]
seconds = 45
weights = { frequent = 0, solver = 0 }
"#,
};
