//! Moves the ops of each region into a `graph.fusion`, in an order in which producers come first.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use sutura_dialects::r#dyn::attr::{encoded_sizes, symbolic_shape};
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::shape_fn::mentioned_sizes;
use sutura_dialects::graph::{ComputeForm, FusionOp, YieldOp};
use sutura_ir::op_def::OpView;
use sutura_ir::rewriter::IrMapping;
use sutura_ir::{Block, Body, Builder, Context, Loc, Op, OpRef, OpState, Rewriter, Type, Value};

use super::{PlannedRegion, Step};

/// Carries the plan out.
pub(super) fn outline(rw: &mut Rewriter<'_>, entry: Block, plan: &[Step]) {
    let facts: Vec<Op> = rw.body().ops(entry).filter(|op| is_fact(OpRef::new(rw.cx(), rw.body(), *op))).collect();
    let mut gone = Vec::new();
    for step in plan {
        match step {
            Step::Keep(op) => {
                rw.move_to_end(*op, entry);
            }
            Step::Region(region) => {
                make_region(rw, entry, region, &facts);
                gone.extend(&region.ops);
            }
        }
    }
    for op in gone.into_iter().rev() {
        rw.erase_op(op);
    }
}

pub(super) fn is_fact(op: OpRef<'_>) -> bool {
    op.is::<SymbolOp<'_>>() || op.is::<EqualOp<'_>>()
}

fn make_region(rw: &mut Rewriter<'_>, entry: Block, region: &PlannedRegion, facts: &[Op]) {
    let cx = rw.cx();
    let (state, inside) = {
        let body = rw.body();
        let inside: HashSet<Op> = region.ops.iter().copied().collect();
        let mut inputs: Vec<Value> = Vec::new();
        for value in region.ops.iter().flat_map(|op| body.operands(*op)) {
            let outside = body.defining_op(value).is_none_or(|def| !inside.contains(&def));
            if outside && !inputs.contains(&value) {
                inputs.push(value);
            }
        }
        inputs.extend(size_givers(cx, body, entry, region, &inputs));
        let loc = body.loc(region.ops[0]);
        let inside = build_body(cx, body, region, &inputs, facts);
        (fusion_state(cx, body, region, &inputs, loc), inside)
    };
    let names: Vec<_> = region.outputs.iter().map(|v| rw.body().value_name(*v)).collect();
    rw.set_to_end(entry);
    let fusion = rw.create_isolated(state, Box::new(inside));
    let results: Vec<Value> = rw.body().results(fusion).collect();
    for ((old, new), name) in region.outputs.iter().zip(results).zip(names) {
        rw.set_value_name(*old, None);
        rw.set_value_name(new, name);
        rw.replace_all_uses(*old, new);
    }
}

/// Arguments by whose types sizes are known that the region computes with or reads at, and that its own inputs do not tell:
/// it is isolated, so it would not know them.
fn size_givers(cx: &Context, body: &Body, entry: Block, region: &PlannedRegion, inputs: &[Value]) -> Vec<Value> {
    let tells = |value: Value, name: &str| {
        let shape = symbolic_shape(cx, body.ty(value)).unwrap_or_default();
        shape.iter().flatten().any(|size| size.as_symbol() == Some(name))
    };
    let mut names = BTreeSet::new();
    for op in &region.ops {
        OpRef::new(cx, body, *op).walk(&mut |op| {
            names.extend(mentioned_sizes(op).iter().flat_map(|size| size.symbols()));
            names.extend(untold_extents(op).iter().flat_map(|size| size.symbols()));
        });
    }
    let mut givers: Vec<Value> = Vec::new();
    for name in names {
        if !inputs.iter().chain(&givers).any(|v| tells(*v, &name)) {
            givers.extend(body.block_args(entry).iter().find(|v| tells(**v, &name)));
        }
    }
    givers
}

/// Extents that only the types of an op's results say.
fn untold_extents(op: OpRef<'_>) -> Vec<Poly> {
    let Some(form) = ComputeForm::of(op) else { return Vec::new() };
    let inputs: Vec<Value> = form.inputs().collect();
    let untold = |i: &usize| form.extent_sources(*i).all(|(value, _)| !inputs.contains(&value));
    let extents = form.extents();
    (0..extents.len()).filter(untold).filter_map(|i| extents[i].clone()).collect()
}

