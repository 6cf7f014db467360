//! Names of values and blocks.
//!
//! All are given before anything is printed, in MLIR's order. The values of a region are numbered as one run, block after
//! block, without those of nested regions; nested regions follow, the last first. In generic form the count goes on from
//! region to region, so that numbers are unique; in custom form a nested region goes on where the region around it
//! ended, and siblings start at the same number. A value's own name is kept; without one, the op may suggest one in
//! custom form ([`ResultNames`]). A name that an enclosing region uses already gets a suffix.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::is_default_value_name;
use crate::body::{Block, Body, Op, Region, Value, ValueKind};
use crate::context::{Context, Ident};
use crate::interfaces::ResultNames;
use crate::op_ref::OpRef;

/// A value's name in four bytes: a number, the number of an entry argument, an index into [`Names::made`], or, for a
/// result that shares the name of one before it, that result's index plus one; 0 for a value that is not numbered.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Code(u32);

const KIND: u32 = 3 << 30;
const NUMBER: u32 = 1 << 30;
const ARGUMENT: u32 = 2 << 30;
const TEXT: u32 = KIND;

impl Code {
    const NONE: Self = Self(0);

    /// Index of the result that begins the group, for one that does not begin it itself.
    fn group_start(self) -> Option<usize> {
        (self.0 & KIND == 0 && self != Self::NONE).then(|| self.0 as usize - 1)
    }
}

/// Names within one body.
struct Table<'p> {
    body: &'p Body,
    values: Vec<Code>,
    /// For each block its number in its region.
    blocks: Vec<u32>,
    any_names: bool,
}

#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    arg: u32,
    /// Suffix to try next for a name that is in use.
    conflict: u32,
}

/// A region whose values have no names yet.
struct Pending<'p> {
    table: usize,
    body: &'p Body,
    region: Region,
    /// Where the region around it ended.
    counters: Counters,
    /// Length of the log of used names there.
    used: usize,
}

pub(super) struct Names<'p> {
    discard: bool,
    /// Ops may name their results: in custom form.
    suggest: bool,
    tables: Vec<Table<'p>>,
    /// Tables of the bodies that are being printed, innermost last.
    open: Vec<usize>,
    by_body: FxHashMap<*const Body, usize>,
    counters: Counters,
    /// Names in use in the enclosing regions.
    used: FxHashSet<Ident>,
    log: Vec<Ident>,
    /// Texts that values are called by.
    made: Vec<Ident>,
}

impl<'p> Names<'p> {
    pub(super) fn new(discard: bool) -> Self {
        Self {
            discard,
            suggest: false,
            tables: Vec::new(),
            open: Vec::new(),
            by_body: FxHashMap::default(),
            counters: Counters::default(),
            used: FxHashSet::default(),
            log: Vec::new(),
            made: Vec::new(),
        }
    }

    /// Names all values in `root` and beside it; `unique` numbers without starting anew.
    pub(super) fn number_all(&mut self, root: OpRef<'p>, unique: bool) {
        let (cx, body) = (root.cx, root.body);
        self.suggest = !unique;
        let table = self.add_table(body);
        let mut pending = Vec::new();
        match body.op_block(root.op).and_then(|b| body.block_region(b)) {
            Some(region) => pending.push(self.pending(table, body, region)),
            None => {
                self.number_op(cx, table, root.op);
                self.push_nested(root, table, &mut pending);
            }
        }
        while let Some(next) = pending.pop() {
            if !unique {
                self.counters = next.counters;
            }
            for name in self.log.drain(next.used..) {
                self.used.remove(&name);
            }
            self.number_region(cx, &next);
            for block in next.body.blocks(next.region) {
                for op in next.body.ops(block) {
                    self.push_nested(OpRef::new(cx, next.body, op), next.table, &mut pending);
                }
            }
        }
        self.used = FxHashSet::default();
        self.log = Vec::new();
    }

    fn add_table(&mut self, body: &'p Body) -> usize {
        self.tables.push(Table {
            body,
            values: vec![Code::NONE; body.value_slots()],
            blocks: vec![0; body.block_slots()],
            any_names: !self.discard && body.has_value_names(),
        });
        let table = self.tables.len() - 1;
        self.by_body.insert(body, table);
        table
    }

