//! The body of an isolated operation: dense tables of operations, blocks, regions and values, addressed by handles.
//!
//! Every op that is isolated from above owns a `Body`; an op that is not keeps its regions in the body around it. So
//! `&mut Body` reaches an isolated op's inside and nothing else, and sibling bodies can be worked on in parallel.
//!
//! Slots are not reused: a handle of an erased entity never comes to mean another one. Debug
//! builds stamp handles with their body and check it at each access.

mod copy;
mod data;
mod edit;
mod editor;
#[cfg(test)]
mod listener_tests;
#[cfg(test)]
mod mirror;
mod uses;
mod walk;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use crate::asm::TextInfo;
use crate::attrs::Attr;
use crate::context::{Context, Ident};
use crate::location::Loc;
use crate::registry::OpName;
use crate::types::Type;
use crate::work::Counter;
pub(crate) use data::{BlockData, OpData, RegionData, UseData, ValueData, ValueDef};
pub use data::{OpHeader, ValueKind};
pub(crate) use editor::Editor;
pub use uses::{Use, Uses};
pub use walk::PreOrder;

// Handles have no order: that of their numbers is the order of creation, which says nothing of the program.
macro_rules! body_handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name {
            raw: std::num::NonZeroU32,
            #[cfg(debug_assertions)]
            tag: u32,
        }

        impl $name {
            fn new(index: usize, _tag: u32) -> Self {
                let raw = u32::try_from(index + 1).ok().and_then(std::num::NonZeroU32::new);
                Self {
                    raw: raw.expect("a body holds at most 2^32 - 2 entities of a kind"),
                    #[cfg(debug_assertions)]
                    tag: _tag,
                }
            }

            /// Index in the body's table; usable as an index into side tables.
            pub fn index(self) -> usize {
                self.raw.get() as usize - 1
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.index())
            }
        }
    )*};
}
body_handles! {
    /// An operation of a body.
    Op;
    /// A block of a body.
    Block;
    /// A region of a body.
    Region;
    /// A value of a body: an op's result or a block's argument.
    Value;
}

/// Tables of one isolated region tree. See the module documentation.
#[derive(Debug)]
pub struct Body {
    /// See [`Body::family`].
    tag: u32,
    /// See [`Body::id`].
    id: u64,
    ops: Vec<OpData>,
    blocks: Vec<BlockData>,
    regions: Vec<RegionData>,
    values: Vec<ValueData>,
    uses: Vec<UseData>,
    /// Successor blocks of all ops.
    successors: Vec<Block>,
    /// Names that values had in the text, where these are not numbers.
    names: FxHashMap<Value, Ident>,
    /// Regions of the op that owns the body are the first of the table.
    n_owner_regions: u32,
    n_live_ops: usize,
    /// See [`Body::epoch`].
    epoch: u64,
}

impl Default for Body {
    fn default() -> Self {
        Self::new(0)
    }
}

