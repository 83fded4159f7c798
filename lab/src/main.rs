//! The lab: a stock Debian kernel under QEMU, on a machine with tiers of memory that a file
//! describes. Runs a command in it and brings back output, exit code and files. See `docs/lab.md`.

mod args;
mod cache;
mod console;
mod emulator;
mod felt;
mod guest;
mod initramfs;
mod instruction_time;
mod meter;
mod pack;
mod prefix;
mod probe;
mod program;
mod qemu;
mod run;
mod spawn;
mod topology;
mod words;

use clap::Parser;
use nix::sys::signal::{SigHandler, Signal, signal};
use std::process::ExitCode;

/// What the lab ends with when it gives no exit code of the command's: as `timeout`, `env` and
/// others that run commands.
const OWN_FAILURE: u8 = 125;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let ended = match &cli.action {
        args::Action::Run(arguments) => run::run(arguments),
        args::Action::Probe { probe } => {
            end_with_the_reader();
            probe::run(probe).map(|()| 0).map_err(Into::into)
        }
        args::Action::Topologies => {
            end_with_the_reader();
            topologies()
        }
    };
    match ended {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(OWN_FAILURE)),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(OWN_FAILURE)
        }
    }
}

/// What only prints ends quietly when nobody reads on; who starts guests has to end them.
fn end_with_the_reader() {
    // SAFETY: the default action runs no code of ours.
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) };
}

fn topologies() -> anyhow::Result<i32> {
    for name in topology::Topology::names() {
        println!("{name:<14}{}", topology::Topology::load(name)?.title);
    }
    Ok(0)
}
