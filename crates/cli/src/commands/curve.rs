//! `pagetide curve`: miss ratios of caches of pages, from single accesses.

use crate::commands::{out, print_json};
use crate::curve_args::{ByArg, CurveArgs};
use anyhow::{Context, Result, bail};
use pagetide_access::{Accesses, Block, OracleReader, StreamReader, open};
use pagetide_report::{CurveOf, CurvePoint, CurveSample, CurveTable, Style};
use pagetide_sim::curve::{Curves, Misses, Point, Policy, Simulation, Sizes};
use pagetide_types::{Bytes, PageSize};
use std::fs::File;
use std::io::Read;
use std::process::ExitCode;

/// Accesses that are handed on together.
const BATCH: usize = 1 << 14;

pub(crate) fn run(arguments: &CurveArgs) -> Result<ExitCode> {
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
    let file = File::open(&arguments.stream)?;
    if file.metadata()?.is_dir() {
        bail!(
            "it is a folder, perhaps a recording, which holds no single accesses; `pagetide record \
             --exact --stream FILE` writes them"
        );
    }
    let (format, by, left_out) = match open(file)? {
        Accesses::Stream(stream) => {
            if arguments.by.is_some() || arguments.id_bytes.is_some() {
                bail!("it is a stream of pages; --by and --id-bytes are for oracleGeneral");
            }
            feed_stream(stream, &mut simulation)?;
            ("pagetide", ByArg::Page, 0)
        }
        Accesses::Oracle(trace) => {
            let default = if arguments.id_bytes.is_some() { ByArg::Page } else { ByArg::Object };
            let by = arguments.by.unwrap_or(default);
            let left_out = match by {
                ByArg::Object => feed_objects(trace, &mut simulation)?,
                ByArg::Page => feed_pages(trace, arguments.id_bytes.unwrap_or(1), &mut simulation)?,
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
fn feed_stream(stream: StreamReader<impl Read>, simulation: &mut Simulation) -> Result<()> {
    let mut pages = Vec::new();
    for block in stream {
        if let Block::Accesses { accesses, .. } = block? {
            pages.clear();
            pages.extend(accesses.iter().map(|access| u64::from(access.page)));
            simulation.access(&pages)?;
        }
    }
    Ok(())
}

/// Each object is a page; how many requests were left out.
fn feed_objects(mut trace: OracleReader<impl Read>, simulation: &mut Simulation) -> Result<u64> {
    let (mut objects, mut left_out) = (Vec::new(), 0);
    while let Some(batch) = trace.batch()? {
        objects.clear();
        left_out += batch.objects(&mut objects) as u64;
        simulation.access(&objects)?;
    }
    Ok(left_out)
}

/// Objects are addresses; how many requests were left out.
fn feed_pages(
    mut trace: OracleReader<impl Read>,
    id_bytes: u64,
    simulation: &mut Simulation,
) -> Result<u64> {
    let (mut pages, mut left_out) = (Vec::new(), 0);
    while let Some(batch) = trace.batch()? {
        left_out += batch.records().filter(|record| record.bytes == 0).count() as u64;
        for page in batch.pages(id_bytes) {
            pages.push(page?);
            if pages.len() == BATCH {
                simulation.access(&pages)?;
                pages.clear();
            }
        }
    }
    simulation.access(&pages)?;
    Ok(left_out)
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
