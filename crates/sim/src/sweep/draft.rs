//! A scenario's text of which values can still be changed.

use super::SweepError;
use super::order::{lost, ordered, taken};
use super::vary::{Setting, longer, set};
use crate::scenario::{self, Scenario, ScenarioError, shorter};
use crate::systems;
use pagetide_machine::{Machine, model};
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read};
use std::path::Path;
use toml::{Table, Value};

/// No scenario is longer, bytes.
const LONGEST: u64 = 1 << 20;

/// See the module.
#[derive(Clone, Debug)]
pub struct Draft {
    text: String,
    table: Table,
    origin: String,
}

/// Stands for the rules by which `pagetide run` sees and decides: whoever changes those raises it, and points of
/// all other systems stay. What the simulated machine does has its own ([`super::MODEL`]).
const RUN: u32 = 32;
/// The same for policy `memtis`. Version 3 has new pages, coolings and the threshold as published.
const MEMTIS: u32 = 3;

/// What of these a scenario's outcome hangs on, ahead of its key.
fn versions(scenario: &Scenario) -> String {
    let system = &scenario.system;
    let is = |spec: &Option<String>, name: &str| {
        spec.as_ref().is_some_and(|spec| spec.split(':').next() == Some(name))
    };
    let run = system.name == "pagetide" || is(&system.governor, "gain");
    let memtis = system.name == "memtis" || is(&system.policy, "memtis");
    let version = |(holds, name, of): (bool, &str, u32)| {
        if holds { format!("{name} {of} ") } else { String::new() }
    };
    [(run, "run", RUN), (memtis, "memtis", MEMTIS)].map(version).concat()
}

/// A scenario with all changes.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// It.
    pub scenario: Scenario,
    /// What names it in errors.
    pub origin: String,
    /// All that decides what comes of it, as a text: the machine with its figures, files of accesses
    /// by size and time.
    pub key: String,
}

/// The text of a scenario's file, which is not longer than any scenario.
///
/// # Errors
/// It cannot be read, or is too long.
pub fn text_of(path: &Path) -> Result<String, SweepError> {
    let mut text = String::new();
    let open = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::new(
            ErrorKind::NotFound,
            "there is no such file; docs/sim.md says what a scenario holds, and scenarios/ has examples",
        ),
        _ => error,
    });
    let open = open.and_then(|file| match file.metadata() {
        Ok(there) if there.is_dir() => Err(Error::new(
            ErrorKind::IsADirectory,
            "that is a folder; name the scenario's file in it (scenarios/ has examples)",
        )),
        _ => Ok(file),
    });
    let read = open.and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    let long = || Error::other(format!("longer than {LONGEST} bytes; that is no scenario"));
    let read = read.and_then(|_| if text.len() as u64 > LONGEST { Err(long()) } else { Ok(()) });
    read.map_err(SweepError::file(path))?;
    Ok(text)
}

impl Draft {
    /// A file.
    ///
    /// # Errors
    /// It cannot be read, or is no TOML.
    pub fn load(path: &Path) -> Result<Self, SweepError> {
        Self::new(&text_of(path)?, &path.display().to_string())
    }

    /// Its text; `origin` names it in errors.
    ///
    /// # Errors
    /// It is no TOML.
    pub fn new(text: &str, origin: &str) -> Result<Self, SweepError> {
        let table = text.parse().map_err(|source| SweepError::Syntax {
            origin: origin.to_owned(),
            source: Box::new(source),
        })?;
        one_kind(&table, origin)?;
        Ok(Self { text: text.to_owned(), table, origin: origin.to_owned() })
    }

    /// The scenario with values set, those of shorter paths first.
    ///
    /// # Errors
    /// What is set leads nowhere; the scenario makes no sense.
    pub fn with(&self, settings: &[Setting]) -> Result<Resolved, SweepError> {
        let mut root = self.changed(settings)?;
        let origin = self.named(settings);
        let scenario = match settings {
            [] => scenario::parse(&self.text, &origin)?,
            _ => parse(&root, &origin).map_err(|error| self.blamed(settings, error))?,
        };
        scenario::check(&scenario, &origin)?;
        // Where systems are compared, keys of one of them stay in the file of another.
        if settings.iter().all(|setting| setting.path != "system.name") {
            scenario::listens(&scenario, &origin)?;
        }
        self.machine(&mut root)?;
        let key = versions(&scenario) + &key(&root, "tenant");
        Ok(Resolved { scenario, origin, key })
    }

    fn changed(&self, settings: &[Setting]) -> Result<Value, SweepError> {
        let mut root = Value::Table(self.table.clone());
        let settings = ordered(settings);
        for setting in &settings {
            let path: Vec<&str> = setting.path.split('.').collect();
            if let ["machine", _, ..] = path[..] {
                self.machine(&mut root)?;
            }
            let wrong = |problem| self.wrong(setting, problem);
            set(&mut root, &path, &setting.value).map_err(wrong)?;
        }
        self.leave_policy(&mut root, &settings);
        match lost(&root, &settings) {
            Some((setting, by)) => Err(self.wrong(setting, taken(by))),
            None => Ok(root),
        }
    }

    /// The file's policy is that of the system that the file names: under another name, but `policy`, a
    /// system has its own.
    fn leave_policy(&self, root: &mut Value, settings: &[&Setting]) {
        let given = |path: &str| settings.iter().any(|setting| setting.path == path);
        let of = |table: &Table| {
            let name = table.get("system")?.get("name")?.as_str()?;
            Some(name.to_owned())
        };
        let Some(table) = root.as_table_mut() else { return };
        let Some(name) = of(table) else { return };
        let ranks = systems::find(&name).is_ok_and(|info| info.keys.contains(&"policy"));
        let own = name == "policy" || of(&self.table).is_some_and(|own| own == name);
        if given("system.name") && !given("system.policy") && ranks && !own {
            table.get_mut("system").and_then(Value::as_table_mut).map(|of| of.remove("policy"));
        }
    }

