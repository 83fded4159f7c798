//! The binary `pagetide`: arguments, wiring, exit codes.

#![deny(clippy::print_stdout, clippy::print_stderr)] // see tell.rs

mod account_args;
mod args;
mod available;
mod commands;
mod curve_args;
mod exact_args;
mod exit;
mod interrupt;
mod live_args;
mod notes;
mod progress;
mod reproduce_args;
mod shift_args;
mod short;
mod sim_args;
mod tell;
mod trace_args;
mod values;
mod window_args;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = args::Arguments::try_parse().unwrap_or_else(|error| exit::misunderstood(error));
    let filter = tracing_subscriber::EnvFilter::try_from_env("PAGETIDE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| tell::Log(std::io::stderr()))
        .with_ansi(false)
        .init();
    match commands::run(arguments.command) {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
