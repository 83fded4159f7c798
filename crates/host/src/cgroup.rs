//! Control groups of both versions: found by the path that a user writes, and their processes.

use crate::{Error, Host, Mount, files::fault, tree::pid};
use pagetide_types::Pid;
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
};

/// Which of the kernel's two interfaces a hierarchy has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One hierarchy per controller.
    V1,
    /// One hierarchy for all.
    V2,
}

/// A mounted tree of cgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// Which interface.
    pub version: CgroupVersion,
    /// Where it is mounted.
    pub mount: PathBuf,
    /// Version 1: what it controls (`memory`, `name=systemd`). Version 2: its controllers.
    pub controllers: Vec<String>,
}

/// A cgroup that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// Which interface.
    pub version: CgroupVersion,
    /// Its directory on the host, e.g. `/sys/fs/cgroup/system.slice/x.service`.
    pub dir: PathBuf,
    /// Its path within the hierarchy, e.g. `/system.slice/x.service`.
    pub name: PathBuf,
}

/// No tree of cgroups is deeper; a bind mount of one within itself would be.
const DEEPEST: usize = 64;

impl Host {
    /// The mounted hierarchies, those that hold memory first: version 2, then the memory
    /// controller of version 1, then the others.
    ///
    /// # Errors
    /// When the list of mounts cannot be read.
    pub fn cgroup_hierarchies(&self) -> Result<Vec<Hierarchy>, Error> {
        let mut found: Vec<Hierarchy> =
            self.mounts()?.into_iter().filter_map(|mount| self.hierarchy(mount)).collect();
        found.sort_by_key(|h| (h.version == CgroupVersion::V1, !h.has("memory")));
        Ok(found)
    }

    fn hierarchy(&self, mount: Mount) -> Option<Hierarchy> {
        let (version, controllers) = match mount.kind.as_str() {
            "cgroup" => {
                let flags = ["rw", "ro", "xattr", "noprefix", "clone_children", "seclabel"];
                let keep = |option: &String| !flags.contains(&option.as_str());
                (CgroupVersion::V1, mount.options.into_iter().filter(keep).collect())
            }
            "cgroup2" => {
                let list = self.text(mount.point.join("cgroup.controllers")).unwrap_or_default();
                (CgroupVersion::V2, list.split_whitespace().map(str::to_owned).collect())
            }
            _ => return None,
        };
        Some(Hierarchy { version, mount: mount.point, controllers })
    }

    /// Finds the cgroup that a user means: a directory (`/sys/fs/cgroup/...`) or a path within
    /// a hierarchy, with or without a leading slash (`system.slice/x.service`, `/docker/abc`).
    /// Where several hierarchies have it, one that holds processes wins.
    ///
    /// # Errors
    /// [`Error::NoCgroup`] with similar names when there is none.
    pub fn cgroup(&self, given: &str) -> Result<Cgroup, Error> {
        let hierarchies = self.cgroup_hierarchies()?;
        let mut found: Vec<Cgroup> = Vec::new();
        if let Some(path) = within(Path::new(given)) {
            for hierarchy in &hierarchies {
                let mount = hierarchy.mount.strip_prefix("/").unwrap_or(&hierarchy.mount);
                let relative = path.strip_prefix(mount).unwrap_or(&path);
                let dir = hierarchy.mount.join(relative);
                if self.path(&dir).join("cgroup.procs").exists() {
                    let name = Path::new("/").join(relative);
                    found.push(Cgroup { version: hierarchy.version, dir, name });
                }
            }
        }
        let inhabited = |cgroup: &Cgroup| self.members(cgroup).is_ok_and(|pids| !pids.is_empty());
        match found.iter().position(inhabited).or_else(|| (!found.is_empty()).then_some(0)) {
            Some(best) => Ok(found.swap_remove(best)),
            None => {
                let (candidates, alike) = self.similar(&hierarchies, given);
                Err(Error::NoCgroup {
                    given: given.to_owned(),
                    candidates,
                    alike,
                    looked_in: hierarchies.into_iter().map(|h| h.mount).collect(),
                })
            }
        }
    }

