//! Changes and refusals of patterns in the words of a trace, for the greedy driver and for dialect conversion.

use std::fmt::Display;

use crate::asm::print::{attr_text, type_text};
use crate::body::{Block, Body, Op, Value, ValueKind};
use crate::context::Context;
use crate::op_def::Traits;
use crate::op_ref::OpRef;
use crate::trace::{Group, Lines};

/// A driver's part of a trace.
pub(crate) struct Log<'t> {
    cx: &'t Context,
    lines: &'t mut Lines,
    /// The op of which it is said already that it is replaced or erased.
    said: Option<Op>,
    /// The op of which the last line says that it changed.
    changed: Option<Op>,
    /// Why the pattern that was tried last does not apply.
    reasons: Vec<String>,
}

impl<'t> Log<'t> {
    pub(crate) fn new(cx: &'t Context, lines: &'t mut Lines) -> Self {
        Self { cx, lines, said: None, changed: None, reasons: Vec::new() }
    }

    pub(crate) fn line(&mut self, text: impl Display) {
        self.changed = None;
        self.lines.line(text);
    }

    pub(crate) fn open(&mut self, heading: impl Display) -> Group {
        self.changed = None;
        self.lines.open(heading)
    }

    pub(crate) fn close(&mut self, group: Group, verdict: impl Display) {
        self.lines.close(group, verdict);
    }

    pub(crate) fn close_unless_empty(&mut self, group: Group) {
        self.lines.close_unless_empty(group);
    }

    /// Begins the group of a pattern.
    pub(crate) fn open_pattern(&mut self, name: &str) -> Group {
        self.reasons.clear();
        self.open(format_args!("pattern '{name}'"))
    }

    /// Ends the group of a pattern.
    pub(crate) fn close_pattern(&mut self, group: Group, applied: bool) {
        let verdict = match self.reasons[..] {
            _ if applied => "applied".to_string(),
            [] => "does not apply; it gives no reason".to_string(),
            _ => format!("does not apply: {}", self.reasons.join("; ")),
        };
        self.lines.close(group, verdict);
    }

    /// Says why the pattern at hand does not apply.
    pub(crate) fn refused(&mut self, reason: String) {
        self.reasons.push(reason);
    }

    /// That `op` is replaced or erased is said elsewhere.
    pub(crate) fn said(&mut self, op: Op) {
        self.said = Some(op);
    }

    // ---- what changes

    pub(crate) fn inserted(&mut self, body: &Body, op: Op) {
        let what = self.what(body, op);
        self.line(format_args!("inserted {what}"));
    }

    pub(crate) fn erased(&mut self, body: &Body, op: Op) {
        if self.said.take() != Some(op) {
            let what = self.what(body, op);
            self.line(format_args!("erased {what}"));
        }
    }

    pub(crate) fn modified(&mut self, body: &Body, op: Op) {
        if self.changed != Some(op) {
            let what = self.what(body, op);
            self.line(format_args!("changed {what}"));
            self.changed = Some(op);
        }
    }

    pub(crate) fn moved(&mut self, body: &Body, op: Op) {
        let what = self.what(body, op);
        self.line(format_args!("moved {what}"));
    }

    pub(crate) fn replaced(&mut self, body: &Body, op: Op, values: &[Value]) {
        if self.said == Some(op) {
            return;
        }
        let what = self.what(body, op);
        let values: Vec<String> = values.iter().map(|value| self.value(body, *value)).collect();
        match values[..] {
            [] => self.line(format_args!("erased {what}")),
            _ => self.line(format_args!("replaced {what} by {}", values.join(", "))),
        }
        self.said = Some(op);
    }

    pub(crate) fn block_inserted(&mut self) {
        self.line("inserted a block");
    }

    pub(crate) fn block_modified(&mut self) {
        self.line("changed the arguments of a block");
    }

    pub(crate) fn block_moved(&mut self) {
        self.line("moved a block");
    }

    pub(crate) fn block_erased(&mut self, body: &Body, block: Block) {
        let ops = body.ops(block).count();
        let what = if ops == 1 { "operation" } else { "operations" };
        self.line(format_args!("erased a block of {ops} {what}"));
    }

    // ---- what things are called

    /// `'arith.constant' 3 : i32 at file.mlir:2:8`
    pub(crate) fn what(&self, body: &Body, op: Op) -> String {
        let view = OpRef::new(self.cx, body, op);
        let mut text = format!("'{}'", view.name_str());
        if let Some(value) = view.prop("value").filter(|_| view.has_trait(Traits::ConstantLike)) {
            text += &format!(" {}", shortened(attr_text(self.cx, value)));
        }
        if let Some(name) = view.symbol_name() {
            text += &format!(" @{name}");
        }
        if let Some((file, line, column)) = self.cx.file_line_col(view.loc()) {
            text += &format!(" at {}:{line}:{column}", self.cx.str(file));
        }
        text
    }

    /// A value by what defines it.
    pub(crate) fn value(&self, body: &Body, value: Value) -> String {
        match body.value_kind(value) {
            ValueKind::Arg(_, index) => format!("block argument #{index} : {}", type_text(self.cx, body.ty(value))),
            _ => match body.defining_op(value) {
                Some(op) if body.num_results(op) == 1 => self.what(body, op),
                Some(op) => {
                    let index = body.results(op).position(|result| result == value).unwrap_or_default();
                    format!("result #{index} of {}", self.what(body, op))
                }
                None => "a value that is not defined yet".to_string(),
            },
        }
    }
}

/// At most so many characters of an attribute are shown.
const MOST_OF_AN_ATTRIBUTE: usize = 60;

/// The beginning of a long text.
fn shortened(text: String) -> String {
    match text.char_indices().nth(MOST_OF_AN_ATTRIBUTE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
