//! Figures and tables of AMP (Heo and others, "Adaptive Page Migration Policy with Huge Pages in
//! Tiered Memory Systems", IEEE TC 2020) from recordings: docs/reproduction.md.
//! `make reproduce-amp` runs it; nothing is fitted.
//!
//! `cargo run --release -p pagetide-replay --example reproduce-amp -- WHAT ...`, where WHAT is
//! - `accessed RECORDING...`: what was accessed of programs that ran one after the other;
//! - `frequency|scan-ratios|within NAME RECORDING`: figures 3, 4 and 7;
//! - `choices FOLDER`: section 6.6 from the tables `accessed-*.csv` in a folder;
//! - `page FOLDER`: the tables of the page from all tables in a folder.

mod accessed;
mod choices;
mod figures;
mod frequency;
mod page;
mod programs;
mod published;
mod right;
mod scan_ratios;
mod within;

use accessed::Accessed;
use pagetide_trace::Recording;
use std::error::Error;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["accessed", _, ..] => print!("{}", Accessed::of(&arguments[1..])?.to_csv()),
        ["frequency", name, path] => {
            println!("{}", frequency::HEADER);
            print!("{}", frequency::of(&Recording::open(path)?)?.lines(name));
        }
        ["scan-ratios", name, path] => {
            println!("{}", scan_ratios::HEADER);
            print!("{}", scan_ratios::lines(name, &Recording::open(path)?)?);
        }
        ["within", name, path] => {
            println!("{}", within::HEADER);
            print!("{}", within::of(&Recording::open(path)?)?.lines(name));
        }
        ["choices", folder] => {
            println!("{}", choices::HEADER);
            for (name, table) in tables(folder)? {
                print!("{}", choices::lines(&name, &choices::choices(&table)?));
            }
        }
        ["page", folder] => {
            let table = |(name, table): &(String, Accessed)| {
                let interval_s = choices::interval_s(table)?;
                let rows = choices::choices(table)?;
                Ok(published::Table { name: name.clone(), interval_s, rows })
            };
            let tables = tables(folder)?.iter().map(table).collect::<Result<Vec<_>>>()?;
            print!("{}", published::section(&tables));
            for table in tables.iter().filter(|table| !table.name.ends_with(COUNTED)) {
                let of = format!("{}{COUNTED}", table.name);
                let counted = tables.iter().find(|other| other.name == of);
                let counted = counted.map_or(&[][..], |counted| &counted.rows);
                print!("{}", page::section(&table.name, &table.rows, counted));
            }
            print!("{}", figures::section(Path::new(folder))?);
        }
        _ => return Err("give accessed, frequency, scan-ratios, within, choices or page".into()),
    }
    Ok(())
}

/// What a table's name ends with if it holds what the programs themselves counted.
const COUNTED: &str = "-counted";

/// The tables `accessed-NAME.csv` of a folder, by name.
fn tables(folder: &str) -> Result<Vec<(String, Accessed)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(name) = file.strip_prefix("accessed-").and_then(|n| n.strip_suffix(".csv")) {
            let text = std::fs::read_to_string(&path)?;
            let table =
                Accessed::from_csv(&text).map_err(|e| format!("{}: {e}", path.display()))?;
            found.push((name.to_owned(), table));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    if found.is_empty() {
        return Err(format!("{folder}: no accessed-*.csv").into());
    }
    Ok(found)
}
