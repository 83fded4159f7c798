//! Families of processes: children, descendants, and what they used together.

use crate::{Error, Host, files::decimal};
use pagetide_types::Pid;
use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::MetadataExt,
    time::Duration,
};

/// Reading the children of a thread takes 30 us or so, and a process may have tens of thousands.
const MANY_THREADS: u64 = 1000;

impl Host {
    /// Every process of the host, ascending; ended ones that wait to be collected included.
    ///
    /// # Errors
    /// When `/proc` cannot be listed.
    pub fn pids(&self) -> Result<Vec<Pid>, Error> {
        let names = self.entries("proc")?;
        let mut pids: Vec<Pid> =
            names.iter().filter_map(|name| pid(name.as_encoded_bytes())).collect();
        pids.sort_unstable();
        Ok(pids)
    }

    /// Living children, ascending. A child whose parent ended belongs to whoever adopted it:
    /// follow a family from its start to keep these.
    ///
    /// # Errors
    /// [`Error::NoProcess`] when there is none by that number.
    pub fn children(&self, parent: Pid) -> Result<Vec<Pid>, Error> {
        match self.children_listed(parent)? {
            Some(children) => Ok(children),
            None => Ok(self.parents()?.remove(&parent).unwrap_or_default()),
        }
    }

    /// `roots` and all their descendants, ascending, each once. Processes that are gone,
    /// roots included, are left out.
    ///
    /// # Errors
    /// When a process that is there cannot be read.
    pub fn family(&self, roots: &[Pid]) -> Result<Vec<Pid>, Error> {
        let mut found = BTreeSet::new();
        let mut todo = roots.to_vec();
        let mut parents = None; // of all processes; needed only by kernels without `children`
        while let Some(next) = todo.pop() {
            if found.contains(&next) {
                continue;
            }
            match self.children_listed(next) {
                Ok(Some(children)) => todo.extend(children),
                Ok(None) => {
                    let parents: &BTreeMap<Pid, Vec<Pid>> = match &parents {
                        Some(parents) => parents,
                        None => parents.insert(self.parents()?),
                    };
                    todo.extend(parents.get(&next).into_iter().flatten());
                }
                Err(Error::NoProcess(_)) => continue,
                Err(error) => return Err(error),
            }
            found.insert(next);
        }
        Ok(found.into_iter().collect())
    }

    /// CPU time of these processes and of their ended, waited-for children, in steps of 10 ms.
    /// With a whole [`family`](Self::family) nothing is missed or counted twice, except what
    /// ended without being waited for.
    #[must_use]
    pub fn cpu_of(&self, pids: &[Pid]) -> Duration {
        let used = pids.iter().filter_map(|&pid| self.process(pid).ok());
        used.map(|process| process.cpu + process.waited_cpu).sum()
    }

