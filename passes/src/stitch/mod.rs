//! `stitch`: ops become regions, each of which becomes one kernel.
//!
//! Memory-intensive ops that share their rows go into one region whatever their number and order (elementwise ops,
//! repetitions, reductions of rows); a product takes the elementwise ops behind it along. Edges are contracted greedily,
//! those first that save most traffic, as long as the graph of regions stays acyclic; so the result depends on nothing
//! but the program. After the stitching of FusionStitching (arXiv 2009.10924) and the shape constraints of DISC (arXiv
//! 2103.05288).

mod chains;
mod copies;
mod outline;
mod quotient;

use std::collections::{BTreeSet, HashMap};

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::graph::{ConcatOp, FusionOp, GatherOp, ReshapeOp, SliceOp, Structured};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::op_def::Traits;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Block, Body, Context, Op, OpRef, Rewriter, Value};

use crate::region::cost::{likely_bytes, value_text};
use crate::region::{Misfit, fit};
pub use quotient::Quotient;

/// `stitch`
pub static STITCH: PassInfo = PassInfo {
    name: "Stitch",
    argument: "stitch",
    summary: "Stitch operations into regions that become kernels",
    description: "Every computation ends up in a `graph.fusion`: ops that share their rows in one of kind `row`, a \
                  product with the elementwise ops behind it in one of kind `contract`, two products with a softmax \
                  between them in one of kind `attention`, any other op in one of kind `loop`. Reshapes and constants stay outside. Why a region did not take in what it reads is recorded \
                  in its `reasons` and said in remarks.",
    anchor: Anchor::Op("func.func"),
    options: &[OptionInfo {
        name: "max-ops",
        kind: OptionKind::Int(0, i64::MAX),
        default: "0",
        help: "most operations in a region, 0 for any number; with 1 nothing is stitched, which shows what stitching saves",
    }],
    statistics: &[
        StatisticInfo { name: "num-regions", description: "regions made" },
        StatisticInfo { name: "num-ops", description: "operations in them" },
        StatisticInfo { name: "num-copies-folded", description: "transpositions that products read through" },
        StatisticInfo { name: "dram-bytes-before", description: "traffic at likely sizes if every op were a kernel" },
        StatisticInfo { name: "dram-bytes-after", description: "traffic of the regions at likely sizes" },
    ],
    create,
};

struct StitchPass {
    /// Most ops in a region.
    max_ops: usize,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let max_ops = match options.int("max-ops") {
        0 => usize::MAX,
        n => usize::try_from(n).unwrap_or(usize::MAX),
    };
    Ok(Box::new(StitchPass { max_ops }))
}

impl Pass for StitchPass {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let Some(entry) = run.body.entry_block() else { return Ok(PreservedAnalyses::all()) };
        if run.body.blocks(run.body.region()).nth(1).is_some() {
            let message =
                format!("'{}' has several blocks; only straight-line functions are stitched", function_name(run));
            run.diags.report(Diagnostic::error(run.header.loc, message));
            return Err(PassError::Unsupported);
        }
        let facts = match Facts::of_block(sutura_ir::BlockRef { cx, body: run.body, block: entry }) {
            Ok(facts) => facts,
            Err((op, contradiction)) => {
                let error = op.error(contradiction);
                return Err(run.diags.report(error).into());
            }
        };
        let mut rw = Rewriter::new(cx, run.body);
        let ops: Vec<Op> = rw.body().ops(entry).collect();
        // A transposition that a product reads through is an op in the product's region.
        let folded = if self.max_ops > 1 { copies::fold_into_products(&mut rw, &facts, &ops) } else { 0 };
        erase_dead(&mut rw, &ops);
        run.count("num-copies-folded", folded);
        let stitched = Stitcher::new(cx, run.body, entry, &facts, self.max_ops).run();
        for (name, n) in stitched.counts {
            run.count(name, n);
        }
        for (loc, remark) in &stitched.remarks {
            run.remark(*loc, remark);
        }
        let mut rw = Rewriter::new(cx, run.body);
        outline::outline(&mut rw, entry, &stitched.plan);
        Ok(PreservedAnalyses::none())
    }
}

