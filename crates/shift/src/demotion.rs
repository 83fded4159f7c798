//! The kernel's demotion: pages that DRAM has no room for move to slower memory before they are swapped
//! (Documentation/ABI/testing/sysfs-kernel-mm-numa).
//!
//! Without it a DRAM node swaps as soon as its own pages run short, although the memory that was added behind it is
//! free: the kernel's own memory cannot lie there (it is for movable pages), so it is asked of DRAM alone.

use crate::{Answer, Fault, Why, helper::write_word};
use pagetide_host::Host;
use std::path::PathBuf;

/// Demotion as it was before us, put back when this is dropped.
#[derive(Debug)]
pub struct Demotion {
    path: PathBuf,
    was: bool,
}

impl Demotion {
    /// Switches it on.
    ///
    /// # Errors
    /// When the kernel has no demotion, or does not let us.
    pub fn on(host: &Host) -> Answer<Self> {
        let doing = "switch the kernel's demotion on";
        let fault = |why| Fault { doing: doing.to_owned(), why };
        let was = host.demotes().ok_or_else(|| {
            fault(Why::Said(
                "this kernel has none (6.1 and later, CONFIG_NUMA, CONFIG_MIGRATION)".into(),
            ))
        })?;
        let path = path(host);
        write_word(&path, "true").map_err(|error| fault(Why::Said(error.to_string())))?;
        Ok(Self { path, was })
    }
}

impl Drop for Demotion {
    fn drop(&mut self) {
        let word = if self.was { "true" } else { "false" };
        if let Err(error) = write_word(&self.path, word) {
            tracing::warn!(%error, "the kernel's demotion stays on: {}", self.path.display());
        }
    }
}

fn path(host: &Host) -> PathBuf {
    host.path("sys/kernel/mm/numa/demotion_enabled")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn it_is_put_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::new(folder.path());
        assert_eq!(host.demotes(), None);
        let error = Demotion::on(&host).unwrap_err().to_string();
        assert!(error.contains("this kernel has none"), "{error}");
        fs::create_dir_all(path(&host).parent().unwrap()).unwrap();
        for (was, is) in [("false", false), ("true", true)] {
            // As long as what is written: sysfs has no ends of files.
            fs::write(path(&host), was).unwrap();
            let on = Demotion::on(&host).unwrap();
            assert!(fs::read_to_string(path(&host)).unwrap().starts_with("true"));
            drop(on);
            assert_eq!(host.demotes(), Some(is), "{was}");
        }
    }
}
