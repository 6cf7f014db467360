//! The ops of a block as a graph to plan on, and their prices as kernels.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use sutura_dialects::r#dyn::attr::encoded_sizes;
use sutura_dialects::r#dyn::{EqualOp, Facts, Poly};
use sutura_dialects::graph::shape_fn::mentioned_sizes;
use sutura_dialects::graph::{ConcatOp, Form, ReshapeOp, SliceOp};
use sutura_ir::op_def::Traits;
use sutura_ir::{Block, Body, Context, Op, OpRef, Type, Value};

use super::chains;
use super::cost::{Cost, CostModel};
use super::mapping::{Profit, mapping_class};
use super::planner::{Graph, Link, Oracle};
use crate::region::cost::{likely_bytes, value_text};
use crate::region::form::reads_by_index;
use crate::region::{Family, Misfit, Scheme, fit, loop_scheme};

/// Of a value with more readers only those that stand next to each other are linked.
const READERS: usize = 8;

/// The ops of a block.
pub(crate) struct Ops<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) body: &'a Body,
    pub(crate) facts: &'a Facts,
    pub(crate) ops: Vec<OpRef<'a>>,
    /// Values that an op reads and another one makes, with the numbers of both.
    pub(crate) reads: Vec<(usize, usize, Value)>,
    pub(crate) graph: Graph,
    number: HashMap<Op, usize>,
}

impl<'a> Ops<'a> {
    pub(crate) fn of(cx: &'a Context, body: &'a Body, block: Block, facts: &'a Facts) -> Self {
        let ops: Vec<OpRef<'a>> = body.ops(block).map(|op| OpRef::new(cx, body, op)).collect();
        let number: HashMap<Op, usize> = ops.iter().enumerate().map(|(i, op)| (op.op, i)).collect();
        let computes: Vec<bool> = ops.iter().map(|op| is_compute(*op)).collect();
        // What has effects keeps its order.
        let effects: Vec<usize> = (0..ops.len()).filter(|i| !ops[*i].has_trait(Traits::Pure)).collect();
        let mut edges: Vec<(usize, usize)> = effects.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let mut reads = Vec::new();
        let mut readers: IndexMap<Value, Vec<usize>> = IndexMap::new();
        for (to, op) in ops.iter().enumerate() {
            for value in values_read(*op) {
                let from = body.defining_op(value).and_then(|d| number.get(&d)).copied();
                edges.extend(from.map(|from| (from, to)));
                if !computes[to] {
                    continue;
                }
                if let Some(from) = from.filter(|from| computes[*from]) {
                    reads.push((from, to, value));
                }
                let list = readers.entry(value).or_default();
                if list.last() != Some(&to) {
                    list.push(to);
                }
            }
        }
        edges.extend(decided(&ops, body.block_args(block), &computes));
        let mut this = Self { cx, body, facts, ops, reads, graph: Graph::default(), number };
        let links = this.links(&readers);
        edges.sort_unstable();
        edges.dedup();
        this.graph = Graph { nodes: this.ops.len(), edges, computes, links, seeds: vec![] };
        this.graph.seeds = chains::chains(&this);
        this
    }

    /// Pairs that may save traffic as one kernel, the most promising first.
    fn links(&self, readers: &IndexMap<Value, Vec<usize>>) -> Vec<Link> {
        let mut pairs: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        // A value that need not be written and read is twice the bytes of one that is read once instead of twice.
        for (from, to, value) in &self.reads {
            let saved = pairs.entry((*from, *to)).or_default();
            *saved = saved.saturating_add(self.bytes(*value).saturating_mul(2));
        }
        for (value, list) in readers {
            let reach = if list.len() <= READERS { list.len() } else { 1 };
            for (i, from) in list.iter().enumerate() {
                for to in list[i + 1..].iter().take(reach) {
                    let known = pairs.entry((*from, *to)).or_default();
                    *known = known.saturating_add(self.bytes(*value));
                }
            }
        }
        let classes: Vec<_> = self.ops.iter().map(|op| mapping_class(*op, self.facts)).collect();
        let class = |a: usize, b: usize| match (classes[a], classes[b]) {
            (Some(first), Some(second)) => first.then(second).1,
            _ => Profit::Unsure,
        };
        let link = |((from, to), bytes): ((usize, usize), u64)| Link { from, to, class: class(from, to) as u8, bytes };
        let mut links: Vec<Link> = pairs.into_iter().map(link).collect();
        links.sort_by_key(|l| (l.class, std::cmp::Reverse(l.bytes), l.from, l.to));
        links
    }

