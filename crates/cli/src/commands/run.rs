//! `pagetide run`: observes a target, and moves its pages between tiers as a policy decides. What happens in an epoch is
//! decided in crates/manager (manager/decide.rs).

use crate::commands::heeding::{Heeding, leaving};
use crate::commands::log::Log;
use crate::commands::outputs::Outputs;
use crate::commands::record::{check_command, code, header, note_killed, target};
use crate::commands::verify::Said;
use crate::commands::writing::{Output, Writing};
use crate::commands::{self, list_machines, out, print_json};
use crate::exit;
use crate::interrupt;
use crate::live_args::RunArgs;
use crate::notes::{CTRL_C_ENDS, Notes};
use crate::progress::Progress;
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use pagetide_host::Host;
use pagetide_machine::Machine;
use pagetide_manager::{
    Amount, Budget, Ended, Follow, Manager, Settings, TakeOver, TierError, Tiers, restore_left_over,
};
use pagetide_migrate::{LiveKernel, Mover, prefer_node, prefer_nodes};
use pagetide_policy::{Class, CostBenefit, GovernorSpec, PolicySpec, REGISTRY, SpecError};
use pagetide_privilege::Capabilities;
use pagetide_report::Style;
use pagetide_scan::{
    End, LINES_OF_A_TOUCH, Observer, Options, Recorder, ScanError, SinglePages, Target,
};
use pagetide_trace::RecordingWriter;
use pagetide_types::{Bytes, NodeId, UnitSize, nearest};
use std::process::ExitCode;
use std::time::Duration;

/// The first epoch, after which pages move, if epochs are not shorter in any case.
const FIRST_EPOCH: Duration = Duration::from_secs(1);

/// Share of each core that the target keeps busy which observing may cost: as much as Linux lets a thread spend
/// on scanning for NUMA balancing, a thirty-third of its time.
const BUDGET: f64 = 0.03;

/// Bytes of a cache line.
const LINE: f64 = 64.0;
/// Of a page that is read in order the first lines are waited for as in any touch, and of all others so many are on their way
/// at once (inferred): of 16 GB/s from memory 100 ns away, as one core reads, there are 25 lines in the latency.
const ON_THEIR_WAY: f64 = 24.0;
/// What a line of such a page counts for.
const IN_ORDER: f64 =
    (LINES_OF_A_TOUCH + (64.0 - LINES_OF_A_TOUCH) * LINES_OF_A_TOUCH / ON_THEIR_WAY) / 64.0;

/// So many base pages have rates of their own at most, 2 GiB: each takes memory of ours, and time in every
/// epoch.
const SINGLE_PAGES: u64 = 1 << 19;

