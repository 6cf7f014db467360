//! What goes to stderr: stages, warnings, errors.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use serde_json::json;
use sutura_ir::Context;
use sutura_ir::diagnostics::{Diagnostic, RenderStyle, Severity, render};

use crate::cli::MessageFormat;
use crate::failure::Failure;

/// Writes messages as the user wants them.
pub(crate) struct Talk {
    format: MessageFormat,
    verbose: u8,
    quiet: bool,
    style: RenderStyle,
}

impl Talk {
    pub(crate) fn new(format: MessageFormat, verbose: u8, quiet: bool) -> Self {
        let colours = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Self { format, verbose, quiet, style: if colours { RenderStyle::Colored } else { RenderStyle::Plain } }
    }

    fn write(&self, human: &str, json: serde_json::Value) {
        let mut out = stderr().lock();
        // Nobody is left to hear of an stderr that cannot be written to.
        let _ = match self.format {
            MessageFormat::Human => writeln!(out, "{human}"),
            MessageFormat::Json => writeln!(out, "{json}"),
        };
    }

    /// Whether only errors, and what was asked for, are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether messages are for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.format == MessageFormat::Json
    }

    /// A stage that is done.
    pub(crate) fn stage(&self, name: &str, what: &str, time: Duration) {
        if !self.quiet {
            let milliseconds = time.as_secs_f64() * 1e3;
            let line = format!("{name:<10} {what:<44} {milliseconds:>9.1} ms");
            self.write(&line, json!({"level": "stage", "stage": name, "what": what, "milliseconds": milliseconds}));
        }
    }

    /// Something worth knowing.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            self.write(message, json!({"level": "note", "message": message}));
        }
    }

    /// Something for those who asked to hear more.
    pub(crate) fn detail(&self, message: &str) {
        if self.verbose > 0 {
            self.note(message);
        }
    }

    /// Something that is likely wrong.
    pub(crate) fn warning(&self, message: &str) {
        if !self.quiet {
            self.write(&format!("warning: {message}"), json!({"level": "warning", "message": message}));
        }
    }

    /// An error after which the command goes on.
    pub(crate) fn error(&self, message: &str) {
        self.write(&format!("error: {message}"), json!({"level": "error", "message": message}));
    }

    /// A message about the IR; remarks only for those who asked.
    pub(crate) fn diagnostic(&self, cx: &Context, diagnostic: &Diagnostic) {
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
        let place = cx.file_line_col(diagnostic.loc).map(|(file, line, column)| (cx.str(file), line, column));
        let json = json!({
            "level": diagnostic.severity.word(),
            "message": diagnostic.message,
            "code": diagnostic.code,
            "file": place.map(|p| p.0),
            "line": place.map(|p| p.1),
            "column": place.map(|p| p.2),
            "help": diagnostic.help,
            "rendered": text,
        });
        self.write(text.trim_end(), json);
    }

    /// A remark that was asked for, also by those who want to hear nothing else.
    pub(crate) fn remark(&self, text: &str, mut json: serde_json::Value) {
        json["level"] = "remark".into();
        self.write(text, json);
    }

    /// True when remarks are shown to whoever listens.
    pub(crate) fn shows_remarks(&self) -> bool {
        self.verbose > 1
    }

    /// The failure that ends the command.
    pub(crate) fn failure(&self, failure: &Failure) {
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
        self.write(&text, json);
    }
}
