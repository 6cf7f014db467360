//! Changes to a body. Private to `body`: all others go through an [`Editor`](super::editor::Editor), which tells
//! listeners; only the pass manager takes nested bodies out and puts them back, which is no change.

use super::{Block, BlockData, Body, Module, Op, OpData, OpHeader, Region, RegionData, Value, ValueData, ValueDef};
use crate::asm::TextInfo;
use crate::context::Ident;
use crate::location::Loc;
use crate::types::Type;

impl Body {
    /// A body with `n_regions` regions of one empty block each.
    pub fn with_block(n_regions: usize) -> Self {
        let mut body = Self::new(n_regions);
        for i in 0..n_regions {
            let region = body.region_at(i);
            let block = body.create_block();
            body.append_block(region, block);
        }
        body
    }

    pub(super) fn push_region(&mut self, parent: Option<Op>) -> Region {
        self.regions.push(RegionData { parent, first: None, last: None });
        self.region_at(self.regions.len() - 1)
    }

    // ---- creation

    /// Creates an op outside any block. Its regions stay in this body unless `nested` is given.
    pub(super) fn create_op(
        &mut self,
        header: OpHeader,
        operands: &[Value],
        result_types: &[Type],
        successors: &[Block],
        n_regions: usize,
        nested: Option<Box<Body>>,
    ) -> Op {
        self.epoch += 1;
        let op = self.op_at(self.ops.len());
        let first_operand = self.push_operands(op, operands);
        let first_result = self.values.len() as u32;
        for (index, &ty) in result_types.iter().enumerate() {
            self.values.push(ValueData { ty, def: ValueDef::Result(op), index: index as u32, first_use: 0 });
        }
        let first_region = self.regions.len() as u32;
        let first_successor = self.successors.len() as u32;
        self.successors.extend_from_slice(successors);
        self.ops.push(OpData {
            header,
            block: None,
            prev: None,
            next: None,
            first_operand,
            n_operands: operands.len() as u32,
            first_result,
            n_results: result_types.len() as u32,
            first_region,
            n_regions: n_regions as u32,
            first_successor,
            n_successors: successors.len() as u32,
            live: true,
            body: nested,
        });
        self.n_live_ops += 1;
        for _ in 0..n_regions {
            self.push_region(Some(op));
        }
        op
    }

    pub(super) fn push_isolated(&mut self, header: OpHeader, inside: Body) -> Op {
        self.create_op(header, &[], &[], &[], 0, Some(Box::new(inside)))
    }

