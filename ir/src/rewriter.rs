//! Changing operations. The only way to mutate a body from outside this crate.

use std::ops::{Deref, DerefMut};

use crate::attrs::Attr;
use crate::body::{Block, Body, Op, OpHeader, Region, Value};
use crate::builder::{Builder, InsertPoint, Listener, OpState};
use crate::context::Context;
use crate::location::Loc;
use crate::op_def::OpView;
use crate::op_ref::OpRef;
use crate::types::Type;

/// A [`Builder`] that may also replace, move, erase and modify. Every change is reported to the listener.
pub struct Rewriter<'b> {
    builder: Builder<'b>,
}

impl<'b> Deref for Rewriter<'b> {
    type Target = Builder<'b>;
    fn deref(&self) -> &Builder<'b> {
        &self.builder
    }
}

impl<'b> DerefMut for Rewriter<'b> {
    fn deref_mut(&mut self) -> &mut Builder<'b> {
        &mut self.builder
    }
}

impl<'b> Rewriter<'b> {
    /// A rewriter without listener.
    pub fn new(cx: &'b Context, body: &'b mut Body) -> Self {
        Self { builder: Builder::new(cx, body) }
    }

    /// A rewriter whose changes `listener` hears of.
    pub fn with_listener(cx: &'b Context, body: &'b mut Body, listener: &'b mut dyn Listener) -> Self {
        Self { builder: Builder::with_listener(cx, body, listener) }
    }

    /// Tells something that is no change.
    pub(crate) fn notify(&mut self, event: impl FnOnce(&mut dyn Listener, &Body)) {
        self.builder.editor().tell(event);
    }

    /// The op as a `T`.
    pub fn view<'s, T: OpView<'s>>(&'s self, op: Op) -> Option<T> {
        OpRef::new(self.cx(), self.body(), op).as_::<T>()
    }

    /// The op that defines `value`, as a `T`.
    pub fn def<'s, T: OpView<'s>>(&'s self, value: Value) -> Option<T> {
        self.view(self.body().defining_op(value)?)
    }

    /// Says why a pattern does not apply, and returns `None` for use with `?`. The text is made only if asked for.
    pub fn notify_match_failure<T>(&mut self, op: Op, reason: impl Fn() -> String) -> Option<T> {
        self.notify(|l, b| l.match_failed(b, op, &reason));
        None
    }

    /// What a pattern looked for; when it found nothing, says why the pattern does not apply, for use with `?`.
    pub fn require<T>(&mut self, op: Op, found: Option<T>, reason: &str) -> Option<T> {
        if found.is_none() {
            return self.notify_match_failure(op, || reason.to_string());
        }
        found
    }

    // ---- replacing and erasing

    /// Makes every use of `old` use `new`.
    pub fn replace_all_uses(&mut self, old: Value, new: Value) {
        self.builder.editor().replace_all_uses(old, new);
    }

    /// Makes the uses of `old` for which `which` holds use `new`.
    pub fn replace_uses_if(&mut self, old: Value, new: Value, which: impl Fn(&Body, Op, usize) -> bool) {
        let uses: Vec<_> = self.body().uses(old).filter(|u| which(self.body(), u.owner, u.index)).collect();
        for u in uses {
            self.set_operand(u.owner, u.index, new);
        }
    }

    /// Replaces the results of `op` by `values` and erases it.
    ///
    /// # Panics
    /// When the numbers differ.
    pub fn replace_op(&mut self, op: Op, values: &[Value]) {
        assert_eq!(self.body().num_results(op), values.len(), "one value per result");
        self.notify(|l, b| l.op_replaced(b, op, values));
        for (i, &value) in values.iter().enumerate() {
            let result = self.body().result(op, i);
            self.inherit_name(result, value);
            self.replace_all_uses(result, value);
        }
        self.erase_op(op);
    }

    /// A replacement without a name takes the name of what it replaces.
    pub(crate) fn inherit_name(&mut self, old: Value, new: Value) {
        if self.body().value_name(new).is_none()
            && let Some(name) = self.body().value_name(old)
            && self.body().defining_op(new).is_some()
        {
            self.set_value_name(new, Some(name));
        }
    }

    /// Creates an op from `state` before `op`, replaces `op`'s results by its results and erases `op`.
    pub fn replace_with(&mut self, op: Op, state: OpState) -> Op {
        let point = self.set_insert_point(InsertPoint::Before(op));
        let new = self.create(state);
        self.set_insert_point(point);
        let results: Vec<Value> = self.body().results(new).collect();
        self.replace_op(op, &results);
        new
    }

