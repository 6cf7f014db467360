//! What is said on stderr, in the form that was asked for.

use std::io::Write;

use serde_json::{Value, json};
use sutura_ir::diagnostics::{RenderStyle, codes, render};
use sutura_ir::{Context, Diagnostic, Loc};
use sutura_visible as visible;

/// How messages are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum MessageFormat {
    /// With the source, for people.
    #[default]
    Human,
    /// The first line of each message.
    Short,
    /// One JSON object per line.
    Json,
}

/// A writer of messages.
pub(crate) struct Voice<'s> {
    stderr: &'s mut (dyn Write + Send),
    format: MessageFormat,
    color: bool,
}

impl<'s> Voice<'s> {
    pub(crate) fn new(stderr: &'s mut (dyn Write + Send), format: MessageFormat, color: bool) -> Self {
        Self { stderr, format, color }
    }

    pub(crate) fn color(&self) -> bool {
        self.color
    }

    /// Writes text as it stands: reports and dumps. When that fails there is nobody left to tell.
    pub(crate) fn text(&mut self, text: &str) {
        let _ = self.stderr.write_all(text.as_bytes());
    }

    /// A message about the input.
    pub(crate) fn diagnostic(&mut self, cx: &Context, diagnostic: &Diagnostic) {
        let style = match self.format {
            MessageFormat::Human if self.color => RenderStyle::Colored,
            MessageFormat::Human | MessageFormat::Json => RenderStyle::Plain,
            MessageFormat::Short => RenderStyle::Short,
        };
        let rendered = render(cx, diagnostic, style);
        match self.format {
            MessageFormat::Json => self.json(&to_json(cx, diagnostic, &rendered)),
            _ => self.text(&rendered),
        }
    }

    /// An error that has no place in the input.
    pub(crate) fn error(&mut self, code: &'static str, message: &str) {
        self.plain("error", Some(code), message);
    }

    /// A warning that has no place in the input.
    pub(crate) fn warning(&mut self, code: &'static str, message: &str) {
        self.plain("warning", Some(code), message);
    }

    /// What the tool did on its own.
    pub(crate) fn note(&mut self, message: &str) {
        self.plain("note", None, message);
    }

    fn plain(&mut self, level: &str, code: Option<&str>, message: &str) {
        let mark = code.map(|c| format!(" [{c}]")).unwrap_or_default();
        let text = format!("{level}: {}{mark}\n", visible::message(message));
        match self.format {
            MessageFormat::Json => self.json(&json!({
                "level": level,
                "code": code,
                "message": message,
                "spans": [],
                "children": [],
                "rendered": text,
            })),
            _ => self.text(&text),
        }
    }

    fn json(&mut self, value: &Value) {
        self.text(&format!("{}\n", visible::json(&value.to_string())));
    }
}

/// A diagnostic as an object with the keys of rustc's.
fn to_json(cx: &Context, diagnostic: &Diagnostic, rendered: &str) -> Value {
    let mut children: Vec<Value> = diagnostic
        .notes
        .iter()
        .map(|(loc, text)| json!({"level": "note", "message": text, "spans": spans(cx, *loc)}))
        .collect();
    children.extend(diagnostic.help.iter().map(|help| json!({"level": "help", "message": help, "spans": []})));
    json!({
        "level": diagnostic.severity.word(),
        "code": diagnostic.code,
        "title": diagnostic.code.and_then(codes::title),
        "message": diagnostic.message,
        "spans": spans(cx, diagnostic.place(cx)),
        "children": children,
        "rendered": rendered,
    })
}

fn spans(cx: &Context, loc: Loc) -> Vec<Value> {
    let place = cx.file_line_col(loc);
    place
        .into_iter()
        .map(|(file, line, column)| {
            json!({"file_name": cx.str(file), "line_start": line, "column_start": column, "is_primary": true})
        })
        .collect()
}
