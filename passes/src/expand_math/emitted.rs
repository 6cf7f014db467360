//! The expansions' arithmetic as operations.

use sutura_dialects::arith::{CmpFPredicate, CmpIPredicate, FastMathFlags};
use sutura_dialects::llvm::CallIntrinsicOp;
use sutura_dialects::target::TargetDesc;
use sutura_dialects::vector::CombiningKind;
use sutura_ir::types::TypeData;
use sutura_ir::{Attr, Context, Loc, Op, OpState, Rewriter, Type, Value};

use super::arith::{Arith, Cmp, Int, Wide};

/// Which vectors of 32-bit floats the machine scales by powers of two in one instruction.
#[derive(Default)]
pub(super) struct Scaling {
    lanes: &'static [i64],
}

impl Scaling {
    pub(super) fn of(machine: &TargetDesc) -> Self {
        let has = |name: &str| machine.required_features().any(|feature| feature == name);
        let lanes: &[i64] = match (has("avx512f"), has("avx512vl")) {
            (true, true) => &[4, 8, 16],
            (true, false) => &[16],
            (false, _) => &[],
        };
        Self { lanes }
    }
}

/// Emits arithmetic of one shape: a scalar, or a vector, of floats and integers.
pub(super) struct Emitted<'r, 'b> {
    rw: &'r mut Rewriter<'b>,
    loc: Loc,
    /// Float of 32 or 64 bits, scalar or vector.
    float: Type,
    /// An integer as wide as such a float.
    integer: Type,
    /// Number of lanes, where the machine scales vectors of so many.
    scaled_lanes: Option<i64>,
}

impl<'r, 'b> Emitted<'r, 'b> {
    pub(super) fn new(rw: &'r mut Rewriter<'b>, loc: Loc, float: Type, scaling: &Scaling) -> Self {
        let is_double = rw.cx().element_type(float) == Type::F64;
        let scaled_lanes = match rw.cx().shape(float) {
            Some(&[lanes]) if !is_double && scaling.lanes.contains(&lanes) => Some(lanes),
            _ => None,
        };
        Self { rw, loc, float, integer: if is_double { Type::I64 } else { Type::I32 }, scaled_lanes }
    }

    fn cx(&self) -> &'b Context {
        self.rw.cx()
    }

    fn with_elem(&self, elem: Type) -> Type {
        self.cx().with_element_type(self.float, elem)
    }

    fn create(&mut self, name: &str, operands: &[Value], types: &[Type], props: &[(&str, Attr)]) -> Op {
        let cx = self.cx();
        let mut state =
            OpState::new(cx.op_name(name), self.loc).operands(operands.iter().copied()).results(types.iter().copied());
        for (name, value) in props {
            state = state.prop(cx.ident(name), *value);
        }
        self.rw.create(state)
    }

    fn emit(&mut self, name: &str, operands: &[Value], ty: Type, props: &[(&str, Attr)]) -> Value {
        let op = self.create(name, operands, &[ty], props);
        self.rw.body().result(op, 0)
    }

    fn constant(&mut self, value: Attr, ty: Type) -> Value {
        let cx = self.cx();
        let value = if cx.shape(ty).is_some() { cx.splat_attr(ty, value).expect("a vector of numbers") } else { value };
        self.emit("arith.constant", &[], ty, &[("value", value)])
    }

    /// Contraction is spelt out with `fma`, so that every target rounds alike.
    fn float_op(&mut self, name: &str, operands: &[Value], ty: Type) -> Value {
        let none = self.cx().ext_attr(FastMathFlags::NONE);
        self.emit(name, operands, ty, &[("fastmath", none)])
    }

    fn compare_floats(&mut self, pred: CmpFPredicate, a: Value, b: Value) -> Value {
        let attr = self.cx().int_attr(pred as i64, Type::I64);
        let none = self.cx().ext_attr(FastMathFlags::NONE);
        let ty = self.with_elem(Type::I1);
        self.emit("arith.cmpf", &[a, b], ty, &[("predicate", attr), ("fastmath", none)])
    }

    fn compare_ints(&mut self, pred: CmpIPredicate, a: Value, b: Value) -> Value {
        let attr = self.cx().int_attr(pred as i64, Type::I64);
        let ty = self.with_elem(Type::I1);
        self.emit("arith.cmpi", &[a, b], ty, &[("predicate", attr)])
    }

    /// Another precision of what is computed on.
    pub(super) fn cast(&mut self, name: &str, a: Value, elem: Type) -> Value {
        let ty = self.with_elem(elem);
        self.emit(name, &[a], ty, &[])
    }

    /// One truth value: whether all lanes hold. None for shapes that no reduction takes.
    fn all(&mut self, cond: Value) -> Option<Value> {
        let cx = self.cx();
        let lanes = match cx.type_data(self.float) {
            TypeData::Float(_) => return Some(cond),
            TypeData::Vector { .. } => cx.shape(self.float).filter(|shape| !shape.is_empty())?.iter().product(),
            _ => return None,
        };
        let flat = cx.vector_type(&[lanes], Type::I1);
        let mut cond = cond;
        if self.rw.body().ty(cond) != flat {
            cond = self.emit("vector.shape_cast", &[cond], flat, &[]);
        }
        let and = cx.ext_attr(CombiningKind::And);
        Some(self.emit("vector.reduction", &[cond], Type::I1, &[("kind", and)]))
    }

    /// A block in a region of `op` that yields what is emitted in it.
    fn branch<const N: usize>(&mut self, op: Op, region: usize, fill: impl FnOnce(&mut Self) -> [Value; N]) {
        let region = self.rw.body().regions(op).nth(region).expect("created with two regions");
        let block = self.rw.create_block(region, &[]);
        self.rw.set_to_end(block);
        let values = fill(self);
        self.create("scf.yield", &values, &[], &[]);
    }
}

