//! What a planner asks: would these ops be one kernel, of which family, and what does the kernel cost beyond reading
//! every input and writing every output once?
//!
//! This is all that stitching knows of the families. A new one, or one that takes more, is added to [`family`]; what its
//! kernels do more than once it says in [`Scheme`], and the planner weighs that against what is saved.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::target::TargetDesc;
use sutura_dialects::target::constraints::{Class, Owner};
use sutura_ir::{OpRef, Value};

use super::contract::is_contraction;
use super::convolution::is_convolution;
use super::cost::{body_cost, element_bytes, likely_bytes, likely_size};
use super::products::siblings;
use super::{AttentionPlan, ChainPlan, ContractPlan, Fit, Nest, RowPlan, misfit};

/// What regions have in common that one rule schedules. It follows from what a region computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Ops that share their rows.
    Row,
    /// A sum of products with what is done to its factors and its result, or several of one left factor.
    Contract,
    /// Two products with a softmax between them.
    Attention,
    /// A combination along the places of a window that moves, with what follows it.
    Window,
    /// A sum of products of which a window reads the results.
    Chain,
    /// One op of any other form.
    Loop,
}

impl Family {
    /// As in remarks, reports and the names of kernels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Contract => "contract",
            Self::Attention => "attention",
            Self::Window => "window",
            Self::Chain => "chain",
            Self::Loop => "loop",
        }
    }
}

/// How ops become one kernel, or a few that are launched one after another, at likely sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheme {
    /// What the ops are together.
    pub family: Family,
    /// Kernels that are launched one after another.
    pub launches: u64,
    /// Scalar operations of all kernels, those that are done again included, in cheap vector operations.
    pub work: u64,
    /// Bytes that kernels of the region write to main memory and read again: partial results, packed factors.
    pub temporary: u64,
    /// Bytes that a group must keep near it to read its inputs only once.
    pub resident: u64,
    /// Bytes of inputs that are read once more from memory where `resident` bytes do not stay near.
    pub again: u64,
    /// Bytes that go through the nearest cache between stages of one group.
    pub near: u64,
    /// Barriers between units of a group, of all groups together.
    pub syncs: u64,
}

/// Whether groups of the machine keep near what windows cover, as those of processors do, so that convolutions are products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Windows {
    /// They do.
    Near,
    /// They do not: what a group keeps is what fits the memory of its units.
    Never {
        /// Bytes of that memory.
        bytes: i64,
        /// Threads of a unit.
        threads: i64,
    },
}

impl Windows {
    /// What groups of a machine keep near.
    pub fn of(desc: &TargetDesc) -> Self {
        let Some(threads) = desc.subgroup.filter(|threads| *threads > 1) else { return Self::Near };
        Self::Never { bytes: group_bytes(desc), threads: i64::try_from(threads).unwrap_or(i64::MAX).min(1 << 10) }
    }
}

/// Bytes of the memory that units of a group share, as far as it is free; no limit where they share none.
pub fn group_bytes(desc: &TargetDesc) -> i64 {
    let managed = desc.of_class(Class::Sram).find(|space| space.managed && space.owner == Owner::Group);
    let limit = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX).saturating_sub(HANDED_OVER);
    managed.and_then(|space| space.bytes).map_or(i64::MAX, limit)
}

/// Bytes of the memory of units in which they hand sums to each other.
const HANDED_OVER: i64 = 2048;

