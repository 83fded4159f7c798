//! Makes sure that heat can be read on this machine before anyone relies on it: capabilities,
//! the eBPF program, the self test.

use crate::bits::madv_cold::Live;
use crate::error::ScanError;
use crate::self_test::{self, Finding, Report};
use crate::walk::nodes::NodeRange;
use crate::walk::walker::Walker;
use pagetide_host::{Features, Host};
use std::fs;
use std::path::{Path, PathBuf};

/// Where a passed self test is remembered until the next boot.
pub(crate) const REMEMBERED: &str = "/run/pagetide";

/// So many builds that passed it are remembered.
const KEPT: usize = 16;

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
    refuse_confidential(features)?;
    Walker::load(&node_ranges(host)?)
}

/// Which page frames belong to which node, as the walk takes it.
pub(crate) fn node_ranges(host: &Host) -> Result<Vec<NodeRange>, ScanError> {
    let map = host.node_map().map_err(|error| ScanError::Target(error.to_string()))?;
    let range =
        |range: &pagetide_host::NodeRange| NodeRange { start_pfn: range.start.0, node: range.node };
    Ok(map.ranges().iter().map(range).collect())
}

/// Before anything is loaded: what is looked for would be found by reading all of memory.
fn refuse_confidential(features: &Features) -> Result<(), ScanError> {
    features.cpu.confidential_guest().map_or(Ok(()), |kind| Err(ScanError::Confidential(kind)))
}

/// One file per boot and build: another kernel or program is another machine.
fn remembered_at(features: &Features) -> Option<PathBuf> {
    let boot = features.boot_id.as_deref()?;
    let build = build(&fs::metadata("/proc/self/exe").ok()?);
    Some(Path::new(REMEMBERED).join(format!("self-test-{build}-{}", boot.trim())))
}

/// Tells programs apart: two builds of one version are two.
fn build(program: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let (seconds, ns) = (program.mtime(), program.mtime_nsec());
    format!("{:x}-{:x}-{seconds:x}.{ns:x}", program.ino(), program.len())
}

/// Failing to remember only costs the next start a second.
fn remember(path: &Path, summary: &str) {
    use std::os::unix::fs::DirBuilderExt;
    let directory = fs::DirBuilder::new().mode(0o700).recursive(true).create(REMEMBERED);
    if let Err(error) = directory.and_then(|()| fs::write(path, summary)) {
        tracing::debug!("the self test will run again next time: {error}");
    }
    if let Err(error) = forget_old(Path::new(REMEMBERED)) {
        tracing::debug!("what older builds passed stays remembered: {error}");
    }
}

/// Forgets builds that passed it, but for the [`KEPT`] last ones.
fn forget_old(directory: &Path) -> std::io::Result<()> {
    let mut passed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("self-test-") {
            passed.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    passed.sort();
    passed.iter().rev().skip(KEPT).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_build_of_the_same_version_is_tested_anew() {
        let directory = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| directory.path().join(name));
        fs::write(&one, "a build").unwrap();
        fs::write(&two, "another").unwrap();
        let of = |path: &Path| build(&fs::metadata(path).unwrap());
        assert_eq!(of(&one), of(&one));
        assert_ne!(of(&one), of(&two));
    }

    #[test]
    fn the_last_builds_that_passed_are_remembered_and_nothing_else_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: String| directory.path().join(name);
        fs::write(path("lock".into()), "").unwrap();
        for build in 0..KEPT + 3 {
            let file = fs::File::create(path(format!("self-test-{build}"))).unwrap();
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(build as u64);
            file.set_modified(at).unwrap();
        }
        forget_old(directory.path()).unwrap();
        let kept = |build: usize| path(format!("self-test-{build}")).exists();
        assert!((0..3).all(|old| !kept(old)) && (3..KEPT + 3).all(kept));
        assert!(path("lock".into()).exists());
    }

    #[test]
    fn a_confidential_guest_is_refused_before_anything_is_loaded() {
        let mut features = Features::default();
        assert!(refuse_confidential(&features).is_ok());
        features.cpu.encryption = vec!["tdx_guest".to_owned()];
        let refused = refuse_confidential(&features).unwrap_err();
        assert!(refused.to_string().contains("confidential guest (Intel TDX)"), "{refused}");
    }
}
