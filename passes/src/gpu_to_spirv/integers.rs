//! Computing with integers. Devices know 32 bits best: what they need not know for others is made of it.

use sutura_dialects::arith::{CmpIOp, CmpIPredicate};
use sutura_dialects::spirv::types::StructType;
use sutura_ir::{OpRef, OpView, Type, Value};

use super::kernel::{Lowered, Lowering, unsupported};

impl Lowering<'_, '_> {
    pub(super) fn integer_op(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let operands = self.operands(op)?;
        if op.cx.element_type(self.e.ty(operands[0])) == Type::I1 {
            let name = match op.name_str() {
                "arith.andi" | "arith.muli" | "arith.minui" | "arith.maxsi" => "spirv.LogicalAnd",
                "arith.ori" | "arith.maxui" | "arith.minsi" => "spirv.LogicalOr",
                "arith.xori" | "arith.addi" | "arith.subi" => "spirv.LogicalNotEqual",
                _ => return Err(Box::new(op.error("computes with truth values as numbers; widen them before"))),
            };
            return Ok(self.e.same(name, &operands));
        }
        let name = match op.name_str() {
            "arith.addi" => "spirv.IAdd",
            "arith.subi" => "spirv.ISub",
            "arith.muli" => "spirv.IMul",
            "arith.andi" => "spirv.BitwiseAnd",
            "arith.ori" => "spirv.BitwiseOr",
            "arith.xori" => "spirv.BitwiseXor",
            "arith.shli" => "spirv.ShiftLeftLogical",
            "arith.shrui" => "spirv.ShiftRightLogical",
            "arith.shrsi" => "spirv.ShiftRightArithmetic",
            "arith.divui" => "spirv.UDiv",
            "arith.remui" => "spirv.UMod",
            "arith.divsi" => "spirv.SDiv",
            "arith.remsi" => return Ok(self.signed_remainder(&operands)),
            "arith.maxsi" => return Ok(self.pick_integer("spirv.SGreaterThan", &operands)),
            "arith.minsi" => return Ok(self.pick_integer("spirv.SLessThan", &operands)),
            "arith.maxui" => return Ok(self.pick_integer("spirv.UGreaterThan", &operands)),
            "arith.minui" => return Ok(self.pick_integer("spirv.ULessThan", &operands)),
            "arith.ceildivui" | "arith.ceildivsi" | "arith.floordivsi" => {
                return Ok(self.rounded_quotient(op.name_str(), &operands));
            }
            "math.absi" => {
                let zero = self.zero_like(operands[0]);
                let negative = self.e.question("spirv.SLessThan", &[operands[0], zero]);
                let opposite = self.e.same("spirv.SNegate", &operands);
                return Ok(self.e.select(negative, opposite, operands[0]));
            }
            "math.ctpop" | "math.ctlz" | "math.cttz" => return Ok(self.count_bits(op.name_str(), operands[0])),
            _ => return Err(unsupported(op)),
        };
        Ok(self.e.same(name, &operands))
    }

    fn zero_like(&mut self, value: Value) -> Value {
        let ty = self.e.ty(value);
        self.e.int(0, ty)
    }

    fn pick_integer(&mut self, compare: &str, operands: &[Value]) -> Value {
        let first = self.e.question(compare, operands);
        self.e.select(first, operands[0], operands[1])
    }

    /// Made of the quotient: Vulkan leaves the remainder of negative numbers undefined.
    fn signed_remainder(&mut self, operands: &[Value]) -> Value {
        let quotient = self.e.same("spirv.SDiv", operands);
        let product = self.e.same("spirv.IMul", &[quotient, operands[1]]);
        self.e.same("spirv.ISub", &[operands[0], product])
    }

    fn rounded_quotient(&mut self, name: &str, operands: &[Value]) -> Value {
        let (a, b) = (operands[0], operands[1]);
        let (zero, ty) = (self.zero_like(a), self.e.ty(a));
        let one = self.e.int(1, ty);
        if name == "arith.ceildivui" {
            let quotient = self.e.same("spirv.UDiv", operands);
            let rest = self.e.same("spirv.UMod", operands);
            let inexact = self.e.question("spirv.INotEqual", &[rest, zero]);
            let above = self.e.same("spirv.IAdd", &[quotient, one]);
            return self.e.select(inexact, above, quotient);
        }
        let quotient = self.e.same("spirv.SDiv", operands);
        let product = self.e.same("spirv.IMul", &[quotient, b]);
        let inexact = self.e.question("spirv.INotEqual", &[product, a]);
        let signs = self.e.same("spirv.BitwiseXor", operands);
        // The quotient was rounded toward zero: up where it is negative, down where it is not.
        let (wrong, step) = match name {
            "arith.floordivsi" => ("spirv.SLessThan", "spirv.ISub"),
            _ => ("spirv.SGreaterThanEqual", "spirv.IAdd"),
        };
        let wrong = self.e.question(wrong, &[signs, zero]);
        let off = self.e.same("spirv.LogicalAnd", &[inexact, wrong]);
        let other = self.e.same(step, &[quotient, one]);
        self.e.select(off, other, quotient)
    }

