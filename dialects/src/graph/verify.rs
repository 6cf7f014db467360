//! What must hold of the operations beyond their declarations.

use sutura_ir::affine::AffineMap;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{Verify, VerifyRegions};
use sutura_ir::types::TypeData;
use sutura_ir::{Attr, BlockRef, Context, DYNAMIC, OpRef, Type, Value};

use super::combine::{Combiner, Joint};
use super::maps;
use super::ops::{ComputeOp, ConstantOp, FusionOp, IndexOp, ShapeOfOp, YieldOp};
use super::quantized::same_number;
use super::structured::{ComputeForm, IteratorKind, MAX_ITERATORS};
use crate::complex::{number_type, part_type};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::{SIZES, ShapeAttr, symbolic_shape};
use crate::elements::{accumulator_type, is_unsigned, scalar_type, written_type};
use crate::quant::stated_shape;

type Checked = Result<(), Reported>;

/// Reports an error at `op`.
pub(super) fn fail<T>(op: OpRef<'_>, diags: &mut Diagnostics, message: impl std::fmt::Display) -> Result<T, Reported> {
    Err(diags.report(op.error(message)))
}

/// Sizes of a ranked tensor. The operands' and results' constraints have been checked.
pub(super) fn sizes(op: OpRef<'_>, value: Value) -> Vec<Option<Poly>> {
    stated_shape(op.cx, op.ty(value)).unwrap_or_default()
}

pub(super) fn rank(op: OpRef<'_>, value: Value) -> usize {
    op.cx.shape(op.ty(value)).map_or(0, <[i64]>::len)
}

pub(super) fn element(op: OpRef<'_>, value: Value) -> Type {
    op.cx.element_type(op.ty(value))
}

/// True when two sizes differ for every value of their symbols.
pub(super) fn differ(a: &Option<Poly>, b: &Option<Poly>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.sub(b).as_const().is_some_and(|d| d != 0),
        _ => false,
    }
}

/// Encodings must describe the tensor that they stand on, and stored integers are only moved.
pub(super) fn check_encodings(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
    super::quantized::check(op, diags)?;
    for ty in op.operand_types().chain(op.result_types()) {
        let Some(sizes) = op.cx.property(ty, SIZES) else { continue };
        let Some(shape) = op.cx.attr_as::<ShapeAttr>(sizes) else {
            return fail(op, diags, format_args!("has a tensor whose property '{SIZES}' is no #dyn.shape"));
        };
        let declared = op.cx.shape(ty).unwrap_or_default();
        if declared.len() != shape.dims.len() {
            let message = format!("has a shape of {} sizes on a tensor of rank {}", shape.dims.len(), declared.len());
            return fail(op, diags, message);
        }
        for (i, (size, dim)) in declared.iter().zip(&shape.dims).enumerate() {
            let constant = dim.as_ref().and_then(Poly::as_const);
            if let Some(dim) = dim
                && *size != DYNAMIC
                && constant.is_some_and(|c| c != *size)
            {
                return fail(
                    op,
                    diags,
                    format_args!("dimension {i} has size {size} in the type and {dim} in its shape"),
                );
            }
            if constant.is_some_and(|c| c < 0) {
                return fail(op, diags, format_args!("dimension {i} has a negative size in its shape"));
            }
        }
    }
    Ok(())
}

// ---- compute

impl Verify for ComputeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let Some(compute) = op.as_::<ComputeOp<'_>>() else { return Ok(()) };
        check_encodings(op, diags)?;
        if op.num_results() == 0 {
            return fail(op, diags, "makes no result");
        }
        let iterators = &compute.iterators().kinds;
        if iterators.len() > MAX_ITERATORS {
            let message = format!("has {} iterators, at most {MAX_ITERATORS} are allowed", iterators.len());
            return fail(op, diags, message);
        }
        check_maps(op, compute, iterators, diags)?;
        check_combiners(op, compute, iterators, diags)?;
        check_oob(op, compute, diags)?;
        check_extents(op, compute, iterators, diags)
    }
}

