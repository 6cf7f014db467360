//! An op with all bodies nested in it, numbered densely: what analyses across bodies stand on.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::attrs::{Attr, AttrData};
use crate::body::{Block, Body, Op, OpHeader, Value};
use crate::context::{Context, Ident};
use crate::interfaces::{CallOp, CallableOp, Callee};
use crate::op_def::Traits;
use crate::op_ref::OpRef;
use crate::registry::OpName;
use crate::symbols::{Visibility, symbol_ident};

/// One body of a [`Program`].
#[derive(Clone, Copy, Debug)]
pub struct ProgramBody<'a> {
    /// Name of the op that owns it.
    pub owner_name: OpName,
    /// That op, with the number of the body that it lies in; `None` for the root.
    pub owner: Option<(usize, Op)>,
    /// The body.
    pub body: &'a Body,
    pub(super) first_value: usize,
    first_op: usize,
    pub(super) first_block: usize,
}

/// A root op and all bodies in it. Bodies, values, ops and blocks have numbers from zero on.
pub struct Program<'a> {
    /// Context.
    pub cx: &'a Context,
    bodies: Vec<ProgramBody<'a>>,
    children: FxHashMap<(usize, Op), usize>,
    symbols: Vec<OnceLock<FxHashMap<Ident, Op>>>,
    /// Counts of values, ops and blocks.
    counts: (usize, usize, usize),
}

impl<'a> Program<'a> {
    /// The program whose root has this header and owns `body`.
    pub fn new(cx: &'a Context, header: &OpHeader, body: &'a Body) -> Self {
        let mut program =
            Self { cx, bodies: Vec::new(), children: FxHashMap::default(), symbols: Vec::new(), counts: (0, 0, 0) };
        program.add(header.name, None, body);
        let mut at = 0;
        while at < program.bodies.len() {
            let body = program.bodies[at].body;
            for op in body.preorder() {
                if let Some(nested) = body.nested(op) {
                    let child = program.add(body.name(op), Some((at, op)), nested);
                    program.children.insert((at, op), child);
                }
            }
            at += 1;
        }
        program.symbols = program.bodies.iter().map(|_| OnceLock::new()).collect();
        program
    }

    fn add(&mut self, owner_name: OpName, owner: Option<(usize, Op)>, body: &'a Body) -> usize {
        let (first_value, first_op, first_block) = self.counts;
        self.bodies.push(ProgramBody { owner_name, owner, body, first_value, first_op, first_block });
        self.counts.0 += body.value_slots();
        self.counts.1 += body.op_slots();
        self.counts.2 += body.block_slots();
        self.bodies.len() - 1
    }

    /// All bodies; one stands behind the one around it.
    pub fn bodies(&self) -> &[ProgramBody<'a>] {
        &self.bodies
    }

