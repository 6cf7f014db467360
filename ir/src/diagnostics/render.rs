//! Diagnostics as text: a line that programs can match, `file:line:col: error: …`, then the source with a mark.

use std::ops::Range;
use std::sync::Arc;

use codespan_reporting::diagnostic::{Diagnostic as Snippet, Label, Severity as SnippetSeverity};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;

use super::{Diagnostic, Severity};
use crate::context::Context;
use crate::location::{Loc, Source};

/// How diagnostics are rendered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RenderStyle {
    /// With the source, without colours.
    Plain,
    /// With the source, in colours: for terminals.
    Colored,
    /// Only the first line of each message.
    Short,
}

impl Severity {
    /// The word that stands for it in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Remark => "remark",
            Self::Note => "note",
        }
    }
}

/// A diagnostic with its notes as text, ending with a new line.
pub fn render(cx: &Context, diagnostic: &Diagnostic, style: RenderStyle) -> String {
    let mut out = String::new();
    let code = diagnostic.code.map(|c| format!(" [{c}]")).unwrap_or_default();
    let message = format!("{}{code}", diagnostic.message);
    entry(cx, diagnostic.severity, diagnostic.loc, &message, diagnostic.help.as_deref(), style, &mut out);
    for (loc, note) in &diagnostic.notes {
        entry(cx, Severity::Note, *loc, note, None, style, &mut out);
    }
    out
}

fn entry(
    cx: &Context,
    severity: Severity,
    loc: Loc,
    message: &str,
    help: Option<&str>,
    style: RenderStyle,
    out: &mut String,
) {
    let place = match cx.file_line_col(loc) {
        Some((file, line, col)) => format!("{}:{line}:{col}", cx.str(file)),
        // What a model's node is called is its place.
        None => cx.loc_name(loc).map_or("<unknown>:0", |name| cx.str(name)).to_string(),
    };
    let word = severity.word();
    match style {
        RenderStyle::Colored => {
            let color = match severity {
                Severity::Error => "31",
                Severity::Warning => "33",
                Severity::Remark => "34",
                Severity::Note => "32",
            };
            out.push_str(&format!("\x1b[1m{place}: \x1b[{color}m{word}: \x1b[0m\x1b[1m{message}\x1b[0m\n"));
        }
        _ => out.push_str(&format!("{place}: {word}: {message}\n")),
    }
    if style != RenderStyle::Short
        && let Some((source, offset)) = find_source(cx, loc)
    {
        out.push_str(&snippet(severity, &source, offset, style));
    }
    if let Some(help) = help.filter(|_| style != RenderStyle::Short) {
        out.push_str(&format!("  = help: {help}\n"));
    }
}

/// The text that a location points into.
fn find_source(cx: &Context, loc: Loc) -> Option<(Arc<Source>, usize)> {
    if let Some(position) = loc.position() {
        return cx.sources().find(position).map(|(source, offset)| (source, offset as usize));
    }
    let (file, line, col) = cx.file_line_col(loc)?;
    let source = cx.sources().by_name(cx.str(file))?;
    let index = line.checked_sub(source.first_line())? as usize;
    let start = *source.line_starts().get(index)? as usize;
    Some((source.clone(), (start + col.saturating_sub(1) as usize).min(source.text().len())))
}

/// Longest line that is shown; a mark in a longer one says nothing.
const MAX_LINE: usize = 400;

