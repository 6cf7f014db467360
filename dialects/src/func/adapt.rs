//! Functions in the place of calls whose sizes are other ones: symbols become what they stand for.

use rustc_hash::FxHashSet;
use sutura_ir::{Attr, Block, Context, Op, OpRef, OpView, Rewriter, Type, Value};

use super::ops::{CallOp, FuncOp, ReturnOp};
use super::sizes::{Need, Shape, Signature};
use crate::r#dyn::attr::{map_sizes, symbolic_shape, with_sizes};
use crate::r#dyn::{EqualOp, Facts, Instance, Poly, SymbolOp};
use crate::tensor::CastOp;

/// What a call makes of the function that it names.
struct Call {
    instance: Instance,
    needs: Vec<Need>,
}

impl Call {
    fn of(call: OpRef<'_>, callee: OpRef<'_>) -> Self {
        let signature = Signature::of(FuncOp::from_ref(callee));
        let arguments: Vec<Option<Shape>> = call.operands().map(|v| symbolic_shape(call.cx, call.ty(v))).collect();
        let instance = signature.instance(&arguments);
        let entry = call.body.entry_block().map(|block| sutura_ir::BlockRef { cx: call.cx, body: call.body, block });
        let facts = entry.and_then(|entry| Facts::of_block(entry).ok()).unwrap_or_default();
        let needs = signature.needs(CallOp::from_ref(call).callee(), &instance, &arguments, &facts);
        Self { instance, needs }
    }
}

/// Whether the function fits the call, whose types the verifier has compared.
pub(super) fn may(call: OpRef<'_>, callee: OpRef<'_>) -> Result<(), String> {
    let found = Call::of(call, callee);
    let isolated = callee.inside().preorder().any(|op| callee.inside().nested(op).is_some());
    if isolated {
        return Err("it has ops with a body of their own, in which sizes have names of their own".to_owned());
    }
    let block = call.body.op_block(call.op);
    match found.needs.first() {
        Some(need) if block != call.body.entry_block() => Err(format!(
            "it may be called only where {} equals {} ({}), and the call may never run",
            need.lhs, need.rhs, need.what
        )),
        _ => Ok(()),
    }
}

/// Makes copies of the function's ops what they are at the call.
pub(super) fn adapt(rw: &mut Rewriter<'_>, call: Op, callee: OpRef<'_>, ops: &[Op]) {
    let Call { mut instance, needs, .. } = Call::of(rw.op_ref(call), callee);
    name_others(rw, callee, &mut instance);
    let results: Vec<Type> = rw.op_ref(call).result_types().collect();
    let entry = rw.body().entry_block().expect("a caller has a block");
    for &op in ops {
        retype(rw, op, &instance);
        if rw.view::<ReturnOp<'_>>(op).is_some() {
            cast_back(rw, op, &results);
        }
    }
    // Symbols first: what is stated of them stands behind.
    for &op in ops {
        if let Some(symbol) = rw.view::<SymbolOp<'_>>(op) {
            let name = instance.symbol(symbol.name()).cloned();
            declare(rw, op, name, entry);
        }
    }
    for &op in ops.iter().filter(|op| rw.body().is_live(**op)).collect::<Vec<_>>() {
        if rw.view::<EqualOp<'_>>(op).is_some() {
            // It is among what the call needs.
            rw.erase_op(op);
        }
    }
    let loc = rw.body().loc(call);
    for need in needs {
        behind_facts(rw, entry);
        EqualOp::build(rw, loc, &need.lhs, &need.rhs, Some(&need.what));
    }
}

/// Symbols that arguments do not tell get names that the caller has not.
fn name_others(rw: &Rewriter<'_>, callee: OpRef<'_>, instance: &mut Instance) {
    let mut taken: FxHashSet<String> = names(rw.cx(), rw.body());
    let mut own: Vec<String> = names(callee.cx, callee.inside()).into_iter().collect();
    own.sort();
    for name in own {
        if instance.symbol(&name).is_some() {
            continue;
        }
        let numbered = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name}_{n}") });
        let free = numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or_else(|| name.clone());
        taken.insert(free.clone());
        instance.define(&name, Poly::symbol(&free));
    }
}

