//! A folder of tests: finding them, and what they are run with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::config::{Config, FILE_NAME};
use crate::shell::find_program;
use crate::subst::Substitutions;
use crate::tool::Tools;

/// What is changed from the configuration of a suite.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Features that are there too.
    pub features: Vec<String>,
    /// Values of parameters.
    pub params: BTreeMap<String, String>,
    /// Where tests write.
    pub output: Option<PathBuf>,
    /// How long a test may take; zero for any time.
    pub timeout: Option<Duration>,
    /// Where programs are looked for first.
    pub tool_folders: Vec<PathBuf>,
    /// Bytes at most of a test, and of what a command writes; 512 MiB where nothing is said.
    pub max_input: Option<u64>,
}

/// A folder with a `lit.toml`.
#[derive(Debug)]
pub struct Suite {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    pub(crate) output: PathBuf,
    pub(crate) features: BTreeSet<String>,
    pub(crate) timeout: Option<Duration>,
    /// Bytes of a test, and of what a command writes.
    pub(crate) limit: u64,
    pub(crate) tools: Tools,
    /// Where programs are looked for.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) substitutions: Substitutions,
    suffixes: Vec<String>,
    excludes: Vec<String>,
}

/// A test of a suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// Relative to the suite, with `/`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl Test {
    /// The file of the test, relative to its suite, with `/` between parts.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What tests get of the environment besides what the suite sets.
const PASSED: [&str; 6] = ["FILECHECK_OPTS", "HOME", "LD_LIBRARY_PATH", "RUST_BACKTRACE", "TMPDIR", "SystemRoot"];

impl Suite {
    /// Loads the suite in `root`. The error is a sentence.
    pub fn load(root: &Path, tools: Tools, overrides: &Overrides) -> Result<Self, String> {
        let config = Config::load(root)?;
        let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
        let folders = tool_folders(&config, &root, overrides);
        let mut features: BTreeSet<String> = config.features.iter().chain(&overrides.features).cloned().collect();
        features.insert(format!("system-{}", std::env::consts::OS));
        for tool in &config.optional_tools {
            if tools.get(tool).is_some() || find_program(tool, &root, &folders).is_some() {
                features.insert(tool.clone());
            }
        }
        let output = match &overrides.output {
            Some(output) => std::path::absolute(output).map_err(|error| error.to_string())?,
            None => normalize(&root.join(&config.output)),
        };
        let timeout = overrides.timeout.unwrap_or(Duration::from_secs(config.timeout));
        Ok(Self {
            substitutions: substitutions(&config, &root, overrides)?,
            env: environment(&config, &folders)?,
            name: config.name,
            root,
            output,
            features,
            timeout: (!timeout.is_zero()).then_some(timeout),
            limit: overrides.max_input.unwrap_or(sutura_input::TEXT_LIMIT),
            tools,
            folders,
            suffixes: config.suffixes,
            excludes: config.excludes,
        })
    }

    /// The nearest folder at or above `path` that is a suite.
    pub fn root_of(path: &Path) -> Option<PathBuf> {
        let path = path.canonicalize().ok()?;
        path.ancestors().find(|folder| folder.join(FILE_NAME).is_file()).map(Path::to_path_buf)
    }

    /// All tests at or below `path`, sorted by name.
    pub fn tests(&self, path: &Path) -> Result<Vec<Test>, String> {
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        let mut tests = Vec::new();
        if path.is_file() {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            if !self.is_test(&name) {
                return Err(format!(
                    "{}: not a test; the suffixes of the suite are {}",
                    path.display(),
                    self.suffixes.join(", ")
                ));
            }
            tests.push(self.test(path)?);
        } else {
            self.collect(path, &mut tests)?;
        }
        tests.sort();
        Ok(tests)
    }

    fn is_test(&self, name: &str) -> bool {
        self.suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }

    fn test(&self, path: PathBuf) -> Result<Test, String> {
        let relative = path.strip_prefix(&self.root).unwrap_or(&path);
        let parts: Option<Vec<&str>> = relative.iter().map(|part| part.to_str()).collect();
        let name = parts.ok_or_else(|| format!("{}: the name is not UTF-8", path.display()))?.join("/");
        Ok(Test { name, path })
    }

    /// Adds the tests below a folder; symbolic links to folders are not followed.
    fn collect(&self, folder: PathBuf, tests: &mut Vec<Test>) -> Result<(), String> {
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            if folder == self.output {
                continue;
            }
            let fail = |error| format!("{}: {error}", folder.display());
            for entry in std::fs::read_dir(&folder).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with('.') || self.excludes.contains(&name) {
                    continue;
                }
                let path = entry.path();
                if entry.file_type().map_err(fail)?.is_dir() {
                    folders.push(path);
                } else if self.is_test(&name) && path.is_file() {
                    tests.push(self.test(path)?);
                }
            }
        }
        Ok(())
    }
}

/// The path without `.` and `..`; the base has no symbolic links.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

fn tool_folders(config: &Config, root: &Path, overrides: &Overrides) -> Vec<PathBuf> {
    let configured = config.tool_dirs.iter().map(|folder| normalize(&root.join(folder)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    overrides.tool_folders.iter().cloned().chain(configured).chain(std::env::split_paths(&path)).collect()
}

fn environment(config: &Config, folders: &[PathBuf]) -> Result<BTreeMap<String, String>, String> {
    let mut env = BTreeMap::new();
    let path = std::env::join_paths(folders).map_err(|error| error.to_string())?;
    env.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
    let passed = PASSED.into_iter().chain(config.pass_through.iter().map(String::as_str));
    env.extend(passed.filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?))));
    env.extend(config.environment.clone());
    Ok(env)
}

fn substitutions(config: &Config, root: &Path, overrides: &Overrides) -> Result<Substitutions, String> {
    let mut substitutions = Substitutions::default();
    substitutions.add("%{root}", root.to_string_lossy());
    substitutions.add("%{pathsep}", if cfg!(windows) { ";" } else { ":" });
    for (name, default) in &config.params {
        let value = overrides.params.get(name).unwrap_or(default);
        substitutions.add(format!("%{{{name}}}"), value);
    }
    if let Some(name) = overrides.params.keys().find(|name| !config.params.contains_key(*name)) {
        let known: Vec<&str> = config.params.keys().map(String::as_str).collect();
        return Err(match known.is_empty() {
            true => format!("unknown parameter '{name}': the suite has none"),
            false => format!("unknown parameter '{name}': the suite has {}", known.join(", ")),
        });
    }
    for (name, value) in &config.substitutions {
        substitutions.add_nested(name, value);
    }
    Ok(substitutions)
}
