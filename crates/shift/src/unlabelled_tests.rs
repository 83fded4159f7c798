//! A region without labels, of a kernel whose helper is a script.

use super::*;
use crate::shell_helper::Rig;
use std::fs::File;

/// `/dev/pmem0`, and what a helper does that reads it. In that `$root/users` is what another helper says of who has it
/// open.
fn rig(script: &str) -> Rig {
    // We have it open ourselves.
    let users = format!("[[{},\"we\"]]", std::process::id());
    let zeros = "\0".repeat(8192);
    let files =
        [("dev/pmem0", &*zeros), ("sys/class/block/pmem0/dev", "259:0\n"), ("users", &users)];
    let say =
        "if [ $1 = blocks ]; then while read line; do echo done $(cat $root/users); done; exit; fi";
    crate::shell_helper::rig(&files, &format!("{say}\n{script}"))
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
