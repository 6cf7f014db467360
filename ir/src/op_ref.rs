//! Read-only views that carry context and body along, and look through body borders.

use crate::attrs::Attr;
use crate::body::{Block, Body, Op, Region, Value};
use crate::context::{Context, Ident};
use crate::diagnostics::Diagnostic;
use crate::location::Loc;
use crate::op_def::{Arity, OpDef, OpView, Traits, ValueDef};
use crate::registry::{OpInfo, OpName};
use crate::types::Type;

/// An operation with the body and the context it lives in.
#[derive(Clone, Copy)]
pub struct OpRef<'a> {
    /// Context.
    pub cx: &'a Context,
    /// The body that holds the op.
    pub body: &'a Body,
    /// The op.
    pub op: Op,
}

/// A region with its body: an isolated op's regions live in another body than the op.
#[derive(Clone, Copy)]
pub struct RegionRef<'a> {
    /// Context.
    pub cx: &'a Context,
    /// The body that holds the region.
    pub body: &'a Body,
    /// The region.
    pub region: Region,
}

/// A block with its body.
#[derive(Clone, Copy)]
pub struct BlockRef<'a> {
    /// Context.
    pub cx: &'a Context,
    /// The body that holds the block.
    pub body: &'a Body,
    /// The block.
    pub block: Block,
}

impl<'a> OpRef<'a> {
    /// Views an op.
    pub fn new(cx: &'a Context, body: &'a Body, op: Op) -> Self {
        Self { cx, body, op }
    }

    /// Another op of the same body.
    pub fn at(self, op: Op) -> Self {
        Self { op, ..self }
    }

    /// Name.
    pub fn name(self) -> OpName {
        self.body.name(self.op)
    }