fn check_maps(op: OpRef<'_>, compute: ComputeOp<'_>, iterators: &[IteratorKind], diags: &mut Diagnostics) -> Checked {
    let (maps, sizes) = (compute.maps(), compute.sizes().len());
    let values: Vec<Value> = op.operands().chain(op.results()).collect();
    if maps.len() != values.len() {
        let message = format!("has {} maps for {} inputs and results", maps.len(), values.len());
        return fail(op, diags, message);
    }
    for (i, (&map, &value)) in maps.iter().zip(&values).enumerate() {
        let data = op.cx.affine_map_data(map);
        if data.dims as usize != iterators.len() {
            let message = format!(
                "map {i} has {} dimensions, it must have one for each of {} iterators",
                data.dims,
                iterators.len()
            );
            return fail(op, diags, message);
        }
        if data.symbols as usize > sizes {
            let message = format!("map {i} has {} symbols, and {sizes} `sizes` say what they stand for", data.symbols);
            return fail(op, diags, message);
        }
        let (results, rank) = (op.cx.map_results(map).len(), rank(op, value));
        if results != rank {
            return fail(op, diags, format_args!("map {i} has {results} results for a tensor of rank {rank}"));
        }
        if i >= op.num_operands() {
            check_result_map(op, i - op.num_operands(), map, iterators, diags)?;
        }
    }
    Ok(())
}

fn check_result_map(
    op: OpRef<'_>,
    result: usize,
    map: AffineMap,
    iterators: &[IteratorKind],
    diags: &mut Diagnostics,
) -> Checked {
    let cx = op.cx;
    if !maps::is_projection(cx, map) {
        let message = format!("map of result {result} must be distinct iterators and constants 0");
        return fail(op, diags, message);
    }
    for (i, kind) in iterators.iter().enumerate() {
        let named = cx.map_results(map).iter().any(|e| maps::plain_dim(cx, *e) == Some(i));
        if named != (*kind == IteratorKind::Parallel) {
            let message = match kind {
                IteratorKind::Parallel => format!("map of result {result} leaves out the parallel iterator d{i}"),
                IteratorKind::Reduce => format!("map of result {result} names the reduce iterator d{i}"),
            };
            return fail(op, diags, message);
        }
    }
    let value = op.result(result);
    for (dim, expr) in cx.map_results(map).iter().enumerate() {
        let size = sizes(op, value).get(dim).cloned().flatten();
        if maps::plain_dim(cx, *expr).is_none() && differ(&size, &Some(1.into())) {
            let message = format!("dimension {dim} of result {result} has map result 0, so its size must be 1");
            return fail(op, diags, message);
        }
    }
    Ok(())
}

/// Reduce iterators have combiners, one per result, or a region that joins; without them there is neither.
fn check_combiners(
    op: OpRef<'_>,
    compute: ComputeOp<'_>,
    iterators: &[IteratorKind],
    diags: &mut Diagnostics,
) -> Checked {
    let reduces = iterators.contains(&IteratorKind::Reduce);
    let (named, regions) = (compute.combiners().map_or(&[][..], |c| &c.kinds), compute.combine().count());
    if regions > 1 {
        return fail(op, diags, format_args!("has {regions} regions that join states, at most one is allowed"));
    }
    if compute.combine_state().is_some() != (regions == 1) {
        return fail(op, diags, "must have `state` and a region `combine` together, or neither");
    }
    if regions == 1 {
        return match (reduces, named.is_empty()) {
            (false, _) => fail(op, diags, "joins states without reduce iterators"),
            (_, false) => fail(op, diags, "has `combiners` beside a region that joins all results"),
            _ => Ok(()),
        };
    }
    let wanted = if reduces { op.num_results() } else { 0 };
    if named.len() != wanted {
        let message = format!(
            "has {} combiners, {wanted} are needed: one per result with reduce iterators, else none",
            named.len()
        );
        let error = op.error(message);
        let joint = "or give it a `state` and a region `combine` that joins all results";
        return Err(diags.report(if reduces { error.help(joint) } else { error }));
    }
    for (i, (combiner, result)) in named.iter().zip(op.results()).enumerate() {
        let elem = element(op, result);
        if is_unsigned(op.cx, elem) {
            let message =
                format!("result {i} is combined as signless integers; give it that type, and 'graph.bitcast' it");
            return fail(op, diags, message);
        }
        let wide = accumulator_type(op.cx, elem);
        let is_complex = part_type(op.cx, wide).is_some();
        if (is_complex || wide.is_int_index_or_float(op.cx)) && combiner.op_name(op.cx, wide).is_none() {
            let message = format!("combiner '{}' joins no numbers of result {i}'s element type", combiner.keyword());
            return fail(op, diags, message);
        }
        // Each part of a product depends on both parts: they are joined at once.
        if is_complex && *combiner == Combiner::Mul && named.len() > 1 {
            let message = format!("result {i} is a product of complex numbers, which is made beside no other result");
            return Err(diags.report(op.error(message).help("make it with an op of its own")));
        }
    }
    Ok(())
}

