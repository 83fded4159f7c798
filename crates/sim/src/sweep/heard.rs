//! Whether the systems that a plan simulates listen to the keys of `[system]` that they are given. A scenario that
//! names its system is held to that when it is read; here are those whose system the command line names.

use super::plan::Point;
use super::vary::word;
use super::{Resolved, Setting, SweepError, Vary};
use crate::scenario::{self, ScenarioError};
use crate::systems;
use toml::Value;

/// What every system listens to.
const OF_ALL: [&str; 2] = ["name", "interval"];

/// What to do about a key of the file, which another system than the file's own has no use for.
const SEVERAL: &str =
    "; or give --system several names: each of them heeds of the file what says something to it";

/// Refuses what nobody listens to. One system alone listens to all that the file and the command line say; where several
/// are compared, the file's keys may be meant for one of them, or for one that is not among them, but a key of the
/// command line is meant for at least one of them.
///
/// # Errors
/// See there.
pub(super) fn heard(
    points: &[Point],
    settings: &[Setting],
    vary: &[Vary],
) -> Result<(), SweepError> {
    let of = |point: &Point| point.resolved().scenario.system.name.clone();
    let mut names: Vec<String> = points.iter().map(of).collect();
    names.sort_unstable();
    names.dedup();
    let set = settings.iter().map(|setting| (&setting.path, vec![&setting.value]));
    let varied = vary.iter().map(|vary| (&vary.path, vary.values.iter().collect()));
    let given: Vec<(&String, Vec<&Value>)> = set.chain(varied).collect();
    if names.len() < 2 {
        let mut keys = given.iter().flat_map(|(path, values)| keys(path, values));
        let of_the_file = keys.all(|key| OF_ALL.contains(&key));
        return points.iter().try_for_each(|point| {
            let Resolved { scenario, origin, .. } = point.resolved();
            scenario::listens(scenario, origin).map_err(|error| match error {
                ScenarioError::Value { origin, problem } if of_the_file => {
                    ScenarioError::Value { origin, problem: problem + SEVERAL }
                }
                other => other,
            })?;
            Ok(())
        });
    }
    let known: Vec<&str> = names
        .iter()
        .filter_map(|name| systems::find(name).ok())
        .flat_map(|info| info.keys.iter().copied().chain(OF_ALL))
        .collect();
    for (path, values) in given {
        let deaf = keys(path, &values).into_iter().find(|key| !known.contains(key));
        if let (Some(key), Some(point)) = (deaf, points.first()) {
            let values: Vec<String> = values.into_iter().map(word).collect();
            return Err(SweepError::Setting {
                origin: point.resolved().origin.clone(),
                setting: format!("{path}={}", values.join(",")),
                problem: format!(
                    "system.{key} says nothing to any of the systems {}; leave it out",
                    names.join(", ")
                ),
            });
        }
    }
    Ok(())
}

/// The keys of `[system]` that a path leads to, or that stand in a table there.
fn keys<'a>(path: &'a str, values: &[&'a Value]) -> Vec<&'a str> {
    match path.split('.').collect::<Vec<_>>()[..] {
        ["system", key, ..] => vec![key],
        ["system"] => values
            .iter()
            .filter_map(|value| value.as_table())
            .flat_map(|table| table.keys().map(String::as_str))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, Plan};
    use super::*;

    /// What becomes of a scenario with these keys of its system, set and varied.
    fn plan(system: &str, set: &[&str], vary: &[&str]) -> String {
        let text = format!(
            "seconds = 100\n[system]\n{system}\n[[tenant]]\nmemory = \"1G\"\n\
             pattern = {{ kind = \"uniform\" }}\n"
        );
        let draft = Draft::new(&text, "x.toml").unwrap();
        let set: Vec<Setting> = set.iter().map(|text| text.parse().unwrap()).collect();
        let vary: Vec<Vary> = vary.iter().map(|text| text.parse().unwrap()).collect();
        match Plan::new(&draft, &set, &vary) {
            Ok(plan) => format!("{} points", plan.points.len()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn one_system_listens_to_all_keys_wherever_its_name_stands() {
        let adaptive = "name = \"adaptive\"\n";
        for (set, vary, key, system) in [
            ("system.governor=adaptive", "system.name=nomad", "governor", "nomad"),
            ("system.governor=adaptive", "system.name=memtis", "governor", "memtis"),
            ("system.governor=adaptive", "system.name=no-migration", "governor", "no-migration"),
            ("system.tracker=exact", "system.name=nomad", "tracker", "nomad"),
            ("system.policy=lru", "system.name=memtis", "policy", "memtis"),
            ("system.promote_rate_limit=5", "system.name=memtis", "promote_rate_limit", "memtis"),
        ] {
            let said = format!("system.{key} says nothing to system '{system}'");
            let varied = plan(adaptive, &[set], &[vary]);
            assert!(varied.contains(&said), "{varied}");
            let both = plan(adaptive, &[vary, set], &[]);
            assert!(both.contains(&said), "{both}");
            // It stands in the file.
            let (key, value) = set.trim_start_matches("system.").split_once('=').unwrap();
            let value = value.parse::<f64>().map_or(format!("\"{value}\""), |_| value.to_owned());
            let own = plan(&format!("{adaptive}{key} = {value}"), &[], &[vary]);
            assert!(own.contains(&said) && own.contains("--system several names"), "{own}");
            assert!(!both.contains("several names"), "{both}");
        }
        let two = plan(adaptive, &[], &["system.governor=none,adaptive", "system.name=nomad"]);
        assert!(two.contains("system.governor says nothing to system 'nomad'"), "{two}");
        assert_eq!(plan(adaptive, &["system.interval=3"], &["system.name=nomad"]), "1 points");
    }

    #[test]
    fn of_several_one_listens_to_what_the_command_line_says() {
        let adaptive = "name = \"adaptive\"\ngovernor = \"none\"\n";
        let (two, deaf) = ("system.name=nomad,tpp-mod", "system.name=nomad,memtis");
        assert_eq!(plan(adaptive, &["system.governor=adaptive"], &[two]), "2 points");
        assert_eq!(plan(adaptive, &[], &["system.governor=none,adaptive", two]), "4 points");
        assert_eq!(plan(adaptive, &["system.interval=3"], &[deaf]), "2 points");
        // For the file's own system, which is not among them.
        assert_eq!(plan(adaptive, &[], &[deaf]), "2 points");
        for (set, vary) in [
            (&["system.governor=adaptive"][..], &[deaf][..]),
            (&[], &["system.governor=none,adaptive", deaf]),
            (&["system={name=\"tpp\",governor=\"adaptive\"}"], &[deaf]),
        ] {
            let said = plan(adaptive, set, vary);
            assert!(said.contains("system.governor says nothing to any of"), "{said}");
            assert!(said.contains("memtis, nomad"), "{said}");
        }
    }
}
