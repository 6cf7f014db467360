//! Computing with floats.

use sutura_dialects::arith::{CmpFOp, CmpFPredicate, FastMathFlags};
use sutura_ir::{OpRef, OpView, Type, Value};

use super::kernel::{Lowered, Lowering, unsupported};

/// What may be assumed about an operation.
fn fastmath(op: OpRef<'_>) -> FastMathFlags {
    op.prop("fastmath").and_then(|a| op.cx.attr_as::<FastMathFlags>(a)).copied().unwrap_or_default()
}

impl Lowering<'_, '_> {
    pub(super) fn float_op(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let (operands, flags) = (self.operands(op)?, fastmath(op));
        let contract = flags.has(FastMathFlags::CONTRACT);
        let x = operands[0];
        Ok(match op.name_str() {
            "arith.addf" => self.e.float("spirv.FAdd", &operands, contract),
            "arith.subf" => self.e.float("spirv.FSub", &operands, contract),
            "arith.mulf" => self.e.float("spirv.FMul", &operands, contract),
            "arith.divf" => self.e.float("spirv.FDiv", &operands, contract),
            "math.fma" => self.e.float("spirv.GL.Fma", &operands, contract),
            "arith.negf" => self.e.same("spirv.FNegate", &operands),
            "arith.remf" => {
                let error = op.error("has no exact counterpart in SPIR-V, whose remainder of floats is approximate");
                return Err(Box::new(error.help("compute 'a - b * trunc(a / b)', if that is exact enough")));
            }
            "arith.maximumf" => self.extremum("spirv.FOrdGreaterThan", "spirv.BitwiseAnd", &operands, flags),
            "arith.minimumf" => self.extremum("spirv.FOrdLessThan", "spirv.BitwiseOr", &operands, flags),
            "arith.maxnumf" => self.number_extremum("spirv.FOrdGreaterThan", &operands),
            "arith.minnumf" => self.number_extremum("spirv.FOrdLessThan", &operands),
            "math.absf" => self.e.same("spirv.GL.FAbs", &operands),
            "math.floor" => self.e.same("spirv.GL.Floor", &operands),
            "math.ceil" => self.e.same("spirv.GL.Ceil", &operands),
            "math.roundeven" => self.e.same("spirv.GL.RoundEven", &operands),
            "math.trunc" => self.truncated(x),
            "math.round" => self.rounded_away(x),
            "math.sqrt" => self.e.same("spirv.GL.Sqrt", &operands),
            "math.rsqrt" => self.e.same("spirv.GL.InverseSqrt", &operands),
            "math.copysign" => self.copy_sign(x, operands[1]),
            "math.isnan" => self.e.question("spirv.IsNan", &operands),
            "math.isinf" => self.e.question("spirv.IsInf", &operands),
            "math.isfinite" => {
                let (ty, size) = (self.e.ty(x), self.e.same("spirv.GL.FAbs", &operands));
                let infinity = self.e.number(f64::INFINITY, ty);
                self.e.question("spirv.FOrdLessThan", &[size, infinity])
            }
            _ => return Err(unsupported(op)),
        })
    }

    /// The integer type of the same width and shape.
    fn bits_type(&mut self, ty: Type) -> Type {
        let cx = self.e.cx();
        let bits = cx.int_type(cx.bit_width(cx.element_type(ty)).expect("a float"));
        let ty = cx.with_element_type(ty, bits);
        self.e.module.needs.value(cx, ty);
        ty
    }

    /// NaN if an operand is one; -0 is below 0. Of equal operands `join` takes the sign bits: both or one.
    fn extremum(&mut self, better: &str, join: &str, operands: &[Value], flags: FastMathFlags) -> Value {
        let (a, b) = (operands[0], operands[1]);
        let ty = self.e.ty(a);
        let better = self.e.question(better, operands);
        let mut result = self.e.select(better, a, b);
        if !flags.has(FastMathFlags::NSZ) {
            let bits = self.bits_type(ty);
            let [x, y] = [a, b].map(|value| self.e.bitcast(value, bits));
            let joined = self.e.same(join, &[x, y]);
            let joined = self.e.bitcast(joined, ty);
            let equal = self.e.question("spirv.FOrdEqual", operands);
            result = self.e.select(equal, joined, result);
        }
        if !flags.has(FastMathFlags::NNAN) {
            // Where the comparison was not ordered the result is `b` so far.
            let nan = self.e.question("spirv.IsNan", &[a]);
            result = self.e.select(nan, a, result);
        }
        result
    }

