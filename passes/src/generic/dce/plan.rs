//! What of a body goes away.

use rustc_hash::FxHashSet;
use sutura_ir::analysis::dataflow::{Backward, BackwardSolution};
use sutura_ir::analysis::effects::would_be_trivially_dead;
use sutura_ir::body::ValueKind;
use sutura_ir::interfaces::{BranchOp, RegionBranchOp, target_values};
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{Block, Body, Context, Op, OpRef, Region, RegionRef, Value};

/// Which values of a program something observable depends on.
pub(super) type Demanded = BackwardSolution<Demand>;

/// Whether something observable depends on a value.
#[derive(Default)]
pub(super) struct Demand;

impl Backward for Demand {
    const NAME: &'static str = "Demanded";

    type Fact = bool;

    fn join(&self, fact: &mut bool, other: &bool) -> bool {
        let more = *other && !*fact;
        *fact |= *other;
        more
    }

    fn escaping(&self) -> bool {
        true
    }

    fn transfer(&self, op: OpRef<'_>, results: &[bool]) -> SmallVec<[bool; 4]> {
        let needed = results.contains(&true) || !would_be_trivially_dead(op);
        SmallVec::from_elem(needed, op.num_operands())
    }

    fn crosses_calls(&self) -> bool {
        false
    }
}

/// The changes to one body.
#[derive(Default)]
pub(super) struct Plan {
    /// Block arguments that go away.
    pub(super) args: FxHashSet<Value>,
    /// Blocks that have some.
    pub(super) blocks: Vec<Block>,
    /// Branches to them.
    pub(super) branches: Vec<Op>,
    /// Operands of terminators, by number, that pass another value to what is not needed.
    pub(super) carried: Vec<(Op, usize, Value)>,
}

impl Plan {
    pub(super) fn new(cx: &Context, body: &Body, is_needed: &dyn Fn(Value) -> bool) -> Self {
        let mut plan = Self::default();
        let mut kept = Kept { body, pending: Vec::new(), seen: FxHashSet::default() };
        for op in body.preorder() {
            plan.carry(OpRef::new(cx, body, op), is_needed, &mut kept);
        }
        plan.choose_args(cx, body, is_needed);
        kept.close(cx, is_needed);
        plan.args.retain(|arg| !kept.seen.contains(arg));
        let args = &plan.args;
        plan.blocks.retain(|block| body.block_args(*block).iter().any(|a| args.contains(a)));
        plan
    }

    /// Values that are not needed but handed to the regions or results of `op` are replaced or stay.
    fn carry(&mut self, op: OpRef<'_>, is_needed: &dyn Fn(Value) -> bool, kept: &mut Kept<'_>) {
        let Some(branch) = op.interface::<dyn RegionBranchOp>().filter(|_| op.body.nested(op.op).is_none()) else {
            return;
        };
        // What the op takes stays as long as it does.
        kept.pending.extend(op.operands().filter(|_| !would_be_trivially_dead(op) || op.results().any(is_needed)));
        for (index, region) in op.regions().enumerate() {
            for end in region.blocks().filter_map(|b| b.terminator()).filter(|t| t.successors().is_empty()) {
                let nothing: SmallVec<[_; 4]> = end.operands().map(|_| None).collect();
                let mut inputs: Vec<Vec<Value>> = vec![Vec::new(); end.num_operands()];
                for target in branch.after(op, index, end, &nothing) {
                    let values = target_values(op, target);
                    let values = values.get(branch.inputs(op, target)).unwrap_or_default();
                    for (operand, value) in branch.passed_operands(op, end, target).zip(values) {
                        inputs[operand].push(*value);
                    }
                }
                for (operand, inputs) in inputs.iter().enumerate().filter(|(_, i)| !i.is_empty()) {
                    if inputs.iter().any(|v| is_needed(*v)) {
                        continue;
                    }
                    let value = end.operand(operand);
                    let own = entry_args(region).iter().find(|a| inputs.contains(a) && op.ty(**a) == op.ty(value));
                    match own {
                        Some(arg) if *arg != value => self.carried.push((end.op, operand, *arg)),
                        Some(_) => {}
                        None => kept.pending.push(value),
                    }
                }
            }
        }
    }

    /// Chooses the block arguments that are not needed, where all branches to the block can do without them.
    fn choose_args(&mut self, cx: &Context, body: &Body, is_needed: &dyn Fn(Value) -> bool) {
        let in_ops = body.preorder().flat_map(|op| body.regions(op));
        let regions: Vec<Region> = body.owner_regions().chain(in_ops).collect();
        let mut fixed: FxHashSet<Value> = FxHashSet::default();
        for region in regions {
            let Some(entry) = body.region_entry(region) else { continue };
            fixed.extend(body.block_args(entry));
            for block in body.blocks(region) {
                self.blocks.extend((block != entry).then_some(block));
                let Some(branch) = body.last_op(block).filter(|op| !body.successors(*op).is_empty()) else { continue };
                let op = OpRef::new(cx, body, branch);
                let interface = op.interface::<dyn BranchOp>();
                for (index, target) in op.successors().iter().enumerate() {
                    let args = body.block_args(*target);
                    let passed = interface.map_or(0, |i| i.successor_operands(op, index).len());
                    fixed.extend(&args[..args.len().saturating_sub(passed)]);
                }
                self.branches.extend(interface.map(|_| branch));
            }
        }
        let args = self.blocks.iter().flat_map(|b| body.block_args(*b)).copied();
        self.args = args.filter(|arg| !fixed.contains(arg) && !is_needed(*arg)).collect();
    }
}

fn entry_args(region: RegionRef<'_>) -> &[Value] {
    region.entry().map_or(&[], |block| block.args())
}

/// Values that something which stays refers to, needed or not.
struct Kept<'b> {
    body: &'b Body,
    pending: Vec<Value>,
    seen: FxHashSet<Value>,
}

impl Kept<'_> {
    /// Adds all that the values are made of. What is needed stays anyway, with all that it is made of.
    fn close(&mut self, cx: &Context, is_needed: &dyn Fn(Value) -> bool) {
        while let Some(value) = self.pending.pop() {
            if is_needed(value) || !self.seen.insert(value) {
                continue;
            }
            match self.body.value_kind(value) {
                ValueKind::Result(op, _) => {
                    let inside = std::iter::once(op).chain(self.body.preorder_in(op));
                    self.pending.extend(inside.flat_map(|op| self.body.operands(op)));
                }
                ValueKind::Arg(block, index) => self.pending.extend(incoming(cx, self.body, block, index as usize)),
                ValueKind::Placeholder => {}
            }
        }
    }
}

/// What branches pass to an argument.
fn incoming(cx: &Context, body: &Body, block: Block, index: usize) -> Vec<Value> {
    let Some(region) = body.block_region(block) else { return Vec::new() };
    let from_end = body.block_args(block).len() - index;
    let mut values = Vec::new();
    for branch in body.blocks(region).filter_map(|b| body.last_op(b)) {
        let op = OpRef::new(cx, body, branch);
        let Some(interface) = op.interface::<dyn BranchOp>() else { continue };
        for successor in (0..op.successors().len()).filter(|s| op.successors()[*s] == block) {
            let operands = interface.successor_operands(op, successor);
            values.extend((from_end <= operands.len()).then(|| op.operand(operands.end - from_end)));
        }
    }
    values
}