/// A region that has the form of a family.
enum Formed<'a> {
    Siblings(Vec<(Nest<'a>, ContractPlan)>),
    Contract(Nest<'a>, ContractPlan),
    Attention(Nest<'a>, Box<AttentionPlan>),
    Row(Nest<'a>, RowPlan),
    Window(Nest<'a>, ContractPlan),
    Chain(Nest<'a>, Box<ChainPlan>),
}

/// The family of `ops`, which stand in order and of which `outputs` are used elsewhere; however many there are.
///
/// # Errors
/// Why they have the form of none.
pub fn family(facts: &Facts, ops: &[OpRef<'_>], outputs: &[Value], windows: Windows) -> Fit<Family> {
    if ops.is_empty() {
        return misfit("computes nothing");
    }
    let formed = match siblings(facts, ops, outputs) {
        Some(products) => products.map(Formed::Siblings),
        None => form(facts, ops, outputs, windows),
    };
    match formed {
        Ok(Formed::Siblings(_) | Formed::Contract(..)) => Ok(Family::Contract),
        Ok(Formed::Attention(..)) => Ok(Family::Attention),
        Ok(Formed::Row(..)) => Ok(Family::Row),
        Ok(Formed::Window(..)) => Ok(Family::Window),
        Ok(Formed::Chain(..)) => Ok(Family::Chain),
        Err(_) if ops.len() == 1 => Ok(Family::Loop),
        Err(misfit) => Err(misfit),
    }
}

/// The scheme by which `ops`, which stand in order and of which `outputs` are used elsewhere, become one kernel.
///
/// # Errors
/// Why they do not.
pub fn fit(facts: &Facts, ops: &[OpRef<'_>], outputs: &[Value], windows: Windows) -> Fit<Scheme> {
    if let Some(products) = siblings(facts, ops, outputs) {
        return products.map(|products| siblings_scheme(facts, &products));
    }
    if ops.len() > 1 && outputs.len() > OUTPUTS {
        return misfit(format!("it would have {} outputs, of which {OUTPUTS} are allowed", outputs.len()));
    }
    Ok(match form(facts, ops, outputs, windows)? {
        Formed::Siblings(products) => siblings_scheme(facts, &products),
        Formed::Contract(nest, plan) => contract_scheme(facts, &nest, &plan),
        Formed::Attention(nest, plan) => attention_scheme(facts, &nest, &plan),
        Formed::Row(nest, plan) => row_scheme(facts, &nest, &plan),
        Formed::Window(nest, plan) => window_scheme(facts, &nest, &plan),
        Formed::Chain(nest, plan) => chain_scheme(facts, &nest, &plan),
    })
}

/// The form of ops that are not several products, in a kernel that is not too large.
fn form<'a>(facts: &Facts, ops: &[OpRef<'a>], outputs: &[Value], windows: Windows) -> Fit<Formed<'a>> {
    let nest = match Nest::of(facts, ops, outputs) {
        Ok(nest) => nest,
        Err(misfit) => return chained(facts, ops, outputs, windows).unwrap_or(Err(misfit)),
    };
    if ops.len() > 1 {
        within_limits(&nest)?;
    }
    formed(facts, nest, windows)
}

/// The form of ops of which one combines what is read elsewhere than a product makes it; nothing of others.
fn chained<'a>(facts: &Facts, ops: &[OpRef<'a>], outputs: &[Value], windows: Windows) -> Option<Fit<Formed<'a>>> {
    let nest = Nest::of_chain(facts, ops, outputs).ok().filter(|_| windows == Windows::Near)?;
    if !ChainPlan::has_parts(&nest) {
        return None;
    }
    let plan = ChainPlan::of(&nest, facts);
    Some(plan.and_then(|plan| {
        within_limits(&nest)?;
        Ok(Formed::Chain(nest, Box::new(plan)))
    }))
}

/// The form of ops that are not several products.
fn formed<'a>(facts: &Facts, mut nest: Nest<'a>, windows: Windows) -> Fit<Formed<'a>> {
    if nest.stages.iter().any(|stage| stage.scatter.is_some()) {
        return misfit("writes at indices that are data");
    }
    if !nest.picks_any() && nest.stages.iter().filter(|stage| is_contraction(&nest, stage)).count() > 1 {
        let plan = AttentionPlan::of(&nest)?;
        plan.check_memory(&nest, windows)?;
        return Ok(Formed::Attention(nest, Box::new(plan)));
    }
    if nest.picks_any() {
        return RowPlan::of(&mut nest, facts).map(|plan| Formed::Row(nest, plan));
    }
    if windows != Windows::Near {
        return rows_or_product(facts, nest);
    }
    let convolves = nest.stages.iter().any(|stage| is_convolution(&nest, stage));
    let convolution = convolves.then(|| ContractPlan::windowed(&nest));
    if let Some(Ok(plan)) = convolution {
        return Ok(Formed::Contract(nest, plan));
    }
    if let Ok(plan) = ContractPlan::moving(&nest) {
        return Ok(Formed::Window(nest, plan));
    }
    match convolution {
        // What is said of a convolution says more than what is said of rows.
        Some(Err(misfit)) => rows_or_product(facts, nest).map_err(|_| misfit),
        _ => rows_or_product(facts, nest),
    }
}

