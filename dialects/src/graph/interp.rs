//! What the operations do when they are run.

use smallvec::SmallVec;
use sutura_interp::nest::{Combine, Errors, Input, IteratorKind as NestKind, Joint as NestJoint, Nest, Output};
use sutura_interp::num::Overflow;
use sutura_interp::tensor::Shape;
use sutura_interp::{
    ComplexFn, ConstantOp as ConstantHook, DType, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Meaning,
    NumOp, Program, Scalar, ScalarMeaning, Tensor, Value, YieldOp as YieldHook,
};
use sutura_ir::affine::{AffineExpr, AffineMap, AffineOp};
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{Attr, Context, OpRef, Type};

use super::combine::{Combiner, StateAttr};
use super::maps;
use super::ops::{
    BitcastOp, ComputeOp, ConcatOp, ConstantOp, FusionOp, GatherElementsOp, GatherNdOp, GatherOp, IndexOp, ReshapeOp,
    ScanOp, ShapeOfOp, SizeOp, SliceOp, YieldOp,
};
use super::scatter::ScatterOp;
use super::shape_fn::slice_range;
use super::structured::{ComputeForm, IteratorKind};
use crate::r#dyn::Poly;
use crate::r#dyn::interp::SymbolValues;
use crate::elements::{accumulator_type, scalar_type};
use crate::quant::check_shape;

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ComputeOp<'_>, dyn Interpret>(&ComputeHook)
        .op_interface::<ConstantOp<'_>, dyn Interpret>(&ConstantHook)
        .op_interface::<YieldOp<'_>, dyn Interpret>(&YieldHook)
        .op_interface::<SizeOp<'_>, dyn Interpret>(&SizeHook)
        .op_interface::<ReshapeOp<'_>, dyn Interpret>(&ReshapeHook)
        .op_interface::<BitcastOp<'_>, dyn Interpret>(&super::bitcast::BitcastHook)
        .op_interface::<ShapeOfOp<'_>, dyn Interpret>(&ShapeOfHook)
        .op_interface::<ConcatOp<'_>, dyn Interpret>(&ConcatHook)
        .op_interface::<SliceOp<'_>, dyn Interpret>(&SliceHook)
        .op_interface::<GatherOp<'_>, dyn Interpret>(&super::gather::GatherHook)
        .op_interface::<GatherElementsOp<'_>, dyn Interpret>(&super::gather::GatherElementsHook)
        .op_interface::<ScanOp<'_>, dyn Interpret>(&super::scan::ScanHook)
        .op_interface::<GatherNdOp<'_>, dyn Interpret>(&super::gather::GatherNdHook)
        .op_interface::<ScatterOp<'_>, dyn Interpret>(&super::scatter::ScatterHook)
        .op_interface::<FusionOp<'_>, dyn Interpret>(&FusionHook)
        .op_interface::<IndexOp<'_>, dyn ScalarMeaning>(&IndexMeaning)
        .op_interface::<SizeOp<'_>, dyn ScalarMeaning>(&SizeMeaning);
}

pub(super) type Ran = Result<Flow, InterpError>;

pub(super) fn broken<T>() -> Result<T, Fault> {
    Err(Fault::invalid_ir("does not fit its declaration"))
}

/// Sets a result; the sizes that its type names are checked where the region's arguments determine them.
pub(super) fn set(frame: &mut Frame<'_>, index: usize, tensor: Tensor, symbols: &SymbolValues) -> Result<(), Fault> {
    let ty = frame.result_type(index)?;
    let wanted = symbols.shape(frame.cx(), ty).unwrap_or_default();
    for (dim, (size, wanted)) in tensor.shape().iter().zip(wanted).enumerate() {
        if wanted.is_some_and(|w| w != *size as i64) {
            let message =
                format!("dimension {dim} of the result has size {size}, its type says {}", wanted.unwrap_or(0));
            return Err(Fault::shape(message));
        }
    }
    check_shape(frame.cx(), ty, tensor.shape())?;
    frame.set(index, Value::Tensor(tensor))
}

