//! `graph-operator-rewrite`: algebra on operators that have a name, by the laws that their declarations say.
//!
//! It runs before operators are expanded: what a softmax is need not be found again in its parts.

#[cfg(test)]
mod tests;

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::graph::operator::{Law, declared};
use sutura_dialects::graph::{ApplyOp, ComputeForm, IteratorKind, Operator, Operators, maps};
use sutura_ir::affine::AffineMap;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::op_def::Traits;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Body, Context, Loc, Op, OpRef, Rewriter, Value};

use crate::graph_property_rewrite::{allowed_flags, missing_flags};

/// `graph-operator-rewrite`
pub static GRAPH_OPERATOR_REWRITE: PassInfo = PassInfo {
    name: "GraphOperatorRewrite",
    argument: "graph-operator-rewrite",
    summary: "Rewrite operators that are applied by name by the laws that they declare",
    description: "Uses what `laws` of a `graph.operator` says. Always, because every bit stays: an idempotent operator of what it \
                  made itself, with the same attributes, is that (`sign(sign(x)) = sign(x)`), and an involution of what it made \
                  is what that was made of (`bitwise_not(bitwise_not(x)) = x`). With `fast-math` that has `reassoc`, `nnan` and \
                  `ninf`: what is added to, or subtracted from, the first input of a shift invariant operator and does not vary \
                  from its axis on, goes (`softmax(x + c) = softmax(x)`); sums round, and infinite ones have no difference. What \
                  is left because a flag is missing is said in remarks.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "fast-math",
        kind: OptionKind::List,
        default: "",
        help: "what is allowed besides what keeps every bit, as for `graph-property-rewrite`",
    }],
    statistics: &[StatisticInfo { name: "num-rewrites", description: "rewrites made" }],
    create: |options: &PassOptions| Ok(Box::new(OperatorRewrite { allowed: allowed_flags(options)? })),
};

/// What a shift that is left out needs.
const SHIFT: FastMathFlags = FastMathFlags::REASSOC.with(FastMathFlags::NNAN).with(FastMathFlags::NINF);

struct OperatorRewrite {
    allowed: FastMathFlags,
}

/// What was done and what was left, at which place.
#[derive(Default)]
struct Said {
    done: Vec<(Loc, String)>,
    left: Vec<(Loc, String)>,
}

impl Pass for OperatorRewrite {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut said = Said::default();
        self.table(run.cx, run.body, &mut said);
        let done = said.done.len() as u64;
        said.done.into_iter().for_each(|(loc, text)| run.passed(loc, text));
        said.left.into_iter().for_each(|(loc, text)| run.missed(loc, text));
        run.count("num-rewrites", done);
        Ok(PreservedAnalyses::unless(done > 0))
    }
}

/// A rewrite of an application.
enum Found {
    /// The application is this value.
    Is(Value),
    /// Its first input becomes this value.
    Reads(Value),
}

impl OperatorRewrite {
    /// Rewrites what is in a symbol table.
    fn table(&self, cx: &Context, table: &mut Body, said: &mut Said) {
        let operators = declared(cx, table);
        let ops: Vec<Op> = table.entry_block().into_iter().flat_map(|block| table.ops(block)).collect();
        for op in ops {
            let view = OpRef::new(cx, table, op);
            let is_table = view.has_trait(Traits::SymbolTable);
            let skip = view.symbol_name().is_some_and(|name| operators.contains_key(name));
            match table.nested_mut(op) {
                Some(inside) if is_table => self.table(cx, inside, said),
                Some(inside) if !skip => self.body(cx, inside, &operators, said),
                _ => {}
            }
        }
    }

    fn body(&self, cx: &Context, body: &mut Body, operators: &Operators, said: &mut Said) {
        let ops: Vec<Op> = body.preorder().collect();
        let mut rw = Rewriter::new(cx, body);
        for op in ops {
            // Each rewrite leaves a shorter program, so this ends.
            while rw.body().is_live(op) && self.apply(&mut rw, op, operators, said) {}
        }
    }

