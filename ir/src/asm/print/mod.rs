//! The printer: generic form and custom form.
//!
//! The generic form is byte for byte what `mlir-opt --mlir-print-op-generic` prints for the same program, apart from
//! names that the text gave to values and aliases, which are kept unless [`PrintOptions::discard_value_names`].
//!
//! Nesting costs no machine stack: regions wait on a stack of frames (see `op`).

mod alias;
mod attr;
mod custom;
mod dense;
mod loc;
mod names;
mod number;
mod numbering;
mod op;
mod parallel;
mod ty;
mod users;
mod written;

use std::io;
use std::sync::Arc;

use crate::asm::layout::{Layout, Place};
use crate::asm::{TextInfo, bytes};
use crate::attrs::{Attr, NamedAttr};
use crate::body::{Block, Body, Module, Value};
use crate::context::{Context, Ident};
use crate::op_ref::OpRef;
use crate::types::Type;
use alias::{Aliases, Noting};
use names::Names;

/// What is printed, and how.
#[derive(Clone, Debug)]
pub struct PrintOptions {
    /// Generic form for every op.
    pub generic: bool,
    /// Print locations.
    pub debug_info: bool,
    /// Print locations for people: without `loc(…)`, which does not parse back.
    pub pretty_locations: bool,
    /// As the text had it, where the parser kept that: no module around operations that stood in none, aliases where they
    /// were defined and no others, every name, locations where they were written, and no comments of the printer's own.
    pub as_written: bool,
    /// No aliases: every op can be read alone.
    pub local_scope: bool,
    /// Number all values instead of keeping the names that they had in the text.
    pub discard_value_names: bool,
    /// Name values after the names in their locations, before any other name.
    pub names_from_locations: bool,
    /// Give each value of the program a number of its own, rather than of the region and those around it.
    pub unique_value_ids: bool,
    /// Say in comments what uses each value.
    pub value_users: bool,
    /// Write `{...}` for each region, which does not parse back.
    pub skip_regions: bool,
    /// Leave the elements of larger constants out. What is printed then cannot be run.
    pub elide_elements_larger_than: Option<usize>,
    /// Print the elements of larger constants as a hexadecimal string; `None` for never.
    pub hex_elements_larger_than: Option<usize>,
    /// Leave resource strings with more characters out.
    pub elide_resource_strings_larger_than: Option<usize>,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self {
            generic: false,
            debug_info: false,
            pretty_locations: false,
            as_written: false,
            local_scope: false,
            discard_value_names: false,
            names_from_locations: false,
            unique_value_ids: false,
            value_users: false,
            skip_regions: false,
            elide_elements_larger_than: None,
            hex_elements_larger_than: Some(100),
            elide_resource_strings_larger_than: None,
        }
    }
}

impl PrintOptions {
    /// Generic form.
    pub fn generic() -> Self {
        Self { generic: true, ..Self::default() }
    }
}

/// Key and type of what stands for the elements of an elided constant.
pub const ELIDED: &str = "__elided__";

/// Text that is handed on when this much has gathered.
const FLUSH_AT: usize = 1 << 16;

/// Writes operations, types and attributes as text. Custom directives get one to write with.
pub struct Printer<'p> {
    cx: &'p Context,
    out: String,
    sink: Option<&'p mut dyn io::Write>,
    failed: Option<io::Error>,
    options: PrintOptions,
    indent: usize,
    names: Names<'p>,
    aliases: Arc<Aliases>,
    /// While aliases are looked for: what is told of types, attributes and locations, which are not written then.
    noting: Option<Box<Noting<'p>>>,
    /// Numbers of distinct attributes, in the order in which they are printed.
    distinct: Vec<Attr>,
    /// Dialect whose prefix is left out, innermost last.
    default_dialects: Vec<&'p str>,
    /// Isolated ops that stand beside each other may be printed by several threads.
    parallel: bool,
    /// Where what is printed begins, for those who asked.
    places: Option<Vec<Place>>,
    /// What is to be printed as it was written.
    written: Option<&'p Layout>,
}

