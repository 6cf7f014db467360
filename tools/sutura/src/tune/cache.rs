//! The file in which choices are kept: by machine, and by the text of what was measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sutura_input::InputError;

use crate::failure::{Failure, Kind};
use crate::files;
use crate::machine::Machine;

/// What the file says that it is.
const FORMAT: &str = "sutura-tune";
/// Version of all that this module reads and writes. It goes up as well when measurements mean something else.
const VERSION: u64 = 4;

/// What choices hold for: another machine, other numbers of its description or another compiler make others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    name: String,
    triple: String,
    features: String,
    description: String,
    compiler: String,
}

/// What was chosen, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The schedule that is taken, by what differs from the usual one, or the plan.
    pub(crate) taken: String,
    /// The sizes that were measured at, in words.
    pub(crate) sizes: String,
    /// Median nanoseconds of a run, by schedule or plan.
    pub(crate) nanoseconds: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    machine: Identity,
    /// By the hash of the text of a region and of the sizes that it was measured at; with `plan` in front, what the ops of some
    /// regions become.
    kernels: BTreeMap<String, Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    machines: Vec<Held>,
}

/// Choices that are known, and where they are kept.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    path: Option<PathBuf>,
    known: BTreeMap<Identity, BTreeMap<String, Entry>>,
}

