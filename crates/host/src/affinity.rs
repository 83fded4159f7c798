//! Which CPUs a process may run on (`Cpus_allowed_list` of proc_pid_status(5)).

use crate::Host;
use crate::nodes::parse_list;
use pagetide_types::Pid;
use std::collections::BTreeSet;

/// So many threads of a process are looked at.
const THREADS: usize = 64;

impl Host {
    /// The CPUs that threads of a process may run on, ascending: what those of some may, evenly chosen where there are many.
    /// Empty where nobody says.
    #[must_use]
    pub fn allowed_cpus(&self, pid: Pid) -> Vec<u32> {
        let tasks = format!("proc/{pid}/task");
        let threads = self.entries(&tasks).unwrap_or_default();
        let mut cpus = BTreeSet::new();
        for thread in threads.iter().step_by(threads.len().div_ceil(THREADS).max(1)) {
            let text = self.text(format!("{tasks}/{}/status", thread.to_string_lossy()));
            let text = text.unwrap_or_default();
            let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            cpus.extend(list.and_then(|list| parse_list(list.trim())).unwrap_or_default());
        }
        cpus.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_process_may_run_where_any_of_its_threads_may() {
        let fake = Fake::new();
        assert_eq!(fake.host().allowed_cpus(Pid(7)), [0; 0]);
        for (thread, cpus) in [(7, "0-1"), (8, "1,5"), (9, "nonsense")] {
            let path = format!("proc/7/task/{thread}/status");
            fake.file(path, format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{cpus}\n"));
        }
        assert_eq!(fake.host().allowed_cpus(Pid(7)), [0, 1, 5]);
        for thread in 100..1000 {
            fake.file(format!("proc/7/task/{thread}/status"), "Cpus_allowed_list:\t2\n");
        }
        assert!(fake.host().allowed_cpus(Pid(7)).contains(&2));
        assert!(!Host::live().allowed_cpus(Pid(1)).is_empty());
    }
}
