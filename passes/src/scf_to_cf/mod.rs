//! `convert-scf-to-cf`: structured loops and conditionals become blocks and branches.

mod parallel;
#[cfg(test)]
mod tests;

use sutura_dialects::arith::{AddIOp, CmpIOp, CmpIPredicate, IndexCastOp};
use sutura_dialects::cf::{BranchOp, CondBranchOp, SwitchOp};
use sutura_dialects::scf::{ExecuteRegionOp, ForOp, ForallOp, IfOp, IndexSwitchOp, ParallelOp, WhileOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::asm::print::attr_text;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::rewrite::conversion::{
    Adaptor, ConversionPatterns, ConversionRewriter, ConversionTarget, apply_partial_conversion,
};
use sutura_ir::{Block, Loc, Op, OpRef, Region, Traits, Type, Value};

/// The pass.
pub static CONVERT_SCF_TO_CF: PassInfo = PassInfo {
    name: "SCFToControlFlowPass",
    argument: "convert-scf-to-cf",
    summary: "Convert SCF dialect to ControlFlow dialect, replacing structured control flow with a CFG",
    description: "`scf.for`, `scf.if`, `scf.while`, `scf.index_switch` and `scf.execute_region` become blocks, `cf.br`, \
                  `cf.cond_br` and `cf.switch`, as do `scf.parallel` and `scf.forall`, whose iterations then run in the \
                  order of the induction variables. A `scf.forall` with outputs by value is an error, as is any other \
                  operation of the scf dialect.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-converted", description: "Number of operations converted" }],
    create: |_: &PassOptions| Ok(Box::new(ScfToCf)),
};

struct ScfToCf;

impl Pass for ScfToCf {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut target = ConversionTarget::new();
        target.illegal_dialect("scf").legal_dialect("cf").legal_dialect("arith");
        let mut patterns = ConversionPatterns::new();
        add_patterns(&mut patterns);
        let structured = if run.wants_remarks() { structured(run) } else { Vec::new() };
        let outcome = apply_partial_conversion(run.cx, run.body, &target, &patterns, run.diags, run.trace)?;
        for (loc, name) in structured {
            run.passed(loc, format!("'{name}' is blocks and branches now"));
        }
        run.count("num-converted", outcome.applied);
        Ok(PreservedAnalyses::unless(outcome.changed))
    }
}

/// The ops that are to be converted, in the order of the text: where they are and what they are called.
fn structured(run: &PassRun<'_>) -> Vec<(Loc, String)> {
    let (cx, body) = (run.cx, &*run.body);
    let mut found = Vec::new();
    for op in body.owner_regions().flat_map(|region| body.blocks(region)).flat_map(|block| body.ops(block)) {
        OpRef::new(cx, body, op).walk(&mut |op| {
            // Terminators go with the op that they end.
            if op.name().dialect(cx) == "scf" && !op.has_trait(Traits::Terminator) {
                found.push((op.loc(), op.name_str().to_string()));
            }
        });
    }
    found
}

/// Adds the patterns of the conversion.
pub fn add_patterns(patterns: &mut ConversionPatterns) {
    patterns.add::<ForOp<'_>>("for-to-blocks", for_to_blocks);
    patterns.add::<IfOp<'_>>("if-to-blocks", if_to_blocks);
    patterns.add::<IndexSwitchOp<'_>>("switch-to-blocks", switch_to_blocks);
    patterns.add::<WhileOp<'_>>("while-to-blocks", while_to_blocks);
    patterns.add::<ParallelOp<'_>>("parallel-to-loops", parallel::parallel_to_loops);
    patterns.add::<ForallOp<'_>>("forall-to-loops", parallel::forall_to_loops);
    patterns.add::<ExecuteRegionOp<'_>>("execute-region-to-blocks", parallel::execute_region_to_blocks);
    patterns.add_fn("do-while-to-blocks", Some("scf.while"), 2, do_while_to_blocks);
}

/// Goes from the end of `from` to `to`.
fn branch(rw: &mut ConversionRewriter<'_>, loc: Loc, from: Block, to: Block, args: &[Value]) -> Op {
    rw.set_to_end(from);
    BranchOp::build(rw, loc, args, to)
}

