//! What the ops of a body do with one slot.

use sutura_ir::analysis::DominanceInfo;
use sutura_ir::interfaces::{LoopLike, MemorySlot, PromotableOp, RegionBranchOp, SlotUse};
use sutura_ir::{Block, Body, Context, Op, OpRef, Region, Value};

/// What is done with a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UseKind {
    /// This result is what it holds.
    Load(Value),
    /// It holds this from here on.
    Store(Value),
    /// Nothing.
    Drop,
}

/// An op that uses a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) op: Op,
    pub(super) kind: UseKind,
    /// The block of the slot's region in which it happens.
    pub(super) block: Block,
    /// Its place in that block.
    position: u32,
}

/// All uses of one slot, those of a block together and in order.
pub(super) struct SlotUses(Vec<Use>);

impl SlotUses {
    /// Finds the uses, or says why one of them keeps the slot from being promoted.
    pub(super) fn gather(
        cx: &Context,
        body: &Body,
        dominance: &DominanceInfo,
        alloc: Op,
        slot: MemorySlot,
    ) -> Result<Self, String> {
        let own = body.op_block(alloc).ok_or("it is in no block")?;
        let region = body.block_region(own).ok_or("it is in no region")?;
        if !dominance.is_ordered(region) {
            return Err("the operations around it are not executed in order".to_string());
        }
        if !dominance.is_reachable(own) {
            return Err("its block is not reached".to_string());
        }
        let mut found: Vec<Use> = Vec::new();
        for site in body.uses(slot.pointer) {
            let op = OpRef::new(cx, body, site.owner);
            let kind = classify(op, slot)?;
            let at = ancestor_in(cx, body, op, region).map_err(|around| format!("it is used in '{around}'"))?;
            if at != op.op && matches!(kind, UseKind::Store(_)) {
                let around = OpRef::new(cx, body, at).name_str();
                return Err(format!("it is written in a region of '{around}'"));
            }
            let block = body.op_block(at).expect("it is in the region");
            if !dominance.is_reachable(block) {
                return Err("it is used in a block that is not reached".to_string());
            }
            found.push(Use { op: op.op, kind, block, position: dominance.position(at) });
        }
        found.sort_by_key(|u| (u.block.index(), u.position, dominance.position(u.op)));
        found.dedup_by_key(|u| u.op);
        Ok(Self(found))
    }

    pub(super) fn all(&self) -> &[Use] {
        &self.0
    }

    /// The uses in each block that has some.
    pub(super) fn by_block(&self) -> impl Iterator<Item = (Block, &[Use])> {
        self.0.chunk_by(|a, b| a.block == b.block).map(|uses| (uses[0].block, uses))
    }
}

fn classify(op: OpRef<'_>, slot: MemorySlot) -> Result<UseKind, String> {
    let name = op.name_str();
    let Some(interface) = op.interface::<dyn PromotableOp>() else { return Err(format!("'{name}' uses its address")) };
    let kind = interface.slot_use(op, slot).map_err(|reason| format!("'{name}' uses it: {reason}"))?;
    let kind = match kind {
        SlotUse::Load => UseKind::Load(op.result(0)),
        SlotUse::Store(value) => UseKind::Store(value),
        SlotUse::Drop => UseKind::Drop,
    };
    let used_results = op.results().skip(usize::from(matches!(kind, UseKind::Load(_))));
    if used_results.into_iter().any(|r| !op.body.is_unused(r)) {
        return Err(format!("a result of '{name}' is used"));
    }
    Ok(kind)
}

/// The op of `region` in which `op` lies. All ops in between run their regions while they are executed themselves;
/// the name of one of which that is not known otherwise.
fn ancestor_in<'a>(cx: &'a Context, body: &'a Body, op: OpRef<'a>, region: Region) -> Result<Op, &'a str> {
    let mut at = op.op;
    loop {
        if body.op_block(at).and_then(|b| body.block_region(b)) == Some(region) {
            return Ok(at);
        }
        at = body.parent_op(at).expect("an op that uses a value lies in the region of its definition");
        let around = OpRef::new(cx, body, at);
        let is_known =
            around.interface::<dyn RegionBranchOp>().is_some() || around.interface::<dyn LoopLike>().is_some();
        if !is_known {
            return Err(around.name_str());
        }
    }
}
