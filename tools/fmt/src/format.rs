//! One text, formatted, with the proof that nothing but its form has changed.

use std::ops::Range;

use sutura_grammar::{KeepLayout, ParseOptions, parse_module};
use sutura_ir::asm::layout::Layout;
use sutura_ir::asm::print::{PrintOptions, module_text, module_text_and_places};
use sutura_ir::diagnostics::{Diagnostic, Diagnostics};
use sutura_ir::location::SourceText;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Module};

use crate::comments::Comments;

/// Where a file is split into programs, as with `--split-input-file`.
const MARKER: &str = "// -----";
/// Where `split-file` splits a file into files: a line that begins so.
const FILE_MARKER: &str = "//--- ";
/// What a test says of a part that is wrong on purpose.
const EXPECTATION: &str = "expected-error";

/// A text in canonical form.
#[derive(Debug)]
pub struct Formatted {
    /// The text.
    pub text: String,
    /// Lines at which parts begin that are no valid program, as tests say, and stay as they are.
    pub left: Vec<u32>,
}

/// Why a text is not formatted.
#[derive(Debug)]
pub enum Refusal {
    /// It is no valid program.
    Invalid(Vec<Diagnostic>),
    /// What was made of it is not the same: an error of this program.
    Internal(String),
}

/// A part of a text.
struct Part {
    range: Range<usize>,
    first_line: u32,
    /// It begins a file of `split-file`, which may be anything.
    is_file: bool,
}

/// Formats `text`, which is called `name`. Parts of a test that are wrong on purpose stay as they are.
///
/// # Errors
/// When the text is no valid program, or the formatted text would be another one.
pub fn format(cx: &Context, name: &str, text: &str) -> Result<Formatted, Refusal> {
    let whole = std::sync::Arc::new(text.to_string());
    let file = File { cx, name, text: &whole };
    let parts = split(text);
    let several = parts.len() > 1;
    let refused = match file.parts(parts) {
        Err(refusal @ Refusal::Invalid(_)) if several => refusal,
        done => return done,
    };
    // What parts programs elsewhere may be an ordinary comment here.
    let all = Part { range: 0..text.len(), first_line: 1, is_file: false };
    file.parts(vec![all]).map_err(|_| refused)
}

struct File<'f> {
    cx: &'f Context,
    name: &'f str,
    text: &'f std::sync::Arc<String>,
}

