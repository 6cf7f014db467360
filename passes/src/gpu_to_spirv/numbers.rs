//! Numbers: constants, choices and conversions; what computes with them is beside.

use sutura_dialects::arith::ConstantOp;
use sutura_ir::{Attr, OpRef, OpView, Type, Value};

use super::kernel::{Lowered, Lowering, unsupported};

/// Bits of a float that `bf16` drops.
const BF16_DROPPED: i64 = 16;

/// What is done with values of `bf16`; the rest is computed in f32.
const MOVES_BF16: [&str; 5] = ["arith.constant", "arith.select", "arith.extf", "arith.truncf", "arith.bitcast"];

impl Lowering<'_, '_> {
    pub(super) fn number_op(&mut self, op: OpRef<'_>) -> Lowered {
        let name = op.name_str();
        let bf16 = |ty: Type| op.cx.element_type(ty) == Type::BF16;
        if op.operand_types().chain(op.result_types()).any(bf16) && !MOVES_BF16.contains(&name) {
            let error = op.error("computes with bf16, which SPIR-V cannot");
            return Err(Box::new(error.help("compute in f32: widen with 'arith.extf', round with 'arith.truncf'")));
        }
        let value = match name {
            "arith.constant" => self.constant(op)?,
            "arith.select" => {
                let operands = self.operands(op)?;
                // A vector of one condition is one here.
                self.e.select(operands[0], operands[1], operands[2])
            }
            "arith.cmpi" => self.compare_integers(op)?,
            "arith.cmpf" => self.compare_floats(op)?,
            "arith.extsi" | "arith.extui" | "arith.trunci" | "arith.index_cast" | "arith.index_castui" => {
                self.convert_integer(op)?
            }
            "arith.extf" | "arith.truncf" => self.convert_float(op)?,
            "arith.sitofp" | "arith.uitofp" => self.integer_to_float(op)?,
            "arith.fptosi" => self.float_to_integer(op, "spirv.ConvertFToS")?,
            "arith.fptoui" => self.float_to_integer(op, "spirv.ConvertFToU")?,
            "arith.bitcast" => {
                let (value, to) = (self.operand(op, 0)?, self.ty(op, op.result(0))?);
                self.bits_of(op, value, to)?
            }
            "arith.addui_extended" => return self.add_extended(op),
            "arith.mulsi_extended" | "arith.mului_extended" => return self.multiply_extended(op),
            _ => {
                let ty = self.ty(op, op.operand(0))?;
                self.ty(op, op.result(0))?;
                match op.cx.element_type(ty).is_float(op.cx) {
                    true => self.float_op(op)?,
                    false => self.integer_op(op)?,
                }
            }
        };
        self.set_result(op, value);
        Ok(())
    }

    fn constant(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let (cx, source) = (op.cx, ConstantOp::from_ref(op).constant());
        let ty = self.ty(op, op.result(0))?;
        let elem = cx.element_type(ty);
        // The element's bits are the same; where its type is another one, it is of the same width.
        let scalar = |word: u64| match elem {
            Type::I1 => cx.bool_attr(word & 1 != 0),
            _ if elem.is_float(cx) => cx.attr(sutura_ir::AttrData::Float { ty: elem, bits: word }),
            _ => cx.int_attr(word as i64, elem),
        };
        let value: Option<Attr> = match (cx.dense(source), cx.shape(ty)) {
            (Some(dense), None) => Some(scalar(dense.word(0))),
            (Some(dense), Some(_)) if dense.is_splat() => cx.splat_attr(ty, scalar(dense.word(0))),
            (Some(dense), Some(_)) => cx.dense_attr(ty, &dense.words().collect::<Vec<_>>()),
            (None, _) => match cx.attr_data(source) {
                sutura_ir::AttrData::Float { bits, .. } => Some(scalar(bits)),
                sutura_ir::AttrData::Integer { value, .. } => Some(scalar(value as u64)),
                _ => cx.as_bool(source).map(|value| scalar(u64::from(value))),
            },
        };
        match value {
            Some(value) => Ok(self.e.constant(value, ty)),
            None => Err(unsupported(op)),
        }
    }

    /// The same bits as another type, which may have another number of elements.
    pub(super) fn bits_of(&mut self, op: OpRef<'_>, value: Value, to: Type) -> Lowered<Value> {
        let from = self.e.ty(value);
        let truths = [from, to].iter().any(|ty| op.cx.element_type(*ty) == Type::I1);
        if truths && from != to {
            return Err(Box::new(op.error("takes truth values as bits, which they have none of in SPIR-V")));
        }
        Ok(self.e.bitcast(value, to))
    }

    fn convert_integer(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let (value, to) = (self.operand(op, 0)?, self.ty(op, op.result(0))?);
        let (from, elem) = (op.cx.element_type(self.e.ty(value)), op.cx.element_type(to));
        let signed = matches!(op.name_str(), "arith.extsi" | "arith.index_cast");
        if from == elem {
            return Ok(value);
        }
        if from == Type::I1 {
            let (one, zero) = (self.e.int(if signed { -1 } else { 1 }, to), self.e.int(0, to));
            return Ok(self.e.select(value, one, zero));
        }
        if elem == Type::I1 {
            let ty = self.e.ty(value);
            let (one, zero) = (self.e.int(1, ty), self.e.int(0, ty));
            let bit = self.e.same("spirv.BitwiseAnd", &[value, one]);
            return Ok(self.e.question("spirv.INotEqual", &[bit, zero]));
        }
        if signed && (from, elem) == (Type::I32, Type::I64) {
            return Ok(self.sign_extended(value));
        }
        let widens = op.cx.bit_width(from) < op.cx.bit_width(elem);
        Ok(self.e.cast(if signed && widens { "spirv.SConvert" } else { "spirv.UConvert" }, value, to))
    }

