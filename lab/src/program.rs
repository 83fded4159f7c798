//! Programs of the host with what they need to run elsewhere: shared libraries, interpreters.

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// Why a program cannot be taken along.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// No such program.
    #[error("there is no program '{0}', neither here nor in the guest's busybox")]
    Missing(String),
    /// It cannot be read.
    #[error("cannot read the program {0}")]
    Read(PathBuf, #[source] std::io::Error),
    /// A library that it needs is missing.
    #[error("{program} needs {library}, which is not installed here")]
    Library {
        /// The program.
        program: PathBuf,
        /// The library's name.
        library: String,
    },
}

/// The file that a shell would run for `name`: a path as it is, a bare name from `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let runs = |path: &Path| {
        fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 > 0)
    };
    if name.contains('/') {
        return std::path::absolute(name).ok().filter(|path| runs(path));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    // Where the guest's tools lie on the host, though not in every user's PATH.
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&folders)
        .chain(more)
        .map(|folder| folder.join(name))
        .find(|path| runs(path))
}

/// All files that `program` needs besides itself, by their paths on the host: its interpreter
/// with the libraries of that for a script, its libraries and loader for a binary.
pub(crate) fn needs(program: &Path) -> Result<BTreeSet<PathBuf>, ProgramError> {
    let mut head = Vec::new();
    fs::File::open(program)
        .and_then(|file| file.take(256).read_to_end(&mut head))
        .map_err(|error| ProgramError::Read(program.to_owned(), error))?;
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line);
        let mut words = line.lines().next().unwrap_or_default().split_whitespace();
        let interpreter = words.next().unwrap_or_default().to_owned();
        if is_shell(&interpreter) || interpreter.ends_with("/env") && words.next() == Some("sh") {
            return Ok(BTreeSet::new());
        }
        let path = find(&interpreter).ok_or(ProgramError::Missing(interpreter))?;
        let mut all = needs(&path)?;
        all.insert(path);
        return Ok(all);
    }
    if !head.starts_with(b"\x7fELF") {
        return Ok(BTreeSet::new());
    }
    let output = Command::new("ldd")
        .arg(program)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| ProgramError::Read("ldd".into(), error))?;
    libraries(&String::from_utf8_lossy(&output.stdout))
        .map_err(|library| ProgramError::Library { program: program.to_owned(), library })
}

/// The guest's busybox is `/bin/sh`.
fn is_shell(interpreter: &str) -> bool {
    matches!(interpreter, "/bin/sh" | "/usr/bin/sh")
}

/// Paths in the output of `ldd`; `Err` names the first library that it did not find.
fn libraries(output: &str) -> Result<BTreeSet<PathBuf>, String> {
    let mut all = BTreeSet::new();
    for line in output.lines().map(str::trim) {
        if let Some((name, "not found")) = line.split_once(" => ") {
            return Err(name.to_owned());
        }
        let path = line.split_once(" => ").map_or(line, |(_, path)| path);
        if let Some(path) = path.split_whitespace().next().filter(|path| path.starts_with('/')) {
            all.insert(PathBuf::from(path));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_loader_are_found_and_a_missing_one_named() {
        let output = "\tlinux-vdso.so.1 (0x7f)\n\tlibelf.so.1 => /lib/x/libelf.so.1 (0x7f)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
        let all: Vec<_> = libraries(output).unwrap().into_iter().collect();
        assert_eq!(all, ["/lib/x/libelf.so.1", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from));
        assert_eq!(libraries("\tstatically linked\n"), Ok(BTreeSet::new()));
        assert_eq!(libraries("\tlibz.so.1 => not found\n"), Err("libz.so.1".into()));
    }

    #[test]
    fn a_program_of_the_host_brings_its_loader() {
        let program = find("env").unwrap();
        let all = needs(&program).unwrap();
        assert!(all.iter().any(|path| path.to_string_lossy().contains("ld-linux")), "{all:?}");
        assert_eq!(find("no-such-program"), None);
    }
}