fn check_oob(op: OpRef<'_>, compute: ComputeOp<'_>, diags: &mut Diagnostics) -> Checked {
    let oob = compute.oob();
    if !oob.is_empty() && oob.len() != op.num_operands() {
        let message = format!("has {} oob values for {} inputs", oob.len(), op.num_operands());
        return fail(op, diags, message);
    }
    for (i, (value, input)) in oob.iter().zip(op.operands()).enumerate() {
        let (ty, elem) = (number_type(op.cx, *value), element(op, input));
        let elem = written_type(op.cx, elem);
        if *value != Attr::UNIT && ty != Some(elem) {
            return fail(
                op,
                diags,
                format_args!("oob value of input {i} must be a number of the input's element type"),
            );
        }
    }
    if !oob.is_empty() && oob.iter().all(|a| *a == Attr::UNIT) {
        return fail(op, diags, "has only unit oob values; leave the attribute out");
    }
    Ok(())
}

/// Every iterator has an extent, sizes agree on it, and what is read without `oob` value lies inside.
fn check_extents(
    op: OpRef<'_>,
    compute: ComputeOp<'_>,
    iterators: &[IteratorKind],
    diags: &mut Diagnostics,
) -> Checked {
    let Some(form) = ComputeForm::of(op) else {
        return fail(op, diags, "has an empty body");
    };
    for i in 0..iterators.len() {
        let mut known: Option<(Poly, Value, usize)> = None;
        let mut sources = 0;
        for (value, dim) in form.extent_sources(i) {
            sources += 1;
            let Some(size) = sizes(op, value).get(dim).cloned().flatten() else { continue };
            match &known {
                Some((first, ..)) if differ(&Some(first.clone()), &Some(size.clone())) => {
                    let message = format!("iterator d{i} runs over {first} and over {size}");
                    return fail(op, diags, message);
                }
                Some(_) => {}
                None => known = Some((size, value, dim)),
            }
        }
        if sources == 0 {
            let message = format!("no operand and no result says how far iterator d{i} runs");
            return fail(op, diags, message);
        }
    }
    let extents = form.extents();
    for (i, (map, input)) in compute.maps().iter().zip(op.operands()).enumerate() {
        if form.oob.get(i).is_some_and(Option::is_some) {
            check_oob_needed(op, i, *map, (&extents, &form.sizes), diags)?;
        } else {
            check_inside(op, i, *map, input, (&extents, &form.sizes), diags)?;
        }
    }
    Ok(())
}

