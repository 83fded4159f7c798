//! Exit codes: what a script can tell from them. Documented in docs/exit-codes.md.

use crate::args::Arguments;
use crate::commands::shift::Unable;
use crate::tell::tell;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use pagetide_host::{Capabilities, Features, Host};
use pagetide_manager::TierError;
use pagetide_privilege::AccountError;
use pagetide_scan::ScanError;
use pagetide_shift::{DaemonError, JournalError, PrepareError, Refusal};
use pagetide_types::shell;
use std::io::Write;
use std::process::{ExitCode, ExitStatus};

/// Something failed while working: a full disk, an unreadable recording.
pub(crate) const FAILED: u8 = 1;
/// The user lacks a privilege.
const NOT_PERMITTED: u8 = 3;
/// This machine cannot be observed, or its self test failed.
pub(crate) const UNSUPPORTED: u8 = 4;
/// The target does not exist, or cannot be watched.
const BAD_TARGET: u8 = 5;
/// The user interrupted; what was recorded was kept.
pub(crate) const INTERRUPTED: u8 = 130;

/// What the usage of those that start a command has.
const COMMAND: &str = "[-- <COMMAND>...]";
/// What a plan is made for, as its usage has it.
const RECORDINGS: &str = "[RECORDING]";

/// Puts our advice in the place of the parser's, which for whatever it does not know is to write it after `--`: that is
/// for words that are no options, where there may be a command. And adds some where a plan is asked of two things.
fn advise(error: &mut clap::Error) {
    let about = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => ContextKind::InvalidArg,
    };
    let Some(ContextValue::String(word)) = error.get(about) else { return };
    let advice = match error.kind() {
        ErrorKind::InvalidSubcommand if word == "verify" => {
            "verify is an option of run: pagetide run --verify app.heat -- COMMAND"
        }
        ErrorKind::ValueValidation if is_no_number(error) => {
            "a plain number is expected: 1000000 or 1e6 rather than 1M, 5 rather than 5s"
        }
        ErrorKind::ArgumentConflict if are_both(error, "--unit", "--record") => {
            "a recording holds units of one size, and a run records regions of 2M; leave --unit out, or record single \
             pages with pagetide record --unit 4K (docs/run.md, \"Units\")"
        }
        ErrorKind::UnknownArgument => {
            let option = word.starts_with('-');
            error.remove(ContextKind::Suggested);
            if option || !error.render().to_string().contains(COMMAND) {
                return;
            }
            "a command that is to be started goes after --"
        }
        ErrorKind::ArgumentConflict if word.contains(RECORDINGS) => {
            "plan for recordings that are there, or for what is recorded now (a COMMAND or -p, with -o, --for, --budget \
             ...), not for both; a page of a recording: pagetide report NAME.heat"
        }
        _ => return,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.to_owned().into()]));
}

/// Whether a value was to be a plain number, of which the parser says no more than that.
fn is_no_number(error: &clap::Error) -> bool {
    use std::error::Error;
    error.source().is_some_and(<dyn Error>::is::<std::num::ParseFloatError>)
}

/// Whether these two options are in each other's way.
fn are_both(error: &clap::Error, one: &str, other: &str) -> bool {
    let at = |kind| match error.get(kind) {
        Some(ContextValue::String(option)) => option.clone(),
        Some(ContextValue::Strings(options)) => options.join(" "),
        _ => String::new(),
    };
    let (a, b) = (at(ContextKind::InvalidArg), at(ContextKind::PriorArg));
    (a.starts_with(one) && b.starts_with(other)) || (a.starts_with(other) && b.starts_with(one))
}

/// Says what of the command line was not understood, or shows the help that was asked for.
pub(crate) fn misunderstood(mut error: clap::Error) -> ! {
    advise(&mut error);
    let plain = error.render().to_string();
    if plain.chars().any(|c| c != '\n' && pagetide_types::acts(c)) {
        // A name that a shell's `*` put there, perhaps.
        crate::tell::line(plain.trim_end());
        std::process::exit(error.exit_code());
    }
    let code = match error.print().and_then(|()| std::io::stdout().flush()) {
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
            tell!("pagetide: standard output: {cause}");
            i32::from(FAILED)
        }
        _ => error.exit_code(),
    };
    std::process::exit(code)
}

/// Ends a command of whose command line what it is about is missing.
pub(crate) fn missing(command: &str, text: &str) -> ! {
    let mut all = Arguments::command();
    all.build();
    let mut own = all.find_subcommand(command).cloned().unwrap_or(all);
    misunderstood(own.error(ErrorKind::MissingRequiredArgument, text))
}

/// Prints an error and its causes and says which code it ends with.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    }) {
        // The reader of our output went away (`pagetide ... | head`): nothing is wrong.
        return ExitCode::SUCCESS;
    }
    let rights = error.chain().find_map(|cause| cause.downcast_ref::<ScanError>());
    let grant =
        rights.and_then(|error| grant_for(error, &Host::live().features())).unwrap_or_default();
    tell!("pagetide: {}{grant}", text(error));
    ExitCode::from(code_of(error))
}