/// Rows, or a product.
fn rows_or_product<'a>(facts: &Facts, mut nest: Nest<'a>) -> Fit<Formed<'a>> {
    let rows = |plan: ContractPlan| plan.rows.iter().any(|dim| !nest.is_unit(*dim));
    let tiled = (0..nest.stages.len()).any(|i| ContractPlan::of_stage(&nest, i).is_ok_and(rows));
    let product = |mut nest: Nest<'a>| ContractPlan::joined(&mut nest, facts).map(|plan| Formed::Contract(nest, plan));
    if tiled {
        return product(nest);
    }
    let other = nest.clone();
    match RowPlan::of(&mut nest, facts) {
        Ok(plan) => Ok(Formed::Row(nest, plan)),
        Err(misfit) => product(other).map_err(|_| misfit),
    }
}

/// What would be a kernel of several ops that is too large.
fn within_limits(nest: &Nest<'_>) -> Fit<()> {
    let guarded = nest.stages.iter().flat_map(|stage| &stage.inputs).filter(|read| read.oob.is_some()).count();
    if guarded > GUARDED {
        return misfit(format!(
            "it would have {guarded} reads that may lie outside a tensor, of which {GUARDED} are allowed"
        ));
    }
    let combined = combined_in_turn(nest);
    if combined > IN_TURN {
        return misfit(format!(
            "it would have {combined} combinations each of which waits for the one before, of which {IN_TURN} are allowed"
        ));
    }
    Ok(())
}

/// Most reads that may lie outside a tensor, in a kernel of several ops. An element of a concatenation is looked up in each
/// of its parts; a fused concatenation of concatenations would look it up in each part of each.
const GUARDED: usize = 24;

/// Most outputs of a kernel of several ops: LLVM compares each store of a loop with each other one.
const OUTPUTS: usize = 32;

/// Most combinations of a kernel of several ops of which each waits for the one before. A phase of a row may compute again
/// what the phases before it did not keep, so code grows faster than their number.
const IN_TURN: usize = 16;

/// The longest chain of combinations each of which needs the one before.
fn combined_in_turn(nest: &Nest<'_>) -> usize {
    let mut chains: HashMap<usize, usize> = HashMap::new();
    let mut longest = 0;
    for stage in &nest.stages {
        let before = stage.inputs.iter().filter_map(|read| chains.get(&read.slot?)).copied().max().unwrap_or(0);
        let chain = before + usize::from(!stage.reduced.is_empty());
        chains.extend(stage.results.iter().filter_map(|result| Some((result.slot?, chain))));
        longest = longest.max(chain);
    }
    longest
}

/// A kernel that does nothing twice.
fn plain(facts: &Facts, family: Family, nest: &Nest<'_>) -> Scheme {
    let work = nest.stages.iter().map(|s| points(facts, nest, &s.dims).saturating_mul(price(s)));
    let work = work.fold(0, u64::saturating_add);
    Scheme { family, launches: 1, work, temporary: 0, resident: 0, again: 0, near: 0, syncs: 0 }
}

fn price(stage: &super::Stage<'_>) -> u64 {
    if stage.scan.is_some() { SCAN_COST } else { u64::from(body_cost(stage.body)).max(1) }
}

/// Price of an element of a running combination: within a vector it is combined in steps.
const SCAN_COST: u64 = 8;

/// Points of the space of some dims.
fn points(facts: &Facts, nest: &Nest<'_>, dims: &[usize]) -> u64 {
    let size = |d: &usize| likely_size(facts, &nest.extents[*d]).unsigned_abs();
    dims.iter().map(size).fold(1, u64::saturating_mul)
}

