//! `expand-truncf`: roundings of floats for which a processor has no instruction.
//!
//! A double becomes a float of 16 bits by way of `f32`. So that it is not rounded twice, it is rounded to odd there: toward zero,
//! with the last bit set if anything was lost. `f32` has more than two bits beyond those of either type of 16 bits, so the
//! second rounding gives what one alone would have given (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
//! proved algorithms using rounding to odd", 2008). `bf16` is the upper half of `f32`, rounded to nearest even by an addition.

#[cfg(test)]
mod tests;

use sutura_dialects::arith::CmpFPredicate;
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Type, Value};

use crate::arithmetic::Arithmetic;
use crate::machine_code::Processor;

/// `expand-truncf`
pub static EXPAND_TRUNCF: PassInfo = PassInfo {
    name: "ExpandTruncF",
    argument: "expand-truncf",
    summary: "Expand roundings of floats where the machine has no instruction",
    description: "For a machine without such an instruction `arith.truncf` from f64 to f16 or bf16 becomes one to f32 that \
                  rounds to odd, and one from there; `arith.truncf` from f32 to bf16 becomes arithmetic on integers. The \
                  bits are those of one rounding to nearest even; NaN stays NaN, with another payload. Nothing is done \
                  where the module names no machine.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-expanded", description: "roundings that became several operations" }],
    create: |_: &PassOptions| Ok(Box::new(ExpandTruncF)),
};

struct ExpandTruncF;

impl Pass for ExpandTruncF {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        // Several machines are an error of the verifier's.
        let machine = machine_in(cx, run.body).ok().flatten().and_then(|op| TargetDesc::from_op(op).ok());
        let Some(machine) = machine else { return Ok(PreservedAnalyses::all()) };
        let features: Vec<String> = machine.required_features().map(|feature| format!("+{feature}")).collect();
        let processor = Processor::new(&machine.triple, &features.join(","));
        let counts = run.for_each_body(|at| {
            let ops: Vec<Op> = at.body.preorder().filter(|op| at.body.name(*op).as_str(cx) == "arith.truncf").collect();
            let mut expanded = 0;
            for op in ops {
                let loc = at.body.loc(op);
                if let Some(what) = expand(cx, at.body, op, processor) {
                    at.remarks.passed(loc, || format!("@{} has no instruction that rounds {what}", machine.name));
                    expanded += 1;
                }
            }
            expanded
        });
        let expanded: u64 = counts.into_iter().sum();
        run.count("num-expanded", expanded);
        Ok(PreservedAnalyses::unless(expanded > 0))
    }
}

/// Replaces a rounding that the processor has not; which it was.
fn expand(cx: &Context, body: &mut Body, op: Op, processor: Processor) -> Option<&'static str> {
    let view = OpRef::new(cx, body, op);
    let (from, to) = (cx.element_type(view.ty(view.operand(0))), cx.element_type(view.ty(view.result(0))));
    let (what, halves) = match (from, to) {
        (Type::F64, Type::F16) if !processor.rounds_doubles_to_half() => ("f64 to f16", false),
        (Type::F64, Type::BF16) if !processor.rounds_doubles_to_brain() => {
            ("f64 to bf16", !processor.rounds_to_brain())
        }
        (Type::F32, Type::BF16) if !processor.rounds_to_brain() => ("f32 to bf16", true),
        _ => return None,
    };
    let (loc, operand, ty) = (view.loc(), view.operand(0), view.ty(view.result(0)));
    let mut rw = Rewriter::new(cx, body);
    rw.set_before(op);
    let mut numbers = Arithmetic::new(&mut rw, loc, ty);
    let single = if from == Type::F64 { numbers.rounded_to_odd(operand) } else { operand };
    let rounded = if halves { upper_half(&mut numbers, single) } else { numbers.op("arith.truncf", &[single], to) };
    rw.replace_op(op, &[rounded]);
    Some(what)
}

/// An `f32` as the upper half of its bits, rounded to nearest even.
fn upper_half(a: &mut Arithmetic<'_, '_>, single: Value) -> Value {
    let bits = a.op("arith.bitcast", &[single], Type::I32);
    let (half, one) = (a.int(16, Type::I32), a.int(1, Type::I32));
    let upper = a.op("arith.shrui", &[bits, half], Type::I32);
    let odd = a.op("arith.andi", &[upper, one], Type::I32);
    // Half of the last place that is kept, less one where that is even: a tie goes to the even number.
    let below_half = a.int(0x7fff, Type::I32);
    let increment = a.op("arith.addi", &[below_half, odd], Type::I32);
    let raised = a.op("arith.addi", &[bits, increment], Type::I32);
    let rounded = a.op("arith.shrui", &[raised, half], Type::I32);
    let is_nan = a.compare_floats(CmpFPredicate::Uno, single, single);
    let nan = a.int(0x7fc0, Type::I32);
    let code = a.op("arith.select", &[is_nan, nan, rounded], Type::I32);
    let code = a.op("arith.trunci", &[code], Type::I16);
    a.op("arith.bitcast", &[code], Type::BF16)
}
