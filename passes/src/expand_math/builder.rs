//! Arithmetic on f32 scalars and vectors, for the expansions.

use sutura_dialects::arith::FastMathFlags;
use sutura_ir::{Attr, Context, Loc, OpState, Rewriter, Type, Value};

/// Emits arithmetic of one shape: a scalar, or a vector, of 32-bit floats and integers.
pub(super) struct Arith<'r, 'b> {
    rw: &'r mut Rewriter<'b>,
    loc: Loc,
    /// The float type, scalar or vector.
    float: Type,
}

/// Predicates of `arith.cmpf` that the expansions use.
#[derive(Clone, Copy)]
pub(super) enum Cmp {
    Oeq = 1,
    Olt = 4,
    Uno = 14,
}

impl<'r, 'b> Arith<'r, 'b> {
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

    /// A float constant.
    pub(super) fn f(&mut self, value: f32) -> Value {
        let attr = self.cx().f32_attr(value);
        self.constant(attr, self.float)
    }

    /// A 32-bit integer constant.
    pub(super) fn i(&mut self, value: i32) -> Value {
        let (attr, ty) = (self.cx().int_attr(value.into(), Type::I32), self.with_elem(Type::I32));
        self.constant(attr, ty)
    }

    fn float_op(&mut self, name: &str, operands: &[Value]) -> Value {
        // Contraction is spelt out with `fma`, so that every target rounds alike.
        let none = self.cx().ext_attr(FastMathFlags::NONE);
        self.emit(name, operands, self.float, &[("fastmath", none)])
    }

    pub(super) fn add(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.addf", &[a, b])
    }

    pub(super) fn sub(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.subf", &[a, b])
    }

    pub(super) fn mul(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.mulf", &[a, b])
    }

    pub(super) fn div(&mut self, a: Value, b: Value) -> Value {
        self.float_op("arith.divf", &[a, b])
    }

    /// `a * b + c`, rounded once.
    pub(super) fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.float_op("math.fma", &[a, b, c])
    }

    pub(super) fn sqrt(&mut self, a: Value) -> Value {
        self.float_op("math.sqrt", &[a])
    }

    pub(super) fn abs(&mut self, a: Value) -> Value {
        self.float_op("math.absf", &[a])
    }

    pub(super) fn trunc(&mut self, a: Value) -> Value {
        self.float_op("math.trunc", &[a])
    }

    pub(super) fn copysign(&mut self, a: Value, sign: Value) -> Value {
        self.float_op("math.copysign", &[a, sign])
    }

    /// `a` limited to `[low, high]`; NaN stays NaN.
    pub(super) fn clamp(&mut self, a: Value, low: f32, high: f32) -> Value {
        let (low, high) = (self.f(low), self.f(high));
        let a = self.float_op("arith.maximumf", &[a, low]);
        self.float_op("arith.minimumf", &[a, high])
    }

    pub(super) fn cmp(&mut self, pred: Cmp, a: Value, b: Value) -> Value {
        let attr = self.cx().int_attr(pred as i64, Type::I64);
        let none = self.cx().ext_attr(FastMathFlags::NONE);
        let ty = self.with_elem(Type::I1);
        self.emit("arith.cmpf", &[a, b], ty, &[("predicate", attr), ("fastmath", none)])
    }

    pub(super) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.rw.body().ty(a);
        self.emit("arith.select", &[cond, a, b], ty, &[])
    }

    /// The bits of a float.
    pub(super) fn bits(&mut self, a: Value) -> Value {
        let ty = self.with_elem(Type::I32);
        self.emit("arith.bitcast", &[a], ty, &[])
    }

    /// The float of these bits.
    pub(super) fn of_bits(&mut self, a: Value) -> Value {
        self.emit("arith.bitcast", &[a], self.float, &[])
    }

    /// An integer operation of two operands: `addi`, `subi`, `shli`, `shrsi`, `andi`, `ori`.
    pub(super) fn int(&mut self, name: &str, a: Value, b: Value) -> Value {
        let ty = self.with_elem(Type::I32);
        self.emit(&format!("arith.{name}"), &[a, b], ty, &[])
    }

    /// A signed integer as float.
    pub(super) fn to_float(&mut self, a: Value) -> Value {
        self.emit("arith.sitofp", &[a], self.float, &[])
    }

    /// `c[0] * x^(n-1) + … + c[n-1]`, by Horner's rule with fused steps.
    pub(super) fn polynomial(&mut self, x: Value, coefficients: &[f32]) -> Value {
        let mut sum = self.f(coefficients[0]);
        for c in &coefficients[1..] {
            let c = self.f(*c);
            sum = self.fma(sum, x, c);
        }
        sum
    }
}
