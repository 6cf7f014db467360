//! One run: input, its parts, output, and what is said about them.

use std::io::Write;
use std::path::Path;

use sutura_ir::diagnostics::{RenderStyle, render};
use sutura_ir::{Context, Diagnostic, Registry, Severity};

use crate::args::{Config, MARKER, Request};
use crate::output::Output;
use crate::timing::Timing;
use crate::{Io, Opt, Status, expect, help, process, split};

/// What the parts of a run share.
pub(crate) struct Session<'s> {
    pub(crate) cx: &'s Context,
    pub(crate) config: &'s Config,
    /// Name of the input in messages.
    pub(crate) file: &'s str,
    /// What file names are relative to.
    pub(crate) cwd: &'s Path,
    pub(crate) stderr: &'s mut (dyn Write + Send),
    pub(crate) color: bool,
    pub(crate) timing: Timing,
    /// With `--verify-diagnostics`: what the part at hand reported.
    pub(crate) collected: Vec<Diagnostic>,
    /// Warnings that `--strict` turns into errors.
    pub(crate) strict_errors: usize,
}

impl Session<'_> {
    /// Shows a diagnostic, or keeps it for comparison.
    pub(crate) fn diagnostic(&mut self, diagnostic: Diagnostic) {
        if self.config.expectations.is_some() {
            self.collected.push(diagnostic);
            return;
        }
        if diagnostic.severity == Severity::Remark && !self.config.remarks {
            return;
        }
        self.strict_errors += usize::from(self.config.strict && diagnostic.severity == Severity::Warning);
        let style = if self.color { RenderStyle::Colored } else { RenderStyle::Plain };
        self.say(&render(self.cx, &diagnostic, style));
    }

    /// Writes to stderr. When that fails there is nobody left to tell.
    pub(crate) fn say(&mut self, text: &str) {
        let _ = self.stderr.write_all(text.as_bytes());
    }
}

pub(crate) fn run<R: Fn() -> Registry>(opt: &Opt<R>, config: Config, io: Io<'_>) -> Status {
    let Io { stdin, cwd, stdout, stderr, color, .. } = io;
    let registry = (opt.registry)();
    let answer = match config.request {
        Request::Work => None,
        Request::Help => Some(help::help()),
        Request::Version => Some(format!("sutura-opt {}\n", env!("CARGO_PKG_VERSION"))),
        Request::ListPasses => Some(help::passes(&opt.passes)),
        Request::ShowDialects => Some(help::dialects(&registry)),
    };
    if let Some(answer) = answer {
        return match stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Status::Ok,
            Err(_) => Status::InputErrors,
        };
    }
    let timing = Timing::start();
    let (file, text) = match read_input(config.input.as_deref(), cwd, stdin) {
        Ok(input) => input,
        Err(message) => {
            let _ = writeln!(stderr, "error: {message}");
            return Status::InputErrors;
        }
    };
    let cx = Context::new(registry);
    let mut session = Session {
        cx: &cx,
        config: &config,
        file: &file,
        cwd,
        stderr,
        color,
        timing,
        collected: Vec::new(),
        strict_errors: 0,
    };
    let status = run_parts(&mut session, opt, &text, cwd, stdout);
    if config.timing {
        let report = session.timing.report();
        session.say(&report);
    }
    status
}

fn run_parts<R>(
    session: &mut Session<'_>,
    opt: &Opt<R>,
    text: &str,
    cwd: &Path,
    stdout: &mut (dyn Write + Send),
) -> Status {
    let config = session.config;
    if let Err(status) = process::given_pipeline(session, &opt.passes) {
        return status;
    }
    let mut output = match Output::open(config.output.as_deref(), cwd, stdout) {
        Ok(output) => output,
        Err(message) => {
            session.say(&format!("error: {message}\n"));
            return Status::InputErrors;
        }
    };
    let mut status = Status::Ok;
    for (index, part) in split::split(text, config.split.as_deref()).into_iter().enumerate() {
        if index > 0 {
            let marker = config.output_marker.as_deref().unwrap_or(MARKER);
            if writeln!(output, "{marker}").is_err() {
                session.say("error: cannot write the output\n");
                return Status::InputErrors;
            }
        }
        let mut one = process::process(session, &opt.passes, part, &mut output);
        if let Some(which) = config.expectations {
            let actual = std::mem::take(&mut session.collected);
            let found = expect::compare(session.cx, session.file, part.text, part.first_line, &actual, which);
            let failed = if one == Status::Internal { one } else { Status::InputErrors };
            one = if found.is_empty() { Status::Ok } else { failed };
            for (line, message) in found {
                session.say(&format!("{}:{line}:1: error: {message}\n", session.file));
            }
        }
        // Errors of the tool weigh more than those of the input.
        status = status.max(one);
    }
    if session.strict_errors > 0 {
        session.say(&format!("error: {} warnings, which `--strict` does not let pass\n", session.strict_errors));
        status = status.max(Status::InputErrors);
    }
    let to_file = matches!(output, Output::File { .. });
    if status != Status::Ok && to_file {
        return status;
    }
    if let Err(message) = output.commit() {
        session.say(&format!("error: {message}\n"));
        status = status.max(Status::InputErrors);
    }
    status
}

/// Name and text of the input.
fn read_input(
    name: Option<&str>,
    cwd: &Path,
    stdin: &mut (dyn std::io::Read + Send),
) -> Result<(String, String), String> {
    let (name, bytes) = match name.filter(|n| *n != "-") {
        None => {
            let mut bytes = Vec::new();
            stdin.read_to_end(&mut bytes).map_err(|e| format!("cannot read stdin: {e}"))?;
            ("<stdin>".to_string(), bytes)
        }
        Some(name) => {
            let bytes = std::fs::read(cwd.join(name)).map_err(|e| format!("cannot read `{name}`: {e}"))?;
            (name.to_string(), bytes)
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..at];
            let line = before.iter().filter(|b| **b == b'\n').count() + 1;
            Err(format!("`{name}` is not UTF-8 text: byte {at}, line {line}"))
        }
    }
}
