//! A hot set of known size in a larger footprint: what a knee of a curve is checked against.

use crate::{
    args::{Common, choice},
    error::Result,
    live::play,
    registry::Program,
    session::Session,
};
use clap::Args;
use pagetide_access::patterns::{self, Place, Setup};
use pagetide_types::{Bytes, UnitSize};

/// A hot set in a larger footprint: random reads, hot memory `ratio` times as often as cold
#[derive(Args, Clone, Debug)]
pub struct HotCold {
    /// Memory to use in all
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// How much of it is hot
    #[arg(long, value_name = "BYTES", default_value = "200M")]
    pub hot: Bytes,
    /// How much more rarely a cold unit is accessed than a hot one
    #[arg(long, value_name = "N", default_value_t = 100.0)]
    pub ratio: f64,
    /// Where the hot set lies
    #[arg(long, value_parser = choice::<Place>(), default_value_t = Place::Random)]
    pub place: Place,
    /// Size of the pieces of a randomly placed hot set: 4K or 2M
    #[arg(long, value_name = "SIZE", default_value = "2M")]
    pub granule: UnitSize,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Program for HotCold {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        let &Self { hot, ratio, place, granule, .. } = self;
        let pattern = patterns::HotCold { hot, ratio, place, granule };
        let more = |setup: &Setup| {
            let share = pattern.hot_share(setup.size());
            format!("hot={} ratio={ratio} hot_share={share:.6}", hot.0)
        };
        let (did, more) = play(session, "hot-cold", &pattern, self.size, &self.common, more)?;
        session.done("hot-cold", &did, more)
    }
}
