//! Figure 3: whether migration pays, by program (a), and by DRAM for two of them (b).

use super::programs::Program;
use super::runs::{MEMTIS, NONE, TPP_MOD, grid, grid_of, programs, threads};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series, Tolerance};

pub(super) const A: Figure = Figure {
    id: "3a",
    title: "no migration, TPP-mod and MEMTIS, by program",
    source: "section 3.1",
    slow: true,
    run: by_program,
};

pub(super) const B: Figure = Figure {
    id: "3b",
    title: "GUPS and LU under TPP-mod, by DRAM",
    source: "section 3.1",
    slow: true,
    run: by_dram,
};

fn by_program(context: &Context) -> Result<Outcome, ReproduceError> {
    let found = grid(context, threads(context), &programs(context), &[NONE, TPP_MOD, MEMTIS])?;
    let mut outcome = Outcome::default();
    let speedups = found.speedups(TPP_MOD, NONE);
    let as_published = |((program, dram_gb, _), speedup): (&(&Program, u32, Vec<f64>), &f64)| {
        program.friendly(*dram_gb) == (*speedup > 1.0)
    };
    let right = found.rows.iter().zip(&speedups).filter(|row| as_published(*row)).count() as f64;
    let all = found.rows.len() as f64;
    let row = Row::new("programs and sizes that gain or lose by TPP-mod as published", "", right);
    outcome.rows.push(row.published(all, Tolerance::Percent(15.0)));
    found.draw(&mut outcome);
    Ok(outcome)
}

fn by_dram(context: &Context) -> Result<Outcome, ReproduceError> {
    let names: &[&str] = if context.small { &["GUPS"] } else { &["GUPS", "LU"] };
    let sizes: &[u32] = if context.small { &[16, 48] } else { &[8, 16, 24, 32, 40, 48, 56] };
    let programs: Vec<&Program> = names.iter().filter_map(|name| Program::named(name)).collect();
    let found = grid_of(context, threads(context), (&programs, sizes), &[NONE, TPP_MOD])?;
    let speedups = found.speedups(TPP_MOD, NONE);
    let mut outcome = Outcome::default();
    for (program, chunk) in programs.iter().zip(speedups.chunks(sizes.len())) {
        let points = sizes.iter().copied().zip(chunk.iter().map(|speedup| 1.0 / speedup));
        let series = Series::new(program.name, "DRAM, GB", "execution time over no migration");
        outcome.series.push(series.points(points));
        for (size, speedup) in sizes.iter().zip(chunk).filter(|(size, _)| *size % 16 == 0) {
            let what = format!("{} at {size} GB: gain over no migration", program.name);
            outcome.rows.push(Row::new(what, "%", 100.0 * (speedup - 1.0)));
        }
    }
    outcome.notes.push(
        "published in words: GUPS gains nothing up to 48 GB; LU loses at 16 and 32 GB, and gains at 48"
            .into(),
    );
    Ok(outcome)
}
