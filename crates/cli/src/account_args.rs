//! As whom a command is started: arguments, and the line that says it.

use crate::tell::tell;
use anyhow::Result;
use clap::Args;
use pagetide_privilege::{Account, RunAs};

/// As whom a command is started.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct AccountArgs {
    /// Start the command as this user (default: as who called sudo; without sudo, as yourself).
    #[arg(long, value_name = "NAME", requires = "command",
        conflicts_with_all = ["as_root", "pids", "cgroup"])]
    user: Option<String>,
    /// Start the command as root although somebody else called sudo: it may do everything then.
    #[arg(long, requires = "command", conflicts_with_all = ["pids", "cgroup"])]
    as_root: bool,
}

impl AccountArgs {
    /// What was asked for.
    pub(crate) fn run_as(&self) -> RunAs {
        match &self.user {
            Some(name) => RunAs::User(name.clone()),
            None if self.as_root => RunAs::Ourselves,
            None => RunAs::Caller,
        }
    }

    /// The account of a command, if there is one and it is not to run as we do.
    pub(crate) fn of(&self, there_is_a_command: bool) -> Result<Option<Account>> {
        Ok(if there_is_a_command { self.run_as().account()? } else { None })
    }

    /// Says as whom the command runs, where that is not as we do.
    pub(crate) fn say(&self, account: Option<&Account>) {
        let Some(Account { name, .. }) = account else { return };
        match self.run_as() {
            RunAs::Caller => tell!(
                "pagetide: note: the command runs as {name}, who called sudo; --as-root has it run \
                 as root"
            ),
            _ => tell!("pagetide: note: the command runs as {name}"),
        }
    }
}
