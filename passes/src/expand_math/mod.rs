//! `expand-math`: transcendental functions become arithmetic, the same bits on every target and vector width.
//!
//! Polynomial and rational approximations, fitted for these expansions; nothing here calls a library. `arith` is what they
//! are written in, `emitted` makes operations of it; tests compute the same on numbers.

mod arith;
mod emitted;
mod functions;
#[cfg(test)]
mod native;
#[cfg(test)]
mod tests;

use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, Remarks, StatisticInfo};
use sutura_ir::{Body, Context, Diagnostic, Op, OpRef, Rewriter, Type, Value};

use arith::Arith;
use emitted::{Emitted, Scaling};

/// `expand-math`
pub static EXPAND_MATH: PassInfo = PassInfo {
    name: "ExpandMath",
    argument: "expand-math",
    summary: "Expand transcendental functions into arithmetic",
    description: "Replaces `math.exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`, `tanh`, `erf`, `sin`, `cos`, `tan`, \
                  `atan`, `atan2`, `powf`, `rsqrt`, `cbrt` and `round`, and the exact `arith.remf`, on 32-bit floats, scalar or vector, by polynomial and rational \
                  approximations, with at most 6 units in the last place of error; of `math.exp` that is marked \
                  `gir.nonpositive`, as the numerators of a softmax are, 2 and a twentieth of the argument. Results of \
                  `math.exp` below 2^-125.5 are zero. On f16 and bf16 they are computed in 32 \
                  bits, on f64 in 64 bits with at most 3 units of error, denormal results included. Where the module names a machine with AVX-512, its scaling by powers of two is used; results have the \
                  same bits. Functions that machines have as instructions (`sqrt`, `fma`, `floor`, …) stay; `floor`, `ceil`, \
                  `trunc` and `roundeven` are expanded for an x86-64 without SSE4.1, which lacks them. A function without \
                  expansion is an error: no code may call a math library.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-expanded", description: "functions expanded" }],
    create,
};

/// The attribute of a `math.exp` whose argument is not above zero: then fewer instructions do.
pub(crate) const NONPOSITIVE: &str = "gir.nonpositive";

struct ExpandMath;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ExpandMath))
}