/// How the binary is given the rights that its user lacks, after a message that ends with that it can be; nothing for
/// root, who lacks them in a container, and after other messages.
pub(crate) fn grant_for(error: &ScanError, features: &Features) -> Option<String> {
    let lacks = matches!(error, ScanError::NotPermitted(_));
    if !lacks || features.uid == Some(0) || features.capabilities.lacking().is_empty() {
        return None;
    }
    // Those that a file has take the place of those that it had.
    let all = Capabilities::default().lacking().join(",").to_lowercase();
    let binary = std::env::current_exe().ok()?;
    let binary = shell::shown(&binary.to_string_lossy());
    Some(format!(": sudo setcap {all}+ep {binary} (then all who may execute it have them)"))
}

/// An error with its causes, but for those whose text it tells already.
pub(crate) fn text(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn code_of(error: &anyhow::Error) -> u8 {
    if error.chain().any(|cause| {
        matches!(cause.downcast_ref(), Some(TierError::OneNode(_) | TierError::OneTier(_)))
    }) {
        return UNSUPPORTED;
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<AccountError>()) {
        Some(AccountError::NotRoot(_)) => return NOT_PERMITTED,
        Some(AccountError::Unknown(_)) => return BAD_TARGET,
        None => {}
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<Unable>()) {
        Some(Unable::NotRoot) => return NOT_PERMITTED,
        Some(Unable::NoMachineId | Unable::Kernel(_)) => return UNSUPPORTED,
        None => {}
    }
    if error.chain().any(is_another_users) {
        return NOT_PERMITTED;
    }
    if error.chain().any(stays_so) {
        return UNSUPPORTED;
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<ScanError>()) {
        Some(ScanError::NotPermitted(_)) => NOT_PERMITTED,
        Some(
            ScanError::NoBtf
            | ScanError::Refused(_)
            | ScanError::NoDirectMap
            | ScanError::Confidential(_)
            | ScanError::Architecture
            | ScanError::Blind(_),
        ) => UNSUPPORTED,
        Some(
            ScanError::Gone(_)
            | ScanError::NoMemory(_)
            | ScanError::Protected(_)
            | ScanError::VirtualMachine(_)
            | ScanError::Target(_),
        ) => BAD_TARGET,
        Some(_) | None => FAILED,
    }
}

/// Whether `shift` can do nothing here until somebody changes the machine, or its journal.
fn stays_so(cause: &(dyn std::error::Error + 'static)) -> bool {
    // An error that is told as its cause is not among the causes.
    let refusal = match cause.downcast_ref() {
        Some(PrepareError::Refused(refusal)) => Some(refusal),
        _ => cause.downcast_ref::<Refusal>(),
    };
    let journal = match (refusal, cause.downcast_ref()) {
        (Some(Refusal::Journal(error)), _) | (_, Some(DaemonError::Journal(error))) => Some(error),
        _ => cause.downcast_ref::<JournalError>(),
    };
    let damaged = |error: &JournalError| !matches!(error, JournalError::Io { .. });
    refusal.is_some_and(Refusal::is_of_the_machine) || journal.is_some_and(damaged)
}

/// A journal that may not be read.
fn is_another_users(cause: &(dyn std::error::Error + 'static)) -> bool {
    let denied = |source: &std::io::Error| source.kind() == std::io::ErrorKind::PermissionDenied;
    matches!(cause.downcast_ref(), Some(JournalError::Io { source, .. }) if denied(source))
}

/// The command's own end as an exit code, the way shells count signals.
pub(crate) fn of_command(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use pagetide_types::Pid;

    #[test]
    fn causes_are_told_once() {
        let error = anyhow::anyhow!("no space").context("x.heat: no space").context("recording");
        assert_eq!(text(&error), "recording: x.heat: no space");
    }

    #[test]
    fn what_a_machine_cannot_do_is_told_from_a_refusal() {
        let code = |refusal: Refusal| {
            let prepare = anyhow::Error::from(PrepareError::Refused(refusal)).context("preparing");
            code_of(&prepare)
        };
        assert_eq!(code(Refusal::NoDriver("kmem")), UNSUPPORTED);
        assert_eq!(code(Refusal::Gone("dax7.7".into())), FAILED);
        assert_eq!(code_of(&Refusal::NoHotplug.into()), UNSUPPORTED);
        assert_eq!(code_of(&Refusal::AutoOnline.into()), UNSUPPORTED);
        assert_eq!(code_of(&Refusal::NotOurs("dax7.7".into()).into()), FAILED);
    }

    #[test]
    fn a_journal_that_must_be_looked_at_is_told_from_one_that_cannot_be_written_now() {
        let damaged =
            || JournalError::Damaged { path: "journal".into(), line: 3, what: "torn".into() };
        let source = std::io::ErrorKind::StorageFull.into();
        let full = JournalError::Io { doing: "write", path: "journal".into(), source };
        assert_eq!(code_of(&damaged().into()), UNSUPPORTED);
        assert_eq!(code_of(&Refusal::from(damaged()).into()), UNSUPPORTED);
        assert_eq!(code_of(&DaemonError::from(damaged()).into()), UNSUPPORTED);
        assert_eq!(code_of(&full.into()), FAILED);
    }

    #[test]
    fn codes_survive_context() {
        let error = ScanError::NotPermitted("no rights".into());
        let error = Err::<(), _>(error).context("recording").unwrap_err();
        assert_eq!(code_of(&error), NOT_PERMITTED);
        let error = anyhow::Error::from(ScanError::Gone(Pid(7)));
        assert_eq!(code_of(&error), BAD_TARGET);
        assert_eq!(code_of(&anyhow::anyhow!("disk full")), FAILED);
    }
}