/// Sets all results to tensors of real numbers, of which a complex result takes two.
pub(super) fn set_parts(
    op: OpRef<'_>,
    frame: &mut Frame<'_>,
    made: Vec<Tensor>,
    symbols: &SymbolValues,
) -> Result<(), Fault> {
    let mut made = made.into_iter();
    for i in 0..op.num_results() {
        let dtype = DType::expect(op.cx, op.cx.element_type(op.ty(op.result(i))))?;
        let Some(mut tensor) = made.next() else { return broken() };
        if dtype.part().is_some() {
            let Some(imaginary) = made.next() else { return broken() };
            tensor = Tensor::of_parts(&tensor, &imaginary)?;
        }
        set(frame, i, if tensor.dtype() == dtype { tensor } else { tensor.reinterpret(dtype)? }, symbols)?;
    }
    Ok(())
}

/// The symbols that the region's arguments and the types of the op's own operands determine.
pub(super) fn symbols(frame: &Frame<'_>) -> Result<SymbolValues, Fault> {
    let mut symbols = SymbolValues::of_frame(frame)?;
    let op = frame.op();
    let mut tensors = Vec::new();
    for (i, ty) in op.operand_types().enumerate() {
        if let Ok(Value::Tensor(tensor)) = frame.operand(i) {
            tensors.push((ty, tensor.shape()));
        }
    }
    symbols.bind_all(op.cx, &tensors)?;
    Ok(symbols)
}

// ---- compute

struct ComputeHook;

impl Interpret for ComputeHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let symbols = symbols(frame)?;
        let results = with_nest(op, frame, &symbols, |frame, nest, program, numbers| {
            frame.charge(nest.num_points()? as u64)?;
            nest.run(op.cx, program, numbers).map_err(|fault| match fault.kind {
                FaultKind::DivisionByZero => {
                    Fault::new(fault.kind, format!("{}: {}", super::gather::described(op), fault.message))
                }
                _ => fault,
            })
        })?;
        set_parts(op, frame, results, &symbols)?;
        Ok(Flow::Next)
    }
}

/// How far what a compiled `graph.compute` makes may be from what is interpreted, element by element of each result; `given` says
/// the same of its operands. Complex numbers, and results that are joined at once, have no bound.
///
/// # Errors
/// As of the op.
pub fn compute_errors(
    op: OpRef<'_>,
    frame: &mut Frame<'_>,
    given: &[Errors],
) -> Result<Option<Vec<Vec<f64>>>, InterpError> {
    let is_complex = |ty: Type| DType::expect(op.cx, op.cx.element_type(ty)).is_ok_and(|dtype| dtype.part().is_some());
    if op.operand_types().chain(op.result_types()).any(is_complex) {
        return Ok(None);
    }
    let symbols = symbols(frame)?;
    with_nest(op, frame, &symbols, |_, nest, program, numbers| {
        let joint = nest.joint.is_some() && nest.kinds.contains(&NestKind::Reduce);
        // An input that is read outside its tensor has elements around those that have errors.
        let padded = nest
            .inputs
            .iter()
            .zip(given)
            .any(|(input, errors)| errors.as_ref().is_some_and(|errors| errors.len() != input.value.len()));
        let given: Vec<Errors> = match padded {
            false => given.to_vec(),
            true => nest.inputs.iter().zip(given).map(|(input, errors)| uniform(input.value, errors)).collect(),
        };
        if joint { Ok(None) } else { nest.errors(op.cx, program, numbers, &given).map(Some) }
    })
}

/// The largest error for every element.
fn uniform(tensor: &Tensor, errors: &Errors) -> Errors {
    let errors = errors.as_ref()?;
    Some(vec![errors.iter().copied().fold(0.0, f64::max); tensor.len()])
}