    /// Erases an op whose results are unused, with all that is in its regions.
    pub fn erase_op(&mut self, op: Op) {
        if self.insert_point() == InsertPoint::Before(op) {
            let point = match self.body().next_op(op) {
                Some(next) => InsertPoint::Before(next),
                None => self.body().op_block(op).map_or(InsertPoint::Detached, InsertPoint::End),
            };
            self.set_insert_point(point);
        }
        self.builder.editor().erase_op(op);
    }

    /// Erases a block that is no successor and whose values are unused elsewhere.
    pub fn erase_block(&mut self, block: Block) {
        self.erase_blocks(&[block]);
    }

    /// Erases blocks that may refer to each other; nothing else may refer to them.
    pub fn erase_blocks(&mut self, blocks: &[Block]) {
        self.builder.editor().erase_blocks(blocks);
    }

    // ---- modifying in place

    /// Sets one operand.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        self.builder.editor().set_operand(op, index, value);
    }

    /// Sets all operands.
    pub fn set_operands(&mut self, op: Op, operands: &[Value]) {
        self.builder.editor().set_operands(op, operands);
    }

    /// Removes one operand; where segment sizes say which group it belongs to, that group gets shorter.
    pub fn erase_operand(&mut self, op: Op, index: usize) {
        let cx = self.cx();
        let operands: Vec<Value> =
            self.body().operands(op).enumerate().filter(|(i, _)| *i != index).map(|(_, v)| v).collect();
        let segments = self.op_ref(op).prop("operandSegmentSizes").filter(|a| cx.is_i32_array(*a));
        if let Some(mut sizes) = segments.and_then(|a| cx.as_ints(a)) {
            let mut end = 0;
            let group = sizes.iter().position(|size| {
                end += size;
                (index as i64) < end
            });
            if let Some(group) = group {
                sizes[group] -= 1;
            }
            let sizes: Vec<i32> = sizes.iter().map(|s| *s as i32).collect();
            self.set_prop(op, "operandSegmentSizes", Some(cx.i32_array(&sizes)));
        }
        self.set_operands(op, &operands);
    }

    /// Replaces the operands of the declared group `group`; segment sizes follow.
    ///
    /// # Panics
    /// When the op does not fit its declaration, which the verifier excludes.
    pub fn set_operand_group(&mut self, op: Op, group: usize, values: &[Value]) {
        let cx = self.cx();
        let view = self.op_ref(op);
        let range = view.operand_group(group).expect("the op fits its declaration");
        let segments = view.prop("operandSegmentSizes").filter(|a| cx.is_i32_array(*a));
        let mut operands: Vec<Value> = view.operands().collect();
        operands.splice(range, values.iter().copied());
        if let Some(mut sizes) = segments.and_then(|a| cx.as_ints(a)) {
            sizes[group] = values.len() as i64;
            let sizes: Vec<i32> = sizes.iter().map(|s| *s as i32).collect();
            self.set_prop(op, "operandSegmentSizes", Some(cx.i32_array(&sizes)));
        }
        self.set_operands(op, &operands);
    }

    /// Sets or, with `None`, removes an inherent attribute.
    pub fn set_prop(&mut self, op: Op, name: &str, value: Option<Attr>) {
        let cx = self.cx();
        let props = cx.with_entry(self.body().props(op), cx.ident(name), value);
        self.set_dicts(op, props, self.body().attrs(op));
    }

    /// Sets or, with `None`, removes a discardable attribute.
    pub fn set_attr(&mut self, op: Op, name: &str, value: Option<Attr>) {
        self.builder.set_attr(op, name, value);
    }

    /// Sets the dictionaries of inherent and discardable attributes.
    pub fn set_dicts(&mut self, op: Op, props: Attr, attrs: Attr) {
        let props = self.body().name(op).info(self.cx()).map_or(props, |i| i.normal_props(self.cx(), props));
        self.builder.editor().set_dicts(op, props, attrs);
    }

    /// Sets the location.
    pub fn set_loc(&mut self, op: Op, loc: Loc) {
        self.builder.editor().set_loc(op, loc);
    }

    /// Sets the location of a block argument.
    pub fn set_arg_loc(&mut self, block: Block, index: usize, loc: Loc) {
        self.builder.editor().set_arg_loc(block, index, loc);
    }

    /// Changes the type of a value.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.builder.editor().set_type(value, ty);
    }

    /// Sets one successor.
    pub fn set_successor(&mut self, op: Op, index: usize, block: Block) {
        self.builder.editor().set_successor(op, index, block);
    }

    /// Removes an unused block argument.
    pub fn erase_block_arg(&mut self, block: Block, index: usize) {
        self.builder.editor().erase_block_arg(block, index);
    }

    // ---- moving

    /// Moves an op before another of the same body.
    pub fn move_before(&mut self, op: Op, before: Op) {
        let block = self.body().op_block(before).expect("the target is in a block");
        self.builder.editor().move_op(block, op, Some(before));
    }

    /// Moves an op to the end of a block.
    pub fn move_to_end(&mut self, op: Op, block: Block) {
        self.builder.editor().move_op(block, op, None);
    }

    /// Moves the blocks of one region to the end of another.
    pub fn take_region(&mut self, from: Region, to: Region) {
        self.move_blocks(from, to, None);
    }

    /// Moves the blocks of `from` before `before`, a block of another region of this body.
    ///
    /// # Panics
    /// When `before` is in no region.
    pub fn inline_region_before(&mut self, from: Region, before: Block) {
        let to = self.body().block_region(before).expect("the block is in a region");
        self.move_blocks(from, to, Some(before));
    }

    fn move_blocks(&mut self, from: Region, to: Region, before: Option<Block>) {
        if from == to {
            return;
        }
        while let Some(block) = self.body().region_entry(from) {
            self.builder.editor().move_block(to, block, before);
        }
    }

    /// Moves the ops of `block` before `before`, replaces its arguments by `args` and erases it.
    pub fn inline_block_before(&mut self, block: Block, before: Op, args: &[Value]) {
        let params: Vec<Value> = self.body().block_args(block).to_vec();
        assert_eq!(params.len(), args.len(), "one value per block argument");
        for (param, &arg) in params.into_iter().zip(args) {
            self.replace_all_uses(param, arg);
        }
        while let Some(op) = self.body().first_op(block) {
            self.move_before(op, before);
        }
        self.erase_block(block);
    }

    /// Moves the ops of `block` to the end of `dest`, replaces its arguments by `args` and erases it. Nothing may branch
    /// to `block` any more, and `dest` must not end in a terminator.
    pub fn merge_block(&mut self, block: Block, dest: Block, args: &[Value]) {
        let params: Vec<Value> = self.body().block_args(block).to_vec();
        assert_eq!(params.len(), args.len(), "one value per block argument");
        for (param, &arg) in params.into_iter().zip(args) {
            self.replace_all_uses(param, arg);
        }
        while let Some(op) = self.body().first_op(block) {
            self.move_to_end(op, dest);
        }
        self.erase_block(block);
    }

    /// Moves a block before another one, of the same region or of another.
    pub fn move_block_before(&mut self, block: Block, before: Block) {
        let region = self.body().block_region(before).expect("the target is in a region");
        self.builder.editor().move_block(region, block, Some(before));
    }

    /// Moves the ops from `op` on into a new block after this one, and returns it.
    pub fn split_block(&mut self, op: Op) -> Block {
        let block = self.body().op_block(op).expect("the op is in a block");
        let region = self.body().block_region(block).expect("the block is in a region");
        let next = self.body().next_block(block);
        let tail = self.create_block_before(region, next, &[]);
        let mut at = Some(op);
        while let Some(op) = at {
            at = self.body().next_op(op);
            self.move_to_end(op, tail);
        }
        tail
    }

    // ---- nested bodies

    /// Gives an isolated op another body and returns the old one.
    pub fn replace_nested(&mut self, op: Op, body: Box<Body>) -> Option<Box<Body>> {
        self.builder.editor().replace_nested(op, Some(body))
    }
}