/// Goes from the end of `from` to `yes` with arguments, or to `no` without.
fn branch_on(
    rw: &mut ConversionRewriter<'_>,
    loc: Loc,
    from: Block,
    condition: Value,
    (yes, args): (Block, &[Value]),
    no: Block,
) -> Op {
    rw.set_to_end(from);
    CondBranchOp::build(rw, loc, condition, args, &[], None, yes, no)
}

/// Removes the terminator of `block` and returns its operands.
fn take_terminator(rw: &mut ConversionRewriter<'_>, block: Block) -> Vec<Value> {
    let terminator = rw.body().last_op(block).expect("the region ends in a terminator");
    let operands = rw.body().operands(terminator).collect();
    rw.erase_op(terminator);
    operands
}

/// First and last block of a region; `None` without blocks.
fn ends(rw: &ConversionRewriter<'_>, region: Region) -> Option<(Block, Block)> {
    Some((rw.body().region_entry(region)?, rw.body().region_last(region)?))
}

/// Attributes of LLVM, such as loop annotations, go to the branch that closes the loop.
fn keep_loop_attributes(rw: &mut ConversionRewriter<'_>, from: Op, to: Op) {
    let cx = rw.cx();
    for entry in cx.entries(rw.body().attrs(from)) {
        if attr_text(cx, entry.value).starts_with("#llvm.") {
            rw.set_attr(to, cx.str(entry.name), Some(entry.value));
        }
    }
}

/// The block of the loop's arguments compares and enters the body or leaves; the body ends in an addition and goes back.
fn for_to_blocks(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let (bounds, inits, region, predicate) = {
        let view = rw.view::<ForOp<'_>>(op)?;
        let predicate = if view.unsigned_cmp() { CmpIPredicate::Ult } else { CmpIPredicate::Slt };
        let bounds = [view.lower_bound(), view.upper_bound(), view.step()];
        (bounds, view.init_args().collect::<Vec<_>>(), view.region().region, predicate)
    };
    let (condition, last) = ends(rw, region)?;
    let (loc, [lower, upper, step]) = (rw.body().loc(op), bounds);
    let before = rw.body().op_block(op)?;
    let after = rw.split_block(op);
    let first = rw.body().first_op(condition)?;
    let body = rw.split_block(first);
    let last = if last == condition { body } else { last };
    rw.inline_region_before(region, after);
    let args = rw.body().block_args(condition).to_vec();

    let mut next = take_terminator(rw, last);
    rw.set_to_end(last);
    let stepped = AddIOp::value(rw, loc, args[0], step);
    next.insert(0, stepped);
    let back = branch(rw, loc, last, condition, &next);
    keep_loop_attributes(rw, op, back);

    let entry: Vec<Value> = std::iter::once(lower).chain(inits).collect();
    branch(rw, loc, before, condition, &entry);
    rw.set_to_end(condition);
    let more = CmpIOp::value(rw, loc, predicate, args[0], upper);
    branch_on(rw, loc, condition, more, (body, &[]), after);
    rw.replace_op(op, &args[1..]);
    Some(())
}

/// Both sides go on in one block, whose arguments are the results.
fn if_to_blocks(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let (condition, then_region, else_region) = {
        let view = rw.view::<IfOp<'_>>(op)?;
        (view.condition(), view.then_region().region, view.else_region().region)
    };
    let loc = rw.body().loc(op);
    let types: Vec<(Type, Loc)> = rw.body().results(op).map(|v| (rw.body().ty(v), loc)).collect();
    let (then_first, then_last) = ends(rw, then_region)?;
    let before = rw.body().op_block(op)?;
    let rest = rw.split_block(op);
    let join = if types.is_empty() {
        rest
    } else {
        let region = rw.body().block_region(rest)?;
        let join = rw.create_block_before(region, Some(rest), &types);
        branch(rw, loc, join, rest, &[]);
        join
    };
    let values = take_terminator(rw, then_last);
    branch(rw, loc, then_last, join, &values);
    rw.inline_region_before(then_region, join);
    let mut otherwise = join;
    if let Some((else_first, else_last)) = ends(rw, else_region) {
        let values = take_terminator(rw, else_last);
        branch(rw, loc, else_last, join, &values);
        rw.inline_region_before(else_region, join);
        otherwise = else_first;
    }
    branch_on(rw, loc, before, condition, (then_first, &[]), otherwise);
    let results = rw.body().block_args(join).to_vec();
    rw.replace_op(op, if types.is_empty() { &[] } else { &results });
    Some(())
}