    /// The operand that is a number if the other is NaN.
    fn number_extremum(&mut self, better: &str, operands: &[Value]) -> Value {
        let (a, b) = (operands[0], operands[1]);
        let better = self.e.question(better, operands);
        let nan = self.e.question("spirv.IsNan", &[b]);
        let first = self.e.same("spirv.LogicalOr", &[better, nan]);
        self.e.select(first, a, b)
    }

    fn truncated(&mut self, x: Value) -> Value {
        let ty = self.e.ty(x);
        let (down, up, zero) =
            (self.e.same("spirv.GL.Floor", &[x]), self.e.same("spirv.GL.Ceil", &[x]), self.e.number(0.0, ty));
        let negative = self.e.question("spirv.FOrdLessThan", &[x, zero]);
        self.e.select(negative, up, down)
    }

    /// To nearest, ties away from zero. The distance to the truncated number is exact.
    fn rounded_away(&mut self, x: Value) -> Value {
        let ty = self.e.ty(x);
        let (whole, half, one) = (self.truncated(x), self.e.number(0.5, ty), self.e.number(1.0, ty));
        let rest = self.e.float("spirv.FSub", &[x, whole], false);
        let rest = self.e.same("spirv.GL.FAbs", &[rest]);
        let step = self.copy_sign(one, x);
        let next = self.e.float("spirv.FAdd", &[whole, step], false);
        let away = self.e.question("spirv.FOrdGreaterThanEqual", &[rest, half]);
        self.e.select(away, next, whole)
    }

    fn copy_sign(&mut self, x: Value, sign: Value) -> Value {
        let ty = self.e.ty(x);
        let bits = self.bits_type(ty);
        let width = self.cx().bit_width(self.cx().element_type(bits)).expect("an integer");
        let [x, sign] = [x, sign].map(|value| self.e.bitcast(value, bits));
        let top = i64::MIN >> (64 - width);
        let (top, rest) = (self.e.int(top, bits), self.e.int(!top, bits));
        let sign = self.e.same("spirv.BitwiseAnd", &[sign, top]);
        let size = self.e.same("spirv.BitwiseAnd", &[x, rest]);
        let both = self.e.same("spirv.BitwiseOr", &[size, sign]);
        self.e.bitcast(both, ty)
    }

    pub(super) fn compare_floats(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let operands = self.operands(op)?;
        let name = match CmpFOp::from_ref(op).predicate() {
            CmpFPredicate::Oeq => "spirv.FOrdEqual",
            CmpFPredicate::Ogt => "spirv.FOrdGreaterThan",
            CmpFPredicate::Oge => "spirv.FOrdGreaterThanEqual",
            CmpFPredicate::Olt => "spirv.FOrdLessThan",
            CmpFPredicate::Ole => "spirv.FOrdLessThanEqual",
            CmpFPredicate::One => "spirv.FOrdNotEqual",
            CmpFPredicate::Ueq => "spirv.FUnordEqual",
            CmpFPredicate::Ugt => "spirv.FUnordGreaterThan",
            CmpFPredicate::Uge => "spirv.FUnordGreaterThanEqual",
            CmpFPredicate::Ult => "spirv.FUnordLessThan",
            CmpFPredicate::Ule => "spirv.FUnordLessThanEqual",
            CmpFPredicate::Une => "spirv.FUnordNotEqual",
            // Shaders have no instruction for these.
            predicate @ (CmpFPredicate::Ord | CmpFPredicate::Uno) => {
                let [a, b] = [operands[0], operands[1]].map(|value| self.e.question("spirv.IsNan", &[value]));
                let nan = self.e.same("spirv.LogicalOr", &[a, b]);
                let ordered = predicate == CmpFPredicate::Ord;
                return Ok(if ordered { self.e.same("spirv.LogicalNot", &[nan]) } else { nan });
            }
            always @ (CmpFPredicate::True | CmpFPredicate::False) => {
                let ty = self.ty(op, op.result(0))?;
                return Ok(self.e.int(i64::from(always == CmpFPredicate::True), ty));
            }
        };
        Ok(self.e.question(name, &operands))
    }
}
