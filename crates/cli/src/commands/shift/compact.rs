//! `pagetide shift compact`: a node's pages moved together, on request.

use super::{kernel, need_root};
use crate::commands::{out, print_json};
use crate::shift_args::CompactArgs;
use anyhow::{Result, bail};
use pagetide_shift::{Compacted, Kernel};
use pagetide_types::NodeId;
use std::process::ExitCode;

pub(crate) fn compact(arguments: &CompactArgs) -> Result<ExitCode> {
    let (kernel, node) = (kernel(false)?, NodeId(arguments.node));
    let nodes: Vec<NodeId> = kernel.host().nodes()?.iter().map(|node| node.id).collect();
    if !nodes.contains(&node) {
        let there: Vec<String> = nodes.iter().map(NodeId::to_string).collect();
        bail!("this machine has no node {node}; it has {}", there.join(", "));
    }
    if arguments.dry_run {
        let free = kernel.free_blocks(node);
        if arguments.json {
            print_json(&free)?;
        } else {
            out(&format!(
                "node {node}: {} are free, with {} whole blocks of 2 MiB\n",
                free.free, free.blocks
            ))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    need_root()?;
    let compacted = pagetide_shift::compact(&kernel, node, arguments.time)?;
    if arguments.json {
        print_json(&compacted)?;
    } else {
        out(&format!("{}\n", words(&compacted)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What it brought.
pub(super) fn words(compacted: &Compacted) -> String {
    let Compacted { node, before, after, seconds, ended } = compacted;
    let end = if *ended { "" } else { "; its time was over before its end" };
    format!(
        "node {node} is compacted: {} whole blocks of 2 MiB in {} that are free, {} in {} before, in {seconds:.2} s{end}",
        after.blocks, after.free, before.blocks, before.free
    )
}
