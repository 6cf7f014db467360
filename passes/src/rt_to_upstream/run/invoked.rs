//! Calls of recursive functions, which are compiled as models are: one function solves and checks the sizes, the other one runs.
//!
//! A call goes through the same steps as a run of the model does in the runtime: sizes of the inputs to the first function, memory
//! for its temporaries, addresses to the second. All arrays that it needs are on the stack of the caller, so that a call in a call
//! finds its own.

use sutura_ir::{OpView, Type, Value};

use super::{ENTER_SLOT, LEAVE_SLOT, REPORTED, REPORTED_WORD, Ready, ReadyInvoke, Run};
use crate::rt_to_upstream::emit::{Emit, Pred, ptr_type};
use crate::rt_to_upstream::function_names;
use crate::rt_to_upstream::program::{Invoke, buffer_type};

/// Numbers beside the sizes: bytes of the call's memory, its address, and two values of a check that fails.
const MORE: usize = 4;

/// Of how many numbers a call is made.
pub(super) fn numbers_of(invoke: &Invoke<'_>) -> usize {
    let op = invoke.op.op_ref();
    let dims: usize = invoke.op.inputs().map(|value| buffer_type(op, value).dims.len()).sum();
    dims + invoke.symbols + invoke.output_dims + MORE
}

impl<'p> Run<'p, '_, '_, '_, '_> {
    pub(super) fn prepare_invoke(&mut self, invoke: &'p Invoke<'_>) -> Result<Ready, String> {
        let op = invoke.op.op_ref();
        let dims = invoke.op.inputs().flat_map(|value| buffer_type(op, value).dims.iter());
        let dims = dims.map(|size| self.sizes.value(self.e, size)).collect::<Result<_, _>>()?;
        let buffers = op.operands().map(|value| self.address(value)).collect::<Result<_, _>>()?;
        let (inputs, function) = (invoke.op.inputs().count(), invoke.function);
        let (symbols, output_dims) = (invoke.symbols, invoke.output_dims);
        Ok(Ready::Invoke(ReadyInvoke { function, buffers, inputs, dims, symbols, output_dims }))
    }

    /// The run ends before the call once anything was reported: what ends the recursion may be nonsense then.
    pub(super) fn perform_invoke(&mut self, invoke: &ReadyInvoke) -> Result<(), String> {
        let (Some(fail), Some(fail_check)) = (self.fail, self.fail_check) else {
            return Err("a call has nowhere to fail to".to_owned());
        };
        let ptr = ptr_type(self.e.cx());
        let reported = self.e.load_here(self.table, Type::I32, REPORTED_WORD);
        let (zero, code) = (self.e.i32(0), self.e.i32(REPORTED));
        let fine = self.e.compare(Pred::Eq, reported, zero);
        self.e.branch_unless(fine, fail, &[code]);
        let [dims, symbols, output_dims, bytes, frame, detail] = self.parts(invoke)?;
        for (i, dim) in invoke.dims.iter().enumerate() {
            self.e.store(*dim, dims, i as i32);
        }
        let nothing = self.e.i64(0);
        [0, 1].into_iter().for_each(|i| self.e.store(nothing, detail, i));
        let [shapes, run] = function_names(invoke.function);
        let failed = call(self.e, &shapes, &[dims, symbols, output_dims, bytes, detail]);
        let values = [0, 1].map(|i| self.e.load(detail, Type::I64, i));
        let fine = self.e.compare(Pred::Eq, failed, zero);
        self.e.branch_unless(fine, fail_check, &[failed, values[0], values[1]]);

        let (enter, leave) = (self.e.load(self.table, ptr, ENTER_SLOT), self.e.load(self.table, ptr, LEAVE_SLOT));
        let (number, bytes) = (self.e.i64(invoke.function as i64), self.e.load(bytes, Type::I64, 0));
        let failed = self.e.call_pointer_for(enter, &[self.context, number, bytes, frame], Type::I32);
        let fine = self.e.compare(Pred::Eq, failed, zero);
        self.e.branch_unless(fine, fail, &[failed]);

        self.store_words(&invoke.buffers);
        let outputs = self.e.element(self.buffer_array, ptr, number_of(invoke.inputs)?);
        let workspace = self.e.load(frame, ptr, 0);
        let args = [self.table, symbols, self.buffer_array, outputs, self.constants, workspace];
        let failed = call(self.e, &run, &args);
        let fine = self.e.compare(Pred::Eq, failed, zero);
        self.e.branch_unless(fine, fail, &[failed]);
        self.e.call_pointer(leave, &[self.context]);
        Ok(())
    }

    /// Where in the array of numbers the parts of a call are: sizes of its inputs, values of its symbols, sizes of its outputs, bytes
    /// of its memory, the address of that, and values of a check that fails.
    fn parts(&mut self, invoke: &ReadyInvoke) -> Result<[Value; 6], String> {
        let lengths = [invoke.dims.len(), invoke.symbols, invoke.output_dims, 1, 1, 2];
        let mut first = 0;
        let mut places = [self.dim_array; 6];
        for (place, length) in places.iter_mut().zip(lengths) {
            *place = self.e.element(self.dim_array, Type::I64, number_of(first)?);
            first += length;
        }
        Ok(places)
    }
}

fn number_of(count: usize) -> Result<i32, String> {
    i32::try_from(count).map_err(|_| "a call has too many arguments".to_owned())
}

/// Calls a function of the host program, which returns 0 where all is well.
fn call(e: &mut Emit<'_, '_>, name: &str, args: &[Value]) -> Value {
    let callee = e.cx().symbol_ref(name);
    e.value("func.call", args, Type::I32, &[("callee", callee)])
}