impl<'p> Printer<'p> {
    /// A printer with empty output and default options.
    pub fn new(cx: &'p Context) -> Self {
        Self::with_options(cx, PrintOptions::default())
    }

    /// A printer with empty output.
    pub fn with_options(cx: &'p Context, options: PrintOptions) -> Self {
        Self {
            cx,
            out: String::new(),
            sink: None,
            failed: None,
            names: Names::default(),
            options,
            indent: 0,
            aliases: Arc::default(),
            noting: None,
            distinct: Vec::new(),
            default_dialects: vec!["builtin"],
            parallel: false,
            places: None,
            written: None,
        }
    }

    /// A printer that knows how the values and blocks of `body` and of bodies in it are called in custom form.
    pub fn of_body(cx: &'p Context, body: &'p Body) -> Self {
        let mut printer = Self::new(cx);
        printer.names = Names::new(numbering::number_body(cx, body, &printer.options));
        printer.names.enter_body(body);
        printer
    }

    /// Context.
    pub fn cx(&self) -> &'p Context {
        self.cx
    }

    /// The text so far.
    pub fn finish(self) -> String {
        self.out
    }

    // ---- what directives write with

    /// Writes text as it stands.
    pub fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes a blank and then the text.
    pub fn blank_text(&mut self, text: &str) {
        self.out.push(' ');
        self.out.push_str(text);
    }

    /// Writes an integer.
    pub fn int(&mut self, value: i64) {
        number::write_int(&mut self.out, value);
    }

    /// Writes a string in quotes, escaped.
    pub fn string(&mut self, text: &str) {
        write_quoted(&mut self.out, text);
    }

    /// Writes `@name`, in quotes where the name needs them.
    pub fn symbol_name(&mut self, name: &str) {
        self.out.push('@');
        write_keyword(&mut self.out, name);
    }

    /// Writes a word, in quotes unless it is a bare identifier.
    pub fn keyword_or_string(&mut self, word: &str) {
        write_keyword(&mut self.out, word);
    }

    /// Writes items with `, ` between them.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        for (i, value) in items.into_iter().enumerate() {
            if i != 0 {
                self.out.push_str(", ");
            }
            item(self, value);
        }
    }

    /// Starts a new line at the current indentation.
    pub fn new_line(&mut self) {
        self.out.push('\n');
        self.write_indent();
    }

    /// Writes `%name` of a value of `body`.
    pub fn value(&mut self, body: &Body, value: Value) {
        self.names.write(&mut self.out, self.cx, body, value);
    }

    /// The text that [`value`](Self::value) writes.
    pub fn value_text(&mut self, body: &Body, value: Value) -> String {
        let mut text = String::new();
        self.names.write(&mut text, self.cx, body, value);
        text
    }

    /// `^bb` and the number of a block of `body`.
    pub fn block_text(&self, body: &Body, block: Block) -> String {
        let mut text = String::new();
        self.names.write_block(&mut text, body, block);
        text
    }

    /// Writes the operands of `op` in `range`.
    pub fn operands(&mut self, op: OpRef<'_>, range: std::ops::Range<usize>) {
        let values = op.operands().skip(range.start).take(range.len());
        self.list(values, |p, v| p.value(op.body, v));
    }

    /// Writes types with `, ` between them.
    pub fn types(&mut self, types: impl IntoIterator<Item = Type>) {
        self.list(types, |p, ty| p.ty(ty));
    }

    /// Writes `(inputs) -> results`.
    pub fn function_type(
        &mut self,
        inputs: impl IntoIterator<Item = Type>,
        results: impl ExactSizeIterator<Item = Type>,
    ) {
        self.out.push('(');
        self.types(inputs);
        self.out.push_str(") -> ");
        self.result_types(results);
    }

    /// Writes one type bare (unless it is a function type), any other number of types in parentheses.
    pub fn result_types(&mut self, mut results: impl ExactSizeIterator<Item = Type>) {
        use crate::types::TypeData;
        if results.len() == 1 {
            let ty = results.next().expect("counted");
            if !matches!(self.cx.type_data(ty), TypeData::Function { .. }) {
                return self.ty(ty);
            }
            self.out.push('(');
            self.ty(ty);
        } else {
            self.out.push('(');
            self.types(results);
        }
        self.out.push(')');
    }

    /// The same for the attributes of a block's argument, for whose sake alone no alias is made.
    pub fn attr_dict_of_arg(&mut self, entries: impl IntoIterator<Item = NamedAttr>) {
        if self.noting.is_none() {
            self.attr_dict(entries);
        }
    }

    /// Writes ` {a = 1, b}` with a leading blank, or nothing when there are no attributes.
    pub fn attr_dict(&mut self, entries: impl IntoIterator<Item = NamedAttr>) {
        self.dict_after(" {", entries);
    }

    /// Writes ` attributes {a = 1, b}` with a leading blank, or nothing when there are no attributes.
    pub fn attr_dict_with_keyword(&mut self, entries: impl IntoIterator<Item = NamedAttr>) {
        self.dict_after(" attributes {", entries);
    }

    fn dict_after(&mut self, open: &str, entries: impl IntoIterator<Item = NamedAttr>) {
        let mut entries = entries.into_iter().peekable();
        if entries.peek().is_some() {
            self.out.push_str(open);
            self.list(entries, Self::named_attr);
            self.out.push('}');
        }
    }

    /// Writes `%name: type`, and its location where locations are printed.
    pub fn block_arg(&mut self, body: &Body, arg: Value) {
        self.value(body, arg);
        self.out.push_str(": ");
        self.ty(body.ty(arg));
        self.arg_loc(body, arg);
    }

    /// Writes the location of a block argument where locations are printed.
    pub fn arg_loc(&mut self, body: &Body, arg: Value) {
        let loc = body.value_loc(arg);
        if self.options.debug_info {
            self.text(" ");
            self.loc_in_full(loc);
        } else if self.writes_loc(loc) {
            self.text(" ");
            self.loc(loc);
        }
    }

    // ---- helpers

    /// Indents the lines that begin after `from` as the op is, which are parameters of a dialect.
    fn indent_lines(&mut self, from: usize) {
        if self.indent == 0 || !self.out[from..].contains('\n') {
            return;
        }
        let lines = self.out.split_off(from);
        for (i, line) in lines.split('\n').enumerate() {
            if i != 0 {
                self.new_line();
            }
            self.text(line);
        }
    }

    fn write_indent(&mut self) {
        const BLANKS: &str = "                                                                ";
        // Nested a hundred thousand times, the blanks alone would be gigabytes.
        const MOST: usize = 4 * BLANKS.len();
        let mut left = self.indent.min(MOST);
        while left > 0 {
            let n = left.min(BLANKS.len());
            self.out.push_str(&BLANKS[..n]);
            left -= n;
        }
    }

    /// Hands gathered text on; the first failure stops all further writing.
    fn flush(&mut self, least: usize) {
        if self.out.len() < least {
            return;
        }
        if self.noting.is_some() {
            // Nobody reads this text.
            return self.out.clear();
        }
        if let Some(sink) = &mut self.sink {
            if self.failed.is_none() {
                self.failed = sink.write_all(self.out.as_bytes()).err();
            }
            self.out.clear();
        }
    }
}