/// Gives `work` the iteration that an op is, with its function of elements and what that takes from outside.
fn with_nest<R>(
    op: OpRef<'_>,
    frame: &mut Frame<'_>,
    symbols: &SymbolValues,
    work: impl FnOnce(&mut Frame<'_>, &Nest<'_>, &Program, &[Scalar]) -> Result<R, Fault>,
) -> Result<R, InterpError> {
    let Some(mut form) = ComputeForm::of(op) else { return broken().map_err(Into::into) };
    let inputs: Vec<Tensor> =
        (0..op.num_operands()).map(|i| scalars(frame.tensor(i)?)).collect::<Result<_, Fault>>()?;
    // Before sizes are put in: an input that is read from a size on says no extent, where that size is 0 neither.
    let extents = extents(&form, &inputs, symbols)?;
    at_sizes(&mut form, symbols)?;
    let Some(region) = op.region(0) else { return broken().map_err(Into::into) };
    let program = Program::compile(region)?.wrapping();
    let numbers = captured(op, &program, symbols)?;
    let padded = inputs.iter().enumerate().map(|(i, tensor)| padded(&form, i, tensor, &extents));
    let padded: Vec<(Tensor, AffineMap)> = padded.collect::<Result<_, _>>()?;
    let padded: Vec<(Tensor, AffineMap)> =
        padded.into_iter().flat_map(|(tensor, map)| parts(tensor).into_iter().map(move |t| (t, map))).collect();
    let join = form.joint.and(op.region(1)).map(Program::compile).transpose()?;
    let join = join.map(Program::wrapping);
    let joint = match (&form.joint, &join) {
        (Some(joint), Some(join)) => {
            let captured = captured(op, join, symbols)?;
            Some(NestJoint { join, captured, identity: state_numbers(op.cx, joint.state)? })
        }
        _ => None,
    };
    let (product, outputs) = (product_of(&form)?, outputs(&form, &extents)?);
    let joint = joint.or_else(|| {
        let (join, identity) = product.as_ref()?;
        Some(NestJoint { join, captured: Vec::new(), identity: identity.clone() })
    });
    let nest = Nest {
        extents: extents.iter().map(|e| *e as usize).collect(),
        kinds: form.iterators.iter().map(|k| kind(*k)).collect(),
        inputs: padded.iter().map(|(value, map)| Input { value, map: *map }).collect(),
        outputs,
        joint,
    };
    Ok(work(frame, &nest, &program, &numbers)?)
}

/// A tensor as a function of elements takes it: integers without sign are signless there.
fn scalars(tensor: &Tensor) -> Result<Tensor, Fault> {
    match tensor.dtype() {
        DType::Int { width, unsigned: true } => tensor.reinterpret(DType::Int { width, unsigned: false }),
        _ => Ok(tensor.clone()),
    }
}

/// A tensor as a function of elements takes it: complex numbers are two numbers there.
pub(super) fn parts(tensor: Tensor) -> SmallVec<[Tensor; 2]> {
    match (tensor.part(0), tensor.part(1)) {
        (Some(re), Some(im)) => SmallVec::from_buf([re, im]),
        _ => SmallVec::from_iter([tensor]),
    }
}

/// What joins the factors of a product of complex numbers, which is made beside no other result.
fn product_of(form: &ComputeForm<'_>) -> Result<Option<(Program, Vec<Scalar>)>, Fault> {
    let cx = form.op.cx;
    match (&form.combiners[..], form.op.result_types().next()) {
        ([combiner], Some(ty)) => complex_product(cx, *combiner, cx.element_type(ty)),
        _ => Ok(None),
    }
}

/// What joins both parts of complex numbers at once, and its identity: a product. Others join each part by itself.
pub(super) fn complex_product(
    cx: &Context,
    combiner: Combiner,
    elem: Type,
) -> Result<Option<(Program, Vec<Scalar>)>, Fault> {
    let DType::Complex(kind) = DType::expect(cx, scalar_type(cx, elem))? else { return Ok(None) };
    if combiner != Combiner::Mul {
        return Ok(None);
    }
    let identity = number(cx, Combiner::Mul.identity(cx, elem))?;
    let identity = identity.parts().map_or(Vec::new(), Vec::from);
    Ok(Some((Program::of_complex(ComplexFn::Mul, kind)?, identity)))
}

/// Puts numbers in the place of the sizes that maps mention.
fn at_sizes(form: &mut ComputeForm<'_>, symbols: &SymbolValues) -> Result<(), Fault> {
    if form.sizes.is_empty() {
        return Ok(());
    }
    let cx = form.op.cx;
    let sizes = form.sizes.iter().map(|size| Ok(cx.affine_const(size_value(size, symbols)?)));
    let sizes: Vec<AffineExpr> = sizes.collect::<Result<_, Fault>>()?;
    let at = |map: &AffineMap| {
        let exprs = cx.map_results(*map).iter().map(|e| maps::replace_symbols(cx, *e, &|i| sizes[i]));
        cx.affine_map(form.iterators.len() as u32, 0, &exprs.collect::<Vec<_>>())
    };
    (form.input_maps, form.result_maps) =
        (form.input_maps.iter().map(at).collect(), form.result_maps.iter().map(at).collect());
    Ok(())
}

