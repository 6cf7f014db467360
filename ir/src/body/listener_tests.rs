//! Whatever changes a body tells its listener: each method of the rewriter is run on random bodies, and after each call a
//! [`Mirror`] that only heard of the changes is compared with the body.

use super::mirror::Mirror;
use super::{Block, Body, Op, OpHeader, Region, Value};
use crate::attrs::Attr;
use crate::builder::{Builder, InsertPoint, OpState};
use crate::context::Context;
use crate::location::Loc;
use crate::op_ref::OpRef;
use crate::registry::Registry;
use crate::rewriter::{IrMapping, Rewriter};
use crate::types::Type;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.below(from.len())])
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }
}

// ---- what there is to choose from

fn ops(body: &Body) -> Vec<Op> {
    body.preorder().collect()
}

fn regions(body: &Body) -> Vec<Region> {
    body.owner_regions().chain(body.preorder().flat_map(|op| body.regions(op))).collect()
}

fn blocks(body: &Body) -> Vec<Block> {
    regions(body).into_iter().flat_map(|region| body.blocks(region)).collect()
}

fn values(body: &Body) -> Vec<Value> {
    let args = blocks(body).into_iter().flat_map(|block| body.block_args(block).iter().copied());
    args.chain(body.preorder().flat_map(|op| body.results(op))).collect()
}

fn holds(body: &Body, outer: Op, block: Block) -> bool {
    body.block_parent(block).is_some_and(|parent| body.is_ancestor(outer, parent))
}

/// Nothing outside of `block` uses what it defines or goes to it.
fn is_free(body: &Body, block: Block) -> bool {
    let inside: Vec<Op> = body.ops(block).flat_map(|op| body.preorder_in(op).chain([op])).collect();
    let defined = body.block_args(block).iter().copied().chain(inside.iter().flat_map(|op| body.results(*op)));
    let mut inner = inside.iter().flat_map(|op| body.regions(*op)).flat_map(|region| body.blocks(region));
    let is_local = |value: Value| body.uses(value).all(|u| inside.contains(&u.owner));
    let is_successor = |block: Block| body.preorder().any(|op| body.successors(op).contains(&block));
    defined.collect::<Vec<_>>().into_iter().all(is_local) && !is_successor(block) && !inner.any(is_successor)
}

fn any_op(rw: &Rewriter<'_>, rng: &mut Rng, which: impl Fn(&Body, Op) -> bool) -> Option<Op> {
    let body = rw.body();
    rng.pick(&ops(body).into_iter().filter(|op| which(body, *op)).collect::<Vec<_>>())
}

fn any_block(rw: &Rewriter<'_>, rng: &mut Rng, which: impl Fn(&Body, Block) -> bool) -> Option<Block> {
    let body = rw.body();
    rng.pick(&blocks(body).into_iter().filter(|block| which(body, *block)).collect::<Vec<_>>())
}

fn any_type(rng: &mut Rng) -> Type {
    rng.pick(&[Type::I32, Type::I64, Type::INDEX]).expect("a type")
}

fn any_attr(cx: &Context, rng: &mut Rng) -> Option<Attr> {
    (rng.below(4) != 0).then(|| cx.int_attr(rng.below(3) as i64, Type::I64))
}

fn any_loc(cx: &Context, rng: &mut Rng) -> Loc {
    if rng.flag() { Loc::UNKNOWN } else { cx.file_loc("here.mlir", 1, 1) }
}

fn some_values(rw: &Rewriter<'_>, rng: &mut Rng, most: usize) -> Vec<Value> {
    let all = values(rw.body());
    (0..rng.below(most + 1)).filter_map(|_| rng.pick(&all)).collect()
}

/// An op that owns no body.
fn state(rw: &Rewriter<'_>, rng: &mut Rng) -> OpState {
    let (operands, n_results) = (some_values(rw, rng, 3), rng.below(3));
    let results: Vec<Type> = (0..n_results).map(|_| any_type(rng)).collect();
    let n_regions = if rng.below(3) == 0 { 1 + rng.below(2) } else { 0 };
    let next: Vec<Block> = rng.pick(&blocks(rw.body())).into_iter().filter(|_| rng.below(4) == 0).collect();
    let name = rw.cx().op_name("t.op");
    OpState::new(name, Loc::UNKNOWN).operands(operands).results(results).successors(next).regions(n_regions)
}

