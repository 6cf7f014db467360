//! `stitch`: ops become regions, each of which becomes one kernel.
//!
//! Memory-intensive ops that share their rows go into one region whatever their number and order (elementwise ops,
//! repetitions, reductions of rows); a product takes the elementwise ops behind it along, and what its factors are made
//! from. Which sets of ops are one kernel
//! the schemes of [`crate::region`] say, what a kernel costs a model on the machine's numbers ([`cost`]). Planners choose
//! the partition: the greedy one takes all that fits, the search the cheapest plan that it finds. The graph of regions
//! stays acyclic, and the result depends on nothing but the program and the machine. After the stitching of
//! FusionStitching (arXiv 2009.10924) and AStitch (ASPLOS'22) and the shape constraints of DISC (arXiv 2103.05288).

pub mod alone;
pub mod alternatives;
pub(crate) mod block;
mod chains;
mod copies;
pub mod cost;
mod exact;
mod greedy;
pub mod mapping;
mod outline;
#[cfg(test)]
mod plan_tests;
mod planner;
mod quotient;
mod reasons;
pub mod replan;
mod search;
mod splats;
#[cfg(test)]
mod testing;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::graph::operator::list_of_origins;
use sutura_dialects::graph::{BitcastOp, FusionOp, ReshapeOp, RoutineOp, ShapeEnv};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::op_def::Traits;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{BlockRef, Body, Context, Loc, Op, OpRef, Rewriter, Value};

use crate::functions::of_each_function;
use crate::region::Family;
use crate::region::attention::factors_first;

pub(crate) use block::is_compute;
use block::{Ops, Pricing};
use cost::{Cost, CostModel};
use mapping::mapping_class;
use planner::Ledger;
pub use quotient::Quotient;
use replan::model_of;

/// `stitch`
pub static STITCH: PassInfo = PassInfo {
    name: "Stitch",
    argument: "stitch",
    summary: "Stitch operations into regions that become kernels",
    description: "Every computation ends up in a `graph.fusion`: ops that share their rows in one of the family `row`, a \
                  product with the elementwise ops behind it in one of `contract`, as are several such products of \
                  one left factor, which become one launch, two products with a softmax between them in one of \
                  `attention`, a combination along the places of a moving window with the elementwise ops behind it in one \
                  of `window`, such a window over what a product makes with that in one of `chain`, any other op in one of `loop`. Reshapes and constants stay outside; constants of \
                  one number that have more than a mebibyte are computed. The plan is the \
                  cheapest that is found with the numbers of \
                  the module's `target.machine`; without one, and on a function alone, with those of a common core. Why \
                  a region did not take in what it reads, and what that costs, is recorded in its `reasons` and said in \
                  remarks.",
    anchor: Anchor::Any,
    options: &[
        OptionInfo {
            name: "max-ops",
            kind: OptionKind::Int(0, i64::MAX),
            default: "0",
            help: "most operations in a region, 0 for any number; with 1 nothing is stitched, which shows what stitching saves",
        },
        OptionInfo {
            name: "planner",
            kind: OptionKind::Choice(&["search", "greedy"]),
            default: "search",
            help: "search: the cheapest plan by the cost model, the best one for few operations; greedy: all that fits",
        },
    ],
    statistics: &[
        StatisticInfo { name: "num-regions", description: "regions made" },
        StatisticInfo { name: "num-ops", description: "operations in them" },
        StatisticInfo { name: "num-copies-folded", description: "transpositions that products read through" },
        StatisticInfo { name: "num-computed", description: "large constants of one number that are computed" },
        StatisticInfo { name: "dram-bytes-before", description: "traffic at likely sizes if every op were a kernel" },
        StatisticInfo { name: "dram-bytes-after", description: "traffic of the regions at likely sizes" },
        StatisticInfo { name: "predicted-ns-before", description: "predicted nanoseconds if every op were a kernel" },
        StatisticInfo { name: "predicted-ns-after", description: "predicted nanoseconds of the regions" },
    ],
    create,
};

/// How a plan is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Planner {
    Search,
    Greedy,
}

struct StitchPass {
    /// Most ops in a region.
    max_ops: usize,
    planner: Planner,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let max_ops = match options.int("max-ops") {
        0 => usize::MAX,
        n => usize::try_from(n).unwrap_or(usize::MAX),
    };
    let planner = if options.text("planner") == "greedy" { Planner::Greedy } else { Planner::Search };
    Ok(Box::new(StitchPass { max_ops, planner }))
}

