//! Running one test.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::boolexpr::Expr;
use crate::condition::conditions;
use crate::outcome::{Code, Outcome};
use crate::script::{self, Action, Script, ScriptError};
use crate::shell::{self, Line, Shell, Step, TimedOut};
use crate::suite::{Suite, Test};

/// How much of each output of a command is shown.
const SHOWN_OUTPUT: usize = 64 << 10;

/// How much of all that the commands of a test wrote is kept: results stay in memory until the last test has run.
const SHOWN_OF_TEST: usize = 1 << 20;

impl Suite {
    /// Runs a test.
    pub fn run(&self, test: &Test) -> Outcome {
        let start = Instant::now();
        let (code, output) = self.run_inner(test);
        // Tests and their commands may write anything; a report is for people.
        let output = sutura_visible::visible(&cut(output.as_bytes(), SHOWN_OF_TEST)).into_owned();
        Outcome { code, output, elapsed: start.elapsed() }
    }

    /// Why a test would not be run here, if its directives say so.
    pub fn unsupported(&self, test: &Test) -> Option<String> {
        let script = self.script(test).ok()?;
        unsupported(&script, &self.features)
    }

    fn script(&self, test: &Test) -> Result<Script, ScriptError> {
        let text = sutura_input::bytes(&test.path, self.limit)
            .map_err(|error| ScriptError::new(None, format!("could not read the test: {error}")))?;
        script::parse(&text)
    }

    fn run_inner(&self, test: &Test) -> (Code, String) {
        let script = match self.script(test) {
            Ok(script) => script,
            Err(error) => return (Code::Unresolved, format!("{}: {error}\n", test.path.display())),
        };
        if let Some(reason) = unsupported(&script, &self.features) {
            return (Code::Unsupported, reason + "\n");
        }
        let lines = match self.prepare(test, &script) {
            Ok(lines) => lines,
            Err(error) => return (Code::Unresolved, format!("{}: {error}\n", test.path.display())),
        };
        let expect_failure = script.xfail.iter().any(|(_, expr)| expr.eval(&self.features));
        let mut attempt = 0;
        loop {
            let (code, output) = self.attempt(test, &lines);
            let code = match code {
                Code::Fail if expect_failure => Code::XFail,
                Code::Pass if expect_failure => Code::XPass,
                Code::Pass if attempt > 0 => Code::FlakyPass,
                code => code,
            };
            if code != Code::Fail || attempt == script.retries.unwrap_or_default() {
                return (code, output);
            }
            attempt += 1;
        }
    }

    /// Expands and parses all lines, so that a test with an error runs nothing.
    fn prepare(&self, test: &Test, script: &Script) -> Result<Vec<Prepared>, ScriptError> {
        let places = Places::of(self, test);
        places.check()?;
        let mut substitutions = self.substitutions.clone();
        for (name, value) in places.substitutions() {
            substitutions.add(name, value);
        }
        let mut lines = Vec::new();
        for (number, action) in &script.actions {
            let fail = |message: String| ScriptError::new(*number, message);
            match action {
                Action::Define { name, value, again } => {
                    if substitutions.contains(name) != *again {
                        let problem =
                            if *again { "is not defined before" } else { "is already defined; use REDEFINE:" };
                        return Err(fail(format!("'{name}' {problem}")));
                    }
                    substitutions.add_nested(name, value);
                }
                Action::Run(text) => {
                    let text = conditions(text, &self.features).map_err(fail)?;
                    if text.trim().is_empty() {
                        // A condition left nothing of it.
                        continue;
                    }
                    let text = substitutions.expand(&text, *number).map_err(fail)?;
                    let line = shell::parse(&text).map_err(|error| {
                        let indent = text.get(..error.at).map_or(0, |before| before.chars().count());
                        fail(format!("{}\n  {text}\n  {:indent$}^", error.message, ""))
                    })?;
                    lines.push(Prepared { number: *number, text, line });
                }
            }
        }
        Ok(lines)
    }

    fn attempt(&self, test: &Test, lines: &[Prepared]) -> (Code, String) {
        let places = Places::of(self, test);
        if let Err(error) = places.create() {
            return (Code::Unresolved, format!("{}: {error}\n", places.folder.display()));
        }
        let mut shell = Shell {
            tools: &self.tools,
            folders: self.folders.clone(),
            env: self.env.clone(),
            cwd: places.folder,
            pushed: Vec::new(),
            deadline: self.timeout.map(|timeout| Instant::now() + timeout),
            limit: self.limit,
            steps: Vec::new(),
        };
        let mut output = String::from("Script:\n--\n");
        for line in lines {
            let _ = writeln!(output, "RUN: at line {}: {}", line.number, line.text);
        }
        output.push_str("--\nCommand Output:\n--\n");
        for line in lines {
            let _ = writeln!(output, "# RUN: at line {}", line.number);
            let status = shell.run(&line.line);
            for step in shell.steps.drain(..) {
                describe(&mut output, &step);
            }
            let code = match status {
                Ok(status) if status.success() => continue,
                Ok(status) => {
                    let _ = writeln!(output, "# the line failed with exit status {status}");
                    Code::Fail
                }
                Err(TimedOut) => {
                    let seconds = self.timeout.unwrap_or_default().as_secs_f64();
                    let _ = writeln!(output, "# the test did not end within {seconds} s");
                    Code::Timeout
                }
            };
            output.push_str("--\n");
            return (code, output);
        }
        output.push_str("--\n");
        (Code::Pass, output)
    }
}

