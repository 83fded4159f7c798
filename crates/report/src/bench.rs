//! The table of `pagetide bench migrate`: throughput by page size, batch, threads and mode, and
//! what a move is made of, published figures beside.

use crate::Style;
use crate::number::short_time;
use crate::table::{Align, Table};
use pagetide_migrate::bench::{Line, Mode, Parts, Row, Table as Bench};
use pagetide_types::UnitSize;
use std::collections::BTreeMap;

/// Published beside ours.
const NIMBLE: &str = "Nimble (ASPLOS 2019, one thread, Xeon): 512 x 4 KiB 0.75 GB/s, a 2 MiB page whole 2.15 \
     GB/s (2.9 times), with 4 copying threads and several pages at once 9.8 GB/s, exchanged 11.2 GB/s of \
     11.7 that a plain copy reaches.";
const PARTS: &str = "Published for a 4 KiB page on CXL (adaptive migration): allocate 1-2 us, unmap 2-4, copy 5-7, \
     map again 2-3; a demotion 9-14 us in all.";

/// Renders what a bench found.
#[must_use]
pub fn bench_migrate(bench: &Bench, style: Style) -> String {
    let title = format!("Moving pages between node {} and node {}\n\n", bench.slow, bench.fast);
    let mut out = style.bold(&title);
    out += &throughput(bench, style);
    out += &style.heading("What a page's move is made of");
    out += &made_of(bench, style);
    out += &style.heading("Published");
    out += &style.paragraph("  ", NIMBLE);
    out += &style.paragraph("  ", PARTS);
    out
}

fn throughput(bench: &Bench, style: Style) -> String {
    let right = |name| (name, Align::Right);
    let columns = [
        right("page"),
        right("batch"),
        right("threads"),
        ("mode", Align::Left),
        right("GB/s"),
        right("a page"),
        right("to one"),
        right("copy"),
        right("longest"),
    ];
    let mut table = Table::new(style, &columns);
    let mut failed = String::new();
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in &bench.lines {
        let case = &line.case;
        let (page, batch, threads) = (case.page, case.batch, case.threads);
        let name = format!("{batch} x {page} by {threads}, {}", mode(case.mode));
        let Some(row) = &line.row else {
            missing.entry(line.not_measurable.as_deref().unwrap_or("")).or_default().push(name);
            continue;
        };
        let mut cells = vec![page.to_string(), batch.to_string(), threads.to_string()];
        cells.push(mode(case.mode).to_owned());
        cells.extend(figures(row, bench));
        table.row(&cells);
        if row.failed + row.splits > 0 {
            let text = format!("{name}: {} pages failed, {} split", row.failed, row.splits);
            failed += &style.paragraph("  ", &text);
        }
    }
    let mut out = String::new();
    if bench.lines.iter().any(|line| line.row.is_some()) {
        out += &table.render();
        let legend = "to one: as many times as fast as one page at a time. copy: share of a plain copy of the same \
             bytes. longest: the longest call, in which its pages may be out of reach.";
        out += &style.paragraph("  ", legend);
    }
    out += &failed;
    for (why, cases) in missing {
        let all = cases.len() == bench.lines.len();
        let cases = if all { "all moves".to_owned() } else { cases.join("; ") };
        out += &style.paragraph("  ", &format!("Not measurable ({why}): {cases}."));
    }
    out
}

fn figures(row: &Row, bench: &Bench) -> Vec<String> {
    let speed = speed(row);
    let one = |line: &&Line| {
        let case = &line.case;
        (case.page, case.batch, case.threads, case.mode) == (row.case.page, 1, 1, Mode::Promote)
    };
    let single = bench.lines.iter().find(one).and_then(|line| line.row.as_ref());
    let copy = bench.parts.iter().find(|(page, _)| *page == row.case.page);
    let copied = copy.map(|(page, parts)| page.bytes().as_f64() / parts.copy_s.max(1e-12));
    let times = |value: f64| format!("{value:.1} x");
    vec![
        format!("{:.3}", speed * 1e-9),
        short_time(per_page(row)),
        single.map_or_else(String::new, |single| times(speed / crate::bench::speed(single))),
        copied.map_or_else(String::new, |copied| format!("{:.0} %", 100.0 * speed / copied)),
        short_time(row.longest_call_s),
    ]
}

/// Bytes per second.
fn speed(row: &Row) -> f64 {
    row.bytes.as_f64() / row.seconds.max(1e-12)
}

fn per_page(row: &Row) -> f64 {
    row.seconds / (row.bytes.as_f64() / row.case.page.bytes().as_f64()).max(1.0)
}

fn made_of(bench: &Bench, style: Style) -> String {
    let right = |name| (name, Align::Right);
    let columns = [
        right("page"),
        right("whole move"),
        right("call"),
        right("find"),
        right("check"),
        right("copy"),
        right("the rest"),
    ];
    let mut table = Table::new(style, &columns);
    for (page, parts) in &bench.parts {
        table.row(&parts_of(*page, parts, bench));
    }
    let legend = "whole move: one page's share of a usual batch, one thread, promoted. call: entering the kernel \
         and draining its per-CPU lists, shared by the batch. find: looking the page up. check: our queries where it \
         is. copy: the same bytes by a plain copy. the rest: allocating, unmapping, flushing translations, mapping \
         again.";
    table.render() + &style.paragraph("  ", legend)
}

fn parts_of(page: UnitSize, parts: &Parts, bench: &Bench) -> Vec<String> {
    let usual = if page == UnitSize::Huge { 8 } else { 512 };
    let rows = bench.lines.iter().filter_map(|line| line.row.as_ref());
    let of_page = rows
        .filter(|row| (row.case.page, row.case.threads, row.case.mode) == (page, 1, Mode::Promote));
    let row = of_page.min_by_key(|row| row.case.batch.abs_diff(usual));
    let Some(row) = row else {
        let none = || "?".to_owned();
        return vec![
            page.to_string(),
            none(),
            short_time(parts.call_s),
            short_time(parts.find_s),
            short_time(parts.look_s),
            short_time(parts.copy_s),
            none(),
        ];
    };
    let pages = (row.bytes.as_f64() / page.bytes().as_f64()).max(1.0);
    let (whole, call) = (per_page(row), parts.call_s / row.case.batch as f64);
    let check = row.checking_s / pages;
    let rest = whole - call - parts.find_s - check - parts.copy_s;
    let mut cells = vec![page.to_string(), short_time(whole)];
    cells.extend([call, parts.find_s, check, parts.copy_s].map(short_time));
    // Below what the others vary by it says nothing.
    cells.push(if rest > 0.0 { short_time(rest) } else { "within the noise".to_owned() });
    cells
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Promote => "promote",
        Mode::Demote => "demote",
        Mode::Exchange => "exchange",
    }
}
