//! Models in TOML: some are built in and have a name, others are files at a path. What is wrong with
//! one is said in words, with the nearest known name or key.

use crate::lines;
use pagetide_types::nearest;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Something that a TOML file describes.
pub trait Model: DeserializeOwned {
    /// What it is, in one word.
    const KIND: &'static str;
    /// Those that are built in, names and texts; the first is the default.
    const BUILT_IN: &'static [(&'static str, &'static str)];
    /// The keys of the file ("") and of each of its tables. Others are errors.
    const KEYS: &'static [(&'static str, &'static [&'static str])];

    /// The first value that makes no sense, in words.
    fn problem(&self) -> Option<String>;
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No built-in one has this name.
    #[error("there is no {kind} '{name}'; {hint}known: {known} (or give the path of a .toml file)")]
    UnknownName {
        /// What was asked for: a machine, a topology.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// The nearest known name, as half a sentence, or empty.
        hint: String,
        /// All names.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read the {kind} file {}: {source}", path.display())]
    Read {
        /// What was asked for.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML, or a key is missing or of the wrong kind.
    #[error("{origin}: {source}")]
    Syntax {
        /// File or built-in name.
        origin: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// The file has a key that means nothing.
    #[error("{origin}: unknown key '{key}'; {hint}known here: {known}")]
    UnknownKey {
        /// File or built-in name.
        origin: String,
        /// The key, with its table.
        key: String,
        /// The nearest known key, as half a sentence, or empty.
        hint: String,
        /// All keys of that table.
        known: String,
    },
    /// A value makes no sense.
    #[error("{origin}: {problem}")]
    Value {
        /// File or built-in name.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// Names of the built-in models, the default first.
pub fn names<M: Model>() -> impl Iterator<Item = &'static str> {
    M::BUILT_IN.iter().map(|(name, _)| *name)
}

/// A built-in model by name, or the file at a path (anything with a `/` or ending in `.toml`).
///
/// # Errors
/// An unknown name, an unreadable file, unknown keys or senseless values, each in words.
pub fn load<M: Model>(name_or_path: &str) -> Result<M, ModelError> {
    let (text, origin) = text::<M>(name_or_path)?;
    let lines = |error| at_its_line(error, &text);
    parse(&text, &origin).map_err(lines)
}

/// The same error, with the line that it is about; the parser's own say theirs.
fn at_its_line(error: ModelError, text: &str) -> ModelError {
    match error {
        ModelError::UnknownKey { origin, key, hint, known } => {
            let (table, name) = key.rsplit_once('.').unwrap_or(("", &key));
            let origin = lines::named(&origin, lines::of_key(text, table, name));
            ModelError::UnknownKey { origin, key, hint, known }
        }
        ModelError::Value { origin, problem } => {
            let origin = lines::named(&origin, lines::of_problem(text, &problem));
            ModelError::Value { origin, problem }
        }
        other => other,
    }
}

/// The same as the table that its text is, for those who change a value before it is [parsed](parse).
///
/// # Errors
/// An unknown name, an unreadable file, what is no TOML.
pub fn table<M: Model>(name_or_path: &str) -> Result<toml::Table, ModelError> {
    let (text, origin) = text::<M>(name_or_path)?;
    text.parse().map_err(|source| ModelError::Syntax { origin, source: Box::new(source) })
}

/// Bytes of a file at most; `/dev/zero` has no end.
const LONGEST: u64 = 1 << 20;

fn limited(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other(format!("it is longer than {LONGEST} bytes")));
    }
    Ok(text)
}

/// Its text, and what names it in errors.
fn text<M: Model>(name_or_path: &str) -> Result<(Cow<'static, str>, String), ModelError> {
    let kind = M::KIND;
    let known = || names::<M>().collect::<Vec<_>>().join(", ");
    if name_or_path.contains('/') || name_or_path.ends_with(".toml") {
        let path = PathBuf::from(name_or_path);
        let text = limited(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let problem = format!("there is no such file; by name there are {}", known());
                io::Error::new(ErrorKind::NotFound, problem)
            }
            _ => error,
        });
        let text = text.map_err(|source| ModelError::Read { kind, path, source })?;
        return Ok((text.into(), name_or_path.to_owned()));
    }
    match M::BUILT_IN.iter().find(|(name, _)| *name == name_or_path) {
        Some((name, text)) => Ok(((*text).into(), format!("{kind} {name}"))),
        None => Err(ModelError::UnknownName {
            kind,
            name: name_or_path.to_owned(),
            hint: nearest(name_or_path, names::<M>()),
            known: known(),
        }),
    }
}

/// Reads a model from a table that nobody wrote as a text: errors name keys, not lines.
///
/// # Errors
/// As [`parse`].
pub fn of_table<M: Model>(table: &toml::Table, origin: &str) -> Result<M, ModelError> {
    let text = table.to_string();
    parse(&text, origin).map_err(|error| match error {
        ModelError::Syntax { origin, source } => {
            let line = source.span().map(|span| lines::entry(&text, span.start));
            let line = line.filter(|line| !line.is_empty()).map(|line| format!("{line}: "));
            let problem = format!("{}{}", line.unwrap_or_default(), source.message());
            ModelError::Value { origin, problem }
        }
        other => other,
    })
}

/// Reads a model from TOML; `origin` names it in errors.
///
/// # Errors
/// As [`load`].
pub fn parse<M: Model>(text: &str, origin: &str) -> Result<M, ModelError> {
    let syntax =
        |source| ModelError::Syntax { origin: origin.to_owned(), source: Box::new(source) };
    let table: toml::Table = text.parse().map_err(syntax)?;
    for (name, known) in M::KEYS {
        let mut path = name.split('.');
        let first = path.next().and_then(|part| table.get(part));
        let at = path.fold(first, |at, part| at.and_then(|at| at.get(part)));
        // A table, or a list of them.
        let entries: Vec<&toml::Table> = match at {
            _ if name.is_empty() => vec![&table],
            Some(toml::Value::Table(entry)) => vec![entry],
            Some(toml::Value::Array(all)) => all.iter().filter_map(|it| it.as_table()).collect(),
            _ => Vec::new(),
        };
        let unknown = |key: &&String| !known.contains(&key.as_str());
        if let Some(key) = entries.into_iter().flat_map(toml::Table::keys).find(unknown) {
            return Err(ModelError::UnknownKey {
                origin: origin.to_owned(),
                key: if name.is_empty() { key.clone() } else { format!("{name}.{key}") },
                hint: nearest(key, known.iter().copied()),
                known: known.join(", "),
            });
        }
    }
    let model: M = toml::from_str(text).map_err(syntax)?;
    match model.problem() {
        Some(problem) => Err(ModelError::Value { origin: origin.to_owned(), problem }),
        None => Ok(model),
    }
}