fn kind(kind: IteratorKind) -> NestKind {
    match kind {
        IteratorKind::Parallel => NestKind::Parallel,
        IteratorKind::Reduce => NestKind::Reduce,
    }
}

/// How far each iterator runs: sizes of inputs, else sizes that the result types name.
fn extents(form: &ComputeForm<'_>, inputs: &[Tensor], symbols: &SymbolValues) -> Result<Vec<i64>, Fault> {
    let op = form.op;
    let operands: Vec<_> = form.inputs().collect();
    let mut extents = Vec::with_capacity(form.iterators.len());
    for i in 0..form.iterators.len() {
        let mut extent = None;
        for (value, dim) in form.extent_sources(i) {
            let size = match operands.iter().position(|v| *v == value) {
                Some(input) => inputs[input].shape().get(dim).map(|s| *s as i64),
                None => symbols.shape(op.cx, op.ty(value)).and_then(|s| s.get(dim).copied().flatten()),
            };
            match (extent, size) {
                (Some(known), Some(size)) if known != size => {
                    return Err(Fault::shape(format!("iterator d{i} runs over {known} and over {size}")));
                }
                (None, Some(size)) => extent = Some(size),
                _ => {}
            }
        }
        match extent {
            Some(extent @ 0..) => extents.push(extent),
            Some(extent) => return Err(Fault::shape(format!("iterator d{i} runs over {extent}"))),
            None => return Err(Fault::unsupported(format!("no size says how far iterator d{i} runs"))),
        }
    }
    Ok(extents)
}

