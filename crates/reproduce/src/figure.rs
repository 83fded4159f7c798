//! A published figure, table or section: what it is called, and how it is made again.

use crate::{Context, Outcome, ReproduceError};

/// One published figure.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// As in the paper: `8`, `table-2`, `4.5.1`. Unique within the paper.
    pub id: &'static str,
    /// What it shows, one line.
    pub title: &'static str,
    /// Where in the paper: the section.
    pub source: &'static str,
    /// Takes more than some minutes at the paper's usual scale: it runs only if it is asked for.
    pub slow: bool,
    /// Makes it again. With [`Context::small`] it is done within seconds.
    pub run: fn(&Context) -> Result<Outcome, ReproduceError>,
}

impl Figure {
    /// Makes it again in as many threads as the context says.
    ///
    /// # Errors
    /// What its own function says; that threads cannot be started.
    pub fn make(&self, context: &Context) -> Result<Outcome, ReproduceError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(context.threads).build()?;
        pool.install(|| (self.run)(context))
    }
}