/// Rows stay near while columns are combined and read again.
fn row_scheme(facts: &Facts, nest: &Nest<'_>, plan: &RowPlan) -> Scheme {
    let mut scheme = plain(facts, Family::Row, nest);
    // A stage that runs through fewer rows is computed again in each of the others.
    for stage in &nest.stages {
        let missing: Vec<usize> = plan.rows.iter().copied().filter(|d| !stage.dims.contains(d)).collect();
        // What only copies reads what it would else have left for a reader.
        let own = points(facts, nest, &stage.dims).saturating_mul(u64::from(body_cost(stage.body)));
        let again = own.saturating_mul(points(facts, nest, &missing).saturating_sub(1));
        scheme.work = scheme.work.saturating_add(again);
    }
    let (Some(col), true) = (plan.col, plan.reduces) else { return scheme };
    // A stage that needs a combined number for its columns waits for the whole row: it belongs to a later phase.
    let mut ready: HashMap<usize, u64> = HashMap::new();
    let mut phases: IndexMap<(Value, Option<usize>), BTreeSet<u64>> = IndexMap::new();
    for stage in &nest.stages {
        let phase = stage.inputs.iter().filter_map(|a| ready.get(&a.slot?)).copied().max().unwrap_or(0);
        for read in stage.inputs.iter().filter(|a| nest.mentions(a, col)) {
            phases.entry((read.value, read.slot)).or_default().insert(phase);
        }
        let combines = stage.reduced.contains(&col);
        for result in &stage.results {
            ready.extend(result.slot.map(|slot| (slot, phase + u64::from(combines))));
            if !combines && stage.dims.contains(&col) {
                phases.entry((result.value, result.slot)).or_default().insert(phase);
            }
        }
    }
    let columns = likely_size(facts, &nest.extents[col]).unsigned_abs();
    for ((value, slot), phases) in phases.iter().filter(|(_, phases)| phases.len() > 1) {
        let more = likely_bytes(nest.cx, facts, nest.body.ty(*value)).saturating_mul(phases.len() as u64 - 1);
        scheme.near = scheme.near.saturating_add(more);
        if slot.is_none() {
            scheme.again = scheme.again.saturating_add(more);
        }
        scheme.resident = scheme.resident.saturating_add(columns.saturating_mul(element(nest, *value)));
    }
    scheme
}

fn element(nest: &Nest<'_>, value: Value) -> u64 {
    element_bytes(nest.cx, nest.cx.element_type(nest.body.ty(value))).unsigned_abs()
}

/// The right factor is packed into panels before the product, unless it is constant and packed by the compiler. A left
/// factor that the region makes is packed near by each group, once for the columns that the group has.
fn contract_scheme(facts: &Facts, nest: &Nest<'_>, plan: &ContractPlan) -> Scheme {
    let mut scheme = plain(facts, Family::Contract, nest);
    let of_stages = |stages: &[usize]| -> u64 {
        let work = |i: &usize| points(facts, nest, &nest.stages[*i].dims).saturating_mul(price(&nest.stages[*i]));
        stages.iter().map(work).fold(0, u64::saturating_add)
    };
    let inputs = &nest.stages[plan.stage].inputs;
    let constant = |value: Value| {
        let op = nest.body.defining_op(value).map(|op| OpRef::new(nest.cx, nest.body, op));
        op.is_some_and(|op| op.has_trait(sutura_ir::op_def::Traits::ConstantLike))
    };
    let bytes = |input: usize| likely_bytes(nest.cx, facts, nest.body.ty(inputs[input].value));
    if plan.packed(nest).into_iter().all(constant) {
        scheme.work = scheme.work.saturating_sub(of_stages(&plan.right));
    } else {
        scheme.launches = 2;
        scheme.temporary = bytes(plan.rhs).saturating_mul(2);
    }
    if !plan.left.is_empty() {
        let columns = points(facts, nest, &plan.cols);
        let times = (columns / plan.columns_per_packing(nest).max(1)).max(1);
        // Each time it is made, stored near and read.
        let factor: Vec<usize> = plan.batch.iter().chain(&plan.rows).chain(&plan.sums).copied().collect();
        let packing = points(facts, nest, &factor).saturating_mul(times) / PACKED_PER_OP;
        let again = of_stages(&plan.left).saturating_mul(times - 1);
        scheme.work = scheme.work.saturating_add(again).saturating_add(packing);
        scheme.near = bytes(plan.lhs).saturating_mul(2).saturating_mul(times);
        let row = likely_size(facts, &plan.row_length(nest)).unsigned_abs().saturating_mul(4);
        scheme.resident = row.saturating_mul(PACKED_ROWS);
    }
    scheme
}