/// The numbers that the body takes from outside: symbolic sizes.
pub(super) fn captured(op: OpRef<'_>, program: &Program, symbols: &SymbolValues) -> Result<Vec<Scalar>, Fault> {
    let number = |value| {
        let size = op.body.defining_op(value).and_then(|o| op.at(o).as_::<SizeOp<'_>>());
        let size = size.ok_or_else(|| Fault::invalid_ir("the body uses a value from outside"))?;
        size_value(size.size(), symbols).map(Scalar::index)
    };
    program.captured().map(number).collect()
}

pub(super) fn size_value(size: &Poly, symbols: &SymbolValues) -> Result<i64, Fault> {
    symbols.eval(size).ok_or_else(|| Fault::unsupported(format!("no argument determines the size `{size}`")))
}

/// The results; two of a complex one.
fn outputs(form: &ComputeForm<'_>, extents: &[i64]) -> Result<Vec<Output>, Fault> {
    let cx = form.op.cx;
    let output = |(i, map): (usize, &AffineMap)| {
        let elem = scalar_type(cx, cx.element_type(form.op.ty(form.op.result(i))));
        let size = |expr: &_| maps::plain_dim(cx, *expr).map_or(1, |d| extents[d] as usize);
        let (dtype, part) = (DType::expect_scalar(cx, elem)?, crate::complex::part_type(cx, elem));
        // A sum of complex numbers is one of each part; a product is joined at once.
        let combiner = form.combiners.get(i).filter(|c| part.is_none() || **c == Combiner::Add);
        let combine = combiner.map(|c| combine(cx, *c, part.unwrap_or(elem))).transpose()?;
        let shape: Shape = cx.map_results(*map).iter().map(size).collect();
        let made = Output { dtype: dtype.part().unwrap_or(dtype), shape, map: *map, combine };
        Ok(vec![made; if part.is_some() { 2 } else { 1 }])
    };
    let outputs = form.result_maps.iter().enumerate().map(output).collect::<Result<Vec<_>, Fault>>()?;
    Ok(outputs.into_iter().flatten().collect())
}

/// The state of no contributions: two numbers of a complex one.
pub(super) fn state_numbers(cx: &Context, state: &StateAttr) -> Result<Vec<Scalar>, Fault> {
    let numbers = state.identity.iter().map(|value| number(cx, *value));
    let numbers: Vec<Scalar> = numbers.collect::<Result<_, _>>()?;
    let parts = |number: Scalar| number.parts().map_or(vec![number], Vec::from);
    Ok(numbers.into_iter().flat_map(parts).collect())
}

pub(super) fn combine(cx: &Context, combiner: Combiner, elem: Type) -> Result<Combine, Fault> {
    let held = accumulator_type(cx, elem);
    let op = match (combiner, held.is_float(cx), held == Type::I1) {
        (Combiner::Add, true, _) => NumOp::AddF,
        (Combiner::Mul, true, _) => NumOp::MulF,
        (Combiner::Max, true, _) => NumOp::MaximumF,
        (Combiner::Min, true, _) => NumOp::MinimumF,
        (Combiner::And | Combiner::Or, true, _) => return broken(),
        (Combiner::Add, false, _) => NumOp::AddI(Overflow::WRAP),
        (Combiner::Mul, false, _) => NumOp::MulI(Overflow::WRAP),
        (Combiner::Max, false, true) => NumOp::MaxUI,
        (Combiner::Min, false, true) => NumOp::MinUI,
        (Combiner::Max, false, false) => NumOp::MaxSI,
        (Combiner::Min, false, false) => NumOp::MinSI,
        (Combiner::And, false, _) => NumOp::AndI,
        (Combiner::Or, false, _) => NumOp::OrI,
    };
    Ok(Combine { op, identity: number(cx, combiner.identity(cx, held))? })
}

fn number(cx: &Context, attr: Attr) -> Result<Scalar, Fault> {
    sutura_interp::constant::constant(cx, attr)?.scalar()
}

/// An input with an `oob` value as a tensor of all that is read, and the map into it.
fn padded(
    form: &ComputeForm<'_>,
    input: usize,
    tensor: &Tensor,
    extents: &[i64],
) -> Result<(Tensor, AffineMap), Fault> {
    let (cx, map) = (form.op.cx, form.input_maps[input]);
    let Some(oob) = form.oob[input] else { return Ok((tensor.clone(), map)) };
    if extents.contains(&0) {
        return Ok((tensor.clone(), map));
    }
    let sizes: Vec<Option<Poly>> = extents.iter().map(|e| Some(Poly::constant(*e))).collect();
    let too_far = || Fault::new(FaultKind::OutOfBounds, "an index overflows");
    let (mut from, mut shape, mut exprs) = (Vec::new(), Shape::new(), Vec::new());
    for expr in cx.map_results(map) {
        let (low, high) = maps::bounds(cx, *expr, &sizes, &[]).ok_or_else(too_far)?;
        let (low, high) = low.as_const().zip(high.as_const()).ok_or_else(too_far)?;
        from.push(low);
        shape.push(high.checked_sub(low).and_then(|d| usize::try_from(d + 1).ok()).ok_or_else(too_far)?);
        exprs.push(cx.affine_binary(AffineOp::Add, *expr, cx.affine_const(-low)));
    }
    let oob = match number(cx, oob)? {
        complex if complex.parts().is_some() => complex,
        number => Scalar::from_bits(tensor.dtype(), number.bits()),
    };
    let mut out = Tensor::splat(oob, &shape)?;
    copy_window(tensor, &from, &mut out);
    Ok((out, cx.affine_map(extents.len() as u32, 0, &exprs)))
}

/// Copies what `to` covers of `tensor`: the element at `i` of `to` is that at `from + i`.
fn copy_window(tensor: &Tensor, from: &[i64], to: &mut Tensor) {
    // Per dimension: first index in `to` whose source exists, and how many follow.
    let window: Vec<(usize, usize)> = from
        .iter()
        .zip(tensor.shape().iter().zip(to.shape()))
        .map(|(&low, (&size, &extent))| {
            let first = low.saturating_neg().clamp(0, extent as i64);
            let end = (size as i64).saturating_sub(low).clamp(first, extent as i64);
            (first as usize, (end - first) as usize)
        })
        .collect();
    if window.iter().any(|(_, count)| *count == 0) {
        return;
    }
    let (source_shape, shape): (Shape, Shape) = (tensor.shape().into(), to.shape().into());
    let row = window.last().map_or(1, |(_, count)| *count);
    let outer = &window[..window.len().saturating_sub(1)];
    let counts: Shape = outer.iter().map(|(_, count)| *count).collect();
    let mut index: Shape = counts.iter().map(|_| 0).collect();
    let data = to.data_mut();
    loop {
        let (mut at, mut source) = (0, 0);
        for dim in 0..window.len() {
            let i = window[dim].0 + index.get(dim).copied().unwrap_or(0);
            at = at * shape[dim] + i;
            source = source * source_shape[dim] + (i as i64 + from[dim]) as usize;
        }
        data.copy_range(at, tensor.data(), source, row);
        if !sutura_interp::tensor::next_index(&mut index, &counts) {
            return;
        }
    }
}

struct IndexMeaning;

impl ScalarMeaning for IndexMeaning {
    fn meaning(&self, op: OpRef<'_>) -> Result<SmallVec<[Meaning; 1]>, Fault> {
        let Some(index) = op.as_::<IndexOp<'_>>() else { return broken() };
        Ok(SmallVec::from_slice(&[Meaning::Index(index.iterator() as usize)]))
    }
}

struct SizeMeaning;

impl ScalarMeaning for SizeMeaning {
    fn meaning(&self, _: OpRef<'_>) -> Result<SmallVec<[Meaning; 1]>, Fault> {
        Ok(SmallVec::from_slice(&[Meaning::External]))
    }
}

struct SizeHook;

impl Interpret for SizeHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(size) = op.as_::<SizeOp<'_>>() else { return broken().map_err(Into::into) };
        let value = size_value(size.size(), &symbols(frame)?)?;
        frame.set(0, Value::index(value))?;
        Ok(Flow::Next)
    }
}

