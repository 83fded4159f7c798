//! Makes sure that heat can be read on this machine before anyone relies on it: capabilities,
//! the eBPF program, the self test.

use crate::bits::live::Live;
use crate::error::ScanError;
use crate::self_test::{self, Finding, Report};
use crate::walk::nodes::NodeRange;
use crate::walk::walker::Walker;
use pagetide_host::{Features, Host};
use std::fs;
use std::path::{Path, PathBuf};

/// Where a passed self test is remembered until the next boot.
const REMEMBERED: &str = "/run/pagetide";

/// A loaded and tested scan.
pub struct Observer {
    pub(crate) walker: Walker,
    summary: String,
}

impl Observer {
    /// Loads the scan. The self test runs unless this version passed it since the last boot.
    /// `features` are those of `host`.
    ///
    /// # Errors
    /// When a capability is missing, the kernel refuses, or the self test fails.
    pub fn start(host: &Host, features: &Features) -> Result<Self, ScanError> {
        let walker = load(host, features)?;
        let note = remembered_at(features);
        if let Some(summary) = note.as_deref().and_then(|path| fs::read_to_string(path).ok()) {
            return Ok(Self { walker, summary });
        }
        let (walker, report) = self_test::run(Live::new(walker), features.available)?;
        if let Some(bad) = report.findings.iter().find(|finding| !finding.passed()) {
            return Err(ScanError::Blind(bad.to_string()));
        }
        if report.findings.iter().all(|finding| finding.skipped.is_some()) {
            return Err(ScanError::Blind("no test could run, too little memory is free".into()));
        }
        let summary = report.to_string();
        if let Some(path) = note {
            remember(&path, &summary);
        }
        Ok(Self { walker, summary })
    }

    /// What the self test found, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        self.summary.clone()
    }
}

/// Loads the scan and runs the whole self test, whatever was remembered. `features` are those of
/// `host`.
///
/// # Errors
/// When a capability is missing or the kernel refuses; a failed test is in the report.
pub fn self_test(host: &Host, features: &Features) -> Result<Vec<Finding>, ScanError> {
    let live = Live::new(load(host, features)?);
    let (_, report): (Walker, Report) = self_test::run(live, features.available)?;
    Ok(report.findings)
}

fn load(host: &Host, features: &Features) -> Result<Walker, ScanError> {
    if !features.capabilities.lacking().is_empty() {
        return Err(ScanError::lacking_rights(features));
    }
    let map = host.node_map().map_err(|error| ScanError::Target(error.to_string()))?;
    let ranges: Vec<NodeRange> = map
        .ranges()
        .iter()
        .map(|range| NodeRange { start_pfn: range.start.0, node: range.node })
        .collect();
    Walker::load(&ranges)
}

/// One file per boot and build: another kernel or version is another machine.
fn remembered_at(features: &Features) -> Option<PathBuf> {
    let boot = features.boot_id.as_deref()?;
    let name = format!("self-test-{}-{}", env!("CARGO_PKG_VERSION"), boot.trim());
    Some(Path::new(REMEMBERED).join(name))
}

/// Failing to remember only costs the next start a second.
fn remember(path: &Path, summary: &str) {
    use std::os::unix::fs::DirBuilderExt;
    let directory = fs::DirBuilder::new().mode(0o700).recursive(true).create(REMEMBERED);
    if let Err(error) = directory.and_then(|()| fs::write(path, summary)) {
        tracing::debug!("the self test will run again next time: {error}");
    }
}
