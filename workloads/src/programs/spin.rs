//! Touches exactly known pages and no others: what a tracker tests itself against.

use crate::{
    args::{Common, choice},
    error::Result,
    live::play,
    registry::Program,
    session::Session,
};
use clap::Args;
use pagetide_access::patterns::{self, Order, Pick};
use pagetide_types::Bytes;

/// Touches some pages of a footprint, again and again, and no others
#[derive(Args, Clone, Debug)]
pub struct Spin {
    /// Memory to use in all
    #[arg(long, value_name = "BYTES", default_value = "1G")]
    pub size: Bytes,
    /// How many pages (of --page-size) to touch
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "list")]
    pub pages: u64,
    /// Which pages to choose
    #[arg(long, value_parser = choice::<Pick>(), default_value_t = Pick::Random)]
    pub pick: Pick,
    /// The pages themselves, counted from 0, instead of --pages and --pick
    #[arg(long, value_name = "N,N...", value_delimiter = ',')]
    pub list: Vec<u64>,
    /// In which order to touch them
    #[arg(long, value_parser = choice::<Order>(), default_value_t = Order::Sequential)]
    pub order: Order,
    /// See [`Common`].
    #[command(flatten)]
    pub common: Common,
}

impl Spin {
    /// The pages that this program touches, ascending, counted from the start of the range in
    /// its `ready` line.
    ///
    /// # Errors
    /// If it is asked to touch no page, or more than there are.
    pub fn picked(&self) -> Result<Vec<u64>> {
        Ok(self.pattern().picked(&self.common.setup(self.size)?)?)
    }

    fn pattern(&self) -> patterns::Spin {
        let Self { pages, pick, list, order, .. } = self.clone();
        patterns::Spin { pages, pick, list, order, page: self.common.page_size }
    }
}

impl Program for Spin {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.common.check()?;
        let more = format!("touched={}", self.picked()?.len());
        let (did, more) =
            play(session, "spin", &self.pattern(), self.size, &self.common, |_| more)?;
        session.done("spin", &did, more)
    }
}