static NEXT_TAG: AtomicU32 = AtomicU32::new(1);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A number for [`Body::id`].
fn new_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl Body {
    /// The body of an op with `n_regions` regions, all empty.
    pub fn new(n_regions: usize) -> Self {
        let mut body = Self {
            tag: NEXT_TAG.fetch_add(1, Ordering::Relaxed),
            id: new_id(),
            ops: Vec::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            values: Vec::new(),
            uses: Vec::new(),
            successors: Vec::new(),
            names: FxHashMap::default(),
            n_owner_regions: n_regions as u32,
            n_live_ops: 0,
            epoch: 0,
        };
        for _ in 0..n_regions {
            body.push_region(None);
        }
        body
    }

    // ---- tables

    /// A number that no other body of the process has, nor a copy of this one, for what is known of the body and outlives
    /// a borrow. It says nothing about order.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// A number that a body shares with its copies, and with no others: where it is the same, handles mean the same until
    /// one of them changes. For names and places that a text gave to handles; what is computed of a body is known by
    /// [`Body::id`].
    pub fn family(&self) -> u32 {
        self.tag
    }

    /// A number that grows with each change of the body; changes of nested bodies that were not made through an editor of
    /// this one do not count.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    fn data(&self, op: Op) -> &OpData {
        #[cfg(debug_assertions)]
        debug_assert_eq!(op.tag, self.tag, "{op:?} belongs to another body");
        &self.ops[op.index()]
    }

    fn data_mut(&mut self, op: Op) -> &mut OpData {
        self.epoch += 1;
        self.slot_mut(op)
    }

    /// As `data_mut`, for what is no change of this body.
    fn slot_mut(&mut self, op: Op) -> &mut OpData {
        #[cfg(debug_assertions)]
        debug_assert_eq!(op.tag, self.tag, "{op:?} belongs to another body");
        &mut self.ops[op.index()]
    }

    fn block_data(&self, block: Block) -> &BlockData {
        #[cfg(debug_assertions)]
        debug_assert_eq!(block.tag, self.tag, "{block:?} belongs to another body");
        &self.blocks[block.index()]
    }

    fn block_mut(&mut self, block: Block) -> &mut BlockData {
        self.epoch += 1;
        #[cfg(debug_assertions)]
        debug_assert_eq!(block.tag, self.tag, "{block:?} belongs to another body");
        &mut self.blocks[block.index()]
    }

    fn region_data(&self, region: Region) -> &RegionData {
        #[cfg(debug_assertions)]
        debug_assert_eq!(region.tag, self.tag, "{region:?} belongs to another body");
        &self.regions[region.index()]
    }

    fn region_mut(&mut self, region: Region) -> &mut RegionData {
        self.epoch += 1;
        #[cfg(debug_assertions)]
        debug_assert_eq!(region.tag, self.tag, "{region:?} belongs to another body");
        &mut self.regions[region.index()]
    }

    fn value_data(&self, value: Value) -> &ValueData {
        #[cfg(debug_assertions)]
        debug_assert_eq!(value.tag, self.tag, "{value:?} belongs to another body");
        &self.values[value.index()]
    }

    fn value_mut(&mut self, value: Value) -> &mut ValueData {
        self.epoch += 1;
        #[cfg(debug_assertions)]
        debug_assert_eq!(value.tag, self.tag, "{value:?} belongs to another body");
        &mut self.values[value.index()]
    }

    fn op_at(&self, index: usize) -> Op {
        Op::new(index, self.tag)
    }

    /// The region at `index` of the table, for side tables that store indices.
    pub(crate) fn region_at(&self, index: usize) -> Region {
        Region::new(index, self.tag)
    }

    /// The block at `index` of the table, for side tables that store indices.
    pub(crate) fn block_at(&self, index: usize) -> Block {
        Block::new(index, self.tag)
    }

    fn value_at(&self, index: usize) -> Value {
        Value::new(index, self.tag)
    }

    /// Number of slots in the table of operations, erased ones included: the size of a side table indexed by [`Op`].
    pub fn op_slots(&self) -> usize {
        self.ops.len()
    }

    /// Number of slots in the table of values: the size of a side table indexed by [`Value`].
    pub fn value_slots(&self) -> usize {
        self.values.len()
    }

    /// Number of slots in the table of blocks: the size of a side table indexed by [`Block`].
    pub fn block_slots(&self) -> usize {
        self.blocks.len()
    }

    /// Number of slots in the table of regions: the size of a side table indexed by [`Region`].
    pub fn region_slots(&self) -> usize {
        self.regions.len()
    }

    /// Number of operations that are not erased, without those in nested bodies.
    pub fn op_count(&self) -> usize {
        self.n_live_ops
    }

    // ---- regions

    /// The regions of the op that owns the body.
    pub fn owner_regions(&self) -> impl ExactSizeIterator<Item = Region> + DoubleEndedIterator + Clone + '_ {
        (0..self.n_owner_regions as usize).map(|i| self.region_at(i))
    }

    /// The only region of the op that owns the body.
    ///
    /// # Panics
    /// When it has none.
    pub fn region(&self) -> Region {
        assert!(self.n_owner_regions > 0, "the op has no region");
        self.region_at(0)
    }

    /// Entry block of the first region of the op that owns the body.
    pub fn entry_block(&self) -> Option<Block> {
        self.owner_regions().next().and_then(|r| self.region_entry(r))
    }

    /// The region `offset` places after `first` among the regions of one op.
    pub(crate) fn region_after(&self, first: Region, offset: usize) -> Region {
        self.region_at(first.index() + offset)
    }

    /// The op of this body that holds the region; `None` for the owner's regions.
    pub fn region_parent(&self, region: Region) -> Option<Op> {
        self.region_data(region).parent
    }

    /// First block of a region.
    pub fn region_entry(&self, region: Region) -> Option<Block> {
        self.region_data(region).first
    }

    /// Last block of a region.
    pub fn region_last(&self, region: Region) -> Option<Block> {
        self.region_data(region).last
    }

    /// Blocks of a region, in order.
    pub fn blocks(&self, region: Region) -> impl Iterator<Item = Block> + '_ {
        std::iter::successors(self.region_data(region).first, |b| self.block_data(*b).next)
    }

    // ---- blocks

    /// The region that holds the block.
    pub fn block_region(&self, block: Block) -> Option<Region> {
        self.block_data(block).region
    }

    /// The op of this body that holds the block; `None` in the owner's regions.
    pub fn block_parent(&self, block: Block) -> Option<Op> {
        self.block_region(block).and_then(|r| self.region_parent(r))
    }

    /// Arguments of a block.
    pub fn block_args(&self, block: Block) -> &[Value] {
        &self.block_data(block).args
    }

    /// First op of a block.
    pub fn first_op(&self, block: Block) -> Option<Op> {
        self.block_data(block).first
    }

    /// Last op of a block.
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.block_data(block).last
    }

    /// Successors of the last op of a block.
    pub fn block_successors(&self, block: Block) -> &[Block] {
        self.last_op(block).map_or(&[], |op| self.successors(op))
    }

    /// The block after this one in its region.
    pub fn next_block(&self, block: Block) -> Option<Block> {
        self.block_data(block).next
    }

    /// The block before this one in its region.
    pub fn prev_block(&self, block: Block) -> Option<Block> {
        self.block_data(block).prev
    }

    /// Operations of a block, in order.
    pub fn ops(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        std::iter::successors(self.block_data(block).first, |o| self.data(*o).next)
    }

    // ---- operations

    /// True for an op that has not been erased.
    pub fn is_live(&self, op: Op) -> bool {
        self.data(op).live
    }

    /// Name of an op.
    pub fn name(&self, op: Op) -> OpName {
        self.data(op).header.name
    }

    /// Name, location and attributes of an op.
    pub fn header(&self, op: Op) -> &OpHeader {
        &self.data(op).header
    }

    /// Location of an op.
    pub fn loc(&self, op: Op) -> Loc {
        self.data(op).header.loc
    }

    /// Dictionary of an op's inherent attributes.
    pub fn props(&self, op: Op) -> Attr {
        self.data(op).header.props
    }

    /// Dictionary of an op's discardable attributes.
    pub fn attrs(&self, op: Op) -> Attr {
        self.data(op).header.attrs
    }

    /// The inherent attribute `name`.
    pub fn prop(&self, cx: &Context, op: Op, name: &str) -> Option<Attr> {
        cx.entry(self.props(op), cx.ident(name))
    }

    /// The block that holds an op.
    pub fn op_block(&self, op: Op) -> Option<Block> {
        self.data(op).block
    }

    /// The op of this body around an op; `None` at the top of the owner's regions.
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.op_block(op).and_then(|b| self.block_parent(b))
    }

    /// The op after this one in its block.
    pub fn next_op(&self, op: Op) -> Option<Op> {
        self.data(op).next
    }

    /// The op before this one in its block.
    pub fn prev_op(&self, op: Op) -> Option<Op> {
        self.data(op).prev
    }

    /// True when `a` stands before `b` in the same block; walks the block from `a`.
    pub fn is_before_in_block(&self, a: Op, b: Op) -> bool {
        std::iter::successors(self.next_op(a), |o| self.next_op(*o)).any(|o| o == b)
    }

    /// Number of operands.
    pub fn num_operands(&self, op: Op) -> usize {
        self.data(op).n_operands as usize
    }

    /// Operand `index`.
    pub fn operand(&self, op: Op, index: usize) -> Value {
        self.operand_uses(op)[index].value
    }

    /// Operands of an op.
    pub fn operands(&self, op: Op) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + '_ {
        self.operand_uses(op).iter().map(|u| u.value)
    }

    /// Number of results.
    pub fn num_results(&self, op: Op) -> usize {
        self.data(op).n_results as usize
    }

    /// Result `index`.
    pub fn result(&self, op: Op, index: usize) -> Value {
        let data = self.data(op);
        assert!(index < data.n_results as usize, "result {index} of an op with {}", data.n_results);
        self.value_at(data.first_result as usize + index)
    }

    /// Results of an op.
    pub fn results(&self, op: Op) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + '_ {
        let data = self.data(op);
        let first = data.first_result as usize;
        (first..first + data.n_results as usize).map(|i| self.value_at(i))
    }

    /// Successor blocks of an op.
    pub fn successors(&self, op: Op) -> &[Block] {
        let data = self.data(op);
        &self.successors[data.first_successor as usize..][..data.n_successors as usize]
    }

    /// Regions that an op keeps in this body; none for an isolated op, see [`Body::nested`].
    pub fn regions(&self, op: Op) -> impl ExactSizeIterator<Item = Region> + DoubleEndedIterator + Clone + '_ {
        let data = self.data(op);
        let first = data.first_region as usize;
        (first..first + data.n_regions as usize).map(|i| self.region_at(i))
    }

    /// The body that an isolated op owns.
    pub fn nested(&self, op: Op) -> Option<&Body> {
        self.data(op).body.as_deref()
    }

    // ---- values

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.value_data(value).ty
    }

    /// What defines a value.
    pub fn value_kind(&self, value: Value) -> ValueKind {
        self.value_data(value).kind()
    }

    /// The op that defines a value; `None` for a block argument.
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.value_kind(value) {
            ValueKind::Result(op, _) => Some(op),
            _ => None,
        }
    }

    /// The block in which a value is defined.
    pub fn value_block(&self, value: Value) -> Option<Block> {
        match self.value_kind(value) {
            ValueKind::Result(op, _) => self.op_block(op),
            ValueKind::Arg(block, _) => Some(block),
            ValueKind::Placeholder => None,
        }
    }

    /// True when a value of the body has a name.
    pub fn has_value_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The names of all values, in no order.
    pub(crate) fn value_names(&self) -> impl Iterator<Item = Ident> {
        self.names.values().copied()
    }

    /// Name that a value had in the text, without `%`.
    pub fn value_name(&self, value: Value) -> Option<Ident> {
        self.names.get(&value).copied()
    }

    /// Location of the op or block argument that defines a value.
    pub fn value_loc(&self, value: Value) -> Loc {
        match self.value_kind(value) {
            ValueKind::Result(op, _) => self.loc(op),
            ValueKind::Arg(block, index) => {
                self.block_data(block).arg_locs.get(index as usize).copied().unwrap_or(Loc::UNKNOWN)
            }
            ValueKind::Placeholder => Loc::UNKNOWN,
        }
    }
}

