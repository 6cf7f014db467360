//! Functions of device code: their heads, and the operations of the gpu dialect in them.

use sutura_dialects::gpu::{Dimension, GPUFuncOp, ShuffleOp, WORKGROUP_ATTRIBUTIONS, block_size};
use sutura_dialects::llvm::types::{FunctionType, PointerType, VoidType};
use sutura_dialects::llvm::{CConv, Linkage};
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Attr, Body, Context, Op, OpRef, OpState, OpView, Rewriter, Type, Value};

use super::emit::Emit;
use super::words::{exchangeable, of_words, to_words};
use super::{Exchanged, Position, Shuffle, Vendor};

/// Converts all functions of a module; the number of kernels.
pub(super) fn convert_module(cx: &Context, module: &mut Body, vendor: &dyn Vendor) -> Result<u64, Diagnostic> {
    let ops: Vec<Op> = module.entry_block().into_iter().flat_map(|block| module.ops(block)).collect();
    let mut kernels = 0;
    for op in ops {
        let view = OpRef::new(cx, module, op);
        let Some(func) = view.as_::<GPUFuncOp<'_>>() else { continue };
        let block = block_size(func)?;
        let (state, is_kernel) = (head(func, block, vendor)?, func.is_kernel());
        refuse(view)?;
        let mut rewriter = Rewriter::new(cx, module);
        let mut inside = rewriter.replace_nested(op, Box::new(Body::new(1))).expect("a gpu.func is isolated");
        convert_ops(cx, &mut inside, block, vendor);
        rewriter.set_before(op);
        rewriter.create_isolated(state, inside);
        rewriter.erase_op(op);
        kernels += u64::from(is_kernel);
    }
    Ok(kernels)
}

/// An error for what has no counterpart, before anything is changed.
fn refuse(func: OpRef<'_>) -> Result<(), Diagnostic> {
    let mut found = Ok(());
    func.walk(&mut |op| {
        if found.is_ok() {
            found = refuse_op(op);
        }
    });
    found
}

fn refuse_op(op: OpRef<'_>) -> Result<(), Diagnostic> {
    match op.name_str() {
        "gpu.shuffle" => exchangeable(op, op.ty(op.operand(0))).map(drop),
        "gpu.func" | "gpu.return" | "gpu.barrier" | "gpu.lane_id" | "gpu.subgroup_id" | "gpu.subgroup_size"
        | "gpu.thread_id" | "gpu.block_id" | "gpu.block_dim" | "gpu.grid_dim" => Ok(()),
        name if name.starts_with("gpu.") => Err(op.error("has no conversion to the vendor's dialect")),
        _ => Ok(()),
    }
}

/// The `llvm.func` for a function: without buffers behind its arguments, which are variables of the module instead.
fn head(func: GPUFuncOp<'_>, block: Option<[i32; 3]>, vendor: &dyn Vendor) -> Result<OpState, Diagnostic> {
    let (op, cx) = (func.op_ref(), func.op_ref().cx);
    let args = func.body().entry().map_or(0, |entry| entry.args().len());
    if args != func.inputs().len() {
        let error = op.error("has buffers of the block or the thread as arguments");
        return Err(error.help("use an `llvm.mlir.global` in address space 3 for memory of the block"));
    }
    let result = match func.results() {
        [] => cx.ext_type(VoidType),
        [one] => *one,
        _ => return Err(op.error("has several results, but functions of LLVM have at most one")),
    };
    if let Some(index) = func.inputs().iter().chain(func.results()).find(|ty| !is_llvm_type(cx, **ty)) {
        let ty = sutura_ir::asm::print::type_text(cx, *index);
        let error = op.error(format!("has an argument or result of type {ty}, which LLVM's functions have not"));
        return Err(error.help("pass pointers, integers and floats"));
    }
    let ty = cx.ext_type(FunctionType { result, params: func.inputs().to_vec(), var_arg: false });
    let mut state = OpState::new(cx.op_name("llvm.func"), op.loc())
        .prop(cx.ident("sym_name"), cx.string_attr(op.symbol_name().unwrap_or_default()))
        .prop(cx.ident("function_type"), cx.type_attr(ty))
        .prop(cx.ident("linkage"), cx.ext_attr(Linkage::External))
        .prop(cx.ident("visibility_"), cx.int_attr(0, Type::I64))
        .prop(cx.ident("unnamed_addr"), cx.int_attr(0, Type::I64))
        .prop(cx.ident("CConv"), cx.ext_attr(CConv::C));
    for name in ["arg_attrs", "res_attrs"] {
        if let Some(attrs) = op.prop(name) {
            state = state.prop(cx.ident(name), attrs);
        }
    }
    for attr in cx.entries(op.body.attrs(op.op)) {
        if !matches!(cx.str(attr.name), WORKGROUP_ATTRIBUTIONS | "sym_name") {
            state = state.attr(attr.name, attr.value);
        }
    }
    if func.is_kernel() {
        for (name, value) in vendor.kernel_attrs(cx, block) {
            state = state.attr(cx.ident(name), value);
        }
    }
    Ok(state)
}

