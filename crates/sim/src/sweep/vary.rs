//! Values of a scenario that are changed from outside, named by dotted paths: `system.interval`,
//! `tenant.0.fast`, `machine.tier.slow.read_latency_ns`. Of a list a number or the `name` of an entry says
//! which one; without either, all of its entries are meant. Whether the scenario knows a key, its reader
//! says.

use pagetide_types::nearest;
use std::fmt;
use std::str::FromStr;
use toml::{Table, Value};

/// Keys of a path at most.
const LONGEST: usize = 16;

/// A value at a path: `system.interval=5`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub(super) path: String,
    pub(super) value: Value,
}

/// Values at a path, one after the other: `system.interval=1,5,10`.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    pub(super) path: String,
    pub(super) values: Vec<Value>,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, value) = parts(text, "system.interval=5")?;
        Ok(Self { path, value: self::value(value) })
    }
}

impl FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, values) = parts(text, "system.interval=1,5,10")?;
        if path == "system" || path == "tenant" {
            return Err(format!("'{text}': vary keys of {path}, for example {path}.name=a,b"));
        }
        let values: Vec<Value> = split(values).into_iter().map(value).collect();
        Ok(Self { path, values })
    }
}

impl Vary {
    /// A key whose values are these words.
    pub fn words(path: &str, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let values = words.into_iter().map(|word| Value::String(word.into())).collect();
        Self { path: path.to_owned(), values }
    }

    /// The key.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Setting {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) const fn value(&self) -> &Value {
        &self.value
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, word(&self.value))
    }
}

/// A value as it was written, texts without quotes.
pub(super) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) if number.abs() >= 1e16 => format!("{number:e}"),
        other => other.to_string(),
    }
}

fn parts<'a>(text: &'a str, example: &str) -> Result<(String, &'a str), String> {
    let (path, value) = text
        .split_once('=')
        .ok_or_else(|| format!("'{text}' has no '='; write for example {example}"))?;
    let (path, value) = (path.trim(), value.trim());
    let keys = path.split('.').count();
    if path.split('.').any(str::is_empty) || keys > LONGEST {
        return Err(format!("'{path}' is no path of keys; write for example {example}"));
    }
    if value.is_empty() {
        return Err(format!("'{text}' has no value; write for example {example}"));
    }
    Ok((path.to_owned(), value))
}

/// A value as TOML has it, else a text: `5`, `true`, `[1, 2]`, `16G`.
fn value(text: &str) -> Value {
    let text = text.trim();
    let parsed = format!("value = {text}").parse::<Table>().ok();
    // A line that ends and goes on with another key is no value.
    let parsed =
        parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Splits at commas that stand outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut begin) = (0usize, None, 0);
    let mut all = Vec::new();
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            (_, Some(end)) => quote = quote.filter(|_| letter != end),
            ('"' | '\'', None) => quote = Some(letter),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                all.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(&text[begin..]);
    all
}

/// Puts a value at a path. Tables that are not there are made.
///
/// # Errors
/// In words, what of the path leads nowhere.
pub(crate) fn set(at: &mut Value, path: &[&str], value: &Value) -> Result<(), String> {
    let Some((key, rest)) = path.split_first() else {
        *at = value.clone();
        return Ok(());
    };
    match at {
        Value::Table(table) => {
            let below = table.entry((*key).to_owned()).or_insert_with(|| Table::new().into());
            set(below, rest, value)
        }
        Value::Array(entries) => match chosen(entries, key, rest)? {
            Some(number) => set(&mut entries[number], rest, value),
            None => entries.iter_mut().try_for_each(|entry| set(entry, path, value)),
        },
        other => Err(format!("'{key}' leads nowhere: above it stands {}", word(other))),
    }
}

/// The path of a key that was given alone, but stands in a table, or in the tables of a list, of that scenario.
pub(crate) fn longer(scenario: &Table, key: &str) -> Option<String> {
    let holds = |value: &Value| match value {
        Value::Array(entries) => entries.iter().any(|entry| entry.get(key).is_some()),
        other => other.get(key).is_some(),
    };
    scenario.iter().find(|(_, value)| holds(value)).map(|(above, _)| format!("{above}.{key}"))
}

/// Which entry of a list a key means; none: it is a key of all of them.
pub(super) fn chosen(entries: &[Value], key: &str, rest: &[&str]) -> Result<Option<usize>, String> {
    if let Ok(number) = key.parse::<usize>() {
        let there = number < entries.len();
        return if there { Ok(Some(number)) } else { Err(none(entries, key)) };
    }
    let named = entries.iter().position(|entry| name(entry) == Some(key));
    if named.is_some() && !rest.is_empty() {
        return Ok(named);
    }
    let tables = !entries.is_empty() && entries.iter().all(Value::is_table);
    let known = rest.is_empty() || entries.iter().any(|entry| entry.get(key).is_some());
    if tables && known { Ok(None) } else { Err(none(entries, key)) }
}

