//! To which node a process is bound, by the CPUs on which its threads may run (`Cpus_allowed_list` of proc_pid_status(5)).

use crate::Host;
use crate::nodes::parse_list;
use pagetide_types::{NodeId, Pid};

/// So many threads of a process are looked at, at most.
const THREADS: usize = 256;

impl Host {
    /// The node to whose CPUs all threads of a process are bound; none where there are several, or nobody says. `node_of`: to
    /// which node a CPU belongs.
    #[must_use]
    pub fn bound_to(&self, pid: Pid, node_of: &dyn Fn(u32) -> Option<NodeId>) -> Option<NodeId> {
        let tasks = format!("proc/{pid}/task");
        let mut bound = None;
        for thread in self.entries(&tasks).unwrap_or_default().iter().take(THREADS) {
            let text = self.text(format!("{tasks}/{}/status", thread.to_string_lossy()));
            // It has ended.
            let Some(text) = text else { continue };
            let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            for cpu in parse_list(list.trim())? {
                let node = node_of(cpu)?;
                if *bound.get_or_insert(node) != node {
                    return None;
                }
            }
        }
        bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_process_is_bound_where_all_of_its_threads_are() {
        let fake = Fake::new();
        let node_of = |cpu: u32| (cpu < 8).then(|| NodeId(u16::from(cpu >= 4)));
        let bound = || fake.host().bound_to(Pid(7), &node_of);
        let thread = |thread: u32, cpus: &str| {
            let path = format!("proc/7/task/{thread}/status");
            fake.file(path, format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{cpus}\n"));
        };
        assert_eq!(bound(), None, "there is none");
        thread(7, "4-5");
        assert_eq!(bound(), Some(NodeId(1)));
        thread(8, "7");
        assert_eq!(bound(), Some(NodeId(1)));
        for other in ["3", "4-8", "nonsense"] {
            thread(9, other);
            assert_eq!(bound(), None, "{other}");
        }
    }
}
