//! For tests: a live kernel below a folder, whose helper is a shell script.

use crate::{Helper, LiveKernel};
use pagetide_host::Host;
use std::fs;

/// A folder with these files in it, and a kernel of it; `$root` is the folder in the script.
pub(crate) struct Rig {
    pub(crate) root: tempfile::TempDir,
    pub(crate) kernel: LiveKernel,
}

pub(crate) fn rig(files: &[(&str, &str)], script: &str) -> Rig {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let script = format!("root={}\n{script}", root.path().display());
    let helper = Helper(["sh".into(), "-c".into(), script.into()].to_vec());
    let kernel = LiveKernel::new(Host::new(root.path()), helper, false);
    Rig { root, kernel }
}
