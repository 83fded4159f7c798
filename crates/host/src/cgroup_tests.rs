//! Tests of cgroup look-up on fake trees of both versions.

use super::*;
use crate::fake::Fake;

const V2: &str = "sys/fs/cgroup";

fn v2() -> Fake {
    let fake = Fake::new();
    fake.file(
        "proc/self/mountinfo",
        "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
    );
    fake.file(format!("{V2}/cgroup.controllers"), "cpu memory pids\n");
    for (dir, procs) in [
        ("", "1\n2\n"),
        ("system.slice", ""),
        ("system.slice/redis-server.service", "70\n71\n"),
        ("system.slice/redis-server.service/inner", "72\n0\n71\n"),
        ("system.slice/nginx.service", "80\n"),
        ("user.slice", ""),
        ("user.slice/two words", "90\n"),
    ] {
        fake.file(format!("{V2}/{dir}/cgroup.procs"), procs);
    }
    fake.dir(format!("{V2}/not-a-cgroup"));
    fake
}

/// As systemd's hybrid mode has it: version 2 mounted beside version 1, and empty.
fn hybrid() -> Fake {
    let fake = Fake::new();
    fake.file(
        "proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
         32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
         35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
         40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n\
         41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    );
    for (dir, procs) in [
        ("cpu", "5\n"),
        ("cpu/docker/abc", "6\n"),
        ("memory", "5\n"),
        ("memory/docker/abc", "6\n7\n"),
        ("systemd", "5\n"),
        ("unified", "5\n"),
        ("unified/docker/abc", ""),
    ] {
        fake.file(format!("{V2}/{dir}/cgroup.procs"), procs);
    }
    fake
}

fn members(fake: &Fake, given: &str) -> Vec<i32> {
    let host = fake.host();
    host.members(&host.cgroup(given).unwrap()).unwrap().iter().map(|pid| pid.0).collect()
}

#[test]
fn the_ways_to_write_a_path() {
    let fake = v2();
    for given in [
        "system.slice/redis-server.service",
        "/system.slice/redis-server.service",
        "./system.slice/redis-server.service/",
        "/sys/fs/cgroup/system.slice/redis-server.service",
        "/sys/fs/cgroup//system.slice/redis-server.service/",
    ] {
        let cgroup = fake.host().cgroup(given).unwrap();
        assert_eq!(cgroup.version, CgroupVersion::V2);
        assert_eq!(cgroup.dir, Path::new("/sys/fs/cgroup/system.slice/redis-server.service"));
        assert_eq!(cgroup.name, Path::new("/system.slice/redis-server.service"));
        assert_eq!(members(&fake, given), [70, 71, 72], "{given}");
    }
    assert_eq!(members(&fake, "user.slice/two words"), [90]);
    assert_eq!(members(&fake, "/"), [1, 2, 70, 71, 72, 80, 90]);
}

#[test]
fn an_inhabited_hierarchy_wins() {
    let fake = hybrid();
    let cgroup = fake.host().cgroup("/docker/abc").unwrap();
    assert_eq!(cgroup.dir, Path::new("/sys/fs/cgroup/memory/docker/abc"));
    assert_eq!(members(&fake, "docker/abc"), [6, 7]);
    assert_eq!(members(&fake, "/sys/fs/cgroup/cpu/docker/abc"), [6]);
    let empty = fake.host().cgroup("/sys/fs/cgroup/unified/docker/abc").unwrap();
    assert_eq!(empty.version, CgroupVersion::V2);
    let found = fake.host().cgroup_hierarchies().unwrap();
    let mounts: Vec<_> = found.iter().map(|h| h.mount.to_str().unwrap()).collect();
    assert_eq!(mounts[..2], ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"]);
    assert!(found.iter().any(|h| h.controllers == ["name=systemd"]));
}

#[test]
fn suggests_names() {
    let fake = v2();
    for (given, suggested) in [
        ("redis", "did you mean system.slice/redis-server.service?"),
        ("system.slice/redis.service", "did you mean system.slice/redis-server.service?"),
        (
            "system.slice/zzz",
            "no name is like it; cgroups near there: system.slice/nginx.service, ",
        ),
        ("zzz", "near there: not-a-cgroup, system.slice, user.slice (systemd-cgls shows all)"),
        ("../../etc", "near there: "),
        ("not-a-cgroup", "did you mean not-a-cgroup?"),
    ] {
        let message = fake.host().cgroup(given).unwrap_err().to_string();
        let head = format!("there is no cgroup '{given}' below /sys/fs/cgroup; ");
        assert!(message.starts_with(&head) && message.contains(suggested), "{message}");
    }
}

#[test]
fn without_any_hierarchy() {
    let fake = Fake::new();
    fake.file("proc/self/mountinfo", "31 23 0:28 / /tmp rw - tmpfs tmpfs rw\n");
    let message = fake.host().cgroup("x").unwrap_err().to_string();
    assert!(message.contains("no cgroup file system is mounted"), "{message}");
}

#[test]
fn a_cgroup_that_vanished_is_an_error_a_child_is_not() {
    let fake = v2();
    let host = fake.host();
    let cgroup = host.cgroup("system.slice").unwrap();
    fs::remove_file(fake.path(format!("{V2}/system.slice/nginx.service/cgroup.procs"))).unwrap();
    assert_eq!(members(&fake, "system.slice"), [70, 71, 72]);
    fs::remove_dir_all(fake.path(format!("{V2}/system.slice"))).unwrap();
    assert!(matches!(host.members(&cgroup), Err(Error::Read { .. })));
}

#[test]
fn finds_our_own_cgroup() {
    let host = Host::live();
    let Some(hierarchy) = host.cgroup_hierarchies().unwrap().pop() else {
        eprintln!("SKIPPED finds_our_own_cgroup: no cgroup file system is mounted here");
        return;
    };
    let me = Pid(i32::try_from(std::process::id()).unwrap());
    let root = host.cgroup(hierarchy.mount.to_str().unwrap()).unwrap();
    assert!(host.members(&root).unwrap().contains(&me), "{root:?}");
}
