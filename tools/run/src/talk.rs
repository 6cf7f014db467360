//! What goes to stderr: stages, warnings, errors.

use std::io::{IsTerminal, Write, stderr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use sutura_ir::Context;
use sutura_ir::diagnostics::{Diagnostic, RenderStyle, Severity, render};
use sutura_visible as visible;

use crate::args::{Color, MessageFormat, Talking};
use crate::failure::Failure;
use crate::files;
use crate::progress::Progress;

/// Writes messages as the user wants them.
#[derive(Clone)]
pub struct Talk {
    format: MessageFormat,
    verbose: u8,
    quiet: bool,
    style: RenderStyle,
    /// Whether stages and what is worth knowing of them are told: on a terminal, to programs, and to those who ask.
    stages: bool,
    /// What shows the stage that a terminal's user waits for.
    progress: Option<Progress>,
    /// Where it goes instead of stderr.
    kept: Option<Said>,
    /// How many warnings there were, also those that nobody wanted to see.
    warned: Arc<AtomicUsize>,
}

/// What was said, kept instead of written.
#[derive(Clone, Debug, Default)]
pub struct Said(Arc<Mutex<String>>);

impl Said {
    pub fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Talk {
    pub fn new(talking: &Talking) -> Self {
        let auto = || stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let coloured = match talking.color {
            Color::Auto => auto(),
            Color::Always => true,
            Color::Never => false,
        };
        let style = if coloured { RenderStyle::Colored } else { RenderStyle::Plain };
        let Talking { verbose, quiet, message_format: format, .. } = *talking;
        let terminal = stderr().is_terminal();
        let progress = (terminal && format == MessageFormat::Human && !quiet).then(Progress::default);
        let stages = terminal || verbose > 0 || format == MessageFormat::Json;
        Self { format, verbose, quiet, style, stages, progress, kept: None, warned: Arc::default() }
    }

    /// One that says nothing but errors.
    pub fn silent() -> Self {
        let (format, style) = (MessageFormat::Human, RenderStyle::Plain);
        Self {
            format,
            verbose: 0,
            quiet: true,
            style,
            stages: false,
            progress: None,
            kept: None,
            warned: Arc::default(),
        }
    }

    /// The same, and what is said is kept.
    pub fn kept(talking: &Talking) -> (Self, Said) {
        let said = Said::default();
        let (style, kept) = (RenderStyle::Plain, Some(said.clone()));
        let talk = Self { style, kept, progress: None, ..Self::new(talking) };
        (talk, said)
    }

    /// One that says nothing but errors, which are kept.
    pub fn kept_silent() -> (Self, Said) {
        let said = Said::default();
        (Self { kept: Some(said.clone()), ..Self::silent() }, said)
    }

    /// The same for work whose stages nobody asked for, such as that of `check`: they are told with `-v`.
    pub fn without_stages(&self) -> Self {
        Self { stages: self.verbose > 0, ..self.clone() }
    }

    /// The same, but what is worth knowing is told with `-v`.
    pub fn muted(&self) -> Self {
        Self { quiet: self.verbose == 0, ..self.clone() }
    }

    /// Writes a message that may hold text of others.
    fn write(&self, human: &str, json: &serde_json::Value) {
        self.write_shown(&visible::message(human), json);
    }

    /// The same where what others wrote may be shown as it is.
    fn write_shown(&self, human: &str, json: &serde_json::Value) {
        let json = json.to_string();
        let json = visible::json(&json);
        if let Some(Said(kept)) = &self.kept {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_str(&match self.format {
                MessageFormat::Human => format!("{human}\n"),
                MessageFormat::Json => format!("{json}\n"),
            });
            return;
        }
        let write = || {
            let mut out = stderr().lock();
            // Nobody is left to hear of an stderr that cannot be written to.
            let _ = match self.format {
                MessageFormat::Human => writeln!(out, "{human}"),
                MessageFormat::Json => writeln!(out, "{json}"),
            };
        };
        match &self.progress {
            Some(progress) => progress.aside(write),
            None => write(),
        }
    }

    /// A stage that begins.
    pub fn begin(&self, name: &str) {
        self.begin_parts(name, || None);
    }

    /// A stage that begins, of which `parts` tells the functions that are done and all that there are.
    pub fn begin_parts(&self, name: &str, parts: fn() -> Option<(usize, usize)>) {
        if let Some(progress) = &self.progress {
            progress.begin(name, parts);
        }
    }

    /// Nothing is waited for any more.
    pub fn end(&self) {
        if let Some(progress) = &self.progress {
            progress.end();
        }
    }

    /// Whether only errors, and what was asked for, are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether stages are told.
    pub fn tells_stages(&self) -> bool {
        self.stages
    }

    /// Whether messages are for programs.
    pub fn is_json(&self) -> bool {
        self.format == MessageFormat::Json
    }

    /// A stage that is done.
    pub fn stage(&self, name: &str, what: &str, time: Duration) {
        self.end();
        if !self.quiet && self.stages {
            let milliseconds = time.as_secs_f64() * 1e3;
            let line = format!("{name:<10} {:<44} {milliseconds:>9.1} ms", visible::line(what));
            self.write(&line, &json!({"level": "stage", "stage": name, "what": what, "milliseconds": milliseconds}));
        }
    }

    /// Something worth knowing.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.write(message, &json!({"level": "note", "message": message}));
        }
    }

    /// Something that nobody must miss.
    pub fn always(&self, message: &str) {
        self.write(&format!("note: {message}"), &json!({"level": "note", "message": message}));
    }

    /// What belongs to the stages of a compilation.
    pub fn progress(&self, message: &str) {
        if self.stages {
            self.note(message);
        }
    }

    /// Something for those who asked to hear more.
    pub fn detail(&self, message: &str) {
        if self.verbose > 0 {
            self.note(message);
        }
    }

    /// Something that is likely wrong.
    pub fn warning(&self, message: &str) {
        self.warned.fetch_add(1, Ordering::Relaxed);
        if !self.quiet {
            self.write(&format!("warning: {message}"), &json!({"level": "warning", "message": message}));
        }
    }

    /// How many warnings there were.
    pub fn warnings(&self) -> usize {
        self.warned.load(Ordering::Relaxed)
    }

    /// An error after which the command goes on.
    pub fn error(&self, message: &str) {
        self.write(&format!("error: {message}"), &json!({"level": "error", "message": message}));
    }

    /// A message about the IR; remarks only for those who asked.
    pub fn diagnostic(&self, cx: &Context, diagnostic: &Diagnostic) {
        self.warned.fetch_add(usize::from(diagnostic.severity == Severity::Warning), Ordering::Relaxed);
        let shown = match diagnostic.severity {
            Severity::Error => true,
            Severity::Warning => !self.quiet,
            Severity::Remark | Severity::Note => self.shows_remarks(),
        };
        if !shown {
            return;
        }
        let text =
            render(cx, diagnostic, if self.format == MessageFormat::Human { self.style } else { RenderStyle::Plain });
        let place = cx.file_line_col(diagnostic.place(cx)).map(|(file, line, column)| (cx.str(file), line, column));
        let json = json!({
            "level": diagnostic.severity.word(),
            "message": diagnostic.message,
            "code": diagnostic.code,
            "file": place.map(|p| p.0),
            "line": place.map(|p| p.1),
            "column": place.map(|p| p.2),
            "name": cx.loc_name(diagnostic.place(cx)).map(|name| cx.str(name)),
            "help": diagnostic.help,
            "rendered": text,
        });
        self.write_shown(text.trim_end(), &json);
    }

    /// A remark that was asked for, also by those who want to hear nothing else.
    pub fn remark(&self, text: &str, mut json: serde_json::Value) {
        json["level"] = "remark".into();
        self.write(text, &json);
    }

    /// True when remarks are shown to whoever listens.
    pub fn shows_remarks(&self) -> bool {
        self.verbose > 1
    }

    /// A result for programs, on stdout: an object of a line that says what it is of. docs/json.md describes them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn result(&self, of: &str, fields: Map<String, Value>) -> Result<(), Failure> {
        let mut object = Map::from_iter([("result".to_owned(), of.into())]);
        object.extend(fields);
        let line = format!("{}\n", visible::json(&Value::Object(object).to_string()));
        files::write(Path::new("-"), line.as_bytes())
    }

    /// The failure that ends the command.
    pub fn failure(&self, failure: &Failure) {
        self.end();
        let code = failure.code.map_or(String::new(), |code| format!("[{code}]"));
        let mut text = format!("error{code}: {}", failure.message);
        if let Some(hint) = &failure.hint {
            text.push_str(&format!("\n  hint: {hint}"));
        }
        let json = json!({
            "level": "error",
            "kind": failure.kind.name(),
            "message": failure.message,
            "code": failure.code,
            "help": failure.hint,
        });
        self.write(&text, &json);
    }
}
