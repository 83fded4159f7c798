//! Who is about to take memory away says so, so that who places programs' memory (`pagetide run`) brings the hottest of
//! what has to go up itself, first. It is waited for, as long as two of its epochs, half of the time for giving back, and
//! [`LONGEST`], whatever is the least; not where nobody runs, and not where what stays has room for all that is used.

use crate::{
    Answer, Fault, Kernel, Why,
    notice::{Notice, read, read_all},
};
use nix::time::{ClockId, clock_gettime};
use pagetide_host::Host;
use pagetide_types::{Bytes, NodeId};
use serde::{Deserialize, Serialize};
use std::{io, path::PathBuf, time::Duration};

/// Where it is said what is about to leave.
const LEAVING: &str = "run/pagetide/shift/leaving";
/// Where those say so who heed that.
const HEEDING: &str = "run/pagetide/run";
/// Only root puts up such notices.
const ROOT: u32 = 0;

/// Nobody is waited for longer.
const LONGEST: Duration = Duration::from_secs(20);
/// So many epochs of one who heeds it: one may be under way, and what it decides at its end has to move.
const EPOCHS: u32 = 2;

/// Memory that is about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// Since when, nanoseconds since the boot: each announcement has another.
    pub since: u64,
    /// The node that it is of.
    pub node: NodeId,
    /// So much of it.
    pub bytes: Bytes,
}

/// One who places programs' memory, and heeds announcements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heeding {
    /// [`Leaving::since`] of the last one for which it has done what it can; 0: none.
    pub heeded: u64,
    /// How long its epochs are.
    pub epoch: Duration,
}

/// What is about to leave, by whoever is about to take it away just now.
#[must_use]
pub fn leaving(host: &Host) -> Option<Leaving> {
    let said = read(&host.path(LEAVING), ROOT)?;
    serde_json::from_str(&said).ok()
}

/// That we heed what is about to leave, for as long as this lives.
#[derive(Debug)]
pub struct Heeds {
    path: PathBuf,
    says: Heeding,
    notice: Notice,
}

impl Heeds {
    /// From now on it is waited for us, two epochs at most.
    ///
    /// # Errors
    /// When it cannot be said.
    pub fn begin(host: &Host, epoch: Duration) -> io::Result<Self> {
        let path = host.path(HEEDING).join(std::process::id().to_string());
        let says = Heeding { heeded: 0, epoch };
        let notice = Notice::put(&path, &text(&says)?)?;
        Ok(Self { path, says, notice })
    }

    /// What could be done for that announcement is done.
    ///
    /// # Errors
    /// When it cannot be said; who waits does so to the end of his time.
    pub fn heeded(&mut self, since: u64) -> io::Result<()> {
        if since != self.says.heeded {
            self.says.heeded = since;
            self.notice = Notice::put(&self.path, &text(&self.says)?)?;
        }
        Ok(())
    }
}

fn text(says: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(says)?)
}

/// Says that so much of a node is about to leave.
pub(crate) fn say(host: &Host, node: NodeId, bytes: Bytes) -> Answer<(Leaving, Notice)> {
    let fault = |error: io::Error| {
        let why = Why::Said(error.to_string());
        Fault { doing: "say what is about to leave".into(), why }
    };
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map_err(|errno| fault(errno.into()))?;
    let since = u64::try_from(Duration::from(now).as_nanos()).unwrap_or(u64::MAX);
    let leaving = Leaving { since, node, bytes };
    let notice = text(&leaving).and_then(|text| Notice::put(&host.path(LEAVING), &text));
    Ok((leaving, notice.map_err(fault)?))
}

/// All who heed it.
pub(crate) fn heeding(host: &Host) -> Vec<Heeding> {
    let said = read_all(&host.path(HEEDING), ROOT).into_iter();
    said.filter_map(|text| serde_json::from_str(&text).ok()).collect()
}

/// An announcement of ours, until [`Announced::end`].
#[derive(Debug)]
pub(crate) struct Announced {
    leaving: Leaving,
    since: Duration,
    until: Duration,
}

impl Announced {
    /// Announces that so much of a node leaves, if anybody heeds that.
    pub(crate) fn make<K: Kernel>(
        kernel: &K,
        (node, bytes): (NodeId, Bytes),
        limit: Duration,
    ) -> Option<Self> {
        let wait = patience(&kernel.heeding(), limit)?;
        let leaving = kernel
            .announce(node, bytes)
            .inspect_err(|fault| tracing::debug!(%fault, "nobody is told"))
            .ok()?;
        let since = kernel.now();
        Some(Self { leaving, since, until: since + wait })
    }

    /// The node that it is about.
    pub(crate) fn node(&self) -> NodeId {
        self.leaving.node
    }

    /// For how long it has stood.
    pub(crate) fn age<K: Kernel>(&self, kernel: &K) -> Duration {
        kernel.now() - self.since
    }

    /// Whether nobody is waited for any more: all who heed it have done what they can, what stays of the node has room
    /// for all that is used on it, or the time is over.
    pub(crate) fn is_over<K: Kernel>(&self, kernel: &K) -> bool {
        let Leaving { since, node, bytes } = self.leaving;
        kernel.now() >= self.until
            || kernel.available(node) >= bytes
            || kernel.heeding().iter().all(|it| it.heeded >= since)
    }

    /// So much is about to leave by now, if that is more; nobody has more time for it.
    pub(crate) fn grow<K: Kernel>(&mut self, kernel: &K, bytes: Bytes) {
        if bytes > self.leaving.bytes
            && let Ok(leaving) = kernel.announce(self.leaving.node, bytes)
        {
            self.leaving = leaving;
        }
    }

    /// So much has left: less is about to. None: nothing is any more.
    pub(crate) fn left<K: Kernel>(self, kernel: &K, bytes: Bytes) -> Option<Self> {
        let rest = self.leaving.bytes.saturating_sub(bytes);
        if rest == Bytes(0) {
            self.end(kernel);
            return None;
        }
        let leaving = kernel.announce(self.leaving.node, rest).unwrap_or(self.leaving);
        // Whoever heeds it has had his time.
        Some(Self { leaving, until: kernel.now(), ..self })
    }

    /// Nothing is about to leave any more.
    pub(crate) fn end<K: Kernel>(self, kernel: &K) {
        kernel.announced();
    }
}

/// How long they are waited for who heed an announcement, where giving back may take so long; none: nobody does.
fn patience(heeding: &[Heeding], limit: Duration) -> Option<Duration> {
    let longest = heeding.iter().map(|it| it.epoch).max()?;
    Some(longest.saturating_mul(EPOCHS).min(limit / 2).min(LONGEST))
}

#[cfg(test)]
#[path = "leaving_tests.rs"]
mod tests;