    /// Bytes of a value at likely sizes.
    pub(crate) fn bytes(&self, value: Value) -> u64 {
        likely_bytes(self.cx, self.facts, self.body.ty(value))
    }

    /// The op of the block that makes a value.
    pub(crate) fn number(&self, value: Value) -> Option<usize> {
        self.number.get(&self.body.defining_op(value)?).copied()
    }

    /// How much there is to look at in an op, in ops that read at most two values.
    pub(crate) fn weight(&self, node: usize) -> u64 {
        (self.ops[node].operands().len() as u64).saturating_sub(1).max(1)
    }

    /// What messages call what an op makes.
    pub(crate) fn name(&self, node: usize) -> String {
        let first = self.ops[node].results().next();
        first.map_or_else(|| self.ops[node].name_str().to_owned(), |v| value_text(self.cx, self.body, v))
    }

    /// Values of `nodes` that other ops use.
    pub(crate) fn outputs(&self, nodes: &[usize]) -> Vec<Value> {
        let inside: HashSet<Op> = nodes.iter().map(|n| self.ops[*n].op).collect();
        // Ops inside an op that stays outside are outside too, and regions of ops that compute capture nothing.
        let used = |v: &Value| self.body.uses(*v).any(|u| !inside.contains(&u.owner));
        nodes.iter().flat_map(|n| self.ops[*n].results()).filter(used).collect()
    }

    /// Values that `nodes` read and do not make, in the order in which they were made.
    pub(crate) fn inputs(&self, nodes: &[usize]) -> Vec<Value> {
        let made: HashSet<Value> = nodes.iter().flat_map(|n| self.ops[*n].results()).collect();
        let read: HashSet<Value> = nodes.iter().flat_map(|n| self.ops[*n].operands()).collect();
        let mut inputs: Vec<Value> = read.difference(&made).copied().collect();
        inputs.sort_unstable_by_key(|value| value.index());
        inputs
    }
}

/// A cluster as a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Priced {
    pub(crate) scheme: Scheme,
    pub(crate) cost: Cost,
}

/// Prices of sets of ops.
pub(crate) struct Pricing<'o, 'a> {
    pub(crate) ops: &'o Ops<'a>,
    pub(crate) model: CostModel,
    /// Most ops in a region.
    pub(crate) max_ops: usize,
    /// Why an op is a loop of its own, for those that have been asked about.
    alone: HashMap<usize, Option<Misfit>>,
}

impl<'o, 'a> Pricing<'o, 'a> {
    pub(crate) fn new(ops: &'o Ops<'a>, model: CostModel, max_ops: usize) -> Self {
        Self { ops, model, max_ops, alone: HashMap::new() }
    }

    /// Why an op is no kernel of any scheme but a loop of its own.
    pub(crate) fn why_loop(&mut self, node: usize) -> Option<Misfit> {
        if let Some(known) = self.alone.get(&node) {
            return known.clone();
        }
        let why = self.fit(&[node]).err();
        self.alone.insert(node, why.clone());
        why
    }

    fn fit(&self, nodes: &[usize]) -> Result<Scheme, Misfit> {
        let ops: Vec<OpRef<'a>> = nodes.iter().map(|n| self.ops.ops[*n]).collect();
        fit(self.ops.facts, &ops, &self.ops.outputs(nodes), self.model.windows)
    }

    /// `nodes` as one kernel.
    pub(crate) fn kernel(&mut self, nodes: &[usize]) -> Result<Priced, Misfit> {
        if let [node] = nodes {
            let scheme = self.fit(nodes).unwrap_or_else(|_| loop_scheme(self.ops.facts, self.ops.ops[*node]));
            return Ok(self.priced(nodes, scheme));
        }
        // What reads by index may have no columns of its own, but those of its neighbours.
        for node in nodes.iter().filter(|node| !reads_by_index(self.ops.ops[**node], self.ops.facts)) {
            if let Some(misfit) = self.why_loop(*node) {
                return Err(Misfit(format!("{} is a loop of its own: it {misfit}", self.ops.name(*node))));
            }
        }
        if nodes.len() > self.max_ops {
            return Err(Misfit(format!("together they have {} ops, above max-ops = {}", nodes.len(), self.max_ops)));
        }
        let scheme = self.fit(nodes)?;
        Ok(self.priced(nodes, scheme))
    }