    /// The body of this number.
    pub fn body(&self, at: usize) -> &'a Body {
        self.bodies[at].body
    }

    /// View of an op.
    pub fn op(&self, at: usize, op: Op) -> OpRef<'a> {
        OpRef::new(self.cx, self.bodies[at].body, op)
    }

    /// The op that owns a body; `None` for the root.
    pub fn owner(&self, at: usize) -> Option<OpRef<'a>> {
        let (around, op) = self.bodies[at].owner?;
        Some(self.op(around, op))
    }

    /// Number of the body that `op` owns.
    pub fn nested(&self, at: usize, op: Op) -> Option<usize> {
        self.children.get(&(at, op)).copied()
    }

    /// Numbers of values, below [`Program::value_count`].
    pub fn value_number(&self, at: usize, value: Value) -> usize {
        self.bodies[at].first_value + value.index()
    }

    /// Numbers of ops, below [`Program::op_count`].
    pub fn op_number(&self, at: usize, op: Op) -> usize {
        self.bodies[at].first_op + op.index()
    }

    /// Numbers of blocks, below [`Program::block_count`].
    pub fn block_number(&self, at: usize, block: Block) -> usize {
        self.bodies[at].first_block + block.index()
    }

    /// Size of a table by number of value.
    pub fn value_count(&self) -> usize {
        self.counts.0
    }

    /// Size of a table by number of op.
    pub fn op_count(&self) -> usize {
        self.counts.1
    }

    /// Size of a table by number of block.
    pub fn block_count(&self) -> usize {
        self.counts.2
    }

    // ---- symbols and calls

    /// The op that `reference`, used by `op` of body `at`, names, with the number of its body.
    pub fn resolve(&self, at: usize, op: Op, reference: Attr) -> Option<(usize, Op)> {
        let AttrData::SymbolRef { root, nested } = self.cx.attr_data(reference) else { return None };
        let mut table = self.symbol_table(at, op)?;
        let mut found = *self.symbols(table).get(&root)?;
        for name in self.cx.idents(nested) {
            let inner = self.nested(table, found)?;
            if !self.bodies[inner].owner_name.traits(self.cx).has(Traits::SymbolTable) {
                return None;
            }
            found = *self.symbols(inner).get(name)?;
            table = inner;
        }
        Some((table, found))
    }

    /// The body of the symbol table around `op`; `None` when it lies outside the program or cannot be told.
    fn symbol_table(&self, at: usize, op: Op) -> Option<usize> {
        let (mut at, mut op) = (at, op);
        loop {
            let body = self.bodies[at].body;
            let mut around = body.parent_op(op);
            while let Some(parent) = around {
                let may_be_table = body.name(parent).def(self.cx).is_none_or(|d| d.traits.has(Traits::SymbolTable));
                if may_be_table {
                    return None;
                }
                around = body.parent_op(parent);
            }
            if self.bodies[at].owner_name.def(self.cx)?.traits.has(Traits::SymbolTable) {
                return Some(at);
            }
            (at, op) = self.bodies[at].owner?;
        }
    }

    fn symbols(&self, at: usize) -> &FxHashMap<Ident, Op> {
        self.symbols[at].get_or_init(|| {
            let body = self.bodies[at].body;
            let mut map = FxHashMap::default();
            for op in body.owner_regions().flat_map(|r| body.blocks(r)).flat_map(|b| body.ops(b)) {
                if let Some(name) = symbol_ident(self.op(at, op)) {
                    map.entry(name).or_insert(op);
                }
            }
            map
        })
    }

    /// Number of the body that a call runs, when it is in the program.
    pub fn callee(&self, at: usize, call: Op) -> Option<usize> {
        let op = self.op(at, call);
        let Callee::Symbol(reference) = op.interface::<dyn CallOp>()?.callee(op)? else { return None };
        let (table, callable) = self.resolve(at, call, reference)?;
        let op = self.op(table, callable);
        op.interface::<dyn CallableOp>()?.callable_region(op)?;
        self.nested(table, callable)
    }

    /// Number of the region that runs when the owner of body `at` is called; `None` for an op that is not callable.
    pub fn callable_region(&self, at: usize) -> Option<usize> {
        match self.owner(at) {
            Some(op) => op.interface::<dyn CallableOp>()?.callable_region(op),
            // Of the root only the name is known.
            None => self.bodies[at].owner_name.info(self.cx)?.interface::<dyn CallableOp>().map(|_| 0),
        }
    }

    /// True for each body whose owner, a callable, is called only by calls of this program that name it.
    pub fn callables_with_known_callers(&self) -> Vec<bool> {
        let escaping = self.escaping_symbols();
        let is_known = |at: usize| {
            let Some(owner) = self.owner(at) else { return false };
            let in_table =
                self.bodies[at].owner.and_then(|(around, op)| Some((around, self.symbol_table(around, op)?)));
            let Some(name) = symbol_ident(owner) else { return false };
            in_table.is_some_and(|(around, table)| around == table)
                && self.callable_region(at).is_some()
                && Visibility::of(owner) == Visibility::Private
                && !escaping.contains(&name)
        };
        (0..self.bodies.len()).map(is_known).collect()
    }

    /// Names that something other than a call mentions.
    fn escaping_symbols(&self) -> FxHashSet<Ident> {
        let mut found = FxHashSet::default();
        let mut seen = FxHashSet::default();
        for (at, body) in self.bodies.iter().map(|b| b.body).enumerate() {
            for op in body.preorder() {
                let callee = self.callee(at, op).and_then(|_| {
                    let op = self.op(at, op);
                    op.interface::<dyn CallOp>()?.callee(op)
                });
                let Some(Callee::Symbol(called)) = callee else {
                    collect_symbols(self.cx, &[body.props(op), body.attrs(op)], &mut seen, &mut found);
                    continue;
                };
                let entries = [body.props(op), body.attrs(op)].map(|d| self.cx.entries(d));
                let others: Vec<Attr> =
                    entries.into_iter().flatten().map(|e| e.value).filter(|a| *a != called).collect();
                collect_symbols(self.cx, &others, &mut seen, &mut found);
            }
        }
        found
    }
}

/// Adds all names in symbol references inside `attrs`; what was looked into before is left out.
fn collect_symbols(cx: &Context, attrs: &[Attr], seen: &mut FxHashSet<Attr>, found: &mut FxHashSet<Ident>) {
    let mut pending = attrs.to_vec();
    while let Some(attr) = pending.pop() {
        if !seen.insert(attr) {
            continue;
        }
        match cx.attr_data(attr) {
            AttrData::SymbolRef { root, nested } => {
                found.insert(root);
                found.extend(cx.idents(nested));
            }
            AttrData::Array(list) => pending.extend(cx.list_attrs(list)),
            AttrData::Dict(_) => pending.extend(cx.entries(attr).iter().map(|e| e.value)),
            _ => {}
        }
    }
}
