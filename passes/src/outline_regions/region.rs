//! One region as a function.

use std::collections::BTreeSet;
use std::sync::Arc;

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::{Poly, SymbolOp};
use sutura_dialects::func::{CallOp, FuncOp, ReturnOp};
use sutura_dialects::graph::shape_fn::{mentioned_sizes, used_symbols};
use sutura_dialects::scf::ConditionOp;
use sutura_dialects::tensor::{CastOp, ExtractOp};
use sutura_ir::analysis::effects::is_trivially_dead;
use sutura_ir::rewriter::IrMapping;
use sutura_ir::{
    Block, BlockRef, Body, Builder, Context, Loc, Op, OpRef, OpState, OpView, Rewriter, Traits, Type, Value,
};

/// A function to be, and its body.
pub(super) type Made = (OpState, Box<Body>);

/// What a region takes and gives.
struct Plan {
    block: Block,
    /// Its arguments, then what it uses from around.
    inputs: Vec<Value>,
    /// Constants from around.
    constants: Vec<Op>,
    /// What it makes and hands on, each once.
    outputs: Vec<Value>,
    /// The tensor whose element decides, if the region makes it.
    end: Op,
}

/// Moves what region `number` of `op` does into a function `name`; `None` for one that has nothing to move.
///
/// # Errors
/// Says why the region stays.
pub(super) fn outline(
    cx: &Context,
    body: &mut Body,
    (op, number): (Op, usize),
    name: &str,
) -> Result<Option<Made>, (Loc, String)> {
    let Some(plan) = plan(cx, body, op, number)? else { return Ok(None) };
    let types = |values: &[Value]| values.iter().map(|v| body.ty(*v)).collect::<Vec<Type>>();
    let (inputs, results) = (types(&plan.inputs), types(&plan.outputs));
    let inside = function_body(cx, body, &plan, &inputs);
    let loc = body.loc(op);
    let state = OpState::of(cx, FuncOp::def(), loc)
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .prop(cx.ident("sym_visibility"), cx.string_attr("private"))
        .prop(cx.ident("function_type"), cx.type_attr(cx.function_type(&inputs, &results)));
    replace(cx, body, &plan, name, &results, loc);
    forget(cx, body, &inside);
    Ok(Some((state, Box::new(inside))))
}

/// Erases what a region does for nobody, which is nothing to move; whether there was some.
pub(super) fn erase_dead(cx: &Context, body: &mut Body, op: Op, number: usize) -> bool {
    let block = OpRef::new(cx, body, op).region(number).and_then(|region| region.entry());
    let mut ops: Vec<Op> = block.into_iter().flat_map(|block| block.ops()).map(|op| op.op).collect();
    ops.reverse();
    let (mut rw, mut erased) = (Rewriter::new(cx, body), false);
    for op in ops {
        if is_trivially_dead(rw.op_ref(op)) {
            rw.erase_op(op);
            erased = true;
        }
    }
    erased
}