fn name(entry: &Value) -> Option<&str> {
    entry.get("name")?.as_str()
}

/// That there is no such entry, and which there are.
fn none(entries: &[Value], key: &str) -> String {
    let names: Vec<&str> = entries.iter().filter_map(name).collect();
    let tables = entries.iter().filter_map(Value::as_table);
    let keys: Vec<&str> = tables.flat_map(Table::keys).map(String::as_str).collect();
    let hint = nearest(key, names.iter().chain(&keys).copied());
    let numbers = match entries.len() {
        0 => "the list is empty".to_owned(),
        1 => "there is only 0".to_owned(),
        more => format!("there are 0 to {}", more - 1),
    };
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    format!("there is no '{key}' in the list; {hint}{numbers}{names}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Value {
        let text = "seconds = 1\n[system]\nbind = [[0.0, 0.5]]\n\
                    [[tenant]]\nname = \"a\"\nfast = \"1G\"\npattern = { kind = \"zipf\" }\n\
                    [[tenant]]\nname = \"b\"\nfast = \"1G\"\npattern = { kind = \"gups\" }\n";
        Value::Table(text.parse().unwrap())
    }

    fn changed(text: &str) -> Result<Value, String> {
        let setting: Setting = text.parse().unwrap();
        let mut scenario = scenario();
        let path: Vec<&str> = setting.path.split('.').collect();
        set(&mut scenario, &path, &setting.value).map(|()| scenario)
    }

    #[test]
    fn a_path_leads_to_one_entry_or_to_all() {
        let fast = |text: &str| {
            let changed = changed(text).unwrap();
            [0, 1].map(|tenant| changed["tenant"][tenant]["fast"].as_str().unwrap().to_owned())
        };
        assert_eq!(fast("tenant.fast=2G"), ["2G", "2G"]);
        assert_eq!(fast("tenant.1.fast=2G"), ["1G", "2G"]);
        assert_eq!(fast("tenant.a.fast = 2G"), ["2G", "1G"]);
        let found = changed("tenant.pattern.exponent=1.2").unwrap();
        assert_eq!(found["tenant"][1]["pattern"]["exponent"].as_float(), Some(1.2));
        let found = changed("system.bind.0.1=0.25").unwrap();
        assert_eq!(found["system"]["bind"][0][1].as_float(), Some(0.25));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_told_with_the_nearest_name() {
        for (text, said) in [
            ("tenant.2.fast=1G", "there is no '2' in the list; there are 0 to 1 (a, b)"),
            ("tenant.patern.exponent=1", "did you mean 'pattern'?"),
            ("seconds.x=1", "'x' leads nowhere: above it stands 1"),
            ("system.bind.x=1", "there is no 'x' in the list; there is only 0"),
        ] {
            assert!(changed(text).is_err_and(|error| error.contains(said)), "{:?}", changed(text));
        }
    }

    #[test]
    fn a_key_that_stands_in_a_table_is_told_with_the_table() {
        let Value::Table(scenario) = scenario() else { panic!("a table") };
        assert_eq!(longer(&scenario, "fast").as_deref(), Some("tenant.fast"));
        assert_eq!(longer(&scenario, "bind").as_deref(), Some("system.bind"));
        assert_eq!(longer(&scenario, "0"), None);
        assert_eq!(longer(&scenario, "slow"), None);
    }

    #[test]
    fn values_are_those_of_toml_or_texts() {
        for (text, value) in [
            ("5", Value::Integer(5)),
            ("0.5", Value::Float(0.5)),
            ("true", Value::Boolean(true)),
            ("16G", Value::String("16G".into())),
            ("nimble-base", Value::String("nimble-base".into())),
            ("'5'", Value::String("5".into())),
            ("1\nother = 2", Value::String("1\nother = 2".into())),
        ] {
            assert_eq!(super::value(text), value, "{text}");
        }
        let vary: Vary = "a.b=[1, 2],{ x = 1 },'c,d', 7".parse().unwrap();
        assert_eq!(vary.values.len(), 4, "{vary:?}");
        assert_eq!(vary.values[2].as_str(), Some("c,d"));
    }

    #[test]
    fn what_is_no_setting_is_told_with_an_example() {
        for text in ["", "seconds", "=1", "a..b=1", "a=", &format!("a{}=1", ".a".repeat(16))] {
            let error = text.parse::<Setting>().unwrap_err();
            assert!(error.contains("write for example system.interval=5"), "{text}: {error}");
        }
        assert!("tenant=1,2".parse::<Vary>().unwrap_err().contains("keys of tenant"));
    }
}