/// The symbols that a body uses.
fn names(cx: &Context, body: &sutura_ir::Body) -> FxHashSet<String> {
    let mut used: FxHashSet<String> =
        crate::graph::shape_fn::used_symbols(cx, body).iter().map(|name| name.to_string()).collect();
    let ops = body.preorder().map(|op| OpRef::new(cx, body, op));
    used.extend(ops.filter_map(|op| op.as_::<SymbolOp<'_>>().map(|symbol| symbol.name().to_owned())));
    used
}

fn instantiated(instance: &Instance, size: &Poly) -> Poly {
    instance.size(size).unwrap_or_else(|| size.clone())
}

/// Sizes in types and attributes become the caller's.
fn retype(rw: &mut Rewriter<'_>, op: Op, instance: &Instance) {
    let cx = rw.cx();
    let blocks: Vec<Block> = rw.body().regions(op).flat_map(|r| rw.body().blocks(r).collect::<Vec<_>>()).collect();
    let args = blocks.into_iter().flat_map(|b| rw.body().block_args(b).to_vec()).collect::<Vec<_>>();
    for value in rw.body().results(op).chain(args).collect::<Vec<Value>>() {
        let ty = rw.body().ty(value);
        let Some(shape) = symbolic_shape(cx, ty) else { continue };
        let shape: Shape = shape.iter().map(|size| size.as_ref().map(|size| instantiated(instance, size))).collect();
        rw.set_type(value, with_sizes(cx, ty, &shape));
    }
    if rw.view::<SymbolOp<'_>>(op).is_some() {
        return;
    }
    for prop in cx.entries(rw.body().props(op)).to_vec() {
        let mapped = map_sizes(cx, prop.value, &mut |size: &Poly| Ok::<_, ()>(instantiated(instance, size)));
        let value: Attr = mapped.unwrap_or(prop.value);
        if value != prop.value {
            rw.set_prop(op, cx.str(prop.name), Some(value));
        }
    }
}

/// What is handed back gets the types of the call's results.
fn cast_back(rw: &mut Rewriter<'_>, end: Op, results: &[Type]) {
    let loc = rw.body().loc(end);
    for (i, ty) in results.iter().enumerate() {
        let value = rw.body().operand(end, i);
        if rw.body().ty(value) != *ty {
            rw.set_before(end);
            let cast = CastOp::value(rw, loc, value, *ty);
            rw.set_operand(end, i, cast);
        }
    }
}

/// A symbol that stands for a size of the caller is no symbol any more; another one is the caller's from now on.
fn declare(rw: &mut Rewriter<'_>, op: Op, value: Option<Poly>, entry: Block) {
    let (cx, loc) = (rw.cx(), rw.body().loc(op));
    let Some(size) = value else { return };
    let result = rw.body().result(op, 0);
    match size.as_symbol().filter(|name| !is_declared(rw, entry, name)) {
        Some(name) => {
            rw.set_prop(op, "name", Some(cx.string_attr(name)));
            if let Some(first) = rw.body().first_op(entry).filter(|first| *first != op) {
                rw.move_before(op, first);
            }
        }
        None if rw.body().is_unused(result) => rw.erase_op(op),
        None => {
            rw.set_before(op);
            let number = crate::graph::SizeOp::value(rw, loc, &size);
            rw.replace_op(op, &[number]);
        }
    }
}

fn is_declared(rw: &Rewriter<'_>, entry: Block, name: &str) -> bool {
    rw.body().ops(entry).any(|op| rw.view::<SymbolOp<'_>>(op).is_some_and(|symbol| symbol.name() == name))
}

fn behind_facts(rw: &mut Rewriter<'_>, entry: Block) {
    let is_fact = |op: &Op| rw.view::<SymbolOp<'_>>(*op).is_some() || rw.view::<EqualOp<'_>>(*op).is_some();
    let next = rw.body().ops(entry).find(|op| !is_fact(op));
    match next {
        Some(op) => rw.set_before(op),
        None => rw.set_to_end(entry),
    }
}
