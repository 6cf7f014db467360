//! Diagnostics as text: a line that programs can match, `file:line:col: error: …`, then the source with a mark.
//!
//! Names of files, messages and lines of a source hold text of others. What commands a terminal or hides in it is written
//! out, and further lines of a message are indented, so that no name looks like a message of its own.

use std::ops::Range;
use std::sync::Arc;

use codespan_reporting::diagnostic::{Diagnostic as Snippet, Label, Severity as SnippetSeverity};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;
use sutura_visible as visible;

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
    entry(cx, diagnostic.severity, diagnostic.place(cx), &message, diagnostic.help.as_deref(), style, &mut out);
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
    let place = place(cx, loc);
    let message = visible::message(message);
    let word = severity.word();
    match style {
        RenderStyle::Colored => {
            let color = match severity {
                Severity::Error => "31",
                Severity::Warning => "33",
                Severity::Remark => "34",
                Severity::Note => "32",
            };
            out.push_str(&format!("\x1b[1m{place}\x1b[{color}m{word}: \x1b[0m\x1b[1m{message}\x1b[0m\n"));
        }
        _ => out.push_str(&format!("{place}{word}: {message}\n")),
    }
    if style != RenderStyle::Short
        && let Some((source, offset)) = find_source(cx, loc)
    {
        out.push_str(&snippet(severity, &source, offset, style));
    }
    if let Some(help) = help.filter(|_| style != RenderStyle::Short) {
        out.push_str(&format!("  = help: {}\n", visible::message(help)));
    }
}

/// What stands before a message: where it belongs, as exactly as that is known, or nothing.
fn place(cx: &Context, loc: Loc) -> String {
    match cx.file_line_col(loc) {
        // What holds a whole file, such as a module that nobody wrote, is at no line of it.
        Some((file, 0, _)) => return format!("{}: ", visible::line(cx.str(file))),
        Some((file, line, col)) => return format!("{}:{line}:{col}: ", visible::line(cx.str(file))),
        None => {}
    }
    // What a model's node is called is its place.
    let name = cx.loc_name(loc).map(|name| cx.str(name).to_owned()).or_else(|| cx.sources().input());
    name.map(|name| format!("{}: ", visible::line(&name))).unwrap_or_default()
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

fn snippet(severity: Severity, source: &Source, offset: usize, style: RenderStyle) -> String {
    let range = token_at(source.text(), offset);
    let Some((file, range)) = SourceLine::of(source, range) else { return String::new() };
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

/// A line of a source as the renderer wants it.
struct SourceLine {
    name: String,
    /// The line with what hides in it written out.
    text: String,
    number: usize,
}

impl SourceLine {
    /// The line that holds `range`, and the range in it; nothing where it is too long to be shown.
    fn of(source: &Source, range: Range<usize>) -> Option<(Self, Range<usize>)> {
        let starts = source.line_starts();
        let index = starts.partition_point(|s| *s as usize <= range.start) - 1;
        let start = starts[index] as usize;
        let end = starts.get(index + 1).map_or(source.text().len(), |s| *s as usize);
        if end - start > MAX_LINE {
            return None;
        }
        let line = source.text()[start..end].trim_end_matches(['\r', '\n']);
        let within = |at: usize| at.saturating_sub(start).min(line.len());
        let (from, to) = (within(range.start), within(range.end));
        // Piece by piece, so that the mark stays below its token.
        let (before, marked) = (visible::visible(&line[..from]), visible::visible(&line[from..to]));
        let text = format!("{before}{marked}{}", visible::visible(&line[to..]));
        let number = index + source.first_line() as usize;
        let marked = before.len()..before.len() + marked.len();
        Some((Self { name: visible::line(source.name()).into_owned(), text, number }, marked))
    }
}

impl<'f> Files<'f> for SourceLine {
    type FileId = ();
    type Name = &'f str;
    type Source = &'f str;

    fn name(&'f self, (): ()) -> Result<&'f str, Error> {
        Ok(&self.name)
    }
    fn source(&'f self, (): ()) -> Result<&'f str, Error> {
        Ok(&self.text)
    }
    fn line_index(&'f self, (): (), _: usize) -> Result<usize, Error> {
        Ok(0)
    }
    fn line_number(&'f self, (): (), _: usize) -> Result<usize, Error> {
        Ok(self.number)
    }
    fn line_range(&'f self, (): (), line_index: usize) -> Result<Range<usize>, Error> {
        match line_index {
            0 => Ok(0..self.text.len()),
            given => Err(Error::LineTooLarge { given, max: 1 }),
        }
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
    }

    #[test]
    fn what_has_no_place_is_in_the_input() {
        let cx = Context::new(Registry::default());
        let nowhere = Diagnostic::warning(Loc::UNKNOWN, "w");
        assert_eq!(render(&cx, &nowhere, RenderStyle::Short), "warning: w\n");
        let whole = Diagnostic::warning(cx.file_loc("<stdin>", 0, 0), "w");
        assert_eq!(render(&cx, &whole, RenderStyle::Short), "<stdin>: warning: w\n");
        cx.sources().set_input("a\u{1b}.mlir");
        assert_eq!(render(&cx, &nowhere, RenderStyle::Short), "a\\u{1b}.mlir: warning: w\n");
    }

    #[test]
    fn nothing_hides_in_a_message_or_moves_its_mark() {
        let cx = Context::new(Registry::default());
        let source = cx.sources().add("a\n.mlir", "x\u{1b}[31m\u{9b}\u{202e} \"b\u{7}\" c\r\n").expect("small");
        let at = source.text().find('"').expect("there");
        let diagnostic = Diagnostic::error(source.loc(at), "no `\u{1b}[2J\nb.mlir:1:1: error: y`")
            .note(source.loc(at + 5), "here\u{2028}")
            .help("x\ny\u{200b}");
        let expected = [
            "a\\n.mlir:1:13: error: no `\\u{1b}[2J",
            "  b.mlir:1:1: error: y`",
            "1 │ x\\u{1b}[31m\\u{9b}\\u{202e} \"b\\u{7}\" c",
            "  │                           ^^^^^^^^",
            "  = help: x",
            "  y\\u{200b}",
            "a\\n.mlir:1:18: note: here\\u{2028}",
            "1 │ x\\u{1b}[31m\\u{9b}\\u{202e} \"b\\u{7}\" c",
            "  │                                    ^",
        ];
        let text = render(&cx, &diagnostic, RenderStyle::Plain);
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        // What is left of the style with colours when its own are taken away.
        let coloured = render(&cx, &diagnostic, RenderStyle::Colored);
        let codes = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[36m"];
        assert!(coloured.contains(codes[2]), "{coloured:?}");
        let bare = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
        assert!(!bare.contains(|c| c != '\n' && visible::is_hidden(c)), "{bare:?}");
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
