//! `propagate-reshapes`: ops run through the dimensions that reshapes between them make or take away, so that no
//! reshape stands between ops that could be one kernel.
//!
//! A reshape splits dimensions, or makes several one. Where it stands between two ops that compute, neither the one
//! before it nor the one behind it can read what the other makes element by element. So all ops of such a neighbourhood
//! are written over the finest dims that its reshapes name: an op over `N` becomes one over `N/4` and `4`, maps and
//! types follow, and the reshape between is the identity and goes. What is left are reshapes of what the neighbourhood
//! takes and of what it gives away, which are views of memory. That an op has more dims than before costs nothing: the
//! normal form of a kernel joins dims that lie side by side in everything that it reads and writes
//! ([`crate::region::Nest::collapse`]).
//!
//! Dims are found by unification (`dims`): those that an op reads, runs through and writes are one where the maps say
//! so; a reshape makes two lists of dims the same by splitting; dims that must stay whole say no, and then the reshape
//! stays. This does for a whole function at once what MLIR's reshape propagation by expansion does op by op, in both
//! directions, and leaves nothing to undo where it fails.
//!
//! Regions could instead compose through reshapes when they are formed. Then indices would be quotients and remainders
//! of dims, which no scheme of [`crate::region`] takes, and each would have to find these dims for itself.

mod dims;
mod program;
mod rewrite;
#[cfg(test)]
mod tests;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::ReshapeOp;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::op_def::OpView;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{BlockRef, Body, Context, Loc, Op, OpRef, Rewriter, Value};

use crate::functions::of_each_function;
use crate::region::cost::{likely_bytes, value_text};
use dims::{Conflict, Why};
use program::{Program, Stays};

/// `propagate-reshapes`
pub static PROPAGATE_RESHAPES: PassInfo = PassInfo {
    name: "PropagateReshapes",
    argument: "propagate-reshapes",
    summary: "Move reshapes out from between operations that could be one kernel",
    description: "Elementwise ops, reductions and moves of data on both sides of a `graph.reshape` are written over \
                  the dimensions that it splits or makes one: `graph.compute` gets more iterators, and the reshape \
                  goes. Reshapes of what such ops take from elsewhere and of what they give away stay, as views. An op \
                  is changed only for a reshape between an op that makes a tensor and one other than a product that \
                  reads it. A reshape stays where sizes are not known to be multiples of each other, and where a \
                  dimension would be split that a product or an op without structured form runs through, that is \
                  read at computed places or outside the tensor, or whose index an op computes with; a remark says \
                  so. Between a product and an op that no scheme would make one kernel with it a reshape is put where \
                  that helps others.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-propagated", description: "reshapes that no longer stand between operations" },
        StatisticInfo { name: "num-kept", description: "reshapes between operations that stay" },
        StatisticInfo { name: "num-expanded", description: "operations that run through more dimensions" },
    ],
    create: |_: &PassOptions| Ok(Box::new(PropagateReshapes)),
};

struct PropagateReshapes;

/// Remarks of one function, and what was done.
#[derive(Default)]
struct Said {
    remarks: Vec<(RemarkKind, Loc, String)>,
    propagated: u64,
    kept: u64,
    expanded: u64,
}

