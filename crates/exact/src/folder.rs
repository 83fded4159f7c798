//! The folder that keeps what was built. What is in it runs with our rights, root's as the case
//! may be: it must be ours alone.

use crate::error::BuildError;
use nix::unistd::geteuid;
use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

/// What `PAGETIDE_CACHE` names, else `pagetide` in the user's cache folder (`XDG_CACHE_HOME`, or
/// `~/.cache`; root's is /var/cache/pagetide, whosever home it was started from). Made if it is
/// not there.
///
/// # Errors
/// When it cannot be made, or somebody else could have written into it.
pub(crate) fn cache() -> Result<PathBuf, BuildError> {
    let named = env::var_os("PAGETIDE_CACHE").map(PathBuf::from);
    let folder = match named {
        Some(folder) => folder,
        None if geteuid().is_root() => PathBuf::from("/var/cache/pagetide"),
        None => users().ok_or_else(|| BuildError::Folder {
            path: PathBuf::from("~/.cache"),
            reason: "cannot be found: HOME is not set".to_owned(),
        })?,
    };
    ours_alone(&folder)
}

fn users() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
    Some(cache.join("pagetide"))
}

/// Makes the folder, mode 0700, or makes sure that it is a folder (no link), our own, and nobody
/// else's to write, and that no one but us and root could put another in its place. Returns its
/// path without links.
pub(crate) fn ours_alone(folder: &Path) -> Result<PathBuf, BuildError> {
    let wrong = |path: &Path, reason: &str| BuildError::Folder {
        path: path.to_owned(),
        reason: reason.to_owned(),
    };
    if !folder.is_absolute() {
        return Err(wrong(folder, "is not an absolute path"));
    }
    let written = |error| BuildError::Write(folder.to_owned(), error);
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(wrong(folder, "has no name"));
    };
    fs::create_dir_all(parent).map_err(written)?;
    let folder = &parent.canonicalize().map_err(written)?.join(name);
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(written(error)),
        _ => {}
    }
    let us = geteuid().as_raw();
    let facts = folder.symlink_metadata().map_err(written)?;
    if !facts.is_dir() {
        return Err(wrong(folder, "is no folder (a link is not followed)"));
    }
    if facts.uid() != us {
        return Err(wrong(folder, "belongs to somebody else"));
    }
    if facts.mode() & 0o022 != 0 {
        return Err(wrong(folder, "can be written by others"));
    }
    // Who may rename a folder above can put another in its place; of sticky folders only owners.
    for above in folder.ancestors().skip(1) {
        let facts = above.symlink_metadata().map_err(written)?;
        if facts.uid() != us && facts.uid() != 0 {
            return Err(wrong(above, "belongs to somebody else"));
        }
        if facts.mode() & 0o022 != 0 && facts.mode() & 0o1000 == 0 {
            return Err(wrong(above, "can be written by others"));
        }
    }
    Ok(folder.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn refused(folder: &Path) -> String {
        ours_alone(folder).unwrap_err().to_string()
    }

    #[test]
    fn only_a_folder_of_ours_that_nobody_else_writes_is_used() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let folder = base.join("a/cache");
        ours_alone(&folder).unwrap();
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
        ours_alone(&folder).unwrap();

        fs::set_permissions(&folder, fs::Permissions::from_mode(0o720)).unwrap();
        assert!(refused(&folder).contains("can be written by others"));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(base.join("a"), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(refused(&folder).contains("can be written by others"));
        fs::set_permissions(base.join("a"), fs::Permissions::from_mode(0o755)).unwrap();

        symlink(&folder, base.join("link")).unwrap();
        assert!(refused(&base.join("link")).contains("a link is not followed"));
        symlink(base.join("a"), base.join("up")).unwrap();
        assert_eq!(ours_alone(&base.join("up/cache")).unwrap(), folder);
        fs::write(base.join("file"), "").unwrap();
        assert!(refused(&base.join("file")).contains("no folder"));
        assert!(refused(Path::new("cache")).contains("absolute"));
        if geteuid().is_root() {
            nix::unistd::chown(&folder, Some(nix::unistd::Uid::from_raw(65534)), None).unwrap();
            assert!(refused(&folder).contains("PAGETIDE_CACHE"));
        }
    }
}
