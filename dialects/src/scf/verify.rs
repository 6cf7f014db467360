//! What scf's operations check beyond their declarations: that values passed along control flow fit.

use sutura_ir::op_def::{OpView, Verify, VerifyRegions};
use sutura_ir::{BlockRef, Diagnostic, Diagnostics, OpRef, Reported, Type};

use super::ops::{ConditionOp, ForOp, IfOp, WhileOp, YieldOp};
use crate::show;

pub(crate) fn report(diags: &mut Diagnostics, result: Result<(), Diagnostic>) -> Result<(), Reported> {
    result.map_err(|d| diags.report(d))
}

/// Types of the values of a block's arguments.
fn arg_types(block: BlockRef<'_>) -> Vec<Type> {
    block.args().iter().map(|v| block.body.ty(*v)).collect()
}

/// Last op of the entry block of region `index`.
pub(crate) fn last_op(op: OpRef<'_>, index: usize) -> Option<OpRef<'_>> {
    let block = op.region(index)?.entry()?;
    Some(op.at(block.body.last_op(block.block)?))
}

/// Values passed along an edge of control flow have the types that arrive.
pub(crate) fn verify_edge(
    op: OpRef<'_>,
    from: &str,
    to: &str,
    passed: &[Type],
    expected: &[Type],
) -> Result<(), Diagnostic> {
    let edge = format!("along control flow edge from {from} to {to}");
    if passed.len() != expected.len() {
        let (passed, expected) = (passed.len(), expected.len());
        return Err(op.error(format!(
            "{edge}: region branch point has {passed} operands, but region successor needs {expected} inputs"
        )));
    }
    match passed.iter().zip(expected).position(|(p, e)| p != e) {
        None => Ok(()),
        Some(i) => {
            let (passed, expected) = (show::ty(op.cx, passed[i]), show::ty(op.cx, expected[i]));
            Err(op.error(format!(
                "{edge}: successor operand type #{i} '{passed}' should match successor input type #{i} '{expected}'"
            )))
        }
    }
}

/// A region whose one block is there.
pub(crate) fn entry(op: OpRef<'_>, index: usize, name: &str) -> Result<(), Diagnostic> {
    match op.region(index).and_then(|r| r.entry()) {
        Some(_) => Ok(()),
        None => {
            let message = format!("region #{index} ('{name}') failed to verify constraint: region with 1 blocks");
            Err(op.error(message))
        }
    }
}

// ---- for

impl Verify for ForOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_for(ForOp::from_ref(op)))
    }
}

fn verify_for(for_op: ForOp<'_>) -> Result<(), Diagnostic> {
    let op = for_op.op_ref();
    entry(op, 0, "region")?;
    let block = for_op.region().entry().expect("checked above");
    let (args, bound) = (arg_types(block), op.ty(for_op.lower_bound()));
    if args.first() != Some(&bound) {
        return Err(op.error("expected induction variable to be same type as bounds and step"));
    }
    let inits: Vec<Type> = for_op.init_args().map(|v| op.ty(v)).collect();
    let results: Vec<Type> = op.result_types().collect();
    let carried = &args[1..];
    if inits.len() != results.len() {
        let message = "mismatch in number of loop-carried values and defined values";
        return Err(op.error(message));
    }
    if inits.len() != carried.len() {
        let (inits, args) = (inits.len(), carried.len());
        return Err(op.error(format!("different number of inits and region iter_args: {inits} != {args}")));
    }
    verify_pairs(op, "init", "region iter_arg", &inits, carried)?;
    verify_pairs(op, "region iter_arg", "result", carried, &results)
}

fn verify_pairs(op: OpRef<'_>, a: &str, b: &str, left: &[Type], right: &[Type]) -> Result<(), Diagnostic> {
    match left.iter().zip(right).position(|(l, r)| l != r) {
        None => Ok(()),
        Some(i) => {
            let (left, right) = (show::ty(op.cx, left[i]), show::ty(op.cx, right[i]));
            Err(op.error(format!("{i}-th {a} and {i}-th {b} have different type: '{left}' != '{right}'")))
        }
    }
}

impl VerifyRegions for ForOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(last) = last_op(op, 0).filter(|l| l.is::<YieldOp<'_>>()) else { return Ok(()) };
        let yielded: Vec<Type> = last.operand_types().collect();
        let carried = op.region(0).and_then(|r| r.entry()).map(|b| arg_types(b)[1..].to_vec()).unwrap_or_default();
        let result = if yielded.len() == carried.len() {
            verify_pairs(op, "region iter_arg", "yielded value", &carried, &yielded)
        } else {
            verify_edge(op, "Operation scf.yield", "Region #0", &yielded, &carried)
        };
        report(diags, result)
    }
}

// ---- if

impl Verify for IfOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let has_else = op.region(1).is_some_and(|r| !r.is_empty());
        let result = entry(op, 0, "thenRegion").and_then(|()| {
            if op.num_results() != 0 && !has_else {
                return Err(op.error("must have an else block if defining values"));
            }
            Ok(())
        });
        report(diags, result)
    }
}

impl VerifyRegions for IfOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let results: Vec<Type> = op.result_types().collect();
        for index in 0..2 {
            let Some(last) = last_op(op, index).filter(|l| l.is::<YieldOp<'_>>()) else { continue };
            let yielded: Vec<Type> = last.operand_types().collect();
            report(diags, verify_edge(op, "Operation scf.yield", "parent", &yielded, &results))?;
        }
        Ok(())
    }
}

// ---- while

impl Verify for WhileOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, entry(op, 0, "before").and_then(|()| entry(op, 1, "after")))
    }
}

impl VerifyRegions for WhileOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_while(op))
    }
}

fn verify_while(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let condition = last_op(op, 0).and_then(|l| l.as_::<ConditionOp<'_>>());
    let Some(condition) = condition else {
        return Err(op.error("expects the 'before' region to terminate with 'scf.condition'"));
    };
    let Some(last) = last_op(op, 1).filter(|l| l.is::<YieldOp<'_>>()) else {
        return Err(op.error("expects the 'after' region to terminate with 'scf.yield'"));
    };
    let args = |index| op.region(index).and_then(|r| r.entry()).map(arg_types).unwrap_or_default();
    let (before, after) = (args(0), args(1));
    let inits: Vec<Type> = op.operand_types().collect();
    let results: Vec<Type> = op.result_types().collect();
    let passed: Vec<Type> = condition.args().map(|v| op.ty(v)).collect();
    let yielded: Vec<Type> = last.operand_types().collect();
    verify_edge(op, "parent", "Region #0", &inits, &before)?;
    verify_edge(op, "Operation scf.condition", "parent", &passed, &results)?;
    verify_edge(op, "Operation scf.condition", "Region #1", &passed, &after)?;
    verify_edge(op, "Operation scf.yield", "Region #0", &yielded, &before)
}