    /// Full name as text.
    pub fn name_str(self) -> &'a str {
        self.name().as_str(self.cx)
    }

    /// Location.
    pub fn loc(self) -> Loc {
        self.body.loc(self.op)
    }

    /// What is registered about the op.
    pub fn info(self) -> Option<&'a OpInfo> {
        self.name().info(self.cx)
    }

    /// The op's declaration.
    pub fn def(self) -> Option<&'static OpDef> {
        self.name().def(self.cx)
    }

    /// True when the op is declared with the trait.
    pub fn has_trait(self, traits: Traits) -> bool {
        self.name().traits(self.cx).has(traits)
    }

    /// The op's implementation of an interface.
    pub fn interface<I: ?Sized + Send + Sync + 'static>(self) -> Option<&'static I> {
        self.info()?.interface::<I>()
    }

    /// True when this is the op that `T` declares.
    pub fn is<'b, T: OpView<'b>>(self) -> bool {
        self.name().is::<T>(self.cx)
    }

    /// The op as a `T`.
    pub fn as_<T: OpView<'a>>(self) -> Option<T> {
        self.name().is::<T>(self.cx).then(|| T::from_ref(self))
    }

    /// The inherent attribute `name`.
    pub fn prop(self, name: &str) -> Option<Attr> {
        self.cx.entry(self.body.props(self.op), self.cx.ident(name))
    }

    /// The inherent attribute declared at `index`.
    pub fn prop_at(self, index: usize) -> Option<Attr> {
        let info = self.info()?;
        self.cx.entry(self.body.props(self.op), info.attr_names[index])
    }

    /// The attribute `name`, inherent or discardable.
    pub fn attr(self, name: &str) -> Option<Attr> {
        let name = self.cx.ident(name);
        let dicts = [self.body.props(self.op), self.body.attrs(self.op)];
        dicts.into_iter().find_map(|dict| self.cx.entry(dict, name))
    }

    /// Name of the symbol that the op defines: its `sym_name`.
    pub fn symbol_name(self) -> Option<&'a str> {
        self.attr("sym_name").and_then(|a| self.cx.as_str(a))
    }

    /// Number of operands.
    pub fn num_operands(self) -> usize {
        self.body.num_operands(self.op)
    }

    /// Operand `index`.
    pub fn operand(self, index: usize) -> Value {
        self.body.operand(self.op, index)
    }

    /// Operands.
    pub fn operands(self) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + 'a {
        self.body.operands(self.op)
    }

    /// Types of the operands.
    pub fn operand_types(self) -> impl ExactSizeIterator<Item = Type> + Clone + 'a {
        let body = self.body;
        self.operands().map(move |v| body.ty(v))
    }

    /// Number of results.
    pub fn num_results(self) -> usize {
        self.body.num_results(self.op)
    }

    /// Result `index`.
    pub fn result(self, index: usize) -> Value {
        self.body.result(self.op, index)
    }

    /// Results.
    pub fn results(self) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + 'a {
        self.body.results(self.op)
    }

    /// Types of the results.
    pub fn result_types(self) -> impl ExactSizeIterator<Item = Type> + Clone + 'a {
        let body = self.body;
        self.results().map(move |v| body.ty(v))
    }

    /// Type of a value of the op's body.
    pub fn ty(self, value: Value) -> Type {
        self.body.ty(value)
    }

    /// Successor blocks.
    pub fn successors(self) -> &'a [Block] {
        self.body.successors(self.op)
    }

    /// The body in which the op's regions live: its own for an isolated op.
    pub fn inside(self) -> &'a Body {
        self.body.nested(self.op).unwrap_or(self.body)
    }

    /// Regions, in this body or the op's own.
    pub fn regions(self) -> impl ExactSizeIterator<Item = RegionRef<'a>> + Clone + 'a {
        let (cx, nested) = (self.cx, self.body.nested(self.op));
        let count = nested.map_or_else(|| self.body.regions(self.op).len(), |b| b.owner_regions().len());
        let first = match nested {
            Some(body) => body.owner_regions().next(),
            None => self.body.regions(self.op).next(),
        };
        let body = nested.unwrap_or(self.body);
        (0..count).map(move |i| {
            let first = first.expect("counted above");
            RegionRef { cx, body, region: body.region_after(first, i) }
        })
    }

    /// Region `index`.
    pub fn region(self, index: usize) -> Option<RegionRef<'a>> {
        self.regions().nth(index)
    }

    /// The op around this one in the same body.
    pub fn parent(self) -> Option<OpRef<'a>> {
        self.body.parent_op(self.op).map(|op| self.at(op))
    }

    /// Constant that defines `value`, if one does.
    pub fn constant(self, value: Value) -> Option<Attr> {
        crate::registry::constant_of(self.body, self.cx, value)
    }

    /// Where messages about the op say that it is: its location, or that of the closest op around which has one.
    pub fn place(self) -> Loc {
        let around = std::iter::successors(Some(self), |op| op.parent());
        around.map(Self::loc).find(|loc| self.cx.has_place(*loc)).unwrap_or_else(|| self.loc())
    }

    /// An error at the op, in MLIR's words: `'arith.addi' op <message>`.
    pub fn error(self, message: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::error(self.loc(), format!("'{}' op {message}", self.name_str()))
    }

    /// Range of the operands that belong to the declared group `group`.
    ///
    /// `None` when the op's operand count or segment sizes do not fit its declaration.
    pub fn operand_group(self, group: usize) -> Option<std::ops::Range<usize>> {
        let def = self.def()?;
        let segments = def.traits.has(Traits::AttrSizedOperandSegments).then_some("operandSegmentSizes");
        self.group(def.operands, group, self.num_operands(), segments)
    }

    /// Range of the results that belong to the declared group `group`.
    ///
    /// `None` when the op's result count or segment sizes do not fit its declaration.
    pub fn result_group(self, group: usize) -> Option<std::ops::Range<usize>> {
        let def = self.def()?;
        let segments = def.traits.has(Traits::AttrSizedResultSegments).then_some("resultSegmentSizes");
        self.group(def.results, group, self.num_results(), segments)
    }

    /// First operand of the declared group `group`; `None` when the group is empty.
    pub fn operand_of(self, group: usize) -> Option<Value> {
        let range = self.operand_group(group)?;
        (!range.is_empty()).then(|| self.operand(range.start))
    }

    /// Operands of the declared group `group`.
    ///
    /// # Panics
    /// When the op does not fit its declaration, which the verifier excludes.
    pub fn operands_of(self, group: usize) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + 'a {
        let range = self.operand_group(group).expect("the op fits its declaration");
        self.operands().skip(range.start).take(range.len())
    }

    /// First result of the declared group `group`; `None` when the group is empty.
    pub fn result_of(self, group: usize) -> Option<Value> {
        let range = self.result_group(group)?;
        (!range.is_empty()).then(|| self.result(range.start))
    }

    /// Results of the declared group `group`.
    ///
    /// # Panics
    /// When the op does not fit its declaration, which the verifier excludes.
    pub fn results_of(self, group: usize) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + 'a {
        let range = self.result_group(group).expect("the op fits its declaration");
        self.results().skip(range.start).take(range.len())
    }

    fn group(
        self,
        defs: &[ValueDef],
        group: usize,
        count: usize,
        segments: Option<&str>,
    ) -> Option<std::ops::Range<usize>> {
        if let Some(name) = segments {
            let sizes = self.cx.as_ints(self.attr(name)?)?;
            if sizes.len() != defs.len() || sizes.iter().any(|s| *s < 0) {
                return None;
            }
            let start: i64 = sizes[..group].iter().sum();
            let range = start as usize..(start + sizes[group]) as usize;
            return (range.end <= count).then_some(range);
        }
        let singles = defs.iter().filter(|d| d.arity == Arity::Single).count();
        let others = defs.len() - singles;
        // Without segment sizes all groups that are not single are equally long; the verifier sees to it.
        let each = if others == 0 { 0 } else { count.checked_sub(singles)?.div_euclid(others) };
        let size = |d: &ValueDef| if d.arity == Arity::Single { 1 } else { each };
        let start: usize = defs[..group].iter().map(size).sum();
        let range = start..start + size(&defs[group]);
        (range.end <= count).then_some(range)
    }

    /// Calls `visit` for this op and every op inside it, nested bodies included, outer before inner.
    pub fn walk(self, visit: &mut dyn FnMut(OpRef<'a>)) {
        let mut pending = vec![self];
        while let Some(op) = pending.pop() {
            visit(op);
            let from = pending.len();
            for region in op.regions() {
                for block in region.blocks() {
                    pending.extend(block.ops());
                }
            }
            pending[from..].reverse();
        }
    }
}

