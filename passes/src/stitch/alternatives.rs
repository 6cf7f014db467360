//! Other plans for the regions that are there: what the planner rejected by its prices, for those who measure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::func::FuncOp;
use sutura_ir::{BlockRef, Body, Context, Op, OpRef, Rewriter};

use super::block::{Ops, Pricing};
use super::cost::CostModel;
use super::planner::{Ledger, union};
use super::quotient::Quotient;
use super::replan::{free, inline, model_of};
use super::{BUDGET, BUDGET_PER_OP};

/// How many times as long another plan may be predicted to take: each of the two predictions is off by up to a factor of 1.6
/// (docs/rationale/schedule-search.md).
const MOST_TIMES: f64 = 2.0;
/// Other plans of one site.
const MOST_PLANS: usize = 8;

/// Ops of a region at which it may be cut.
const MOST_OPS: usize = 8;

/// How the ops of some regions become kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Numbers of the ops of each kernel, counted through all of the regions in order.
    pub kernels: Vec<Vec<usize>>,
    /// Predicted nanoseconds at likely sizes.
    pub predicted_ns: f64,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [_, _, ..] = &self.kernels[..] else { return f.write_str("one kernel") };
        let lists: Vec<String> = self.kernels.iter().map(|kernel| ranges(kernel)).collect();
        write!(f, "{} kernels ({})", lists.len(), lists.join(" | "))
    }
}

/// Numbers, which are sorted, as `0-2,5`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let words = |run: &[usize]| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    runs.map(words).collect::<Vec<_>>().join(",")
}

/// Regions whose ops could become kernels otherwise.
#[derive(Clone, Debug)]
pub struct Site {
    /// The function, an op of the module's body.
    pub function: Op,
    /// The regions, ops of the function's body, in order.
    pub regions: Vec<Op>,
    /// As they are.
    pub now: Plan,
    /// Other plans, those of the shortest predicted times, the shortest first.
    pub others: Vec<Plan>,
}

/// In which way plans differ from the one that is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Two regions become one.
    Join,
    /// A region becomes two.
    Cut,
}

/// Where a module's regions could be others, at likely sizes on its machine; first where that is predicted to cost least. Regions
/// with a schedule of their own are left alone.
///
/// # Errors
/// When what the module says of its machine is wrong.
pub fn sites(cx: &Context, module: &Body, change: Change) -> Result<Vec<Site>, String> {
    let model = model_of(cx, module)?;
    let mut all = Vec::new();
    for function in module.entry_block().into_iter().flat_map(|block| module.ops(block)) {
        let is_function = OpRef::new(cx, module, function).is::<FuncOp<'_>>();
        let Some(inside) = module.nested(function).filter(|_| is_function) else { continue };
        all.extend(of_function(cx, function, inside, &model, change));
    }
    let costs = |site: &Site| site.others[0].predicted_ns / site.now.predicted_ns.max(1.0);
    all.sort_by(|a, b| costs(a).total_cmp(&costs(b)));
    Ok(all)
}

fn of_function(cx: &Context, function: Op, inside: &Body, model: &CostModel, change: Change) -> Vec<Site> {
    let regions = free(cx, inside);
    let mut flat = inside.clone();
    let Some(entry) = flat.entry_block().filter(|_| !regions.is_empty()) else { return Vec::new() };
    let mut rw = Rewriter::new(cx, &mut flat);
    let members: Vec<Vec<Op>> = regions.iter().map(|region| inline(&mut rw, *region)).collect();
    let Ok(facts) = Facts::of_block(BlockRef { cx, body: &flat, block: entry }) else { return Vec::new() };
    let ops = Ops::of(cx, &flat, entry, &facts);
    let number: HashMap<Op, usize> = ops.ops.iter().enumerate().map(|(node, view)| (view.op, node)).collect();
    let mut leader: Vec<usize> = (0..ops.ops.len()).collect();
    let mut region_of = BTreeMap::new();
    for (region, members) in regions.iter().zip(&members).filter(|(_, members)| !members.is_empty()) {
        members.iter().for_each(|op| leader[number[op]] = number[&members[0]]);
        region_of.insert(number[&members[0]], *region);
    }
    let plan = Quotient::of_clusters(&leader, &ops.graph.edges);
    let mut pricing = Pricing::new(&ops, model.clone(), usize::MAX);
    let ledger = Ledger::new(&mut pricing, BUDGET + BUDGET_PER_OP * ops.graph.nodes as u64);
    let mut seeker = Seeker { function, ops: &ops, plan: &plan, region_of, ledger };
    match change {
        Change::Join => seeker.joins(),
        Change::Cut => seeker.cuts(),
    }
}

/// What looks for the sites of a function whose regions are the clusters of `plan`.
struct Seeker<'s, 'o, 'a> {
    function: Op,
    ops: &'s Ops<'a>,
    plan: &'s Quotient,
    /// By cluster.
    region_of: BTreeMap<usize, Op>,
    ledger: Ledger<'s, Pricing<'o, 'a>>,
}