impl Identity {
    pub(crate) fn of(machine: &Machine) -> Self {
        Self {
            name: machine.desc.name.clone(),
            triple: machine.target.triple.clone(),
            features: machine.target.features.clone(),
            description: machine.description_hash(),
            compiler: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Identity {
    /// The same on a device of this name.
    pub(crate) fn on(self, device: &str) -> Self {
        Self { name: format!("{} on {device}", self.name), ..self }
    }
}

impl Cache {
    /// What `path` holds; nothing where there is no file yet, or no path.
    ///
    /// # Errors
    /// When the file is no cache, of another version, or damaged.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let known = path.map_or_else(|| Ok(BTreeMap::new()), read)?;
        Ok(Self { path: path.map(Path::to_owned), known })
    }

    pub(crate) fn get(&self, machine: &Identity, kernel: &str) -> Option<&Entry> {
        self.known.get(machine)?.get(kernel)
    }

    /// Keeps a choice, in the file as well if there is one. What others have written to it meanwhile stays.
    pub(crate) fn put(&mut self, machine: &Identity, kernel: &str, entry: Entry) -> Result<(), Failure> {
        let path = self.path.clone();
        // Nobody else writes between reading and writing.
        let _lock = path.as_deref().map(files::lock).transpose()?;
        if let Some(path) = &path {
            self.known = read(path)?;
        }
        self.known.entry(machine.clone()).or_default().insert(kernel.to_owned(), entry);
        let Some(path) = path else { return Ok(()) };
        let held = |(machine, kernels): (&Identity, &BTreeMap<String, Entry>)| Held {
            machine: machine.clone(),
            kernels: kernels.clone(),
        };
        let file =
            File { format: FORMAT.to_owned(), version: VERSION, machines: self.known.iter().map(held).collect() };
        let text = serde_json::to_string_pretty(&file).map_err(Failure::internal)?;
        files::write(&path, format!("{text}\n").as_bytes())
    }

    /// What the file holds for other machines, in words.
    pub(crate) fn foreign(&self, machine: &Identity) -> Vec<String> {
        let others = self.known.iter().filter(|(other, _)| *other != machine);
        let words = |(other, kernels): (&Identity, &BTreeMap<String, Entry>)| {
            let what = match other {
                _ if other.name != machine.name => "another machine",
                _ if other.compiler != machine.compiler => "another version of sutura",
                _ if other.description != machine.description => "other numbers of the machine",
                _ => "other features of the machine",
            };
            let noun = if kernels.len() == 1 { "choice" } else { "choices" };
            format!("{} {noun} for {what} ({}, sutura {})", kernels.len(), other.name, other.compiler)
        };
        others.map(words).collect()
    }
}

fn read(path: &Path) -> Result<BTreeMap<Identity, BTreeMap<String, Entry>>, Failure> {
    let text = match sutura_input::regular_bytes(path, sutura_input::TEXT_LIMIT).and_then(sutura_input::utf8) {
        Ok(text) => text,
        Err(InputError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(InputError::NotUtf8 { .. }) => return Err(damaged(path, "it is no text")),
        Err(error) => return Err(Failure::reading(path, &error)),
    };
    let value: Value = serde_json::from_str(&text).map_err(|e| damaged(path, e))?;
    if value["format"] != FORMAT {
        return Err(damaged(path, format!("it does not say that its format is \"{FORMAT}\"")));
    }
    if value["version"] != VERSION {
        let words =
            format!("it is of version {}, and this sutura reads and writes version {VERSION}", value["version"]);
        return Err(damaged(path, words));
    }
    // Once more from the text, so that an error says where.
    let file: File = serde_json::from_str(&text).map_err(|e| damaged(path, e))?;
    let mut known = BTreeMap::new();
    for Held { machine, kernels } in file.machines {
        let name = machine.name.clone();
        if known.insert(machine, kernels).is_some() {
            return Err(damaged(path, format!("it lists the machine `{name}` twice")));
        }
    }
    Ok(known)
}

fn damaged(path: &Path, why: impl std::fmt::Display) -> Failure {
    let failure = Failure::new(Kind::Input, format!("`{}` cannot be used as a cache of --tune: {why}", path.display()));
    failure.hint("remove it to measure anew, or name another file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str) -> Identity {
        Identity {
            name: name.to_owned(),
            triple: "t".into(),
            features: String::new(),
            description: "d".into(),
            compiler: "0".into(),
        }
    }

    #[test]
    fn two_that_write_to_one_file_keep_what_the_other_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        let entry = |taken: &str| Entry {
            taken: taken.to_owned(),
            sizes: "M=1".into(),
            nanoseconds: BTreeMap::from([(taken.to_owned(), 5)]),
        };
        let (mut one, mut two) = (Cache::open(Some(&path)).unwrap(), Cache::open(Some(&path)).unwrap());
        one.put(&machine("a"), "k", entry("1x2")).unwrap();
        two.put(&machine("b"), "k", entry("3x4")).unwrap();
        two.put(&machine("b"), "k", entry("5x6")).unwrap();
        let read = Cache::open(Some(&path)).unwrap();
        assert_eq!(read.get(&machine("a"), "k"), Some(&entry("1x2")));
        assert_eq!(read.get(&machine("b"), "k"), Some(&entry("5x6")));
        assert_eq!((read.get(&machine("b"), "l"), read.get(&machine("c"), "k")), (None, None));
        assert_eq!(read.foreign(&machine("b")), ["1 choice for another machine (a, sutura 0)"]);
    }

    #[test]
    fn many_that_write_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        let machine = machine("a");
        let entry = || Entry { taken: "usual".into(), sizes: String::new(), nanoseconds: BTreeMap::new() };
        let (writers, choices) = (4, 8);
        std::thread::scope(|scope| {
            for writer in 0..writers {
                let (path, machine) = (&path, &machine);
                scope.spawn(move || {
                    let mut cache = Cache::open(Some(path)).unwrap();
                    (0..choices).for_each(|i| cache.put(machine, &format!("{writer}:{i}"), entry()).unwrap());
                });
            }
        });
        assert_eq!(Cache::open(Some(&path)).unwrap().known[&machine].len(), writers * choices);
    }

    #[test]
    fn without_a_file_choices_hold_for_one_compilation() {
        let mut cache = Cache::open(None).unwrap();
        let machine = machine("a");
        let entry = Entry { taken: "1x2".into(), sizes: String::new(), nanoseconds: BTreeMap::new() };
        cache.put(&machine, "k", entry.clone()).unwrap();
        assert_eq!(cache.get(&machine, "k"), Some(&entry));
    }
}