    /// The first setting with which it cannot be read any more; the text that it stands in now nobody
    /// wrote, so only what is wrong is told.
    fn blamed(&self, settings: &[Setting], error: ScenarioError) -> SweepError {
        let reads = |settings: &[Setting]| {
            let root = self.changed(settings).ok()?;
            parse(&root, &self.origin).err()
        };
        if !matches!(error, ScenarioError::Syntax { .. }) || reads(&[]).is_some() {
            return error.into();
        }
        let found = (1..=settings.len()).find_map(|some| match reads(&settings[..some])? {
            ScenarioError::Syntax { source, hint, .. } => {
                let setting = &settings[some - 1];
                let hint = longer(&self.table, &setting.path)
                    .map_or(hint, |path| format!("did you mean '{path}'?"));
                let problem = format!("{}; {hint}", shorter(source.message()));
                let problem = problem.trim_end_matches("; ").to_owned();
                Some(self.wrong(setting, problem))
            }
            _ => None,
        });
        found.unwrap_or_else(|| error.into())
    }

    /// Puts the table of the machine in the place of its name.
    fn machine(&self, root: &mut Value) -> Result<(), SweepError> {
        let Value::Table(table) = root else { return Ok(()) };
        let there = table.entry("machine").or_insert_with(|| Machine::DEFAULT.into());
        if let Value::String(name) = there {
            let named = model::table::<Machine>(name).map_err(|source| SweepError::Machine {
                origin: self.origin.clone(),
                source: Box::new(source),
            })?;
            *there = Value::Table(named);
        }
        Ok(())
    }

    fn wrong(&self, setting: &Setting, problem: String) -> SweepError {
        SweepError::Setting { origin: self.origin.clone(), setting: setting.to_string(), problem }
    }

    fn named(&self, settings: &[Setting]) -> String {
        let words: Vec<String> = settings.iter().map(ToString::to_string).collect();
        match words[..] {
            [] => self.origin.clone(),
            _ => format!("{} with {}", self.origin, words.join(" ")),
        }
    }
}

/// That a file is not of both kinds, of tiers and of a pool.
pub(crate) fn one_kind(table: &Table, origin: &str) -> Result<(), SweepError> {
    let pools = ["pool", "program"].into_iter().find(|key| table.contains_key(*key));
    match pools.filter(|_| table.contains_key("tenant")) {
        Some(pools) => Err(SweepError::Both { origin: origin.to_owned(), tiers: "tenant", pools }),
        None => Ok(()),
    }
}

fn parse(root: &Value, origin: &str) -> Result<Scenario, ScenarioError> {
    // A value alone would be written as one line, which is no file.
    scenario::parse(&root.as_table().map(Table::to_string).unwrap_or_default(), origin)
}

/// The scenario as one line, and of the files of accesses that its programs name what tells them from others.
pub(crate) fn key(root: &Value, programs: &str) -> String {
    let text = serde_json::to_string(root).unwrap_or_default();
    let programs = root.get(programs).and_then(Value::as_array).into_iter().flatten();
    let streams = programs.filter_map(|program| program.get("stream")?.as_str());
    let stamp = |path: &str| {
        let of = fs::metadata(path).ok()?;
        Some(format!(" {}@{:?}", of.len(), of.modified().ok()?))
    };
    streams.filter_map(stamp).fold(text, |text, stamp| text + &stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_policy_is_no_other_systems() {
        let text = "seconds = 10\n[system]\nname = \"lfu\"\npolicy = \"lfu:window=2\"\n\
            [[tenant]]\nmemory = \"1G\"\npattern = { kind = \"uniform\" }";
        let draft = Draft::new(text, "x.toml").unwrap();
        let policy = |set: &[&str]| {
            let set: Vec<Setting> = set.iter().map(|text| text.parse().unwrap()).collect();
            draft.with(&set).unwrap().scenario.system.policy
        };
        let own = Some("lfu:window=2".to_owned());
        assert_eq!(policy(&[]), own);
        assert_eq!(policy(&["system.name=lfu"]), own);
        assert_eq!(policy(&["system.name=policy"]), own);
        assert_eq!(policy(&["system.name=lru"]), None);
        let given = policy(&["system.name=lru", "system.policy=random"]);
        assert_eq!(given, Some("random".to_owned()));
    }

    #[test]
    fn points_go_by_the_versions_of_the_rules_that_they_hang_on_and_no_others() {
        let begins = |system: &str, with: &str| {
            let text = format!(
                "seconds = 10\n[system]\n{system}\n[[tenant]]\nmemory = \"1G\"\npattern = {{ kind = \"uniform\" }}"
            );
            let key = Draft::new(&text, "x.toml").unwrap().with(&[]).unwrap().key;
            key.starts_with(with)
        };
        let (run, memtis) = (format!("run {RUN} "), format!("memtis {MEMTIS} "));
        assert!(begins("name = \"pagetide\"", &run));
        assert!(begins("name = \"policy\"\ngovernor = \"gain:horizon=20\"", &run));
        assert!(!begins("name = \"tpp-mod\"\ngovernor = \"adaptive\"", "run"));
        assert!(begins("name = \"memtis\"", &memtis));
        assert!(begins("name = \"policy\"\npolicy = \"memtis:sample=1\"", &memtis));
        assert!(!begins("name = \"lru\"", "memtis"));
    }
}
