//! In which order values are set, and whether all of them are there in the end: a table of a sweep has them as
//! columns, so what another one took the place of would be told of a point that was never simulated.

use super::vary::chosen;
use super::{Setting, SweepError, Vary};
use toml::Value;

/// Those of shorter paths first, whatever the order they were given in: a whole table does not throw away what
/// is set in it.
pub(crate) fn ordered(settings: &[Setting]) -> Vec<&Setting> {
    let mut all: Vec<&Setting> = settings.iter().collect();
    all.sort_by_key(|setting| setting.path.split('.').count());
    all
}

/// Each key is given once, and of a key that varies each value.
///
/// # Errors
/// Which is given twice.
pub(super) fn once(settings: &[Setting], vary: &[Vary]) -> Result<(), SweepError> {
    let paths = settings.iter().map(Setting::path).chain(vary.iter().map(Vary::path));
    if let Some(key) = second(&paths.collect::<Vec<_>>(), |one, other| one == other) {
        return Err(SweepError::Twice { key: (*key).to_owned() });
    }
    for Vary { path, values } in vary {
        if let Some(value) = second(values, same) {
            let setting = Setting { path: path.clone(), value: value.clone() };
            return Err(SweepError::Twice { key: setting.to_string() });
        }
    }
    Ok(())
}

/// The first that is the same as one before it.
fn second<T>(all: &[T], same: impl Fn(&T, &T) -> bool) -> Option<&T> {
    all.iter()
        .enumerate()
        .find(|(at, one)| all[..*at].iter().any(|other| same(one, other)))
        .map(|of| of.1)
}

/// Whether two values mean the same: 1 and 1.0 do.
fn same(one: &Value, other: &Value) -> bool {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
    one == other || number(one).is_some_and(|one| number(other) == Some(one))
}

/// One of settings, in the order in which they were set, of which nothing is left, and the one that took its place.
pub(crate) fn lost<'s>(
    root: &Value,
    ordered: &[&'s Setting],
) -> Option<(&'s Setting, &'s Setting)> {
    let places: Vec<Vec<Place>> =
        ordered.iter().map(|setting| places(root, &setting.path)).collect();
    let covers = |of: usize, place: &Place| places[of].iter().any(|other| place.starts_with(other));
    (0..ordered.len()).find_map(|at| {
        let later = || at + 1..ordered.len();
        let gone = |place: &Place| later().any(|of| covers(of, place));
        let lost = !places[at].is_empty() && places[at].iter().all(gone);
        let by = later().find(|of| places[at].iter().any(|place| covers(*of, place)))?;
        lost.then_some((ordered[at], ordered[by]))
    })
}

/// Why a setting says nothing beside this one.
pub(crate) fn taken(by: &Setting) -> String {
    format!("{by} takes its place; give one of them")
}

/// Keys and numbers that lead to one value.
type Place = Vec<String>;

/// All that a path leads to.
fn places(root: &Value, path: &str) -> Vec<Place> {
    let mut found = Vec::new();
    let path: Vec<&str> = path.split('.').collect();
    follow(root, &path, &mut Vec::new(), &mut found);
    found
}

fn follow(at: &Value, path: &[&str], above: &mut Place, found: &mut Vec<Place>) {
    let below = match (at, path) {
        (Value::Array(entries), [key, rest @ ..]) => match chosen(entries, key, rest) {
            Ok(Some(number)) => vec![(number.to_string(), &entries[number], rest)],
            Ok(None) => (0..)
                .zip(entries)
                .map(|(n, entry): (u32, _)| (n.to_string(), entry, path))
                .collect(),
            Err(_) => return,
        },
        (Value::Table(table), [key, rest @ ..]) => {
            let Some(value) = table.get(*key) else { return };
            vec![((*key).to_owned(), value, rest)]
        }
        (_, []) => return found.push(above.clone()),
        _ => return,
    };
    for (key, value, rest) in below {
        above.push(key);
        follow(value, rest, above, found);
        above.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(all: &[&str]) -> Vec<Setting> {
        all.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn each_key_and_each_of_its_values_is_given_once() {
        let twice = |set: &[&str], vary: &[&str]| {
            let vary: Vec<Vary> = vary.iter().map(|text| text.parse().unwrap()).collect();
            once(&settings(set), &vary).err().map(|error| error.to_string())
        };
        for (set, vary, said) in [
            (vec![], vec!["a.b=1,2", "a.b=3"], "a.b is given twice"),
            (vec!["a.b=3"], vec!["a.b=1"], "a.b is given twice"),
            (vec!["a=3", "a=4"], vec![], "a is given twice"),
            (vec![], vec!["a=1,2,1.0"], "a=1.0 is given twice"),
            (vec![], vec!["a=x,x"], "a=x is given twice"),
        ] {
            let error = twice(&set, &vary).unwrap_or_default();
            assert!(error.starts_with(said), "{set:?} {vary:?}: {error}");
        }
        assert_eq!(twice(&["a=1"], &["a.b=1,2", "b=1,1.5"]), None);
    }

    #[test]
    fn what_another_setting_takes_the_place_of_is_found() {
        let text = "a = 1\n[m]\nb = 1\n[[t]]\nname = \"x\"\nf = 1\n[[t]]\nname = \"y\"\nf = 1\n";
        let root = Value::Table(text.parse().unwrap());
        let lost = |all: &[&str]| {
            let all = settings(all);
            lost(&root, &ordered(&all)).map(|(one, by)| format!("{one} {by}"))
        };
        assert_eq!(lost(&["a=1", "m.b=2", "m={b=1}", "t.f=1", "t.0.f=2"]), None);
        assert_eq!(lost(&["t.0.f=1", "t.x.f=2"]).as_deref(), Some("t.0.f=1 t.x.f=2"));
        assert_eq!(lost(&["t.f=1", "t.1.f=2", "t.x.f=2"]).as_deref(), Some("t.f=1 t.1.f=2"));
    }
}