pub(crate) fn run(arguments: &RunArgs) -> Result<ExitCode> {
    if arguments.machine == "list" {
        return list_machines();
    }
    // Everything that can be wrong is found before anything is started.
    let Some(target) = target(&arguments.target) else {
        exit::missing(
            "run",
            "nothing to manage; name a command after --, or give --pid or --cgroup",
        );
    };
    check_command(&target)?;
    let account = arguments.account.of(matches!(target, Target::Command(_)))?;
    let policy = policy(&arguments.policy)?;
    let governor: GovernorSpec = arguments.governor.parse()?;
    let machine = commands::machine(&arguments.machine)?;
    let host = Host::live();
    let tiers = tiers(&host, arguments)?;
    if let Some(note) = too_much(&tiers, arguments.fast) {
        tell!("pagetide: note: {note}");
    }
    let output = arguments.record.as_deref().map(Output::to_keep);
    output.map_or(Ok(()), Output::check)?;
    output.into_iter().for_each(Output::say_what_it_is);
    let planned = arguments.verify.as_deref();
    let planned = planned.map(|path| Said::of(path, &policy, &arguments.machine)).transpose()?;
    let log = arguments.log.as_deref().map(Log::create).transpose()?;
    if let (Some(output), Some(log)) = (output, &log)
        && log.is_at(output.path)
    {
        bail!(
            "--log and --record both name {}; give each a name of its own",
            output.path.display()
        );
    }
    let by_rates = policy.info().needs.by_rates;
    let settings = Settings {
        policy,
        budget: Budget {
            fast: arguments.fast,
            reserve: arguments.reserve,
            rate: arguments.move_rate,
            batch: arguments.promote_batch,
            keep_page_cache: arguments.keep_page_cache,
        },
        cost_benefit: Some(cost_benefit(&host, &tiers, &machine, arguments)),
        dry_run: arguments.dry_run,
        target: target.describe(),
    };
    interrupt::listen();
    let features = host.features();
    let taken = take_over(&host, features.numa_balancing, arguments)?;
    let observer = Observer::start(&host, &features)?;
    // A recording holds units of one size.
    let one_size = if output.is_some() { UnitSize::Huge } else { UnitSize::Base };
    let unit = arguments.unit.unwrap_or(one_size);
    // A touch of a page brings in several lines; whatever is touched less than once a second is alike.
    let pays_from = settings.cost_benefit.map_or(0.0, |terms| terms.pays_from());
    let matters = (pays_from / LINES_OF_A_TOUCH).clamp(1.0, 1e6);
    let single = SinglePages { at_most: SINGLE_PAGES, matters };
    let options = Options {
        epoch: arguments.epoch,
        opening: Some(FIRST_EPOCH),
        unit,
        single_pages: (unit == UnitSize::Base).then_some(single),
        budget: arguments.budget.unwrap_or(BUDGET),
        // A recording says what its budget was.
        by_busy_cores: arguments.budget.is_none() && output.is_none(),
        // A recording is for who plans with it, and other policies go by what was seen accessed.
        thrifty: output.is_none() && by_rates && !arguments.payback.is_zero(),
        limit: arguments.limit,
        account: account.clone(),
        output_aside: arguments.json,
        clear_shared: arguments.clear_shared,
        cache_per_core: machine.cache_per_core.unwrap_or(Options::default().cache_per_core),
        // Nothing of it can be moved.
        unmapped: false,
        ..Options::default()
    };
    let header = header(&features, &target, &options, &observer);
    let writer = output
        .map(|output| RecordingWriter::create(output.path, &header, output.owner))
        .transpose()?;
    if let (false, Target::Command(_)) = (arguments.dry_run || tiers.fast.is_empty(), &target) {
        // The command inherits it.
        if let Err(error) = prefer_nodes(&tiers.fast) {
            tracing::debug!(%error, "the command's memory begins where the kernel puts it");
        }
    }
    let recorder = match Recorder::start(observer, host.clone(), &target, options) {
        Ok(recorder) => recorder,
        Err(error) => {
            // Nothing was seen: leave no empty recording behind.
            writer.into_iter().for_each(RecordingWriter::discard);
            return Err(error.into());
        }
    };
    if let (false, Some(slow)) = (arguments.dry_run, tiers.slow.first()) {
        // Fast memory is the target's. Only now: a command that was started must not inherit it.
        if let Err(error) = prefer_node(*slow) {
            tracing::debug!(%error, "our own memory lies anywhere");
        }
    }
    pagetide_privilege::confine(Capabilities::RECORDING)?;
    arguments.account.say(account.as_ref());
    if let Some(note) = Notes::at_the_start(&recorder) {
        tell!("pagetide: note: {note}");
    }
    let recording = writer.zip(output).map(|(writer, to)| Writing::start(writer, to.path));
    let mut outputs = Outputs::new(log, recording);
    // Assumed tiers stay as they are.
    let real = !tiers.fast.is_empty();
    let follow = real.then(|| follow(host.clone(), arguments));
    let heeds = real && !arguments.dry_run;
    let mut heeding = if heeds { Heeding::begin(&host, arguments.epoch) } else { Heeding::no() };
    let mover = Mover::new(LiveKernel::new(host), moving(arguments));
    let mut manager = Manager::new(recorder, mover, tiers, (&governor).into(), settings);
    if let Some(follow) = follow {
        manager = manager.following(follow);
    }
    let progress =
        Progress::new("managing", arguments.limit, arguments.quiet, vec![CTRL_C_ENDS.to_owned()]);
    let mut notes = Notes::new(arguments.clear_shared, arguments.epoch, None);
    let said = (&progress, &mut notes, &mut heeding);
    let end = watch(&mut manager, arguments, said, &mut outputs);
    drop(heeding);
    progress.finish();
    let mut said = notes.at_the_end(manager.tracker(), false);
    if manager.summary().last.capacity == Bytes(0) && manager.summary().epochs > 0 {
        said.push("the target may have no fast memory: what is to stay free (--reserve) leaves none of it".to_owned());
    }
    manager.note(said);
    drop(taken);
    let written = outputs.finish();
    if end.as_ref().is_ok_and(|end| !matches!(end, End::TargetEnded(_))) {
        // A command that cannot be observed any more goes on: it is not to suffer from us.
        note_killed(&manager.tracker().terminate());
    }
    let mut summary = manager.summary().clone();
    summary.ended = end.as_ref().ok().map(|end| match end {
        End::TargetEnded(_) => Ended::Target,
        End::Limit => Ended::Limit,
        End::Stopped => Ended::Interrupt,
    });
    let half = summary.parts.second_half();
    if planned.is_some() && half.is_none() {
        tell!(
            "pagetide: note: nothing to verify: no epoch with accesses began in the second half of the run"
        );
    }
    summary.verified = planned.and_then(|said| said.beside(half));
    if arguments.json {
        print_json(&summary)?;
    } else if summary.epochs > 0 {
        out(&pagetide_report::run_summary(&summary, Style::of_stdout()))?;
    } else if summary.ended == Some(Ended::Target) {
        tell!("pagetide: note: the target ended before anything of it was seen");
    }
    let code = code(end?);
    Ok(if written { code } else { ExitCode::from(exit::FAILED) })
}

