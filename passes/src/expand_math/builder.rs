//! Arithmetic on 32-bit floats, for the expansions: emitted as operations, or (in tests) computed.

use sutura_dialects::arith::FastMathFlags;
use sutura_ir::{Attr, Context, Loc, OpState, Rewriter, Type, Value};

/// Predicates of `arith.cmpf` that the expansions use.
#[derive(Clone, Copy)]
pub(super) enum Cmp {
    Oeq = 1,
    Olt = 4,
    Uno = 14,
}

/// Integer operations that the expansions use.
#[derive(Clone, Copy)]
pub(super) enum Int {
    Add,
    Sub,
    Shl,
    ShrS,
}

/// What the expansions are written in.
pub(super) trait Arith {
    /// A float, an integer or a truth value; scalar or vector.
    type V: Copy;

    /// A float constant.
    fn f(&mut self, value: f32) -> Self::V;
    /// A 32-bit integer constant.
    fn i(&mut self, value: i32) -> Self::V;
    fn add(&mut self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(&mut self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(&mut self, a: Self::V, b: Self::V) -> Self::V;
    fn div(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, rounded once.
    fn fma(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn sqrt(&mut self, a: Self::V) -> Self::V;
    fn abs(&mut self, a: Self::V) -> Self::V;
    fn trunc(&mut self, a: Self::V) -> Self::V;
    fn copysign(&mut self, a: Self::V, sign: Self::V) -> Self::V;
    fn cmp(&mut self, pred: Cmp, a: Self::V, b: Self::V) -> Self::V;
    fn select(&mut self, cond: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// The bits of a float.
    fn bits(&mut self, a: Self::V) -> Self::V;
    /// The float of these bits.
    fn of_bits(&mut self, a: Self::V) -> Self::V;
    fn int(&mut self, op: Int, a: Self::V, b: Self::V) -> Self::V;
    /// A signed integer as float.
    fn to_float(&mut self, a: Self::V) -> Self::V;

    /// `a` limited to `[low, high]`; NaN stays NaN. Written so that x86 does each side in one instruction.
    fn clamp(&mut self, a: Self::V, low: f32, high: f32) -> Self::V {
        let (low, high) = (self.f(low), self.f(high));
        let below = self.cmp(Cmp::Olt, a, low);
        let a = self.select(below, low, a);
        let above = self.cmp(Cmp::Olt, high, a);
        self.select(above, high, a)
    }

    /// `c[0] * x^(n-1) + … + c[n-1]`, by Horner's rule with fused steps.
    fn polynomial(&mut self, x: Self::V, coefficients: &[f32]) -> Self::V {
        let mut sum = self.f(coefficients[0]);
        for c in &coefficients[1..] {
            let c = self.f(*c);
            sum = self.fma(sum, x, c);
        }
        sum
    }
}

/// Emits arithmetic of one shape: a scalar, or a vector, of 32-bit floats and integers.
pub(super) struct Emitted<'r, 'b> {
    rw: &'r mut Rewriter<'b>,
    loc: Loc,
    /// The float type, scalar or vector.
    float: Type,
}

impl<'r, 'b> Emitted<'r, 'b> {
    pub(super) fn new(rw: &'r mut Rewriter<'b>, loc: Loc, float: Type) -> Self {
        Self { rw, loc, float }
    }

    fn cx(&self) -> &'b Context {
        self.rw.cx()
    }

    fn with_elem(&self, elem: Type) -> Type {
        self.cx().with_element_type(self.float, elem)
    }

    fn emit(&mut self, name: &str, operands: &[Value], ty: Type, props: &[(&str, Attr)]) -> Value {
        let cx = self.cx();
        let mut state = OpState::new(cx.op_name(name), self.loc).operands(operands.iter().copied()).results([ty]);
        for (name, value) in props {
            state = state.prop(cx.ident(name), *value);
        }
        let op = self.rw.create(state);
        self.rw.body().result(op, 0)
    }

    fn constant(&mut self, value: Attr, ty: Type) -> Value {
        let cx = self.cx();
        let value = if cx.shape(ty).is_some() { cx.splat_attr(ty, value).expect("a vector of numbers") } else { value };
        self.emit("arith.constant", &[], ty, &[("value", value)])
    }

    /// Contraction is spelt out with `fma`, so that every target rounds alike.
    fn float_op(&mut self, name: &str, operands: &[Value]) -> Value {
        let none = self.cx().ext_attr(FastMathFlags::NONE);
        self.emit(name, operands, self.float, &[("fastmath", none)])
    }
}

impl Arith for Emitted<'_, '_> {
    type V = Value;

    fn f(&mut self, value: f32) -> Value {
        let attr = self.cx().f32_attr(value);
        self.constant(attr, self.float)
    }
    fn i(&mut self, value: i32) -> Value {
        let (attr, ty) = (self.cx().int_attr(value.into(), Type::I32), self.with_elem(Type::I32));
        self.constant(attr, ty)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.addf", &[a, b])
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.subf", &[a, b])
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.mulf", &[a, b])
    }
    fn div(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.divf", &[a, b])
    }
    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.float_op("math.fma", &[a, b, c])
    }
    fn sqrt(&mut self, a: Value) -> Value {
        self.float_op("math.sqrt", &[a])
    }
    fn abs(&mut self, a: Value) -> Value {
        self.float_op("math.absf", &[a])
    }
    fn trunc(&mut self, a: Value) -> Value {
        self.float_op("math.trunc", &[a])
    }
    fn copysign(&mut self, a: Value, sign: Value) -> Value {
        self.float_op("math.copysign", &[a, sign])
    }
    fn cmp(&mut self, pred: Cmp, a: Value, b: Value) -> Value {
        let attr = self.cx().int_attr(pred as i64, Type::I64);
        let none = self.cx().ext_attr(FastMathFlags::NONE);
        let ty = self.with_elem(Type::I1);
        self.emit("arith.cmpf", &[a, b], ty, &[("predicate", attr), ("fastmath", none)])
    }
    fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.rw.body().ty(a);
        self.emit("arith.select", &[cond, a, b], ty, &[])
    }
    fn bits(&mut self, a: Value) -> Value {
        let ty = self.with_elem(Type::I32);
        self.emit("arith.bitcast", &[a], ty, &[])
    }
    fn of_bits(&mut self, a: Value) -> Value {
        self.emit("arith.bitcast", &[a], self.float, &[])
    }
    fn int(&mut self, op: Int, a: Value, b: Value) -> Value {
        let name = match op {
            Int::Add => "arith.addi",
            Int::Sub => "arith.subi",
            Int::Shl => "arith.shli",
            Int::ShrS => "arith.shrsi",
        };
        let ty = self.with_elem(Type::I32);
        self.emit(name, &[a, b], ty, &[])
    }
    fn to_float(&mut self, a: Value) -> Value {
        self.emit("arith.sitofp", &[a], self.float, &[])
    }
}
