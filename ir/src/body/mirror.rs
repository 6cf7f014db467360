//! A copy of a body that is made of nothing but what a listener hears, to find out whether it hears everything.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Block, Body, Op, OpHeader, Region, Value, ValueKind};
use crate::context::Ident;
use crate::listener::Listener;
use crate::location::Loc;
use crate::types::Type;

#[derive(Clone, PartialEq, Debug)]
struct OpRow {
    header: OpHeader,
    operands: Vec<Value>,
    results: Vec<(Value, Type)>,
    successors: Vec<Block>,
    regions: Vec<Region>,
    /// Number and epoch of the body that it owns.
    nested: Option<(u64, u64)>,
    block: Option<Block>,
}

impl OpRow {
    fn of(body: &Body, op: Op) -> Self {
        Self {
            header: *body.header(op),
            operands: body.operands(op).collect(),
            results: body.results(op).map(|v| (v, body.ty(v))).collect(),
            successors: body.successors(op).to_vec(),
            regions: body.regions(op).collect(),
            nested: body.nested(op).map(|inside| (inside.id(), inside.epoch())),
            block: body.op_block(op),
        }
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
struct BlockRow {
    args: Vec<(Value, Type, Loc)>,
    ops: Vec<Op>,
    region: Option<Region>,
}

impl BlockRow {
    fn args_of(body: &Body, block: Block) -> Vec<(Value, Type, Loc)> {
        body.block_args(block).iter().map(|v| (*v, body.ty(*v), body.value_loc(*v))).collect()
    }

    fn of(body: &Body, block: Block) -> Self {
        let (args, ops) = (Self::args_of(body, block), body.ops(block).collect());
        Self { args, ops, region: body.block_region(block) }
    }
}

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Mirror {
    ops: FxHashMap<Op, OpRow>,
    blocks: FxHashMap<Block, BlockRow>,
    regions: FxHashMap<Region, Vec<Block>>,
    names: FxHashMap<Value, Ident>,
    placeholders: FxHashMap<Value, Type>,
    /// All that was heard of, also what is erased.
    ever: (FxHashSet<Op>, FxHashSet<Block>, FxHashSet<Value>),
    /// How many changes were told.
    pub(super) heard: usize,
    /// It hears nothing.
    pub(super) deaf: bool,
}

impl Mirror {
    /// A mirror of an empty body.
    pub(super) fn of_empty(body: &Body) -> Self {
        Self { regions: body.owner_regions().map(|region| (region, Vec::new())).collect(), ..Self::default() }
    }

    fn hears(&mut self) -> bool {
        self.heard += usize::from(!self.deaf);
        !self.deaf
    }

    fn know_op(&mut self, body: &Body, op: Op) {
        self.ever.0.insert(op);
        self.ever.2.extend(body.results(op));
        let row = OpRow::of(body, op);
        let block = self.ops.get(&op).map_or(row.block, |old| old.block);
        self.ops.insert(op, OpRow { block, ..row });
    }

    fn place_op(&mut self, body: &Body, op: Op) {
        let block = body.op_block(op);
        if let Some(row) = self.ops.get_mut(&op) {
            let old = std::mem::replace(&mut row.block, block);
            if let Some(old) = old.and_then(|old| self.blocks.get_mut(&old)) {
                old.ops.retain(|other| *other != op);
            }
        }
        if let Some(row) = block.and_then(|block| self.blocks.get_mut(&block)) {
            let next = body.next_op(op).and_then(|next| row.ops.iter().position(|other| *other == next));
            row.ops.insert(next.unwrap_or(row.ops.len()), op);
        }
    }

    fn place_block(&mut self, body: &Body, block: Block) {
        let region = body.block_region(block);
        if let Some(row) = self.blocks.get_mut(&block) {
            let old = std::mem::replace(&mut row.region, region);
            if let Some(old) = old.and_then(|old| self.regions.get_mut(&old)) {
                old.retain(|other| *other != block);
            }
        }
        if let Some(list) = region.and_then(|region| self.regions.get_mut(&region)) {
            let next = body.next_block(block).and_then(|next| list.iter().position(|other| *other == next));
            list.insert(next.unwrap_or(list.len()), block);
        }
    }

    fn forget_op(&mut self, body: &Body, op: Op) {
        for region in body.regions(op) {
            self.regions.remove(&region);
            for block in body.blocks(region) {
                self.forget_block(block);
            }
        }
        let Some(row) = self.ops.remove(&op) else { return };
        row.results.iter().for_each(|(value, _)| {
            self.names.remove(value);
        });
        if let Some(block) = row.block.and_then(|block| self.blocks.get_mut(&block)) {
            block.ops.retain(|other| *other != op);
        }
    }

    fn forget_block(&mut self, block: Block) {
        let Some(row) = self.blocks.remove(&block) else { return };
        row.args.iter().for_each(|(value, ..)| {
            self.names.remove(value);
        });
        if let Some(list) = row.region.and_then(|region| self.regions.get_mut(&region)) {
            list.retain(|other| *other != block);
        }
    }

    // ---- comparison

    /// Says where `body` is not what was heard of it.
    pub(super) fn compare(&self, body: &Body) -> Result<(), String> {
        let live: Vec<Op> = (0..body.op_slots()).map(|i| body.op_at(i)).filter(|op| body.is_live(*op)).collect();
        if live.len() != self.ops.len() {
            return Err(format!("{} ops are live, {} were heard of", live.len(), self.ops.len()));
        }
        for &op in &live {
            differ("op", op, self.ops.get(&op), &OpRow::of(body, op))?;
        }
        for block in (0..body.block_slots()).map(|i| body.block_at(i)) {
            if self.blocks.contains_key(&block) || is_reached(body, block) {
                differ("block", block, self.blocks.get(&block), &BlockRow::of(body, block))?;
            }
        }
        for region in body.owner_regions().chain(live.iter().flat_map(|op| body.regions(*op))) {
            differ("region", region, self.regions.get(&region), &body.blocks(region).collect())?;
        }
        if self.names != body.names {
            return Err(format!("names are {:?}, heard of {:?}", body.names, self.names));
        }
        for (&value, &ty) in &self.placeholders {
            let now = matches!(body.value_kind(value), ValueKind::Placeholder).then(|| body.ty(value));
            differ("placeholder", value, Some(&ty), &now.unwrap_or(ty))?;
        }
        let unheard = (0..body.op_slots()).any(|i| !self.ever.0.contains(&body.op_at(i)))
            || (0..body.block_slots()).any(|i| !self.ever.1.contains(&body.block_at(i)))
            || (0..body.value_slots()).any(|i| !self.ever.2.contains(&body.value_at(i)));
        if unheard { Err("something was made in silence".to_string()) } else { self.compare_uses(body) }
    }

    fn compare_uses(&self, body: &Body) -> Result<(), String> {
        let mut uses: FxHashMap<Value, FxHashSet<(Op, usize)>> = FxHashMap::default();
        for (op, row) in &self.ops {
            for (index, value) in row.operands.iter().enumerate() {
                uses.entry(*value).or_default().insert((*op, index));
            }
        }
        for value in (0..body.value_slots()).map(|i| body.value_at(i)) {
            let found: FxHashSet<(Op, usize)> = body.uses(value).map(|u| (u.owner, u.index)).collect();
            differ("uses of", value, Some(&uses.remove(&value).unwrap_or_default()), &found)?;
        }
        Ok(())
    }
}

/// True for a block that is in a region of something that is not erased.
fn is_reached(body: &Body, block: Block) -> bool {
    body.block_region(block).is_some_and(|region| body.region_parent(region).is_none_or(|op| body.is_live(op)))
}

fn differ<T: PartialEq + std::fmt::Debug>(
    what: &str,
    which: impl std::fmt::Debug,
    heard: Option<&T>,
    is: &T,
) -> Result<(), String> {
    if heard == Some(is) { Ok(()) } else { Err(format!("{what} {which:?} is {is:?}, heard of {heard:?}")) }
}

impl Listener for Mirror {
    fn op_inserted(&mut self, body: &Body, op: Op) {
        if self.hears() {
            self.know_op(body, op);
            body.regions(op).for_each(|region| {
                self.regions.entry(region).or_default();
            });
            self.ops.get_mut(&op).expect("known").block = None;
            self.place_op(body, op);
        }
    }
    fn op_erased(&mut self, body: &Body, op: Op) {
        if self.hears() {
            body.preorder_in(op).for_each(|inner| self.forget_op(body, inner));
            self.forget_op(body, op);
        }
    }
    fn op_modified(&mut self, body: &Body, op: Op) {
        if self.hears() {
            self.know_op(body, op);
        }
    }
    fn op_moved(&mut self, body: &Body, op: Op) {
        if self.hears() {
            self.place_op(body, op);
        }
    }
    fn block_created(&mut self, body: &Body, block: Block) {
        if self.hears() {
            self.ever.1.insert(block);
            self.blocks.insert(block, BlockRow::of(body, block));
        }
    }
    fn block_inserted(&mut self, body: &Body, block: Block) {
        if self.hears() {
            self.place_block(body, block);
        }
    }
    fn block_modified(&mut self, body: &Body, block: Block) {
        if self.hears() {
            let args = BlockRow::args_of(body, block);
            self.ever.2.extend(args.iter().map(|arg| arg.0));
            if let Some(row) = self.blocks.get_mut(&block) {
                let gone = std::mem::replace(&mut row.args, args.clone());
                gone.iter().filter(|old| args.iter().all(|arg| arg.0 != old.0)).for_each(|(value, ..)| {
                    self.names.remove(value);
                });
            }
        }
    }
    fn block_moved(&mut self, body: &Body, block: Block, from: Region) {
        if self.hears() {
            assert_eq!(self.blocks.get(&block).and_then(|row| row.region), Some(from));
            self.place_block(body, block);
        }
    }
    fn block_erased(&mut self, _: &Body, block: Block) {
        if self.hears() {
            self.forget_block(block);
        }
    }
    fn placeholder_created(&mut self, body: &Body, value: Value) {
        if self.hears() {
            self.ever.2.insert(value);
            self.placeholders.insert(value, body.ty(value));
        }
    }
    fn value_named(&mut self, body: &Body, value: Value) {
        if self.hears() {
            match body.value_name(value) {
                Some(name) => self.names.insert(value, name),
                None => self.names.remove(&value),
            };
        }
    }
}