struct FusionHook;

impl Interpret for FusionHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(region) = op.region(0) else { return broken().map_err(Into::into) };
        let args = (0..op.num_operands()).map(|i| frame.operand(i).cloned()).collect::<Result<_, Fault>>()?;
        let results = frame.run_region(region, args)?;
        frame.set_results(results)?;
        Ok(Flow::Next)
    }
}

// ---- ops without a structured form

/// Elements of an integer tensor operand.
pub(super) fn integers(frame: &Frame<'_>, operand: usize) -> Result<Vec<i64>, Fault> {
    let tensor = frame.tensor(operand)?;
    let element = |i| tensor.data().read(i)?.as_i64().ok_or_else(|| Fault::type_mismatch("expects integers"));
    (0..tensor.len()).map(element).collect()
}

struct ReshapeHook;

impl Interpret for ReshapeHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(reshape) = op.as_::<ReshapeOp<'_>>() else { return broken().map_err(Into::into) };
        let symbols = symbols(frame)?;
        let input = frame.tensor(0)?.clone();
        let asked: Vec<Option<i64>> = match reshape.shape() {
            Some(_) => {
                let sizes = integers(frame, 1)?.into_iter().enumerate();
                let allowzero = reshape.allowzero();
                sizes.map(|(i, size)| asked_size(i, size, &input, allowzero)).collect::<Result<_, _>>()?
            }
            None => symbols.shape(op.cx, op.ty(reshape.result())).unwrap_or_default(),
        };
        let shape = solve(&asked, &input)?;
        set(frame, 0, input.reshape(&shape)?, &symbols)?;
        Ok(Flow::Next)
    }
}

/// A size that a shape operand asks for; -1 is open.
fn asked_size(i: usize, size: i64, input: &Tensor, allowzero: bool) -> Result<Option<i64>, Fault> {
    match size {
        0 if !allowzero => match input.shape().get(i) {
            Some(size) => Ok(Some(*size as i64)),
            None => Err(Fault::shape(format!("size 0 at {i} copies a dimension that the input does not have"))),
        },
        -1 => Ok(None),
        0.. => Ok(Some(size)),
        _ => Err(Fault::shape(format!("asks for a size of {size}"))),
    }
}

fn solve(asked: &[Option<i64>], input: &Tensor) -> Result<Shape, Fault> {
    let open = asked.iter().filter(|s| s.is_none()).count();
    if open > 1 {
        return Err(Fault::shape("leaves more than one size open"));
    }
    let known = asked.iter().flatten().try_fold(1i64, |n, s| n.checked_mul(*s));
    let known = known.ok_or_else(|| Fault::shape("asks for a number of elements that overflows"))?;
    if open == 1 && known == 0 {
        return Err(Fault::new(FaultKind::Poison, "leaves a size open that no elements determine"));
    }
    let rest = (input.len() as i64).checked_div(known).unwrap_or(0);
    asked.iter().map(|s| usize::try_from(s.unwrap_or(rest)).map_err(|_| Fault::shape("has a negative size"))).collect()
}

struct ShapeOfHook;