fn check_inside(
    op: OpRef<'_>,
    input: usize,
    map: AffineMap,
    value: Value,
    (extents, symbols): (&[Option<Poly>], &[Poly]),
    diags: &mut Diagnostics,
) -> Checked {
    // An empty iteration space reads nothing.
    if extents.iter().any(|e| e.as_ref().and_then(Poly::as_const) == Some(0)) {
        return Ok(());
    }
    for (dim, (expr, size)) in op.cx.map_results(map).iter().zip(sizes(op, value)).enumerate() {
        let Some((low, high)) = maps::bounds(op.cx, *expr, extents, symbols) else { continue };
        let below = low.as_const().is_some_and(|l| l < 0);
        let above = size.is_some_and(|s| s.sub(&high).as_const().is_some_and(|room| room < 1));
        if below || above {
            let message = format!("map of input {input} reads outside dimension {dim}");
            return Err(diags.report(op.error(message).help("give the input an `oob` value")));
        }
    }
    Ok(())
}

/// Inputs of a structured op whose `oob` value is never read, and which say how far iterators run if they have none.
pub fn needless_oob(op: OpRef<'_>) -> Vec<usize> {
    let Some(form) = ComputeForm::of(op) else { return Vec::new() };
    let extents = form.extents();
    let with = (0..form.oob.len()).filter(|i| form.oob[*i].is_some());
    with.filter(|i| oob_is_needless(op, *i, form.input_maps[*i], (&extents, &form.sizes))).collect()
}

/// An `oob` value costs a mask; one that is never read is a mistake, unless without it the input would say how far an
/// iterator runs.
fn check_oob_needed(
    op: OpRef<'_>,
    input: usize,
    map: AffineMap,
    extents: (&[Option<Poly>], &[Poly]),
    diags: &mut Diagnostics,
) -> Checked {
    if oob_is_needless(op, input, map, extents) {
        return fail(op, diags, format_args!("input {input} has an oob value but never reads outside"));
    }
    Ok(())
}

fn oob_is_needless(
    op: OpRef<'_>,
    input: usize,
    map: AffineMap,
    (extents, symbols): (&[Option<Poly>], &[Poly]),
) -> bool {
    let mut inside = true;
    for (expr, size) in op.cx.map_results(map).iter().zip(sizes(op, op.operand(input))) {
        let plain = maps::plain_dim(op.cx, *expr);
        if plain.is_some_and(|i| extents.get(i) != Some(&size)) {
            return false;
        }
        let Some((low, high)) = maps::bounds(op.cx, *expr, extents, symbols) else { return false };
        let room = size.and_then(|s| s.sub(&high).as_const());
        inside &= low.as_const().is_some_and(|l| l >= 0) && room.is_some_and(|r| r >= 1);
    }
    inside
}

impl VerifyRegions for ComputeOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let Some(form) = ComputeForm::of(op) else { return fail(op, diags, "has an empty body") };
        let inputs: Vec<Type> = op.operands().map(|v| scalar_type(op.cx, element(op, v))).collect();
        let args: Vec<Type> = form.body.args().iter().map(|v| op.ty(*v)).collect();
        if args != inputs {
            return fail(
                op,
                diags,
                "body must take one number per input, of the input's element type; integers are signless there",
            );
        }
        check_scalar_ops(op, form.body, diags)?;
        if let Some(joint) = form.joint {
            check_joint(op, joint, diags)?;
        }
        check_yield(op, &form, diags)
    }
}

/// Ops of a scalar function see no value from outside and have no effects.
pub(super) fn check_scalar_ops(op: OpRef<'_>, body: BlockRef<'_>, diags: &mut Diagnostics) -> Checked {
    for inner in body.ops() {
        let outside = |v: &Value| op.body.value_block(*v) != Some(body.block);
        if inner.operands().any(|v| outside(&v)) {
            let message = format!("uses a value from outside the body of '{}'", op.name_str());
            return Err(diags.report(inner.error(message)));
        }
        if !sutura_ir::analysis::effects::is_memory_effect_free(inner) {
            let message = format!("has effects and cannot stand in the body of '{}'", op.name_str());
            return Err(diags.report(inner.error(message)));
        }
    }
    Ok(())
}