    /// Applies a law to one application; true if another may apply.
    fn apply(&self, rw: &mut Rewriter<'_>, op: Op, operators: &Operators, said: &mut Said) -> bool {
        let view = OpRef::new(rw.cx(), rw.body(), op);
        let Some(apply) = view.as_::<ApplyOp<'_>>() else { return false };
        let Some(operator) = operators.get(apply.callee()) else { return false };
        let name = operator.name.clone();
        let loc = view.loc();
        if let Some((law, value)) = repeated(view, operator) {
            let Some(before) = view.body.defining_op(view.operand(0)) else { return false };
            let text = match law {
                Law::Involution => format!("@{name} of @{name} is what it is applied to"),
                _ => format!("@{name} of @{name} is @{name}"),
            };
            said.done.push((loc, text));
            rewrite(rw, op, before, &Found::Is(value));
            return false;
        }
        let Some((before, value)) = shifted(view, operator) else { return false };
        let missing = missing_flags(SHIFT, self.allowed);
        if !missing.is_empty() {
            let text =
                format!("@{name} of a shifted tensor is left: it needs the fast-math flags `{}`", missing.join("`, `"));
            said.left.push((loc, text));
            return false;
        }
        said.done.push((loc, format!("@{name} of a shifted tensor is @{name} of the tensor")));
        rewrite(rw, op, before, &Found::Reads(value));
        true
    }
}

/// Makes a rewrite, and erases `before` where nothing needs it any more.
fn rewrite(rw: &mut Rewriter<'_>, op: Op, before: Op, found: &Found) {
    match found {
        Found::Is(value) => rw.replace_op(op, &[*value]),
        Found::Reads(value) => rw.set_operand(op, 0, *value),
    }
    let view = OpRef::new(rw.cx(), rw.body(), before);
    if view.results().all(|value| view.body.is_unused(value)) {
        rw.erase_op(before);
    }
}

/// What an application of an operator to what the same operator made is.
fn repeated(view: OpRef<'_>, operator: &Operator) -> Option<(Law, Value)> {
    let law = *operator.laws.iter().find(|law| [Law::Idempotent, Law::Involution].contains(law))?;
    let operand = view.operands().next()?;
    let inner = view.at(view.body.defining_op(operand)?);
    let same = inner.as_::<ApplyOp<'_>>().is_some_and(|apply| apply.callee() == operator.name)
        && inner.body.attrs(inner.op) == view.body.attrs(view.op);
    let value = if law == Law::Involution { inner.operand(0) } else { operand };
    let fits = same && view.ty(view.result(0)) == view.ty(value);
    fits.then_some((law, value))
}

/// The op that shifts the first input of a shift invariant operator, and what it shifts.
fn shifted(view: OpRef<'_>, operator: &Operator) -> Option<(Op, Value)> {
    let cx = view.cx;
    let operand = view.operands().next()?;
    let rank = cx.shape(view.ty(operand))?.len();
    let from = operator.shifted_from(cx, cx.entries(view.body.attrs(view.op)), rank)?;
    let shift = view.at(view.body.defining_op(operand)?);
    let form = ComputeForm::of(shift).filter(|form| form.result_maps.len() == 1 && form.iterators.len() == rank)?;
    let elementwise = form.iterators.iter().all(|kind| *kind == IteratorKind::Parallel)
        && is_identity(cx, &form, form.result_maps[0])
        && form.oob.iter().all(Option::is_none);
    let sum = form.body.terminator()?.operand(0);
    let sum = shift.at(shift.body.defining_op(sum)?);
    let commutes = match sum.name_str() {
        "arith.addf" => true,
        "arith.subf" => false,
        _ => return None,
    };
    if !elementwise || sum.body.op_block(sum.op) != Some(form.body.block) {
        return None;
    }
    let input = |value: Value| form.body.args().iter().position(|arg| *arg == value);
    let constant = |value: Value| shift.constant(value).is_some();
    let still = |value: Value| match input(value) {
        Some(i) => {
            !cx.map_results(form.input_maps[i]).iter().any(|e| (from..rank).any(|dim| maps::mentions(cx, *e, dim)))
        }
        None => constant(value),
    };
    let whole = |value: Value| {
        let tensor = input(value).filter(|i| is_identity(cx, &form, form.input_maps[*i])).map(|i| shift.operand(i))?;
        (shift.ty(tensor) == shift.ty(operand)).then_some(tensor)
    };
    let (a, b) = (sum.operand(0), sum.operand(1));
    let tensor = if still(b) { whole(a) } else { None };
    let tensor = tensor.or_else(|| if commutes && still(a) { whole(b) } else { None })?;
    Some((shift.op, tensor))
}

fn is_identity(cx: &Context, form: &ComputeForm<'_>, map: AffineMap) -> bool {
    let results = cx.map_results(map);
    results.len() == form.iterators.len()
        && results.iter().enumerate().all(|(i, expr)| maps::plain_dim(cx, *expr) == Some(i))
}
