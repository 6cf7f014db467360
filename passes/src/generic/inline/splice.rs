//! Replaces a call by a copy of the callable's body.

use sutura_ir::interfaces::{CallOp, CallableOp, Inliner};

use sutura_ir::location::LocData;
use sutura_ir::rewriter::IrMapping;
use sutura_ir::{Block, Body, Context, Loc, Op, OpRef, Rewriter, Traits, Value};

use super::legal::adapts;

/// Puts a copy of what `callable` runs in the place of `call`, an op of `body`. The caller has checked that it may.
pub(super) fn splice(cx: &Context, body: &mut Body, call: Op, callable: OpRef<'_>) {
    let view = OpRef::new(cx, body, call);
    let arguments = view.interface::<dyn CallOp>().expect("it is a call").arguments(view);
    let args: Vec<Value> = arguments.map(|i| view.operand(i)).collect();
    let region = callable.interface::<dyn CallableOp>().and_then(|c| callable.region(c.callable_region(callable)?));
    let from = region.expect("checked: it has a body");
    let block = body.op_block(call).expect("the call is in a block");
    let into = body.block_region(block).expect("the block is in a region");
    let last = body.region_last(into).expect("it holds the call");
    let caller = body.loc(call);
    let adapted = adapts(view, callable);
    let mut rw = Rewriter::new(cx, body);
    IrMapping::new()
        .clone_region(cx, from.body, from.region, &mut rw, into)
        .expect("what can be called uses nothing from outside");
    let copies: Vec<Block> = std::iter::successors(rw.body().next_block(last), |b| rw.body().next_block(*b)).collect();
    let ops = note_call(&mut rw, &copies, caller);
    if adapted {
        hooks(&rw, call).adapt(&mut rw, call, callable, &ops);
    }
    match copies[..] {
        [only] => one_block(&mut rw, call, only, &args),
        _ => several_blocks(&mut rw, call, &copies, &args),
    }
}

/// Says of all copied ops that they come from the call, and returns them.
fn note_call(rw: &mut Rewriter<'_>, copies: &[Block], caller: Loc) -> Vec<Op> {
    let cx = rw.cx();
    let mut ops: Vec<Op> = copies.iter().flat_map(|b| rw.body().ops(*b).collect::<Vec<_>>()).collect();
    ops.extend(ops.clone().into_iter().flat_map(|op| rw.body().preorder_in(op).collect::<Vec<_>>()));
    for &op in &ops {
        let callee = rw.body().loc(op);
        rw.set_loc(op, cx.loc(LocData::CallSite { callee, caller }));
    }
    ops
}

fn hooks(rw: &Rewriter<'_>, op: Op) -> &'static dyn Inliner {
    let dialect = rw.body().name(op).dialect(rw.cx());
    let hooks = rw.cx().registry().dialect(dialect).and_then(|d| d.interface::<dyn Inliner>());
    hooks.expect("checked: the dialect takes part")
}

fn one_block(rw: &mut Rewriter<'_>, call: Op, copy: Block, args: &[Value]) {
    let end = rw.body().last_op(copy).expect("a block of a callable has a terminator");
    rw.inline_block_before(copy, call, args);
    let returned = hooks(rw, end).returned(rw.op_ref(end));
    rw.erase_op(end);
    rw.replace_op(call, &returned);
}

fn several_blocks(rw: &mut Rewriter<'_>, call: Op, copies: &[Block], args: &[Value]) {
    let head = rw.body().op_block(call).expect("the call is in a block");
    let tail = rw.split_block(call);
    let results: Vec<Value> = rw.body().results(call).collect();
    let loc = rw.body().loc(call);
    let mut values = Vec::new();
    for result in results {
        let ty = rw.body().ty(result);
        let value = rw.add_block_arg(tail, ty, loc);
        let name = rw.body().value_name(result);
        rw.set_value_name(value, name);
        values.push(value);
    }
    rw.replace_op(call, &values);
    for &copy in copies {
        rw.move_block_before(copy, tail);
        let end = rw.body().last_op(copy).expect("a block of a callable has a terminator");
        if rw.op_ref(end).has_trait(Traits::ReturnLike) && rw.body().successors(end).is_empty() {
            let done = hooks(rw, end).branch_to(rw, end, tail);
            assert!(done, "checked: the dialect has a branch");
        }
    }
    rw.merge_block(copies[0], head, args);
}
