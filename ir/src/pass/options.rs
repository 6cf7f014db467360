//! Options of passes: declared, typed, with defaults.

use indexmap::IndexMap;

use crate::diagnostics::did_you_mean;

/// What an option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// `true` or `false`; the bare name means `true`.
    Bool,
    /// A whole number in this range, both ends included.
    Int(i64, i64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// Texts separated by commas.
    List,
    /// Passes of the registry, as they stand between the parentheses of a pipeline.
    Pipeline,
}

/// A declared option.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Name, kebab-case.
    pub name: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// Value unless given, as written.
    pub default: &'static str,
    /// One line of documentation.
    pub help: &'static str,
}

impl OptionInfo {
    /// Checks that `value` is of the option's kind.
    ///
    /// # Errors
    /// Says what is expected.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let expected = match self.kind {
            OptionKind::Text | OptionKind::List | OptionKind::Pipeline => return Ok(()),
            OptionKind::Bool if matches!(value, "true" | "false" | "1" | "0") => return Ok(()),
            OptionKind::Bool => "`true` or `false`".to_string(),
            OptionKind::Int(least, most) => match value.parse::<i64>() {
                Ok(number) if (least..=most).contains(&number) && !value.starts_with('+') => return Ok(()),
                _ => format!("a whole number from {least} to {most}"),
            },
            OptionKind::Choice(words) if words.contains(&value) => return Ok(()),
            OptionKind::Choice(words) => {
                let close = did_you_mean(value, words.iter().copied());
                let hint = close.map(|c| format!(" (did you mean `{c}`?)")).unwrap_or_default();
                format!("one of `{}`{hint}", words.join("`, `"))
            }
        };
        Err(format!("option `{}` takes {expected}, not `{value}`", self.name))
    }
}

/// Values of a pass's options.
#[derive(Clone, Debug)]
pub struct PassOptions {
    infos: &'static [OptionInfo],
    given: IndexMap<&'static str, String>,
}

impl PassOptions {
    /// All options at their defaults.
    pub fn new(infos: &'static [OptionInfo]) -> Self {
        Self { infos, given: IndexMap::new() }
    }

    /// Sets an option, once.
    ///
    /// # Errors
    /// Says that there is no such option, that it is set already, or what it takes.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let Some(info) = self.infos.iter().find(|i| i.name == name) else {
            let close = did_you_mean(name, self.infos.iter().map(|i| i.name));
            let hint = match (close, self.infos) {
                (Some(close), _) => format!("; did you mean `{close}`?"),
                (None, []) => "; it has none".to_string(),
                (None, infos) => {
                    let names: Vec<_> = infos.iter().map(|i| i.name).collect();
                    format!("; it has `{}`", names.join("`, `"))
                }
            };
            return Err(format!("no option `{name}`{hint}"));
        };
        info.check(value)?;
        if self.given.insert(info.name, value.to_string()).is_some() {
            return Err(format!("option `{name}` is given twice"));
        }
        Ok(())
    }

    /// An option as text.
    ///
    /// # Panics
    /// When the pass does not declare it.
    pub fn text(&self, name: &str) -> &str {
        let info = self.infos.iter().find(|i| i.name == name).expect("the option is declared");
        self.given.get(name).map_or(info.default, String::as_str)
    }

    /// An option of kind [`OptionKind::Bool`].
    pub fn bool(&self, name: &str) -> bool {
        matches!(self.text(name), "true" | "1")
    }

    /// An option of kind [`OptionKind::Int`].
    pub fn int(&self, name: &str) -> i64 {
        self.text(name).parse().expect("checked when it was set; defaults are checked by the registry")
    }

    /// An option of kind [`OptionKind::List`].
    pub fn list(&self, name: &str) -> Vec<&str> {
        self.text(name).split(',').map(str::trim).filter(|s| !s.is_empty()).collect()
    }

    /// What was given for options of kind [`OptionKind::Pipeline`].
    pub(super) fn pipelines(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let pipelines = self.infos.iter().filter(|info| info.kind == OptionKind::Pipeline);
        pipelines.filter_map(|info| Some((info.name, self.given.get(info.name)?.as_str())))
    }

    /// The options that are not at their defaults, as a pipeline writes them; empty if there are none.
    pub(crate) fn to_text(&self) -> String {
        let changed = self.infos.iter().filter_map(|info| {
            let value = self.given.get(info.name).filter(|v| *v != info.default)?;
            let quoted = value.is_empty() || value.contains(|c: char| c.is_whitespace() || "{}\"'".contains(c));
            let value = if quoted { format!("\"{}\"", value.replace('"', "\\\"")) } else { value.clone() };
            Some(format!("{}={value}", info.name))
        });
        let parts: Vec<_> = changed.collect();
        if parts.is_empty() { String::new() } else { format!("{{{}}}", parts.join(" ")) }
    }
}
