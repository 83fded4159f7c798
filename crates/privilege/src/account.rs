//! Accounts of the user database, and which of them a command runs as.

use nix::unistd::{Gid, Uid, User, geteuid, getgrouplist};
use std::env;
use std::ffi::{CString, OsString};
use std::path::PathBuf;

/// A user with all that a login would give them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The name, or the number where the user database has none.
    pub name: String,
    /// Where the user is at home.
    pub home: PathBuf,
    /// The login shell.
    pub shell: PathBuf,
    pub(crate) uid: Uid,
    pub(crate) gid: Gid,
    /// All groups, the first one included.
    pub(crate) groups: Vec<Gid>,
}

/// As whom a command runs that we start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunAs {
    /// As who called us through sudo(8); as we ourselves where nobody did.
    #[default]
    Caller,
    /// As this user.
    User(String),
    /// As we do: root, if we are.
    Ourselves,
}

/// Why a command cannot run as somebody.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AccountError {
    /// The user database has no such name.
    #[error("there is no user '{0}'; getent passwd lists them")]
    Unknown(String),
    /// Only root can become somebody else.
    #[error("only root can start a command as user '{0}'; run pagetide through sudo")]
    NotRoot(String),
}

impl RunAs {
    /// The account to change to; none where the command runs as we do.
    ///
    /// # Errors
    /// [`AccountError`] where somebody was named.
    pub fn account(&self) -> Result<Option<Account>, AccountError> {
        match self {
            Self::Ourselves => Ok(None),
            Self::Caller => Ok(Account::behind_sudo()),
            Self::User(name) => {
                let account = Account::named(name)?;
                if account.uid == geteuid() {
                    return Ok(None);
                }
                if !geteuid().is_root() {
                    return Err(AccountError::NotRoot(name.clone()));
                }
                Ok(Some(account))
            }
        }
    }
}

impl Account {
    /// The user of this name, or number.
    ///
    /// # Errors
    /// [`AccountError::Unknown`].
    pub fn named(name: &str) -> Result<Self, AccountError> {
        // A name that cannot be looked up is as good as none.
        let by_name = User::from_name(name).ok().flatten();
        let number = || name.parse().ok().map(Uid::from_raw);
        by_name
            .or_else(|| User::from_uid(number()?).ok().flatten())
            .map(|user| Self::of(user, None))
            .ok_or_else(|| AccountError::Unknown(name.to_owned()))
    }

    /// Who called us through sudo(8), by `SUDO_UID` and `SUDO_GID`; none if we are not root, or if
    /// that was root.
    #[must_use]
    pub fn behind_sudo() -> Option<Self> {
        let number = |name: &str| env::var(name).ok()?.parse().ok();
        let (uid, gid) = (Uid::from_raw(number("SUDO_UID")?), Gid::from_raw(number("SUDO_GID")?));
        if !geteuid().is_root() || uid.is_root() {
            return None;
        }
        let user = User::from_uid(uid).ok().flatten();
        Some(user.map_or_else(|| Self::unlisted(uid, gid), |user| Self::of(user, Some(gid))))
    }

    /// Its number.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.uid.as_raw()
    }

    fn of(user: User, gid: Option<Gid>) -> Self {
        let gid = gid.unwrap_or(user.gid);
        let name = CString::new(user.name.as_str());
        let mut groups =
            name.ok().and_then(|name| getgrouplist(&name, gid).ok()).unwrap_or_default();
        if !groups.contains(&gid) {
            groups.insert(0, gid);
        }
        Self { name: user.name, home: user.dir, shell: user.shell, uid: user.uid, gid, groups }
    }

    /// A user that only sudo knows of, as where the user database lies elsewhere.
    fn unlisted(uid: Uid, gid: Gid) -> Self {
        Self {
            name: env::var("SUDO_USER").unwrap_or_else(|_| uid.to_string()),
            home: env::var_os("SUDO_HOME").unwrap_or_else(|| "/".into()).into(),
            shell: "/bin/sh".into(),
            uid,
            gid,
            groups: vec![gid],
        }
    }

    /// What a login would set in the environment.
    pub(crate) fn environment(&self) -> [(&'static str, OsString); 4] {
        [
            ("HOME", self.home.clone().into()),
            ("SHELL", self.shell.clone().into()),
            ("USER", self.name.clone().into()),
            ("LOGNAME", self.name.clone().into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_name_and_by_number() {
        let root = Account::named("root").unwrap();
        assert_eq!((root.uid(), root.name.as_str()), (0, "root"));
        assert!(root.groups.contains(&Gid::from_raw(0)));
        assert_eq!(Account::named("0").unwrap(), root);
        let unknown = Account::named("no such user").unwrap_err();
        assert_eq!(unknown, AccountError::Unknown("no such user".to_owned()));
        assert!(Account::named("a\0b").is_err());
    }

    #[test]
    fn who_we_are_already_is_no_change() {
        let me = geteuid().to_string();
        assert_eq!(RunAs::User(me).account(), Ok(None));
        assert_eq!(RunAs::Ourselves.account(), Ok(None));
    }

    #[test]
    fn a_login_is_complete() {
        let environment = Account::named("root").unwrap().environment();
        assert_eq!(
            environment.each_ref().map(|(name, _)| *name),
            ["HOME", "SHELL", "USER", "LOGNAME"]
        );
        assert!(environment.iter().all(|(_, value)| !value.is_empty()));
    }
}