    pub(super) fn compare_integers(&mut self, op: OpRef<'_>) -> Lowered<Value> {
        let mut operands = self.operands(op)?;
        let predicate = CmpIOp::from_ref(op).predicate();
        if op.cx.element_type(self.e.ty(operands[0])) == Type::I1 {
            return Ok(self.compare_truths(predicate, &mut operands));
        }
        Ok(self.e.question(question(predicate), &operands))
    }

    /// True is 1 unsigned, and -1 signed.
    fn compare_truths(&mut self, predicate: CmpIPredicate, operands: &mut [Value]) -> Value {
        use CmpIPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        let (swap, name) = match predicate {
            Eq => return self.e.same("spirv.LogicalEqual", operands),
            Ne => return self.e.same("spirv.LogicalNotEqual", operands),
            // Not the first, but (or) the second.
            Ult | Sgt => (false, "spirv.LogicalAnd"),
            Ule | Sge => (false, "spirv.LogicalOr"),
            Ugt | Slt => (true, "spirv.LogicalAnd"),
            Uge | Sle => (true, "spirv.LogicalOr"),
        };
        if swap {
            operands.swap(0, 1);
        }
        let not = self.e.same("spirv.LogicalNot", &operands[..1]);
        self.e.same(name, &[not, operands[1]])
    }

    // ---- bits

    /// A scalar or vector of 32-bit numbers in the shape of `ty`.
    fn words(&self, ty: Type) -> Type {
        self.cx().with_element_type(ty, Type::I32)
    }

    /// Lower and upper half of 64 bits.
    fn halves(&mut self, value: Value) -> (Value, Value) {
        let (ty, words) = (self.e.ty(value), self.words(self.e.ty(value)));
        let half = self.e.int(32, ty);
        let high = self.e.same("spirv.ShiftRightLogical", &[value, half]);
        (self.e.cast("spirv.UConvert", value, words), self.e.cast("spirv.UConvert", high, words))
    }

    fn count_bits(&mut self, name: &str, value: Value) -> Value {
        let ty = self.e.ty(value);
        let (elem, words) = (self.cx().element_type(ty), self.words(ty));
        let count = match elem {
            Type::I64 => self.count_in_halves(name, value),
            Type::I32 => self.count_word(name, value),
            _ => {
                let bits = i64::from(self.cx().bit_width(elem).expect("an integer"));
                let mut word = self.e.cast("spirv.UConvert", value, words);
                if name == "math.cttz" {
                    // Ends the search behind the last bit.
                    let end = self.e.int(1 << bits, words);
                    word = self.e.same("spirv.BitwiseOr", &[word, end]);
                }
                let count = self.count_word(name, word);
                let more = self.e.int(32 - bits, words);
                if name == "math.ctlz" { self.e.same("spirv.ISub", &[count, more]) } else { count }
            }
        };
        self.e.cast("spirv.UConvert", count, ty)
    }

    fn count_in_halves(&mut self, name: &str, value: Value) -> Value {
        let (low, high) = self.halves(value);
        let (in_low, in_high) = (self.count_word(name, low), self.count_word(name, high));
        if name == "math.ctpop" {
            return self.e.same("spirv.IAdd", &[in_low, in_high]);
        }
        let (first, second, none) = if name == "math.ctlz" { (high, in_low, in_high) } else { (low, in_high, in_low) };
        let (zero, ty) = (self.zero_like(first), self.e.ty(first));
        let all = self.e.int(32, ty);
        let beyond = self.e.same("spirv.IAdd", &[second, all]);
        let empty = self.e.question("spirv.IEqual", &[first, zero]);
        self.e.select(empty, beyond, none)
    }

    /// In 32 bits.
    fn count_word(&mut self, name: &str, word: Value) -> Value {
        let ty = self.e.ty(word);
        match name {
            "math.ctpop" => self.e.same("spirv.BitCount", &[word]),
            "math.ctlz" => {
                // The position is -1 where there is no bit, which gives 32.
                let highest = self.e.same("spirv.GL.FindUMsb", &[word]);
                let last = self.e.int(31, ty);
                self.e.same("spirv.ISub", &[last, highest])
            }
            _ => {
                let (lowest, zero, all) =
                    (self.e.same("spirv.GL.FindILsb", &[word]), self.zero_like(word), self.e.int(32, ty));
                let empty = self.e.question("spirv.IEqual", &[word, zero]);
                self.e.select(empty, all, lowest)
            }
        }
    }

    // ---- two results

