//! Loops without an order of iterations become loops with one, which become blocks in turn.

use sutura_dialects::arith::ConstantOp;
use sutura_dialects::cf::BranchOp;
use sutura_dialects::scf::{ExecuteRegionOp, ForOp, ForallOp, ParallelOp, YieldOp};
use sutura_dialects::slices::Mixed;
use sutura_ir::rewrite::conversion::{Adaptor, ConversionRewriter};
use sutura_ir::{Block, Builder, Loc, Op, Region, Type, Value};

use super::take_terminator;

/// Lower bound, upper bound and step.
type Bounds = [Value; 3];

/// A nest of `scf.for` that carries the reductions, in the order in which the operands of `scf.reduce` stand.
pub(super) fn parallel_to_loops(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let (bounds, inits, body) = {
        let view = rw.view::<ParallelOp<'_>>(op)?;
        let bounds = view.lower_bound().zip(view.upper_bound()).zip(view.step()).map(|((l, u), s)| [l, u, s]);
        (bounds.collect::<Vec<Bounds>>(), view.init_vals().collect::<Vec<_>>(), view.region().region)
    };
    let nest = Nest::before(rw, op, &bounds, &inits);
    nest.take_body(rw, body)?;
    let results: Vec<Value> = rw.body().results(nest.outermost).collect();
    rw.replace_op(op, &results);
    Some(())
}

/// The same without reductions. Outputs by value would have to become memory first.
pub(super) fn forall_to_loops(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let (lists, body) = {
        let view = rw.view::<ForallOp<'_>>(op)?;
        if view.outputs().len() != 0 {
            return rw.notify_match_failure(op, || "it has outputs by value: they must be memory".to_string());
        }
        ([view.lower_bounds(), view.upper_bounds(), view.steps()], view.region().region)
    };
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let rank = lists[0].len();
    let [lower, upper, step] = lists.map(|list| values(rw, loc, list));
    let bounds: Vec<Bounds> = (0..rank).map(|i| [lower[i], upper[i], step[i]]).collect();
    let nest = Nest::before(rw, op, &bounds, &[]);
    nest.take_body(rw, body)?;
    rw.erase_op(op);
    Some(())
}

fn values(b: &mut Builder<'_>, loc: Loc, list: Vec<Mixed>) -> Vec<Value> {
    let index = |b: &mut Builder<'_>, number| ConstantOp::value(b, loc, b.cx().int_attr(number, Type::INDEX));
    list.into_iter()
        .map(|bound| match bound {
            Mixed::Value(value) => value,
            Mixed::Static(number) => index(b, number),
        })
        .collect()
}

/// Loops inside each other.
struct Nest {
    outermost: Op,
    /// Induction variables, outermost first.
    variables: Vec<Value>,
    /// Ends the innermost body, so far with the values that it got.
    end: Op,
}

impl Nest {
    fn before(rw: &mut ConversionRewriter<'_>, op: Op, bounds: &[Bounds], inits: &[Value]) -> Self {
        let loc = rw.body().loc(op);
        rw.set_before(op);
        let mut variables = Vec::new();
        let outermost = build(rw, loc, bounds, inits, &mut variables);
        let body = rw.body();
        let innermost = variables.last().and_then(|variable| body.value_block(*variable));
        let end = innermost.and_then(|block| body.last_op(block)).expect("a loop ends in a yield");
        Self { outermost, variables, end }
    }

    /// Moves the body of a parallel loop into the innermost loop. Its terminator gives what the loops carry on.
    fn take_body(&self, rw: &mut ConversionRewriter<'_>, body: Region) -> Option<()> {
        let block = rw.body().region_entry(body)?;
        let terminator = rw.body().last_op(block)?;
        rw.inline_block_before(block, self.end, &self.variables);
        let reductions: Vec<Region> = rw.body().regions(terminator).collect();
        let reduced: Vec<Value> = rw.body().operands(terminator).collect();
        let carried: Vec<Value> = rw.body().operands(self.end).collect();
        let mut next = Vec::new();
        for ((region, value), so_far) in reductions.into_iter().zip(reduced).zip(carried) {
            let combine = rw.body().region_entry(region)?;
            let combined = *inline_before(rw, combine, terminator, &[so_far, value]).first()?;
            next.push(combined);
        }
        rw.erase_op(terminator);
        rw.set_before(self.end);
        let loc = rw.body().loc(self.end);
        YieldOp::build(rw, loc, &next);
        rw.erase_op(self.end);
        Some(())
    }
}

/// Puts the ops of `block` before `before` with these arguments, and returns what its terminator had for operands.
fn inline_before(rw: &mut ConversionRewriter<'_>, block: Block, before: Op, args: &[Value]) -> Vec<Value> {
    let terminator = rw.body().last_op(block).expect("the region ends in a terminator");
    rw.inline_block_before(block, before, args);
    let operands = rw.body().operands(terminator).collect();
    rw.erase_op(terminator);
    operands
}

fn build(b: &mut Builder<'_>, loc: Loc, bounds: &[Bounds], inits: &[Value], variables: &mut Vec<Value>) -> Op {
    let (first, rest) = bounds.split_first().expect("a loop has bounds");
    ForOp::with_body(b, loc, *first, inits, |b, variable, carried| {
        variables.push(variable);
        if rest.is_empty() {
            return carried.to_vec();
        }
        let inner = build(b, loc, rest, carried, variables);
        b.body().results(inner).collect()
    })
}

/// The region's blocks stand where the op stood; each yield goes on behind it.
pub(super) fn execute_region_to_blocks(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let region = rw.view::<ExecuteRegionOp<'_>>(op)?.region().region;
    let (loc, types): (Loc, Vec<Type>) = (rw.body().loc(op), rw.op_ref(op).result_types().collect());
    let first = rw.body().region_entry(region)?;
    let blocks: Vec<Block> = rw.body().blocks(region).collect();
    let before = rw.body().op_block(op)?;
    let rest = rw.split_block(op);
    let results: Vec<Value> = types.into_iter().map(|ty| rw.add_block_arg(rest, ty, loc)).collect();
    for block in blocks {
        let is_yield = rw.body().last_op(block).is_some_and(|last| rw.op_ref(last).is::<YieldOp<'_>>());
        if is_yield {
            let values = take_terminator(rw, block);
            rw.set_to_end(block);
            BranchOp::build(rw, loc, &values, rest);
        }
    }
    rw.inline_region_before(region, rest);
    rw.set_to_end(before);
    BranchOp::build(rw, loc, &[], first);
    rw.replace_op(op, &results);
    Some(())
}
