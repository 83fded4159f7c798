//! `pagetide reproduce`: published figures made again.

use crate::commands::{out, print_json};
use crate::progress::Progress;
use crate::reproduce_args::ReproduceArgs;
use crate::tell::tell;
use crate::{exit, interrupt};
use anyhow::{Context as _, Result, anyhow, bail};
use pagetide_privilege::{Paths, without_privileges};
use pagetide_report::Style;
use pagetide_reproduce::{Context, Done, Figure, PAPERS, Paper, ReproduceError, Store};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Where this repository keeps what documents show.
const IN_THE_TREE: &str = "benches/results";

pub(crate) fn run(arguments: &ReproduceArgs) -> Result<ExitCode> {
    let paper = arguments.paper.as_deref().map(pagetide_reproduce::paper).transpose()?;
    let lists = arguments.list || paper.is_none() && !asks_for_figures(arguments);
    if paper.is_none() && !lists && arguments.recorded.is_empty() {
        exit::missing(
            "reproduce",
            "of which paper? pagetide reproduce lists them with their figures",
        );
    }
    let writes = !lists && arguments.recorded.is_empty();
    let results = writes.then(|| results(arguments)).transpose()?;
    without_privileges(&Paths {
        read: arguments.recorded.iter().map(PathBuf::from).collect(),
        written: Vec::new(),
        appended: results.iter().chain(&arguments.csv).cloned().collect(),
    })?;
    if !arguments.recorded.is_empty() {
        if arguments.paper.as_deref() != Some("amp") {
            bail!("--recorded is for amp");
        }
        let words: Vec<&str> = arguments.recorded.iter().map(String::as_str).collect();
        out(&pagetide_reproduce::amp_recorded(&words)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(paper) = paper.filter(|_| !lists) {
        return make(paper, arguments);
    }
    let papers = paper.map_or(PAPERS, std::slice::from_ref);
    if arguments.json {
        print_json(&pagetide_reproduce::list_json(papers))?;
    } else {
        out(&pagetide_reproduce::list(papers, Style::of_stdout().width()))?;
    }
    if !arguments.list && !arguments.json {
        tell!(
            "pagetide: note: pagetide reproduce PAPER FIGURE makes one of them, e.g. pagetide reproduce amp table-6"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether something is to be made that takes a paper.
fn asks_for_figures(arguments: &ReproduceArgs) -> bool {
    let ReproduceArgs { slow, small, markdown, .. } = *arguments;
    slow || small || markdown || arguments.scale.is_some() || arguments.csv.is_some()
}

fn make(paper: &'static Paper, arguments: &ReproduceArgs) -> Result<ExitCode> {
    let figures = chosen(paper, arguments)?;
    if let Some(folder) = &arguments.csv {
        // Better known now than after all is computed.
        pagetide_reproduce::make_folder(folder).context("--csv")?;
    }
    interrupt::listen();
    let progress = Arc::new(Progress::new("reproducing", None, arguments.quiet, Vec::new()));
    let context = context(paper, arguments, &progress)?;
    if arguments.small {
        tell!(
            "pagetide: note: --small makes fewer and shorter points than were published; whether their figures \
             are met or missed says nothing of the paper"
        );
    }
    let in_tables = !arguments.json && !arguments.markdown;
    let mut done = Vec::new();
    for figure in figures {
        progress.update(vec![format!("{} {}", paper.name, figure.id)]);
        let outcome = match figure.make(&context) {
            Err(ReproduceError::Stopped) => {
                progress.finish();
                tell!("pagetide: interrupted; what is finished is kept, the same command goes on");
                return Ok(ExitCode::from(exit::INTERRUPTED));
            }
            other => other.with_context(|| format!("{} {}", paper.name, figure.id))?,
        };
        let made = Done { figure, outcome };
        if let Some(folder) = &arguments.csv {
            pagetide_reproduce::write_csv(folder, paper, &made).context("--csv")?;
        }
        if in_tables {
            let gap = if done.is_empty() { "" } else { "\n" };
            let text = pagetide_reproduce::text(paper, &made, Style::of_stdout().width());
            progress.aside(|| out(&format!("{gap}{text}")))?;
        }
        done.push(made);
    }
    progress.finish();
    if arguments.json {
        print_json(&pagetide_reproduce::json(paper, &context, &done))?;
    } else if arguments.markdown {
        let pictures = arguments.pictures.as_deref();
        out(&pagetide_reproduce::markdown(paper, &done, pictures))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The figure that was asked for, or all that are not slow; what is left out is said.
fn chosen(paper: &'static Paper, arguments: &ReproduceArgs) -> Result<Vec<&'static Figure>> {
    if let Some(id) = &arguments.figure {
        return Ok(vec![paper.figure(id)?]);
    }
    if paper.figures.is_empty() {
        bail!("of {} no figure can be made again so far", paper.name);
    }
    let (chosen, left_out): (Vec<&Figure>, Vec<&Figure>) =
        paper.figures.iter().partition(|figure| arguments.slow || !figure.slow);
    if !left_out.is_empty() {
        let ids: Vec<&str> = left_out.iter().map(|figure| figure.id).collect();
        tell!("pagetide: note: left out as slow: {}; --slow makes them, too", ids.join(", "));
    }
    Ok(chosen)
}

fn context(paper: &Paper, arguments: &ReproduceArgs, progress: &Arc<Progress>) -> Result<Context> {
    let place = match arguments.results {
        Some(_) => "--results",
        None => "results have no place; give one with --results DIR",
    };
    let store = Store::open(&results(arguments)?).context(place)?;
    for note in store.notes() {
        tell!("pagetide: note: {note}");
    }
    let shown = Arc::clone(progress);
    Ok(Context {
        store: store.stop_when(interrupt::asked).on_progress(move |now| {
            let mut parts = vec![format!("{} of {} points", now.done, now.total)];
            parts.extend(now.last.iter().map(ToString::to_string));
            shown.update(parts);
        }),
        scale: arguments.scale.unwrap_or(paper.scale),
        small: arguments.small,
        threads: arguments.threads.unwrap_or(0),
        tables: Some(Path::new(IN_THE_TREE).join(paper.name)).filter(|folder| folder.is_dir()),
    })
}

fn results(arguments: &ReproduceArgs) -> Result<PathBuf> {
    if let Some(folder) = &arguments.results {
        return Ok(folder.clone());
    }
    // Of another project's folder of this name we keep away.
    if Path::new(IN_THE_TREE).is_dir() && Path::new("benches/reproduction.py").is_file() {
        return Ok(Path::new(IN_THE_TREE).join("reproduce"));
    }
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = of("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(of("HOME")?).join(".cache")));
    let cache =
        cache.ok_or_else(|| anyhow!("there is no home to keep results in; give --results"))?;
    Ok(cache.join("pagetide/reproduce"))
}
