//! Arithmetic of upstream's dialects: written op by op where an expansion says what a number becomes, and from numeric ops of the
//! interpreter where a formula is stated once for both.

use sutura_dialects::arith::{CmpFPredicate, CmpIPredicate, FastMathFlags};
use sutura_interp::Fault;
use sutura_interp::num::{MathFn, NumOp, Overflow, Rounding};
use sutura_ir::{Attr, Builder, Context, Loc, OpState, Type, Value};

/// Writes operations on numbers of one shape.
pub(crate) struct Arithmetic<'s, 'b> {
    b: &'s mut Builder<'b>,
    loc: Loc,
    /// A type of that shape: a scalar, or a vector of constant size.
    shape: Type,
}

impl<'s, 'b> Arithmetic<'s, 'b> {
    /// Of the shape that `shape` has.
    pub(crate) fn new(b: &'s mut Builder<'b>, loc: Loc, shape: Type) -> Self {
        Self { b, loc, shape }
    }

    /// Of scalars.
    pub(crate) fn of_scalars(b: &'s mut Builder<'b>, loc: Loc) -> Self {
        Self::new(b, loc, Type::F32)
    }

    /// The elements of the type that the shape was taken from.
    pub(crate) fn elem(&self) -> Type {
        self.b.cx().element_type(self.shape)
    }

    pub(crate) fn builder(&mut self) -> &mut Builder<'b> {
        self.b
    }

    /// The op `name` with one result of elements `elem`.
    pub(crate) fn op(&mut self, name: &str, operands: &[Value], elem: Type) -> Value {
        self.with(name, operands, elem, &[])
    }

    fn with(&mut self, name: &str, operands: &[Value], elem: Type, props: &[(&str, Attr)]) -> Value {
        let cx = self.b.cx();
        let ty = cx.with_element_type(self.shape, elem);
        let state = OpState::new(cx.op_name(name), self.loc).operands(operands.iter().copied()).results([ty]);
        let state = props.iter().fold(state, |state, (name, value)| state.prop(cx.ident(name), *value));
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// An op on floats that nothing may reassociate or contract.
    pub(crate) fn float(&mut self, name: &str, operands: &[Value], elem: Type) -> Value {
        let none = self.b.cx().ext_attr(FastMathFlags::NONE);
        self.with(name, operands, elem, &[("fastmath", none)])
    }

    fn constant(&mut self, number: Attr, elem: Type) -> Value {
        let cx = self.b.cx();
        let ty = cx.with_element_type(self.shape, elem);
        let value =
            if cx.shape(ty).is_some() { cx.splat_attr(ty, number).expect("a vector of numbers") } else { number };
        self.with("arith.constant", &[], elem, &[("value", value)])
    }

    pub(crate) fn int(&mut self, value: i64, elem: Type) -> Value {
        let number = self.b.cx().int_attr(value, elem);
        self.constant(number, elem)
    }

    pub(crate) fn number(&mut self, value: f64, elem: Type) -> Value {
        let number = self.b.cx().float_attr(value, elem);
        self.constant(number, elem)
    }

    pub(crate) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let elem = self.b.cx().element_type(self.b.body().ty(a));
        self.op("arith.select", &[condition, a, b], elem)
    }

    pub(crate) fn compare(&mut self, predicate: CmpIPredicate, a: Value, b: Value) -> Value {
        let predicate = self.b.cx().int_attr(predicate as i64, Type::I64);
        self.with("arith.cmpi", &[a, b], Type::I1, &[("predicate", predicate)])
    }

    pub(crate) fn compare_floats(&mut self, predicate: CmpFPredicate, a: Value, b: Value) -> Value {
        let cx = self.b.cx();
        let (none, predicate) = (cx.ext_attr(FastMathFlags::NONE), cx.int_attr(predicate as i64, Type::I64));
        self.with("arith.cmpf", &[a, b], Type::I1, &[("predicate", predicate), ("fastmath", none)])
    }

    /// An `f64` as an `f32`, rounded to odd: toward zero, with the last bit set if anything was lost. It rounds to the same
    /// number of a type with two bits less as the double would have.
    pub(crate) fn rounded_to_odd(&mut self, wide: Value) -> Value {
        let near = self.op("arith.truncf", &[wide], Type::F32);
        let back = self.op("arith.extf", &[near], Type::F64);
        let (got, wanted) = (self.float("math.absf", &[back], Type::F64), self.float("math.absf", &[wide], Type::F64));
        let above = self.compare_floats(CmpFPredicate::Ogt, got, wanted);
        let inexact = self.compare_floats(CmpFPredicate::One, back, wide);
        let bits = self.op("arith.bitcast", &[near], Type::I32);
        let one_less = self.op("arith.extui", &[above], Type::I32);
        let toward_zero = self.op("arith.subi", &[bits, one_less], Type::I32);
        let last = self.op("arith.extui", &[inexact], Type::I32);
        let odd = self.op("arith.ori", &[toward_zero, last], Type::I32);
        self.op("arith.bitcast", &[odd], Type::F32)
    }
}

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