fn isolated_state(rw: &Rewriter<'_>) -> OpState {
    OpState::new(rw.cx().op_name("t.isolated"), Loc::UNKNOWN)
}

/// The insertion point goes somewhere.
fn somewhere(rw: &mut Rewriter<'_>, rng: &mut Rng) {
    let block = any_block(rw, rng, |_, _| true);
    let op = block.and_then(|block| rng.pick(&rw.body().ops(block).collect::<Vec<_>>()));
    rw.set_insert_point(match (block, op) {
        (Some(_), Some(op)) if rng.flag() => InsertPoint::Before(op),
        (Some(block), _) => InsertPoint::End(block),
        (None, _) => InsertPoint::Detached,
    });
}

/// Makes nothing that `op` defines used.
fn unused(rw: &Rewriter<'_>, op: Op) -> bool {
    let body = rw.body();
    let inside: Vec<Op> = body.preorder_in(op).chain([op]).collect();
    let args = inside.iter().flat_map(|o| body.regions(*o)).flat_map(|r| body.blocks(r)).collect::<Vec<_>>();
    let defined = inside.iter().flat_map(|o| body.results(*o));
    let defined = defined.chain(args.iter().flat_map(|b| body.block_args(*b).iter().copied()));
    let mut outside = body.preorder().filter(|o| !inside.contains(o));
    defined.collect::<Vec<_>>().into_iter().all(|v| body.uses(v).all(|u| inside.contains(&u.owner)))
        && body.results(op).all(|v| body.uses(v).all(|u| u.owner == op || inside.contains(&u.owner)))
        && outside.all(|o| body.successors(o).iter().all(|next| !args.contains(next)))
}

// ---- the methods

