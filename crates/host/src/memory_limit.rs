//! What the memory limits of our own cgroup leave: in a container the kernel kills long before the
//! machine's memory is used up (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst).

use crate::{CgroupVersion, Host};
use pagetide_types::Bytes;
use std::path::Path;

/// The files of a cgroup: its limit, its use, and what of `memory.stat` can be dropped.
const V1: [&str; 3] = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
const V2: [&str; 3] = ["memory.max", "memory.current", "inactive_file"];

impl Host {
    /// How much more this process may use under the limits of its cgroup and of those above it;
    /// none where nothing limits it, or nobody can tell.
    #[must_use]
    pub fn memory_left(&self) -> Option<Bytes> {
        let hierarchies = self.cgroup_hierarchies().ok()?;
        let of_memory = hierarchies.into_iter().find(|hierarchy| hierarchy.has("memory"))?;
        let own = self.text("proc/self/cgroup")?;
        let path = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let listed = controllers.split(',').any(|name| name == "memory");
            (listed || of_memory.version == CgroupVersion::V2 && controllers.is_empty())
                .then_some(Path::new(path))
        })?;
        // In a namespace of cgroups, our own may be mounted as if it were the root.
        let within = path.strip_prefix("/").unwrap_or(path);
        let directories = within.ancestors().map(|ancestor| of_memory.mount.join(ancestor));
        directories.filter_map(|dir| self.left_in(&dir, of_memory.version)).min()
    }

    fn left_in(&self, dir: &Path, version: CgroupVersion) -> Option<Bytes> {
        let [limit, used, droppable] = if version == CgroupVersion::V1 { V1 } else { V2 };
        let number = |file: &str| self.text(dir.join(file))?.parse::<u64>().ok();
        let (limit, used) = (number(limit)?, number(used)?);
        let stat = self.text(dir.join("memory.stat")).unwrap_or_default();
        let droppable = stat
            .lines()
            .find_map(|line| line.strip_prefix(droppable)?.trim().parse().ok())
            .unwrap_or(0);
        Some(Bytes(limit.saturating_sub(used.saturating_sub(droppable))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const MIB: u64 = 1 << 20;

    fn v2() -> Fake {
        let fake = Fake::new();
        fake.file("proc/self/mountinfo", "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
            .file("proc/self/cgroup", "0::/docker/abc\n")
            .file("sys/fs/cgroup/docker/memory.max", "max\n")
            .file("sys/fs/cgroup/docker/abc/memory.max", format!("{}\n", 800 * MIB))
            .file("sys/fs/cgroup/docker/abc/memory.current", format!("{}\n", 600 * MIB))
            .file(
                "sys/fs/cgroup/docker/abc/memory.stat",
                format!("anon 1\ninactive_file {}\ninactive_anon 7\n", 100 * MIB),
            );
        fake
    }

    #[test]
    fn the_tightest_limit_counts_less_what_is_used_and_cannot_be_dropped() {
        let fake = v2();
        assert_eq!(fake.host().memory_left(), Some(Bytes::mib(300)));
        fake.file("sys/fs/cgroup/docker/memory.max", format!("{}\n", 700 * MIB))
            .file("sys/fs/cgroup/docker/memory.current", format!("{}\n", 650 * MIB));
        assert_eq!(fake.host().memory_left(), Some(Bytes::mib(50)));
        fake.file("sys/fs/cgroup/docker/memory.current", format!("{}\n", 750 * MIB));
        assert_eq!(fake.host().memory_left(), Some(Bytes(0)), "above the limit");
    }

    #[test]
    fn our_own_may_look_like_the_root() {
        let fake = v2();
        // What a container with a namespace of cgroups sees.
        fake.file("proc/self/cgroup", "0::/\n")
            .file("sys/fs/cgroup/memory.max", format!("{}\n", 64 * MIB))
            .file("sys/fs/cgroup/memory.current", format!("{}\n", 16 * MIB));
        assert_eq!(fake.host().memory_left(), Some(Bytes::mib(48)));
    }

    #[test]
    fn version_1_beside_an_empty_version_2() {
        let fake = Fake::new();
        fake.file(
            "proc/self/mountinfo",
            "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        )
        .file("proc/self/cgroup", "4:memory:/a/b\n1:cpu:/\n0::/\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        .file("sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n");
        let unlimited = fake.host().memory_left();
        assert!(unlimited > Some(Bytes::gib(1 << 20)), "{unlimited:?}");
        fake.file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", format!("{}\n", 90 * MIB))
            .file("sys/fs/cgroup/memory/a/memory.usage_in_bytes", format!("{}\n", 80 * MIB))
            .file("sys/fs/cgroup/memory/a/memory.stat", format!("total_inactive_file {MIB}\n"));
        assert_eq!(fake.host().memory_left(), Some(Bytes::mib(11)));
    }

    #[test]
    fn without_a_limit_there_is_none() {
        let fake = v2();
        fake.file("proc/self/cgroup", "0::/user.slice\n");
        assert_eq!(fake.host().memory_left(), None);
        assert_eq!(Fake::new().host().memory_left(), None);
    }
}
