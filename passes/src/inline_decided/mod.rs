//! `inline-decided`: functions in which data decide sizes in the place of their calls.
//!
//! A size that data decide is a symbol of one function, and is known behind the op that decides it. In the place of the call
//! that is a symbol of the caller, another one at each call. Calls in conditions and loops stay: there it is not one size.

use std::collections::{BTreeMap, BTreeSet};

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::func::{CallOp, FuncOp};
use sutura_dialects::graph::shape_fn::told_symbols;
use sutura_dialects::graph::{RoutineOp, ShapeEnv, ShapeFn};
use sutura_dialects::scf::{IfOp, WhileOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, OpRef, Traits};

/// The pass.
pub static INLINE_DECIDED: PassInfo = PassInfo {
    name: "InlineDecided",
    argument: "inline-decided",
    summary: "Inline calls of functions in which data decide sizes",
    description: "Puts the bodies of functions in which data decide sizes (`graph.non_zero`, `graph.unique`, conditions and loops whose \
                  results have such sizes), directly or in functions that they call, in the place of their calls, as `inline` does; private ones that nothing calls any \
                  more are erased. Calls in regions of conditions and loops stay, and so do those of recursive functions.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-inlined", description: "calls that were replaced" }],
    create: |_: &PassOptions| Ok(Box::new(InlineDecided)),
};

struct InlineDecided;

impl Pass for InlineDecided {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let deciding = deciding(run.cx, run.body);
        if deciding.is_empty() {
            return Ok(PreservedAnalyses::all());
        }
        let wanted = |call: OpRef<'_>, callee: OpRef<'_>| {
            let direct = call.parent().is_none_or(|parent| parent.has_trait(Traits::IsolatedFromAbove));
            direct && callee.symbol_name().is_some_and(|name| deciding.contains(name))
        };
        let inlined = crate::generic::inline_where(run, &wanted);
        run.count("num-inlined", inlined);
        Ok(PreservedAnalyses::unless(inlined > 0))
    }
}

/// Names of the functions in which data decide sizes, in functions that they call too.
fn deciding(cx: &Context, module: &Body) -> BTreeSet<String> {
    let ops = module.entry_block().into_iter().flat_map(|block| module.ops(block));
    let functions = ops.map(|op| OpRef::new(cx, module, op)).filter(|op| op.is::<FuncOp<'_>>());
    let (mut found, mut callers) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
    for function in functions {
        let Some((name, block)) = function.symbol_name().zip(function.region(0).and_then(|r| r.entry())) else {
            continue;
        };
        for op in block.ops() {
            if let Some(call) = op.as_::<CallOp<'_>>() {
                callers.entry(call.callee().to_owned()).or_default().push(name.to_owned());
            } else if decides(op) {
                found.push(name.to_owned());
            }
        }
    }
    let mut deciding = BTreeSet::new();
    while let Some(name) = found.pop() {
        if deciding.insert(name.clone()) {
            found.extend(callers.get(&name).into_iter().flatten().cloned());
        }
    }
    deciding
}

/// Whether sides or iterations may make something of different sizes.
fn hands_on_decided(op: OpRef<'_>) -> bool {
    let told = told_symbols(op, &[]);
    let sizes = op.results().filter_map(|value| symbolic_shape(op.cx, op.ty(value))).flatten().flatten();
    sizes.into_iter().any(|size| size.symbols().iter().any(|name| !told.contains(name)))
}

fn decides(op: OpRef<'_>) -> bool {
    if op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>() {
        return hands_on_decided(op);
    }
    let function = op.interface::<dyn ShapeFn>().filter(|_| op.interface::<dyn RoutineOp>().is_some());
    function.is_some_and(|function| !function.infer(op, &ShapeEnv::default()).decided.is_empty())
}