    /// Children by `/proc/PID/task/TID/children`; none where the kernel lacks these files, or there are so many of
    /// them that reading all processes is less.
    fn children_listed(&self, parent: Pid) -> Result<Option<Vec<Pid>>, Error> {
        let tasks = format!("proc/{parent}/task");
        // A folder has as many links as there are folders in it, and two.
        if self.path(&tasks).metadata().is_ok_and(|folder| folder.nlink() > MANY_THREADS + 2) {
            return Ok(None);
        }
        let mut children = Vec::new();
        for task in self.entries(&tasks).map_err(|error| self.gone(parent, error))? {
            let path = format!("{tasks}/{}/children", task.to_string_lossy());
            match self.read(&path) {
                Ok(bytes) => {
                    let words = bytes.split(u8::is_ascii_whitespace);
                    children.extend(words.filter_map(pid));
                }
                // The thread has ended, or the kernel has no such file.
                Err(Error::Read { .. }) if !self.path(&path).with_file_name("stat").exists() => {}
                Err(Error::Read { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        children.sort_unstable();
        children.dedup();
        Ok(Some(children))
    }

    /// Children of every process, by reading all of them.
    fn parents(&self) -> Result<BTreeMap<Pid, Vec<Pid>>, Error> {
        let mut children: BTreeMap<Pid, Vec<Pid>> = BTreeMap::new();
        for pid in self.pids()? {
            if let Ok(process) = self.process(pid) {
                children.entry(process.parent).or_default().push(pid);
            }
        }
        Ok(children)
    }
}

/// A process number, as procfs and cgroups write it.
pub(crate) fn pid(bytes: &[u8]) -> Option<Pid> {
    let number = decimal(bytes)?;
    i32::try_from(number).ok().filter(|&number| number > 0).map(Pid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    /// 1 -> 10 -> {20, 21 (by the second thread)}, 21 -> 30; 11 stands alone under 1.
    fn family(listed: bool) -> Fake {
        let fake = Fake::new();
        for (pid, parent) in [(1, 0), (10, 1), (11, 1), (20, 10), (21, 10), (30, 21)] {
            fake.process(pid, "p", parent);
            fake.file(format!("proc/{pid}/task/{pid}/stat"), "");
        }
        fake.file("proc/10/task/15/stat", "");
        fake.dir("proc/sys/vm").file("proc/uptime", "1 1");
        if listed {
            for (path, children) in [
                ("1/task/1", "10 11 "),
                ("10/task/10", "20 "),
                ("10/task/15", "21 "),
                ("11/task/11", ""),
                ("20/task/20", ""),
                ("21/task/21", "30 "),
                ("30/task/30", ""),
            ] {
                fake.file(format!("proc/{path}/children"), children);
            }
        }
        fake
    }

    #[test]
    fn with_and_without_children_files() {
        for listed in [true, false] {
            let fake = family(listed);
            let host = fake.host();
            assert_eq!(host.pids().unwrap(), [1, 10, 11, 20, 21, 30].map(Pid));
            assert_eq!(host.children(Pid(10)).unwrap(), [20, 21].map(Pid), "listed {listed}");
            assert_eq!(host.children(Pid(30)).unwrap(), []);
            assert_eq!(host.family(&[Pid(10)]).unwrap(), [10, 20, 21, 30].map(Pid));
            assert_eq!(host.family(&[Pid(21), Pid(10)]).unwrap(), [10, 20, 21, 30].map(Pid));
            assert_eq!(host.family(&[Pid(99)]).unwrap(), []);
            assert!(matches!(host.children(Pid(99)), Err(Error::NoProcess(Pid(99)))));
            let used = host.cpu_of(&host.family(&[Pid(10)]).unwrap());
            assert_eq!(used, Duration::from_millis(4 * 260));
        }
    }

    #[test]
    fn of_a_process_with_very_many_threads_not_each_is_asked() {
        let fake = family(true);
        // Were each asked, it would have no children.
        fake.file("proc/10/task/10/children", "").file("proc/10/task/15/children", "");
        for thread in 100..=100 + MANY_THREADS {
            fake.file(format!("proc/10/task/{thread}/children"), "");
        }
        let links = fake.host().path("proc/10/task").metadata().unwrap().nlink();
        if links <= MANY_THREADS {
            // Not every file system counts folders so; that of processes does.
            return;
        }
        assert_eq!(fake.host().children(Pid(10)).unwrap(), [20, 21].map(Pid));
        assert_eq!(fake.host().family(&[Pid(10)]).unwrap(), [10, 20, 21, 30].map(Pid));
    }

    #[test]
    fn a_loop_ends() {
        let fake = family(true);
        fake.file("proc/30/task/30/children", "10 30 ");
        assert_eq!(fake.host().family(&[Pid(10)]).unwrap(), [10, 20, 21, 30].map(Pid));
    }

    #[test]
    fn follows_a_child_of_ours() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let host = Host::live();
        let me = Pid(i32::try_from(std::process::id()).unwrap());
        let pid = Pid(i32::try_from(child.id()).unwrap());
        let children = host.children(me).unwrap();
        let family = host.family(&[me]).unwrap();
        let id = host.process(pid).unwrap().id;
        child.kill().unwrap();
        assert!(children.contains(&pid) && family.contains(&pid) && family.contains(&me));
        child.wait().unwrap();
        assert!(!host.is_alive(id));
    }
}
