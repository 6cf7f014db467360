//! `mem2reg`: memory that holds one value at a time becomes those values.

mod reaching;
mod uses;

use sutura_ir::analysis::{DominanceInfo, PreservedAnalyses};
use sutura_ir::interfaces::{BranchOp, MemorySlot, PromotableAllocation};
use sutura_ir::pass::{Anchor, BodyRun, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Block, Body, Context, Loc, Op, OpRef, Rewriter, Value};

use reaching::{Definition, Flow, Reaching};
use uses::{SlotUses, UseKind};

/// The pass.
pub static MEM2REG: PassInfo = PassInfo {
    name: "Mem2Reg",
    argument: "mem2reg",
    summary: "Promote memory slots into values",
    description: "Replaces loads from memory that holds a single value by what was stored there last, and takes the \
                  memory away. Where several stores may have been the last, the value becomes an argument of the \
                  block in which their paths meet. A load before any store gets what the allocating dialect says \
                  uninitialized memory holds. Memory whose address goes anywhere but to loads and stores of the whole \
                  value stays, as does memory that a nested region writes; a remark says why. Nested regions may read.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-promoted", description: "Number of memory slots promoted" },
        StatisticInfo { name: "num-block-args", description: "Number of block arguments made" },
        StatisticInfo { name: "num-kept", description: "Number of memory slots that stay" },
    ],
    create,
};

struct Mem2Reg;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(Mem2Reg))
}

impl Pass for Mem2Reg {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = run.for_each_body(promote_all);
        let promoted: u64 = outcomes.iter().map(|o| o.promoted).sum();
        run.count("num-promoted", promoted);
        run.count("num-block-args", outcomes.iter().map(|o| o.block_args).sum());
        run.count("num-kept", outcomes.iter().map(|o| o.kept.len() as u64).sum());
        for loc in outcomes.iter().flat_map(|o| &o.gone) {
            run.passed(*loc, "this memory is promoted to values");
        }
        for (loc, reason) in outcomes.into_iter().flat_map(|o| o.kept) {
            run.missed(loc, format!("this memory is not promoted: {reason}"));
        }
        Ok(PreservedAnalyses::unless(promoted > 0))
    }
}

#[derive(Default)]
struct Outcome {
    promoted: u64,
    block_args: u64,
    /// Where the slots stood that are values now.
    gone: Vec<Loc>,
    /// Slots that stay, with the reason.
    kept: Vec<(Loc, String)>,
}

fn promote_all(run: &mut BodyRun<'_>) -> Outcome {
    let (cx, body) = (run.cx, &*run.body);
    let mut outcome = Outcome::default();
    let mut slots: Vec<Op> = body.preorder().filter(|op| slot_of(OpRef::new(cx, body, *op)).is_some()).collect();
    if slots.is_empty() {
        return outcome;
    }
    // Promotion leaves blocks and the order of the other ops as they are, so that this stays true.
    let dominance = run.analysis::<DominanceInfo>();
    let body = &mut *run.body;
    let flow = Flow::new(body, &dominance);
    // A slot that holds the address of another keeps that one from being promoted until it is promoted itself.
    loop {
        let mut kept = Vec::new();
        let before = outcome.promoted;
        for alloc in std::mem::take(&mut slots) {
            let loc = body.loc(alloc);
            match promote(cx, body, &dominance, &flow, alloc) {
                Ok(block_args) => {
                    outcome.promoted += 1;
                    outcome.gone.push(loc);
                    outcome.block_args += block_args;
                }
                Err(reason) => {
                    kept.push((loc, reason));
                    slots.push(alloc);
                }
            }
        }
        if outcome.promoted == before || slots.is_empty() {
            outcome.kept = kept;
            return outcome;
        }
    }
}

fn slot_of(op: OpRef<'_>) -> Option<MemorySlot> {
    op.interface::<dyn PromotableAllocation>()?.slot(op)
}

/// Promotes the slot that `alloc` makes, and says how many block arguments that took. Nothing has changed after an
/// error.
fn promote(cx: &Context, body: &mut Body, dominance: &DominanceInfo, flow: &Flow, alloc: Op) -> Result<u64, String> {
    let slot = slot_of(OpRef::new(cx, body, alloc)).ok_or("it is no single value any more")?;
    let uses = SlotUses::gather(cx, body, dominance, alloc, slot)?;
    let reaching = Reaching::new(body, dominance, flow, alloc, &uses);
    check_branches(cx, body, flow, reaching.merges())?;
    let default = if reaching.needs_default() { Some(make_default(cx, body, alloc, slot)?) } else { None };
    Ok(rewrite(cx, body, flow, alloc, slot, &uses, &reaching, default))
}

/// All branches to blocks that get an argument can pass one.
fn check_branches(cx: &Context, body: &Body, flow: &Flow, merges: &[Block]) -> Result<(), String> {
    for (branch, _) in merges.iter().flat_map(|block| flow.predecessors(*block)) {
        let op = OpRef::new(cx, body, *branch);
        if op.interface::<dyn BranchOp>().is_none() {
            return Err(format!("'{}' cannot pass its value on", op.name_str()));
        }
    }
    Ok(())
}

fn make_default(cx: &Context, body: &mut Body, alloc: Op, slot: MemorySlot) -> Result<Value, String> {
    let interface = OpRef::new(cx, body, alloc).interface::<dyn PromotableAllocation>().expect("it makes a slot");
    let loc = body.loc(alloc);
    let mut rw = Rewriter::new(cx, body);
    rw.set_before(alloc);
    let value = interface.default_value(&mut rw, slot);
    let value = value.ok_or("it may be read before it is written, and there is no default value of its type")?;
    if let Some(op) = rw.body().defining_op(value) {
        rw.set_loc(op, loc);
    }
    Ok(value)
}

#[allow(clippy::too_many_arguments)]
fn rewrite(
    cx: &Context,
    body: &mut Body,
    flow: &Flow,
    alloc: Op,
    slot: MemorySlot,
    uses: &SlotUses,
    reaching: &Reaching,
    default: Option<Value>,
) -> u64 {
    let loc = body.loc(alloc);
    let mut rw = Rewriter::new(cx, body);
    let args: Vec<Value> = reaching.merges().iter().map(|block| rw.add_block_arg(*block, slot.elem, loc)).collect();
    let value_of = |definition: Definition| match reaching.resolve(definition) {
        Definition::Default => default.expect("made where it is needed"),
        Definition::Stored(value) => value,
        Definition::Merge(index) => args[index],
    };
    for block in reaching.merges() {
        for &(branch, successor) in flow.predecessors(*block) {
            let from = rw.body().op_block(branch).expect("a terminator is in a block");
            let value = value_of(reaching.at_end(from));
            let op = rw.op_ref(branch);
            let interface = op.interface::<dyn BranchOp>().expect("checked");
            let operands = interface.successor_operands(op, successor);
            let values: Vec<Value> = operands.map(|i| op.operand(i)).chain([value]).collect();
            interface.set_successor_operands(&mut rw, branch, successor, &values);
        }
    }
    for site in uses.all() {
        if let UseKind::Load(result) = site.kind {
            rw.replace_all_uses(result, value_of(reaching.at_load(result)));
        }
    }
    for site in uses.all() {
        rw.erase_op(site.op);
    }
    rw.erase_op(alloc);
    args.len() as u64
}
