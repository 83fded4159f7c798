//! `pagetide run` heeds that `pagetide shift` is about to take memory away: it reads that after each epoch, and says when
//! it has done what it can for it.

use pagetide_host::Host;
use pagetide_manager::Leaving;
use pagetide_shift::Heeds;
use std::time::Duration;

/// What is about to leave the slow tier.
pub(super) fn leaving(host: &Host) -> Option<Leaving> {
    let said = pagetide_shift::leaving(host)?;
    Some(Leaving { number: said.since, node: said.node, bytes: said.bytes })
}

/// That we heed it; without where it cannot be said, and then nobody waits for us.
pub(super) struct Heeding(Option<Heeds>);

impl Heeding {
    /// Says so, for as long as this lives.
    pub(super) fn begin(host: &Host, epoch: Duration) -> Self {
        Self(Heeds::begin(host, epoch).inspect_err(unsaid).ok())
    }

    /// Nobody is to wait for us.
    pub(super) fn no() -> Self {
        Self(None)
    }

    /// After an epoch: the last announcement for which what could be done is done.
    pub(super) fn say(&mut self, heeded: Option<u64>) {
        if let (Some(heeds), Some(number)) = (&mut self.0, heeded)
            && let Err(error) = heeds.heeded(number)
        {
            unsaid(&error);
        }
    }
}

fn unsaid(error: &std::io::Error) {
    tracing::debug!(%error, "who takes memory away is not told that this run heeds it");
}