/// Every region goes on in one block, whose arguments are the results. The number is compared in 64 bits, in which every
/// index is itself.
fn switch_to_blocks(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let (number, cases, default, regions) = {
        let view = rw.view::<IndexSwitchOp<'_>>(op)?;
        let regions: Vec<Region> = view.case_regions().map(|r| r.region).collect();
        (view.arg(), view.cases().to_vec(), view.default_region().region, regions)
    };
    let (cx, loc) = (rw.cx(), rw.body().loc(op));
    let types: Vec<Type> = rw.body().results(op).map(|v| rw.body().ty(v)).collect();
    let before = rw.body().op_block(op)?;
    let rest = rw.split_block(op);
    let results: Vec<Value> = types.into_iter().map(|ty| rw.add_block_arg(rest, ty, loc)).collect();
    let mut firsts = Vec::new();
    for region in regions.into_iter().chain([default]) {
        let (first, last) = ends(rw, region)?;
        let values = take_terminator(rw, last);
        branch(rw, loc, last, rest, &values);
        rw.inline_region_before(region, rest);
        firsts.push(first);
    }
    let default = firsts.pop()?;
    rw.set_to_end(before);
    let number = IndexCastOp::value(rw, loc, number, Type::I64);
    let words: Vec<u64> = cases.iter().map(|case| *case as u64).collect();
    let vector = cx.vector_type(&[cases.len() as i64], Type::I64);
    let values = if cases.is_empty() { None } else { Some(cx.dense_attr(vector, &words)?) };
    SwitchOp::build(rw, loc, number, &[], &[], values, &vec![0; cases.len()], default, &firsts);
    rw.replace_op(op, &results);
    Some(())
}

/// Regions of an `scf.while`, and the operands of its `scf.condition`.
struct While {
    before: Region,
    after: Region,
    inits: Vec<Value>,
}

impl While {
    fn of(rw: &ConversionRewriter<'_>, op: Op) -> Option<Self> {
        let view = rw.view::<WhileOp<'_>>(op)?;
        Some(Self { before: view.before().region, after: view.after().region, inits: view.inits().collect() })
    }
}

/// The first region decides, with its last op, between the second region, which goes back to the first, and the rest.
fn while_to_blocks(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let While { before, after, inits } = While::of(rw, op)?;
    let ((before_first, before_last), (after_first, after_last)) = (ends(rw, before)?, ends(rw, after)?);
    let loc = rw.body().loc(op);
    let block = rw.body().op_block(op)?;
    let rest = rw.split_block(op);
    rw.inline_region_before(before, rest);
    rw.inline_region_before(after, rest);
    branch(rw, loc, block, before_first, &inits);
    let passed = take_terminator(rw, before_last);
    let (condition, passed) = passed.split_first()?;
    branch_on(rw, loc, before_last, *condition, (after_first, passed), rest);
    let next = take_terminator(rw, after_last);
    let back = branch(rw, loc, after_last, before_first, &next);
    keep_loop_attributes(rw, op, back);
    rw.replace_op(op, passed);
    Some(())
}

/// A second region that only hands its arguments on needs no block: the first region goes back to itself.
fn do_while_to_blocks(op: Op, _: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let While { before, after, inits } = While::of(rw, op)?;
    let ((before_first, before_last), (after_first, after_last)) = (ends(rw, before)?, ends(rw, after)?);
    let hands_on = after_first == after_last && {
        let first = rw.body().first_op(after_first)?;
        rw.body().next_op(first).is_none()
            && rw.body().operands(first).eq(rw.body().block_args(after_first).iter().copied())
    };
    if !hands_on {
        return rw.notify_match_failure(op, || "the second region does more than hand its arguments on".to_string());
    }
    let loc = rw.body().loc(op);
    let block = rw.body().op_block(op)?;
    let rest = rw.split_block(op);
    rw.inline_region_before(before, rest);
    branch(rw, loc, block, before_first, &inits);
    let passed = take_terminator(rw, before_last);
    let (condition, passed) = passed.split_first()?;
    let back = branch_on(rw, loc, before_last, *condition, (before_first, passed), rest);
    keep_loop_attributes(rw, op, back);
    rw.replace_op(op, passed);
    Some(())
}
