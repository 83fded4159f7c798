//! Whose the files are that root makes for somebody else: who called through sudo(8) is to read
//! them without it.

use nix::unistd::{Gid, Uid, fchown, geteuid};
use std::{env, io, os::fd::AsFd};

/// A user with a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    user: Uid,
    group: Gid,
}

impl Owner {
    /// A user and a group by their numbers.
    #[must_use]
    pub fn new(user: u32, group: u32) -> Self {
        Self { user: Uid::from_raw(user), group: Gid::from_raw(group) }
    }

    /// Who called this program through sudo(8), by `SUDO_UID` and `SUDO_GID`; none if we are not
    /// root, or if that was root.
    #[must_use]
    pub fn behind_sudo() -> Option<Self> {
        let number = |name: &str| env::var(name).ok();
        Self::named(geteuid().is_root(), number("SUDO_UID"), number("SUDO_GID"))
    }

    fn named(root: bool, user: Option<String>, group: Option<String>) -> Option<Self> {
        let owner = Self::new(user?.parse().ok()?, group?.parse().ok()?);
        (root && !owner.user.is_root()).then_some(owner)
    }

    /// Gives away an open file or directory: by its descriptor, so that no link in its path can
    /// lead elsewhere.
    ///
    /// # Errors
    /// What the system said; some file systems know no owners.
    pub fn give(self, file: impl AsFd) -> io::Result<()> {
        Ok(fchown(file, Some(self.user), Some(self.group))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_works_for_somebody_else_and_only_if_sudo_names_them() {
        let named = |root, user: &str, group: &str| {
            let value = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Owner::named(root, value(user), value(group))
        };
        assert_eq!(named(true, "1000", "100"), Some(Owner::new(1000, 100)));
        assert_eq!(named(false, "1000", "100"), None, "sudo -u somebody");
        assert_eq!(named(true, "0", "0"), None, "root called sudo");
        assert_eq!(named(true, "", ""), None, "no sudo");
        assert_eq!(named(true, "1000", ""), None);
        assert_eq!(named(true, "me", "100"), None);
    }
}
