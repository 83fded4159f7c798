//! Where in a TOML file a key stands, for errors that the parser does not find.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key of a table; `""` is the file's own.
struct Place<'a> {
    table: &'a str,
    /// What the entry of a list of tables calls itself.
    entry: Option<&'a str>,
    key: &'a str,
    /// Where it begins.
    at: usize,
}

/// What names the file in errors, with the line if that is known.
pub(crate) fn named(origin: &str, line: Option<usize>) -> String {
    line.map_or_else(|| origin.to_owned(), |line| format!("{origin}, line {line}"))
}

/// The key with its table, and the value, that stand at a place of the text of a table.
pub(crate) fn entry(text: &str, at: usize) -> String {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    if line.starts_with('[') {
        // What is missing is missing in that table.
        return line.trim_matches(['[', ']']).to_owned();
    }
    let header = text[..begin].lines().rev().find(|line| line.starts_with('['));
    let table = header.map(|header| header.trim_matches(['[', ']']));
    table.map_or_else(|| line.to_owned(), |table| format!("{table}.{line}"))
}

/// The line of the first such key of a table, or of a list of tables.
pub(crate) fn of_key(text: &str, table: &str, key: &str) -> Option<usize> {
    only(text, |place| place.table == table && place.key == key, true)
}

/// The line of the key whose value a complaint is about: it names the key, and its table or, of one in a list, that
/// by its name in quotes. None where it names none, or several.
pub(crate) fn of_problem(text: &str, problem: &str) -> Option<usize> {
    let words: Vec<&str> = problem.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let named = |place: &Place<'_>| {
        let here = place.table.is_empty() || words.contains(&place.table);
        let this = place.entry.is_none_or(|entry| problem.contains(&format!("'{entry}'")));
        here && this && words.contains(&place.key)
    };
    // A table is named to say where its key stands.
    only(text, |place| !place.table.is_empty() && named(place), false)
        .or_else(|| only(text, named, false))
}

/// The line of the one that is meant, or of the first.
fn only(text: &str, meant: impl Fn(&Place<'_>) -> bool, first: bool) -> Option<usize> {
    let file = DeTable::parse(text).ok()?;
    let mut places = Vec::new();
    let own = file.get_ref();
    keys("", own, &mut places);
    for (name, value) in own {
        match value.get_ref() {
            DeValue::Table(table) => keys(name.get_ref(), table, &mut places),
            DeValue::Array(all) => {
                let tables = all.iter().filter_map(|each| each.get_ref().as_table());
                tables.for_each(|table| keys(name.get_ref(), table, &mut places));
            }
            _ => {}
        }
    }
    let mut found = places.iter().filter(|place| meant(place)).map(|place| place.at);
    let at = found.next()?;
    (first || found.next().is_none())
        .then(|| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1)
}

fn keys<'a>(table: &'a str, entries: &'a DeTable<'_>, places: &mut Vec<Place<'a>>) {
    let entry = entries.get("name").and_then(|name| name.get_ref().as_str());
    let entry = entry.filter(|_| !table.is_empty());
    places.extend(entries.keys().map(|key: &Spanned<_>| Place {
        table,
        entry,
        key: key.get_ref(),
        at: key.span().start,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_a_place_is_told_with_its_table() {
        let at = |what: &str| entry(TEXT, TEXT.find(what).unwrap());
        assert_eq!(
            [at("\"x\""), at("2\n"), at("3")],
            ["name = \"x\"", "tier.ns = 2", "kernel.copy = 3"]
        );
    }

    const TEXT: &str = "name = \"x\"\n\n[[tier]]\nname = \"a\"\nns = 1\n[[tier]]\nname = \"b\"\nns = 2\n\
                        [kernel]\ncopy = 3\n[[cache]]\nways = 1\n[[cache]]\nways = 2\n";

    #[test]
    fn a_complaint_is_about_the_line_of_what_it_names() {
        let line = |problem| of_problem(TEXT, problem);
        assert_eq!(line("tier 'b': ns must be above 0, not -1"), Some(8));
        assert_eq!(line("kernel: copy must be above 0"), Some(10));
        assert_eq!(line("kernel.copy must be above 0"), Some(10));
        assert_eq!(line("name must be a name"), Some(1));
        assert_eq!(line("cache: ways must be 1 or more"), None, "which of two?");
        assert_eq!(line("there is nothing in it"), None);
        assert_eq!(of_problem("no toml", "x"), None);
    }

    #[test]
    fn a_key_stands_where_it_begins() {
        assert_eq!(of_key(TEXT, "", "name"), Some(1));
        assert_eq!(of_key(TEXT, "tier", "ns"), Some(5), "the first of them");
        assert_eq!(of_key(TEXT, "kernel", "paste"), None);
        assert_eq!(named("x.toml", Some(3)), "x.toml, line 3");
    }
}