/// Copies operations from one place (possibly another body) to another, keeping a map of values and blocks.
#[derive(Default, Debug)]
pub struct IrMapping {
    values: rustc_hash::FxHashMap<Value, Value>,
    blocks: rustc_hash::FxHashMap<Block, Block>,
}

impl IrMapping {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps a value of the source to one of the target.
    pub fn map(&mut self, from: Value, to: Value) {
        self.values.insert(from, to);
    }

    /// What a value of the source is mapped to.
    pub fn get(&self, from: Value) -> Option<Value> {
        self.values.get(&from).copied()
    }

    /// Copies `op` (with regions and nested body) from its body to the insertion point of `to`.
    ///
    /// # Errors
    /// Names the first operand that is not mapped.
    pub fn clone_op(&mut self, op: OpRef<'_>, to: &mut Builder<'_>) -> Result<Op, UnmappedValue> {
        let (name, loc) = (op.name(), op.loc());
        let header = OpHeader { name, loc, props: op.body.props(op.op), attrs: op.body.attrs(op.op) };
        let operands = self.operands(op)?;
        let types: Vec<Type> = op.result_types().collect();
        let successors: Vec<Block> = op
            .successors()
            .iter()
            .map(|b| self.blocks.get(b).copied().ok_or(UnmappedValue))
            .collect::<Result<_, _>>()?;
        let nested = op.body.nested(op.op).map(|body| Box::new(clone_body(op.cx, body)));
        let n_regions = op.body.regions(op.op).len();
        let new = to.create_from_parts(header, &operands, &types, &successors, n_regions, nested);
        for (old, new) in op.results().zip(to.body().results(new).collect::<Vec<_>>()) {
            self.map(old, new);
            to.set_value_name(new, op.body.value_name(old));
        }
        let regions: Vec<Region> = to.body().regions(new).collect();
        for (from, into) in op.body.regions(op.op).zip(regions) {
            self.clone_region(op.cx, op.body, from, to, into)?;
        }
        Ok(new)
    }