impl File<'_> {
    fn parts(&self, parts: Vec<Part>) -> Result<Formatted, Refusal> {
        let text = self.text.as_str();
        let carriage_returns = text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n"));
        let (mut out, mut left, mut at) = (String::with_capacity(text.len()), Vec::new(), 0);
        for part in parts {
            out.push_str(&text[at..part.range.start]);
            at = part.range.end;
            let own = &text[part.range.clone()];
            match self.part(&part) {
                Ok(formatted) if carriage_returns => out.push_str(&formatted.replace('\n', "\r\n")),
                Ok(formatted) => out.push_str(&formatted),
                Err(Refusal::Invalid(_)) if part.is_file || own.contains(EXPECTATION) => {
                    out.push_str(own);
                    left.push(part.first_line);
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(Formatted { text: out, left })
    }

    fn part(&self, part: &Part) -> Result<String, Refusal> {
        let own = &self.text[part.range.clone()];
        let module = self.read(SourceText::part(self.text, part.range.clone()), self.name, part.first_line)?;
        verify_part(self.cx, &module)?;
        let (printed, places) = module_text_and_places(self.cx, &module, &as_written());
        let woven = Comments::collect(own, layout(&module), &places).weave(&printed, &places);
        if woven.gone > 0 {
            return Err(Refusal::Internal(format!("{} comments would be lost", woven.gone)));
        }
        // Some printers of operations leave a blank at the end of a line; but lines may also end in a type's own text.
        let trimmed: String = woven.text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        let formatted = match self.prove(own, &module, &printed, &trimmed) {
            Err(_) if trimmed != woven.text => {
                self.prove(own, &module, &printed, &woven.text)?;
                woven.text
            }
            proved => proved.map(|()| trimmed)?,
        };
        Ok(with_outer_blanks(self.text, part, formatted))
    }

    fn read(&self, text: SourceText, name: &str, first_line: u32) -> Result<Module, Refusal> {
        let source = self.cx.sources().add_part(name, text, first_line);
        let source =
            source.map_err(|e| Refusal::Invalid(vec![Diagnostic::error(sutura_ir::Loc::UNKNOWN, e.to_string())]))?;
        let mut diags = Diagnostics::default();
        let options = ParseOptions { allow_unregistered: true, layout: KeepLayout::All, ..ParseOptions::default() };
        parse_module(self.cx, &source, &options, &mut diags).map_err(|_| Refusal::Invalid(diags.take()))
    }

    /// Reads the formatted text again: it must be the same program with the same comments.
    fn prove(&self, own: &str, module: &Module, printed: &str, formatted: &str) -> Result<(), Refusal> {
        let broken = |what: &str| Refusal::Internal(format!("the formatted text {what}"));
        let name = format!("<{}, formatted>", self.name);
        let again = self.read(formatted.into(), &name, 1).map_err(|_| broken("is no valid program"))?;
        // Values without a name get one in the custom form, so names are compared in that form only.
        let nameless = PrintOptions { generic: true, discard_value_names: true, ..as_written() };
        let same = module_text(self.cx, &again, &as_written()) == printed
            && module_text(self.cx, &again, &nameless) == module_text(self.cx, module, &nameless);
        if !same {
            return Err(broken("is another program"));
        }
        if !comment_texts(own, layout(module)).eq(comment_texts(formatted, layout(&again))) {
            return Err(broken("has other comments, or has them in another order"));
        }
        Ok(())
    }
}

fn as_written() -> PrintOptions {
    PrintOptions { as_written: true, ..PrintOptions::default() }
}

fn layout(module: &Module) -> &Layout {
    module.text().layout.as_deref().expect("asked for when it was read")
}

fn comment_texts<'t>(text: &'t str, layout: &'t Layout) -> impl Iterator<Item = &'t str> {
    layout.comments.iter().map(|c| text[c.start as usize..c.end as usize].trim_end())
}

fn verify_part(cx: &Context, module: &Module) -> Result<(), Refusal> {
    let mut diags = Diagnostics::default();
    let options = VerifyOptions { allow_unregistered: true };
    verify(module.op_ref(cx), options, &mut diags).map_err(|_| Refusal::Invalid(diags.take()))
}

/// Blank lines beside a marker, of several one.
fn with_outer_blanks(text: &str, part: &Part, formatted: String) -> String {
    let own = &text[part.range.clone()];
    let newlines = |blanks: &str| blanks.bytes().filter(|b| *b == b'\n').count();
    if formatted.is_empty() {
        let is_between = part.range.start > 0 && part.range.end < text.len();
        return if is_between && newlines(own) > 0 { "\n".to_string() } else { formatted };
    }
    let begins_blank = part.range.start > 0 && newlines(&own[..own.len() - own.trim_start().len()]) > 0;
    let ends_blank = part.range.end < text.len() && newlines(&own[own.trim_end().len()..]) > 1;
    [if begins_blank { "\n" } else { "" }, &formatted, if ends_blank { "\n" } else { "" }].concat()
}

/// Cuts a text at its markers, which belong to no part.
fn split(text: &str) -> Vec<Part> {
    let (mut parts, mut start, mut first_line, mut at, mut is_file) = (Vec::new(), 0, 1, 0, false);
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        let trimmed = content.trim_end();
        let before = trimmed.strip_suffix(MARKER);
        let marker = match before {
            // Within another comment it is a part of that.
            Some(before) if !before.contains("//") => Some(before.len()),
            _ => trimmed.starts_with(FILE_MARKER).then_some(0),
        };
        if let Some(marker) = marker {
            parts.push(Part { range: start..at + marker, first_line, is_file });
            (start, first_line, is_file) = (at + content.len(), line + 1, trimmed.starts_with(FILE_MARKER));
        }
        at += content.len();
    }
    parts.push(Part { range: start..text.len(), first_line, is_file });
    parts
}
