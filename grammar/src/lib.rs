//! The text form of the IR: the pest grammar (`ir.pest`, normative) and the parser on it.
//!
//! The grammar makes a flat stream of units; [`parse_module`]'s driver keeps the stack of open regions, so neither
//! memory nor the call stack grows with nesting or size of the text. Types, attributes and locations are spans that
//! their own rules read once per distinct text. Custom forms are read by the ops' assembly formats.
#![forbid(unsafe_code)]

mod blank;
mod cursor;
mod driver;
mod explain;
mod reader;
mod rules;
mod scan;
mod syntax;
mod unclosed;
mod units;

use std::sync::Arc;

use sutura_ir::attrs::Attr;
use sutura_ir::body::Module;
use sutura_ir::context::Context;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::location::Source;
use sutura_ir::types::Type;

use driver::Driver;
use reader::Reader;
use rules::Span;

/// What a text may hold.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// Accept operations, types and attributes of dialects that are not registered; they are kept in generic form and
    /// as text.
    pub allow_unregistered: bool,
    /// Threads that read a large file; 0 and 1 mean the caller's alone. The result does not depend on it.
    pub threads: usize,
    /// Take the single operation of the text as the top level, whatever it is, instead of putting it into a module.
    pub no_implicit_module: bool,
    /// What of the text is kept beside the program, in [`TextInfo`](sutura_ir::asm::TextInfo). One thread reads then.
    pub layout: KeepLayout,
}

/// What of a text is kept beside the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KeepLayout {
    /// Names of values and aliases.
    #[default]
    No,
    /// Also comments, and where everything stood.
    Comments,
    /// Also names that look like the printer's own, names of blocks, and how constants were written.
    All,
}

/// Stack of the thread that parses. Brackets within a unit are read recursively; with a stack of known size the depth
/// that is read does not depend on the caller's.
const STACK: usize = 32 << 20;

/// Parses a whole file. Operations that no `builtin.module` holds are put into one.
///
/// # Errors
/// After at least one error was reported; several may be.
pub fn parse_module(
    cx: &Context,
    source: &Arc<Source>,
    options: &ParseOptions,
    diags: &mut Diagnostics,
) -> Result<Module, Reported> {
    let mut comments = Vec::new();
    let text = blank::blanked_and_noted(source.text(), (options.layout != KeepLayout::No).then_some(&mut comments));
    let mut module = on_parser_thread(diags, || {
        let mut reader = Reader::new(cx, &text, source.base(), options);
        if let Err(reported) = reader.check_characters() {
            return (reader.finish(), Err(reported));
        }
        let (reader, module) = Driver::new(reader).run(source.name());
        (reader.finish(), module)
    })?;
    if let Some(layout) = &mut module.text_mut().layout {
        layout.comments = comments;
    }
    Ok(module)
}

/// Parses a type.
///
/// # Errors
/// After an error was reported.
pub fn parse_type(
    cx: &Context,
    source: &Arc<Source>,
    options: &ParseOptions,
    diags: &mut Diagnostics,
) -> Result<Type, Reported> {
    parse_span(cx, source, options, diags, |reader, span| reader.ty(span))
}

/// Parses an attribute.
///
/// # Errors
/// After an error was reported.
pub fn parse_attr(
    cx: &Context,
    source: &Arc<Source>,
    options: &ParseOptions,
    diags: &mut Diagnostics,
) -> Result<Attr, Reported> {
    parse_span(cx, source, options, diags, |reader, span| reader.attr(span))
}

fn parse_span<T: Send>(
    cx: &Context,
    source: &Arc<Source>,
    options: &ParseOptions,
    diags: &mut Diagnostics,
    read: impl FnOnce(&mut Reader<'_>, Span) -> Result<T, Reported> + Send,
) -> Result<T, Reported> {
    let text = blank::blanked(source.text());
    on_parser_thread(diags, || {
        let mut reader = Reader::new(cx, &text, source.base(), options);
        let value = reader.check_characters().and_then(|()| read(&mut reader, Span::new(0, text.len())));
        (reader.finish(), value)
    })
}

/// Runs the parser on a thread of its own; a panic there goes on here.
fn on_parser_thread<T: Send>(
    diags: &mut Diagnostics,
    parse: impl FnOnce() -> (Diagnostics, Result<T, Reported>) + Send,
) -> Result<T, Reported> {
    let run = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("parser".into()).stack_size(STACK).spawn_scoped(scope, parse);
        thread.map(|t| t.join())
    });
    match run {
        Ok(Ok((reported, result))) => {
            diags.append(reported);
            result
        }
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            Err(diags.error(sutura_ir::Loc::UNKNOWN, format!("the parser's thread cannot be started: {error}")))
        }
    }
}

#[cfg(test)]
mod tests;