/// Puts the kernel's own balancing aside, if it is on and that was asked for.
fn take_over(host: &Host, mode: Option<u32>, arguments: &RunArgs) -> Result<Option<TakeOver>> {
    let left = restore_left_over(host).context("restoring kernel.numa_balancing")?;
    let mode = match &left {
        Some(value) => {
            tell!(
                "pagetide: note: kernel.numa_balancing is {value} again: a run that was killed had put \
                 it aside"
            );
            value.parse().ok()
        }
        None => mode,
    };
    let on = match mode {
        None | Some(0) => return Ok(None),
        Some(_) if arguments.dry_run => return Ok(None),
        Some(mode) => mode,
    };
    if arguments.take_over {
        let taken = TakeOver::begin(host).context("putting kernel.numa_balancing aside")?;
        tell!("pagetide: note: kernel.numa_balancing is 0 until this run ends; it was {on}");
        return Ok(Some(taken));
    }
    bail!(
        "the kernel moves pages itself (kernel.numa_balancing={on}) and would undo what this run \
         does; --take-over puts that aside for the run and restores it after, or set it to 0 \
         yourself: sysctl kernel.numa_balancing=0"
    );
}

/// A policy that can be run.
fn policy(name: &str) -> Result<PolicySpec> {
    let policy: PolicySpec = name.parse().map_err(only_what_runs)?;
    if policy.info().class == Class::Bound {
        bail!(
            "policy {} is a bound to compare with and cannot be run: it knows the future, or \
             ignores the budget; `pagetide policies` lists those that can",
            policy.info().name
        );
    }
    Ok(policy)
}

/// Of a name that is unknown: those to choose from, without the bounds.
fn only_what_runs(error: SpecError) -> SpecError {
    let SpecError::UnknownName { kind, name, .. } = error else { return error };
    let can_run = REGISTRY.iter().filter(|info| info.class == Class::Runnable);
    let names: Vec<&str> = can_run.map(|info| info.name).collect();
    let meant = nearest(&name, names.iter().copied());
    let known = format!("{meant}those that can be run are {}", names.join(", "));
    SpecError::UnknownName { kind, name, known }
}

/// The tiers; in a dry run on one node such as are assumed.
fn tiers(host: &Host, arguments: &RunArgs) -> Result<Tiers> {
    match Tiers::read(host, &nodes(&arguments.fast_nodes), &nodes(&arguments.slow_nodes)) {
        Err(TierError::OneNode(node)) if arguments.dry_run => match arguments.fast {
            Some(Amount::Bytes(_)) => Ok(Tiers::assumed(host)),
            Some(Amount::Share(share)) => exit::missing(
                "run",
                &format!(
                    "one memory node ({node}): there is no fast tier of which --fast could be {}%; say with --fast SIZE \
                     (--fast 4G, say) how much fast memory to assume",
                    share * 100.0
                ),
            ),
            None => exit::missing(
                "run",
                &format!(
                    "one memory node ({node}): say with --fast SIZE (--fast 4G, say) how much fast memory to assume"
                ),
            ),
        },
        // Storage may become slow memory later.
        Err(TierError::OneNode(_) | TierError::OneTier(_)) if may_grow(host) => {
            tell!(
                "pagetide: note: no slow memory yet; what is turned into memory meanwhile (pagetide shift, daxctl) is used"
            );
            Ok(Tiers::now(host, &nodes(&arguments.fast_nodes), &nodes(&arguments.slow_nodes))?)
        }
        tiers => Ok(tiers?),
    }
}