impl<'a> RegionRef<'a> {
    /// Blocks, in order.
    pub fn blocks(self) -> impl Iterator<Item = BlockRef<'a>> + 'a {
        let (cx, body) = (self.cx, self.body);
        self.body.blocks(self.region).map(move |block| BlockRef { cx, body, block })
    }

    /// First block.
    pub fn entry(self) -> Option<BlockRef<'a>> {
        self.body.region_entry(self.region).map(|block| BlockRef { cx: self.cx, body: self.body, block })
    }

    /// True without blocks.
    pub fn is_empty(self) -> bool {
        self.body.region_entry(self.region).is_none()
    }
}

impl<'a> BlockRef<'a> {
    /// Operations, in order.
    pub fn ops(self) -> impl Iterator<Item = OpRef<'a>> + 'a {
        let (cx, body) = (self.cx, self.body);
        self.body.ops(self.block).map(move |op| OpRef { cx, body, op })
    }

    /// Arguments.
    pub fn args(self) -> &'a [Value] {
        self.body.block_args(self.block)
    }

    /// Last op, if it is a terminator.
    pub fn terminator(self) -> Option<OpRef<'a>> {
        let op = OpRef::new(self.cx, self.body, self.body.last_op(self.block)?);
        (op.has_trait(Traits::Terminator) || op.def().is_none()).then_some(op)
    }
}

/// The op that defines symbol `name` directly in the (symbol table) op `table`.
pub fn lookup_symbol<'a>(table: OpRef<'a>, name: Ident) -> Option<OpRef<'a>> {
    let text = table.cx.str(name);
    let entry = table.region(0)?.entry()?;
    entry.ops().find(|op| op.symbol_name() == Some(text))
}
