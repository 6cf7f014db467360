//! `expand-fma`: multiplication and addition with one rounding, for machines without an instruction for it.
//!
//! `math.fma` keeps its bits, since expansions of functions are made of it and compute alike on every target. Of 32-bit floats
//! the product is exact in doubles. The sum is rounded to odd there: toward zero, with the last bit set if anything was lost.
//! As doubles have more than two bits beyond those of floats, rounding that once more gives what one rounding would have given
//! (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
//!
//! `vector.fma` comes from products of matrices, where contraction is allowed and not asked for: it is rounded twice.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashSet;
use sutura_dialects::arith::CmpFPredicate;
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, Remarks, StatisticInfo};
use sutura_ir::{Body, Context, Diagnostic, Op, OpRef, Rewriter, Type, Value};

use crate::arithmetic::Arithmetic;

/// `expand-fma`
pub static EXPAND_FMA: PassInfo = PassInfo {
    name: "ExpandFma",
    argument: "expand-fma",
    summary: "Expand fused multiplication and addition where the machine has none",
    description: "For a machine without such an instruction `math.fma` on f32, f16 and bf16 becomes arithmetic on doubles \
                  that rounds once, to the same bits; `vector.fma` becomes a multiplication and an addition. Of other types \
                  it is an error. Nothing is done where the module names no machine.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-exact", description: "operations computed in doubles" },
        StatisticInfo { name: "num-split", description: "operations rounded twice" },
    ],
    create,
};

struct ExpandFma;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ExpandFma))
}

/// Whether the machine multiplies and adds in one instruction. Only x86 and RISC-V have processors of one architecture that differ
/// in it.
fn has_fma(machine: &TargetDesc) -> bool {
    let differ = ["x86_64", "riscv64"].iter().any(|architecture| machine.triple.starts_with(architecture));
    !differ || machine.has_fma()
}

#[derive(Default)]
struct Outcome {
    exact: u64,
    split: u64,
    errors: Vec<Diagnostic>,
}

impl Pass for ExpandFma {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        // Several machines are an error of the verifier's.
        let machine = machine_in(cx, run.body).ok().flatten().and_then(|op| TargetDesc::from_op(op).ok());
        let Some(machine) = machine.filter(|machine| !has_fma(machine)) else { return Ok(PreservedAnalyses::all()) };
        let outcomes = run.for_each_body(|at| expand_body(cx, at.body, at.remarks, &machine.name));
        let mut total = Outcome::default();
        for outcome in outcomes {
            total.exact += outcome.exact;
            total.split += outcome.split;
            total.errors.extend(outcome.errors);
        }
        run.count("num-exact", total.exact);
        run.count("num-split", total.split);
        let failed = !total.errors.is_empty();
        for error in total.errors {
            run.diags.report(error);
        }
        if failed { Err(PassError::Unsupported) } else { Ok(PreservedAnalyses::unless(total.exact + total.split > 0)) }
    }
}

fn expand_body(cx: &Context, body: &mut Body, remarks: &mut Remarks, machine: &str) -> Outcome {
    let is_fused = |op: &Op| matches!(body.name(*op).as_str(cx), "math.fma" | "vector.fma");
    let ops: Vec<Op> = body.preorder().filter(is_fused).collect();
    let (mut outcome, mut refused) = (Outcome::default(), FxHashSet::default());
    for op in ops {
        let loc = body.loc(op);
        if body.name(op).as_str(cx) == "vector.fma" {
            remarks.passed(loc, || format!("@{machine} has no fused multiplication: the product is rounded"));
            rewrite(cx, body, op, split);
            outcome.split += 1;
            continue;
        }
        let view = OpRef::new(cx, body, op);
        if ![Type::F32, Type::F16, Type::BF16].contains(&cx.element_type(view.ty(view.result(0)))) {
            // A function makes many of one place.
            if refused.insert(loc) {
                let message = format!("needs an instruction that @{machine} lacks");
                outcome.errors.push(view.error(message).help("of f32, f16 and bf16 it is computed in doubles"));
            }
            continue;
        }
        remarks.passed(loc, || format!("@{machine} has no fused multiplication: it is computed in doubles"));
        rewrite(cx, body, op, exact);
        outcome.exact += 1;
    }
    outcome
}

fn rewrite(cx: &Context, body: &mut Body, op: Op, compute: impl FnOnce(&mut Arithmetic<'_, '_>, [Value; 3]) -> Value) {
    let mut rewriter = Rewriter::new(cx, body);
    rewriter.set_before(op);
    let (loc, operands) = (rewriter.body().loc(op), [0, 1, 2].map(|at| rewriter.body().operand(op, at)));
    let ty = rewriter.body().ty(operands[0]);
    let value = compute(&mut Arithmetic::new(&mut rewriter, loc, ty), operands);
    rewriter.replace_op(op, &[value]);
}

fn split(n: &mut Arithmetic<'_, '_>, [a, b, c]: [Value; 3]) -> Value {
    let elem = n.elem();
    let product = n.float("arith.mulf", &[a, b], elem);
    n.float("arith.addf", &[product, c], elem)
}

fn exact(n: &mut Arithmetic<'_, '_>, operands: [Value; 3]) -> Value {
    let elem = n.elem();
    let [a, b, c] = operands.map(|x| n.op("arith.extf", &[x], Type::F64));
    let product = n.float("arith.mulf", &[a, b], Type::F64);
    let sum = n.float("arith.addf", &[product, c], Type::F64);
    let lost = rounding_error(n, product, c, sum);
    let odd = round_to_odd(n, sum, lost);
    if elem == Type::F32 {
        return n.op("arith.truncf", &[odd], elem);
    }
    // Half precision is computed in 32 bits.
    let single = n.op("arith.truncf", &[odd], Type::F32);
    n.op("arith.truncf", &[single], elem)
}

/// What `sum` lacks of the sum of `a` and `b`, exactly (Knuth's two-sum); NaN or zero where it is not finite.
fn rounding_error(n: &mut Arithmetic<'_, '_>, a: Value, b: Value, sum: Value) -> Value {
    let b_seen = n.float("arith.subf", &[sum, a], Type::F64);
    let a_seen = n.float("arith.subf", &[sum, b_seen], Type::F64);
    let a_lost = n.float("arith.subf", &[a, a_seen], Type::F64);
    let b_lost = n.float("arith.subf", &[b, b_seen], Type::F64);
    n.float("arith.addf", &[a_lost, b_lost], Type::F64)
}

/// `sum + lost`, rounded to odd.
fn round_to_odd(n: &mut Arithmetic<'_, '_>, sum: Value, lost: Value) -> Value {
    let (bits, lost_bits) = (n.op("arith.bitcast", &[sum], Type::I64), n.op("arith.bitcast", &[lost], Type::I64));
    // Of other sign than the sum: it was rounded away from zero, and its magnitude is one too large.
    let differ = n.op("arith.xori", &[bits, lost_bits], Type::I64);
    let sign = n.int(63, Type::I64);
    let minus_one = n.op("arith.shrsi", &[differ, sign], Type::I64);
    let toward_zero = n.op("arith.addi", &[bits, minus_one], Type::I64);
    let one = n.int(1, Type::I64);
    let odd = n.op("arith.ori", &[toward_zero, one], Type::I64);
    let zero = n.number(0.0, Type::F64);
    let inexact = n.compare_floats(CmpFPredicate::One, lost, zero);
    let bits = n.select(inexact, odd, bits);
    n.op("arith.bitcast", &[bits], Type::F64)
}