/// A RUN line ready to be run.
struct Prepared {
    number: usize,
    text: String,
    line: Line,
}

fn unsupported(script: &Script, features: &BTreeSet<String>) -> Option<String> {
    let join = |list: &[(String, Expr)], wanted: bool| {
        let wrong = list.iter().filter(|(_, expr)| expr.eval(features) != wanted);
        wrong.map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ")
    };
    let missing = join(&script.requires, true);
    if !missing.is_empty() {
        return Some(format!("requires: {missing}"));
    }
    let present = join(&script.unsupported, false);
    (!present.is_empty()).then(|| format!("unsupported with: {present}"))
}

/// The files and folders of a test.
struct Places {
    source: PathBuf,
    /// Where its commands run.
    folder: PathBuf,
    /// The start of the names of its temporary files, `%t`.
    temporary: PathBuf,
    name: String,
}

impl Places {
    fn of(suite: &Suite, test: &Test) -> Self {
        let relative = Path::new(&test.name);
        let folder = match relative.parent() {
            Some(parent) => suite.output.join(parent),
            None => suite.output.clone(),
        };
        let name = relative.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = folder.join("Output").join(format!("{name}.tmp"));
        Self { source: test.path.clone(), folder, temporary, name }
    }

    fn substitutions(&self) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let parent = |path: &Path| path.parent().map(text).unwrap_or_default();
        let stem = Path::new(&self.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        vec![
            ("%s", text(&self.source)),
            ("%S", parent(&self.source)),
            ("%p", parent(&self.source)),
            ("%t", text(&self.temporary)),
            ("%T", parent(&self.temporary)),
            ("%/s", text(&self.source)),
            ("%/S", parent(&self.source)),
            ("%/p", parent(&self.source)),
            ("%/t", text(&self.temporary)),
            ("%/T", parent(&self.temporary)),
            ("%:s", unrooted(&text(&self.source))),
            ("%:S", unrooted(&parent(&self.source))),
            ("%:p", unrooted(&parent(&self.source))),
            ("%:t", unrooted(&text(&self.temporary))),
            ("%:T", unrooted(&parent(&self.temporary))),
            ("%{s:real}", real(&self.source)),
            ("%{S:real}", self.source.parent().map(real).unwrap_or_default()),
            ("%{p:real}", self.source.parent().map(real).unwrap_or_default()),
            ("%{t:stem}", text(&self.temporary.with_extension(""))),
            ("%{fs-sep}", std::path::MAIN_SEPARATOR.to_string()),
            ("%{fs-src-root}", root(&self.source)),
            ("%{fs-tmp-root}", root(&self.temporary)),
            ("%basename_t", self.name.clone()),
            ("%{s:basename}", self.name.clone()),
            ("%{s:stem}", stem.unwrap_or_default()),
        ]
    }

    /// Paths are put into lines as they are, so they must be words.
    fn check(&self) -> Result<(), ScriptError> {
        let special = |c: char| c.is_whitespace() || "'\"\\$`|&;<>*?[]#".contains(c);
        match [&self.source, &self.temporary].into_iter().find(|path| path.to_string_lossy().contains(special)) {
            Some(path) => Err(ScriptError::new(
                None,
                format!("the path '{}' has a character that is special in RUN: lines", path.display()),
            )),
            None => Ok(()),
        }
    }

    /// Makes the folders, and removes what an earlier run left at `%t`.
    fn create(&self) -> std::io::Result<()> {
        let parent = self.temporary.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(parent)?;
        match std::fs::symlink_metadata(&self.temporary) {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&self.temporary),
            Ok(_) => std::fs::remove_file(&self.temporary),
            Err(_) => Ok(()),
        }
    }
}

/// A path with links followed, as far as it is there.
fn real(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).to_string_lossy().into_owned()
}

/// A path that can stand behind another one.
fn unrooted(path: &str) -> String {
    path.trim_start_matches(['/', '\\']).replace(':', "")
}

/// What a path begins with.
fn root(path: &Path) -> String {
    path.ancestors().last().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default()
}

fn describe(output: &mut String, step: &Step) {
    let _ = writeln!(output, "$ {}", step.command);
    for (name, text) in [("stdout", &step.stdout), ("stderr", &step.stderr)] {
        if text.is_empty() {
            continue;
        }
        let _ = writeln!(output, "# .---{name}------------");
        for line in cut(text, SHOWN_OUTPUT).lines() {
            let _ = writeln!(output, "# | {line}");
        }
        let _ = writeln!(output, "# `-----------------------");
    }
    match step.status {
        Some(status) if status.success() => {}
        Some(status) => {
            let _ = writeln!(output, "# exit status: {status}");
        }
        None => {
            let _ = writeln!(output, "# stopped");
        }
    }
}

/// The text without its middle, if it is long.
fn cut(text: &[u8], most: usize) -> String {
    if text.len() <= most {
        return String::from_utf8_lossy(text).into_owned();
    }
    let half = most / 2;
    let (head, tail) = (&text[..half], &text[text.len() - half..]);
    format!(
        "{}\n... {} bytes left out ...\n{}",
        String::from_utf8_lossy(head),
        text.len() - most,
        String::from_utf8_lossy(tail)
    )
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(cut(b"abcdef", 6), "abcdef");
        assert_eq!(cut(b"abcdefgh", 4), "ab\n... 4 bytes left out ...\ngh");
    }
}