    pub(super) fn add_extended(&mut self, op: OpRef<'_>) -> Lowered {
        self.ty(op, op.result(0))?;
        let operands = self.operands(op)?;
        if op.cx.element_type(self.e.ty(operands[0])) == Type::I1 {
            return Err(Box::new(op.error("computes with truth values as numbers; widen them before")));
        }
        let sum = self.e.same("spirv.IAdd", &operands);
        let carry = self.e.question("spirv.ULessThan", &[sum, operands[0]]);
        self.set(op.result(0), sum);
        self.set(op.result(1), carry);
        Ok(())
    }

    pub(super) fn multiply_extended(&mut self, op: OpRef<'_>) -> Lowered {
        let ty = self.ty(op, op.result(0))?;
        let operands = self.operands(op)?;
        let signed = op.name_str() == "arith.mulsi_extended";
        let (low, high) = match op.cx.element_type(ty) {
            Type::I1 => return Err(Box::new(op.error("computes with truth values as numbers; widen them before"))),
            Type::I32 => {
                let both = self.cx().ext_type(StructType::plain(&[ty, ty]));
                let name = if signed { "spirv.SMulExtended" } else { "spirv.UMulExtended" };
                let product = self.e.value(name, &operands, both, &[]);
                (self.e.extract(product, 0, ty), self.e.extract(product, 1, ty))
            }
            Type::I64 => (self.e.same("spirv.IMul", &operands), self.high_of_64(&operands, signed)),
            elem => {
                let (name, words) = (if signed { "spirv.SConvert" } else { "spirv.UConvert" }, self.words(ty));
                let [a, b] = [operands[0], operands[1]].map(|operand| self.e.cast(name, operand, words));
                let product = self.e.same("spirv.IMul", &[a, b]);
                let bits = i64::from(op.cx.bit_width(elem).expect("an integer"));
                let bits = self.e.int(bits, words);
                let high = self.e.same("spirv.ShiftRightLogical", &[product, bits]);
                (self.e.cast("spirv.UConvert", product, ty), self.e.cast("spirv.UConvert", high, ty))
            }
        };
        self.set(op.result(0), low);
        self.set(op.result(1), high);
        Ok(())
    }

    /// The upper half of a product of 128 bits, of four products of halves.
    fn high_of_64(&mut self, operands: &[Value], signed: bool) -> Value {
        let (a, b) = (operands[0], operands[1]);
        let ty = self.e.ty(a);
        let (half, mask) = (self.e.int(32, ty), self.e.int(0xFFFF_FFFF, ty));
        let [a_low, b_low] = [a, b].map(|value| self.e.same("spirv.BitwiseAnd", &[value, mask]));
        let [a_high, b_high] = [a, b].map(|value| self.e.same("spirv.ShiftRightLogical", &[value, half]));
        let lowest = self.e.same("spirv.IMul", &[a_low, b_low]);
        let carry = self.e.same("spirv.ShiftRightLogical", &[lowest, half]);
        // No sum overflows: a product of 32-bit numbers leaves room for two more of them.
        let middle = self.e.same("spirv.IMul", &[a_high, b_low]);
        let middle = self.e.same("spirv.IAdd", &[middle, carry]);
        let middle_low = self.e.same("spirv.BitwiseAnd", &[middle, mask]);
        let middle_high = self.e.same("spirv.ShiftRightLogical", &[middle, half]);
        let other = self.e.same("spirv.IMul", &[a_low, b_high]);
        let other = self.e.same("spirv.IAdd", &[other, middle_low]);
        let other_high = self.e.same("spirv.ShiftRightLogical", &[other, half]);
        let highest = self.e.same("spirv.IMul", &[a_high, b_high]);
        let highest = self.e.same("spirv.IAdd", &[highest, middle_high]);
        let highest = self.e.same("spirv.IAdd", &[highest, other_high]);
        if !signed {
            return highest;
        }
        // A negative operand counts 2^64 too much: the other one is taken off.
        let zero = self.zero_like(a);
        [(a, b), (b, a)].into_iter().fold(highest, |product, (operand, other)| {
            let negative = self.e.question("spirv.SLessThan", &[operand, zero]);
            let excess = self.e.select(negative, other, zero);
            self.e.same("spirv.ISub", &[product, excess])
        })
    }
}

fn question(predicate: CmpIPredicate) -> &'static str {
    match predicate {
        CmpIPredicate::Eq => "spirv.IEqual",
        CmpIPredicate::Ne => "spirv.INotEqual",
        CmpIPredicate::Slt => "spirv.SLessThan",
        CmpIPredicate::Sle => "spirv.SLessThanEqual",
        CmpIPredicate::Sgt => "spirv.SGreaterThan",
        CmpIPredicate::Sge => "spirv.SGreaterThanEqual",
        CmpIPredicate::Ult => "spirv.ULessThan",
        CmpIPredicate::Ule => "spirv.ULessThanEqual",
        CmpIPredicate::Ugt => "spirv.UGreaterThan",
        CmpIPredicate::Uge => "spirv.UGreaterThanEqual",
    }
}