/// A whole program: the top-level op, `builtin.module` as a rule.
#[derive(Clone, Debug)]
pub struct Module {
    /// One region with one block that holds the top-level op and nothing else.
    body: Body,
    op: Op,
    text: TextInfo,
}

impl Module {
    /// An empty `builtin.module`.
    pub fn new(cx: &Context, loc: Loc) -> Self {
        Self::with_op(cx, loc, cx.op_name("builtin.module"), Body::with_block(1))
    }

    /// A program whose top-level op is called `name` and owns `inside`.
    pub fn with_op(_cx: &Context, loc: Loc, name: OpName, inside: Body) -> Self {
        let mut body = Body::with_block(1);
        let block = body.entry_block().expect("made with a block");
        let header = OpHeader { name, loc, props: Attr::EMPTY_DICT, attrs: Attr::EMPTY_DICT };
        let op = body.push_isolated(header, inside);
        body.append_op(block, op);
        Self { body, op, text: TextInfo::default() }
    }

    /// Wraps a body whose entry block holds exactly one op, which owns a body.
    pub fn from_root(body: Body) -> Option<Self> {
        let block = body.entry_block()?;
        let op = body.first_op(block)?;
        (body.next_op(op).is_none() && body.nested(op).is_some()).then(|| Self { body, op, text: TextInfo::default() })
    }