    /// 32 bits as 64, put together from two words: Mesa's drivers (seen in 22.3) find every ordered comparison of an
    /// `SConvert` of this kind with a constant false.
    fn sign_extended(&mut self, value: Value) -> Value {
        let shift = self.e.int(31, Type::I32);
        let elements = self.e.elements(value);
        let wide = elements.into_iter().map(|low| {
            let high = self.e.same("spirv.ShiftRightArithmetic", &[low, shift]);
            let words = self.e.construct(&[low, high]);
            self.e.bitcast(words, Type::I64)
        });
        let wide: Vec<Value> = wide.collect();
        self.e.construct(&wide)
    }

    fn integer_to_float(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let (value, to) = (self.operand(op, 0)?, self.ty(op, op.result(0))?);
        let signed = op.name_str() == "arith.sitofp";
        if op.cx.element_type(self.e.ty(value)) == Type::I1 {
            let (one, zero) = (self.e.number(if signed { -1.0 } else { 1.0 }, to), self.e.number(0.0, to));
            return Ok(self.e.select(value, one, zero));
        }
        Ok(self.e.cast(if signed { "spirv.ConvertSToF" } else { "spirv.ConvertUToF" }, value, to))
    }

    fn float_to_integer(&mut self, op: OpRef<'_>, name: &str) -> Lowered<Value> {
        let (value, to) = (self.operand(op, 0)?, self.ty(op, op.result(0))?);
        if op.cx.element_type(to) == Type::I1 {
            // -1 or 1, 0: what else a float holds is no number of one bit.
            let zero = self.e.number(0.0, self.e.ty(value));
            return Ok(self.e.question("spirv.FUnordNotEqual", &[value, zero]));
        }
        Ok(self.e.cast(name, value, to))
    }

    fn convert_float(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let (cx, value, to) = (op.cx, self.operand(op, 0)?, self.ty(op, op.result(0))?);
        let [from_elem, to_elem] = [op.operand(0), op.result(0)].map(|value| cx.element_type(op.ty(value)));
        if op.prop("roundingmode").is_some_and(|mode| !to_nearest(op, mode)) {
            return Err(Box::new(op.error("has a rounding mode that SPIR-V cannot be asked for in one place")));
        }
        match (from_elem, to_elem) {
            (Type::BF16, _) => {
                let wide = self.e.cx().with_element_type(to, Type::F32);
                let value = self.widened_bf16(value, wide);
                Ok(self.e.cast("spirv.FConvert", value, to))
            }
            (Type::F32, Type::BF16) => Ok(self.rounded_to_bf16(value, to)),
            (_, Type::BF16) => {
                let error = op.error("rounds to bf16 from another type than f32");
                Err(Box::new(error.help("go through f32, if rounding twice does no harm")))
            }
            _ => Ok(self.e.cast("spirv.FConvert", value, to)),
        }
    }

    fn widened_bf16(&mut self, value: Value, to: Type) -> Value {
        let bits = self.e.cx().with_element_type(to, Type::I32);
        let value = self.e.cast("spirv.UConvert", value, bits);
        let dropped = self.e.int(BF16_DROPPED, bits);
        let value = self.e.same("spirv.ShiftLeftLogical", &[value, dropped]);
        let cx = self.e.cx();
        self.e.module.needs.value(cx, to);
        self.e.bitcast(value, to)
    }

    /// To nearest, ties to even; NaN stays NaN, and becomes quiet.
    fn rounded_to_bf16(&mut self, value: Value, to: Type) -> Value {
        let ty = self.e.cx().with_element_type(to, Type::I32);
        let bits = self.e.bitcast(value, ty);
        let (dropped, one) = (self.e.int(BF16_DROPPED, ty), self.e.int(1, ty));
        let kept = self.e.same("spirv.ShiftRightLogical", &[bits, dropped]);
        let odd = self.e.same("spirv.BitwiseAnd", &[kept, one]);
        let below_half = self.e.int((1 << (BF16_DROPPED - 1)) - 1, ty);
        let up = self.e.same("spirv.IAdd", &[odd, below_half]);
        let rounded = self.e.same("spirv.IAdd", &[bits, up]);
        let rounded = self.e.same("spirv.ShiftRightLogical", &[rounded, dropped]);
        let quiet = self.e.int(1 << 6, ty);
        let nan = self.e.same("spirv.BitwiseOr", &[kept, quiet]);
        let is_nan = self.e.question("spirv.IsNan", &[value]);
        let result = self.e.select(is_nan, nan, rounded);
        self.e.cast("spirv.UConvert", result, to)
    }
}

/// True for the one rounding mode that is asked for.
fn to_nearest(op: OpRef<'_>, mode: Attr) -> bool {
    op.cx.as_int(mode) == Some(sutura_dialects::arith::RoundingMode::ToNearestEven as i64)
}
