//! `expand-math`: transcendental functions become arithmetic, the same bits on every target and vector width.
//!
//! Polynomial and rational approximations in the manner of Cephes and of the minimax fits that array libraries use;
//! nothing here calls a library.

mod builder;
mod functions;
#[cfg(test)]
mod tests;

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, Remarks, StatisticInfo};
use sutura_ir::{Body, Context, Diagnostic, Op, OpRef, Rewriter, Type};

use builder::{Arith, Emitted};

/// `expand-math`
pub static EXPAND_MATH: PassInfo = PassInfo {
    name: "ExpandMath",
    argument: "expand-math",
    summary: "Expand transcendental functions of f32 into arithmetic",
    description: "Replaces `math.exp`, `exp2`, `log`, `tanh`, `erf`, `rsqrt` and `round` on 32-bit floats, scalar or \
                  vector, by polynomial and rational approximations. Functions that machines have as instructions \
                  (`sqrt`, `fma`, `floor`, …) stay. A function without expansion is an error: no code may call a \
                  math library.",
    anchor: Anchor::Op("func.func"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-expanded", description: "functions expanded" }],
    create,
};

struct ExpandMath;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ExpandMath))
}

/// What has an expansion.
#[derive(Clone, Copy)]
enum Function {
    Exp,
    Exp2,
    Log,
    Tanh,
    Erf,
    Rsqrt,
    Round,
}

impl Function {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "math.exp" => Self::Exp,
            "math.exp2" => Self::Exp2,
            "math.log" => Self::Log,
            "math.tanh" => Self::Tanh,
            "math.erf" => Self::Erf,
            "math.rsqrt" => Self::Rsqrt,
            "math.round" => Self::Round,
            _ => return None,
        })
    }

    fn expand<A: Arith>(self, a: &mut A, x: A::V) -> A::V {
        match self {
            Self::Exp => functions::exp(a, x),
            Self::Exp2 => functions::exp2(a, x),
            Self::Log => functions::log(a, x),
            Self::Tanh => functions::tanh(a, x),
            Self::Erf => functions::erf(a, x),
            Self::Rsqrt => functions::rsqrt(a, x),
            Self::Round => functions::round(a, x),
        }
    }
}

/// Operations that CPUs and GPUs have as instructions, or that LLVM expands into a few.
fn is_native(name: &str) -> bool {
    matches!(
        name,
        "math.absf"
            | "math.absi"
            | "math.ceil"
            | "math.copysign"
            | "math.floor"
            | "math.fma"
            | "math.roundeven"
            | "math.sqrt"
            | "math.trunc"
    )
}

impl Pass for ExpandMath {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        // Functions stand in nested bodies too, those of fusions for one.
        let outcomes = run.for_each_body(|at| expand_body(cx, at.body, at.remarks));
        let (mut expanded, mut failed) = (0, false);
        for (count, errors) in outcomes {
            expanded += count;
            failed |= !errors.is_empty();
            for error in errors {
                run.diags.report(error);
            }
        }
        run.count("num-expanded", expanded);
        if failed { Err(PassError::Unsupported) } else { Ok(PreservedAnalyses::unless(expanded > 0)) }
    }
}

/// Expands what stands in a body; returns how many functions that were, and an error for each that has no expansion.
fn expand_body(cx: &Context, body: &mut Body, remarks: &mut Remarks) -> (u64, Vec<Diagnostic>) {
    let is_function = |op: &Op| body.name(*op).dialect(cx) == "math" && !is_native(body.name(*op).as_str(cx));
    let ops: Vec<Op> = body.preorder().filter(is_function).collect();
    let (mut expanded, mut errors) = (0, Vec::new());
    for op in ops {
        let view = OpRef::new(cx, body, op);
        match Function::of(view.name_str()).filter(|_| is_f32(cx, view.ty(view.result(0)))) {
            Some(function) => {
                let name = body.name(op).as_str(cx);
                remarks.passed(body.loc(op), || format!("'{name}' is expanded into arithmetic"));
                expand_op(cx, body, op, function);
                expanded += 1;
            }
            None => {
                let message = "has no expansion for this type, and nothing may call a math library";
                let error = view
                    .error(message)
                    .help("f32 scalars and vectors of exp, exp2, log, tanh, erf, rsqrt, round are expanded");
                errors.push(error);
            }
        }
    }
    (expanded, errors)
}

fn is_f32(cx: &Context, ty: Type) -> bool {
    cx.element_type(ty) == Type::F32
}

fn expand_op(cx: &Context, body: &mut Body, op: Op, function: Function) {
    let mut rewriter = Rewriter::new(cx, body);
    rewriter.set_before(op);
    let (loc, x) = (rewriter.body().loc(op), rewriter.body().operand(op, 0));
    let ty = rewriter.body().ty(x);
    let value = function.expand(&mut Emitted::new(&mut rewriter, loc, ty), x);
    rewriter.replace_op(op, &[value]);
}
