//! Functions, for passes that work on each alone.

use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::ComputeOp;
use sutura_ir::body::OpHeader;
use sutura_ir::diagnostics::RemarkKind;
use sutura_ir::pass::PassRun;
use sutura_ir::{Block, Body, Context, Loc, Op, OpRef, name_of};

/// What `work` makes of each function of a module in turn, or of the one that the pass runs on.
pub(crate) fn of_each_function<T>(
    run: &mut PassRun<'_>,
    mut work: impl FnMut(&Context, &OpHeader, &mut Body) -> T,
) -> Vec<T> {
    let cx = run.cx;
    if run.header.name.as_str(cx) == name_of::<FuncOp<'_>>() {
        return vec![work(cx, run.header, run.body)];
    }
    let functions = functions(cx, run.body);
    let mut made = Vec::with_capacity(functions.len());
    for op in functions {
        let header = *run.body.header(op);
        made.extend(run.body.nested_mut(op).map(|body| work(cx, &header, body)));
    }
    made
}

/// The `graph.compute`s of a block, in order.
pub(crate) fn computes(cx: &Context, body: &Body, block: Block) -> Vec<Op> {
    body.ops(block).filter(|op| OpRef::new(cx, body, *op).is::<ComputeOp<'_>>()).collect()
}

/// A remark that a pass has to say of an op.
pub(crate) type Remark = (RemarkKind, Loc, String);

/// Says remarks, and how many of them are of something that was done.
pub(crate) fn say(run: &mut PassRun<'_>, remarks: impl IntoIterator<Item = Remark>) -> u64 {
    let mut done = 0;
    for (kind, loc, text) in remarks {
        match kind {
            RemarkKind::Passed => {
                done += 1;
                run.passed(loc, text);
            }
            _ => run.missed(loc, text),
        }
    }
    done
}

/// The functions of a module, with those that have no body.
pub(crate) fn functions(cx: &Context, module: &Body) -> Vec<Op> {
    let is_function = |op: &Op| OpRef::new(cx, module, *op).is::<FuncOp<'_>>();
    module.entry_block().map(|block| module.ops(block).filter(is_function).collect()).unwrap_or_default()
}
