//! Actions whose numbers are computed.

use sutura_ir::{Type, Value};

use super::{CALL_SLOT, REPORT_SLOT, REPORTED, Ready, Run, Word};
use crate::rt_to_upstream::emit::{Pred, ptr_type};

impl<'p> Run<'p, '_, '_, '_, '_> {
    pub(super) fn perform(&mut self, action: &Ready) -> Result<(), String> {
        match action {
            Ready::Exchange(slots) => self.perform_exchange(*slots),
            Ready::Invoke(invoke) => self.perform_invoke(invoke)?,
            Ready::Call { symbol, buffers, numbers } => self.perform_call(*symbol, buffers, numbers),
            Ready::Expect { list, elem, check, sizes } => {
                let list = self.word(*list);
                self.perform_expect(list, *elem, *check, sizes);
            }
            Ready::Launch { kernel, buffers, checks, dims, groups, grain } => {
                self.store_words(buffers);
                if let Some(first) = checks {
                    // What a kernel needs to report what is wrong.
                    self.e.store(self.table, self.buffer_array, buffers.len() as i32);
                    self.e.store(*first, self.buffer_array, buffers.len() as i32 + 1);
                }
                for (i, dim) in dims.iter().enumerate() {
                    self.e.store(*dim, self.dim_array, i as i32);
                }
                let kernel = self.kernel_address(kernel);
                let args = [self.context, kernel, self.buffer_array, self.dim_array, *groups, *grain];
                self.e.call_pointer(self.start, &args);
            }
            Ready::Enqueue { kernel, words, count, groups } => {
                self.store_words(words);
                let args = [self.context, *kernel, self.buffer_array, *count, *groups];
                self.e.call_pointer(self.start, &args);
            }
            Ready::Copy { from, to, bytes } => {
                let (from, to) = (self.word(*from), self.word(*to));
                match self.copy {
                    Some(copy) => self.e.call_pointer(copy, &[self.context, from, to, *bytes]),
                    None => {
                        let volatile = self.e.cx().bool_attr(false);
                        self.e.op("llvm.intr.memcpy", &[to, from, *bytes], &[], &[("isVolatile", volatile)]);
                    }
                }
            }
            Ready::WriteSizes(list, sizes) => {
                let list = self.word(*list);
                sizes.iter().enumerate().for_each(|(i, size)| self.e.store(*size, list, i as i32));
            }
            Ready::ReadSizes => {}
            Ready::Compare { check, sizes } => self.perform_compare(*check, sizes),
            Ready::Select(versions) => self.select(versions)?,
            Ready::If(condition, sides) => {
                self.perform_if(*condition, &mut |run, side| run.perform_all(&sides[side]))?;
            }
            Ready::While(condition, sides) => {
                self.perform_while(*condition, &mut |run, side| run.perform_all(&sides[side]))?;
            }
        }
        Ok(())
    }

    fn perform_exchange(&mut self, [first, second]: [i32; 2]) {
        let Some(slots) = self.slots else { return };
        let addresses = [first, second].map(|slot| self.e.load_here(slots, ptr_type(self.e.cx()), slot));
        self.e.store(addresses[0], slots, second);
        self.e.store(addresses[1], slots, first);
    }

    /// Reports the first size that is another one, and ends the run: nothing is touched by what goes on with wrong sizes.
    fn perform_compare(&mut self, check: Value, sizes: &[(Value, Value)]) {
        for (dim, (given, wanted)) in sizes.iter().enumerate().filter(|(_, (given, wanted))| given != wanted) {
            let wrong = self.e.compare(Pred::Ne, *given, *wanted);
            let conditional = self.e.begin_if(wrong);
            let report = self.e.load(self.table, ptr_type(self.e.cx()), REPORT_SLOT);
            let position = self.e.i64(dim as i64);
            self.e.call_pointer(report, &[self.context, check, position, *given, *wanted]);
            self.e.end_if(conditional);
            let (right, code) = (self.e.compare(Pred::Eq, *given, *wanted), self.e.i32(REPORTED));
            if let Some(fail) = self.fail {
                self.e.branch_unless(right, fail, &[code]);
            }
        }
    }

    /// Ends the run with what the routine returns, unless that is 0.
    fn perform_call(&mut self, symbol: Value, buffers: &[Word], numbers: &[Value]) {
        self.store_words(buffers);
        for (i, number) in numbers.iter().enumerate() {
            self.e.store(*number, self.dim_array, i as i32);
        }
        let call = self.e.load(self.table, ptr_type(self.e.cx()), CALL_SLOT);
        let counts = [buffers.len(), numbers.len()].map(|count| self.e.i32(count as i64));
        let args = [self.context, symbol, self.buffer_array, self.dim_array, counts[0], counts[1]];
        let result = self.e.call_pointer_for(call, &args, Type::I32);
        let zero = self.e.i32(0);
        let fine = self.e.compare(Pred::Eq, result, zero);
        if let Some(fail) = self.fail {
            self.e.branch_unless(fine, fail, &[result]);
        }
    }

    /// Reports each element that asks for another size; the runtime keeps the first.
    fn perform_expect(&mut self, list: Value, elem: Type, check: Value, sizes: &[(Value, Value)]) {
        let (zero, minus) = (self.e.i64(0), self.e.i64(-1));
        let mut open = self.e.truth(true);
        for (i, (wanted, copied)) in sizes.iter().enumerate() {
            let mut given = self.e.load(list, elem, i as i32);
            if elem != Type::I64 {
                given = self.e.value("arith.extsi", &[given], Type::I64, &[]);
            }
            let is_zero = self.e.compare(Pred::Eq, given, zero);
            let is_minus = self.e.compare(Pred::Eq, given, minus);
            let is_open = self.e.and(is_minus, open);
            let meant = self.e.value("arith.select", &[is_zero, *copied, given], Type::I64, &[]);
            let meant = self.e.value("arith.select", &[is_open, *wanted, meant], Type::I64, &[]);
            let no = self.e.truth(false);
            let used = self.e.same(is_minus, no);
            open = self.e.and(open, used);
            let wrong = self.e.compare(Pred::Ne, meant, *wanted);
            let conditional = self.e.begin_if(wrong);
            let ptr = ptr_type(self.e.cx());
            let report = self.e.load(self.table, ptr, REPORT_SLOT);
            let position = self.e.i64(i as i64);
            self.e.call_pointer(report, &[self.context, check, position, given, *wanted]);
            self.e.end_if(conditional);
        }
    }

    /// Fills the array of buffers.
    pub(super) fn store_words(&mut self, words: &[Word]) {
        for (i, word) in words.iter().enumerate() {
            let value = self.word(*word);
            self.e.store(value, self.buffer_array, i as i32);
        }
    }

    fn kernel_address(&mut self, name: &str) -> Value {
        let cx = self.e.cx();
        let ptr = ptr_type(cx);
        let ty = cx.function_type(&[ptr, ptr, Type::I64, Type::I64], &[]);
        let function = self.e.value("func.constant", &[], ty, &[("value", cx.symbol_ref(name))]);
        self.e.value("builtin.unrealized_conversion_cast", &[function], ptr, &[])
    }
}
