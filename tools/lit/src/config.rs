//! `lit.toml`: what the tests of a folder need.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// The name of the file that makes a folder a suite.
pub(crate) const FILE_NAME: &str = "lit.toml";

/// The contents of a `lit.toml`. Unknown keys are errors.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    /// What reports call the suite.
    pub(crate) name: String,
    /// The ends of the names of tests, with the dot.
    pub(crate) suffixes: Vec<String>,
    /// Names of files and folders that hold no tests.
    #[serde(default)]
    pub(crate) excludes: Vec<String>,
    /// Features that are there.
    #[serde(default)]
    pub(crate) features: Vec<String>,
    /// Programs that need not be there; those that are are features.
    #[serde(default)]
    pub(crate) optional_tools: Vec<String>,
    /// Where programs are looked for before `PATH`; relative to the suite.
    #[serde(default)]
    pub(crate) tool_dirs: Vec<String>,
    /// Where tests write; relative to the suite.
    #[serde(default = "default_output")]
    pub(crate) output: String,
    /// Seconds a test may take; 0 for any time.
    #[serde(default = "default_timeout")]
    pub(crate) timeout: u64,
    /// Substitutions, each with its `%`. `%{root}` is the folder of the suite.
    #[serde(default)]
    pub(crate) substitutions: BTreeMap<String, String>,
    /// Environment variables for tests.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Environment variables that tests get as they are.
    #[serde(default)]
    pub(crate) pass_through: Vec<String>,
    /// Parameters and their defaults; each is the substitution `%{name}`.
    #[serde(default)]
    pub(crate) params: BTreeMap<String, String>,
}

fn default_output() -> String {
    "Output".into()
}

fn default_timeout() -> u64 {
    60
}

impl Config {
    /// Reads the configuration of the suite in `folder`.
    pub(crate) fn load(folder: &Path) -> Result<Self, String> {
        let path = folder.join(FILE_NAME);
        let text = sutura_input::text(&path, sutura_input::TEXT_LIMIT).and_then(sutura_input::utf8);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let dotted = |suffix: &&String| suffix.starts_with('.') && suffix.len() > 1;
        if config.suffixes.is_empty() || !config.suffixes.iter().all(|suffix| dotted(&suffix)) {
            return Err("'suffixes' must list at least one suffix, each with a dot".into());
        }
        if let Some(name) = config.substitutions.keys().find(|name| name.len() < 2 || !name.starts_with('%')) {
            return Err(format!("the substitution '{name}' must start with '%'"));
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads() {
        let config = Config::parse("name = 'x'\nsuffixes = ['.mlir']\n[substitutions]\n'%x' = 'y'").expect("it parses");
        assert_eq!(config.timeout, 60);
        assert_eq!(config.substitutions["%x"], "y");
    }

    #[test]
    fn errors() {
        for (text, part) in [
            ("name = 'x'", "suffixes"),
            ("name = 'x'\nsuffixes = []", "at least one"),
            ("name = 'x'\nsuffixes = ['mlir']", "dot"),
            ("name = 'x'\nsuffixes = ['.a']\nexclude = []", "unknown field `exclude`"),
            ("name = 'x'\nsuffixes = ['.a']\n[substitutions]\nx = 'y'", "start with '%'"),
            ("name = ", "TOML parse error"),
        ] {
            let error = Config::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
