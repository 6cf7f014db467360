//! `sccp`: what is constant on every path that may be executed becomes a constant.

mod constants;

use sutura_ir::analysis::effects::is_trivially_dead;
use sutura_ir::analysis::{AliasAnalysis, PreservedAnalyses};
use sutura_ir::asm::print::attr_text;
use sutura_ir::body::ValueKind;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, Remarks, StatisticInfo};
use sutura_ir::rewrite::ConstantPool;
use sutura_ir::{Body, Context, Loc, Op, OpRef, Region, Rewriter, Traits, Value};

use constants::{ConstantFact, Constants, Known};

/// The pass.
pub static SCCP: PassInfo = PassInfo {
    name: "SCCP",
    argument: "sccp",
    summary: "Sparse Conditional Constant Propagation",
    description: "Assumes that values are constant and blocks are not executed until the opposite is proved, along \
                  branches, regions and calls: constants found that way replace the values, and operations that are \
                  dead then are erased. Branches stay, to be folded by `canonicalize`. On a symbol table, arguments \
                  and results of private functions take part if all that refers to them are calls.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-replaced", description: "Number of values replaced by constants" },
        StatisticInfo { name: "num-erased", description: "Number of dead operations erased" },
    ],
    create,
};

struct Sccp;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(Sccp))
}

impl Pass for Sccp {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let constants = run.analysis::<Constants>();
        let counts = run.for_each_body(|at| {
            let (found, epoch) = (constants_of(cx, at.body, &constants), at.body.epoch());
            let (replaced, erased) = replace(cx, at.body, &found, at.remarks);
            // Constants may have been moved for nothing.
            (replaced, erased, at.body.epoch() != epoch)
        });
        run.count("num-replaced", counts.iter().map(|c| c.0).sum());
        run.count("num-erased", counts.iter().map(|c| c.1).sum());
        // Branches stay.
        Ok(PreservedAnalyses::unless(counts.iter().any(|c| c.2)).and::<AliasAnalysis>())
    }
}

/// The constants of one body: values in the order of the text, by the block or op that defines them.
struct Found {
    values: Vec<(Value, Known)>,
    /// Ops all of whose results are constant, in the order of the text.
    ops: Vec<Op>,
    /// Where blocks begin that are never executed.
    dead: Vec<Loc>,
}

fn constants_of(cx: &Context, body: &Body, constants: &Constants) -> Found {
    let mut found = Found { values: Vec::new(), ops: Vec::new(), dead: Vec::new() };
    let constant = |value: Value| match constants.fact(body, value) {
        Some(ConstantFact::Known(known)) => Some(*known),
        _ => None,
    };
    let in_ops = body.preorder().flat_map(|op| body.regions(op));
    let regions: Vec<Region> = body.owner_regions().chain(in_ops).collect();
    for block in regions.into_iter().flat_map(|r| body.blocks(r)) {
        if !constants.is_live(body, block) {
            found.dead.extend(body.first_op(block).map(|op| body.loc(op)));
            continue;
        }
        let args = body.block_args(block).iter().filter(|v| !body.is_unused(**v));
        found.values.extend(args.filter_map(|v| Some((*v, constant(*v)?))));
        for op in body.ops(block) {
            let is_constant = body.name(op).traits(cx).has(Traits::ConstantLike);
            if body.num_results(op) == 0 || is_constant {
                continue;
            }
            let known = body.results(op).filter_map(|v| Some((v, constant(v)?)));
            let before = found.values.len();
            found.values.extend(known);
            if found.values.len() - before == body.num_results(op) {
                found.ops.push(op);
            }
        }
    }
    found
}

/// What is constant, in words.
fn called(cx: &Context, body: &Body, value: Value) -> String {
    match body.value_kind(value) {
        ValueKind::Result(op, _) if body.num_results(op) == 1 => {
            format!("the result of '{}'", body.name(op).as_str(cx))
        }
        ValueKind::Result(op, index) => format!("result #{index} of '{}'", body.name(op).as_str(cx)),
        ValueKind::Arg(_, index) => format!("block argument #{index}"),
        ValueKind::Placeholder => "a value".to_string(),
    }
}

/// Numbers of values replaced and ops erased.
fn replace(cx: &Context, body: &mut Body, found: &Found, remarks: &mut Remarks) -> (u64, u64) {
    for &loc in &found.dead {
        remarks.remark(loc, || "this block is never executed".to_string());
    }
    if found.values.is_empty() {
        return (0, 0);
    }
    let mut pool = ConstantPool::of(cx, body);
    let (mut replaced, mut erased) = (0, 0);
    for &(value, known) in &found.values {
        if body.is_unused(value) {
            continue;
        }
        let region = body.value_block(value).and_then(|b| body.block_region(b)).expect("the value is defined");
        let (loc, ty) = (body.value_loc(value), body.ty(value));
        let Some(constant) = pool.get(cx, body, region, cx.str(known.dialect), loc, (known.value, ty)) else {
            let text = || {
                let (what, dialect) = (called(cx, body, value), cx.str(known.dialect));
                format!("{what} is constant, but dialect '{dialect}' makes no constant of its type")
            };
            remarks.missed(loc, text);
            continue;
        };
        remarks.passed(loc, || format!("{} is constant: {}", called(cx, body, value), attr_text(cx, known.value)));
        Rewriter::new(cx, body).replace_all_uses(value, constant);
        replaced += 1;
    }
    for &op in found.ops.iter().rev() {
        if body.is_live(op) && is_trivially_dead(OpRef::new(cx, body, op)) {
            Rewriter::new(cx, body).erase_op(op);
            erased += 1;
        }
    }
    pool.erase_unused(body);
    (replaced, erased)
}
