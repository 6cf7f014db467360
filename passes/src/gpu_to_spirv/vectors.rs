//! Vectors of one to four elements; a vector of one is its element.

use sutura_dialects::vector::{CombiningKind, ReductionOp};
use sutura_ir::{DYNAMIC, OpRef, OpView, Type, Value};

use super::kernel::{Lowered, Lowering, unsupported};

impl Lowering<'_, '_> {
    pub(super) fn vector_op(&mut self, op: OpRef<'_>) -> Lowered {
        if op.name_str() == "vector.to_elements" {
            let vector = self.operand(op, 0)?;
            for (source, element) in op.results().zip(self.e.elements(vector)) {
                self.set(source, element);
            }
            return Ok(());
        }
        if op.num_results() != 1 {
            return Err(unsupported(op));
        }
        let to = self.ty(op, op.result(0))?;
        let value = match op.name_str() {
            "vector.broadcast" => {
                let source = self.operand(op, 0)?;
                self.filled(source, to)
            }
            "vector.shape_cast" => self.operand(op, 0)?,
            "vector.bitcast" => {
                let source = self.operand(op, 0)?;
                self.bits_of(op, source, to)?
            }
            "vector.from_elements" => {
                let elements = self.operands(op)?;
                self.e.construct(&elements)
            }
            "vector.extract" => self.extract(op, to)?,
            "vector.insert" => self.insert(op)?,
            "vector.shuffle" => self.pick(op)?,
            "vector.reduction" => self.reduce(ReductionOp::from_ref(op))?,
            "vector.fma" => {
                let operands = self.operands(op)?;
                if op.cx.element_type(op.ty(op.result(0))) == Type::BF16 {
                    return Err(Box::new(op.error("computes with bf16, which SPIR-V cannot").help("compute in f32")));
                }
                self.e.float("spirv.GL.Fma", &operands, false)
            }
            _ => return Err(unsupported(op)),
        };
        self.set_result(op, value);
        Ok(())
    }

    /// A vector of one value.
    fn filled(&mut self, source: Value, to: Type) -> Value {
        match self.cx().shape(to).filter(|_| self.e.ty(source) != to).map(|shape| shape[0]) {
            Some(count) => self.e.construct(&vec![source; count as usize]),
            None => source,
        }
    }

    /// The place that an access of one element names; `None` for the whole.
    fn place(&mut self, op: OpRef<'_>) -> Lowered<Option<Place>> {
        let fixed = op.prop("static_position").and_then(|a| op.cx.as_ints(a)).unwrap_or_default();
        match fixed[..] {
            [] => Ok(None),
            [DYNAMIC] => Ok(Some(Place::Dynamic(self.operand(op, op.num_operands() - 1)?))),
            [index] => Ok(Some(Place::Static(index))),
            _ => Err(unsupported(op)),
        }
    }

    fn extract(&mut self, op: OpRef<'_>, to: Type) -> Lowered<Value> {
        let vector = self.operand(op, 0)?;
        if self.e.ty(vector) == to {
            return Ok(vector);
        }
        Ok(match self.place(op)? {
            Some(Place::Static(index)) => self.e.extract(vector, index, to),
            Some(Place::Dynamic(index)) => self.e.value("spirv.VectorExtractDynamic", &[vector, index], to, &[]),
            None => vector,
        })
    }

    fn insert(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let (element, vector) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let ty = self.e.ty(vector);
        if self.e.ty(element) == ty {
            return Ok(element);
        }
        Ok(match self.place(op)? {
            Some(Place::Static(index)) => {
                let indices = self.e.i32_list([index]);
                self.e.value("spirv.CompositeInsert", &[element, vector], ty, &[("indices", indices)])
            }
            Some(Place::Dynamic(index)) => {
                self.e.value("spirv.VectorInsertDynamic", &[vector, element, index], ty, &[])
            }
            None => element,
        })
    }

    /// Elements combined, of integers or truth values; the accumulator, if there is one, is the last.
    fn reduce(&mut self, reduction: ReductionOp<'_>) -> Lowered<Value> {
        let (op, operands) = (reduction.op_ref(), self.operands(reduction.op_ref())?);
        let truths = op.ty(op.result(0)) == Type::I1;
        let name = match reduction.kind() {
            CombiningKind::And if truths => "spirv.LogicalAnd",
            CombiningKind::Or if truths => "spirv.LogicalOr",
            CombiningKind::Xor if truths => "spirv.LogicalNotEqual",
            CombiningKind::And => "spirv.BitwiseAnd",
            CombiningKind::Or => "spirv.BitwiseOr",
            CombiningKind::Xor => "spirv.BitwiseXor",
            CombiningKind::Add if !truths && !op.ty(op.result(0)).is_float(op.cx) => "spirv.IAdd",
            _ => {
                let error = op.error("combines in a way that has no conversion to SPIR-V");
                return Err(Box::new(error.help("sums of integers, and 'and', 'or' and 'xor' have one")));
            }
        };
        let elements: Vec<Value> = operands.iter().flat_map(|operand| self.e.elements(*operand)).collect();
        let combined = elements.into_iter().reduce(|a, b| self.e.same(name, &[a, b]));
        combined.ok_or_else(|| unsupported(op))
    }

    /// Elements of two vectors, by number.
    fn pick(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let (operands, to) = (self.operands(op)?, self.ty(op, op.result(0))?);
        let mask = op.prop("mask").and_then(|a| op.cx.as_ints(a)).unwrap_or_default();
        let vectors = operands.iter().all(|value| self.cx().shape(self.e.ty(*value)).is_some());
        if vectors && self.cx().shape(to).is_some() {
            let components = self.e.i32_list(mask);
            return Ok(self.e.value("spirv.VectorShuffle", &operands, to, &[("components", components)]));
        }
        // A scalar among them: one by one. An element that may be anything is the first.
        let all: Vec<Value> = operands.iter().flat_map(|value| self.e.elements(*value)).collect();
        let picked: Vec<Value> = mask.iter().map(|i| all[usize::try_from(*i).unwrap_or(0)]).collect();
        Ok(self.e.construct(&picked))
    }
}

/// Which element.
enum Place {
    Static(i64),
    Dynamic(Value),
}