fn function_name(run: &PassRun<'_>) -> String {
    let name = run.cx.entry(run.header.props, run.cx.ident("sym_name")).and_then(|a| run.cx.as_str(a));
    name.unwrap_or_default().to_owned()
}

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
    /// Scheme by which it is lowered.
    pub(crate) kind: &'static str,
    /// Why it did not take in what it reads.
    pub(crate) reasons: Vec<String>,
}

struct Stitched {
    plan: Vec<Step>,
    remarks: Vec<(sutura_ir::Loc, String)>,
    counts: Vec<(&'static str, u64)>,
}

struct Stitcher<'a> {
    cx: &'a Context,
    body: &'a Body,
    facts: &'a Facts,
    max_ops: usize,
    ops: Vec<OpRef<'a>>,
    /// Which ops compute.
    computes: Vec<bool>,
    /// Uses of one op's values by another, with the bytes that need not be moved when both are in one region.
    edges: Vec<Edge>,
    quotient: Quotient,
    kinds: Vec<&'static str>,
    /// Why a cluster of one op is a loop.
    why_loop: HashMap<usize, Misfit>,
}

struct Edge {
    from: usize,
    to: usize,
    bytes: u64,
    value: Value,
    /// Why the ends are not in one region, as of the last try.
    misfit: Option<Misfit>,
    /// Sizes of the two clusters at the last try: with the same ones it would end the same way.
    tried: (usize, usize),
}

impl<'a> Stitcher<'a> {
    fn new(cx: &'a Context, body: &'a Body, block: Block, facts: &'a Facts, max_ops: usize) -> Self {
        let ops: Vec<OpRef<'a>> = body.ops(block).map(|op| OpRef::new(cx, body, op)).collect();
        let number: HashMap<Op, usize> = ops.iter().enumerate().map(|(i, op)| (op.op, i)).collect();
        let computes: Vec<bool> = ops.iter().map(|op| is_compute(*op)).collect();
        let mut edges: Vec<Edge> = Vec::new();
        // What has effects keeps its order.
        let effects: Vec<usize> = (0..ops.len()).filter(|i| !ops[*i].has_trait(Traits::Pure)).collect();
        let mut all: Vec<(usize, usize)> = effects.windows(2).map(|pair| (pair[0], pair[1])).collect();
        for (to, op) in ops.iter().enumerate() {
            for value in values_read(*op) {
                let Some(from) = body.defining_op(value).and_then(|d| number.get(&d)).copied() else { continue };
                all.push((from, to));
                let known = edges.iter().any(|e| e.to == to && e.value == value);
                if computes[from] && computes[to] && !known {
                    let bytes = likely_bytes(cx, facts, body.ty(value));
                    edges.push(Edge { from, to, bytes, value, misfit: None, tried: (0, 0) });
                }
            }
        }
        edges.sort_by_key(|e| (std::cmp::Reverse(e.bytes), e.from, e.to));
        let quotient = Quotient::new(ops.len(), all);
        let n = ops.len();
        let kinds = vec!["loop"; n];
        let why_loop = HashMap::new();
        let mut this = Self { cx, body, facts, max_ops, ops, computes, edges, quotient, kinds, why_loop };
        for node in 0..n {
            if this.computes[node] {
                match this.fit(&[node]) {
                    Ok(kind) => this.kinds[node] = kind,
                    Err(misfit) => drop(this.why_loop.insert(node, misfit)),
                }
            }
        }
        this
    }

