//! The plan: regions, what is in them, and why neighbours are not.

use std::collections::HashMap;

use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::operator::list_of_origins;
use sutura_dialects::graph::{ComputeOp, FusionOp};
use sutura_ir::asm::print::attr_text;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::{Context, Module, Op, OpRef};
use sutura_passes::graph_to_gir::{Candidate, choices, rule_of};
use sutura_passes::refine_fusion_plan::REFINE_FUSION_PLAN;

/// A region of a function.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) function: String,
    /// The rule that wrote its schedule; empty where each of its operations is a kernel of its own.
    pub(crate) rule: String,
    /// Its operations, what they compute for an element, and where they come from.
    pub(crate) ops: Vec<(String, String, String)>,
    /// What the planner says of its cost; `None` for a program that came with its regions.
    pub(crate) cost: Option<String>,
    /// Why it did not take in what it reads.
    pub(crate) reasons: Vec<String>,
    /// How it becomes kernels, and what else it could.
    pub(crate) schedule: Option<Schedule>,
    /// The function, and the region in it.
    at: (Op, Op),
}

/// The schedule of a region.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// The tree; absent where its operations are lowered one by one.
    pub(crate) text: Option<String>,
    /// Nanoseconds that the model of the machine predicts for it.
    pub(crate) predicted_ns: Option<f64>,
    /// The best of the others that were looked at, with what differs and its price.
    pub(crate) runner_up: Option<(String, f64)>,
}

/// Notes the schedules of regions, which `scheduled` has as attributes, and their prices at sizes that are given.
///
/// # Errors
/// When what the module says of its machine is wrong.
pub(crate) fn schedules(
    cx: &Context,
    regions: &mut [Region],
    (module, scheduled): (&Module, &Module),
    sizes: &HashMap<String, i64>,
) -> Result<(), String> {
    let priced = choices(cx, module.body(), sizes)?;
    for region in regions {
        let (function, fusion) = region.at;
        let op = module.body().nested(function).map(|body| OpRef::new(cx, body, fusion));
        let rule = op.map(|op| rule_of(cx, module.body(), op)).transpose()?.flatten();
        region.rule = rule.unwrap_or_default().to_owned();
        let inside = scheduled.body().nested(function).map(|body| OpRef::new(cx, body, fusion));
        let tree = inside.and_then(|op| op.as_::<FusionOp<'_>>()?.schedule());
        let text = tree.map(|tree| attr_text(cx, cx.ext_attr(tree.clone())));
        let choice = priced.iter().find(|choice| (choice.function, choice.fusion) == region.at);
        let candidates = choice.map_or(&[][..], |choice| &choice.candidates);
        let price = |candidate: &Candidate| Some((candidate.name.clone(), candidate.predicted_ns?));
        let predicted_ns = candidates.first().and_then(|usual| usual.predicted_ns);
        let others = candidates.iter().skip(1).filter_map(price);
        let runner_up = others.min_by(|a, b| a.1.total_cmp(&b.1));
        region.schedule = Some(Schedule { text, predicted_ns, runner_up });
    }
    Ok(())
}

/// The regions of all functions, in order; `remarks` are what `stitch` said when it made them.
pub(crate) fn read(cx: &Context, module: &Module, remarks: &[Diagnostic]) -> Vec<Region> {
    let mut regions = Vec::new();
    let entry = module.op_ref(cx).region(0).and_then(|r| r.entry());
    for function in entry.into_iter().flat_map(|e| e.ops()).filter(|op| op.is::<FuncOp<'_>>()) {
        let name = function.symbol_name().unwrap_or_default();
        let at = |op: OpRef<'_>| (function.op, op.op);
        function
            .walk(&mut |op| regions.extend(op.as_::<FusionOp<'_>>().map(|fusion| region(cx, at(op), fusion, name))));
    }
    // One remark for each region, in the same order.
    let said: Vec<&str> = remarks
        .iter()
        .filter(|r| r.pass == Some("stitch") && r.kind == Some(RemarkKind::Passed))
        .filter_map(|r| r.message.strip_prefix("a region of the family ")?.split_once(": ").map(|(_, cost)| cost))
        // What it computes is said for each of its operations.
        .map(|cost| cost.split_once("; it computes ").map_or(cost, |(cost, _)| cost))
        .collect();
    // Of regions that became others it said nothing.
    let changed = |r: &Diagnostic| r.pass == Some(REFINE_FUSION_PLAN.argument) && r.kind == Some(RemarkKind::Passed);
    if said.len() == regions.len() && !remarks.iter().any(changed) {
        regions.iter_mut().zip(said).for_each(|(region, cost)| region.cost = Some(cost.to_owned()));
    }
    regions
}

fn region(cx: &Context, at: (Op, Op), fusion: FusionOp<'_>, function: &str) -> Region {
    let inside = fusion.body().entry().into_iter().flat_map(|block| block.ops());
    let computing = inside.filter(|op| !op.name_str().starts_with("dyn.") && op.name_str() != "graph.yield");
    let reasons = fusion.reasons().unwrap_or_default();
    let text = |op: OpRef<'_>| {
        let node = list_of_origins(op.cx, std::iter::once(op.loc())).unwrap_or_default();
        (op.name_str().to_owned(), elementwise(op), node)
    };
    Region {
        function: function.to_owned(),
        rule: String::new(),
        ops: computing.map(text).collect(),
        cost: None,
        reasons: reasons.iter().filter_map(|reason| cx.as_str(*reason)).map(str::to_owned).collect(),
        schedule: None,
        at,
    }
}

/// What an operation computes for an element: its combiners, and the operations in its body.
fn elementwise(op: OpRef<'_>) -> String {
    let mut names: Vec<String> = Vec::new();
    if let Some(compute) = op.as_::<ComputeOp<'_>>() {
        let combiners = compute.combiners().map_or(&[][..], |named| &named.kinds);
        names.extend(combiners.iter().map(|combiner| format!("reduce {}", combiner.keyword())));
        names.extend(compute.combine_state().map(|_| "reduce by a region".to_owned()));
    }
    let ops = op.region(0).and_then(|r| r.entry()).into_iter().flat_map(|block| block.ops());
    let computing = ops.map(|op| op.name_str()).filter(|n| !matches!(*n, "graph.yield" | "arith.constant"));
    names.extend(computing.map(|name| name.split_once('.').map_or(name, |(_, op)| op).to_owned()));
    names.join(", ")
}
