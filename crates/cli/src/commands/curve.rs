//! `pagetide curve`: miss ratios of caches of pages, from single accesses.

use crate::available::available;
use crate::commands::{out, print_json};
use crate::curve_args::{ByArg, CurveArgs};
use anyhow::{Context, Result, anyhow, bail};
use pagetide_access::{Accesses, Block, OracleReader, StreamReader, open};
use pagetide_privilege::{Paths, without_privileges};
use pagetide_report::{CurveOf, CurvePoint, CurveSample, CurveTable, Style};
use pagetide_sim::curve::{Curves, Misses, Point, Policy, Simulation, Sizes};
use pagetide_types::{Bytes, PageSize};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::process::ExitCode;

/// Nobody asks whether there is so much memory.
const SMALL: Bytes = Bytes::mib(256);
/// Accesses that are handed on together.
const BATCH: usize = 1 << 14;

pub(crate) fn run(arguments: &CurveArgs) -> Result<ExitCode> {
    let read = vec![arguments.stream.clone()];
    without_privileges(&Paths { read, ..Paths::default() })?;
    if arguments.id_bytes.is_some() && arguments.by == Some(ByArg::Object) {
        bail!("--id-bytes says what addresses are in; with --by object there are none");
    }
    let policies: Vec<Policy> = arguments.policy.iter().map(|policy| (*policy).into()).collect();
    let sizes = match &*arguments.sizes {
        [] => Sizes::All,
        sizes => Sizes::Of(sizes.to_vec()),
    };
    let simulation = Simulation::new(&policies, &sizes, arguments.sample)?;
    let table = simulate(arguments, simulation);
    let table = table.with_context(|| arguments.stream.display().to_string())?;
    if arguments.json {
        print_json(&table)?;
    } else {
        out(&pagetide_report::curve(&table, Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn simulate(arguments: &CurveArgs, mut simulation: Simulation) -> Result<CurveTable> {
    let file = File::open(&arguments.stream).map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "there is no such file; `pagetide record --exact --stream FILE` writes the accesses of a program"
        ),
        _ => error.into(),
    })?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        bail!(
            "it is a folder, perhaps a recording, which holds no single accesses; `pagetide record \
             --exact --stream FILE` writes them"
        );
    }
    if kind.is_char_device() {
        bail!("it is a device (a terminal, /dev/zero), which has no end; give a file or a pipe");
    }
    let mut memory = Memory::default();
    let (format, by, left_out) = match open(file)? {
        Accesses::Stream(stream) => {
            if arguments.by.is_some() || arguments.id_bytes.is_some() {
                bail!("it is a stream of pages; --by and --id-bytes are for oracleGeneral");
            }
            feed_stream(stream, &mut simulation, &mut memory)?;
            ("pagetide", ByArg::Page, 0)
        }
        Accesses::Oracle(trace) => {
            let default = if arguments.id_bytes.is_some() { ByArg::Page } else { ByArg::Object };
            let by = arguments.by.unwrap_or(default);
            let left_out = match by {
                ByArg::Object => feed_objects(trace, &mut simulation, &mut memory)?,
                ByArg::Page => {
                    let id_bytes = arguments.id_bytes.unwrap_or(1);
                    feed_pages(trace, id_bytes, &mut simulation, &mut memory)?
                }
            };
            ("oracleGeneral", by, left_out)
        }
    };
    let curves = simulation.curves();
    if curves.accesses == 0 {
        bail!("there is no access in it");
    }
    Ok(table(arguments, format, by, left_out, curves))
}

/// In the order in which the stream has them: that of each thread, and about that of time between them.
fn feed_stream(
    stream: StreamReader<impl Read>,
    simulation: &mut Simulation,
    memory: &mut Memory,
) -> Result<()> {
    let mut pages = Vec::new();
    for block in stream {
        if let Block::Accesses { accesses, .. } = block? {
            pages.clear();
            pages.extend(accesses.iter().map(|access| u64::from(access.page)));
            memory.access(simulation, &pages)?;
        }
    }
    Ok(())
}

/// Each object is a page; how many requests were left out.
fn feed_objects(
    mut trace: OracleReader<impl Read>,
    simulation: &mut Simulation,
    memory: &mut Memory,
) -> Result<u64> {
    let (mut objects, mut left_out) = (Vec::new(), 0);
    while let Some(batch) = trace.batch()? {
        objects.clear();
        left_out += batch.objects(&mut objects) as u64;
        memory.access(simulation, &objects)?;
    }
    Ok(left_out)
}

/// Objects are addresses; how many requests were left out.
fn feed_pages(
    mut trace: OracleReader<impl Read>,
    id_bytes: u64,
    simulation: &mut Simulation,
    memory: &mut Memory,
) -> Result<u64> {
    let (mut pages, mut left_out) = (Vec::new(), 0);
    while let Some(batch) = trace.batch()? {
        left_out += batch.records().filter(|record| record.bytes == 0).count() as u64;
        for page in batch.pages(id_bytes) {
            pages.push(page?);
            if pages.len() == BATCH {
                memory.access(simulation, &pages)?;
                pages.clear();
            }
        }
    }
    memory.access(simulation, &pages)?;
    Ok(left_out)
}

/// What a simulation may take: a few bytes of a file can stand for more pages than fit into this machine, and the
/// kernel would end this program, or another.
#[derive(Default)]
struct Memory {
    /// Known once it is worth asking for.
    most: Option<Bytes>,
}

impl Memory {
    /// Simulates accesses, if there is memory for it.
    fn access(&mut self, simulation: &mut Simulation, pages: &[u64]) -> Result<()> {
        let needs = Bytes(simulation.memory_for(pages.len()));
        if needs > SMALL {
            let most = *self.most.get_or_insert_with(available);
            let (accesses, seen) = simulation.seen();
            if needs > most {
                bail!(
                    "access {accesses} and those before go to {seen} pages; more may need {needs} of \
                     memory, and {most} are there: give --sample 0.01, or fewer sizes and policies"
                );
            }
        }
        simulation.access(pages).with_context(|| format!("access {}", simulation.seen().0))
    }
}

fn table(
    arguments: &CurveArgs,
    format: &str,
    by: ByArg,
    left_out: u64,
    curves: Curves,
) -> CurveTable {
    let accesses = curves.accesses;
    let sample = curves.sampled.map(|sampled| CurveSample {
        rate: sampled.rate,
        sampled_pages: sampled.pages,
        sampled_accesses: sampled.accesses,
    });
    let policies = curves.curves.into_iter().map(|curve| CurveOf {
        policy: curve.policy.name().to_owned(),
        points: curve.points.iter().map(|one| point(one, accesses)).collect(),
        steps: curve.steps,
    });
    CurveTable {
        stream: arguments.stream.display().to_string(),
        format: format.to_owned(),
        by: by.name().to_owned(),
        page_bytes: PageSize::Base.bytes(),
        accesses,
        left_out,
        pages: curves.pages,
        sample,
        policies: policies.collect(),
    }
}

fn point(point: &Point, accesses: u64) -> CurvePoint {
    let share = |count: f64| count / accesses as f64;
    let (misses, miss_ratio, error) = match point.misses {
        Misses::Exact(misses) => (Some(misses), Some(share(misses as f64)), None),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        Misses::Estimated { misses, error } => {
            (Some(misses.round() as u64), Some(share(misses).min(1.0)), Some(share(error)))
        }
        Misses::Untold => (None, None, None),
    };
    let bytes = Bytes(u64::from(point.pages) * PageSize::Base.bytes().0);
    CurvePoint { size_pages: point.pages, size_bytes: bytes, misses, miss_ratio, error }
}