    fn priced(&self, nodes: &[usize], scheme: Scheme) -> Priced {
        let bytes = |values: Vec<Value>| values.into_iter().map(|v| self.ops.bytes(v)).collect::<Vec<_>>();
        let (read, written) = (bytes(self.ops.inputs(nodes)), bytes(self.ops.outputs(nodes)));
        Priced { cost: self.model.price(&scheme, &read, &written), scheme }
    }

    /// The least that a kernel of `nodes` would cost if there were one, however it ran.
    pub(crate) fn at_best(&mut self, nodes: &[usize]) -> Cost {
        let each = nodes.iter().filter_map(|node| self.kernel(&[*node]).ok());
        let work = each.map(|p| p.scheme.work).fold(0, u64::saturating_add);
        let scheme =
            Scheme { family: Family::Loop, launches: 1, work, temporary: 0, resident: 0, again: 0, near: 0, syncs: 0 };
        self.priced(nodes, scheme).cost
    }
}

impl Oracle for Pricing<'_, '_> {
    fn price(&mut self, nodes: &[usize]) -> Result<u64, Misfit> {
        Ok(self.kernel(nodes)?.cost.time)
    }

    fn weight(&self, node: usize) -> u64 {
        self.ops.weight(node)
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

/// Adds the symbols of sizes.
fn add_symbols<'p>(sizes: impl IntoIterator<Item = &'p Poly>, names: &mut BTreeSet<Arc<str>>) {
    sizes.into_iter().for_each(|size| {
        size.each_symbol(&mut |name| {
            names.insert(name.clone());
        })
    });
}

fn symbols_of_type(cx: &Context, ty: Type, names: &mut BTreeSet<Arc<str>>) {
    if let Some(sizes) = encoded_sizes(cx, ty) {
        add_symbols(sizes.dims.iter().flatten(), names);
    }
}

/// What decides a size comes before what mentions it, though it may read nothing of it.
fn decided(ops: &[OpRef<'_>], args: &[Value], computes: &[bool]) -> Vec<(usize, usize)> {
    let Some(first) = ops.first() else { return Vec::new() };
    let (cx, body) = (first.cx, first.body);
    let mut told = BTreeSet::new();
    args.iter().for_each(|arg| symbols_of_type(cx, body.ty(*arg), &mut told));
    let mut givers: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for (number, op) in ops.iter().enumerate().filter(|(number, _)| !computes[*number]) {
        let mut made = BTreeSet::new();
        op.result_types().for_each(|ty| symbols_of_type(cx, ty, &mut made));
        for name in made.into_iter().filter(|name| !told.contains(name)) {
            givers.entry(name).or_insert(number);
        }
    }
    if givers.is_empty() {
        return Vec::new();
    }
    let equal = ops.iter().filter_map(|op| op.as_::<EqualOp<'_>>());
    let named: Vec<(&str, &Poly)> = equal.filter_map(|equal| Some((equal.lhs().as_symbol()?, equal.rhs()))).collect();
    let mut edges = Vec::new();
    for (to, op) in ops.iter().enumerate() {
        let mut mentioned = BTreeSet::new();
        op.walk(&mut |op| {
            op.result_types().for_each(|ty| symbols_of_type(cx, ty, &mut mentioned));
            add_symbols(&mentioned_sizes(op), &mut mentioned);
        });
        // A name for a large size mentions what that is made of.
        for (name, size) in &named {
            if mentioned.contains(*name) {
                add_symbols([*size], &mut mentioned);
            }
        }
        let from = mentioned.iter().filter_map(|name| givers.get(name).copied());
        edges.extend(from.filter(|from| *from < to).map(|from| (from, to)));
    }
    edges
}

/// True for an op that makes tensors by computing or moving elements.
pub(crate) fn is_compute(op: OpRef<'_>) -> bool {
    Form::has(op) || op.is::<ConcatOp<'_>>() || op.is::<SliceOp<'_>>()
}

/// True for what a reshape makes of what an op that computes makes.
pub(crate) fn made_through_reshape(ops: &Ops<'_>, value: Value) -> bool {
    let def = |v: Value| ops.body.defining_op(v).map(|o| OpRef::new(ops.cx, ops.body, o));
    let Some(reshape) = def(value).and_then(|o| o.as_::<ReshapeOp<'_>>()) else { return false };
    def(reshape.input()).is_some_and(is_compute)
}
