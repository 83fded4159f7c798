//! What goes into a guest: busybox and tools, modules, the command, files that were asked for.

use crate::{
    cache::Kernel,
    initramfs::Initramfs,
    program::{self, ProgramError},
    topology::Topology,
};
use anyhow::Context;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Programs that every guest has besides busybox, where the host has them.
const TOOLS: [&str; 3] = ["numactl", "ndctl", "daxctl"];
const INIT: &str = include_str!("init.sh");

/// What to run and what it needs.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// The command and its arguments.
    pub(crate) command: Vec<String>,
    /// Environment of the command.
    pub(crate) environment: Vec<(String, String)>,
    /// A shell command to run when all is ready, twice, before the command; its lines go to the
    /// lab.
    pub(crate) measure: Option<String>,
    /// Other programs to take along, with their libraries.
    pub(crate) programs: Vec<String>,
    /// Files and folders of the host, and where they go.
    pub(crate) copies: Vec<(PathBuf, PathBuf)>,
}

/// The guest's file system.
pub(crate) fn pack(load: &Load, topology: &Topology, kernel: &Kernel) -> anyhow::Result<Initramfs> {
    let mut tree = Initramfs::default();
    for folder in ["dev", "proc", "sys", "tmp", "run", "root", "out", "etc", "lab/modules"] {
        tree.folder(folder);
    }
    let applets = busybox(&mut tree)?;
    tree.script("init", INIT.into());
    modules(&mut tree, topology, kernel)?;
    tree.script("lab/setup", format!("{}\n", topology.setup));

    if let Some(measure) = &load.measure {
        tree.script("lab/measure", format!("{measure}\n"));
    }
    for name in TOOLS {
        if let Some(path) = program::find(name) {
            add_program(&mut tree, &path, &Path::new("/usr/bin").join(name))?;
        }
    }
    for name in &load.programs {
        let path = program::find(name).ok_or_else(|| ProgramError::Missing(name.clone()))?;
        add_program(&mut tree, &path, &path)?;
        // Also by its bare name, wherever it was built.
        if let Some(base) = path.file_name().and_then(|base| base.to_str()) {
            tree.link(&format!("usr/local/bin/{base}"), &path.to_string_lossy());
        }
    }
    for (host, guest) in &load.copies {
        tree.copy(host, guest)?;
    }
    let script = command(&mut tree, load, &applets)?;
    tree.script("lab/command", script);
    for applet in &applets {
        tree.link(&format!("bin/{applet}"), "/bin/busybox");
    }
    Ok(tree)
}

/// Adds busybox; its applets.
fn busybox(tree: &mut Initramfs) -> anyhow::Result<Vec<String>> {
    let path = program::find("busybox").context(
        "there is no busybox for the guest; scripts/deps.sh lab installs what is missing",
    )?;
    add_program(tree, &path, Path::new("/bin/busybox"))?;
    let list = Command::new(&path).arg("--list").output().context("cannot run busybox")?;
    Ok(String::from_utf8_lossy(&list.stdout).lines().map(str::to_owned).collect())
}

fn modules(tree: &mut Initramfs, topology: &Topology, kernel: &Kernel) -> anyhow::Result<()> {
    let mut list = String::new();
    for file in kernel.module_files(&topology.modules)? {
        let guest = format!("lab/modules/{file}");
        tree.copy(&kernel.modules.join(&file), Path::new(&guest))?;
        list += &format!("{file}\n");
    }
    tree.script("lab/modules.list", list);
    Ok(())
}

/// A program and what it needs, the latter by the paths of the host.
fn add_program(tree: &mut Initramfs, host: &Path, guest: &Path) -> anyhow::Result<()> {
    for path in program::needs(host)? {
        tree.copy(&path, &path)?;
    }
    Ok(tree.copy(host, guest)?)
}

/// The script that sets the environment and becomes the command. A bare name is busybox's if it
/// has one of that name, else the host's. What stands behind `--` among its arguments is a program as well, if it is
/// one here.
fn command(tree: &mut Initramfs, load: &Load, applets: &[String]) -> anyhow::Result<String> {
    let Some((name, arguments)) = load.command.split_first() else {
        anyhow::bail!("there is no command to run in the guest");
    };
    let mut words = vec![taken_along(tree, load, applets, name)?];
    let before = std::iter::once(name).chain(arguments);
    for (word, before) in arguments.iter().zip(before) {
        let program = before == "--" && program::find(word).is_some();
        words.push(match program {
            true => taken_along(tree, load, applets, word)?,
            false => word.clone(),
        });
    }
    let mut script = String::new();
    for (key, value) in &load.environment {
        script += &format!("export {key}={}\n", quoted(value));
    }
    script += "exec";
    for word in &words {
        script += &format!(" {}", quoted(word));
    }
    Ok(script + "\n")
}

/// What a program is called in the guest; one of the host's is taken along, at its path, if it is not there yet.
fn taken_along(
    tree: &mut Initramfs,
    load: &Load,
    applets: &[String],
    name: &String,
) -> anyhow::Result<String> {
    let known = name.contains('/')
        && load.copies.iter().any(|(_, guest)| Path::new(name).starts_with(guest));
    let taken = load.programs.iter().any(|program| Path::new(program).ends_with(name));
    if applets.contains(name) || known || taken && !name.contains('/') {
        return Ok(name.clone());
    }
    let path = program::find(name).ok_or_else(|| ProgramError::Missing(name.clone()))?;
    add_program(tree, &path, &path)?;
    Ok(path.to_string_lossy().into_owned())
}

/// A word that a shell reads as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_behind_two_dashes_is_taken_along_at_its_whole_path() {
        let load = |words: &[&str]| Load {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            ..Load::default()
        };
        let script = |words: &[&str]| {
            command(&mut Initramfs::default(), &load(words), &["sleep".to_owned()]).unwrap()
        };
        let env = program::find("env").unwrap();
        let env = env.to_str().unwrap();
        assert_eq!(
            script(&[env, "--", "env", "-u", "env", "--", "sleep", "1"]),
            format!("exec '{env}' '--' '{env}' '-u' 'env' '--' 'sleep' '1'\n"),
            "what is no first word stays as it is, and busybox's is in the guest"
        );
        assert_eq!(script(&["sleep", "--", "./nothing"]), "exec 'sleep' '--' './nothing'\n");
    }
}
