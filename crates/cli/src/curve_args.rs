//! Arguments of `curve`.

use crate::values::count;
use clap::{Args, ValueEnum};
use pagetide_sim::curve::{Policy, Sample};
use pagetide_types::{Bytes, PageSize};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct CurveArgs {
    /// A stream of accesses (`record --exact --stream`), or a trace in libCacheSim's format oracleGeneral; plain
    /// or compressed by zstd.
    #[arg(value_name = "STREAM")]
    pub(crate) stream: PathBuf,
    /// Sizes of the cache, with units (64M,1G), or in pages (5000p).
    #[arg(long, value_delimiter = ',', value_name = "SIZE", value_parser = pages,
        allow_hyphen_values = true)]
    pub(crate) sizes: Vec<u32>,
    /// All sizes (the default without --sizes): two for each doubling, and under lru, in --json, every
    /// size in between.
    #[arg(long, conflicts_with = "sizes")]
    pub(crate) all: bool,
    /// What decides which page leaves a full cache.
    #[arg(
        long,
        value_delimiter = ',',
        value_enum,
        default_value = "lru,fifo,clock",
        value_name = "NAME"
    )]
    pub(crate) policy: Vec<PolicyArg>,
    /// Sample: a share of the pages (0.01 or 1%), or, under lru, so many pages (16384); every
    /// figure has its error then.
    #[arg(long, value_name = "SHARE|PAGES", value_parser = sample, allow_hyphen_values = true)]
    pub(crate) sample: Option<Sample>,
    /// oracleGeneral: whether each object is a page of the cache, whatever its size (the default), or
    /// objects are addresses, of which every page of 4 KiB counts that a request goes to.
    #[arg(long, value_enum)]
    pub(crate) by: Option<ByArg>,
    /// oracleGeneral by page: bytes that one step of an address stands for (512 for sectors).
    #[arg(long, value_name = "BYTES", value_parser = count::<u64>, allow_hyphen_values = true)]
    pub(crate) id_bytes: Option<u64>,
    /// Print JSON with stable keys instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyArg {
    /// The page that was accessed longest ago.
    Lru,
    /// The page that came in first.
    Fifo,
    /// The page that came in first, unless it was accessed since.
    Clock,
}

impl From<PolicyArg> for Policy {
    fn from(policy: PolicyArg) -> Self {
        match policy {
            PolicyArg::Lru => Self::Lru,
            PolicyArg::Fifo => Self::Fifo,
            PolicyArg::Clock => Self::Clock,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    /// Each object is a page of the cache.
    Object,
    /// Objects are addresses.
    Page,
}

impl ByArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Page => "page",
        }
    }
}

/// A size of a cache, in whole pages.
fn pages(text: &str) -> Result<u32, String> {
    let page = PageSize::Base.bytes();
    let pages = match text.trim().strip_suffix('p') {
        Some(pages) => count::<u64>(pages)?,
        None => Bytes::with_unit(text)?.0 / page.0,
    };
    match u32::try_from(pages) {
        Ok(0) => Err(format!("'{text}' is less than a page of {page}; write for example 64M")),
        Ok(pages) => Ok(pages),
        Err(_) => Err(format!("'{text}' is too large; the largest cache has 2^32 - 1 pages")),
    }
}

/// A share of all pages, or a number of them.
fn sample(text: &str) -> Result<Sample, String> {
    let wrong = || {
        format!("'{text}' is no sample; give a share of the pages, 0.01 or 1%, or a number of them")
    };
    let (number, percent) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
    if let (Ok(pages @ 1..), false) = (number.trim().parse::<u32>(), percent) {
        return Ok(Sample::Pages(pages));
    }
    let rate: f64 = number.trim().parse().map_err(|_| wrong())?;
    let rate = if percent { rate / 100.0 } else { rate };
    if rate > 0.0 && rate < 1.0 { Ok(Sample::Rate(rate)) } else { Err(wrong()) }
}