    /// The body around the top-level op.
    pub fn root(&self) -> &Body {
        &self.body
    }

    /// The body around the top-level op.
    pub fn root_mut(&mut self) -> &mut Body {
        &mut self.body
    }

    /// What the text said besides operations.
    pub fn text(&self) -> &TextInfo {
        &self.text
    }

    /// What the text said besides operations.
    pub fn text_mut(&mut self) -> &mut TextInfo {
        &mut self.text
    }

    /// The top-level op.
    pub fn op(&self) -> Op {
        self.op
    }

    /// View of the top-level op.
    pub fn op_ref<'a>(&'a self, cx: &'a Context) -> crate::op_ref::OpRef<'a> {
        crate::op_ref::OpRef::new(cx, &self.body, self.op)
    }

    /// The body that the top-level op owns.
    pub fn body(&self) -> &Body {
        self.body.nested(self.op).expect("the top-level op is isolated")
    }

    /// Header and body of the top-level op, for changes.
    pub fn parts_mut(&mut self) -> (&mut OpHeader, &mut Body) {
        self.body.isolated_parts_mut(self.op).expect("the top-level op is isolated")
    }

    /// The body that the top-level op owns.
    pub fn body_mut(&mut self) -> &mut Body {
        self.body.nested_mut(self.op).expect("the top-level op is isolated")
    }
}

/// Counted when a body goes: slots are not reused, so it has one for each op that it ever held.
static OPS_MADE: Counter = Counter::new("ops made");

impl Drop for Body {
    /// Takes nested bodies apart one by one: their depth costs no stack.
    fn drop(&mut self) {
        OPS_MADE.add(self.ops.len() as u64);
        let mut pending: Vec<Box<Body>> = self.ops.iter_mut().filter_map(|op| op.body.take()).collect();
        while let Some(mut body) = pending.pop() {
            pending.extend(body.ops.iter_mut().filter_map(|op| op.body.take()));
        }
    }
}
