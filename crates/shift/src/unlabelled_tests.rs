//! A region without labels, of a kernel whose helper is a script.

use super::*;
use crate::Helper;
use pagetide_host::Host;
use std::fs::{self, File};

struct Rig {
    root: tempfile::TempDir,
    kernel: LiveKernel,
}

/// `/dev/pmem0`, and what a helper does that reads it. In that `$root` is the folder of everything, and `$root/users` is
/// what another helper says of who has it open.
fn rig(script: &str) -> Rig {
    let root = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("dev/pmem0", &"\0".repeat(8192));
    file("sys/class/block/pmem0/dev", "259:0\n");
    // We have it open ourselves.
    file("users", &format!("[[{},\"we\"]]", std::process::id()));
    let script = format!(
        "root={}
        if [ $1 = blocks ]; then while read line; do echo done $(cat $root/users); done; exit; fi
        {script}",
        root.path().display()
    );
    let helper = Helper(["sh".into(), "-c".into(), script.into()].to_vec());
    let kernel = LiveKernel::new(Host::new(root.path()), helper, false);
    Rig { root, kernel }
}

impl Rig {
    fn look(&self) -> Result<Unclaimed, PrepareError> {
        let namespace = Namespace {
            name: "namespace0.0".into(),
            size: Bytes(8192),
            mode: "raw".into(),
            uuid: None,
            block_device: Some("pmem0".into()),
            unlabelled: true,
        };
        let region = Region {
            name: "region0".into(),
            size: Bytes(8192),
            largest_free: Bytes(0),
            modules: Vec::new(),
            namespaces: vec![namespace.clone()],
        };
        is_empty(&self.kernel, &region, &namespace)
    }
    fn refused(&self, because: &str) {
        let error = self.look().unwrap_err().to_string();
        assert!(error.contains("namespace0.0") && error.contains(because), "{error}");
    }
}

#[test]
fn who_reads_it_for_us_is_given_it_open_and_is_not_taken_for_another() {
    let rig = rig("[ $(dd bs=4096 2>$root/dd | wc -c) = 8192 ] && echo done");
    rig.look().unwrap().let_go().unwrap();
}

#[test]
fn what_is_on_it_is_told() {
    rig("echo done 4096").refused("holds data (the first at byte 4096)");
    rig("echo errno 5").refused("cannot be read whole");
}

#[test]
fn who_has_it_open_before_or_after_it_is_read_is_named() {
    let dd = r#"echo '[[7,"dd"]]' >$root/users"#;
    let rig = rig(&format!("{dd}; echo done"));
    rig.refused("is open in dd (7)");
    rig.refused("is open in dd (7)");
}

#[test]
fn who_writes_to_it_and_closes_it_while_it_is_read_is_noticed() {
    rig("echo x >$root/dev/pmem0; echo done").refused("opened or closed by somebody");
    let rig = rig("echo done");
    let before = File::open(rig.root.path().join("dev/pmem0")).unwrap();
    let unclaimed = rig.look().unwrap();
    drop(before);
    unclaimed.let_go().unwrap_err();
}