/// Prints a whole program to `sink`, ending with a new line. Functions of a large program are printed by the threads of
/// the rayon pool in which this is called; the text does not depend on how many there are.
///
/// # Errors
/// When `sink` cannot be written to.
pub fn write_module(cx: &Context, module: &Module, options: &PrintOptions, sink: &mut dyn io::Write) -> io::Result<()> {
    let mut printer = Printer::with_options(cx, options.clone());
    printer.sink = Some(sink);
    printer.parallel = true;
    printer.module(module);
    printer.flush(1);
    match printer.failed {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// A whole program as text, ending with a new line.
pub fn module_text(cx: &Context, module: &Module, options: &PrintOptions) -> String {
    let mut printer = Printer::with_options(cx, options.clone());
    printer.module(module);
    printer.finish()
}

/// A whole program as text, ending with a new line, and where its parts are in it.
pub fn module_text_and_places(cx: &Context, module: &Module, options: &PrintOptions) -> (String, Vec<Place>) {
    let mut printer = Printer::with_options(cx, options.clone());
    printer.places = Some(Vec::new());
    printer.module(module);
    let places = printer.places.take().unwrap_or_default();
    (printer.finish(), places)
}

/// One op with what lies in its regions, without a new line at the end.
pub fn op_text(op: OpRef<'_>, options: &PrintOptions) -> String {
    let text = TextInfo::default();
    let mut printer = Printer::with_options(op.cx, options.clone());
    printer.tree(op, &text);
    printer.finish()
}

/// One op in generic form, without aliases.
pub fn generic_op_text(op: OpRef<'_>) -> String {
    op_text(op, &PrintOptions { local_scope: true, ..PrintOptions::generic() })
}

/// A type as text, without aliases.
pub fn type_text(cx: &Context, ty: Type) -> String {
    let mut printer = Printer::new(cx);
    printer.ty(ty);
    printer.finish()
}

/// An attribute as text, without aliases.
pub fn attr_text(cx: &Context, attr: Attr) -> String {
    let mut printer = Printer::new(cx);
    printer.attr(attr);
    printer.finish()
}

/// A location as text, `loc(…)`, without aliases.
pub fn loc_text(cx: &Context, loc: crate::location::Loc) -> String {
    let mut printer = Printer::new(cx);
    printer.loc(loc);
    printer.finish()
}

/// True for `[A-Za-z_][A-Za-z0-9_$.]*`.
pub fn is_bare_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_')
        && bytes.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.'))
}

fn write_keyword(out: &mut String, word: &str) {
    if is_bare_identifier(word) { out.push_str(word) } else { write_quoted(out, word) }
}

/// Quotes and escapes as LLVM does: what is not printable ASCII, and the quote, as two hexadecimal digits.
fn write_quoted(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && *byte != b'"' && *byte != b'\\';
    out.push('"');
    let mut rest = text;
    loop {
        let plain = rest.bytes().take_while(|byte| is_plain(byte)).count();
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
        let Some(first) = rest.chars().next() else { break };
        let length = first.len_utf8();
        match bytes::byte_of(first) {
            _ if first == '\\' => out.push_str("\\\\"),
            Some(byte) => push_escape(out, byte),
            None => rest.bytes().take(length).for_each(|byte| push_escape(out, byte)),
        }
        rest = &rest[length..];
    }
    out.push('"');

    fn push_escape(out: &mut String, byte: u8) {
        out.push('\\');
        out.push(HEX[usize::from(byte >> 4)].into());
        out.push(HEX[usize::from(byte & 15)].into());
    }
}

/// Names that text would give to a value without one: they are not kept.
pub fn is_default_value_name(name: &str) -> bool {
    let digits = name.strip_prefix("arg").unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

impl Printer<'_> {
    /// `name = value`, or `name` alone for a unit attribute.
    fn named_attr(&mut self, entry: NamedAttr) {
        self.attr_name(entry.name);
        if entry.value != Attr::UNIT {
            self.out.push_str(" = ");
            self.attr(entry.value);
        }
    }

    fn attr_name(&mut self, name: Ident) {
        write_keyword(&mut self.out, self.cx.str(name));
    }
}

#[cfg(test)]
mod tests;