    fn run(mut self) -> Stitched {
        self.seed_chains();
        let mut edges = std::mem::take(&mut self.edges);
        loop {
            let before = self.quotient.clone();
            for edge in &mut edges {
                self.try_edge(edge);
            }
            if edges.iter().all(|e| before.cluster(e.from) == self.quotient.cluster(e.from))
                && edges.iter().all(|e| before.cluster(e.to) == self.quotient.cluster(e.to))
            {
                break;
            }
        }
        self.edges = edges;
        self.finish()
    }

    fn try_edge(&mut self, edge: &mut Edge) {
        let (from, to) = (self.quotient.cluster(edge.from), self.quotient.cluster(edge.to));
        let size = |c: usize| self.quotient.members(c).len();
        let sizes = (size(from), size(to));
        if from == to || edge.tried == sizes {
            return;
        }
        edge.tried = sizes;
        edge.misfit = self.contract(from, to).err();
    }

    fn contract(&mut self, from: usize, to: usize) -> Result<(), Misfit> {
        for cluster in [from, to] {
            if let Some(misfit) = self.why_loop.get(&cluster) {
                let name = self.ops[cluster].results().next().map(|v| value_text(self.cx, self.body, v));
                return Err(Misfit(format!("{} is a loop of its own: it {misfit}", name.unwrap_or_default())));
            }
        }
        let mut nodes = [self.quotient.members(from), self.quotient.members(to)].concat();
        if nodes.len() > self.max_ops {
            return Err(Misfit(format!("together they have {} ops, above max-ops = {}", nodes.len(), self.max_ops)));
        }
        nodes.sort_unstable();
        let kind = self.fit(&nodes)?;
        match self.quotient.contract(from, to) {
            Ok(cluster) => {
                self.kinds[cluster] = kind;
                Ok(())
            }
            Err(between) => {
                let other = self.ops[between];
                let name = other.results().next().map(|v| value_text(self.cx, self.body, v));
                Err(Misfit(format!("{} stands between", name.unwrap_or_else(|| other.name_str().to_owned()))))
            }
        }
    }

    /// Values of `nodes` that other ops use.
    fn outputs(&self, nodes: &[usize]) -> Vec<Value> {
        let inside: BTreeSet<Op> = nodes.iter().map(|n| self.ops[*n].op).collect();
        // Ops inside an op that stays outside are outside too, and regions of ops that compute capture nothing.
        let used = |v: &Value| self.body.uses(*v).any(|u| !inside.contains(&u.owner));
        nodes.iter().flat_map(|n| self.ops[*n].results()).filter(used).collect()
    }

