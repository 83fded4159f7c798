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
/// has one of that name, else the host's.
fn command(tree: &mut Initramfs, load: &Load, applets: &[String]) -> anyhow::Result<String> {
    let Some((name, arguments)) = load.command.split_first() else {
        anyhow::bail!("there is no command to run in the guest");
    };
    let known = name.contains('/')
        && load.copies.iter().any(|(_, guest)| Path::new(name).starts_with(guest));
    let taken = load.programs.iter().any(|program| Path::new(program).ends_with(name));
    let name = if applets.contains(name) || known || taken && !name.contains('/') {
        name.clone()
    } else {
        let path = program::find(name).ok_or_else(|| ProgramError::Missing(name.clone()))?;
        add_program(tree, &path, &path)?;
        path.to_string_lossy().into_owned()
    };
    let mut script = String::new();
    for (key, value) in &load.environment {
        script += &format!("export {key}={}\n", quoted(value));
    }
    script += "exec";
    for word in std::iter::once(&name).chain(arguments) {
        script += &format!(" {}", quoted(word));
    }
    Ok(script + "\n")
}

/// A word that a shell reads as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