macro_rules! functions {
    ($($variant:ident = $name:literal => $function:ident($($operand:ident),+)),+ $(,)?) => {
        /// What has an expansion.
        #[derive(Clone, Copy)]
        enum Function { $($variant,)+ ExpNonpositive }

        impl Function {
            fn of(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// What an operation computes.
            fn of_op(op: OpRef<'_>) -> Option<Self> {
                match Self::of(op.name_str()) {
                    Some(Self::Exp) if op.attr(NONPOSITIVE).is_some() => Some(Self::ExpNonpositive),
                    function => function,
                }
            }

            fn expand<A: Arith>(self, a: &mut A, operands: &[A::V]) -> A::V {
                match (self, operands) {
                    $((Self::$variant, &[$($operand),+]) => functions::$function(a, $($operand),+),)+
                    (Self::ExpNonpositive, &[x]) => functions::exp_nonpositive(a, x),
                    _ => unreachable!("the operation was verified"),
                }
            }

            /// The same on doubles.
            fn expand_double<A: Arith>(self, a: &mut A, operands: &[A::V]) -> A::V {
                match (self, operands) {
                    $((Self::$variant, &[$($operand),+]) => functions::double::$function(a, $($operand),+),)+
                    (Self::ExpNonpositive, &[x]) => functions::double::exp(a, x),
                    _ => unreachable!("the operation was verified"),
                }
            }
        }

        /// Names of what has an expansion, for messages.
        const EXPANDED: &[&str] = &[$($name),+];
    };
}

functions! {
    Atan = "math.atan" => atan(x),
    Atan2 = "math.atan2" => atan2(y, x),
    Cbrt = "math.cbrt" => cbrt(x),
    Ceil = "math.ceil" => ceil(x),
    Cos = "math.cos" => cos(x),
    Erf = "math.erf" => erf(x),
    Exp = "math.exp" => exp(x),
    Exp2 = "math.exp2" => exp2(x),
    Expm1 = "math.expm1" => expm1(x),
    Floor = "math.floor" => floor(x),
    Log = "math.log" => log(x),
    Log10 = "math.log10" => log10(x),
    Log1p = "math.log1p" => log1p(x),
    Log2 = "math.log2" => log2(x),
    Pow = "math.powf" => pow(x, y),
    Rem = "arith.remf" => rem(x, y),
    Round = "math.round" => round(x),
    RoundEven = "math.roundeven" => roundeven(x),
    Rsqrt = "math.rsqrt" => rsqrt(x),
    Sin = "math.sin" => sin(x),
    Tan = "math.tan" => tan(x),
    Tanh = "math.tanh" => tanh(x),
    Trunc = "math.trunc" => trunc(x),
}

/// Operations that CPUs and GPUs have as instructions, or that LLVM expands into a few.
fn is_native(name: &str) -> bool {
    matches!(
        name,
        "math.absf"
            | "math.absi"
            | "math.copysign"
            | "math.ctlz"
            | "math.ctpop"
            | "math.cttz"
            | "math.fma"
            | "math.isfinite"
            | "math.isinf"
            | "math.isnan"
            | "math.sqrt"
    )
}

/// Operations that most machines have as instructions.
fn is_rounding(name: &str) -> bool {
    matches!(name, "math.ceil" | "math.floor" | "math.roundeven" | "math.trunc")
}

/// Whether the machine rounds to integers in one instruction. Only x86 has processors of one architecture that differ in it.
fn rounds(machine: &TargetDesc) -> bool {
    let newer = ["sse4.1", "avx", "avx2", "avx512f"];
    !machine.triple.starts_with("x86_64") || machine.required_features().any(|feature| newer.contains(&feature))
}

impl Pass for ExpandMath {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        // Several machines are an error of the verifier's.
        let machine = machine_in(cx, run.body).ok().flatten().and_then(|op| TargetDesc::from_op(op).ok());
        let rounds = machine.as_ref().is_none_or(rounds);
        let scaling = machine.map(|machine| Scaling::of(&machine)).unwrap_or_default();
        // Functions stand in nested bodies too, those of fusions for one.
        let outcomes = run.for_each_body(|at| expand_body(cx, at.body, at.remarks, &scaling, rounds));
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
fn expand_body(
    cx: &Context,
    body: &mut Body,
    remarks: &mut Remarks,
    scaling: &Scaling,
    rounds: bool,
) -> (u64, Vec<Diagnostic>) {
    let stays = |name: &str| is_native(name) || (rounds && is_rounding(name));
    let is_function = |op: &Op| {
        let (name, dialect) = (body.name(*op).as_str(cx), body.name(*op).dialect(cx));
        (dialect == "math" && !stays(name)) || name == "arith.remf"
    };
    let ops: Vec<Op> = body.preorder().filter(is_function).collect();
    let (mut expanded, mut errors) = (0, Vec::new());
    for op in ops {
        let view = OpRef::new(cx, body, op);
        match Function::of_op(view).filter(|_| is_expandable(cx, view.ty(view.result(0)))) {
            Some(function) => {
                let name = body.name(op).as_str(cx);
                remarks.passed(body.loc(op), || format!("'{name}' is expanded into arithmetic"));
                expand_op(cx, body, op, function, scaling);
                expanded += 1;
            }
            None => {
                let message = "has no expansion for this type, and nothing may call a math library";
                let names: Vec<&str> = EXPANDED.iter().filter_map(|name| name.strip_prefix("math.")).collect();
                let help =
                    format!("scalars and vectors of f64, f32, f16 and bf16 of {} are expanded", names.join(", "));
                errors.push(view.error(message).help(help));
            }
        }
    }
    (expanded, errors)
}

/// Numbers and shapes of constant size: others have no constants.
fn is_expandable(cx: &Context, ty: Type) -> bool {
    let constant = cx.shape(ty).is_none_or(|shape| shape.iter().all(|size| *size >= 0));
    constant && [Type::F64, Type::F32, Type::F16, Type::BF16].contains(&cx.element_type(ty))
}

fn expand_op(cx: &Context, body: &mut Body, op: Op, function: Function, scaling: &Scaling) {
    let mut rewriter = Rewriter::new(cx, body);
    rewriter.set_before(op);
    let loc = rewriter.body().loc(op);
    let operands: Vec<Value> = rewriter.body().operands(op).collect();
    let ty = rewriter.body().ty(operands[0]);
    if cx.element_type(ty) == Type::F64 {
        let value = function.expand_double(&mut Emitted::new(&mut rewriter, loc, ty, scaling), &operands);
        return rewriter.replace_op(op, &[value]);
    }
    let narrow = Some(cx.element_type(ty)).filter(|elem| *elem != Type::F32);
    let mut emitted = Emitted::new(&mut rewriter, loc, cx.with_element_type(ty, Type::F32), scaling);
    let value = match narrow {
        None => function.expand(&mut emitted, &operands),
        Some(elem) => {
            let wide: Vec<Value> = operands.iter().map(|x| emitted.cast("arith.extf", *x, Type::F32)).collect();
            let value = function.expand(&mut emitted, &wide);
            emitted.cast("arith.truncf", value, elem)
        }
    };
    rewriter.replace_op(op, &[value]);
}
