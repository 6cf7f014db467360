//! Text in, values out: parsing, verifying and running a function in one call.

use std::fmt::Write;

use sutura_grammar::{ParseOptions, parse_module};
use sutura_interp::{InterpError, Interpreter, Value};
use sutura_ir::diagnostics::{Diagnostic, Diagnostics, Severity};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Module};

/// Why a text did not run.
#[derive(Clone, Debug)]
pub enum TextError {
    /// It does not parse or verify.
    Invalid {
        /// What was reported.
        diagnostics: Vec<Diagnostic>,
        /// The errors with their places, one a line.
        rendered: String,
    },
    /// It faults.
    Fault {
        /// The fault.
        error: InterpError,
        /// The fault with its place.
        rendered: String,
    },
}

impl std::fmt::Display for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid { rendered, .. } | Self::Fault { rendered, .. } => f.write_str(rendered),
        }
    }
}
impl std::error::Error for TextError {}

/// Parses and verifies a module. `name` stands for the file in messages. Operations that no dialect declares are kept;
/// they verify, and run where a hook was attached to their name.
///
/// # Errors
/// When the text does not parse or verify.
pub fn parse_text(cx: &Context, name: &str, text: &str) -> Result<Module, TextError> {
    let mut diags = Diagnostics::default();
    let module = match cx.sources().add(name, text) {
        Ok(source) => {
            parse_module(cx, &source, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() }, &mut diags)
        }
        Err(error) => Err(diags.error(sutura_ir::Loc::UNKNOWN, error.to_string())),
    };
    let module =
        module.and_then(|m| verify(m.op_ref(cx), VerifyOptions { allow_unregistered: true }, &mut diags).map(|()| m));
    module.map_err(|_| {
        let diagnostics = diags.take();
        let rendered = render(cx, &diagnostics);
        TextError::Invalid { diagnostics, rendered }
    })
}

fn render(cx: &Context, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        let separator = if out.is_empty() { "" } else { "\n" };
        let place = cx.file_line_col(diagnostic.loc);
        let place = place.map_or_else(String::new, |(file, line, col)| format!("{}:{line}:{col}: ", cx.str(file)));
        // Writing to a string does not fail.
        let _ = write!(out, "{separator}{place}{}", diagnostic.message);
    }
    out
}

/// Parses a module and calls its function `name`. Memrefs, which need memory of an interpreter, cannot be passed this
/// way.
///
/// # Errors
/// When the text does not parse or verify, or the function faults.
pub fn run_function_text(cx: &Context, text: &str, name: &str, args: &[Value]) -> Result<Vec<Value>, TextError> {
    let module = parse_text(cx, "<text>", text)?;
    Interpreter::new(cx, &module).call(name, args).map_err(|error| {
        let rendered = error.render(cx);
        TextError::Fault { error, rendered }
    })
}
