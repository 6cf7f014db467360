//! Names of values and blocks, as printed. `numbering` gives them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::body::{Block, Body, Op, Value, ValueKind};
use crate::context::{Context, Ident};

/// A value's name in four bytes: a number, the number of an entry argument, an index into [`Given::made`], or, for a
/// result that shares the name of one before it, that result's index plus one; 0 for a value that is not numbered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Code(pub(super) u32);

const KIND: u32 = 3 << 30;
pub(super) const NUMBER: u32 = 1 << 30;
pub(super) const ARGUMENT: u32 = 2 << 30;
pub(super) const TEXT: u32 = KIND;

impl Code {
    pub(super) const NONE: Self = Self(0);

    /// Index of the result that begins the group, for one that does not begin it itself.
    fn group_start(self) -> Option<usize> {
        (self.0 & KIND == 0 && self != Self::NONE).then(|| self.0 as usize - 1)
    }
}

/// Names within one body.
pub(super) struct Table<'p> {
    pub(super) body: &'p Body,
    pub(super) values: Vec<Code>,
    /// For each block its number in its region.
    pub(super) blocks: Vec<u32>,
    pub(super) any_names: bool,
}

/// The names of everything that is printed.
#[derive(Default)]
pub(super) struct Given<'p> {
    pub(super) tables: Vec<Table<'p>>,
    /// Tables by the address of their body.
    by_body: FxHashMap<usize, usize>,
    /// Texts that values are called by.
    pub(super) made: Vec<Ident>,
    /// Names that blocks had in the text, by body, where they are kept.
    pub(super) block_names: FxHashMap<(u32, Block), &'p str>,
    /// Numbers of ops without results, where comments call them by one.
    pub(super) op_numbers: FxHashMap<(usize, Op), u32>,
}

impl<'p> Given<'p> {
    pub(super) fn add_table(&mut self, body: &'p Body, any_names: bool) -> usize {
        self.tables.push(Table {
            body,
            values: vec![Code::NONE; body.value_slots()],
            blocks: vec![0; body.block_slots()],
            any_names,
        });
        let table = self.tables.len() - 1;
        self.by_body.insert(std::ptr::from_ref(body).addr(), table);
        table
    }
}

/// Names, and which bodies are being printed. Copies share the names.
#[derive(Clone, Default)]
pub(super) struct Names<'p> {
    given: Arc<Given<'p>>,
    /// Tables of the bodies that are being printed, innermost last.
    open: Vec<usize>,
}

impl<'p> Names<'p> {
    pub(super) fn new(given: Given<'p>) -> Self {
        Self { given: Arc::new(given), open: Vec::new() }
    }

    /// Enters a body for printing.
    pub(super) fn enter_body(&mut self, body: &'p Body) {
        let table = self.given.by_body[&std::ptr::from_ref(body).addr()];
        self.open.push(table);
    }

    pub(super) fn leave_body(&mut self) {
        self.open.pop();
    }

    /// Writes `%name` or `%name#number`.
    pub(super) fn write(&self, out: &mut String, cx: &Context, body: &Body, value: Value) {
        let Some(table) = self.table(body) else {
            return out.push_str("<<UNKNOWN SSA VALUE>>");
        };
        let ValueKind::Result(op, index) = body.value_kind(value) else {
            self.write_code(out, cx, table.values[value.index()]);
            return;
        };
        let index = index as usize;
        let start = table.code(op, index).group_start().unwrap_or(index);
        if self.write_code(out, cx, table.code(op, start)) && (start != index || table.shares_name(op, index + 1)) {
            out.push('#');
            super::number::write_unsigned(out, (index - start) as u64);
        }
    }

    fn write_code(&self, out: &mut String, cx: &Context, code: Code) -> bool {
        let n = code.0 & !KIND;
        match code.0 & KIND {
            NUMBER => out.push('%'),
            ARGUMENT => out.push_str("%arg"),
            TEXT => {
                out.push('%');
                out.push_str(cx.str(self.given.made[n as usize]));
                return true;
            }
            _ => {
                out.push_str("<<UNKNOWN SSA VALUE>>");
                return false;
            }
        }
        super::number::write_unsigned(out, n.into());
        true
    }

    /// Writes `%a, %b:2 = `, or nothing for an op without results.
    pub(super) fn write_results(&self, out: &mut String, cx: &Context, op: Op) {
        let table = self.innermost();
        let count = table.body.num_results(op);
        let mut at = 0;
        while at < count {
            if at != 0 {
                out.push_str(", ");
            }
            self.write_code(out, cx, table.code(op, at));
            let end = (at + 1..count).find(|&i| !table.shares_name(op, i)).unwrap_or(count);
            if end - at > 1 {
                out.push(':');
                super::number::write_unsigned(out, (end - at) as u64);
            }
            at = end;
        }
        if count != 0 {
            out.push_str(" = ");
        }
    }

    /// The number of an op without results.
    pub(super) fn op_number(&self, body: &Body, op: Op) -> Option<u32> {
        let table = *self.open.iter().rev().find(|&&t| std::ptr::eq(self.given.tables[t].body, body))?;
        self.given.op_numbers.get(&(table, op)).copied()
    }

    /// Writes `^bbN`, or the block's own name.
    pub(super) fn write_block(&self, out: &mut String, body: &Body, block: Block) {
        if !self.given.block_names.is_empty()
            && let Some(name) = self.given.block_names.get(&(body.family(), block))
        {
            out.push('^');
            return out.push_str(name);
        }
        out.push_str("^bb");
        if let Some(table) = self.table(body) {
            super::number::write_unsigned(out, table.blocks[block.index()].into());
        }
    }

    fn innermost(&self) -> &Table<'p> {
        &self.given.tables[*self.open.last().expect("inside a body")]
    }

    fn table(&self, body: &Body) -> Option<&Table<'p>> {
        self.open.iter().rev().map(|&t| &self.given.tables[t]).find(|t| std::ptr::eq(t.body, body))
    }

    /// The block's number in its region.
    pub(super) fn block_number(&self, block: Block) -> u32 {
        self.innermost().blocks[block.index()]
    }
}

impl Table<'_> {
    fn code(&self, op: Op, result: usize) -> Code {
        self.values[self.body.result(op, result).index()]
    }

    /// True when result `index` exists and has no name of its own.
    fn shares_name(&self, op: Op, index: usize) -> bool {
        index < self.body.num_results(op) && self.code(op, index).group_start().is_some()
    }
}