fn is_llvm_type(cx: &Context, ty: Type) -> bool {
    ty.is_signless_integer(cx) || cx.float_kind(ty).is_some() || cx.type_as::<PointerType>(ty).is_some()
}

/// Replaces the operations of the gpu dialect in a function.
fn convert_ops(cx: &Context, body: &mut Body, block: Option<[i32; 3]>, vendor: &dyn Vendor) {
    let ops: Vec<Op> = body.preorder().filter(|op| body.name(*op).dialect(cx) == "gpu").collect();
    for op in ops {
        let loc = body.loc(op);
        let mut rw = Rewriter::new(cx, body);
        rw.set_before(op);
        let mut e = Emit { rw, loc, block };
        let values = convert(&mut e, op, vendor);
        if values.is_empty() {
            e.rw.erase_op(op);
        } else {
            e.rw.replace_op(op, &values);
        }
    }
}

/// Emits what does the same; the values of the results.
fn convert(e: &mut Emit<'_>, op: Op, vendor: &dyn Vendor) -> Vec<Value> {
    let name = e.rw.op_ref(op).name_str();
    let word = match name {
        "gpu.thread_id" => along_axis(e, op, Position::Thread, vendor),
        "gpu.block_id" => along_axis(e, op, Position::Block, vendor),
        "gpu.block_dim" => along_axis(e, op, Position::BlockDim, vendor),
        "gpu.grid_dim" => along_axis(e, op, Position::GridDim, vendor),
        "gpu.lane_id" => vendor.lane(e),
        "gpu.subgroup_size" => e.word(vendor.subgroup()),
        "gpu.subgroup_id" => subgroup_id(e, vendor),
        "gpu.shuffle" => return shuffle(e, op, vendor),
        "gpu.barrier" => {
            vendor.barrier(e);
            return Vec::new();
        }
        _ => {
            let operands: Vec<Value> = e.rw.op_ref(op).operands().collect();
            e.op("llvm.return", &operands, &[], &[]);
            return Vec::new();
        }
    };
    vec![e.value("arith.index_castui", &[word], Type::INDEX, &[])]
}

fn along_axis(e: &mut Emit<'_>, op: Op, what: Position, vendor: &dyn Vendor) -> Value {
    let dimension = e.rw.op_ref(op).prop("dimension").and_then(|a| e.cx().attr_as::<Dimension>(a)).copied();
    let axis = match dimension {
        Some(Dimension::Y) => 1,
        Some(Dimension::Z) => 2,
        _ => 0,
    };
    position(e, what, axis, vendor)
}

fn position(e: &mut Emit<'_>, what: Position, axis: usize, vendor: &dyn Vendor) -> Value {
    match e.block {
        Some(size) if what == Position::BlockDim => e.word(i64::from(size[axis])),
        Some(size) if what == Position::Thread && size[axis] == 1 => e.word(0),
        _ => vendor.along_axis(e, what, axis),
    }
}

/// Threads are numbered along x first, and a subgroup has the next ones by number.
fn subgroup_id(e: &mut Emit<'_>, vendor: &dyn Vendor) -> Value {
    let mut number = position(e, Position::Thread, 2, vendor);
    for axis in [1, 0] {
        let size = position(e, Position::BlockDim, axis, vendor);
        let here = position(e, Position::Thread, axis, vendor);
        let before = e.word_op("arith.muli", &[number, size]);
        number = e.word_op("arith.addi", &[before, here]);
    }
    let subgroup = e.word(vendor.subgroup());
    e.word_op("arith.divui", &[number, subgroup])
}

fn shuffle(e: &mut Emit<'_>, op: Op, vendor: &dyn Vendor) -> Vec<Value> {
    let (value, ty, to, wants_valid, bits) = {
        let view = e.rw.op_ref(op);
        let source = ShuffleOp::from_ref(view);
        let to = Shuffle { mode: source.mode(), offset: view.operand(1), width: view.operand(2) };
        let ty = view.ty(view.operand(0));
        let bits = exchangeable(view, ty).expect("was asked before");
        (view.operand(0), ty, to, !view.body.is_unused(view.result(1)), bits)
    };
    let words = to_words(e, value, ty, bits);
    let mut valid = None;
    let mut received = Vec::new();
    for word in words {
        let ask = wants_valid && valid.is_none();
        let Exchanged { value, valid: there } = vendor.shuffle(e, word, &to, ask);
        received.push(value);
        valid = valid.or(there);
    }
    let value = of_words(e, &received, ty, bits);
    // Nothing uses the second result where it was not asked for.
    let valid = valid.unwrap_or_else(|| e.value("arith.constant", &[], Type::I1, &[("value", Attr::TRUE)]));
    vec![value, valid]
}
