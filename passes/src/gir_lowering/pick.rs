//! Indices that a kernel reads: checked, and one that is none told to the runtime.
//!
//! What the kernel does with a wrong index is harmless: it goes on with 0, and the launch's results are never handed out.
//! So nothing waits, and of all that is told the runtime keeps what comes first in the order of checks and positions,
//! however groups are split among threads.

use sutura_dialects::gir::ops::PickOp;
use sutura_ir::{OpView, Type, Value};

use super::emit::{Emit, Pred};
use super::kernel::{Lowered, Lowering};

/// Slots of the runtime's table: two versions of 32 bits, the context, two functions, and the one that is told.
const CONTEXT_SLOT: i64 = 1;
const REPORT_SLOT: i64 = 4;

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
        let views = self.kernel.views.len() as i64;
        let buffers = self.buffers;
        let report = |e: &mut Emit<'_>| {
            e.report(buffers, views, check, [position, given, size]);
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

    /// Tells the runtime that a check does not hold for `[position, index, size]`. Its table and the number of the kernel's first check
    /// stand behind the kernel's `views` buffers.
    pub(super) fn report(&mut self, buffers: Value, views: i64, check: i64, [position, given, size]: [Value; 3]) {
        let ptr = self.ptr_type();
        let table = self.slot(buffers, views, ptr);
        let first = self.slot(buffers, views + 1, Type::I64);
        let check = self.i64(check);
        let number = self.addi(first, check);
        let (context, function) = (self.slot(table, CONTEXT_SLOT, ptr), self.slot(table, REPORT_SLOT, ptr));
        let segments = self.cx().i32_array(&[6, 0]);
        let props = [("operandSegmentSizes", segments), ("op_bundle_sizes", self.cx().i32_array(&[]))];
        self.op("llvm.call", &[function, context, number, position, given, size], &[], &props);
    }

    /// `base[index]`, of eight bytes.
    fn slot(&mut self, base: Value, index: i64, ty: Type) -> Value {
        let at = self.i64(index);
        let ptr = self.gep(base, at, ty);
        let align = self.cx().int_attr(8, Type::I64);
        self.op1("llvm.load", &[ptr], ty, &[("alignment", align)])
    }
}
