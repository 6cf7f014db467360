//! Creating operations.

use smallvec::SmallVec;

use crate::attrs::{Attr, NamedAttr};
use crate::body::{Block, Body, Editor, Op, OpHeader, Region, Value};
use crate::context::{Context, Ident};
pub use crate::listener::Listener;
use crate::location::Loc;
use crate::op_def::{InferInput, OpDef, Traits};
use crate::registry::OpName;
use crate::types::Type;

/// Where new operations go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertPoint {
    /// Nowhere: new operations stay outside any block.
    Detached,
    /// At the end of a block.
    End(Block),
    /// Before an op.
    Before(Op),
}

/// All that makes an operation; gathered, then given to [`Builder::create`].
#[derive(Clone, Debug)]
pub struct OpState {
    /// Name.
    pub name: OpName,
    /// Location.
    pub loc: Loc,
    /// Operands.
    pub operands: SmallVec<[Value; 4]>,
    /// Types of the results.
    pub result_types: SmallVec<[Type; 2]>,
    /// Inherent attributes, in any order.
    pub props: SmallVec<[NamedAttr; 2]>,
    /// Discardable attributes, in any order.
    pub attrs: SmallVec<[NamedAttr; 2]>,
    /// Successors.
    pub successors: SmallVec<[Block; 2]>,
    /// Number of regions.
    pub n_regions: usize,
}

impl OpState {
    /// An op without anything.
    pub fn new(name: OpName, loc: Loc) -> Self {
        Self {
            name,
            loc,
            operands: SmallVec::new(),
            result_types: SmallVec::new(),
            props: SmallVec::new(),
            attrs: SmallVec::new(),
            successors: SmallVec::new(),
            n_regions: 0,
        }
    }

    /// The op that `def` declares.
    pub fn of(cx: &Context, def: &'static OpDef, loc: Loc) -> Self {
        Self::new(cx.op_name(def.name), loc)
    }

    /// Adds operands.
    #[must_use]
    pub fn operands(mut self, values: impl IntoIterator<Item = Value>) -> Self {
        self.operands.extend(values);
        self
    }

    /// Adds results.
    #[must_use]
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> Self {
        self.result_types.extend(types);
        self
    }

    /// Adds an inherent attribute.
    #[must_use]
    pub fn prop(mut self, name: Ident, value: Attr) -> Self {
        self.props.push(NamedAttr { name, value });
        self
    }

    /// Adds a discardable attribute.
    #[must_use]
    pub fn attr(mut self, name: Ident, value: Attr) -> Self {
        self.attrs.push(NamedAttr { name, value });
        self
    }

    /// Adds successors.
    #[must_use]
    pub fn successors(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.successors.extend(blocks);
        self
    }

    /// Sets the number of regions.
    #[must_use]
    pub fn regions(mut self, count: usize) -> Self {
        self.n_regions = count;
        self
    }
}

/// Creates operations, blocks and values at an insertion point of a body.
pub struct Builder<'b> {
    cx: &'b Context,
    editor: Editor<'b>,
    point: InsertPoint,
}

impl<'b> Builder<'b> {
    /// A builder without insertion point or listener.
    pub fn new(cx: &'b Context, body: &'b mut Body) -> Self {
        Self { cx, editor: Editor::new(body, None), point: InsertPoint::Detached }
    }

    /// A builder that inserts at the end of `block`.
    pub fn at_end(cx: &'b Context, body: &'b mut Body, block: Block) -> Self {
        Self { cx, editor: Editor::new(body, None), point: InsertPoint::End(block) }
    }

    /// A builder whose changes `listener` hears of.
    pub fn with_listener(cx: &'b Context, body: &'b mut Body, listener: &'b mut dyn Listener) -> Self {
        Self { cx, editor: Editor::new(body, Some(listener)), point: InsertPoint::Detached }
    }

