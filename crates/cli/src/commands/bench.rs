//! `pagetide bench`: what moving pages costs on this machine.

use crate::commands::{out, print_json};
use crate::live_args::{BenchCommand, BenchMigrateArgs};
use anyhow::Result;
use pagetide_host::Host;
use pagetide_manager::{TierError, Tiers};
use pagetide_migrate::LiveKernel;
use pagetide_migrate::bench::Plan;
use pagetide_report::Style;
use pagetide_types::NodeId;
use std::process::ExitCode;

pub(crate) fn run(command: &BenchCommand) -> Result<ExitCode> {
    match command {
        BenchCommand::Migrate(arguments) => migrate(arguments),
    }
}

fn migrate(arguments: &BenchMigrateArgs) -> Result<ExitCode> {
    let host = Host::live();
    let nodes = |node: Option<u16>| node.map(NodeId).into_iter().collect::<Vec<_>>();
    let tiers = Tiers::read(&host, &nodes(arguments.fast_node), &nodes(arguments.slow_node));
    let between = match tiers {
        Ok(tiers) => {
            let fast = tiers.fast[0];
            Ok((fast, tiers.nearest(fast, &tiers.slow)[0]))
        }
        Err(TierError::OneNode(node)) => Err(node),
        Err(error) => return Err(error.into()),
    };
    let cpu = host.cpu();
    let plan = Plan {
        pages: arguments.page_size.clone(),
        batches: arguments.batch.clone(),
        threads: arguments.threads.clone(),
        size: arguments.size,
        rounds: arguments.rounds,
        cpus: cpu.count,
        // QEMU says so in the model's name.
        emulated: cpu.model.contains("TCG"),
        between,
    };
    let table = plan.run(LiveKernel::new(host), |_| {})?;
    if arguments.json {
        print_json(&table)?;
    } else {
        out(&pagetide_report::bench_migrate(&table, Style::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}
