//! `scf-for-to-while`: counted loops as loops that compare their counter.

use sutura_dialects::arith::{AddIOp, CmpIOp, CmpIPredicate};
use sutura_dialects::scf::{ConditionOp, ForOp, WhileOp, YieldOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Loc, Op, OpRef, OpView, Rewriter, Type, Value};

/// The pass.
pub static SCF_FOR_TO_WHILE: PassInfo = PassInfo {
    name: "SCFForToWhileLoop",
    argument: "scf-for-to-while",
    summary: "Convert SCF for loops to SCF while loops",
    description: "Each `scf.for` becomes an `scf.while` whose first region compares the counter with the upper bound and \
                  whose second region is the body, with the counter, as first of what is carried, advanced by the step. A loop whose step is not a \
                  constant greater than 0 stays, with a remark: what it does is not defined for other steps, and it might \
                  never end. Loops in declarations of operators stay as well: they are converted where these are expanded.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-converted", description: "loops converted" }],
    create: |_: &PassOptions| Ok(Box::new(ScfForToWhile)),
};

struct ScfForToWhile;

impl Pass for ScfForToWhile {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        // What an operator stands for keeps its loops until it is expanded.
        let declaration = cx.op_name("graph.operator");
        let counts = run.for_each_body(|at| {
            if at.header.name == declaration {
                return 0;
            }
            let mut loops: Vec<Op> =
                at.body.preorder().filter(|op| OpRef::new(cx, at.body, *op).is::<ForOp<'_>>()).collect();
            // Those inside first, so that what is moved has been looked at.
            loops.reverse();
            let mut converted = 0;
            for op in &loops {
                let loc = at.body.loc(*op);
                if let Err(why) = advances(OpRef::new(cx, at.body, *op)) {
                    at.remarks.missed(loc, || format!("'scf.for' stays: {why}"));
                    continue;
                }
                convert(&mut Rewriter::new(cx, at.body), *op, loc);
                at.remarks.passed(loc, || "'scf.for' is an 'scf.while' now".to_owned());
                converted += 1;
            }
            converted
        });
        let converted: u64 = counts.into_iter().sum();
        run.count("num-converted", converted);
        Ok(PreservedAnalyses::unless(converted > 0))
    }
}

/// Whether the counter of a loop is known to grow.
fn advances(op: OpRef<'_>) -> Result<(), String> {
    let step = op.constant(ForOp::from_ref(op).step()).and_then(|step| op.cx.as_int(step));
    match step {
        Some(step) if step > 0 => Ok(()),
        Some(step) => Err(format!("its step is {step}; it must be greater than 0")),
        None => Err("its step is not a constant, so nothing says that it is greater than 0".to_owned()),
    }
}

fn convert(rw: &mut Rewriter<'_>, op: Op, loc: Loc) {
    let Some(this) = rw.view::<ForOp<'_>>(op) else { return };
    let (lower, upper, step) = (this.lower_bound(), this.upper_bound(), this.step());
    let unsigned = this.unsigned_cmp();
    let inits: Vec<Value> = std::iter::once(lower).chain(this.init_args()).collect();
    let types: Vec<Type> = inits.iter().map(|value| rw.body().ty(*value)).collect();
    let region = rw.body().regions(op).next().expect("a loop has a region");
    let block = rw.body().region_entry(region).expect("verified");
    rw.set_before(op);
    let new = WhileOp::build(rw, loc, &inits, &types);
    let regions: Vec<_> = rw.body().regions(new).collect();
    let args: Vec<(Type, Loc)> = types.iter().map(|ty| (*ty, loc)).collect();
    let before = rw.create_block(regions[0], &args);
    rw.set_to_end(before);
    let carried: Vec<Value> = rw.body().block_args(before).to_vec();
    let less = if unsigned { CmpIPredicate::Ult } else { CmpIPredicate::Slt };
    let goes_on = CmpIOp::value(rw, loc, less, carried[0], upper);
    ConditionOp::build(rw, loc, goes_on, &carried);
    let after = rw.create_block(regions[1], &args);
    rw.set_to_end(after);
    let carried: Vec<Value> = rw.body().block_args(after).to_vec();
    let end = YieldOp::build(rw, loc, &[]);
    rw.inline_block_before(block, end, &carried);
    let old = rw.body().prev_op(end).expect("the body of a loop has a terminator");
    let mut yielded: Vec<Value> = rw.body().operands(old).collect();
    rw.set_before(end);
    let next = AddIOp::value(rw, loc, carried[0], step);
    yielded.insert(0, next);
    rw.set_operands(end, &yielded);
    rw.erase_op(old);
    let results: Vec<Value> = rw.body().results(new).skip(1).collect();
    rw.replace_op(op, &results);
}