fn snippet(severity: Severity, source: &Arc<Source>, offset: usize, style: RenderStyle) -> String {
    let file = SourceFile(source);
    let range = token_at(source.text(), offset);
    let line = source.line_starts().partition_point(|s| *s as usize <= offset) - 1;
    let too_long = file.line_range((), line).is_ok_and(|r| r.len() > MAX_LINE);
    if too_long {
        return String::new();
    }
    let severity = match severity {
        Severity::Error => SnippetSeverity::Error,
        Severity::Warning => SnippetSeverity::Warning,
        Severity::Remark => SnippetSeverity::Help,
        Severity::Note => SnippetSeverity::Note,
    };
    let diagnostic = Snippet::new(severity).with_labels(vec![Label::primary((), range)]);
    let config = term::Config::default();
    let rendered = match style {
        RenderStyle::Colored => {
            let mut writer = term::termcolor::Ansi::new(Vec::new());
            let styles = term::Styles::default();
            let mut styled = term::StylesWriter::new(&mut writer, &styles);
            term::emit_to_write_style(&mut styled, &config, &file, &diagnostic)
                .map(|()| String::from_utf8_lossy(&writer.into_inner()).into_owned())
        }
        _ => term::emit_into_string(&config, &file, &diagnostic),
    };
    // The heading, a line with the place and an empty line say again what the first line says already.
    let body = rendered.unwrap_or_default();
    let lines: Vec<&str> = body.lines().skip(3).filter(|l| !l.trim().is_empty()).collect();
    lines.iter().map(|l| format!("{l}\n")).collect()
}

/// The token at `offset`, so that the mark spans it.
fn token_at(text: &str, offset: usize) -> Range<usize> {
    let mut start = offset.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let rest = &text[start..];
    let is_word = |c: char| c.is_alphanumeric() || "_.$".contains(c);
    let len = match rest.chars().next() {
        Some('"') => {
            rest[1..].find(['"', '\n']).map_or(1, |end| if rest[1 + end..].starts_with('"') { end + 2 } else { 1 })
        }
        Some('%' | '@' | '^' | '!' | '#') => 1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1),
        Some(c) if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        Some('\n') | None => 0,
        Some(c) => c.len_utf8(),
    };
    start..start + len
}

/// A source as the renderer wants it.
struct SourceFile<'s>(&'s Source);

impl<'f> Files<'f> for SourceFile<'f> {
    type FileId = ();
    type Name = &'f str;
    type Source = &'f str;

    fn name(&'f self, (): ()) -> Result<&'f str, Error> {
        Ok(self.0.name())
    }
    fn source(&'f self, (): ()) -> Result<&'f str, Error> {
        Ok(self.0.text())
    }
    fn line_index(&'f self, (): (), byte_index: usize) -> Result<usize, Error> {
        Ok(self.0.line_starts().partition_point(|s| *s as usize <= byte_index) - 1)
    }
    fn line_number(&'f self, (): (), line_index: usize) -> Result<usize, Error> {
        Ok(line_index + self.0.first_line() as usize)
    }
    fn line_range(&'f self, (): (), line_index: usize) -> Result<Range<usize>, Error> {
        let starts = self.0.line_starts();
        let given = line_index;
        let start = *starts.get(line_index).ok_or(Error::LineTooLarge { given, max: starts.len() })? as usize;
        let end = starts.get(line_index + 1).map_or(self.0.text().len(), |s| *s as usize);
        Ok(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn shows_the_line_and_marks_the_token() {
        let cx = Context::new(Registry::default());
        let source = cx.sources().add_part("a.mlir", "module {\n  %x = foo.bar\n}\n", 11).expect("small");
        let at = source.text().find("foo").expect("there");
        let diagnostic = Diagnostic::error(source.loc(at), "no such op")
            .code("E0001")
            .note(source.loc(0), "in this module")
            .help("did you mean `foo.baz`?");
        let text = render(&cx, &diagnostic, RenderStyle::Plain);
        let expected = [
            "a.mlir:12:8: error: no such op [E0001]",
            "12 │   %x = foo.bar",
            "   │        ^^^^^^^",
            "  = help: did you mean `foo.baz`?",
            "a.mlir:11:1: note: in this module",
            "11 │ module {",
            "   │ ^^^^^^",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        assert_eq!(
            render(&cx, &Diagnostic::warning(Loc::UNKNOWN, "w"), RenderStyle::Short),
            "<unknown>:0: warning: w\n"
        );
    }

    #[test]
    fn every_offset_of_a_text_is_fine() {
        let cx = Context::new(Registry::default());
        let source = cx.sources().add("a", "\"é\n\"\u{2192} %\n\"").expect("small");
        for offset in 0..=source.text().len() + 1 {
            let text = render(&cx, &Diagnostic::error(source.loc(offset), "x"), RenderStyle::Plain);
            assert!(text.starts_with("a:"), "{text}");
        }
    }
}
