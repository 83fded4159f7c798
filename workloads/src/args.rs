//! Arguments that all programs over measured memory share; each doc comment is the help text.

use crate::error::{Result, bad};
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use pagetide_access::{
    Choice,
    parameter::{TEN_YEARS, positive},
    patterns::Setup,
};
use pagetide_types::{Bytes, UnitSize};
use std::{path::PathBuf, time::Duration};

/// How long, how fast, on which pages, and where the truth goes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Seconds to run after the memory is populated
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    pub seconds: f64,
    /// End after this many accesses of all threads together, if that is earlier
    #[arg(long, value_name = "N")]
    pub accesses: Option<u64>,
    /// Seed of all random choices: the same seed, the same accesses in the same order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Size of the pages that hold the memory: 4K or 2M
    #[arg(long, value_name = "SIZE", default_value = "2M")]
    pub page_size: UnitSize,
    /// NUMA node to put the memory on at first; it may be moved from there (default: as the kernel
    /// does)
    #[arg(long, value_name = "N")]
    pub node: Option<u16>,
    /// Threads that access the memory
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: u32,
    /// Accesses per second of all threads together; unlimited if not given
    #[arg(long, value_name = "R")]
    pub rate: Option<f64>,
    /// Write the counts of all accesses to PATH, as a recording that plan reads
    #[arg(long, value_name = "PATH")]
    pub truth: Option<PathBuf>,
    /// What the truth counts by: 4K or 2M
    #[arg(long, value_name = "SIZE", default_value = "2M")]
    pub truth_unit: UnitSize,
    /// Seconds per epoch of the truth
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub truth_epoch: f64,
}

impl Common {
    /// Refuses values that make no sense, naming the argument.
    pub(crate) fn check(&self) -> Result<()> {
        positive("seconds", self.seconds, TEN_YEARS)?;
        positive("truth-epoch", self.truth_epoch, TEN_YEARS)?;
        if self.truth_epoch < 0.01 {
            return bad("truth-epoch", &self.truth_epoch, "an epoch lasts at least 0.01 s");
        }
        if let Some(rate) = self.rate {
            positive("rate", rate, 1e12)?;
        }
        if !(1..=1024).contains(&self.threads) {
            return bad("threads", &self.threads, "give 1 to 1024");
        }
        Ok(())
    }

    /// For programs that cannot share their work.
    pub(crate) fn check_one_thread(&self) -> Result<()> {
        match self.threads {
            1 => Ok(()),
            n => bad("threads", &n, "this program has one thread; leave the argument out"),
        }
    }

    /// What a pattern over so much memory is given.
    pub(crate) fn setup(&self, size: Bytes) -> Result<Setup> {
        Ok(Setup::new(size, self.threads, self.seed)?)
    }

    /// How long to run.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// Reads a parameter with a few named values, and lists them in the help.
pub(crate) fn choice<C: Choice>() -> impl TypedValueParser<Value = C> {
    let possible =
        |value: &C| PossibleValue::new(value.word()).help(value.help().trim_end_matches('.'));
    PossibleValuesParser::new(C::ALL.iter().map(possible))
        .try_map(|word| C::named(&word).ok_or("no such value"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The defaults, for tests of programs: a short run.
    pub(crate) fn short(seconds: f64) -> Common {
        Common {
            seconds,
            accesses: None,
            seed: 1,
            page_size: UnitSize::Base,
            node: None,
            threads: 1,
            rate: None,
            truth: None,
            truth_unit: UnitSize::Huge,
            truth_epoch: 5.0,
        }
    }

    #[test]
    fn nonsense_is_named() {
        type Breaker = fn(&mut Common);
        let breakers: [(&str, Breaker); 7] = [
            ("--seconds 0", |c| c.seconds = 0.0),
            ("--seconds NaN", |c| c.seconds = f64::NAN),
            ("--seconds inf", |c| c.seconds = f64::INFINITY),
            ("--rate -1", |c| c.rate = Some(-1.0)),
            ("--threads 0", |c| c.threads = 0),
            ("--truth-epoch 0", |c| c.truth_epoch = 0.0),
            ("--truth-epoch 0.001", |c| c.truth_epoch = 0.001),
        ];
        assert!(short(1.0).check().is_ok());
        for (expected, break_it) in breakers {
            let mut common = short(1.0);
            break_it(&mut common);
            let message = common.check().unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