    fn operands(&self, op: OpRef<'_>) -> Result<Vec<Value>, UnmappedValue> {
        op.operands().map(|v| self.get(v).ok_or(UnmappedValue)).collect()
    }

    /// Copies the blocks of a region to the end of `into`.
    ///
    /// # Errors
    /// When an operand is neither mapped nor defined inside.
    pub fn clone_region(
        &mut self,
        cx: &Context,
        from_body: &Body,
        from: Region,
        to: &mut Builder<'_>,
        into: Region,
    ) -> Result<(), UnmappedValue> {
        let point = to.insert_point();
        let pairs: Vec<(Block, Block)> = from_body
            .blocks(from)
            .map(|block| {
                let args: Vec<(Type, Loc)> =
                    from_body.block_args(block).iter().map(|v| (from_body.ty(*v), from_body.value_loc(*v))).collect();
                (block, to.create_block(into, &args))
            })
            .collect();
        for &(old, new) in &pairs {
            self.blocks.insert(old, new);
            let args: Vec<Value> = to.body().block_args(new).to_vec();
            for (&from_arg, to_arg) in from_body.block_args(old).iter().zip(args) {
                self.map(from_arg, to_arg);
                to.set_value_name(to_arg, from_body.value_name(from_arg));
            }
        }
        // Results may be used before they are defined (graph regions, loops of blocks): placeholders bridge the gap.
        let mut waiting = Vec::new();
        for &(old, _) in &pairs {
            for op in from_body.ops(old) {
                for result in from_body.results(op) {
                    let placeholder = to.create_placeholder(from_body.ty(result));
                    self.map(result, placeholder);
                    waiting.push((result, placeholder));
                }
            }
        }
        for &(old, new) in &pairs {
            to.set_to_end(new);
            for op in from_body.ops(old) {
                self.clone_op(OpRef::new(cx, from_body, op), to)?;
            }
        }
        for (result, placeholder) in waiting {
            let value = self.get(result).expect("mapped when its op was copied");
            to.replace_placeholder(placeholder, value);
        }
        to.set_insert_point(point);
        Ok(())
    }
}

/// A deep copy of a body.
pub fn clone_body(cx: &Context, body: &Body) -> Body {
    let mut copy = Body::new(body.owner_regions().len());
    let regions: Vec<(Region, Region)> = body.owner_regions().zip(copy.owner_regions()).collect();
    let mut builder = Builder::new(cx, &mut copy);
    for (from, into) in regions {
        IrMapping::new()
            .clone_region(cx, body, from, &mut builder, into)
            .expect("an isolated body uses no value from outside");
    }
    copy
}

/// An operand or successor of a copied op is neither mapped nor copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnmappedValue;

impl std::fmt::Display for UnmappedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an operand of the copied op is not mapped")
    }
}
impl std::error::Error for UnmappedValue {}
