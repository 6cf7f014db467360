//! Gives names to values and blocks.
//!
//! All are given before anything is printed, in MLIR's order. The values of a region are numbered as one run, block after
//! block, without those of nested regions; nested regions follow, the last first. In generic form the count goes on from
//! region to region, so that numbers are unique; in custom form a nested region goes on where the region around it
//! ended, and siblings start at the same number. A value's own name is kept; without one, the op may suggest one in
//! custom form ([`ResultNames`]). A name that an enclosing region uses already gets a suffix.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::names::{ARGUMENT, Code, Given, NUMBER, TEXT};
use super::{PrintOptions, is_default_value_name};
use crate::asm::layout::Layout;
use crate::body::{Block, Body, Op, Region, Value};
use crate::context::{Context, Ident};
use crate::interfaces::ResultNames;
use crate::location::{Loc, LocData};
use crate::op_ref::OpRef;

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

struct Numbering<'p, 'o> {
    options: &'o PrintOptions,
    /// Numbers go on from region to region.
    unique: bool,
    /// The outermost op, if it is at hand.
    root: Option<Op>,
    given: Given<'p>,
    counters: Counters,
    /// Every name of the text is kept as it is; values without one get none of them.
    exact: bool,
    /// The names of the text, in the bodies met so far.
    reserved: FxHashSet<Ident>,
    /// Names in use in the enclosing regions.
    used: FxHashSet<Ident>,
    log: Vec<Ident>,
}

/// Names all values in `root` and beside it; with `written`, and the blocks, as they were called there.
pub(super) fn number_all<'p>(root: OpRef<'p>, options: &PrintOptions, written: Option<&Layout>) -> Given<'p> {
    let mut numbering = Numbering::new(options, Some(root.op));
    if let (Some(layout), false) = (written, options.discard_value_names) {
        numbering.exact = true;
        let names = layout.block_names.iter().map(|(block, name)| (*block, root.cx.str(*name)));
        numbering.given.block_names = names.collect();
    }
    numbering.run(root);
    numbering.given
}

/// Names all values in `body`, whose owner is not at hand.
pub(super) fn number_body<'p>(cx: &'p Context, body: &'p Body, options: &PrintOptions) -> Given<'p> {
    let mut numbering = Numbering::new(options, None);
    let table = numbering.add_table(body);
    let pending = body.owner_regions().map(|region| numbering.pending(table, body, region)).collect();
    numbering.number_pending(cx, pending);
    numbering.given
}

impl<'p, 'o> Numbering<'p, 'o> {
    fn new(options: &'o PrintOptions, root: Option<Op>) -> Self {
        Self {
            options,
            unique: options.generic || options.unique_value_ids,
            root,
            given: Given::default(),
            counters: Counters::default(),
            exact: false,
            reserved: FxHashSet::default(),
            used: FxHashSet::default(),
            log: Vec::new(),
        }
    }

    fn run(&mut self, root: OpRef<'p>) {
        let (cx, body) = (root.cx, root.body);
        let table = self.add_table(body);
        let mut pending = Vec::new();
        match body.op_block(root.op).and_then(|b| body.block_region(b)) {
            Some(region) => pending.push(self.pending(table, body, region)),
            None => {
                self.number_op(cx, table, root.op);
                self.push_nested(root, table, &mut pending);
            }
        }
        self.number_pending(cx, pending);
    }

