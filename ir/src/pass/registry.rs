//! The passes and pipelines that are known by name. A value, like the registry of dialects.

use indexmap::IndexMap;

use super::{PassInfo, PassInstance, PassOptions};
use crate::diagnostics::did_you_mean;
use crate::trace::{COMPONENTS, Component};

/// A pipeline with a name.
#[derive(Clone, Debug)]
pub struct NamedPipeline {
    /// One line of documentation.
    pub summary: &'static str,
    /// What stands between the parentheses of its anchor.
    pub text: String,
}

/// Passes and pipelines by name.
#[derive(Clone, Debug, Default)]
pub struct PassRegistry {
    passes: IndexMap<&'static str, &'static PassInfo>,
    pipelines: IndexMap<&'static str, NamedPipeline>,
    /// Components that passes write traces of, beside those of this crate.
    components: Vec<&'static Component>,
}

impl PassRegistry {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pass.
    ///
    /// # Panics
    /// When its name is taken, or a default value is not of its option's kind.
    pub fn add(&mut self, info: &'static PassInfo) -> &mut Self {
        for option in info.options {
            if let Err(error) = option.check(option.default) {
                panic!("default of `{}`: {error}", info.argument);
            }
        }
        let old = self.passes.insert(info.argument, info);
        assert!(old.is_none_or(|old| std::ptr::eq(old, info)), "pass `{}` is registered twice", info.argument);
        self
    }

    /// Adds a pass.
    #[must_use]
    pub fn with(mut self, info: &'static PassInfo) -> Self {
        self.add(info);
        self
    }

    /// Adds a pipeline: `text` is what a textual pipeline has between its parentheses.
    pub fn add_pipeline(&mut self, name: &'static str, summary: &'static str, text: impl Into<String>) -> &mut Self {
        self.pipelines.insert(name, NamedPipeline { summary, text: text.into() });
        self
    }

    /// Adds a component that passes write traces of: `--debug-only` knows its name then.
    pub fn add_component(&mut self, component: &'static Component) -> &mut Self {
        self.components.push(component);
        self
    }

    /// All components that can write traces, sorted by name.
    pub fn components(&self) -> Vec<&'static Component> {
        let mut all: Vec<_> = COMPONENTS.iter().chain(&self.components).copied().collect();
        all.sort_by_key(|component| component.name);
        all.dedup_by_key(|component| component.name);
        all
    }

    /// A pass by its argument.
    pub fn pass(&self, argument: &str) -> Option<&'static PassInfo> {
        self.passes.get(argument).copied()
    }

    /// A pipeline by name.
    pub fn pipeline(&self, name: &str) -> Option<&NamedPipeline> {
        self.pipelines.get(name)
    }

    /// All passes, sorted by argument.
    pub fn passes(&self) -> Vec<&'static PassInfo> {
        let mut all: Vec<_> = self.passes.values().copied().collect();
        all.sort_by_key(|p| p.argument);
        all
    }

    /// All pipelines, sorted by name.
    pub fn pipelines(&self) -> Vec<(&'static str, &NamedPipeline)> {
        let mut all: Vec<_> = self.pipelines.iter().map(|(n, p)| (*n, p)).collect();
        all.sort_by_key(|(n, _)| *n);
        all
    }

    /// The known name closest to `name`, or else the one that `name` abbreviates by its initials, as `licm` does.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        let known = || self.passes.keys().chain(self.pipelines.keys()).copied();
        let is_abbreviated = |long: &&str| long.split('-').filter_map(|word| word.chars().next()).eq(name.chars());
        did_you_mean(name, known()).or_else(|| known().filter(|long| long.contains('-')).find(is_abbreviated))
    }

    /// The pass `argument` with options written as in a pipeline, `a=1 b=2`.
    ///
    /// # Errors
    /// Says what is unknown or malformed.
    pub fn instantiate(&self, argument: &str, options: &[(String, String)]) -> Result<PassInstance, String> {
        let info = self.pass(argument).ok_or_else(|| format!("no pass `{argument}`"))?;
        let mut values = PassOptions::new(info.options);
        for (name, value) in options {
            values.set(name, value)?;
        }
        PassInstance::new(info, values)
    }
}
