//! `graph-property-rewrite`: algebra on tensors, where it saves operations or bytes and the policy of arithmetic allows it.
//!
//! Numbers are followed through scalar bodies and through the elementwise ops that made what they read (`expr`), so that a
//! rule sees `a * b + a * c` whether it is one op or three. After the property rewriting of DNNFusion (PLDI'21), with a
//! price for both sides (`price`): sizes are symbolic, so a rewrite has to pay at all of them.

mod activations;
mod emit;
mod expr;
mod price;
mod reduction;
mod rules;
#[cfg(test)]
mod tests;

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::{ComputeForm, drop_inputs};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::op_def::Traits;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Block, BlockRef, Body, Context, Loc, Op, OpRef, Rewriter};

use crate::functions::{computes, of_each_function};

use emit::emit;
pub(crate) use emit::{Grown, Inputs};
use expr::{Kind, Reader};
pub(crate) use expr::{points, substitute};
use price::{Change, Gone};
use reduction::Hoist;
pub(crate) use rules::REORDER;

/// `graph-property-rewrite`
pub static GRAPH_PROPERTY_REWRITE: PassInfo = PassInfo {
    name: "GraphPropertyRewrite",
    argument: "graph-property-rewrite",
    summary: "Rewrite tensor operations by properties of arithmetic where that saves operations or bytes",
    description: "Rewrites scalar ops of `graph.compute`, seen through the elementwise ops that made what they read. Always, \
                  because every bit stays: `a + (-b) = a - b` and its like, `x / c = x * (1 / c)` for a power of two, \
                  `(x * c) * d = x * (c * d)` for powers of two from 1 on, and limits on limits, as \
                  `max(max(x, c), d) = max(x, max(c, d))`. With `fast-math`, or where all ops concerned have \
                  the flags: `a * b + a * c = a * (b + c)`, also for a difference, `(x * c) * d = x * (c * d)`, \
                  `exp(a) * exp(b) = exp(a + b)`, also for a quotient and `1 / exp(x)`, `(x + c) + d = x + (c + d)`, \
                  `(x * c + d) * e = x * (c * e) + d * e` and `sum(x * c) = sum(x) * c` for what does not depend on what is \
                  summed over, all with `reassoc` and `nsz`; `sqrt(x) * sqrt(x) = x` with `nnan` as well, \
                  `x / sqrt(x) = sqrt(x)` with `nnan` and `ninf`; `log(exp(x)) = x`, `exp(log(x)) = x` and \
                  `log(a) + log(b) = log(a * b)`, also for a difference, with these and `afn`; with `reassoc`, `nsz` and `afn` \
                  `tanh(log(1 + exp(x))) = n / (n + 2)` for `n = exp(x) * (exp(x) + 2)`, which is what mish is made of, and \
                  `2 / (1 + exp(-x)) - 1 = tanh(x / 2)`; `x / c = x * (1 / c)` and \
                  `x * (1 / y) = x / y` with `arcp`. A rewrite is made if neither operations, weighted by what they take, nor bytes, as if each op were \
                  a kernel, become more at any size, and one becomes less. What is left is said in remarks, with the reason.",
    anchor: Anchor::Any,
    options: &[OptionInfo {
        name: "fast-math",
        kind: OptionKind::List,
        default: "",
        help: "what is allowed besides what keeps every bit: `reassoc`, `nnan`, `ninf`, `nsz`, `arcp`, `contract`, `afn`, \
               or `fast` for all",
    }],
    statistics: &[StatisticInfo { name: "num-rewrites", description: "rewrites made" }],
    create,
};

/// Flags by their names, as the option takes them.
pub const FAST_MATH: [(&str, FastMathFlags); 8] = [
    ("reassoc", FastMathFlags::REASSOC),
    ("nnan", FastMathFlags::NNAN),
    ("ninf", FastMathFlags::NINF),
    ("nsz", FastMathFlags::NSZ),
    ("arcp", FastMathFlags::ARCP),
    ("contract", FastMathFlags::CONTRACT),
    ("afn", FastMathFlags::AFN),
    ("fast", FastMathFlags::ALL),
];

struct PropertyRewrite {
    allowed: FastMathFlags,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(PropertyRewrite { allowed: allowed_flags(options)? }))
}

/// The flags that the option `fast-math` gives.
pub(crate) fn allowed_flags(options: &PassOptions) -> Result<FastMathFlags, String> {
    let mut allowed = FastMathFlags::NONE;
    for word in options.list("fast-math") {
        let Some((_, flag)) = FAST_MATH.iter().find(|(name, _)| *name == word) else {
            let names = FAST_MATH.map(|(name, _)| name).join("`, `");
            return Err(format!("option `fast-math` takes flags out of `{names}`, not `{word}`"));
        };
        allowed = allowed.with(*flag);
    }
    Ok(allowed)
}

/// Names of the flags that are needed and not allowed.
pub(crate) fn missing_flags(needs: FastMathFlags, allowed: FastMathFlags) -> Vec<&'static str> {
    let missing = FAST_MATH.iter().filter(|(name, flag)| *name != "fast" && needs.has(*flag) && !allowed.has(*flag));
    missing.map(|(name, _)| *name).collect()
}

/// Remarks of one function, and what was done.
#[derive(Default)]
struct Said {
    remarks: Vec<(RemarkKind, Loc, String)>,
    rewrites: u64,
}