/// Elements that are packed in the time of an operation: what a loop over each row costs beside what it computes.
const PACKED_PER_OP: u64 = 8;

/// Rows of a left factor that a group is expected to pack.
const PACKED_ROWS: u64 = 24;

/// All products are one launch, and what is packed for them at run time another one.
fn siblings_scheme(facts: &Facts, products: &[(Nest<'_>, ContractPlan)]) -> Scheme {
    let each = products.iter().map(|(nest, plan)| contract_scheme(facts, nest, plan));
    each.reduce(|sum, next| Scheme {
        launches: sum.launches.max(next.launches),
        work: sum.work.saturating_add(next.work),
        temporary: sum.temporary.saturating_add(next.temporary),
        ..sum
    })
    .expect("siblings are several")
}

/// Groups copy what their windows cover.
fn window_scheme(facts: &Facts, nest: &Nest<'_>, plan: &ContractPlan) -> Scheme {
    let mut scheme = plain(facts, Family::Window, nest);
    let read = nest.stages[plan.stage].inputs[plan.lhs].value;
    let copied = likely_bytes(nest.cx, facts, nest.body.ty(read));
    scheme.work = scheme.work.saturating_add(copied / element(nest, read).max(1));
    scheme.near = copied;
    scheme
}

/// What the window reads stays near; what windows of neighbouring groups share is made by each.
fn chain_scheme(facts: &Facts, nest: &Nest<'_>, plan: &ChainPlan) -> Scheme {
    let head = contract_scheme(facts, nest, &plan.head);
    let mut scheme = Scheme { launches: head.launches, temporary: head.temporary, ..plain(facts, Family::Chain, nest) };
    let all = |stage: usize| points(facts, nest, &nest.stages[stage].dims);
    let rest = plan.head.rest.iter().map(|s| all(*s).saturating_mul(price(&nest.stages[*s])));
    // A product and its sum are one operation.
    let made = rest.fold(all(plan.head.stage), u64::saturating_add);
    let again = plan.made_for_one(nest, facts) - (1 << 10);
    scheme.work = scheme.work.saturating_add(made.saturating_mul(again) >> 10);
    scheme.near = likely_bytes(nest.cx, facts, nest.body.ty(plan.read(nest).value)).saturating_mul(2);
    scheme
}

/// Keys and values are packed near, and scores stay there.
fn attention_scheme(facts: &Facts, nest: &Nest<'_>, plan: &AttentionPlan) -> Scheme {
    let mut scheme = plain(facts, Family::Attention, nest);
    let size = |d: usize| likely_size(facts, &nest.extents[d]).unsigned_abs();
    let vectors = size(plan.scores.sums[0]).saturating_add(size(plan.values.col()));
    scheme.resident = size(plan.key()).saturating_mul(vectors).saturating_mul(4);
    let scores: Vec<usize> = plan.scores.parallel().collect();
    // A score is written, read for the largest, turned into a power and that into a weight, and read.
    scheme.near = points(facts, nest, &scores).saturating_mul(6 * 4);
    // Each group makes the keys and values that it brings near.
    for stage in plan.scores.right.iter().chain(&plan.values.right).map(|i| &nest.stages[*i]) {
        let shared: Vec<usize> = plan.outer().into_iter().filter(|dim| !stage.dims.contains(dim)).collect();
        let own = points(facts, nest, &stage.dims).saturating_mul(price(stage));
        let again = own.saturating_mul(points(facts, nest, &shared).saturating_sub(1));
        scheme.work = scheme.work.saturating_add(again);
    }
    scheme
}

/// What an op of no other family costs as a loop nest of its own.
pub fn loop_scheme(facts: &Facts, op: OpRef<'_>) -> Scheme {
    let results: Vec<Value> = op.results().collect();
    if let Ok(nest) = Nest::of(facts, &[op], &results) {
        return plain(facts, Family::Loop, &nest);
    }
    let bytes = |v: Value| likely_bytes(op.cx, facts, op.body.ty(v));
    let work = results.iter().map(|v| bytes(*v) / 4).fold(0, u64::saturating_add);
    Scheme { family: Family::Loop, launches: 1, work, temporary: 0, resident: 0, again: 0, near: 0, syncs: 0 }
}
