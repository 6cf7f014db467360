//! Isolated operations that stand beside each other, printed by several threads.
//!
//! All names and aliases are given before anything is printed, so the text of such an op depends on nothing that stands
//! before it, but for one thing: distinct attributes are numbered as they are printed. Where one is met, what the threads
//! wrote is dropped, and the rest is printed in order.

use std::sync::Arc;

use rayon::prelude::*;

use super::alias::Aliases;
use super::names::Names;
use super::{PrintOptions, Printer};
use crate::body::{Body, Op};
use crate::context::Context;
use crate::op_ref::OpRef;

/// Fewer operations than this are not worth a thread.
const LEAST: usize = 512;
/// About so many operations are printed before their text is handed on.
const MOST: usize = 1 << 14;
/// Pieces for each thread, so that one with much to do does not hold up the others.
const PIECES_PER_THREAD: usize = 4;

/// What a printer inside another begins with.
struct Setting<'a, 'p> {
    cx: &'p Context,
    options: &'a PrintOptions,
    indent: usize,
    names: &'a Names<'p>,
    aliases: &'a Arc<Aliases>,
    default_dialect: &'p str,
}

impl<'p> Printer<'p> {
    /// Writes the isolated ops from `first` on, in several threads, and returns the op that follows; `None` when they are
    /// to be printed one by one.
    pub(super) fn write_isolated(&mut self, body: &'p Body, first: Op, end: Option<Op>) -> Option<Option<Op>> {
        if !self.parallel || self.noting.is_some() || body.nested(first).is_none() {
            return None;
        }
        let (ops, next) = run_of_isolated(body, first, end)?;
        let threads = rayon::current_num_threads();
        if threads < 2 {
            self.parallel = false;
            return None;
        }
        let setting = Setting {
            cx: self.cx,
            options: &self.options,
            indent: self.indent,
            names: &self.names,
            aliases: &self.aliases,
            default_dialect: self.default_dialects.last().copied().unwrap_or_default(),
        };
        let piece = ops.len().div_ceil(threads * PIECES_PER_THREAD);
        let texts: Option<Vec<String>> = ops.par_chunks(piece).map(|ops| setting.text(body, ops)).collect();
        match texts {
            Some(texts) => texts.iter().for_each(|text| self.text(text)),
            None => {
                self.parallel = false;
                return None;
            }
        }
        Some(next)
    }
}

impl<'p> Setting<'_, 'p> {
    /// The lines of some ops; `None` when they depend on what was printed before.
    fn text(&self, body: &'p Body, ops: &[Op]) -> Option<String> {
        let mut printer = Printer::with_options(self.cx, self.options.clone());
        printer.indent = self.indent;
        printer.names = self.names.clone();
        printer.aliases = self.aliases.clone();
        printer.default_dialects = vec![self.default_dialect];
        for &op in ops {
            printer.write_line(OpRef::new(self.cx, body, op));
        }
        printer.distinct.is_empty().then_some(printer.out)
    }
}

/// Isolated ops from `first` on that are worth printing together, and the op behind them.
fn run_of_isolated(body: &Body, first: Op, end: Option<Op>) -> Option<(Vec<Op>, Option<Op>)> {
    let (mut ops, mut size, mut next) = (Vec::new(), 0, Some(first));
    while let Some(op) = next.filter(|op| Some(*op) != end && size < MOST) {
        let Some(nested) = body.nested(op) else { break };
        size += 1 + nested.op_slots();
        ops.push(op);
        next = body.next_op(op);
    }
    (ops.len() > 1 && size >= LEAST).then_some((ops, next))
}