impl Pass for PropagateReshapes {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, _, body| function(cx, body));
        let mut changed = false;
        for outcome in outcomes {
            let said = outcome.map_err(|diagnostic| run.diags.report(diagnostic))?;
            changed |= said.propagated > 0;
            run.count("num-propagated", said.propagated);
            run.count("num-kept", said.kept);
            run.count("num-expanded", said.expanded);
            for (kind, loc, text) in said.remarks {
                match kind {
                    RemarkKind::Passed => run.passed(loc, text),
                    _ => run.missed(loc, text),
                }
            }
        }
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// Propagates the reshapes of each block of a function.
///
/// # Errors
/// With a diagnostic, when what is stated of sizes contradicts itself.
fn function(cx: &Context, body: &mut Body) -> Result<Said, Diagnostic> {
    let mut said = Said::default();
    let Some(entry) = body.entry_block() else { return Ok(said) };
    let block = BlockRef { cx, body, block: entry };
    if !block.ops().any(|op| op.is::<ReshapeOp<'_>>()) {
        return Ok(said);
    }
    let facts = Facts::of_block(block).map_err(|(op, contradiction)| op.error(contradiction))?;
    let mut program = Program::of(block, &facts);
    let outcomes = program.see_through();
    let mut gone = Vec::new();
    for (reshape, outcome) in outcomes {
        let (kind, text) = match outcome {
            Ok(()) => {
                gone.push(reshape.op_ref().op);
                (RemarkKind::Passed, propagated(&program, &facts, reshape))
            }
            Err(stays) => (RemarkKind::Missed, kept(reshape, &stays)),
        };
        said.remarks.push((kind, reshape.op_ref().loc(), text));
    }
    said.propagated = gone.len() as u64;
    said.kept = said.remarks.len() as u64 - said.propagated;
    let changes = program.changes();
    said.expanded = changes.iter().filter(|c| c.expanded).count() as u64;
    let mut rw = Rewriter::new(cx, body);
    rewrite::apply(&mut rw, &changes);
    for op in gone.into_iter().rev() {
        let unused = rw.body().results(op).all(|v| rw.body().is_unused(v));
        if unused {
            rw.erase_op(op);
        }
    }
    Ok(said)
}

fn name(op: OpRef<'_>, value: Value) -> String {
    value_text(op.cx, op.body, value)
}

/// What is said of a reshape that is seen through.
fn propagated(program: &Program<'_, '_>, facts: &Facts, reshape: ReshapeOp<'_>) -> String {
    let op = reshape.op_ref();
    let result = reshape.result();
    let input = program.seen_through[&result];
    let leaves = program.tensors[&input].iter().flat_map(|dim| program.dims.leaves(*dim));
    let sizes: Vec<String> = leaves.map(|leaf| program.dims.extent(leaf).to_string()).collect();
    let bytes = likely_bytes(op.cx, facts, op.ty(input));
    format!(
        "{} is read as {} is made, along ({}): {bytes} bytes at likely sizes need not be written and read between them",
        name(op, result),
        name(op, input),
        sizes.join(", "),
    )
}

/// Why a reshape stays.
fn kept(reshape: ReshapeOp<'_>, stays: &Stays) -> String {
    let op = reshape.op_ref();
    let made = |by: &Op| op.at(*by).results().next().map_or_else(String::new, |v| name(op, v));
    let why = match stays {
        Stays::Products => "only products read it".to_owned(),
        Stays::Combined(by) => format!("{} combines along a dimension of size 1", made(by)),
        Stays::Outside(by) => format!("{} reads outside it along a dimension of size 1", made(by)),
        Stays::Conflict(Conflict::Sizes(a, b)) => {
            format!("neither of the sizes {a} and {b} is known to be a multiple of the other")
        }
        Stays::Conflict(Conflict::Whole(_, Why::Size)) => {
            "a dimension would be split or joined, and its size is not known".to_owned()
        }
        Stays::Conflict(Conflict::Whole(size, why)) => {
            let why = match why {
                Why::Product(by) => format!("the product {} runs through it", made(by)),
                Why::Index(by) => format!("{} computes with its index", made(by)),
                Why::Place(by) => format!("{} reads along it at computed places", made(by)),
                Why::Outside(by) => format!("{} reads outside a tensor along it", made(by)),
                Why::Unstructured(by) => format!("'{}' runs through it", op.at(*by).name_str()),
                Why::Size => "its size is not known".to_owned(),
            };
            format!("a dimension of size {size} would be split, and {why}")
        }
    };
    format!("{} stays a reshape of {}: {why}", name(op, reshape.result()), name(op, reshape.input()))
}