/// A call with arguments that fit; `None` when nothing fits.
type Call = fn(&mut Rewriter<'_>, &mut Rng) -> Option<()>;

const CHANGES: &[(&str, Call)] = &[
    ("create", |rw, rng| {
        somewhere(rw, rng);
        let state = state(rw, rng);
        rw.create(state);
        Some(())
    }),
    ("create_isolated", |rw, rng| {
        somewhere(rw, rng);
        let state = isolated_state(rw);
        rw.create_isolated(state, Box::new(Body::with_block(1)));
        Some(())
    }),
    ("create_from_parts", |rw, rng| {
        somewhere(rw, rng);
        let (cx, state) = (rw.cx(), state(rw, rng));
        let header =
            OpHeader { name: state.name, loc: any_loc(cx, rng), props: Attr::EMPTY_DICT, attrs: Attr::EMPTY_DICT };
        rw.create_from_parts(header, &state.operands, &state.result_types, &state.successors, state.n_regions, None);
        Some(())
    }),
    ("insert", |rw, rng| {
        rw.set_insert_point(InsertPoint::Detached);
        let state = OpState { n_regions: 0, ..state(rw, rng) };
        let op = rw.create(state);
        somewhere(rw, rng);
        rw.insert(op);
        Some(())
    }),
    ("create_block", |rw, rng| {
        let region = rng.pick(&regions(rw.body()))?;
        let args: Vec<(Type, Loc)> = (0..rng.below(3)).map(|_| (any_type(rng), Loc::UNKNOWN)).collect();
        rw.create_block(region, &args);
        Some(())
    }),
    ("create_block_before", |rw, rng| {
        let before = any_block(rw, rng, |_, _| true)?;
        let region = rw.body().block_region(before)?;
        rw.create_block_before(region, Some(before), &[(any_type(rng), Loc::UNKNOWN)]);
        Some(())
    }),
    ("create_detached_block", |rw, _| {
        rw.create_detached_block();
        Some(())
    }),
    ("insert_block", |rw, rng| {
        let region = rng.pick(&regions(rw.body()))?;
        let block = rw.create_detached_block();
        let before = rng.pick(&rw.body().blocks(region).collect::<Vec<_>>()).filter(|_| rng.flag());
        rw.insert_block(region, block, before);
        Some(())
    }),
    ("add_block_arg", |rw, rng| {
        let block = any_block(rw, rng, |_, _| true)?;
        let (ty, loc) = (any_type(rng), any_loc(rw.cx(), rng));
        rw.add_block_arg(block, ty, loc);
        Some(())
    }),
    ("set_last_arg_loc", |rw, rng| {
        let block = any_block(rw, rng, |_, _| true)?;
        let loc = any_loc(rw.cx(), rng);
        rw.set_last_arg_loc(block, loc);
        Some(())
    }),
    ("create_placeholder", |rw, rng| {
        rw.create_placeholder(any_type(rng));
        Some(())
    }),
    ("replace_placeholder", |rw, rng| {
        let user = any_op(rw, rng, |body, op| body.num_operands(op) > 0)?;
        let value = rng.pick(&values(rw.body()))?;
        let placeholder = rw.create_placeholder(any_type(rng));
        rw.set_operand(user, 0, placeholder);
        rw.replace_placeholder(placeholder, value);
        Some(())
    }),
    ("set_value_name", |rw, rng| {
        let value = rng.pick(&values(rw.body()))?;
        let name = rng.flag().then(|| rw.cx().ident("name"));
        rw.set_value_name(value, name);
        Some(())
    }),
    ("edit_nested", |rw, rng| {
        let op = any_op(rw, rng, |body, op| body.nested(op).is_some())?;
        let cx = rw.cx();
        rw.edit_nested(op, |inside| {
            let block = inside.entry_block()?;
            Some(Builder::new(cx, inside).add_block_arg(block, Type::I32, Loc::UNKNOWN))
        });
        Some(())
    }),
    ("take_nested", |rw, rng| {
        let op = any_op(rw, rng, |body, op| body.nested(op).is_some())?;
        rw.take_nested(op).map(drop)
    }),
    ("replace_nested", |rw, rng| {
        let op = any_op(rw, rng, |body, op| body.nested(op).is_some())?;
        rw.replace_nested(op, Box::new(Body::with_block(1))).map(drop)
    }),
    ("replace_all_uses", |rw, rng| {
        let (old, new) = (rng.pick(&values(rw.body()))?, rng.pick(&values(rw.body()))?);
        rw.replace_all_uses(old, new);
        Some(())
    }),
    ("replace_uses_if", |rw, rng| {
        let (old, new) = (rng.pick(&values(rw.body()))?, rng.pick(&values(rw.body()))?);
        rw.replace_uses_if(old, new, |_, _, index| index == 0);
        Some(())
    }),
    ("replace_op", |rw, rng| {
        let op = any_op(rw, rng, |body, op| body.regions(op).len() == 0)?;
        let others: Vec<Value> =
            values(rw.body()).into_iter().filter(|v| rw.body().defining_op(*v) != Some(op)).collect();
        let count = rw.body().num_results(op);
        let values: Vec<Value> = (0..count).map(|_| rng.pick(&others)).collect::<Option<_>>()?;
        rw.replace_op(op, &values);
        Some(())
    }),
    ("replace_with", |rw, rng| {
        let op = any_op(rw, rng, |body, op| body.regions(op).len() == 0)?;
        let types: Vec<Type> = rw.body().results(op).map(|v| rw.body().ty(v)).collect();
        let own: Vec<Value> = rw.body().results(op).collect();
        let mut state = OpState { n_regions: 0, ..state(rw, rng) };
        state.operands.retain(|v| !own.contains(v));
        state.result_types = types.into();
        rw.replace_with(op, state);
        Some(())
    }),
    ("erase_op", |rw, rng| {
        somewhere(rw, rng);
        let op = any_op(rw, rng, |_, _| true).filter(|op| unused(rw, *op))?;
        rw.set_insert_point(InsertPoint::Detached);
        rw.erase_op(op);
        Some(())
    }),
    ("erase_block", |rw, rng| {
        let block = any_block(rw, rng, is_free)?;
        rw.erase_block(block);
        Some(())
    }),
    ("erase_blocks", |rw, rng| {
        let region = rng.pick(&regions(rw.body()))?;
        let free: Vec<Block> = rw.body().blocks(region).filter(|block| is_free(rw.body(), *block)).collect();
        rw.erase_blocks(&free[..rng.below(free.len() + 1)]);
        Some(())
    }),
    ("set_operand", |rw, rng| {
        let op = any_op(rw, rng, |body, op| body.num_operands(op) > 0)?;
        let (index, value) = (rng.below(rw.body().num_operands(op)), rng.pick(&values(rw.body()))?);
        rw.set_operand(op, index, value);
        Some(())
    }),
    ("set_operands", |rw, rng| {
        let op = any_op(rw, rng, |_, _| true)?;
        let values = some_values(rw, rng, 3);
        rw.set_operands(op, &values);
        Some(())
    }),
    ("erase_operand", |rw, rng| {
        let op = any_op(rw, rng, |body, op| body.num_operands(op) > 0)?;
        let index = rng.below(rw.body().num_operands(op));
        rw.erase_operand(op, index);
        Some(())
    }),
    ("set_operand_group", |rw, rng| {
        // A declared op: the cast has one group of operands.
        somewhere(rw, rng);
        let name = rw.cx().op_name("builtin.unrealized_conversion_cast");
        let (before, after) = (some_values(rw, rng, 3), some_values(rw, rng, 3));
        let op = rw.create(OpState::new(name, Loc::UNKNOWN).operands(before));
        rw.set_operand_group(op, 0, &after);
        Some(())
    }),
    ("set_prop", |rw, rng| {
        let (op, value) = (any_op(rw, rng, |_, _| true)?, any_attr(rw.cx(), rng));
        rw.set_prop(op, "p", value);
        Some(())
    }),
    ("set_attr", |rw, rng| {
        let (op, value) = (any_op(rw, rng, |_, _| true)?, any_attr(rw.cx(), rng));
        rw.set_attr(op, "a", value);
        Some(())
    }),
    ("set_dicts", |rw, rng| {
        let (op, value) = (any_op(rw, rng, |_, _| true)?, any_attr(rw.cx(), rng));
        let dict = rw.cx().with_entry(Attr::EMPTY_DICT, rw.cx().ident("d"), value);
        rw.set_dicts(op, dict, Attr::EMPTY_DICT);
        Some(())
    }),
    ("set_loc", |rw, rng| {
        let (op, loc) = (any_op(rw, rng, |_, _| true)?, any_loc(rw.cx(), rng));
        rw.set_loc(op, loc);
        Some(())
    }),
    ("set_arg_loc", |rw, rng| {
        let block = any_block(rw, rng, |body, block| !body.block_args(block).is_empty())?;
        let (index, loc) = (rng.below(rw.body().block_args(block).len()), any_loc(rw.cx(), rng));
        rw.set_arg_loc(block, index, loc);
        Some(())
    }),
    ("set_type", |rw, rng| {
        let value = rng.pick(&values(rw.body()))?;
        rw.set_type(value, any_type(rng));
        Some(())
    }),
    ("set_successor", |rw, rng| {
        let op = any_op(rw, rng, |body, op| !body.successors(op).is_empty())?;
        let block = any_block(rw, rng, |_, _| true)?;
        rw.set_successor(op, 0, block);
        Some(())
    }),
    ("erase_block_arg", |rw, rng| {
        let free = |body: &Body, block: Block| body.block_args(block).iter().any(|arg| body.is_unused(*arg));
        let block = any_block(rw, rng, free)?;
        let index = rw.body().block_args(block).iter().position(|arg| rw.body().is_unused(*arg))?;
        rw.erase_block_arg(block, index);
        Some(())
    }),
    ("move_before", |rw, rng| {
        let op = any_op(rw, rng, |_, _| true)?;
        let before = any_op(rw, rng, |body, other| !body.is_ancestor(op, other) || other == op)?;
        rw.move_before(op, before);
        Some(())
    }),
    ("move_to_end", |rw, rng| {
        let op = any_op(rw, rng, |_, _| true)?;
        let block = any_block(rw, rng, |body, block| !holds(body, op, block))?;
        rw.move_to_end(op, block);
        Some(())
    }),
    ("take_region", |rw, rng| {
        let (from, to) = (rng.pick(&regions(rw.body()))?, rng.pick(&regions(rw.body()))?);
        if from != to && rw.body().is_region_within(from, to) {
            return None;
        }
        rw.take_region(from, to);
        Some(())
    }),
    ("inline_region_before", |rw, rng| {
        let from = rng.pick(&regions(rw.body()))?;
        let outside =
            |body: &Body, block: Block| body.block_region(block).is_some_and(|to| !body.is_region_within(from, to));
        let before = any_block(rw, rng, outside)?;
        rw.inline_region_before(from, before);
        Some(())
    }),
    ("inline_block_before", |rw, rng| {
        let (block, args) = takeable(rw, rng)?;
        let outside = |body: &Body, op: Op| body.op_block(op).is_some_and(|at| !is_inside(body, block, at));
        let before = any_op(rw, rng, outside)?;
        rw.inline_block_before(block, before, &args);
        Some(())
    }),
    ("merge_block", |rw, rng| {
        let (block, args) = takeable(rw, rng)?;
        let dest = any_block(rw, rng, |body, dest| !is_inside(body, block, dest))?;
        rw.merge_block(block, dest, &args);
        Some(())
    }),
    ("move_block_before", |rw, rng| {
        let block = any_block(rw, rng, |_, _| true)?;
        let before = any_block(rw, rng, |body, other| other == block || !is_inside(body, block, other))?;
        rw.move_block_before(block, before);
        Some(())
    }),
    ("split_block", |rw, rng| {
        let op = any_op(rw, rng, |_, _| true)?;
        rw.split_block(op);
        Some(())
    }),
];

/// A block to which nothing goes, with values that may take the place of its arguments.
fn takeable(rw: &Rewriter<'_>, rng: &mut Rng) -> Option<(Block, Vec<Value>)> {
    let is_target = |body: &Body, block| body.preorder().any(|op| body.successors(op).contains(&block));
    let block = any_block(rw, rng, |body, block| !is_target(body, block))?;
    let args = rw.body().block_args(block);
    let others: Vec<Value> = values(rw.body()).into_iter().filter(|v| !args.contains(v)).collect();
    let args = args.iter().map(|_| rng.pick(&others)).collect::<Option<_>>()?;
    Some((block, args))
}

/// True when `at` is `block` or lies in it.
fn is_inside(body: &Body, block: Block, at: Block) -> bool {
    let around = |at: &Block| body.op_block(body.block_parent(*at)?);
    std::iter::successors(Some(at), around).any(|at| at == block)
}

/// Methods that change nothing but the rewriter, or nothing at all.
const OTHERS: &[&str] = &[
    "set_insert_point",
    "set_to_end",
    "set_to_start",
    "set_before",
    "set_after",
    "set_after_value",
    "notify_match_failure",
    "require",
    "shrink",
];

/// Names of the public methods of `source` that take `&mut self`, up to the line `end`.
fn mutating(source: &str, end: &str) -> Vec<String> {
    let source = source.split(end).next().expect("a text").replace(char::is_whitespace, " ");
    let methods = source.split("pub fn ").skip(1).filter_map(|rest| {
        let name = rest.split(['(', '<']).next()?;
        let arguments = rest[rest.find('(')? + 1..].trim_start();
        arguments.starts_with("&mut self").then(|| name.to_string())
    });
    methods.collect()
}

#[test]
fn each_method_of_the_rewriter_is_tested() {
    let builder = mutating(include_str!("../builder.rs"), "/// Result types that follow from");
    let rewriter = mutating(include_str!("../rewriter.rs"), "/// Copies operations from one place");
    assert!(builder.len() > 20 && rewriter.len() > 25, "{builder:?} {rewriter:?}");
    for name in builder.iter().chain(&rewriter) {
        let listed = CHANGES.iter().any(|(known, _)| known == name) || OTHERS.contains(&name.as_str());
        assert!(
            listed,
            "`{name}` is in no list of this test: add a call to CHANGES, or to OTHERS if it changes nothing"
        );
    }
}

/// Changes that need no editor are those of a pass that holds the body itself, so that there is no listener.
#[test]
fn a_body_has_no_other_public_changes() {
    let sources = [
        include_str!("edit.rs"),
        include_str!("uses.rs"),
        include_str!("copy.rs"),
        include_str!("walk.rs"),
        include_str!("mod.rs").split("/// A whole program").next().expect("a text"),
    ];
    let found: Vec<String> = sources.iter().flat_map(|source| mutating(source, "#[cfg(test)]")).collect();
    assert_eq!(found, ["nested_beside", "nested_mut", "shrink"]);
    let hidden = ["pub(crate) fn set_", "pub(crate) fn erase_", "pub(crate) fn insert_", "pub(crate) fn unlink_"];
    assert!(sources.iter().all(|source| hidden.iter().all(|text| !source.contains(text))));
}

/// A body with some of everything, and its mirror.
fn start(cx: &Context, rng: &mut Rng) -> (Body, Mirror) {
    let mut body = Body::new(2);
    let mut mirror = Mirror::of_empty(&body);
    let mut rw = Rewriter::with_listener(cx, &mut body, &mut mirror);
    let regions: Vec<Region> = rw.body().owner_regions().collect();
    for region in regions {
        rw.create_block(region, &[(Type::I32, Loc::UNKNOWN)]);
    }
    let make = |name: &str| CHANGES.iter().find(|(known, _)| *known == name).expect("listed").1;
    for name in ["create", "create", "create", "create_isolated", "create_block", "create", "create_isolated", "create"]
    {
        make(name)(&mut rw, rng);
    }
    (body, mirror)
}

/// Makes random changes; `silent` is one that the listener does not hear of. What is wrong first.
fn run(seed: u64, steps: usize, silent: Option<&str>, counts: &mut [usize]) -> Result<(), String> {
    let cx = Context::new(Registry::default());
    let mut rng = Rng(seed);
    let (mut body, mut mirror) = start(&cx, &mut rng);
    mirror.compare(&body)?;
    for _ in 0..steps {
        let which = rng.below(CHANGES.len());
        let (name, call) = CHANGES[which];
        let (epoch, heard) = (body.epoch(), mirror.heard);
        mirror.deaf = silent == Some(name);
        let done = call(&mut Rewriter::with_listener(&cx, &mut body, &mut mirror), &mut rng);
        let (changed, told) = (body.epoch() != epoch, mirror.heard != heard);
        counts[which] += usize::from(done.is_some() && changed);
        mirror.compare(&body).map_err(|difference| format!("after `{name}`: {difference}"))?;
        if changed != told && !mirror.deaf {
            return Err(format!("after `{name}`: changed: {changed}, told: {told}"));
        }
    }
    Ok(())
}

#[test]
fn a_listener_hears_of_every_change() {
    let mut counts = vec![0; CHANGES.len()];
    for seed in 0..60 {
        run(seed, 150, None, &mut counts).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    for ((name, _), count) in CHANGES.iter().zip(counts) {
        assert!(count >= 10, "`{name}` changed something {count} times only");
    }
}

/// The comparison finds a method that tells nothing, whichever it is.
#[test]
fn a_silent_method_is_found() {
    for (name, _) in CHANGES {
        let found = (0..40).find_map(|seed| run(seed, 150, Some(name), &mut vec![0; CHANGES.len()]).err());
        let found = found.unwrap_or_else(|| panic!("`{name}` may be silent"));
        assert!(found.starts_with(&format!("after `{name}`: ")), "{name}: {found}");
    }
}

#[test]
fn copies_of_operations_are_told() {
    let cx = Context::new(Registry::default());
    let mut rng = Rng(7);
    let (source, _) = start(&cx, &mut rng);
    let (mut body, mut mirror) = start(&cx, &mut rng);
    let mut rw = Rewriter::with_listener(&cx, &mut body, &mut mirror);
    let into = rw.body().region();
    // Operands of the other region are not mapped, which is an error; what was copied until then was told.
    let _ = IrMapping::new().clone_region(&cx, &source, source.region(), &mut rw, into);
    mirror.compare(&body).unwrap_or_else(|wrong| panic!("{wrong}"));
    let isolated = source.preorder().find(|op| source.nested(*op).is_some()).expect("there is one");
    let mut rw = Rewriter::with_listener(&cx, &mut body, &mut mirror);
    IrMapping::new().clone_op(OpRef::new(&cx, &source, isolated), &mut rw).expect("it has no operands");
    mirror.compare(&body).unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// What leaves things as they are is no change.
#[test]
fn what_stays_is_not_told() {
    let cx = Context::new(Registry::default());
    let mut rng = Rng(3);
    let (mut body, mut mirror) = start(&cx, &mut rng);
    let (epoch, heard) = (body.epoch(), mirror.heard);
    let mut rw = Rewriter::with_listener(&cx, &mut body, &mut mirror);
    for op in ops(rw.body()) {
        let (loc, operands) = (rw.body().loc(op), rw.body().operands(op).collect::<Vec<_>>());
        rw.set_loc(op, loc);
        rw.set_operands(op, &operands);
        rw.set_attr(op, "a", None);
        rw.move_before(op, op);
    }
    for value in values(rw.body()) {
        let (ty, name) = (rw.body().ty(value), rw.body().value_name(value));
        rw.set_type(value, ty);
        rw.set_value_name(value, name);
        rw.replace_all_uses(value, value);
    }
    for region in regions(rw.body()) {
        rw.take_region(region, region);
    }
    assert_eq!((body.epoch(), mirror.heard), (epoch, heard));
}
