//! All workloads as a program of their own: `cargo run --release --example workload -- hot-cold`.

use clap::Parser;
use pagetide_workloads::{Workload, run};
use std::process::ExitCode;

/// Programs with known access patterns
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    workload: Workload,
}

fn main() -> ExitCode {
    run(&Arguments::parse().workload).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}
