//! What we give up ourselves: whoever reads a recording of others needs no privilege for it.

use crate::account::Account;
use crate::capability::Capabilities;
use crate::seccomp;
use nix::fcntl::AT_FDCWD;
use nix::unistd::{
    AccessFlags, Gid, Uid, getegid, geteuid, getgroups, setegid, seteuid, setgroups, setresgid,
    setresuid,
};
use std::io;
use std::path::{Path, PathBuf};

/// Privileges that could not be given up; then nothing is read.
#[derive(Debug, thiserror::Error)]
#[error("giving up what is not needed ({what}): {source}")]
pub struct DropError {
    what: &'static str,
    source: io::Error,
}

fn at(what: &'static str) -> impl Fn(io::Error) -> DropError {
    move |source| DropError { what, source }
}

fn of(what: &'static str) -> impl Fn(nix::errno::Errno) -> DropError {
    move |errno| DropError { what, source: errno.into() }
}

/// What will be opened.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// To be read.
    pub read: Vec<PathBuf>,
    /// To be made, or replaced.
    pub written: Vec<PathBuf>,
    /// To be made, or written into where they are there: files, and folders with files in them.
    pub appended: Vec<PathBuf>,
}

/// Becomes `account` for good, in all threads: user, groups, and no capability at all.
fn become_account(account: &Account) -> Result<(), DropError> {
    setgroups(&account.groups).map_err(of("groups"))?;
    setresgid(account.gid, account.gid, account.gid).map_err(of("group"))?;
    setresuid(account.uid, account.uid, account.uid).map_err(of("user"))?;
    Capabilities::NONE.keep().map_err(at("capabilities"))
}

/// Gives up what reading recordings and writing pages does not take, before any thread is started.
/// Through sudo we become the caller, if they may open all of `paths`; otherwise root keeps the
/// right to read and write files, and nothing else. In any case no program can be executed, no
/// other process be touched, no socket be opened from now on.
///
/// # Errors
/// [`DropError`].
pub fn without_privileges(paths: &Paths) -> Result<(), DropError> {
    match Account::behind_sudo() {
        Some(caller) if paths.may_be_opened_by(&caller)? => become_account(&caller)?,
        _ if geteuid().is_root() => {
            Capabilities::WRITING.keep().map_err(at("capabilities"))?;
        }
        _ => Capabilities::NONE.keep().map_err(at("capabilities"))?,
    }
    no_new_privileges()?;
    seccomp::forbid_what_replay_never_does().map_err(at("system calls"))
}

/// Keeps `needed` of this thread's capabilities, and has nothing that it executes gain any: for a
/// recorder, once its target runs (which is not bound by it).
///
/// # Errors
/// [`DropError`].
pub fn confine(needed: Capabilities) -> Result<(), DropError> {
    needed.keep().map_err(at("capabilities"))?;
    no_new_privileges()
}

fn no_new_privileges() -> Result<(), DropError> {
    // SAFETY: plain system call that only affects this thread and those that it starts.
    let set = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if set == 0 { Ok(()) } else { Err(at("no_new_privs")(io::Error::last_os_error())) }
}

impl Paths {
    /// Whether an account may open all of them. We are that user in between, and ourselves again.
    fn may_be_opened_by(&self, account: &Account) -> Result<bool, DropError> {
        let ours = Ourselves::now()?;
        setgroups(&account.groups).map_err(of("groups"))?;
        setegid(account.gid).map_err(of("group"))?;
        seteuid(account.uid).map_err(of("user"))?;
        let all = self.read.iter().all(|path| readable(path))
            && self.written.iter().all(|path| writable(path))
            && self.appended.iter().all(|path| appendable(path));
        ours.again()?;
        Ok(all)
    }
}

/// Who we are, to return to.
struct Ourselves {
    user: Uid,
    group: Gid,
    groups: Vec<Gid>,
}

impl Ourselves {
    fn now() -> Result<Self, DropError> {
        let groups = getgroups().map_err(of("groups"))?;
        Ok(Self { user: geteuid(), group: getegid(), groups })
    }

    fn again(self) -> Result<(), DropError> {
        seteuid(self.user).map_err(of("user"))?;
        setegid(self.group).map_err(of("group"))?;
        setgroups(&self.groups).map_err(of("groups"))
    }
}

fn may(path: &Path, access: AccessFlags) -> Result<(), nix::errno::Errno> {
    nix::unistd::faccessat(AT_FDCWD, path, access, nix::fcntl::AtFlags::AT_EACCESS)
}

/// What is not there is as it is: the caller is told so.
fn readable(path: &Path) -> bool {
    let missing = |path: &Path| may(path, AccessFlags::R_OK) == Err(nix::errno::Errno::ENOENT);
    let file_in_it = path.join("recording.json");
    missing(path)
        || (may(path, AccessFlags::R_OK).is_ok()
            && (!path.is_dir()
                || missing(&file_in_it)
                || may(&file_in_it, AccessFlags::R_OK).is_ok()))
}

/// What is there is written into; what is not is made.
fn appendable(path: &Path) -> bool {
    let Ok(there) = path.metadata() else { return writable(path) };
    if !there.is_dir() {
        return may(path, AccessFlags::W_OK).is_ok();
    }
    let all = |entries: std::fs::ReadDir| {
        entries.flatten().all(|entry| may(&entry.path(), AccessFlags::W_OK).is_ok())
    };
    may(path, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
        && std::fs::read_dir(path).is_ok_and(all)
}

/// A file is made in its directory, and then given its name.
fn writable(path: &Path) -> bool {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    may(parent, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}
