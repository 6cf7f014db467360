//! The function that runs the groups of several kernels.

use rustc_hash::FxHashSet;
use sutura_dialects::gpu::{Dimension, GPUFuncOp, arg_attrs};
use sutura_dialects::llvm::types::ArrayType;
use sutura_dialects::llvm::{AddressOfOp, GlobalOp};
use sutura_dialects::rt::{GROUPS_ATTR, KERNEL_ATTR, KernelSignature, PARTS_ATTR};
use sutura_ir::rewriter::IrMapping;
use sutura_ir::{Attr, Body, Builder, Context, Loc, Op, OpRef, OpState, OpView, Rewriter, Type, Value};

use super::Part;

/// The names of the block's arrays that a kernel uses.
fn arrays(cx: &Context, module: &Body, kernel: Op) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    OpRef::new(cx, module, kernel)
        .walk(&mut |op| names.extend(op.as_::<AddressOfOp<'_>>().map(|address| address.global_name().to_owned())));
    names
}

/// Bytes of the block's arrays that kernels use, each once, as far apart as they are aligned.
pub(super) fn shared_bytes(cx: &Context, module: &Body, kernels: impl Iterator<Item = Op>) -> i64 {
    const ALIGNMENT: i64 = 16;
    let names: FxHashSet<String> = kernels.flat_map(|kernel| arrays(cx, module, kernel)).collect();
    let globals = module.preorder().filter_map(|op| OpRef::new(cx, module, op).as_::<GlobalOp<'_>>());
    let own = globals.filter(|global| names.contains(global.sym_name()));
    own.map(|global| bytes_of(cx, global.global_type()))
        .fold(0, |sum, bytes| sum.saturating_add(bytes.saturating_add(ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT))
}

fn bytes_of(cx: &Context, ty: Type) -> i64 {
    match cx.type_as::<ArrayType>(ty) {
        Some(array) => bytes_of(cx, array.elem).saturating_mul(i64::try_from(array.len).unwrap_or(i64::MAX)),
        None => cx.bit_width(ty).map_or(8, |bits| i64::from(bits.div_ceil(8))),
    }
}

/// Makes the function in the module, behind the last part.
pub(super) fn make(
    cx: &Context,
    module: &mut Body,
    name: &str,
    parts: &[Part],
    signature: KernelSignature,
) -> Result<(), String> {
    let (state, body) = function(cx, module, name, parts, &signature)?;
    let last = parts.last().ok_or("there are no parts")?.kernel;
    let mut rewriter = Rewriter::new(cx, module);
    rewriter.set_after(last);
    rewriter.create_isolated(state, Box::new(body));
    Ok(())
}

fn function(
    cx: &Context,
    module: &Body,
    name: &str,
    parts: &[Part],
    signature: &KernelSignature,
) -> Result<(OpState, Body), String> {
    let funcs: Vec<GPUFuncOp<'_>> =
        parts.iter().map(|part| GPUFuncOp::from_ref(OpRef::new(cx, module, part.kernel))).collect();
    let arguments = Arguments::of(parts, &funcs);
    let loc = funcs[0].op_ref().loc();
    let types: Vec<(Type, Loc)> = arguments.types.iter().map(|ty| (*ty, loc)).collect();
    let state = head(cx, funcs[0], name, (parts, signature), &arguments);
    let mut body = Body::new(1);
    let region = body.region();
    let mut b = Rewriter::new(cx, &mut body);
    let entry = b.create_block(region, &types);
    b.set_to_end(entry);
    let args: Vec<Value> = b.body().block_args(entry).to_vec();
    let mut used = FxHashSet::default();
    let takes = |number: usize| Takes {
        args: arguments.of_part[number].iter().map(|at| args[*at]).collect(),
        first: number.checked_sub(1).map(|earlier| args[arguments.firsts + earlier]),
    };
    let mut number = 0;
    for run in parts.chunk_by(|a, b| a.kernel == b.kernel) {
        let own_arrays = arrays(cx, module, run[0].kernel);
        // The loop over several begins with one.
        if run.len() == 1 && !used.is_disjoint(&own_arrays) {
            barrier(&mut b, loc);
        }
        let waits = !own_arrays.is_empty();
        used.extend(own_arrays);
        let takes: Vec<Takes> = (number..number + run.len()).map(takes).collect();
        match &takes[..] {
            [only] => append(&mut b, funcs[number], only)?,
            several => append_loop(&mut b, funcs[number], several, waits)?,
        }
        b.set_to_end(entry);
        number += run.len();
    }
    b.create(OpState::new(cx.op_name("gpu.return"), loc));
    Ok((state, body))
}

/// Where the arguments of the parts are among those of the whole: buffers come before sizes.
struct Arguments {
    types: Vec<Type>,
    attrs: Vec<Attr>,
    of_part: Vec<Vec<usize>>,
    /// The first of the numbers of blocks before parts.
    firsts: usize,
}

impl Arguments {
    fn of(parts: &[Part], funcs: &[GPUFuncOp<'_>]) -> Self {
        let cx = funcs[0].op_ref().cx;
        let mut all = Self { types: Vec::new(), attrs: Vec::new(), of_part: vec![Vec::new(); parts.len()], firsts: 0 };
        for sizes in [false, true] {
            for (number, (part, func)) in parts.iter().zip(funcs).enumerate() {
                let inputs = func.inputs();
                let buffers = part.signature.params.len();
                let own = if sizes { buffers..inputs.len() } else { 0..buffers };
                let attrs = func.op_ref().prop("arg_attrs").and_then(|attrs| cx.array(attrs));
                for at in own {
                    all.of_part[number].push(all.types.len());
                    all.types.push(inputs[at]);
                    all.attrs.push(attrs.and_then(|attrs| attrs.get(at).copied()).unwrap_or(Attr::EMPTY_DICT));
                }
            }
        }
        all.firsts = all.types.len();
        all.types.extend(std::iter::repeat_n(Type::I64, parts.len() - 1));
        all.attrs.extend(std::iter::repeat_n(Attr::EMPTY_DICT, parts.len() - 1));
        all
    }
}

fn head(
    cx: &Context,
    like: GPUFuncOp<'_>,
    name: &str,
    (parts, signature): (&[Part], &KernelSignature),
    arguments: &Arguments,
) -> OpState {
    let op = like.op_ref();
    let names: Vec<Attr> = parts.iter().flat_map(|part| part.reported.iter().copied()).collect();
    let mut state = OpState::new(cx.op_name("gpu.func"), op.loc())
        .prop(cx.ident("function_type"), cx.type_attr(cx.function_type(&arguments.types, &[])))
        .attr(cx.ident("sym_name"), cx.string_attr(name))
        .attr(cx.ident(sutura_dialects::gpu::KERNEL), Attr::UNIT)
        .attr(cx.ident(sutura_dialects::gpu::WORKGROUP_ATTRIBUTIONS), cx.int_attr(0, Type::I64))
        .attr(cx.ident(GROUPS_ATTR), cx.int_attr(1, Type::I64))
        .attr(cx.ident(PARTS_ATTR), cx.array_attr(&names))
        .attr(cx.ident(KERNEL_ATTR), signature.to_attr(cx));
    if let Some(attrs) = arg_attrs(cx, &arguments.attrs) {
        state = state.prop(cx.ident("arg_attrs"), attrs);
    }
    if let Some(size) = op.prop("known_block_size") {
        state = state.prop(cx.ident("known_block_size"), size);
    }
    state
}

/// What a part is given.
struct Takes {
    args: Vec<Value>,
    /// Blocks before its own; none before the first.
    first: Option<Value>,
}

/// Threads may still read in an array what they have put there for a kernel before.
fn barrier(b: &mut Builder<'_>, loc: Loc) {
    b.create(OpState::new(b.cx().op_name("gpu.barrier"), loc));
}

/// Copies a kernel that several parts in a row are: once, in a loop over what they are given.
fn append_loop(b: &mut Rewriter<'_>, func: GPUFuncOp<'_>, parts: &[Takes], waits: bool) -> Result<(), String> {
    let (cx, loc) = (func.op_ref().cx, func.op_ref().loc());
    let number = |b: &mut Rewriter<'_>, number: usize| {
        let number = cx.int_attr(i64::try_from(number).expect("few parts"), Type::I64);
        value(b, loc, "arith.constant", (&[], Type::I64), &[("value", number)])
    };
    let bounds = [0, parts.len(), 1].map(|n| number(b, n));
    let firsts = parts.iter().map(|part| part.first.unwrap_or(bounds[0])).collect();
    let for_op = b.create(OpState::new(cx.op_name("scf.for"), loc).operands(bounds).regions(1));
    let region = b.body().regions(for_op).next().expect("made with a region");
    let block = b.create_block(region, &[(Type::I64, loc)]);
    b.set_to_end(block);
    let part = b.body().block_args(block)[0];
    if waits {
        barrier(b, loc);
    }
    // Whether it is the second part, the third, and so on.
    let mut is = Vec::new();
    for n in 1..parts.len() {
        let (n, equal) = (number(b, n), cx.int_attr(0, Type::I64));
        is.push(value(b, loc, "arith.cmpi", (&[part, n], Type::I1), &[("predicate", equal)]));
    }
    let pick = |b: &mut Rewriter<'_>, of_parts: Vec<Value>| {
        let others = of_parts[1..].iter().zip(&is);
        others.fold(of_parts[0], |before, (own, is)| {
            let ty = b.body().ty(*own);
            value(b, loc, "arith.select", (&[*is, *own, before], ty), &[])
        })
    };
    let first = pick(b, firsts);
    let count = parts[0].args.len();
    let args = (0..count).map(|at| pick(b, parts.iter().map(|part| part.args[at]).collect())).collect();
    append(b, func, &Takes { args, first: Some(first) })?;
    b.set_to_end(block);
    b.create(OpState::new(cx.op_name("scf.yield"), loc));
    Ok(())
}

/// Copies a kernel behind what is there. Its first block is that behind the `first` blocks of earlier kernels, and so on
/// around: blocks take the groups of all kernels as if they were one's.
fn append(b: &mut Rewriter<'_>, func: GPUFuncOp<'_>, takes: &Takes) -> Result<(), String> {
    let (op, cx) = (func.op_ref(), func.op_ref().cx);
    let inside = op.inside();
    let block = inside.entry_block().ok_or("a kernel has a body")?;
    let number = takes.first.map(|first| number_of_block(b, op.loc(), first));
    let mut mapping = IrMapping::new();
    for (from, to) in inside.block_args(block).iter().zip(&takes.args) {
        mapping.map(*from, *to);
    }
    let mut copies = Vec::new();
    for inner in inside.ops(block) {
        let inner = OpRef::new(cx, inside, inner);
        if inner.name_str() != "gpu.return" {
            copies.push(mapping.clone_op(inner, b).map_err(|error| error.to_string())?);
        }
    }
    let Some(number) = number else { return Ok(()) };
    let mut ids = Vec::new();
    for copy in copies {
        b.op_ref(copy).walk(&mut |op| ids.extend(is_block_id(op).then_some(op.op)));
    }
    for id in ids {
        let old = b.body().result(id, 0);
        b.replace_all_uses(old, number);
    }
    Ok(())
}

fn is_block_id(op: OpRef<'_>) -> bool {
    let dimension = op.prop("dimension").and_then(|attr| op.cx.attr_as::<Dimension>(attr));
    op.name_str() == "gpu.block_id" && dimension == Some(&Dimension::X)
}

/// The result of a new operation.
fn value(b: &mut Builder<'_>, loc: Loc, name: &str, (operands, ty): (&[Value], Type), props: &[(&str, Attr)]) -> Value {
    let cx = b.cx();
    let state = OpState::new(cx.op_name(name), loc).operands(operands.iter().copied()).results([ty]);
    let state = props.iter().fold(state, |state, (name, value)| state.prop(cx.ident(name), *value));
    let op = b.create(state);
    b.body().result(op, 0)
}

/// `(block - first) mod blocks`, as an index.
fn number_of_block(b: &mut Builder<'_>, loc: Loc, first: Value) -> Value {
    let cx = b.cx();
    let mut value = |name: &str, operands: &[Value], ty: Type, props: &[(&str, Attr)]| {
        self::value(b, loc, name, (operands, ty), props)
    };
    let along_x = [("dimension", cx.ext_attr(Dimension::X))];
    let [block, blocks] = ["gpu.block_id", "gpu.grid_dim"].map(|name| {
        let index = value(name, &[], Type::INDEX, &along_x);
        value("arith.index_cast", &[index], Type::I64, &[])
    });
    let behind = value("arith.remui", &[first, blocks], Type::I64, &[]);
    let ahead = value("arith.subi", &[block, behind], Type::I64, &[]);
    let around = value("arith.addi", &[ahead, blocks], Type::I64, &[]);
    let zero = value("arith.constant", &[], Type::I64, &[("value", cx.int_attr(0, Type::I64))]);
    let less = cx.int_attr(2, Type::I64);
    let wraps = value("arith.cmpi", &[ahead, zero], Type::I1, &[("predicate", less)]);
    let number = value("arith.select", &[wraps, around, ahead], Type::I64, &[]);
    value("arith.index_cast", &[number], Type::INDEX, &[])
}