impl Pass for StitchPass {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let model = model_of(cx, run.body).map_err(|message| run.diags.error(run.header.loc, message))?;
        let outcomes = of_each_function(run, |cx, header, body| {
            self.function(cx, body, &symbol_name(cx, header), header.loc, &model)
        });
        let mut error = None;
        for outcome in outcomes {
            match outcome {
                Ok(said) => said.tell(run),
                Err(Failure::Unsupported(diagnostic)) => {
                    run.diags.report(diagnostic);
                    error = Some(PassError::Unsupported);
                }
                Err(Failure::Contradiction(diagnostic)) => error = Some(run.diags.report(diagnostic).into()),
            }
        }
        error.map_or(Ok(PreservedAnalyses::none()), Err)
    }
}

/// Why a function is not stitched.
enum Failure {
    Unsupported(Diagnostic),
    Contradiction(Diagnostic),
}

fn symbol_name(cx: &Context, header: &sutura_ir::body::OpHeader) -> String {
    let name = cx.entry(header.props, cx.ident("sym_name")).and_then(|a| cx.as_str(a));
    name.unwrap_or_default().to_owned()
}

impl StitchPass {
    /// Stitches the function `name`.
    fn function(
        &self,
        cx: &Context,
        body: &mut Body,
        name: &str,
        loc: Loc,
        model: &CostModel,
    ) -> Result<Said, Failure> {
        let mut said = Said::default();
        let Some(entry) = body.entry_block() else { return Ok(said) };
        if body.blocks(body.region()).nth(1).is_some() {
            let message = format!("'{name}' has several blocks; only straight-line functions are stitched");
            return Err(Failure::Unsupported(Diagnostic::error(loc, message)));
        }
        let facts = Facts::of_block(BlockRef { cx, body, block: entry });
        let facts = facts.map_err(|(op, contradiction)| Failure::Contradiction(op.error(contradiction)))?;
        let mut rw = Rewriter::new(cx, body);
        let ops: Vec<Op> = rw.body().ops(entry).collect();
        let computed = splats::unfold(&mut rw, &ops);
        let ops: Vec<Op> = rw.body().ops(entry).collect();
        // A transposition that a product reads through is an op in the product's region.
        let folded = if self.max_ops > 1 { copies::fold_into_products(&mut rw, &facts, &ops) } else { 0 };
        erase_dead(&mut rw, &ops);
        said.count("num-copies-folded", folded);
        said.count("num-computed", computed);
        let ops = Ops::of(cx, body, entry, &facts);
        let mut pricing = Pricing::new(&ops, model.clone(), self.max_ops);
        let plan = self.plan(&ops, &mut pricing);
        let steps = steps(&ops, &plan, &mut pricing, &mut said);
        said.total(name, loc);
        outline::outline(&mut Rewriter::new(cx, body), entry, &steps);
        Ok(said)
    }

    fn plan(&self, ops: &Ops<'_>, pricing: &mut Pricing<'_, '_>) -> Quotient {
        let budget = BUDGET + BUDGET_PER_OP * ops.graph.nodes as u64;
        let mut ledger = Ledger::new(pricing, budget);
        match self.planner {
            Planner::Search => search::plan(&ops.graph, &mut ledger),
            Planner::Greedy => greedy::plan(&ops.graph, &mut ledger, greedy::Rule::Fits),
        }
    }
}

/// Ops that planning may look at, each as often as it is looked at: for any program, and for each of its ops.
const BUDGET: u64 = 1 << 14;
const BUDGET_PER_OP: u64 = 48;

/// Erases ops without effects whose results nobody uses.
fn erase_dead(rw: &mut Rewriter<'_>, ops: &[Op]) {
    for &op in ops.iter().rev() {
        let view = OpRef::new(rw.cx(), rw.body(), op);
        let dead = view.has_trait(Traits::Pure)
            && !view.has_trait(Traits::Terminator)
            && view.results().all(|v| view.body.is_unused(v));
        if dead {
            rw.erase_op(op);
        }
    }
}

/// What the ops of a block become, in order.
pub(crate) enum Step {
    /// The op stays.
    Keep(Op),
    /// Ops that become a region.
    Region(PlannedRegion),
}

/// A region to be made.
pub(crate) struct PlannedRegion {
    /// The ops, in order.
    pub(crate) ops: Vec<Op>,
    /// Values that are used outside.
    pub(crate) outputs: Vec<Value>,
    /// Why it did not take in what it reads.
    pub(crate) reasons: Vec<String>,
}

/// What is said of a function.
#[derive(Default)]
struct Said {
    remarks: Vec<(RemarkKind, Loc, String)>,
    counts: Vec<(&'static str, u64)>,
    regions: u64,
    before: Cost,
    after: Cost,
}

impl Said {
    fn count(&mut self, name: &'static str, n: u64) {
        self.counts.push((name, n));
    }

    fn remark(&mut self, kind: RemarkKind, loc: Loc, text: String) {
        self.remarks.push((kind, loc, text));
    }