impl Pass for PropertyRewrite {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, _, body| self.function(cx, body));
        let mut changed = false;
        for outcome in outcomes {
            let said = outcome.map_err(|diagnostic| run.diags.report(diagnostic))?;
            changed |= said.rewrites > 0;
            run.count("num-rewrites", said.rewrites);
            for (kind, loc, text) in said.remarks {
                match kind {
                    RemarkKind::Passed => run.passed(loc, text),
                    _ => run.missed(loc, text),
                }
            }
        }
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// What is found for an op.
enum Found {
    Applied(&'static str, Change),
    /// Rules that match and are not applied, each with the reason.
    Left(Vec<String>),
}

impl PropertyRewrite {
    /// Rewrites a function until nothing pays.
    ///
    /// # Errors
    /// With a diagnostic, when what is stated of sizes contradicts itself.
    fn function(&self, cx: &Context, body: &mut Body) -> Result<Said, Diagnostic> {
        let mut said = Said::default();
        let Some(entry) = body.entry_block() else { return Ok(said) };
        let facts = Facts::of_block(BlockRef { cx, body, block: entry });
        let facts = facts.map_err(|(op, contradiction)| op.error(contradiction))?;
        let mut rw = Rewriter::new(cx, body);
        loop {
            let before = said.rewrites;
            let mut left = Vec::new();
            let ops = computes(rw.cx(), rw.body(), entry);
            for op in ops {
                // One that nothing used may have gone with what another one needed no more.
                if !rw.body().is_live(op) {
                    continue;
                }
                let loc = rw.body().loc(op);
                loop {
                    match self.compute(&mut rw, op, &facts) {
                        Found::Applied(rule, Change { before, after }) => {
                            said.rewrites += 1;
                            let text = format!("{rule}: {before} become {after}");
                            said.remarks.push((RemarkKind::Passed, loc, text));
                            clean(&mut rw, entry, op);
                        }
                        Found::Left(reasons) => {
                            left.extend(reasons.into_iter().map(|text| (RemarkKind::Missed, loc, text)));
                            break;
                        }
                    }
                }
            }
            if said.rewrites == before {
                said.remarks.extend(left);
                return Ok(said);
            }
        }
    }

    /// Applies one rule to one op.
    fn compute(&self, rw: &mut Rewriter<'_>, op: Op, facts: &Facts) -> Found {
        let mut left = Vec::new();
        let view = OpRef::new(rw.cx(), rw.body(), op);
        let Some(form) = ComputeForm::of(view) else { return Found::Left(left) };
        let Some(all) = points(&form) else { return Found::Left(left) };
        let (block, loc) = (form.body.block, view.loc());
        // The last ops first: they have the longest expressions.
        let scalars: Vec<Op> = form.body.ops().map(|op| op.op).collect();
        for scalar in scalars.into_iter().rev() {
            let view = OpRef::new(rw.cx(), rw.body(), op);
            let Some(reader) = ComputeForm::of(view).and_then(Reader::new) else { break };
            let Some(value) = view.at(scalar).results().next() else { continue };
            let Some(expr) = reader.read(value).filter(|e| e.stored.is_none()) else { continue };
            let Kind::Op(name, args) = &expr.kind else { continue };
            for rewrite in rules::rewrites(view.cx, &expr) {
                let mut gone = Gone::default();
                gone.op(name, &all);
                gone.take_args(args);
                let Some(change) = Change::of(view, &gone, &[&rewrite.expr], &all, true) else { continue };
                if let Err(reason) = self.allows(rewrite.needs, rewrite.has).and_then(|()| change.pays(facts)) {
                    left.push(format!("{} is left: {reason}", rewrite.rule));
                    continue;
                }
                rw.set_before(scalar);
                let new = emit(rw, loc, &mut Grown { op, block }, &rewrite.expr);
                rw.replace_op(scalar, &[new]);
                return Found::Applied(rewrite.rule, change);
            }
        }
        let view = OpRef::new(rw.cx(), rw.body(), op);
        if let Some(hoist) = Hoist::of(view) {
            let pays = self.allows(reduction::NEEDS, hoist.has).and_then(|()| hoist.change.pays(facts));
            let done = pays.and_then(|()| hoist.apply(rw, op).ok_or_else(|| "its sizes are unknown".to_string()));
            match done {
                Ok(change) => return Found::Applied(reduction::RULE, change),
                Err(reason) => left.push(format!("{} is left: {reason}", reduction::RULE)),
            }
        }
        Found::Left(left)
    }

    /// Whether all that is needed is allowed, by the option or by the ops' own flags.
    fn allows(&self, needs: FastMathFlags, has: FastMathFlags) -> Result<(), String> {
        let allowed = self.allowed.with(has);
        if needs.is_none() || allowed.has(needs) {
            return Ok(());
        }
        Err(format!("it needs the fast-math flags `{}`", missing_flags(needs, allowed).join("`, `")))
    }
}

/// Removes scalar ops, inputs and ops that nothing uses any more.
pub(crate) fn clean(rw: &mut Rewriter<'_>, entry: Block, op: Op) {
    let block = ComputeForm::of(OpRef::new(rw.cx(), rw.body(), op)).map(|form| form.body.block);
    if let Some(block) = block {
        erase_dead(rw, block);
    }
    while drop_inputs(op, rw).is_some() {}
    erase_dead(rw, entry);
}

fn erase_dead(rw: &mut Rewriter<'_>, block: Block) {
    let ops: Vec<Op> = rw.body().ops(block).collect();
    for op in ops.into_iter().rev() {
        let view = OpRef::new(rw.cx(), rw.body(), op);
        let pure = view.has_trait(Traits::Pure) && !view.has_trait(Traits::Terminator);
        if pure && view.num_results() > 0 && view.results().all(|v| view.body.is_unused(v)) {
            rw.erase_op(op);
        }
    }
}
