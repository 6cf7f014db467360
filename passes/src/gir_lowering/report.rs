//! What a kernel says where a check of data does not hold: the check, a position, and for an index what it is and of how many.
//!
//! On a processor it calls the runtime. A GPU cannot; there it has three words of memory. The first keeps the report that comes
//! first in the order of checks and positions, the two others belong to it once it is known: a run whose first word has
//! changed is repeated, and then the report that it names writes them (docs/rationale/device-programs.md).

use sutura_dialects::gir::checks::DataCheck;
use sutura_dialects::llvm::{AtomicBinOp, AtomicOrdering};
use sutura_ir::{OpRef, Type, Value};

use super::emit::{Emit, Pred};
use super::kernel::Lowering;

/// Slots of the runtime's table: two versions of 32 bits, the context, two functions, and the one that is told.
const CONTEXT_SLOT: i64 = 1;
const REPORT_SLOT: i64 = 4;

/// Low bits of a report's key, for its position; the runtime reads the key.
const POSITION_BITS: i64 = 48;

/// Where a kernel finds what it needs for a report.
#[derive(Clone, Copy)]
pub(super) enum Reporter {
    /// The runtime's table and the number of the kernel's first check stand in the array of buffers, behind so many.
    Table { buffers: Value, views: i64 },
    /// Three words of the device, and the number of the kernel's first check.
    Words { words: Value, first: Value },
    /// A kernel for a GPU that checks nothing.
    None,
}

impl<'a> Lowering<'a, '_> {
    /// Number of an operation's check among those of the kernel.
    pub(super) fn number_of(&self, op: OpRef<'a>) -> i64 {
        let check = DataCheck::of(op);
        let number = self.checks.iter().position(|c| Some(c) == check.as_ref());
        number.expect("every check of the kernel is among its checks") as i64
    }
}

impl Emit<'_> {
    /// Tells that a check of the kernel does not hold for `[position, index, size]`.
    pub(super) fn report(&mut self, reporter: Reporter, check: i64, details: [Value; 3]) {
        let check = self.i64(check);
        match reporter {
            Reporter::None => unreachable!("a kernel that checks data has words for it"),
            Reporter::Table { buffers, views } => {
                let (ptr, number) = (self.ptr_type(), self.slot(buffers, views + 1, Type::I64));
                let (table, number) = (self.slot(buffers, views, ptr), self.addi(number, check));
                self.call_report(table, number, details);
            }
            Reporter::Words { words, first } => {
                let number = self.addi(first, check);
                self.write_report(words, number, details);
            }
        }
    }

    fn call_report(&mut self, table: Value, number: Value, [position, given, size]: [Value; 3]) {
        let ptr = self.ptr_type();
        let (context, function) = (self.slot(table, CONTEXT_SLOT, ptr), self.slot(table, REPORT_SLOT, ptr));
        let segments = self.cx().i32_array(&[6, 0]);
        let props = [("operandSegmentSizes", segments), ("op_bundle_sizes", self.cx().i32_array(&[]))];
        self.op("llvm.call", &[function, context, number, position, given, size], &[], &props);
    }

    /// The key of a report orders it among others: its check, and one more than its position, which may be -1.
    fn write_report(&mut self, words: Value, number: Value, [position, given, size]: [Value; 3]) {
        let (one, bits) = (self.i64(1), self.i64(POSITION_BITS));
        let high = self.op1("arith.shli", &[number, bits], Type::I64, &[]);
        let low = self.addi(position, one);
        let key = self.addi(high, low);
        let before = self.atomic(AtomicBinOp::UMin, words, key);
        let known = self.cmpi(Pred::Eq, before, key);
        let write = |e: &mut Self| {
            for (place, value) in [(1, given), (2, size)] {
                let at = e.i64(place);
                let word = e.gep(words, at, Type::I64);
                e.atomic(AtomicBinOp::Xchg, word, value);
            }
            Ok(vec![])
        };
        self.if_else(known, &[], write, |_| Ok(vec![])).expect("neither branch fails");
    }

    fn atomic(&mut self, kind: AtomicBinOp, ptr: Value, value: Value) -> Value {
        let cx = self.cx();
        let props = [
            ("bin_op", cx.int_attr(kind as i64, Type::I64)),
            ("ordering", cx.int_attr(AtomicOrdering::Monotonic as i64, Type::I64)),
            ("alignment", cx.int_attr(8, Type::I64)),
        ];
        self.op1("llvm.atomicrmw", &[ptr, value], Type::I64, &props)
    }

    /// `base[index]`, of eight bytes.
    fn slot(&mut self, base: Value, index: i64, ty: Type) -> Value {
        let at = self.i64(index);
        let ptr = self.gep(base, at, ty);
        let align = self.cx().int_attr(8, Type::I64);
        self.op1("llvm.load", &[ptr], ty, &[("alignment", align)])
    }
}
