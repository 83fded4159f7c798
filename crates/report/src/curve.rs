//! The table of `pagetide curve`: miss ratios of a cache of pages by size and policy.

use crate::Style;
use crate::number::count;
use crate::table::{Align, Table};
use pagetide_types::Bytes;
use serde::Serialize;

/// What was found of a stream of accesses.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct CurveTable {
    /// Its path.
    pub stream: String,
    /// Its format.
    pub format: String,
    /// What is a page of the cache: `page` or `object`.
    pub by: String,
    /// Size of a page.
    pub page_bytes: Bytes,
    /// Accesses.
    pub accesses: u64,
    /// Requests for nothing, which were left out.
    pub left_out: u64,
    /// Pages accessed; of a sample an estimate.
    pub pages: u64,
    /// What was sampled, if not all.
    pub sample: Option<CurveSample>,
    /// One curve for each policy, all at the same sizes.
    pub policies: Vec<CurveOf>,
}

/// What was sampled.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct CurveSample {
    /// Share of all pages.
    pub rate: f64,
    /// Pages in the sample.
    pub sampled_pages: u64,
    /// Accesses to them.
    pub sampled_accesses: u64,
}

/// Misses under a policy.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct CurveOf {
    /// Its name.
    pub policy: String,
    /// By size, the smallest first.
    pub points: Vec<CurvePoint>,
    /// Size in pages and misses, wherever they are fewer than at a page less.
    pub steps: Option<Vec<(u32, u64)>>,
}

/// Misses at a size.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Pages that fit.
    pub size_pages: u32,
    /// The same in bytes.
    pub size_bytes: Bytes,
    /// Misses; none if the sample cannot tell.
    pub misses: Option<u64>,
    /// Misses over accesses.
    pub miss_ratio: Option<f64>,
    /// In 95 of 100 cases the ratio is right within this; none where it is exact, or not told.
    pub error: Option<f64>,
}

/// Renders the curves beside each other.
#[must_use]
pub fn curve(table: &CurveTable, style: Style) -> String {
    let accesses = count(table.accesses as f64);
    let footprint = Bytes(table.pages.saturating_mul(table.page_bytes.0));
    let (about, exact) = if table.sample.is_some() { ("about ", "") } else { ("", "; exact") };
    let mut out = style.bold(&format!("Miss ratios of a cache of pages for {}\n\n", table.stream));
    let pages = count(table.pages as f64);
    let text = format!(
        "{accesses} accesses to {about}{pages} {}s, {footprint} in pages of {}{exact}.",
        table.by, table.page_bytes
    );
    out += &style.paragraph("  ", &text);
    if let Some(sample) = table.sample {
        let text = format!(
            "Sampled: {} of the {}s, {} of them, with {} accesses. Each figure is right within its \
             error in 95 of 100 cases; what is less than 16 pages of the sample is not told.",
            share(sample.rate),
            table.by,
            count(sample.sampled_pages as f64),
            count(sample.sampled_accesses as f64)
        );
        out += &style.paragraph("  ", &text);
    }
    if table.left_out > 0 {
        let text = format!("{} requests of size 0 are left out.", count(table.left_out as f64));
        out += &style.paragraph("  ", &text);
    }
    out + "\n" + &ratios(table, style)
}

fn ratios(table: &CurveTable, style: Style) -> String {
    let mut columns = vec![("size", Align::Right), ("pages", Align::Right)];
    columns.extend(table.policies.iter().map(|of| (of.policy.as_str(), Align::Right)));
    let mut rendered = Table::new(style, &columns);
    let sizes = table.policies.first().map_or(&[][..], |of| &of.points);
    for (i, size) in sizes.iter().enumerate() {
        let mut cells = vec![size.size_bytes.to_string(), size.size_pages.to_string()];
        cells.extend(
            table.policies.iter().map(|of| of.points.get(i).map_or_else(String::new, ratio)),
        );
        rendered.row(&cells);
    }
    rendered.render()
}

fn ratio(point: &CurvePoint) -> String {
    match (point.miss_ratio, point.error) {
        (None, _) => "?".to_owned(),
        (Some(ratio), None) => format!("{:.2} %", 100.0 * ratio),
        (Some(ratio), Some(error)) => format!("{:.2} ± {:.2} %", 100.0 * ratio, 100.0 * error),
    }
}

/// A share with as many digits as it needs.
fn share(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = if percent < 0.1 { 4 } else { 2 };
    let text = format!("{percent:.digits$}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(errors: bool) -> CurveTable {
        let point = |size_pages: u32, ratio: Option<f64>| CurvePoint {
            size_pages,
            size_bytes: Bytes(u64::from(size_pages) << 12),
            misses: ratio.map(|_| 1),
            miss_ratio: ratio,
            error: ratio.and(errors.then_some(0.0123)),
        };
        let of = |policy: &str| CurveOf {
            policy: policy.to_owned(),
            points: vec![point(1, None), point(1 << 20, Some(0.4567))],
            steps: None,
        };
        CurveTable {
            stream: "a.stream".to_owned(),
            format: "pagetide".to_owned(),
            by: "page".to_owned(),
            page_bytes: Bytes::kib(4),
            accesses: 1_500_000,
            left_out: 7,
            pages: 1 << 18,
            sample: errors.then_some(CurveSample {
                rate: 0.0001,
                sampled_pages: 26,
                sampled_accesses: 150,
            }),
            policies: ["lru", "fifo", "clock"].map(of).into(),
        }
    }

    #[test]
    fn curves_stand_beside_each_other_with_their_errors() {
        let exact = curve(&table(false), Style::new(80, false));
        for said in ["1.5 M accesses to 262 k pages, 1.00 GiB", "exact", "7 requests", "45.67 %"] {
            assert!(exact.contains(said), "no '{said}' in {exact}");
        }
        let sampled = curve(&table(true), Style::new(80, false));
        for said in ["to about 262 k", "0.01 % of the pages", "45.67 ± 1.23 %", " ? "] {
            assert!(sampled.contains(said), "no '{said}' in {sampled}");
        }
        assert!(!sampled.contains("exact"), "{sampled}");
        let wide = sampled.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
}