fn fusion_state(cx: &Context, body: &Body, region: &PlannedRegion, inputs: &[Value], loc: Loc) -> OpState {
    let state = OpState::of(cx, FusionOp::def(), loc)
        .operands(inputs.iter().copied())
        .results(region.outputs.iter().map(|v| body.ty(*v)));
    if region.reasons.is_empty() {
        return state;
    }
    let reasons: Vec<_> = region.reasons.iter().map(|r| cx.string_attr(r)).collect();
    state.prop(cx.ident("reasons"), cx.array_attr(&reasons))
}

fn build_body(cx: &Context, from: &Body, region: &PlannedRegion, inputs: &[Value], facts: &[Op]) -> Body {
    let mut body = Body::new(1);
    let target = body.region();
    let mut b = Builder::new(cx, &mut body);
    let args: Vec<(Type, Loc)> = inputs.iter().map(|v| (from.ty(*v), from.value_loc(*v))).collect();
    let block = b.create_block(target, &args);
    b.set_to_end(block);
    let mut mapping = IrMapping::new();
    let args: Vec<Value> = b.body().block_args(block).to_vec();
    for (input, arg) in inputs.iter().zip(args) {
        mapping.map(*input, arg);
        b.set_value_name(arg, from.value_name(*input));
    }
    let copied = relevant_facts(cx, from, region, inputs, facts);
    for op in copied.iter().chain(&region.ops) {
        mapping.clone_op(OpRef::new(cx, from, *op), &mut b).expect("all that a region reads is an input of it");
    }
    let yielded: Vec<Value> =
        region.outputs.iter().map(|v| mapping.get(*v).expect("outputs are made in the region")).collect();
    YieldOp::build(&mut b, from.loc(region.ops[0]), &yielded);
    body
}

/// The facts about symbols that the region's types and bodies mention, and about those that these mention.
fn relevant_facts(cx: &Context, body: &Body, region: &PlannedRegion, inputs: &[Value], facts: &[Op]) -> Vec<Op> {
    let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
    let shape_names = |ty: Type, names: &mut BTreeSet<Arc<str>>| {
        if let Some(shape) = encoded_sizes(cx, ty) {
            names.extend(shape.dims.iter().flatten().flat_map(|p| p.symbols()));
        }
    };
    inputs.iter().for_each(|v| shape_names(body.ty(*v), &mut names));
    for op in &region.ops {
        OpRef::new(cx, body, *op).walk(&mut |op| {
            op.result_types().for_each(|ty| shape_names(ty, &mut names));
            names.extend(mentioned_sizes(op).iter().flat_map(|size| size.symbols()));
        });
    }
    let mentioned = |op: Op| -> Option<BTreeSet<Arc<str>>> {
        let equal = OpRef::new(cx, body, op).as_::<EqualOp<'_>>()?;
        Some(equal.lhs().symbols().into_iter().chain(equal.rhs().symbols()).collect())
    };
    let relates = |mentioned: &BTreeSet<Arc<str>>, names: &BTreeSet<Arc<str>>| {
        let known = mentioned.intersection(names).count();
        // A sum of many sizes, such as that of a concatenation, says little about a few of them.
        if mentioned.len() > MANY { 2 * known > mentioned.len() } else { known > 0 }
    };
    loop {
        let before = names.len();
        for mentioned in facts.iter().filter_map(|op| mentioned(*op)) {
            if relates(&mentioned, &names) {
                names.extend(mentioned);
            }
        }
        if names.len() == before {
            break;
        }
    }
    let relevant = |op: &&Op| match OpRef::new(cx, body, **op).as_::<SymbolOp<'_>>() {
        Some(symbol) => names.contains(symbol.name()),
        None => mentioned(**op).is_some_and(|mentioned| relates(&mentioned, &names)),
    };
    facts.iter().filter(relevant).copied().collect()
}

/// Sizes of an equality from which on it is no fact about each of them.
const MANY: usize = 16;
