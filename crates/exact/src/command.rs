//! What it takes to execute a command in QEMU, which searches no PATH and knows no scripts.

use crate::{emulator::in_path, error::ExactError};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// The words behind QEMU's options: `-0` and a name where it has one, the program, its arguments.
///
/// # Errors
/// When there is no such command, or it is no program for x86-64 (nor a script for one).
pub(crate) fn resolve(words: &[OsString]) -> Result<Vec<OsString>, ExactError> {
    let [command, arguments @ ..] = words else {
        return Err(ExactError::Command("no command given; write it after --".to_owned()));
    };
    let shown = command.display();
    let path = in_path(command).ok_or_else(|| {
        ExactError::Command(format!("there is no command '{shown}'; check the spelling and PATH"))
    })?;
    let start = start_of(&path)?;
    let mut all = Vec::new();
    if let Some(line) = start.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
        // As the kernel takes it apart: the interpreter, and all the rest as one.
        let mut parts = line.splitn(2, |byte| matches!(byte, b' ' | b'\t'));
        let interpreter = OsStr::from_bytes(parts.next().unwrap_or_default());
        check(Path::new(interpreter), &start_of(Path::new(interpreter))?)?;
        all.push(interpreter.to_owned());
        let option = parts.next().unwrap_or_default().trim_ascii();
        if !option.is_empty() {
            all.push(OsStr::from_bytes(option).to_owned());
        }
    } else {
        check(&path, &start)?;
        all.extend(["-0".into(), command.clone()]);
    }
    all.push(path.into_os_string());
    all.extend(arguments.iter().cloned());
    Ok(all)
}

fn start_of(path: &Path) -> Result<Vec<u8>, ExactError> {
    let cannot =
        |error| ExactError::Command(format!("'{}' cannot be read: {error}", path.display()));
    let mut start = Vec::new();
    File::open(path).map_err(cannot)?.take(256).read_to_end(&mut start).map_err(cannot)?;
    Ok(start)
}

fn check(path: &Path, start: &[u8]) -> Result<(), ExactError> {
    // ELF, 64 bits, little endian; the machine stands at offset 18.
    if start.starts_with(b"\x7fELF\x02\x01") && start.get(18..20) == Some(&[62, 0]) {
        return Ok(());
    }
    Err(ExactError::Command(format!(
        "'{}' is no program for x86-64, nor a script that one interprets; exact counts are for \
         those only",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn commands_are_found_and_scripts_taken_apart() {
        let resolved = resolve(&words(&["true", "-x"])).unwrap();
        assert_eq!(resolved[..2], words(&["-0", "true"]));
        assert!(resolved[2].display().to_string().ends_with("/true"));
        assert_eq!(resolved[3], "-x");

        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        let path = script.to_str().unwrap();
        std::fs::write(&script, "#! /bin/sh -e  \nexit\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(resolve(&words(&[path, "a"])).unwrap(), words(&["/bin/sh", "-e", path, "a"]));
        std::fs::write(&script, "text").unwrap();
        assert!(resolve(&words(&[path])).unwrap_err().to_string().contains("x86-64"));
        assert!(resolve(&words(&["no-such"])).unwrap_err().to_string().contains("no command"));
        assert!(resolve(&[]).is_err());
    }
}