    fn pending(&self, table: usize, body: &'p Body, region: Region) -> Pending<'p> {
        Pending { table, body, region, counters: self.counters, used: self.log.len() }
    }

    fn push_nested(&mut self, op: OpRef<'p>, table: usize, pending: &mut Vec<Pending<'p>>) {
        let (table, body) = match op.body.nested(op.op) {
            Some(nested) => (self.add_table(nested), nested),
            None => (table, op.body),
        };
        for region in op.regions() {
            pending.push(self.pending(table, body, region.region));
        }
    }

    /// Enters a body for printing.
    pub(super) fn enter_body(&mut self, body: &'p Body) {
        let table = self.by_body[&std::ptr::from_ref(body)];
        self.open.push(table);
    }

    pub(super) fn leave_body(&mut self) {
        self.open.pop();
    }

    fn number_region(&mut self, cx: &'p Context, region: &Pending<'p>) {
        for (i, block) in region.body.blocks(region.region).enumerate() {
            self.tables[region.table].blocks[block.index()] = i as u32;
            self.number_block(cx, region.table, block, i == 0);
        }
    }

    fn number_block(&mut self, cx: &'p Context, table: usize, block: Block, is_entry: bool) {
        let body = self.tables[table].body;
        for &arg in body.block_args(block) {
            let code = self.own_name(cx, table, arg).unwrap_or_else(|| {
                let counter = if is_entry { &mut self.counters.arg } else { &mut self.counters.value };
                *counter += 1;
                Code(if is_entry { ARGUMENT } else { NUMBER } | (*counter - 1))
            });
            self.tables[table].values[arg.index()] = code;
        }
        for op in body.ops(block) {
            self.number_op(cx, table, op);
        }
    }

    /// The results of an op share a number; each with a name of its own begins a group.
    fn number_op(&mut self, cx: &'p Context, table: usize, op: Op) {
        let mut start = 0;
        let body = self.tables[table].body;
        let suggested = self.suggested(cx, body, op);
        for (i, result) in body.results(op).enumerate() {
            let suggested = suggested.iter().find(|(at, _)| *at == i).map(|(_, name)| cx.ident(name));
            let own = self.own_name(cx, table, result).or_else(|| suggested.map(|name| self.unique(cx, name)));
            let code = match own {
                Some(code) => {
                    start = i as u32;
                    code
                }
                None if i == 0 => {
                    self.counters.value += 1;
                    Code(NUMBER | (self.counters.value - 1))
                }
                None => Code(start + 1),
            };
            self.tables[table].values[result.index()] = code;
        }
    }

    /// The kept name of a value, made unique.
    fn own_name(&mut self, cx: &Context, table: usize, value: Value) -> Option<Code> {
        let table = &self.tables[table];
        if !table.any_names {
            return None;
        }
        let name = table.body.value_name(value)?;
        let text = cx.str(name);
        if is_default_value_name(text) || !is_value_name(text) {
            return None;
        }
        Some(self.unique(cx, name))
    }

    /// What the op would have its results called.
    fn suggested(&self, cx: &'p Context, body: &'p Body, op: Op) -> SmallVec<[(usize, Cow<'static, str>); 1]> {
        if !self.suggest || body.num_results(op) == 0 {
            return SmallVec::new();
        }
        let op = OpRef::new(cx, body, op);
        let names = op.info().and_then(|info| info.interface::<dyn ResultNames>());
        names.map(|names| names.names(op)).unwrap_or_default()
    }

    /// The name, or the name with the next suffix that makes it unique.
    fn unique(&mut self, cx: &Context, name: Ident) -> Code {
        let mut unique = name;
        while self.used.contains(&unique) {
            unique = cx.ident(&format!("{}_{}", cx.str(name), self.counters.conflict));
            self.counters.conflict += 1;
        }
        self.used.insert(unique);
        self.log.push(unique);
        self.made.push(unique);
        Code(TEXT | (self.made.len() - 1) as u32)
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
                out.push_str(cx.str(self.made[n as usize]));
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

    /// Writes `^bbN`.
    pub(super) fn write_block(&self, out: &mut String, body: &Body, block: Block) {
        out.push_str("^bb");
        if let Some(table) = self.table(body) {
            super::number::write_unsigned(out, table.blocks[block.index()].into());
        }
    }

    fn innermost(&self) -> &Table<'p> {
        &self.tables[*self.open.last().expect("inside a body")]
    }

    fn table(&self, body: &Body) -> Option<&Table<'p>> {
        self.open.iter().rev().map(|&t| &self.tables[t]).find(|t| std::ptr::eq(t.body, body))
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

/// True for what may stand after `%`.
fn is_value_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let special = |c: &u8| matches!(c, b'_' | b'$' | b'.' | b'-');
    bytes.first().is_some_and(|c| c.is_ascii_alphabetic() || special(c))
        && bytes.iter().all(|c| c.is_ascii_alphanumeric() || special(c))
}