/// The region takes two states and yields one; a state is a number per result, of its element type or the wider one in which
/// that is accumulated, and what the body yields.
pub(super) fn check_joint(op: OpRef<'_>, joint: Joint<'_>, diags: &mut Diagnostics) -> Checked {
    check_scalar_ops(op, joint.body, diags)?;
    let state: Vec<Type> = joint.state.identity.iter().filter_map(|a| number_type(op.cx, *a)).collect();
    if state.len() != op.num_results() || joint.state.identity.len() != op.num_results() {
        let message = format!("has {} numbers of state for {} results", joint.state.identity.len(), op.num_results());
        return fail(op, diags, message);
    }
    for (i, (ty, result)) in state.iter().zip(op.results()).enumerate() {
        let elem = scalar_type(op.cx, element(op, result));
        if (*ty != elem && *ty != accumulator_type(op.cx, elem)) || !is_number(op.cx, *ty) {
            let message = format!(
                "number {i} of the state must have the element type of result {i}, or the wider one in which it is accumulated"
            );
            return fail(op, diags, message);
        }
    }
    let args: Vec<Type> = joint.body.args().iter().map(|v| op.ty(*v)).collect();
    if args != [state.as_slice(), state.as_slice()].concat() {
        return fail(op, diags, "region `combine` must take two states: the types of the identity, twice");
    }
    let Some(end) = joint.body.ops().last().filter(|o| o.is::<YieldOp<'_>>()) else {
        return fail(op, diags, "region `combine` must end in 'graph.yield'");
    };
    if !end.operand_types().eq(state.iter().copied()) {
        return Err(diags.report(end.error("must yield a state: the types of the identity")));
    }
    match joint.body.ops().find(|o| o.is::<IndexOp<'_>>()) {
        Some(index) => Err(diags.report(index.error("has no value where states are joined; let the body yield it"))),
        None => Ok(()),
    }
}

/// True for what can be combined.
fn is_number(cx: &Context, ty: Type) -> bool {
    ty.is_int_index_or_float(cx) || part_type(cx, ty).is_some()
}

fn check_yield(op: OpRef<'_>, form: &ComputeForm<'_>, diags: &mut Diagnostics) -> Checked {
    let Some(end) = form.yielded().filter(|o| o.is::<YieldOp<'_>>()) else {
        return fail(op, diags, "body must end in 'graph.yield'");
    };
    if end.num_operands() != op.num_results() {
        let message = format!("yields {} values for {} results", end.num_operands(), op.num_results());
        return Err(diags.report(end.error(message)));
    }
    for (i, (value, result)) in end.operands().zip(op.results()).enumerate() {
        let (got, want) = (op.ty(value), scalar_type(op.cx, element(op, result)));
        let accumulated = form.has_reduction() && got == accumulator_type(op.cx, want);
        let state = form.joint.and_then(|joint| number_type(op.cx, *joint.state.identity.get(i)?));
        if state.is_some_and(|state| state != got) {
            return Err(
                diags.report(end.error(format_args!("value {i} must have the type of number {i} of the state")))
            );
        }
        if !same_number(op.cx, got, want) && !accumulated {
            return Err(diags.report(end.error(format_args!("value {i} must have the element type of result {i}"))));
        }
        if form.has_reduction() && !is_number(op.cx, got) {
            return Err(diags.report(end.error(format_args!("value {i} is no number that could be combined"))));
        }
    }
    Ok(())
}

impl Verify for IndexOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let (Some(index), Some(parent)) = (op.as_::<IndexOp<'_>>(), op.parent()) else { return Ok(()) };
        let count = parent.as_::<ComputeOp<'_>>().map_or(0, |c| c.iterators().kinds.len());
        if usize::try_from(index.iterator()).is_ok_and(|i| i < count) {
            return Ok(());
        }
        fail(op, diags, format_args!("names iterator {} of {count}", index.iterator()))
    }
}

// ---- the others

