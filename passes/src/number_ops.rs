//! Numeric ops of the interpreter as ops of `arith` and `math`: for passes that write arithmetic which is stated once.

use sutura_interp::Fault;
use sutura_interp::num::{MathFn, NumOp, Overflow, Rounding};
use sutura_ir::{Context, Loc, OpState, Type, Value};

/// The `arith` or `math` op that a numeric op is.
fn name(op: NumOp) -> Option<&'static str> {
    Some(match op {
        NumOp::AddF => "arith.addf",
        NumOp::SubF => "arith.subf",
        NumOp::MulF => "arith.mulf",
        NumOp::DivF => "arith.divf",
        NumOp::NegF => "arith.negf",
        NumOp::MaximumF => "arith.maximumf",
        NumOp::MinimumF => "arith.minimumf",
        NumOp::CmpF(_) => "arith.cmpf",
        NumOp::Select => "arith.select",
        NumOp::AddI(Overflow::WRAP) => "arith.addi",
        NumOp::SubI(Overflow::WRAP) => "arith.subi",
        NumOp::MaxSI => "arith.maxsi",
        NumOp::MinSI => "arith.minsi",
        NumOp::AndI => "arith.andi",
        NumOp::OrI => "arith.ori",
        NumOp::ExtSI => "arith.extsi",
        NumOp::ExtUI => "arith.extui",
        NumOp::TruncI(Overflow::WRAP) => "arith.trunci",
        NumOp::SIToFP => "arith.sitofp",
        NumOp::FPToSI => "arith.fptosi",
        NumOp::ExtF => "arith.extf",
        NumOp::TruncF(Rounding::ToNearestEven) => "arith.truncf",
        NumOp::Atan2 => "math.atan2",
        NumOp::CopySign => "math.copysign",
        NumOp::Math(function) => match function {
            MathFn::AbsF => "math.absf",
            MathFn::Cos => "math.cos",
            MathFn::Exp => "math.exp",
            MathFn::ExpM1 => "math.expm1",
            MathFn::Log => "math.log",
            MathFn::Log1p => "math.log1p",
            MathFn::RoundEven => "math.roundeven",
            MathFn::Sin => "math.sin",
            MathFn::Sqrt => "math.sqrt",
            _ => return None,
        },
        _ => return None,
    })
}

/// What makes a number of type `ty` of others.
///
/// # Errors
/// When no op of `arith` or `math` is known to be it.
pub(crate) fn number_op(cx: &Context, loc: Loc, op: NumOp, args: &[Value], ty: Type) -> Result<OpState, Fault> {
    let name = name(op).ok_or_else(|| Fault::unsupported(format!("{op:?} is no op of arith or math here")))?;
    let state = OpState::new(cx.op_name(name), loc).operands(args.iter().copied()).results([ty]);
    Ok(match op {
        NumOp::CmpF(predicate) => state.prop(cx.ident("predicate"), cx.int_attr(predicate.number(), Type::I64)),
        _ => state,
    })
}