    fn number_pending(&mut self, cx: &'p Context, mut pending: Vec<Pending<'p>>) {
        while let Some(next) = pending.pop() {
            if !self.unique {
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
    }

    fn add_table(&mut self, body: &'p Body) -> usize {
        if self.exact {
            self.reserved.extend(body.value_names());
        }
        self.given.add_table(body, !self.options.discard_value_names && body.has_value_names())
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

    fn number_region(&mut self, cx: &'p Context, region: &Pending<'p>) {
        for (i, block) in region.body.blocks(region.region).enumerate() {
            self.given.tables[region.table].blocks[block.index()] = i as u32;
            self.number_block(cx, region.table, block, i == 0);
        }
    }

    fn number_block(&mut self, cx: &'p Context, table: usize, block: Block, is_entry: bool) {
        let body = self.given.tables[table].body;
        for &arg in body.block_args(block) {
            let from_location = self.location_name(cx, body.value_loc(arg));
            // As in MLIR, such a name takes the number that the argument would have had.
            self.counters.arg += u32::from(is_entry && from_location.is_some());
            let own = from_location.map(|name| self.unique(cx, name)).or_else(|| self.own_name(cx, table, arg));
            let code = own.unwrap_or_else(|| self.number(cx, is_entry));
            self.given.tables[table].values[arg.index()] = code;
        }
        for op in body.ops(block) {
            self.number_op(cx, table, op);
        }
    }

    /// The results of an op share a number; each with a name of its own begins a group.
    fn number_op(&mut self, cx: &'p Context, table: usize, op: Op) {
        let mut start = 0;
        let body = self.given.tables[table].body;
        if self.options.value_users && body.num_results(op) == 0 {
            self.given.op_numbers.insert((table, op), self.counters.value);
            // As in MLIR, what is inside the outermost op does not count it, unless numbers go on everywhere.
            self.counters.value += u32::from(self.unique || (table, Some(op)) != (0, self.root));
            return;
        }
        let suggested = self.suggested(cx, body, op);
        let from_location = self.location_name(cx, body.loc(op));
        for (i, result) in body.results(op).enumerate() {
            let suggested = suggested.iter().find(|(at, _)| *at == i).map(|(_, name)| cx.ident(name));
            let own = match from_location {
                Some(name) => (i == 0 || suggested.is_some()).then(|| self.unique(cx, name)),
                None => self.own_name(cx, table, result).or_else(|| suggested.map(|name| self.unique(cx, name))),
            };
            let code = match own {
                Some(code) => {
                    start = i as u32;
                    code
                }
                None if i == 0 => self.number(cx, false),
                None => Code(start + 1),
            };
            self.given.tables[table].values[result.index()] = code;
        }
    }

    /// The next number, or the next argument's.
    fn number(&mut self, cx: &Context, is_entry: bool) -> Code {
        let (kind, prefix) = if is_entry { (ARGUMENT, "arg") } else { (NUMBER, "") };
        loop {
            let counter = if is_entry { &mut self.counters.arg } else { &mut self.counters.value };
            *counter += 1;
            let number = *counter - 1;
            if !self.exact || !self.reserved.contains(&cx.ident(&format!("{prefix}{number}"))) {
                return Code(kind | number);
            }
        }
    }

    /// The kept name of a value, made unique.
    fn own_name(&mut self, cx: &Context, table: usize, value: Value) -> Option<Code> {
        let table = &self.given.tables[table];
        if !table.any_names {
            return None;
        }
        let name = table.body.value_name(value)?;
        let text = cx.str(name);
        if !self.exact && (is_default_value_name(text) || !is_value_name(text)) {
            return None;
        }
        Some(self.unique(cx, name))
    }

    /// The first name in a location, as a value can be called, where such names are wanted.
    fn location_name(&self, cx: &Context, loc: Loc) -> Option<Ident> {
        if !self.options.names_from_locations {
            return None;
        }
        let name = cx.str(name_in(cx, loc)?);
        let mut text = String::new();
        // A digit would make it look like a number.
        if name.as_bytes().first()?.is_ascii_digit() {
            text.push('_');
        }
        for byte in name.bytes() {
            match byte {
                b' ' => text.push('_'),
                byte if byte.is_ascii_alphanumeric() || b"_$.-".contains(&byte) => text.push(byte.into()),
                byte => text.push_str(&format!("{byte:X}")),
            }
        }
        Some(cx.ident(&text))
    }

    /// What the op would have its results called.
    fn suggested(&self, cx: &'p Context, body: &'p Body, op: Op) -> SmallVec<[(usize, Cow<'static, str>); 1]> {
        if self.options.generic || body.num_results(op) == 0 {
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
            let name = cx.str(name);
            // Behind a number a suffix would be no name.
            let before = if name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
            unique = cx.ident(&format!("{before}{name}_{}", self.counters.conflict));
            self.counters.conflict += 1;
        }
        self.used.insert(unique);
        self.log.push(unique);
        self.given.made.push(unique);
        Code(TEXT | (self.given.made.len() - 1) as u32)
    }
}

/// The first name in a location, from outside to inside.
fn name_in(cx: &Context, loc: Loc) -> Option<Ident> {
    match cx.loc_data(loc) {
        LocData::Name { name, .. } => Some(name),
        LocData::CallSite { callee, caller } => name_in(cx, callee).or_else(|| name_in(cx, caller)),
        LocData::Fused { locs, .. } => cx.fused_locs(locs).find_map(|l| name_in(cx, l)),
        LocData::Unknown | LocData::FileLineCol { .. } => None,
    }
}

/// True for what may stand after `%`.
fn is_value_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let special = |c: &u8| matches!(c, b'_' | b'$' | b'.' | b'-');
    bytes.first().is_some_and(|c| c.is_ascii_alphabetic() || special(c))
        && bytes.iter().all(|c| c.is_ascii_alphanumeric() || special(c))
}
