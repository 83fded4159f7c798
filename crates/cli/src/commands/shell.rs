//! The manual pages and the completions of shells, from the same definitions as `--help`.

use crate::args::Arguments;
use crate::commands::out;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;
use std::process::ExitCode;

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "pagetide", &mut text);
    out(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints pagetide(1), or writes the pages of all commands into a directory.
pub(crate) fn man(directory: Option<&Path>) -> Result<ExitCode> {
    let command = Arguments::command();
    match directory {
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text)?;
            out(&String::from_utf8_lossy(&text))?;
        }
        Some(directory) => {
            let context = || format!("writing manual pages to {}", directory.display());
            std::fs::create_dir_all(directory).with_context(context)?;
            clap_mangen::generate_to(command, directory).with_context(context)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