/// Requires that a value is a tensor of integers of rank `rank`.
pub(super) fn check_integers(
    op: OpRef<'_>,
    value: Value,
    what: &str,
    ranks: &[usize],
    diags: &mut Diagnostics,
) -> Checked {
    let elem = element(op, value);
    if !elem.is_integer(op.cx) && elem != Type::INDEX {
        return fail(op, diags, format_args!("{what} must hold integers"));
    }
    if !ranks.is_empty() && !ranks.contains(&rank(op, value)) {
        return fail(op, diags, format_args!("{what} must have rank {}, not {}", ranks[0], rank(op, value)));
    }
    Ok(())
}

pub(super) fn check_same_element(op: OpRef<'_>, a: Value, b: Value, diags: &mut Diagnostics) -> Checked {
    if same_number(op.cx, element(op, a), element(op, b)) {
        Ok(())
    } else {
        fail(op, diags, "input and result differ in element type")
    }
}

impl Verify for ConstantOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let (cx, ty) = (op.cx, op.result_types().next());
        let value = op.prop("value").and_then(|v| cx.attr_type(v));
        let is_tensor = ty.is_some_and(|t| matches!(cx.type_data(t), TypeData::RankedTensor { .. }));
        let is_static = ty.and_then(|t| cx.shape(t)).is_some_and(|s| s.iter().all(|d| *d >= 0));
        if value != ty || !is_tensor || !is_static {
            return fail(op, diags, "result must have the static tensor type of the value");
        }
        Ok(())
    }
}

impl Verify for ShapeOfOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let Some(shape) = op.as_::<ShapeOfOp<'_>>() else { return Ok(()) };
        let rank = rank(op, shape.input()) as i64;
        let fits = op.cx.shape(op.ty(shape.result())) == Some(&[rank]) && element(op, shape.result()) == Type::I64;
        if fits { Ok(()) } else { fail(op, diags, format_args!("result must be tensor<{rank}xi64>")) }
    }
}

pub(super) fn check_axis(op: OpRef<'_>, axis: i64, rank: usize, diags: &mut Diagnostics) -> Result<usize, Reported> {
    match usize::try_from(axis) {
        Ok(axis) if axis < rank => Ok(axis),
        _ => fail(op, diags, format_args!("axis {axis} is no dimension of a tensor of rank {rank}")),
    }
}

impl VerifyRegions for FusionOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Checked {
        let Some(entry) = op.region(0).and_then(|r| r.entry()) else { return fail(op, diags, "has an empty body") };
        let args: Vec<Type> = entry.args().iter().map(|v| entry.body.ty(*v)).collect();
        if args.len() != op.num_operands() {
            return fail(op, diags, format_args!("has {} inputs and {} arguments", op.num_operands(), args.len()));
        }
        let fits = |(a, b): (&Type, Type)| compatible(op.cx, *a, b);
        if let Some(i) = args.iter().zip(op.operand_types()).position(|p| !fits(p)) {
            return fail(op, diags, format_args!("input {i} and its argument differ in type"));
        }
        let Some(end) = entry.ops().last().filter(|o| o.is::<YieldOp<'_>>()) else {
            return fail(op, diags, "body must end in 'graph.yield'");
        };
        let yielded: Vec<Type> = end.operand_types().collect();
        if yielded.len() != op.num_results() || !yielded.iter().zip(op.result_types()).all(fits) {
            return Err(diags.report(end.error("must yield the results of the op around it")));
        }
        Ok(())
    }
}

/// True when a value of type `a` may stand for one of type `b`: equal but for sizes and other properties, and those equal or not
/// stated on one side.
pub fn compatible(cx: &Context, a: Type, b: Type) -> bool {
    if a == b {
        return true;
    }
    let (Some(x), Some(y)) = (symbolic_shape(cx, a), symbolic_shape(cx, b)) else { return false };
    let tensors = a.is_tensor(cx) && b.is_tensor(cx) && cx.element_type(a) == cx.element_type(b);
    let other = |ty| cx.properties(ty).into_iter().filter(|e| cx.str(e.name) != SIZES);
    let stated = || other(a).all(|e| other(b).all(|o| o.name != e.name || o.value == e.value));
    tensors && x.len() == y.len() && x.iter().zip(&y).all(|(p, q)| !differ(p, q)) && stated()
}