/// That `--fast` is more than there is.
fn too_much(tiers: &Tiers, fast: Option<Amount>) -> Option<String> {
    let Some(Amount::Bytes(fast)) = fast else { return None };
    let assumed = tiers.fast.is_empty();
    let there = if assumed { tiers.total(&tiers.slow) } else { tiers.fast_total() };
    let (what, so) = if assumed {
        ("memory", "whatever runs here fits into it")
    } else {
        ("fast memory", "it limits nothing")
    };
    (fast > there).then(|| {
        format!("--fast {fast} is more than the {there} of {what} that this machine has: {so}")
    })
}

fn nodes(numbers: &[u16]) -> Vec<NodeId> {
    numbers.iter().copied().map(NodeId).collect()
}

/// Whether there are dax devices: persistent or CXL memory that may come and go as memory.
fn may_grow(host: &Host) -> bool {
    host.dax_devices().is_ok_and(|devices| !devices.is_empty())
}

/// The tiers after each epoch; none where they cannot be read just then.
fn follow(host: Host, arguments: &RunArgs) -> Follow {
    let (fast, slow) = (nodes(&arguments.fast_nodes), nodes(&arguments.slow_nodes));
    Box::new(move || {
        let mut tiers = Tiers::now(&host, &fast, &slow)
            .inspect_err(|error| tracing::debug!(%error, "the tiers are taken to be as before"))
            .ok()?;
        tiers.leaving = leaving(&host);
        Some(tiers)
    })
}

/// What moves cost and bring here.
fn cost_benefit(host: &Host, tiers: &Tiers, machine: &Machine, arguments: &RunArgs) -> CostBenefit {
    let latency = |nodes: &[NodeId]| {
        nodes
            .iter()
            .map(|node| host.read_latency_ns(*node))
            .collect::<Option<Vec<u32>>>()?
            .into_iter()
            .min()
    };
    let here = match (latency(&tiers.fast), latency(&tiers.slow)) {
        (Some(fast), Some(slow)) if slow > fast => Some((f64::from(fast), f64::from(slow))),
        _ => None,
    };
    let slow = &machine.tiers[1];
    let modelled = (machine.tiers[0].read_latency_ns, slow.read_latency_ns);
    let (fast_ns, slow_ns) = here.unwrap_or(modelled);
    let bandwidths = tiers.slow.iter().map(|node| host.read_bandwidth(*node));
    let bandwidth = bandwidths.sum::<Option<Bytes>>().filter(|_| here.is_some());
    let gb_s = bandwidth.map_or(slow.read_bandwidth_gb_s, |a_second| a_second.as_f64() * 1e-9);
    CostBenefit {
        // Lines that come in together are waited for once.
        gain_ns: (slow_ns - fast_ns) / LINES_OF_A_TOUCH,
        fast_ns: fast_ns / LINES_OF_A_TOUCH,
        channel_ns: LINE / gb_s,
        in_order: IN_ORDER,
        base_us: machine.migration.page_4k_us,
        huge_us: machine.migration.page_2m_us,
        within_s: arguments.payback.as_secs_f64(),
    }
}

fn moving(arguments: &RunArgs) -> pagetide_migrate::Options {
    pagetide_migrate::Options {
        threads: arguments.move_threads.into(),
        split: arguments.split_huge,
        time: Some(arguments.move_time.unwrap_or(arguments.epoch)),
        ..pagetide_migrate::Options::default()
    }
}

/// Epoch by epoch until something ends it.
fn watch(
    manager: &mut Manager<Recorder, LiveKernel>,
    arguments: &RunArgs,
    (progress, notes, heeding): (&Progress, &mut Notes, &mut Heeding),
    outputs: &mut Outputs,
) -> Result<End> {
    loop {
        let (line, end) = match manager.epoch(&interrupt::asked) {
            // A command may end before the first look at it.
            Err(ScanError::Gone(_)) => return Ok(End::TargetEnded(manager.tracker().status())),
            other => other?,
        };
        heeding.say(manager.heeded());
        let record = manager.take_record();
        let also = manager.tracker().also_watched();
        for note in record.as_ref().map(|record| notes.take(record, also)).unwrap_or_default() {
            progress.say(&format!("pagetide: note: {note}"));
        }
        if let Some(record) = record {
            outputs.record(record, progress);
        }
        if let Some(line) = line {
            outputs.log(&line, progress);
            let mut parts = pagetide_report::epoch_parts(&line);
            if arguments.verbose {
                progress.say(&parts.join(", "));
            }
            parts.push(CTRL_C_ENDS.to_owned());
            progress.update(parts);
        }
        if let Some(end) = end {
            return Ok(end);
        }
    }
}
