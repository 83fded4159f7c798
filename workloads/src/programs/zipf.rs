//! Objects of unequal popularity, as in caches and key-value stores.

use crate::{
    args::{Common, choice},
    error::Result,
    live::play,
    registry::Program,
    session::Session,
};
use clap::Args;
use pagetide_access::patterns::{self, Keys, Setup};
use pagetide_types::Bytes;

/// Reads objects of equal size, the k-th most popular with a probability of k^-exponent
#[derive(Args, Clone, Debug)]
pub struct Zipf {
    /// Memory to use
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// Exponent: 0 is uniform, 0.99 a usual key-value store
    #[arg(long, value_name = "X", default_value_t = 0.99)]
    pub exponent: f64,
    /// Size of an object; an access reads one word somewhere in it
    #[arg(long, value_name = "BYTES", default_value = "4K")]
    pub object: Bytes,
    /// Where popular objects lie
    #[arg(long, value_parser = choice::<Keys>(), default_value_t = Keys::InOrder)]
    pub keys: Keys,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Program for Zipf {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let &Self { exponent, object, keys, .. } = self;
        let pattern = patterns::Zipf { exponent, object, keys };
        let more = |setup: &Setup| {
            format!("objects={} exponent={exponent}", pattern.objects(setup.size()))
        };
        let (did, more) = play(session, "zipf", &pattern, self.size, &self.common, more)?;
        session.done("zipf", &did, more)
    }
}