    pub(super) fn create_block(&mut self) -> Block {
        self.epoch += 1;
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1, self.tag)
    }

    pub(super) fn add_block_arg(&mut self, block: Block, ty: Type, loc: Loc) -> Value {
        let index = self.block_data(block).args.len() as u32;
        self.values.push(ValueData { ty, def: ValueDef::Arg(block), index, first_use: 0 });
        let value = self.value_at(self.values.len() - 1);
        let data = self.block_mut(block);
        data.args.push(value);
        data.arg_locs.push(loc);
        value
    }

    /// Removes an unused block argument.
    pub(super) fn erase_block_arg(&mut self, block: Block, index: usize) {
        let value = self.block_data(block).args[index];
        assert!(self.is_unused(value), "a block argument is erased while in use");
        let data = self.block_mut(block);
        data.args.remove(index);
        data.arg_locs.remove(index);
        let rest: Vec<Value> = data.args[index..].to_vec();
        self.value_mut(value).def = ValueDef::Placeholder;
        self.names.remove(&value);
        for (i, value) in rest.into_iter().enumerate() {
            self.value_mut(value).index = (index + i) as u32;
        }
    }

    /// A value without definition, to be replaced later.
    pub(super) fn create_placeholder(&mut self, ty: Type) -> Value {
        self.epoch += 1;
        self.values.push(ValueData { ty, def: ValueDef::Placeholder, index: 0, first_use: 0 });
        self.value_at(self.values.len() - 1)
    }

    // ---- linking

    pub(super) fn append_block(&mut self, region: Region, block: Block) {
        self.insert_block(region, block, None);
    }

    /// Puts a block into a region, before `before` or at the end.
    pub(super) fn insert_block(&mut self, region: Region, block: Block, before: Option<Block>) {
        assert!(self.block_data(block).region.is_none(), "the block is in a region already");
        let prev = match before {
            Some(b) => self.block_data(b).prev,
            None => self.region_data(region).last,
        };
        let data = self.block_mut(block);
        data.region = Some(region);
        data.prev = prev;
        data.next = before;
        match prev {
            Some(p) => self.block_mut(p).next = Some(block),
            None => self.region_mut(region).first = Some(block),
        }
        match before {
            Some(b) => self.block_mut(b).prev = Some(block),
            None => self.region_mut(region).last = Some(block),
        }
    }

    pub(super) fn unlink_block(&mut self, block: Block) {
        let data = self.block_mut(block);
        let Some(region) = data.region.take() else { return };
        let (prev, next) = (data.prev.take(), data.next.take());
        match prev {
            Some(p) => self.block_mut(p).next = next,
            None => self.region_mut(region).first = next,
        }
        match next {
            Some(n) => self.block_mut(n).prev = prev,
            None => self.region_mut(region).last = prev,
        }
    }

    pub(super) fn append_op(&mut self, block: Block, op: Op) {
        self.insert_op(block, op, None);
    }

    /// Puts an op into a block, before `before` or at the end.
    pub(super) fn insert_op(&mut self, block: Block, op: Op, before: Option<Op>) {
        assert!(self.data(op).block.is_none(), "the op is in a block already");
        let prev = match before {
            Some(b) => self.data(b).prev,
            None => self.block_data(block).last,
        };
        let data = self.data_mut(op);
        data.block = Some(block);
        data.prev = prev;
        data.next = before;
        match prev {
            Some(p) => self.data_mut(p).next = Some(op),
            None => self.block_mut(block).first = Some(op),
        }
        match before {
            Some(b) => self.data_mut(b).prev = Some(op),
            None => self.block_mut(block).last = Some(op),
        }
    }

    pub(super) fn unlink_op(&mut self, op: Op) {
        let data = self.data_mut(op);
        let Some(block) = data.block.take() else { return };
        let (prev, next) = (data.prev.take(), data.next.take());
        match prev {
            Some(p) => self.data_mut(p).next = next,
            None => self.block_mut(block).first = next,
        }
        match next {
            Some(n) => self.data_mut(n).prev = prev,
            None => self.block_mut(block).last = prev,
        }
    }

    // ---- removal

    /// Erases an op and all that lies in its regions.
    ///
    /// # Panics
    /// When a result of the op itself still has uses outside it.
    pub(super) fn erase_op(&mut self, op: Op) {
        let inside: Vec<Op> = self.preorder_in(op).collect();
        for &inner in &inside {
            self.unlink_operands(inner);
            self.data_mut(inner).n_operands = 0;
        }
        self.unlink_operands(op);
        self.data_mut(op).n_operands = 0;
        assert!(self.results(op).all(|r| self.is_unused(r)), "an op is erased while its results are in use");
        for inner in inside {
            self.bury(inner);
        }
        self.unlink_op(op);
        self.bury(op);
    }

    fn bury(&mut self, op: Op) {
        if !self.names.is_empty() {
            let blocks = self.regions(op).flat_map(|region| self.blocks(region));
            let args = blocks.flat_map(|block| self.block_args(block).iter().copied());
            let gone: Vec<Value> = self.results(op).chain(args).collect();
            gone.iter().for_each(|value| {
                self.names.remove(value);
            });
        }
        let data = self.data_mut(op);
        assert!(data.live, "an op is erased twice");
        data.live = false;
        data.body = None;
        self.n_live_ops -= 1;
    }

    /// Erases blocks and their ops; their arguments and results must be unused outside them.
    pub(super) fn erase_blocks(&mut self, blocks: &[Block]) {
        let ops: Vec<Op> = blocks.iter().flat_map(|b| self.ops(*b)).collect();
        for &op in &ops {
            let inside: Vec<Op> = self.preorder_in(op).collect();
            for inner in inside.into_iter().chain([op]) {
                self.unlink_operands(inner);
                self.data_mut(inner).n_operands = 0;
            }
        }
        for op in ops.into_iter().rev() {
            self.erase_op(op);
        }
        for &block in blocks {
            self.unlink_block(block);
            for arg in self.block_data(block).args.clone() {
                self.names.remove(&arg);
            }
        }
    }

    // ---- attributes

    pub(super) fn set_header(&mut self, op: Op, header: OpHeader) {
        self.data_mut(op).header = header;
    }

    pub(super) fn set_arg_loc(&mut self, block: Block, index: usize, loc: Loc) {
        self.block_mut(block).arg_locs[index] = loc;
    }

    pub(super) fn set_type(&mut self, value: Value, ty: Type) {
        self.value_mut(value).ty = ty;
    }

    pub(super) fn set_value_name(&mut self, value: Value, name: Option<Ident>) {
        self.epoch += 1;
        match name {
            Some(name) => self.names.insert(value, name),
            None => self.names.remove(&value),
        };
    }

    pub(super) fn set_successor(&mut self, op: Op, index: usize, block: Block) {
        let first = self.data(op).first_successor as usize;
        assert!(index < self.data(op).n_successors as usize, "successor {index} of an op");
        self.successors[first + index] = block;
        self.epoch += 1;
    }

    // ---- nested bodies

    /// Works on the body that an isolated op owns, in view of this one, in which the op has an empty body meanwhile; `None`
    /// when it owns none. No change of this body.
    pub fn nested_beside<R>(&mut self, op: Op, work: impl FnOnce(&mut Body, &Self) -> R) -> Option<R> {
        let regions = self.nested(op)?.owner_regions().len();
        let mut inside = self.replace_nested(op, Some(Box::new(Self::new(regions))))?;
        let result = work(&mut inside, self);
        self.replace_nested(op, Some(inside));
        Some(result)
    }

    /// The body that an isolated op owns.
    pub fn nested_mut(&mut self, op: Op) -> Option<&mut Body> {
        self.slot_mut(op).body.as_deref_mut()
    }

    /// Gives an isolated op another body and returns the old one.
    pub(crate) fn replace_nested(&mut self, op: Op, body: Option<Box<Body>>) -> Option<Box<Body>> {
        std::mem::replace(&mut self.slot_mut(op).body, body)
    }

    /// Header and own body of an isolated op.
    pub(crate) fn isolated_parts_mut(&mut self, op: Op) -> Option<(&mut OpHeader, &mut Body)> {
        let data = self.slot_mut(op);
        Some((&mut data.header, data.body.as_deref_mut()?))
    }

    /// Takes the inside of an isolated op out and makes it a program of its own: a copy of the op, with block arguments
    /// as operands, that owns the body. `None` when the op owns none.
    pub(crate) fn detach_isolated(&mut self, op: Op) -> Option<Module> {
        let inside = self.replace_nested(op, None)?;
        let mut root = Self::with_block(1);
        let block = root.entry_block().expect("made with a block");
        let operands: Vec<Value> =
            self.operands(op).map(|v| root.add_block_arg(block, self.ty(v), self.value_loc(v))).collect();
        let results: Vec<Type> = self.results(op).map(|v| self.ty(v)).collect();
        let copy = root.create_op(self.data(op).header, &operands, &results, &[], 0, Some(inside));
        root.append_op(block, copy);
        Some(Module { body: root, op: copy, text: TextInfo::default() })
    }

    /// Gives an isolated op back what [`Body::detach_isolated`] took, header included.
    pub(crate) fn attach_isolated(&mut self, op: Op, mut unit: Module) {
        let inside = unit.body.replace_nested(unit.op, None);
        let header = unit.body.data(unit.op).header;
        if self.data(op).header != header {
            self.data_mut(op).header = header;
        }
        self.slot_mut(op).body = inside;
    }

    /// Gives memory back that growth left unused.
    pub fn shrink(&mut self) {
        self.ops.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.regions.shrink_to_fit();
        self.values.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.successors.shrink_to_fit();
        self.names.shrink_to_fit();
    }
}