impl Interpret for ShapeOfHook {
    fn interpret(&self, _: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let sizes: Vec<i64> = frame.tensor(0)?.shape().iter().map(|s| *s as i64).collect();
        let rank = sizes.len();
        frame.set(0, Value::Tensor(Tensor::from_i64(sizes, &[rank])?))?;
        Ok(Flow::Next)
    }
}

pub(super) fn product(sizes: &[usize]) -> usize {
    // Some of the sizes of an empty tensor may have any product.
    sizes.iter().fold(1, |product, size| product.saturating_mul(*size))
}

struct ConcatHook;

impl Interpret for ConcatHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(concat) = op.as_::<ConcatOp<'_>>() else { return broken().map_err(Into::into) };
        let (axis, symbols) = (concat.axis() as usize, symbols(frame)?);
        let inputs: Vec<Tensor> =
            (0..op.num_operands()).map(|i| frame.tensor(i).cloned()).collect::<Result<_, Fault>>()?;
        let mut shape: Shape = inputs[0].shape().into();
        for (i, input) in inputs.iter().enumerate().skip(1) {
            let differs = |(d, (a, b)): (usize, (&usize, &usize))| d != axis && a != b;
            if let Some(d) = input.shape().iter().zip(&shape).enumerate().position(differs) {
                let message =
                    format!("inputs 0 and {i} have sizes {} and {} in dimension {d}", shape[d], input.shape()[d]);
                return Err(Fault::shape(message).into());
            }
            shape[axis] += input.shape()[axis];
        }
        let mut out = Tensor::zeros(inputs[0].dtype(), &shape)?;
        let (outer, row) = (product(&shape[..axis]), product(&shape[axis..]));
        let mut at = 0;
        for input in &inputs {
            let part = product(&input.shape()[axis..]);
            for i in 0..outer {
                out.data_mut().copy_range(i * row + at, input.data(), i * part, part);
            }
            at += part;
        }
        set(frame, 0, out, &symbols)?;
        Ok(Flow::Next)
    }
}

struct SliceHook;

impl Interpret for SliceHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(slice) = op.as_::<SliceOp<'_>>() else { return broken().map_err(Into::into) };
        let symbols = symbols(frame)?;
        let (starts, ends) = match (slice.starts(), slice.ends()) {
            (Some(starts), Some(ends)) => (starts, ends),
            _ => (integers(frame, 1)?, integers(frame, 2)?),
        };
        let (axes, steps) = (slice.axes(), slice.steps());
        if starts.len() != axes.len() || ends.len() != axes.len() {
            return Err(Fault::shape("needs one start and one end per axis").into());
        }
        let input = frame.tensor(0)?.clone();
        // Start, step and count of every dimension.
        let mut cuts: Vec<(i64, i64, usize)> = input.shape().iter().map(|size| (0, 1, *size)).collect();
        for (i, axis) in axes.iter().enumerate() {
            let dim = *axis as usize;
            let (start, count) = slice_range(starts[i], ends[i], steps[i], input.shape()[dim]);
            cuts[dim] = (start, steps[i], count);
        }
        let out = cut(&input, &cuts)?;
        set(frame, 0, out, &symbols)?;
        Ok(Flow::Next)
    }
}

/// The elements at `start + i * step` of every dimension.
fn cut(input: &Tensor, cuts: &[(i64, i64, usize)]) -> Result<Tensor, Fault> {
    let shape: Shape = cuts.iter().map(|(_, _, count)| *count).collect();
    let mut out = Tensor::zeros(input.dtype(), &shape)?;
    if out.is_empty() {
        return Ok(out);
    }
    // Rows are copied at once where the last dimension is cut without gaps.
    let whole_rows = matches!(cuts.last(), Some((_, 1, _)));
    let row = if whole_rows { shape[shape.len() - 1] } else { 1 };
    let counts: Shape = if whole_rows { shape[..shape.len() - 1].into() } else { shape.clone() };
    let mut index: Shape = counts.iter().map(|_| 0).collect();
    let data = out.data_mut();
    let mut at = 0;
    loop {
        let mut source = 0;
        for (dim, (start, step, _)) in cuts.iter().enumerate() {
            let i = index.get(dim).copied().unwrap_or(0) as i64;
            source = source * input.shape()[dim] as i64 + start + i * step;
        }
        data.copy_range(at, input.data(), source as usize, row);
        at += row;
        if !sutura_interp::tensor::next_index(&mut index, &counts) {
            return Ok(out);
        }
    }
}
