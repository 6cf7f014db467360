//! Indices that a kernel reads: checked, and one that is none told to the runtime.
//!
//! What the kernel does with a wrong index is harmless: it goes on with 0, and the launch's results are never handed out.
//! So nothing waits, and of all that is told the runtime keeps what comes first in the order of checks and positions,
//! however groups are split among threads.

use sutura_dialects::gir::ops::PickOp;
use sutura_ir::{OpView, Type, Value};

use super::emit::{Emit, Pred};
use super::kernel::{Lowered, Lowering};

impl<'a> Lowering<'a, '_> {
    /// The index that a pick gives.
    pub(super) fn pick(&mut self, this: &PickOp<'a>) -> Lowered<'a, Value> {
        let op = this.op_ref();
        let tile = self.tile(op, this.tile())?;
        let given = self.e.widened(tile.values()[0]);
        let (size, position, zero) = (self.index(this.size()), self.index(this.position()), self.e.i64(0));
        let negative = self.e.cmpi(Pred::Slt, given, zero);
        let from_end = self.e.addi(given, size);
        let index = self.e.select(negative, from_end, given);
        // As unsigned numbers, those below 0 lie above every size.
        let is_one = self.e.cmpi(Pred::Ult, index, size);
        let check = self.number_of(op);
        let reporter = self.reporter;
        let report = |e: &mut Emit<'_>| {
            e.report(reporter, check, [position, given, size]);
            Ok(vec![])
        };
        let reported = self.e.if_else(is_one, &[], |_| Ok(vec![]), report);
        self.at(op, reported)?;
        Ok(self.e.select(is_one, index, zero))
    }
}

impl Emit<'_> {
    /// The number, or the first of a vector, as one of 64 bits.
    fn widened(&mut self, value: Value) -> Value {
        let mut value = value;
        if self.cx().shape(self.ty(value)).is_some() {
            let (elem, position) = (self.cx().element_type(self.ty(value)), self.cx().i64_array(&[0]));
            value = self.op1("vector.extract", &[value], elem, &[("static_position", position)]);
        }
        match self.cx().bit_width(self.ty(value)) {
            Some(..64) => self.op1("arith.extsi", &[value], Type::I64, &[]),
            _ => value,
        }
    }
}
