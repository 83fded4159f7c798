//! The folder that keeps what was downloaded or built: the kernel, its modules, the meter, a newer QEMU.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Why there is no kernel to boot.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CacheError {
    /// No folder of that name here or above.
    #[error(
        "there is no folder .cache/lab here or above; run scripts/deps.sh lab in the checkout, \
         or name the folder in PAGETIDE_LAB_CACHE"
    )]
    NoFolder,
    /// The folder holds no kernel.
    #[error("{0} holds no kernel; scripts/deps.sh lab fetches it")]
    NoKernel(PathBuf),
    /// A file of the kernel's cannot be read.
    #[error("cannot read {0}; remove that folder, scripts/deps.sh lab fetches it again")]
    Read(PathBuf, #[source] std::io::Error),
}

/// The folder.
#[derive(Clone, Debug)]
pub(crate) struct Cache(PathBuf);

/// A kernel that was unpacked, with its modules.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// The image to boot.
    pub(crate) image: PathBuf,
    /// Folder of its modules: `.../lib/modules/VERSION`, uncompressed, with `modules.dep`.
    pub(crate) modules: PathBuf,
    /// As `uname -r` says it.
    pub(crate) version: String,
}

impl Cache {
    /// What `PAGETIDE_LAB_CACHE` names, else the nearest `.cache/lab` from the current folder up.
    pub(crate) fn find() -> Result<Self, CacheError> {
        if let Some(folder) = std::env::var_os("PAGETIDE_LAB_CACHE") {
            return Ok(Self(folder.into()));
        }
        let here = std::env::current_dir().unwrap_or_default();
        here.ancestors()
            .map(|folder| folder.join(".cache/lab"))
            .find(|folder| folder.is_dir())
            .map(Self)
            .ok_or(CacheError::NoFolder)
    }

    /// A folder of that kind.
    #[cfg(test)]
    pub(crate) fn at(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The kernel that `scripts/deps.sh lab` put there; the newest of several.
    pub(crate) fn kernel(&self) -> Result<Kernel, CacheError> {
        let folder = self.path("kernel");
        let modules = folder.join("lib/modules");
        let none = || CacheError::NoKernel(self.0.clone());
        let version = entries(&modules).ok_or_else(none)?.into_iter().max().ok_or_else(none)?;
        let image = folder.join("boot").join(format!("vmlinuz-{version}"));
        if !image.is_file() {
            return Err(none());
        }
        Ok(Kernel { image, modules: modules.join(&version), version })
    }
}

impl Kernel {
    /// Files of `wanted` modules and of all that they need, each after what it needs; paths
    /// relative to the folder of modules. What is built in, or does not exist, has no file and
    /// is left out.
    pub(crate) fn module_files(&self, wanted: &[String]) -> Result<Vec<String>, CacheError> {
        let path = self.modules.join("modules.dep");
        let text = fs::read_to_string(&path).map_err(|error| CacheError::Read(path, error))?;
        Ok(module_closure(&text, wanted))
    }
}

fn entries(folder: &Path) -> Option<Vec<String>> {
    let names = fs::read_dir(folder).ok()?.flatten();
    Some(names.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// `text` is a `modules.dep`: a line per module, its file, a colon, all files that it needs with
/// the nearest first.
fn module_closure(text: &str, wanted: &[String]) -> Vec<String> {
    let name = |file: &str| {
        let base = file.rsplit('/').next().unwrap_or(file);
        base.trim_end_matches(".ko").replace('-', "_")
    };
    let mut files: Vec<String> = Vec::new();
    for module in wanted {
        let module = module.replace('-', "_");
        for (file, needs) in text.lines().filter_map(|line| line.split_once(':')) {
            if name(file) != module {
                continue;
            }
            let all = needs.split_whitespace().rev().chain([file]);
            for file in all {
                if !files.iter().any(|known| known == file) {
                    files.push(file.to_owned());
                }
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_come_after_what_they_need() {
        let text = "kernel/a/nfit.ko: kernel/b/libnvdimm.ko\n\
                    kernel/c/nd_pmem.ko: kernel/c/nd-btt.ko kernel/b/libnvdimm.ko\n\
                    kernel/c/nd-btt.ko: kernel/b/libnvdimm.ko\n\
                    kernel/b/libnvdimm.ko:\n";
        let wanted = ["nfit", "nd-pmem", "built_in"].map(String::from);
        assert_eq!(
            module_closure(text, &wanted),
            [
                "kernel/b/libnvdimm.ko",
                "kernel/a/nfit.ko",
                "kernel/c/nd-btt.ko",
                "kernel/c/nd_pmem.ko"
            ]
        );
    }
}
