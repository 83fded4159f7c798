//! AMP's section 6.6 and figures 3, 4 and 7 from recordings, and the tables that are kept of these:
//! docs/reproduction/amp-recorded.md. Nothing is fitted.

mod accessed;
mod choices;
mod figures;
mod frequency;
mod page;
mod programs;
mod published;
mod right;
mod scan_ratios;
pub(super) mod table_6;
mod within;

use crate::ReproduceError;
use accessed::Accessed;
use pagetide_trace::Recording;
use published::Table;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, ReproduceError>;

/// What [`recorded`] understands.
const KNOWN: &str = "accessed RECORDING..., frequency NAME RECORDING, scan-ratios NAME RECORDING, \
                     within NAME RECORDING, choices DIR, page DIR";

/// Tables from recordings of programs, and a page from tables, as text. What is wanted is said in words:
/// - `accessed RECORDING...`: what was accessed of programs that ran one after the other;
/// - `frequency|scan-ratios|within NAME RECORDING`: figures 3, 4 and 7;
/// - `choices DIR`: section 6.6 from the tables `accessed-*.csv` in a folder;
/// - `page DIR`: the tables of the page, in Markdown, from all tables in a folder.
///
/// # Errors
/// Other words; a recording or a table that cannot be read.
pub fn recorded(words: &[&str]) -> Result<String> {
    match words {
        ["accessed", paths @ ..] if !paths.is_empty() => Ok(Accessed::of(paths)?.to_csv()),
        ["frequency", name, path] => {
            let lines = frequency::of(&Recording::open(path)?)?.lines(name);
            Ok(format!("{}\n{lines}", frequency::HEADER))
        }
        ["scan-ratios", name, path] => {
            let lines = scan_ratios::lines(name, &Recording::open(path)?)?;
            Ok(format!("{}\n{lines}", scan_ratios::HEADER))
        }
        ["within", name, path] => {
            let lines = within::of(&Recording::open(path)?)?.lines(name);
            Ok(format!("{}\n{lines}", within::HEADER))
        }
        ["choices", folder] => {
            let mut text = format!("{}\n", choices::HEADER);
            for (name, table) in tables(Path::new(folder))? {
                text += &choices::lines(&name, &choices::choices(&table)?);
            }
            Ok(text)
        }
        ["page", folder] => page(Path::new(folder)),
        _ => Err(wrong(format!("'{}' is not understood; known are {KNOWN}", words.join(" ")))),
    }
}

fn page(folder: &Path) -> Result<String> {
    let tables = tables(folder)?.into_iter().map(replayed).collect::<Result<Vec<_>>>()?;
    let mut text = published::section(&tables);
    for table in tables.iter().filter(|table| !table.name.ends_with(COUNTED)) {
        let of = format!("{}{COUNTED}", table.name);
        let counted = tables.iter().find(|other| other.name == of);
        let counted = counted.map_or(&[][..], |counted| &counted.rows);
        text += &page::section(&table.name, &table.rows, counted);
    }
    Ok(text + &figures::section(folder)?)
}

/// What AMP chooses on a table.
fn replayed((name, table): (String, Accessed)) -> Result<Table> {
    let interval_s = choices::interval_s(&table)?;
    Ok(Table { name, interval_s, rows: choices::choices(&table)? })
}

/// What a table's name ends with if it holds what the programs themselves counted.
const COUNTED: &str = "-counted";

/// The tables `accessed-NAME.csv` of a folder, by name.
fn tables(folder: &Path) -> Result<Vec<(String, Accessed)>> {
    let mut found = Vec::new();
    for path in files(folder)? {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(name) = file.strip_prefix("accessed-").and_then(|n| n.strip_suffix(".csv")) {
            let text = std::fs::read_to_string(&path).map_err(ReproduceError::file(&path))?;
            let table = Accessed::from_csv(&text);
            let table = table.map_err(|error| wrong(format!("{}: {error}", path.display())))?;
            found.push((name.to_owned(), table));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    if found.is_empty() {
        return Err(wrong(format!("{}: no accessed-*.csv", folder.display())));
    }
    Ok(found)
}

/// What lies in a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(ReproduceError::file(folder))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>();
    paths.map_err(ReproduceError::file(folder))
}

/// What is wrong with a table, or with words.
fn wrong(what: impl Into<String>) -> ReproduceError {
    ReproduceError::Other(what.into())
}