    /// The scheme by which these ops become one kernel.
    fn fit(&self, nodes: &[usize]) -> Result<&'static str, Misfit> {
        let ops: Vec<OpRef<'a>> = nodes.iter().map(|n| self.ops[*n]).collect();
        fit(self.facts, &ops, &self.outputs(nodes)).map(|scheme| scheme.kind)
    }

    fn finish(self) -> Stitched {
        let mut remarks = Vec::new();
        let mut counts = vec![("dram-bytes-before", self.traffic_of_ops())];
        let mut plan = Vec::new();
        let (mut regions, mut stitched, mut after) = (0, 0, 0);
        for cluster in self.quotient.order() {
            let members = self.quotient.members(cluster);
            if !self.computes[cluster] {
                remarks.extend(left_out(self.ops[cluster]).map(|remark| (self.ops[cluster].loc(), remark)));
                plan.push(Step::Keep(self.ops[cluster].op));
                continue;
            }
            let outputs = self.outputs(members);
            let (kind, loc) = (self.kinds[cluster], self.ops[cluster].loc());
            let reasons = self.reasons(cluster);
            let noun = if members.len() == 1 { "op" } else { "ops" };
            remarks.push((loc, format!("a region of kind '{kind}' with {} {noun}", members.len())));
            if let Some(misfit) = self.why_loop.get(&cluster) {
                remarks.push((loc, format!("a loop of its own: it {misfit}")));
            }
            remarks.extend(reasons.iter().map(|r| (loc, format!("not stitched with {r}"))));
            regions += 1;
            stitched += members.len() as u64;
            after = u64::saturating_add(after, self.traffic(members, &outputs));
            let ops = members.iter().map(|n| self.ops[*n].op).collect();
            plan.push(Step::Region(PlannedRegion { ops, outputs, kind, reasons }));
        }
        counts.extend([("num-regions", regions), ("num-ops", stitched), ("dram-bytes-after", after)]);
        Stitched { plan, remarks, counts }
    }

    /// Why a cluster did not take in what it reads, one entry per value.
    fn reasons(&self, cluster: usize) -> Vec<String> {
        let into = |e: &&Edge| self.quotient.cluster(e.to) == cluster && self.quotient.cluster(e.from) != cluster;
        let mut seen = BTreeSet::new();
        let mut reasons: Vec<(usize, String)> = Vec::new();
        for edge in self.edges.iter().filter(into) {
            if seen.insert(edge.value) {
                let name = value_text(self.cx, self.body, edge.value);
                let why = edge.misfit.as_ref().map_or_else(String::new, ToString::to_string);
                reasons.push((edge.from, format!("{name}: {why}")));
            }
        }
        for node in self.quotient.members(cluster) {
            for value in self.ops[*node].operands() {
                if seen.insert(value) && self.made_through_reshape(value) {
                    let name = value_text(self.cx, self.body, value);
                    reasons.push((*node, format!("{name}: it is a reshape of what another region makes")));
                }
            }
        }
        reasons.sort();
        reasons.into_iter().map(|(_, reason)| reason).collect()
    }

    fn made_through_reshape(&self, value: Value) -> bool {
        let def = |v: Value| self.body.defining_op(v).map(|o| OpRef::new(self.cx, self.body, o));
        let Some(reshape) = def(value).and_then(|o| o.as_::<ReshapeOp<'_>>()) else { return false };
        def(reshape.input()).is_some_and(is_compute)
    }

    /// Bytes that a kernel of these ops moves at likely sizes.
    fn traffic(&self, nodes: &[usize], outputs: &[Value]) -> u64 {
        let made: BTreeSet<Value> = nodes.iter().flat_map(|n| self.ops[*n].results()).collect();
        let read: BTreeSet<Value> = nodes.iter().flat_map(|n| self.ops[*n].operands()).collect();
        let moved = read.difference(&made).chain(outputs);
        moved.map(|v| likely_bytes(self.cx, self.facts, self.body.ty(*v))).fold(0, u64::saturating_add)
    }

    fn traffic_of_ops(&self) -> u64 {
        let nodes = (0..self.ops.len()).filter(|n| self.computes[*n]);
        nodes.map(|n| self.traffic(&[n], &self.ops[n].results().collect::<Vec<_>>())).fold(0, u64::saturating_add)
    }
}

/// Values of the op's body that the op or what lies in it reads.
fn values_read(op: OpRef<'_>) -> Vec<Value> {
    let mut values = Vec::new();
    op.walk(&mut |inner| {
        if std::ptr::eq(inner.body, op.body) {
            values.extend(inner.operands());
        }
    });
    values
}

/// Says that an op is in no region, unless that is its place.
fn left_out(op: OpRef<'_>) -> Option<String> {
    let place = op.has_trait(Traits::Terminator)
        || op.has_trait(Traits::ConstantLike)
        || op.is::<SymbolOp<'_>>()
        || op.is::<EqualOp<'_>>()
        || op.is::<ReshapeOp<'_>>()
        || op.is::<FusionOp<'_>>();
    (!place).then(|| format!("'{}' is no op that a kernel computes; it stays outside regions", op.name_str()))
}

/// True for an op that makes tensors by computing or moving elements.
pub(crate) fn is_compute(op: OpRef<'_>) -> bool {
    op.interface::<dyn Structured>().is_some()
        || op.is::<ConcatOp<'_>>()
        || op.is::<SliceOp<'_>>()
        || op.is::<GatherOp<'_>>()
}