#[rustfmt::skip]
impl Arith for Emitted<'_, '_> {
    type V = Value;

    fn digits(&self) -> u32 { if self.integer == Type::I64 { f64::MANTISSA_DIGITS } else { f32::MANTISSA_DIGITS } }
    fn c(&mut self, value: f64) -> Value {
        let is_double = self.integer == Type::I64;
        let attr = if is_double { self.cx().f64_attr(value) } else { self.cx().f32_attr(value as f32) };
        self.constant(attr, self.float)
    }
    fn l(&mut self, value: i64) -> Value {
        let (attr, ty) = (self.cx().int_attr(value, self.integer), self.with_elem(self.integer));
        self.constant(attr, ty)
    }
    fn d(&mut self, value: f64) -> Value {
        let (attr, ty) = (self.cx().f64_attr(value), self.with_elem(Type::F64));
        self.constant(attr, ty)
    }
    fn add(&mut self, a: Value, b: Value) -> Value { self.float_op("arith.addf", &[a, b], self.float) }
    fn sub(&mut self, a: Value, b: Value) -> Value { self.float_op("arith.subf", &[a, b], self.float) }
    fn mul(&mut self, a: Value, b: Value) -> Value { self.float_op("arith.mulf", &[a, b], self.float) }
    fn div(&mut self, a: Value, b: Value) -> Value { self.float_op("arith.divf", &[a, b], self.float) }
    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value { self.float_op("math.fma", &[a, b, c], self.float) }
    fn sqrt(&mut self, a: Value) -> Value { self.float_op("math.sqrt", &[a], self.float) }
    fn abs(&mut self, a: Value) -> Value { self.float_op("math.absf", &[a], self.float) }
    fn copysign(&mut self, a: Value, sign: Value) -> Value {
        self.float_op("math.copysign", &[a, sign], self.float)
    }
    fn cmp(&mut self, pred: Cmp, a: Value, b: Value) -> Value {
        let pred = match pred {
            Cmp::Oeq => CmpFPredicate::Oeq,
            Cmp::Olt => CmpFPredicate::Olt,
            Cmp::One => CmpFPredicate::One,
        };
        self.compare_floats(pred, a, b)
    }
    fn wide(&mut self, op: Wide, a: Value, b: Value) -> Value {
        let name = match op {
            Wide::Add => "arith.addf",
            Wide::Sub => "arith.subf",
            Wide::Mul => "arith.mulf",
            Wide::Div => "arith.divf",
        };
        let ty = self.with_elem(Type::F64);
        self.float_op(name, &[a, b], ty)
    }
    fn wide_less(&mut self, a: Value, b: Value) -> Value { self.compare_floats(CmpFPredicate::Olt, a, b) }
    fn same(&mut self, a: Value, b: Value) -> Value { self.compare_ints(CmpIPredicate::Eq, a, b) }
    fn below(&mut self, a: Value, b: Value) -> Value { self.compare_ints(CmpIPredicate::Ult, a, b) }
    fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.rw.body().ty(a);
        self.emit("arith.select", &[cond, a, b], ty, &[])
    }
    fn both(&mut self, a: Value, b: Value) -> Value {
        let ty = self.with_elem(Type::I1);
        self.emit("arith.andi", &[a, b], ty, &[])
    }
    fn bits(&mut self, a: Value) -> Value { self.cast("arith.bitcast", a, self.integer) }
    fn of_bits(&mut self, a: Value) -> Value { self.emit("arith.bitcast", &[a], self.float, &[]) }
    fn int(&mut self, op: Int, a: Value, b: Value) -> Value {
        let ty = self.with_elem(self.integer);
        let name = match op {
            Int::Add => "arith.addi",
            Int::Sub => "arith.subi",
            Int::Mul => "arith.muli",
            Int::MulHigh => {
                let op = self.create("arith.mului_extended", &[a, b], &[ty, ty], &[]);
                return self.rw.body().result(op, 1);
            }
            Int::And => "arith.andi",
            Int::Or => "arith.ori",
            Int::Xor => "arith.xori",
            Int::Shl => "arith.shli",
            Int::ShrS => "arith.shrsi",
            Int::ShrU => "arith.shrui",
        };
        self.emit(name, &[a, b], ty, &[])
    }
    fn to_float(&mut self, a: Value) -> Value { self.emit("arith.sitofp", &[a], self.float, &[]) }
    fn widen(&mut self, a: Value) -> Value { self.cast("arith.extf", a, Type::F64) }
    fn narrow(&mut self, a: Value) -> Value { self.cast("arith.truncf", a, Type::F32) }

    fn scales(&self) -> bool { self.scaled_lanes.is_some() }
    fn scale(&mut self, a: Value, n: Value) -> Value {
        let lanes = self.scaled_lanes.expect("asked before");
        let cx = self.cx();
        let zero = self.f(0.0);
        let lane_bits = cx.int_type(lanes.max(8) as u32);
        let all = cx.int_attr(-1, lane_bits);
        let mut operands = vec![a, n, zero, self.constant(all, lane_bits)];
        if lanes == 16 {
            // As the mode of the thread says: to nearest.
            let current = cx.int_attr(4, Type::I32);
            operands.push(self.constant(current, Type::I32));
        }
        let name = format!("llvm.x86.avx512.mask.scalef.ps.{}", lanes * 32);
        let op = CallIntrinsicOp::call(self.rw, self.loc, &name, &operands, Some(self.float));
        self.rw.body().result(op, 0)
    }

    fn rarely<const N: usize>(
        &mut self,
        cond: Value,
        usual: [Value; N],
        rare: impl FnOnce(&mut Self) -> [Value; N],
    ) -> [Value; N] {
        let chosen = |a: &mut Self| {
            let others = rare(a);
            std::array::from_fn(|i| a.select(cond, usual[i], others[i]))
        };
        let Some(all) = self.all(cond) else { return chosen(self) };
        let types = usual.map(|value| self.rw.body().ty(value));
        let state = OpState::new(self.cx().op_name("scf.if"), self.loc).operands([all]).results(types).regions(2);
        let op = self.rw.create(state);
        self.branch(op, 0, |_| usual);
        self.branch(op, 1, chosen);
        self.rw.set_after(op);
        std::array::from_fn(|i| self.rw.body().result(op, i))
    }
}