/// True for what makes the decision of a region from a tensor, which stays with it.
fn reads_decision(op: OpRef<'_>) -> bool {
    op.is::<ExtractOp<'_>>()
        && op.num_operands() == 1
        && op.body.uses(op.result(0)).all(|user| op.at(user.owner).is::<ConditionOp<'_>>())
}

/// True for what says other sizes of what a region hands on, which stays with it.
fn says_sizes(op: OpRef<'_>) -> bool {
    op.is::<CastOp<'_>>() && op.body.uses(op.result(0)).all(|user| op.at(user.owner).has_trait(Traits::Terminator))
}

/// True for what stays where it is.
fn stays(op: OpRef<'_>) -> bool {
    reads_decision(op) || says_sizes(op)
}

fn plan(cx: &Context, body: &Body, op: Op, number: usize) -> Result<Option<Plan>, (Loc, String)> {
    let view = OpRef::new(cx, body, op);
    let block = view.region(number).and_then(|region| region.entry());
    let Some(block) = block else { return Ok(None) };
    let Some(end) = block.terminator() else { return Ok(None) };
    let work: Vec<OpRef<'_>> = block.ops().filter(|o| o.op != end.op && !stays(*o)).collect();
    // A call alone is what would be made, and nothing is nothing to make.
    if work.is_empty() || matches!(work[..], [only] if only.is::<CallOp<'_>>()) {
        return Ok(None);
    }
    let mut plan = Plan {
        block: block.block,
        inputs: block.args().to_vec(),
        constants: Vec::new(),
        outputs: Vec::new(),
        end: end.op,
    };
    // What is used by the function alone need not be passed to it.
    let mut used = Vec::new();
    for op in &work {
        op.walk(&mut |inner| {
            used.extend(inner.operands().filter(|_| std::ptr::eq(inner.body, body)).map(|v| (inner.op, v)))
        });
    }
    plan.inputs.retain(|arg| used.iter().any(|(_, v)| v == arg));
    for (user, value) in used {
        if plan.inputs.contains(&value) || is_inside(body, block.block, value) {
            continue;
        }
        match body.defining_op(value).filter(|o| OpRef::new(cx, body, *o).has_trait(Traits::ConstantLike)) {
            Some(constant) if !plan.constants.contains(&constant) => plan.constants.push(constant),
            Some(_) => {}
            None => {
                if symbolic_shape(cx, body.ty(value)).is_none() {
                    let ty = sutura_ir::asm::print::type_text(cx, body.ty(value));
                    return Err((body.loc(user), format!("a region stays: it uses a value of type {ty} from around")));
                }
                plan.inputs.push(value);
            }
        }
    }
    add_givers(cx, body, &mut plan.inputs, (op, &work));
    let read = block.ops().filter(|o| stays(*o)).flat_map(OpRef::operands);
    for value in end.operands().chain(read) {
        let made = body.defining_op(value).is_some_and(|o| work.iter().any(|w| w.op == o));
        if made && !plan.outputs.contains(&value) {
            plan.outputs.push(value);
        }
    }
    if let Some(other) = plan.outputs.iter().chain(&plan.inputs).find(|v| symbolic_shape(cx, body.ty(**v)).is_none()) {
        let ty = sutura_ir::asm::print::type_text(cx, body.ty(*other));
        return Err((view.loc(), format!("a region stays: it passes a value of type {ty}")));
    }
    Ok(Some(plan))
}

/// Adds what tells sizes that the work of a region mentions and that nothing which it uses tells: the new function is isolated, so it
/// would not know them.
fn add_givers(cx: &Context, body: &Body, inputs: &mut Vec<Value>, (owner, work): (Op, &[OpRef<'_>])) {
    let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
    for op in work {
        op.walk(&mut |op| {
            let shapes = op.result_types().filter_map(|ty| symbolic_shape(cx, ty));
            let sizes: Vec<Poly> = shapes.flatten().flatten().chain(mentioned_sizes(op)).collect();
            names.extend(sizes.iter().flat_map(Poly::symbols));
        });
    }
    // A program knows its symbols by the dims of its inputs.
    let passed = inputs.iter().filter_map(|value| symbolic_shape(cx, body.ty(*value))).flatten().flatten();
    names.extend(passed.flat_map(|size| size.symbols()));
    let tells = |value: &Value, name: &str| {
        let shape = symbolic_shape(cx, body.ty(*value)).unwrap_or_default();
        shape.iter().flatten().any(|size| size.as_symbol() == Some(name))
    };
    names.retain(|name| !inputs.iter().any(|value| tells(value, name)));
    if names.is_empty() {
        return;
    }
    let around = known_around(body, owner);
    for name in names {
        if !inputs.iter().any(|value| tells(value, &name)) {
            inputs.extend(around.iter().find(|value| tells(value, &name)));
        }
    }
}

/// What the blocks around an op have made before it, the outermost first.
fn known_around(body: &Body, owner: Op) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut at = Some(owner);
    while let Some((op, block)) = at.and_then(|op| Some((op, body.op_block(op)?))) {
        let before = body.ops(block).take_while(|other| *other != op).flat_map(|other| body.results(other));
        blocks.push(body.block_args(block).iter().copied().chain(before).collect::<Vec<Value>>());
        at = body.parent_op(op);
    }
    blocks.into_iter().rev().flatten().collect()
}

/// Whether a value is made in the block, or in a region in it.
fn is_inside(body: &Body, block: Block, value: Value) -> bool {
    let mut at = body.value_block(value);
    while let Some(inner) = at {
        if inner == block {
            return true;
        }
        at = body.block_region(inner).and_then(|r| body.region_parent(r)).and_then(|owner| body.op_block(owner));
    }
    false
}

/// The body of the function: the symbols of its arguments as they are known around, and copies of what the region does.
fn function_body(cx: &Context, body: &Body, plan: &Plan, inputs: &[Type]) -> Body {
    let mut inside = Body::new(1);
    let region = inside.region();
    let mut b = Builder::new(cx, &mut inside);
    let args: Vec<(Type, Loc)> = plan.inputs.iter().zip(inputs).map(|(v, ty)| (*ty, body.value_loc(*v))).collect();
    let entry = b.create_block(region, &args);
    b.set_to_end(entry);
    let mut mapping = IrMapping::new();
    for (from, to) in plan.inputs.iter().zip(b.body().block_args(entry).to_vec()) {
        mapping.map(*from, to);
    }
    let mut copy = |op: Op, b: &mut Builder<'_>| {
        mapping.clone_op(OpRef::new(cx, body, op), b).expect("all that it uses is passed or copied");
    };
    plan.constants.iter().for_each(|constant| copy(*constant, &mut b));
    let block = BlockRef { cx, body, block: plan.block };
    let end = plan.end;
    for op in block.ops().filter(|op| op.op != end && !stays(*op)) {
        copy(op.op, &mut b);
    }
    let results: Vec<Value> = plan.outputs.iter().map(|v| mapping.get(*v).expect("made by what was copied")).collect();
    let first = ReturnOp::build(&mut b, body.loc(end), &results);
    b.set_before(b.body().first_op(entry).unwrap_or(first));
    for symbol in stated(cx, body, &used_symbols(cx, b.body())) {
        mapping.clone_op(OpRef::new(cx, body, symbol), &mut b).expect("it uses nothing");
    }
    inside
}

/// The ops that state something of these symbols.
fn stated(cx: &Context, body: &Body, names: &BTreeSet<Arc<str>>) -> Vec<Op> {
    let ops = body.entry_block().into_iter().flat_map(|block| body.ops(block));
    let states = |op: &Op| OpRef::new(cx, body, *op).as_::<SymbolOp<'_>>().is_some_and(|s| names.contains(s.name()));
    ops.filter(states).collect()
}

/// Symbols of the region that none of its arguments has are those of sizes that data decide in it: the function around knows them
/// no more, unless another op there decides them too.
fn forget(cx: &Context, body: &mut Body, inside: &Body) {
    let args = inside.entry_block().into_iter().flat_map(|block| inside.block_args(block));
    let told = args.filter_map(|arg| symbolic_shape(cx, inside.ty(*arg))).flatten().flatten();
    let told: BTreeSet<Arc<str>> = told.flat_map(|size| size.symbols()).collect();
    let own: BTreeSet<Arc<str>> = used_symbols(cx, inside).difference(&told).cloned().collect();
    if own.is_empty() {
        return;
    }
    let own = own.difference(&used_symbols(cx, body)).cloned().collect();
    let symbols = stated(cx, body, &own);
    let mut rw = Rewriter::new(cx, body);
    for symbol in symbols {
        if rw.op_ref(symbol).results().all(|value| rw.body().uses(value).next().is_none()) {
            rw.erase_op(symbol);
        }
    }
}

/// The call in the place of what the region did.
fn replace(cx: &Context, body: &mut Body, plan: &Plan, name: &str, results: &[Type], loc: Loc) {
    let block = BlockRef { cx, body, block: plan.block };
    let mut moved: Vec<Op> = block.ops().filter(|op| op.op != plan.end && !stays(*op)).map(|op| op.op).collect();
    moved.reverse();
    let mut rw = Rewriter::new(cx, body);
    match rw.body().first_op(plan.block) {
        Some(first) => rw.set_before(first),
        None => rw.set_to_end(plan.block),
    }
    let call = CallOp::build(&mut rw, loc, name, &plan.inputs, None, None, results);
    for (output, result) in plan.outputs.iter().zip(rw.body().results(call).collect::<Vec<_>>()) {
        rw.replace_all_uses(*output, result);
    }
    for op in moved {
        rw.erase_op(op);
    }
}
