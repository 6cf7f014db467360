//! A kernel: its arguments, and the operations of its body one by one.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use sutura_dialects::gpu::{GPUFuncOp, block_size};
use sutura_dialects::rt::{GROUPS_ATTR, KERNEL_ATTR};
use sutura_dialects::spirv::types::pointer;
use sutura_dialects::spirv::{FunctionControl, MemoryAccess, StorageClass};
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{BlockRef, Body, Builder, Context, OpRef, OpState, OpView, Type, Value};

use super::emit::Emit;
use super::memory::SharedAddress;
use super::module::Module;
use super::types::{SHARED, converted, in_memory, space};

/// Bytes of an argument, whatever its type.
const ARGUMENT_BYTES: i64 = 8;

/// A converted kernel.
pub(super) struct Kernel {
    pub(super) state: OpState,
    pub(super) body: Body,
    pub(super) name: String,
    /// Variables of the module that it uses.
    pub(super) used: Vec<String>,
    pub(super) block_size: [i64; 3],
    /// Widths of the floats that it computes with.
    pub(super) floats: BTreeSet<u32>,
}

/// Why an operation cannot be converted.
pub(super) type Lowered<T = ()> = Result<T, Box<Diagnostic>>;

/// Converts the operations of a kernel.
pub(super) struct Lowering<'e, 'b> {
    pub(super) e: Emit<'e, 'b>,
    /// Values by those of the source.
    values: FxHashMap<Value, Value>,
    /// Addresses in variables of the workgroup by values of the source.
    pub(super) shared: FxHashMap<Value, SharedAddress>,
    pub(super) block_size: [i64; 3],
}

pub(super) fn convert_kernel(func: GPUFuncOp<'_>, module: &mut Module) -> Lowered<Kernel> {
    let (op, cx) = (func.op_ref(), func.op_ref().cx);
    let block_size = check_kernel(func)?;
    let name = op.symbol_name().unwrap_or_default();
    let mut body = Body::new(1);
    let region = body.region();
    let mut b = Builder::new(cx, &mut body);
    let entry = b.create_block(region, &[]);
    b.set_to_end(entry);
    // What floats a kernel computes with is its own; what the module needs is what all need.
    let outer = std::mem::take(&mut module.needs.floats);
    let e = Emit::new(b, op.loc(), module, entry);
    let mut lowering = Lowering { e, values: FxHashMap::default(), shared: FxHashMap::default(), block_size };
    let block = func.body().entry().expect("a kernel has a body");
    lowering.arguments(op, block)?;
    lowering.block(block)?;
    let used = lowering.e.used;
    let floats = std::mem::replace(&mut module.needs.floats, outer);
    let state = OpState::new(cx.op_name("spirv.func"), op.loc())
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .prop(cx.ident("function_type"), cx.type_attr(cx.function_type(&[], &[])))
        .prop(cx.ident("function_control"), cx.ext_attr(FunctionControl::NONE));
    // What launches need to know of the kernel.
    let kept = [KERNEL_ATTR, GROUPS_ATTR].into_iter().filter_map(|name| Some((name, op.attr(name)?)));
    let state = kept.fold(state, |state, (name, value)| state.attr(cx.ident(name), value));
    Ok(Kernel { state, body, name: name.to_owned(), used, block_size, floats })
}

/// Checks what holds for a kernel as a whole; its block size.
fn check_kernel(func: GPUFuncOp<'_>) -> Lowered<[i64; 3]> {
    let op = func.op_ref();
    if !func.is_kernel() {
        return Err(Box::new(op.error("is no kernel").help("inline functions of the device into their callers")));
    }
    let mut blocks = func.body().blocks();
    let args = blocks.next().map_or(0, |block| block.args().len());
    if blocks.next().is_some() {
        return Err(Box::new(op.error("has several blocks").help("express control flow in the scf dialect")));
    }
    if args != func.inputs().len() {
        let error = op.error("has buffers of the block or of the thread behind its arguments");
        return Err(Box::new(error.help("use 'llvm.mlir.global' in address space 3 for what a block shares")));
    }
    block_size(func).map_err(Box::new)?.map(|size| size.map(i64::from)).ok_or_else(|| {
        let error = op.error("has no 'known_block_size': SPIR-V fixes the size of workgroups");
        Box::new(error.help("add 'attributes {known_block_size = array<i32: X, Y, Z>}'"))
    })
}

impl Lowering<'_, '_> {
    pub(super) fn cx(&self) -> &Context {
        self.e.cx()
    }