impl Seeker<'_, '_, '_> {
    /// Pairs of regions that share a value and can be one.
    fn joins(&mut self) -> Vec<Site> {
        let plan = self.plan;
        let ends = self.ops.graph.links.iter().map(|link| (plan.cluster(link.from), plan.cluster(link.to)));
        let pairs: BTreeSet<(usize, usize)> = ends.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        let mut sites = Vec::new();
        for (a, b) in pairs {
            let free = self.region_of.contains_key(&a) && self.region_of.contains_key(&b);
            if free && !self.ledger.is_spent() && plan.between(a, b).is_none() {
                let whole = union(plan, a, b);
                sites.extend(self.site(&[a, b], &whole, [vec![whole.clone()]]));
            }
        }
        sites
    }

    /// Regions of several ops, cut in two behind ops that come first.
    fn cuts(&mut self) -> Vec<Site> {
        let (plan, clusters) = (self.plan, self.region_of.keys().copied().collect::<Vec<usize>>());
        let mut sites = Vec::new();
        for cluster in clusters {
            let members = plan.members(cluster);
            if members.len() > 1 && !self.ledger.is_spent() {
                let halves = self.beginnings(members).into_iter().map(|first| {
                    let rest = members.iter().copied().filter(|node| !first.contains(node)).collect();
                    // Which of two that need nothing of each other comes first is no matter.
                    let mut halves = vec![first, rest];
                    halves.sort_unstable();
                    halves
                });
                let halves: BTreeSet<Vec<Vec<usize>>> = halves.collect();
                sites.extend(self.site(&[cluster], members, halves));
            }
        }
        sites
    }

    /// Sets of a region's ops that can be computed before the others: all up to an op, all that an op needs, and all that does
    /// not need an op. Of many ops some are looked at, so that the work grows as their number does.
    fn beginnings(&self, members: &[usize]) -> BTreeSet<Vec<usize>> {
        let own: BTreeSet<usize> = members.iter().copied().collect();
        let inside = |(a, b): &&(usize, usize)| own.contains(a) && own.contains(b);
        let edges: Vec<(usize, usize)> = self.ops.graph.edges.iter().filter(inside).copied().collect();
        let mut all = BTreeSet::new();
        let looked_at = members.len().min(MOST_OPS);
        // The first and the last one are among them.
        for i in (0..looked_at).map(|number| number * (members.len() - 1) / (looked_at - 1).max(1)) {
            let op = &members[i];
            all.insert(members[..i].to_vec());
            // Edges lead to larger numbers and are sorted by where they begin.
            let (mut needs, mut needed) = (BTreeSet::from([*op]), BTreeSet::from([*op]));
            edges.iter().for_each(|(a, b)| needed.extend(needed.contains(a).then_some(*b)));
            edges.iter().rev().for_each(|(a, b)| needs.extend(needs.contains(b).then_some(*a)));
            all.insert(needs.into_iter().collect());
            all.insert(own.difference(&needed).copied().collect());
        }
        all.retain(|first| !first.is_empty() && first.len() < members.len());
        all
    }

    /// A site of the regions of these clusters, and of `nodes`, if one of these plans is promising.
    fn site(
        &mut self,
        clusters: &[usize],
        nodes: &[usize],
        plans: impl IntoIterator<Item = Vec<Vec<usize>>>,
    ) -> Option<Site> {
        let now = self.priced(clusters.iter().map(|c| self.plan.members(*c).to_vec()).collect(), nodes)?;
        let plans: Vec<Option<Plan>> = plans.into_iter().map(|kernels| self.priced(kernels, nodes)).collect();
        let promising = |plan: &Plan| plan.predicted_ns <= MOST_TIMES * now.predicted_ns;
        let mut others: Vec<Plan> = plans.into_iter().flatten().filter(promising).collect();
        others.sort_by(|a, b| a.predicted_ns.total_cmp(&b.predicted_ns).then_with(|| a.kernels.cmp(&b.kernels)));
        others.truncate(MOST_PLANS);
        let regions = clusters.iter().map(|cluster| self.region_of[cluster]).collect();
        (!others.is_empty()).then_some(Site { function: self.function, regions, now, others })
    }

    /// A plan of kernels of `nodes`, if they are some.
    fn priced(&mut self, kernels: Vec<Vec<usize>>, nodes: &[usize]) -> Option<Plan> {
        let mut time = 0u64;
        for kernel in &kernels {
            time = time.saturating_add(self.ledger.price(kernel).ok()?);
        }
        let number = |node: &usize| nodes.binary_search(node).expect("a node of the site");
        let kernels = kernels.iter().map(|kernel| kernel.iter().map(number).collect()).collect();
        Some(Plan { kernels, predicted_ns: time as f64 / 1000.0 })
    }
}
