//! Programs that run without a process of their own.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What a tool is called with.
#[allow(missing_debug_implementations)]
pub struct Call<'a> {
    /// The arguments, without the name of the tool.
    pub args: &'a [String],
    /// All of standard input.
    pub stdin: &'a [u8],
    /// What relative file names are relative to. It is not the working folder
    /// of the process: tests run side by side.
    pub cwd: &'a Path,
    /// The environment variables; not those of the process.
    pub env: &'a BTreeMap<String, String>,
    /// Where standard output goes. Not buffered; writing cannot fail.
    pub stdout: &'a mut dyn Write,
    /// Where standard error goes.
    pub stderr: &'a mut dyn Write,
}

/// A program that RUN lines can name.
///
/// A tool must use what the [`Call`] gives it, not the streams, the working
/// folder or the environment of the process. A panic counts as a crash
/// (`not --crash`), and a tool that exceeds the timeout is abandoned.
pub trait Tool: Send + Sync {
    /// Runs it and returns its exit status; 0 is success.
    fn run(&self, call: &mut Call<'_>) -> i32;
}

impl<F: Fn(&mut Call<'_>) -> i32 + Send + Sync> Tool for F {
    fn run(&self, call: &mut Call<'_>) -> i32 {
        self(call)
    }
}

/// Tools by the names by which RUN lines call them.
#[derive(Clone, Default)]
pub struct Tools {
    by_name: BTreeMap<String, Arc<dyn Tool>>,
}

impl Tools {
    /// `FileCheck` (also as `sutura-filecheck`) and the built-in commands.
    pub fn standard() -> Self {
        let mut tools = Self::default();
        crate::builtin::register(&mut tools);
        tools
    }

    /// Adds or replaces a tool.
    #[must_use]
    pub fn with(mut self, name: &str, tool: impl Tool + 'static) -> Self {
        self.add(name, Arc::new(tool));
        self
    }

    pub(crate) fn add(&mut self, name: &str, tool: Arc<dyn Tool>) {
        self.by_name.insert(name.to_owned(), tool);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.by_name.get(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}