    /// Reads the arguments that are used: each takes eight bytes behind the address in the push constants.
    fn arguments(&mut self, op: OpRef<'_>, block: BlockRef<'_>) -> Lowered {
        let mut address = None;
        for (index, arg) in block.args().iter().enumerate() {
            let ty = block.body.ty(*arg);
            let fail = |message: String| Box::new(op.error(message));
            if space(op.cx, ty) == Some(SHARED) || op.cx.shape(ty).is_some() {
                return Err(fail(format!(
                    "has an argument of type '{}', which cannot be passed",
                    type_text(op.cx, ty)
                )));
            }
            if block.body.is_unused(*arg) {
                continue;
            }
            let to = converted(op.cx, ty).map_err(fail)?;
            let address = match address {
                Some(address) => address,
                None => *address.insert(self.argument_address()),
            };
            let memory = in_memory(op.cx, ty).map_err(fail)?;
            let at = self.e.int(index as i64 * ARGUMENT_BYTES, Type::I64);
            let at = if index == 0 { address } else { self.e.same("spirv.IAdd", &[address, at]) };
            let value = self.load_at(at, memory, ARGUMENT_BYTES, MemoryAccess::ALIGNED);
            let value = self.loaded(value, to);
            self.values.insert(*arg, value);
        }
        Ok(())
    }

    fn argument_address(&mut self) -> Value {
        let cx = self.e.cx();
        let (name, ptr) = self.e.module.push_constant(cx);
        let block = self.e.address_of(name, ptr);
        let zero = self.e.int(0, Type::I32);
        let member = pointer(cx, Type::I64, StorageClass::PushConstant);
        let member = self.e.value("spirv.AccessChain", &[block, zero], member, &[]);
        self.e.value("spirv.Load", &[member], Type::I64, &[])
    }

    // ---- values

    /// The type of a value of the source in SPIR-V.
    pub(super) fn ty(&mut self, op: OpRef<'_>, value: Value) -> Lowered<Type> {
        self.converted(op, op.ty(value))
    }

    pub(super) fn converted(&mut self, op: OpRef<'_>, ty: Type) -> Lowered<Type> {
        let to = converted(op.cx, ty).map_err(|message| Box::new(op.error(message)))?;
        self.e.module.needs.value(op.cx, to);
        Ok(to)
    }

    /// The value that stands for one of the source.
    pub(super) fn get(&self, op: OpRef<'_>, value: Value) -> Lowered<Value> {
        match self.values.get(&value) {
            Some(value) => Ok(*value),
            // Only addresses in variables of the workgroup are none.
            None => Err(Box::new(op.error("uses an address in a variable of the workgroup other than to access it"))),
        }
    }

    pub(super) fn operand(&self, op: OpRef<'_>, index: usize) -> Lowered<Value> {
        self.get(op, op.operand(index))
    }

    pub(super) fn operands(&self, op: OpRef<'_>) -> Lowered<Vec<Value>> {
        op.operands().map(|value| self.get(op, value)).collect()
    }

    pub(super) fn set(&mut self, source: Value, value: Value) {
        self.values.insert(source, value);
    }

    pub(super) fn set_result(&mut self, op: OpRef<'_>, value: Value) {
        self.set(op.result(0), value);
    }

    // ---- operations

    /// Converts the operations of a block, but for its terminator where that is its parent's business.
    pub(super) fn block(&mut self, block: BlockRef<'_>) -> Lowered {
        for op in block.ops() {
            self.e.loc = op.loc();
            self.op(op)?;
        }
        Ok(())
    }

    fn op(&mut self, op: OpRef<'_>) -> Lowered {
        match op.name().dialect(op.cx) {
            "arith" | "math" => self.number_op(op),
            "scf" => self.control_op(op),
            "gpu" => self.lane_op(op),
            "llvm" => self.memory_op(op),
            "vector" => self.vector_op(op),
            _ => Err(unsupported(op)),
        }
    }
}

/// There is no conversion of the operation.
pub(super) fn unsupported(op: OpRef<'_>) -> Box<Diagnostic> {
    Box::new(op.error("cannot be converted to SPIR-V").help(match op.name().dialect(op.cx) {
        "math" => "run expand-math before, which makes arithmetic of functions",
        "cf" => "express control flow by scf.for, scf.if and scf.while",
        "func" => "inline calls before",
        "memref" => "use addresses: !llvm.ptr<1> for buffers, !llvm.ptr<3> for what a workgroup shares",
        "scf" => "only scf.for, scf.if and scf.while are converted",
        "vector" => "only operations on vectors of 1 to 4 elements in registers are converted",
        _ => "see `sutura-opt --help convert-gpu-to-spirv` for what is",
    }))
}
