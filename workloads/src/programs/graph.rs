//! A graph with a few popular vertices: hot and cold data as real programs have them.

use crate::{
    args::Common,
    drive::drive,
    error::{Result, bad},
    graph::{
        bfs::bfs,
        build::{Shape, build, room},
        layout::Graph as View,
        pagerank::pagerank,
    },
    registry::Program,
    session::Session,
    worker::Worker,
};
use clap::{Args, ValueEnum};
use pagetide_access::generators::Rng;
use std::sync::atomic::{AtomicU64, Ordering};

/// Builds a Kronecker graph and runs breadth-first searches and PageRank over it
#[derive(Args, Clone, Debug)]
pub struct Graph {
    /// log2 of the number of vertices; with 16 edges each, 21 makes about 300 MiB
    #[arg(long, value_name = "N", default_value_t = 21)]
    pub scale: u32,
    /// Edges per vertex
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub degree: u64,
    /// What to run
    #[arg(long, value_enum, default_value_t = Algorithm::Both)]
    pub algorithm: Algorithm,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

/// What to run over a graph.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Breadth-first searches, each from a random vertex with edges.
    Bfs,
    /// PageRank, again and again.
    Pagerank,
    /// The two in turn.
    Both,
}

impl Graph {
    fn check(&self) -> Result<()> {
        self.common.check()?;
        self.common.check_one_thread()?;
        if !(1..=30).contains(&self.scale) {
            return bad("scale", &self.scale, "give 1 to 30");
        }
        let most = (u64::from(u32::MAX) >> self.scale) / 2;
        if !(1..=most).contains(&self.degree) {
            return bad("degree", &self.degree, format!("give 1 to {most} at this --scale"));
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        Shape { scale: self.scale, degree: self.degree, seed: self.common.seed }
    }
}

/// How often each algorithm ended.
#[derive(Default)]
struct Ended {
    searches: AtomicU64,
    reached: AtomicU64,
    ranks: AtomicU64,
}

/// Runs until the time is over.
fn work(algorithm: Algorithm, graph: &View<'_>, worker: &mut Worker<'_>, seed: u64, ended: &Ended) {
    let mut rng = Rng::new(seed, 1);
    let has_edges = |v: &u64| graph.offsets.peek(*v) < graph.offsets.peek(*v + 1);
    let mut turn = || {
        if algorithm != Algorithm::Pagerank {
            let vertex = std::iter::repeat_with(|| rng.below(graph.vertices)).find(has_edges)?;
            let reached = bfs(graph, worker, u32::try_from(vertex).ok()?)?;
            ended.searches.fetch_add(1, Ordering::Relaxed);
            ended.reached.fetch_add(reached, Ordering::Relaxed);
        }
        if algorithm != Algorithm::Bfs {
            pagerank(graph, worker)?;
            ended.ranks.fetch_add(1, Ordering::Relaxed);
        }
        Some(())
    };
    while turn().is_some() {}
}

impl Program for Graph {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.check()?;
        let built = build(self.shape(), self.common.page_size, &session.stop)?;
        let Some((region, layout)) = built else { return Ok(()) };
        if layout.edges == 0 {
            return bad("degree", &self.degree, "the graph came out without edges; give more");
        }
        let graph = View::of(&region, layout);
        let dropped = room(self.shape()).edges - layout.edges;
        let more = format!("vertices={} edges={} dropped={dropped}", graph.vertices, graph.edges);
        session.ready("graph", &region, more)?;
        let ended = Ended::default();
        let did = drive(session, "graph", &self.common, &region, |worker| {
            work(self.algorithm, &graph, worker, self.common.seed, &ended);
        })?;
        let [searches, reached, ranks] =
            [&ended.searches, &ended.reached, &ended.ranks].map(|n| n.load(Ordering::Relaxed));
        let more = format!("searches={searches} reached={reached} pageranks={ranks}");
        session.done("graph", &did, more)
    }
}
