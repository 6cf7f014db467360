//! Patterns of `cf.switch`.

use sutura_ir::interfaces::BranchOp as _;
use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Block, Op, OpRef, Rewriter, Value};

use super::{edges_to, replace_by_branch};
use crate::cf::ops::SwitchOp;
use crate::switch::{SwitchSuccessors, case_values};

impl Canonicalize for SwitchOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<SwitchOp<'_>>("branch_on_constant_flag", branch_on_constant_flag);
        set.add::<SwitchOp<'_>>("cases_like_default", cases_like_default);
        set.add::<SwitchOp<'_>>("switch_behind_switch", switch_behind_switch);
    }
}

/// A block with what is passed to it.
#[derive(Clone, PartialEq, Eq)]
struct Target {
    block: Block,
    values: Vec<Value>,
}

/// What a switch says.
struct Parts {
    flag: Value,
    default: Target,
    cases: Vec<(i64, Target)>,
}

impl Parts {
    fn of(op: OpRef<'_>) -> Option<Self> {
        let flag = op.as_::<SwitchOp<'_>>()?.flag();
        let target = |index: usize| {
            let values = SwitchSuccessors.successor_operands(op, index).map(|i| op.operand(i)).collect();
            Target { block: op.successors()[index], values }
        };
        let cases = case_values(op).into_iter().enumerate().map(|(i, value)| (value, target(i + 1))).collect();
        Some(Self { flag, default: target(0), cases })
    }

    /// Where it goes when the flag is `value`.
    fn taken(&self, value: i64) -> &Target {
        self.cases.iter().find(|(case, _)| *case == value).map_or(&self.default, |(_, target)| target)
    }

    /// Puts a switch that says this, or a branch where there are no cases, in the place of `op`.
    fn replace(self, op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
        if self.cases.is_empty() {
            return replace_by_branch(op, rw, self.default.block, &self.default.values);
        }
        let (cx, loc, ty) = (rw.cx(), rw.body().loc(op), rw.body().ty(self.flag));
        let mask = crate::constant::mask(cx.bit_width(ty)?);
        let words: Vec<u64> = self.cases.iter().map(|(value, _)| *value as u64 & mask).collect();
        let numbers = cx.dense_attr(cx.vector_type(&[words.len() as i64], ty), &words)?;
        let sizes: Vec<i32> = self.cases.iter().map(|(_, target)| target.values.len() as i32).collect();
        let blocks: Vec<Block> = self.cases.iter().map(|(_, target)| target.block).collect();
        let values: Vec<Value> = self.cases.into_iter().flat_map(|(_, target)| target.values).collect();
        let Target { block, values: default } = self.default;
        rw.set_before(op);
        SwitchOp::build(rw, loc, self.flag, &default, &values, Some(numbers), &sizes, block, &blocks);
        rw.erase_op(op);
        Some(())
    }
}

/// A switch on a constant to a branch.
fn branch_on_constant_flag(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(rw.op_ref(op))?;
    let found = rw.op_ref(op).constant(parts.flag).and_then(|flag| rw.cx().as_int(flag));
    let target = parts.taken(rw.require(op, found, "the flag is no constant")?).clone();
    replace_by_branch(op, rw, target.block, &target.values)
}

/// Cases that do what the default does go.
fn cases_like_default(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let mut parts = Parts::of(rw.op_ref(op))?;
    let before = parts.cases.len();
    parts.cases.retain(|(_, target)| *target != parts.default);
    let fewer = (parts.cases.len() < before || before == 0).then_some(());
    rw.require(op, fewer, "each case does something else than the default")?;
    parts.replace(op, rw)
}

/// Behind a case, a switch on the same flag goes where that value goes; behind the default, it needs no cases for the
/// values that do not get there.
fn switch_behind_switch(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let outer = Parts::of(rw.op_ref(op))?;
    let values: Vec<Option<i64>> =
        std::iter::once(None).chain(outer.cases.iter().map(|(value, _)| Some(*value))).collect();
    for (&dest, value) in rw.body().successors(op).to_vec().iter().zip(values) {
        let Some(inner) = rw.body().last_op(dest).filter(|inner| *inner != op) else { continue };
        let Some(mut parts) = Parts::of(rw.op_ref(inner)).filter(|parts| parts.flag == outer.flag) else { continue };
        if edges_to(rw.body(), dest) != 1 {
            continue;
        }
        let Some(value) = value else {
            let before = parts.cases.len();
            parts.cases.retain(|(case, _)| outer.cases.iter().all(|(value, _)| value != case));
            if parts.cases.len() == before {
                continue;
            }
            return parts.replace(inner, rw);
        };
        let Target { block, values } = parts.taken(value).clone();
        return replace_by_branch(inner, rw, block, &values);
    }
    rw.notify_match_failure(op, || "no switch on the same flag is entered by this one alone".to_string())
}