    /// Processes of a cgroup and of all below it, ascending, each once. Threaded cgroups of
    /// version 2 are passed over: their processes are listed by the cgroup that owns them.
    ///
    /// # Errors
    /// When the cgroup is gone or may not be read; a child that vanishes meanwhile is no error.
    pub fn members(&self, cgroup: &Cgroup) -> Result<Vec<Pid>, Error> {
        let mut pids = BTreeSet::new();
        self.collect_members(&self.path(&cgroup.dir), 0, &mut pids)?;
        Ok(pids.into_iter().collect())
    }

    fn collect_members(
        &self,
        dir: &Path,
        depth: usize,
        pids: &mut BTreeSet<Pid>,
    ) -> Result<(), Error> {
        let procs = dir.join("cgroup.procs");
        match fs::read(&procs) {
            // 0 stands for a process that our PID namespace does not see.
            Ok(bytes) => pids.extend(bytes.split(u8::is_ascii_whitespace).filter_map(pid)),
            Err(error) if error.raw_os_error() == Some(EOPNOTSUPP) => {}
            Err(error) if vanished(&error) && depth > 0 => return Ok(()),
            Err(error) => return Err(fault(procs, error)),
        }
        if depth < DEEPEST {
            for child in subdirectories(dir) {
                self.collect_members(&child, depth + 1, pids)?;
            }
        }
        Ok(())
    }

    /// Names to suggest: those that hold the last word of what was given (or are held by it),
    /// else the neighbours in the deepest directory that exists. And which of both.
    fn similar(&self, hierarchies: &[Hierarchy], given: &str) -> (Vec<String>, bool) {
        const SHOWN: usize = 8;
        const SEARCHED: usize = 20_000;
        let given = within(Path::new(given)).unwrap_or_default();
        let word = given.file_name().map(|n| n.to_string_lossy().to_lowercase());
        let word = word.unwrap_or_default();
        let stem = word.split('.').next().unwrap_or_default().to_owned();
        let (mut alike, mut neighbours) = (BTreeSet::new(), BTreeSet::new());
        for hierarchy in hierarchies {
            let mount = self.path(&hierarchy.mount);
            let relative = given
                .strip_prefix(hierarchy.mount.strip_prefix("/").unwrap_or(&hierarchy.mount))
                .unwrap_or(&given);
            let deepest = relative.ancestors().find(|path| mount.join(path).is_dir());
            let deepest = deepest.unwrap_or(Path::new(""));
            let name = |dir: &Path| {
                dir.strip_prefix(&mount).map(|p| p.to_string_lossy().into_owned()).ok()
            };
            neighbours.extend(subdirectories(&mount.join(deepest)).iter().filter_map(|d| name(d)));
            let mut todo = vec![mount.clone()];
            let mut searched = 0;
            while let Some(dir) = todo.pop().filter(|_| searched < SEARCHED) {
                searched += 1;
                todo.extend(subdirectories(&dir));
                let last = dir.file_name().map(|n| n.to_string_lossy().to_lowercase());
                let last = last.unwrap_or_default();
                let last_stem = last.split('.').next().unwrap_or_default();
                let is_alike =
                    last.contains(&stem) || (last_stem.len() > 2 && word.contains(last_stem));
                if dir != mount && !stem.is_empty() && is_alike {
                    alike.extend(name(&dir));
                }
            }
        }
        let any = !alike.is_empty();
        let names = if any { alike } else { neighbours };
        (names.into_iter().take(SHOWN).collect(), any)
    }
}

impl Hierarchy {
    /// Whether it has a controller.
    #[must_use]
    pub fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|c| c == controller)
    }
}

/// `Operation not supported`: what `cgroup.procs` of a threaded cgroup answers.
const EOPNOTSUPP: i32 = 95;
/// `No such device`: what a file of a removed cgroup answers.
const ENODEV: i32 = 19;

fn vanished(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(ENODEV)
}

/// Sorted; empty where the directory cannot be read. Links are not followed.
fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    dirs.sort();
    dirs
}

/// The path without a leading slash and without `.`; none where `..` would lead out.
fn within(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