    fn total(&mut self, name: &str, loc: Loc) {
        let Self { regions, before, after, .. } = *self;
        if regions > 0 {
            let kernels = if regions == 1 { "region" } else { "regions" };
            let text = format!("plan of @{name}: {regions} {kernels}, {after} predicted; op by op {before}");
            self.remarks.insert(0, (RemarkKind::Analysis, loc, text));
        }
        self.counts.extend([
            ("num-regions", regions),
            ("dram-bytes-before", before.bytes),
            ("dram-bytes-after", after.bytes),
            ("predicted-ns-before", before.time / 1000),
            ("predicted-ns-after", after.time / 1000),
        ]);
    }

    fn tell(self, run: &mut PassRun<'_>) {
        for (kind, loc, text) in self.remarks {
            match kind {
                RemarkKind::Missed => run.missed(loc, text),
                RemarkKind::Passed => run.passed(loc, text),
                _ => run.remark(loc, text),
            }
        }
        self.counts.into_iter().for_each(|(name, n)| run.count(name, n));
    }
}

/// The plan, in the order in which its kernels can run.
fn steps(ops: &Ops<'_>, plan: &Quotient, pricing: &mut Pricing<'_, '_>, said: &mut Said) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut why = reasons::Reasons::of(ops, plan);
    for cluster in plan.order() {
        let first = ops.ops[cluster];
        if !ops.graph.computes[cluster] {
            if let Some(text) = left_out(first) {
                said.remark(RemarkKind::Missed, first.loc(), text);
            }
            steps.push(Step::Keep(first.op));
            continue;
        }
        let members = plan.members(cluster);
        let priced = pricing.kernel(members).expect("a cluster is one kernel, or a single op");
        let (family, loc) = (priced.scheme.family.name(), first.loc());
        let noun = if members.len() == 1 { "op" } else { "ops" };
        let count = members.len();
        let mappings = mappings(ops, members);
        let each = members.iter().filter_map(|node| pricing.kernel(&[*node]).ok());
        let apart = each.fold(Cost::default(), |sum, p| sum.and(p.cost));
        let alone = if count == 1 { String::new() } else { format!(" (apart {apart})") };
        let origins = list_of_origins(first.cx, members.iter().map(|node| ops.ops[*node].loc()));
        let origins = origins.map(|list| format!("; it computes {list}")).unwrap_or_default();
        said.remark(
            RemarkKind::Passed,
            loc,
            format!(
                "a region of the family '{family}' with {count} {noun}: {}{alone}; {mappings}{origins}",
                priced.cost
            ),
        );
        if let (1, Some(misfit)) = (count, pricing.why_loop(cluster)) {
            said.remark(RemarkKind::Missed, loc, format!("a loop of its own: it {misfit}"));
        }
        let reasons = why.why(pricing, cluster);
        let missed = reasons.iter().map(|r| (RemarkKind::Missed, loc, format!("not stitched with {r}")));
        said.remarks.extend(missed);
        said.regions += 1;
        said.count("num-ops", count as u64);
        said.after = said.after.and(priced.cost);
        said.before = said.before.and(apart);
        let own: Vec<OpRef<'_>> = members.iter().map(|n| ops.ops[*n]).collect();
        let own = if priced.scheme.family == Family::Attention { factors_first(own) } else { own };
        let own = own.into_iter().map(|op| op.op).collect();
        steps.push(Step::Region(PlannedRegion { ops: own, outputs: ops.outputs(members), reasons }));
    }
    for (last, text) in why.attentions_apart(pricing) {
        said.remark(RemarkKind::Missed, ops.ops[last].loc(), text);
    }
    steps
}

/// The mapping types of the ops of a region, each once.
fn mappings(ops: &Ops<'_>, members: &[usize]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in members.iter().filter_map(|node| Some(mapping_class(ops.ops[*node], ops.facts)?.name())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Says that an op is in no region, unless that is its place.
fn left_out(op: OpRef<'_>) -> Option<String> {
    let place = op.has_trait(Traits::Terminator)
        || op.has_trait(Traits::ConstantLike)
        || op.is::<SymbolOp<'_>>()
        || op.is::<EqualOp<'_>>()
        || op.is::<ReshapeOp<'_>>()
        || op.is::<BitcastOp<'_>>()
        || op.is::<FusionOp<'_>>();
    if let Some(call) = op.interface::<dyn RoutineOp>().and_then(|routine| routine.call(op, &ShapeEnv::default()).ok())
    {
        let symbol = call.routine.symbol();
        return Some(format!(
            "'{}' is computed by the routine '{symbol}' of the runtime; it stays outside regions",
            op.name_str()
        ));
    }
    (!place).then(|| format!("'{}' is no op that a kernel computes; it stays outside regions", op.name_str()))
}