    /// Context.
    pub fn cx(&self) -> &'b Context {
        self.cx
    }

    /// The body that is being built.
    pub fn body(&self) -> &Body {
        self.editor.body()
    }

    /// The way to changes, for the rewriter.
    pub(crate) fn editor(&mut self) -> &mut Editor<'b> {
        &mut self.editor
    }

    /// View of an op of the body.
    pub fn op_ref(&self, op: Op) -> crate::op_ref::OpRef<'_> {
        crate::op_ref::OpRef::new(self.cx, self.body(), op)
    }

    // ---- insertion point

    /// Where new operations go.
    pub fn insert_point(&self) -> InsertPoint {
        self.point
    }

    /// Sets where new operations go, and returns where they went before.
    pub fn set_insert_point(&mut self, point: InsertPoint) -> InsertPoint {
        std::mem::replace(&mut self.point, point)
    }

    /// New operations go to the end of `block`.
    pub fn set_to_end(&mut self, block: Block) {
        self.point = InsertPoint::End(block);
    }

    /// New operations go to the start of `block`.
    pub fn set_to_start(&mut self, block: Block) {
        self.point = self.body().first_op(block).map_or(InsertPoint::End(block), InsertPoint::Before);
    }

    /// New operations go before `op`.
    pub fn set_before(&mut self, op: Op) {
        self.point = InsertPoint::Before(op);
    }

    /// New operations go after `op`.
    ///
    /// # Panics
    /// When `op` is in no block.
    pub fn set_after(&mut self, op: Op) {
        self.point = match self.body().next_op(op) {
            Some(next) => InsertPoint::Before(next),
            None => InsertPoint::End(self.body().op_block(op).expect("the op is in a block")),
        };
    }

    /// New operations go right after the definition of `value`.
    ///
    /// # Panics
    /// When `value` is defined in no block.
    pub fn set_after_value(&mut self, value: Value) {
        match self.body().defining_op(value) {
            Some(op) => self.set_after(op),
            None => self.set_to_start(self.body().value_block(value).expect("the value is defined in a block")),
        }
    }

    // ---- operations

    /// Creates an op at the insertion point. An op that is isolated from above gets a body of its own, with
    /// `n_regions` empty regions.
    pub fn create(&mut self, state: OpState) -> Op {
        let nested =
            state.name.traits(self.cx).has(Traits::IsolatedFromAbove).then(|| Box::new(Body::new(state.n_regions)));
        self.create_with(state, nested)
    }

    /// Creates an isolated op that owns `inside`; its regions are the body's.
    pub fn create_isolated(&mut self, state: OpState, inside: Box<Body>) -> Op {
        self.create_with(state, Some(inside))
    }

    /// Creates an op from interned dictionaries, as parsers have them.
    pub fn create_from_parts(
        &mut self,
        mut header: OpHeader,
        operands: &[Value],
        result_types: &[Type],
        successors: &[Block],
        n_regions: usize,
        nested: Option<Box<Body>>,
    ) -> Op {
        let n_regions = if nested.is_some() { 0 } else { n_regions };
        header.props = header.name.info(self.cx).map_or(header.props, |i| i.normal_props(self.cx, header.props));
        let at = self.place();
        self.editor.create_op(header, (operands, result_types), successors, n_regions, nested, at)
    }

    /// The block of the insertion point, and the op that it is before, if any.
    fn place(&self) -> Option<(Block, Option<Op>)> {
        match self.point {
            InsertPoint::Detached => None,
            InsertPoint::End(block) => Some((block, None)),
            InsertPoint::Before(next) => {
                Some((self.body().op_block(next).expect("the insertion point is in a block"), Some(next)))
            }
        }
    }

    fn create_with(&mut self, state: OpState, nested: Option<Box<Body>>) -> Op {
        let header = OpHeader {
            name: state.name,
            loc: state.loc,
            props: self.cx.dict(&state.props),
            attrs: self.cx.dict(&state.attrs),
        };
        self.create_from_parts(header, &state.operands, &state.result_types, &state.successors, state.n_regions, nested)
    }

    /// Sets or, with `None`, removes a discardable attribute.
    pub fn set_attr(&mut self, op: Op, name: &str, value: Option<Attr>) {
        let attrs = self.cx.with_entry(self.body().attrs(op), self.cx.ident(name), value);
        let props = self.body().props(op);
        self.editor.set_dicts(op, props, attrs);
    }

    /// Inserts a detached op at the insertion point.
    pub fn insert(&mut self, op: Op) {
        if let Some((block, before)) = self.place() {
            self.editor.insert_op(block, op, before);
        }
    }

    /// Result types of `state` as its declaration lets them be inferred.
    ///
    /// # Errors
    /// Says in words why they cannot be.
    pub fn infer_result_types(&self, state: &OpState) -> Result<SmallVec<[Type; 2]>, String> {
        let name = state.name.as_str(self.cx);
        let def = state.name.def(self.cx).ok_or_else(|| format!("`{name}` is not registered"))?;
        let types: SmallVec<[Type; 4]> = state.operands.iter().map(|v| self.body().ty(*v)).collect();
        infer_result_types(InferInput { cx: self.cx, operands: &types, props: self.cx.dict(&state.props) }, def)
    }

    // ---- blocks and values

    /// Creates a block with arguments at the end of `region`.
    pub fn create_block(&mut self, region: Region, args: &[(Type, Loc)]) -> Block {
        self.create_block_before(region, None, args)
    }

    /// Creates a block in `region` before `before`, or at the end.
    pub fn create_block_before(&mut self, region: Region, before: Option<Block>, args: &[(Type, Loc)]) -> Block {
        let block = self.create_detached_block();
        for &(ty, loc) in args {
            self.add_block_arg(block, ty, loc);
        }
        self.insert_block(region, block, before);
        block
    }

    /// Creates a block that is in no region yet.
    pub fn create_detached_block(&mut self) -> Block {
        self.editor.create_block()
    }

    /// Puts a detached block into a region, before `before` or at the end.
    pub fn insert_block(&mut self, region: Region, block: Block, before: Option<Block>) {
        self.editor.insert_block(region, block, before);
    }

    /// Adds an argument to a block.
    pub fn add_block_arg(&mut self, block: Block, ty: Type, loc: Loc) -> Value {
        self.editor.add_block_arg(block, ty, loc)
    }

    /// Sets the location of a block's last argument; false when it has none.
    pub fn set_last_arg_loc(&mut self, block: Block, loc: Loc) -> bool {
        let last = self.body().block_args(block).len().checked_sub(1);
        last.map(|last| self.editor.set_arg_loc(block, last, loc)).is_some()
    }

    /// A value that stands for one not yet defined; replace it with [`Builder::replace_placeholder`].
    pub fn create_placeholder(&mut self, ty: Type) -> Value {
        self.editor.create_placeholder(ty)
    }

    /// Makes all uses of a placeholder use `value`.
    pub fn replace_placeholder(&mut self, placeholder: Value, value: Value) {
        self.editor.replace_all_uses(placeholder, value);
    }

    /// Gives a value the name that it has in the text, without `%`.
    pub fn set_value_name(&mut self, value: Value, name: Option<Ident>) {
        self.editor.set_value_name(value, name);
    }

    /// Changes the body that an isolated op owns, and tells that it changed; `None` when the op owns none. To look into
    /// it, take [`Body::nested`].
    pub fn edit_nested<R>(&mut self, op: Op, edit: impl FnOnce(&mut Body) -> R) -> Option<R> {
        self.editor.edit_nested(op, edit)
    }

    /// Takes the body that an isolated op owns; the op is of no use after that.
    pub fn take_nested(&mut self, op: Op) -> Option<Box<Body>> {
        self.editor.replace_nested(op, None)
    }

    /// Gives memory back that growth left unused.
    pub fn shrink(&mut self) {
        self.editor.shrink();
    }
}

/// Result types that follow from constraint variables, single-type constraints, traits or the op's own inference.
///
/// # Errors
/// Says in words why they cannot be inferred.
pub fn infer_result_types(input: InferInput<'_>, def: &OpDef) -> Result<SmallVec<[Type; 2]>, String> {
    use crate::op_def::Arity;
    if let Some(infer) = def.infer {
        return (infer.types)(input);
    }
    let of_var = |var: usize| {
        let at = def.operands.iter().take_while(|o| o.arity == Arity::Single).position(|o| o.var == Some(var));
        at.and_then(|i| input.operands.get(i).copied())
    };
    let mut types = SmallVec::new();
    for result in def.results {
        let same = def.traits.has(Traits::SameOperandsAndResultType).then(|| input.operands.first().copied());
        let typed_value = def.traits.has(Traits::ConstantLike).then(|| input.cx.attr_type(input.prop("value")?));
        let ty = result
            .constraint
            .only
            .or_else(|| result.var.and_then(of_var))
            .or(same.flatten())
            .or(typed_value.flatten())
            .ok_or_else(|| format!("the type of result `{}` of `{}` cannot be inferred", result.name, def.name))?;
        types.push(ty);
    }
    Ok(types)
}
