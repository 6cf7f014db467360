//! Writes by index: `graph.scatter`, its sizes, what its region may be, and how it is run.

use std::ops::Range;

use sutura_interp::{Buffer, Fault, Flow, Frame, InterpError, Interpret, Program, Scalar, Tensor};
use sutura_ir::constraints::{AnyRankedTensor, I64Attr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{Verify, VerifyRegions};
use sutura_ir::{BlockRef, OpRef, Type, Value, op};

use super::combine::Combiner;
use super::gather::wrapped;
use super::interp::{Ran, broken, captured, complex_product, integers, parts, product, set_parts, symbols};
use super::ops::{IndexOp, YieldOp};
use super::quantized::same_number;
use super::rule::{self, SizeRule, at_most, unified};
use super::scan::Joining;
use super::shape_fn::{Inferred, ShapeEnv, SymShape};
use super::verify::{check_integers, check_same_element, check_scalar_ops, element, fail};
use crate::complex::part_type;
use crate::r#dyn::interp::SymbolValues;
use crate::elements::{accumulator_type, is_unsigned, scalar_type};

/// `data` with `updates` at `indices`: first the tensors that are written to, one or several of one shape, then the indices, then
/// as many tensors of updates, of one shape too. Several are written at the same places.
///
/// * With `axis` every update has an index of its own along that dimension of the data, and its own place along the others:
///   `indices` has the shape of `updates`, whose sizes beside the axis are at most those of the data.
/// * Without one an index for each of the first `k` dimensions of the data stands along the last dimension of `indices`, which
///   has the constant size `k`. `data` of shape `[D1…Dk, R…]` and `indices` of shape `[M…, k]` take `updates` of shape
///   `[M…, R…]`.
/// * An update takes the element's place, or is joined to it: by a `combiner`, one of `graph.compute`'s, or by the region behind
///   `combine`, which takes the element and the update and yields the new element; of several tensors it takes the element of
///   each, then the update of each, and yields all new elements. A combiner joins one tensor, in `f32` for narrower floats and in
///   `i32` for narrower integers, and every new element is one of the data's type again.
/// * Updates come in row-major order of `updates`. So where several have one place the last one stays, or each is joined to what
///   those before it made, and the result is the same at any number of threads.
///
/// A negative index counts from the end of its dimension; one outside is an error at run time.
///
/// ```mlir
/// %y = graph.scatter %x, %i, %u {axis = 1 : i64, combiner = #graph.combiner<add>}
///     : tensor<?x30xf32>, tensor<?x4xi64>, tensor<?x4xf32> -> tensor<?x30xf32>
/// %z = graph.scatter %data, %at, %u : tensor<30x20x8xf32>, tensor<?x2xi64>, tensor<?x8xf32> -> tensor<30x20x8xf32>
/// %w = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<8xi32>, tensor<4xi64>, tensor<4xi32> -> tensor<8xi32> combine {
/// ^bb0(%old: i32, %new: i32):
///   %0 = arith.xori %old, %new : i32
///   graph.yield %0 : i32
/// }
/// ```
#[op(
    "graph.scatter",
    traits(Pure, ClosedRegions),
    format = "$tensors attr-dict `:` type($tensors) `->` type($results) (`combine` $combine^)?",
    fold,
    verify,
    verify_regions
)]
pub struct ScatterOp {
    /// What is written to, integers, and what is written.
    tensors: Operands<AnyRankedTensor>,
    /// Dimension of the data that is indexed, where every update has one index.
    axis: OptAttr<I64Attr>,
    /// How an update is joined to the element at its place.
    #[absent]
    combiner: OptAttr<Combiner>,
    /// The data with all updates, one per tensor of them.
    results: Results<AnyRankedTensor>,
    /// None, or what joins elements and updates.
    combine: Regions,
}

impl<'a> ScatterOp<'a> {
    /// The tensors that are written to.
    pub fn data(&self) -> impl ExactSizeIterator<Item = Value> + 'a {
        let tensors = self.tensors();
        let count = tensors.len() / 2;
        tensors.take(count)
    }

    /// Where.
    ///
    /// # Panics
    /// Of an op with no operands, which the verifier refuses.
    pub fn indices(&self) -> Value {
        let mut tensors = self.tensors();
        tensors.nth(tensors.len() / 2).expect("checked by the verifier")
    }

    /// What is written, a tensor for each of the data.
    pub fn updates(&self) -> impl ExactSizeIterator<Item = Value> + 'a {
        let tensors = self.tensors();
        let count = tensors.len() / 2;
        tensors.skip(count + 1)
    }

    /// The dimensions of the data that are indexed; `None` where the op is not well formed.
    pub fn picked(&self, op: OpRef<'_>) -> Option<Range<usize>> {
        let rank = op.cx.shape(op.ty(self.data().next()?))?.len();
        let picked = match self.axis() {
            Some(axis) => {
                let axis = usize::try_from(axis).ok()?;
                axis..axis.checked_add(1)?
            }
            None => 0..usize::try_from(*op.cx.shape(op.ty(self.indices()))?.last()?).ok()?,
        };
        (!picked.is_empty() && picked.end <= rank).then_some(picked)
    }

    /// What joins an element and an update, where that is no combiner of a known name.
    pub fn joins(&self) -> Option<BlockRef<'a>> {
        self.combine().next()?.entry()
    }
}

pub(super) struct ScatterRule;

impl SizeRule for ScatterRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let this = op.as_::<ScatterOp<'_>>().ok_or("is no 'graph.scatter'")?;
        let shape = |value: Value| env.shape(op, value).unwrap_or_default();
        let mut alike_required = Vec::new();
        let mut one_shape = |tensors: Vec<SymShape>, what: &str| {
            rule::alike(&tensors, what, &mut alike_required)?.ok_or_else(|| "writes to no tensor".to_owned())
        };
        let data = one_shape(this.data().map(shape).collect(), "data")?;
        let updates = one_shape(this.updates().map(shape).collect(), "updates")?;
        let (count, indices) = (this.data().len(), shape(this.indices()));
        let picked = this.picked(op).ok_or_else(|| match this.axis() {
            Some(axis) => format!("axis {axis} is no dimension of a tensor of rank {}", data.len()),
            None => format!("the last dimension of indices must have a constant size from 1 to {}", data.len()),
        })?;
        let required = match this.axis() {
            Some(_) => elements(env, picked.start, &data, &indices, &updates)?,
            None => slices(picked.end, &data, &indices, &updates)?,
        };
        let required = alike_required.into_iter().chain(required).collect();
        let (shapes, contents) = (vec![data; count], vec![None; count]);
        Ok(Inferred { shapes, contents, required, ..Inferred::default() })
    }
}

type Required = Vec<super::shape_fn::Requirement>;

/// Every update has an index of its own.
fn elements(
    env: &ShapeEnv,
    axis: usize,
    data: &SymShape,
    indices: &SymShape,
    updates: &SymShape,
) -> Result<Required, String> {
    if indices.len() != data.len() || updates.len() != data.len() {
        return Err(format!("indices and updates must have the data's rank, {}", data.len()));
    }
    let mut required = Vec::new();
    for (d, size) in data.iter().enumerate() {
        let update =
            unified(&indices[d], &updates[d], || format!("dimension {d} of indices and updates"), &mut required);
        if d != axis {
            at_most(&update, size, || format!("dimension {d} of updates"), env, &mut required)?;
        }
    }
    Ok(required)
}

/// Indices for the first `count` dimensions of the data, which an update has not.
fn slices(count: usize, data: &SymShape, indices: &SymShape, updates: &SymShape) -> Result<Required, String> {
    let (places, rest) = (&indices[..indices.len() - 1], &data[count..]);
    if updates.len() != places.len() + rest.len() {
        return Err(format!("updates must have rank {}, not {}", places.len() + rest.len(), updates.len()));
    }
    let mut required = Vec::new();
    for (d, (size, update)) in places.iter().chain(rest).zip(updates).enumerate() {
        unified(size, update, || format!("dimension {d} of updates and what it follows from"), &mut required);
    }
    Ok(required)
}

impl Verify for ScatterOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(this) = op.as_::<ScatterOp<'_>>() else { return Ok(()) };
        let (operands, count) = (op.num_operands(), op.num_results());
        if count == 0 || operands != 2 * count + 1 {
            let message = format!(
                "has {operands} operands for {count} results; there must be a tensor of data per result, indices, and as many \
                 tensors of updates"
            );
            return fail(op, diags, message);
        }
        check_integers(op, this.indices(), "indices", &[], diags)?;
        for ((data, updates), result) in this.data().zip(this.updates()).zip(op.results()) {
            check_same_element(op, data, result, diags)?;
            if !same_number(op.cx, element(op, data), element(op, updates)) {
                return fail(op, diags, "data and updates differ in element type");
            }
        }
        rule::verify(op, diags)?;
        let regions = this.combine().count();
        if regions > 1 {
            return fail(op, diags, format_args!("has {regions} regions that join, at most one is allowed"));
        }
        let joins = regions == 1 || this.combiner().is_some();
        let short = |elem: Type| elem.is_float(op.cx) && op.cx.bit_width(elem).is_some_and(|bits| bits <= 8);
        if joins && op.results().any(|result| short(element(op, result))) {
            let error = op.error("joins floats of one byte, each of which would be rounded to that");
            return Err(diags.report(error.help("convert data and updates to a wider type")));
        }
        let Some(combiner) = this.combiner() else { return Ok(()) };
        if regions == 1 {
            return fail(op, diags, "has a `combiner` beside a region that joins");
        }
        if count > 1 {
            return fail(op, diags, format_args!("writes to {count} tensors, a combiner joins one"));
        }
        let elem = element(op, op.result(0));
        if is_unsigned(op.cx, elem) {
            let error = op.error("is combined as signless integers, and has others");
            return Err(diags.report(error.help("join them by a region, or 'graph.bitcast' data and updates")));
        }
        if combiner.op_name(op.cx, accumulator_type(op.cx, elem)).is_none() {
            let word = combiner.keyword();
            return fail(op, diags, format_args!("combiner '{word}' joins no numbers of this element type"));
        }
        Ok(())
    }
}

impl VerifyRegions for ScatterOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(this) = op.as_::<ScatterOp<'_>>() else { return Ok(()) };
        let Some(region) = this.combine().next() else { return Ok(()) };
        let Some(body) = region.entry() else { return fail(op, diags, "has an empty region `combine`") };
        let numbers: Vec<Type> = op.results().map(|result| scalar_type(op.cx, element(op, result))).collect();
        let args: Vec<Type> = body.args().iter().map(|v| op.ty(*v)).collect();
        if args != [&numbers[..], &numbers].concat() {
            let message = match numbers[..] {
                [number] => format!("an element and an update: two numbers of type {}", crate::show::ty(op.cx, number)),
                _ => format!("the elements and the updates of {} tensors, each of the tensor's type", numbers.len()),
            };
            return fail(op, diags, format_args!("region `combine` must take {message}"));
        }
        check_scalar_ops(op, body, diags)?;
        if let Some(index) = body.ops().find(|o| o.is::<IndexOp<'_>>()) {
            return Err(diags.report(index.error("has no value where an element and an update are joined")));
        }
        match body.ops().last().filter(|o| o.is::<YieldOp<'_>>()) {
            Some(end) if end.operand_types().eq(numbers.iter().copied()) => Ok(()),
            Some(end) if numbers.len() == 1 => Err(diags.report(end.error("must yield the new element"))),
            Some(end) => Err(diags.report(end.error("must yield the new element of each tensor"))),
            None => fail(op, diags, "region `combine` must end in 'graph.yield'"),
        }
    }
}

/// How an update comes to its place.
enum Join {
    Replace,
    /// Each number by itself.
    Combine(Joining),
    /// All numbers of a place at once.
    Program(Program, Vec<Scalar>),
}

impl Join {
    fn of(op: OpRef<'_>, this: ScatterOp<'_>, symbols: &SymbolValues) -> Result<Self, InterpError> {
        if let Some(combiner) = this.combiner() {
            let elem = element(op, op.result(0));
            return Ok(match complex_product(op.cx, combiner, elem)? {
                Some((program, _)) => Self::Program(program, Vec::new()),
                None => Self::Combine(Joining::of(op.cx, combiner, part_type(op.cx, elem).unwrap_or(elem))?),
            });
        }
        let Some(region) = this.combine().next() else { return Ok(Self::Replace) };
        let program = Program::compile(region)?.wrapping();
        let captured = captured(op, &program, symbols)?;
        Ok(Self::Program(program, captured))
    }

    /// Puts `count` updates from `from` on to elements from `at` on; complex ones are two tensors of numbers.
    fn put(&self, out: &mut [Tensor], at: usize, updates: &[Tensor], from: usize, count: usize) -> Result<(), Fault> {
        if matches!(self, Self::Replace) {
            for (out, updates) in out.iter_mut().zip(updates) {
                out.data_mut().copy_range(at, updates.data(), from, count);
            }
            return Ok(());
        }
        let old = out.iter().map(|t| lanes(t.data(), at, count)).collect::<Result<Vec<_>, Fault>>()?;
        let new = updates.iter().map(|t| lanes(t.data(), from, count)).collect::<Result<Vec<_>, Fault>>()?;
        let made = match self {
            Self::Replace => new,
            Self::Combine(joining) => {
                old.iter().zip(&new).map(|(old, new)| joining.joined(old, new)).collect::<Result<_, Fault>>()?
            }
            Self::Program(program, captured) => {
                let given: Vec<&[u64]> = old.iter().chain(&new).map(Vec::as_slice).collect();
                program.call(captured, &given)?
            }
        };
        for (out, made) in out.iter_mut().zip(made) {
            let dtype = out.dtype();
            for (i, bits) in made.into_iter().enumerate() {
                out.data_mut().set(at + i, Some(Scalar::from_bits(dtype, bits)));
            }
        }
        Ok(())
    }
}

/// The bits of numbers.
fn lanes(buffer: &Buffer, first: usize, count: usize) -> Result<Vec<u64>, Fault> {
    (first..first + count).map(|i| buffer.read(i).map(Scalar::bits)).collect()
}

pub(super) struct ScatterHook;

impl Interpret for ScatterHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(this) = op.as_::<ScatterOp<'_>>() else { return broken().map_err(Into::into) };
        let Some(picked) = this.picked(op) else { return broken().map_err(Into::into) };
        let symbols = symbols(frame)?;
        let (join, count) = (Join::of(op, this, &symbols)?, op.num_results());
        let indices = integers(frame, count)?;
        let index_shape: Vec<usize> = frame.tensor(count)?.shape().to_vec();
        let (sizes, mut out) = tensors(frame, 0..count)?;
        let (given, updates) = tensors(frame, count + 1..2 * count + 1)?;
        let fits = match this.axis() {
            Some(_) => {
                let small = (0..sizes.len()).all(|d| d == picked.start || given.get(d) <= sizes.get(d));
                index_shape == given && given.len() == sizes.len() && small
            }
            None => {
                let places = index_shape.split_last().map_or(&[][..], |(_, places)| places);
                places.iter().chain(&sizes[picked.end..]).eq(&given)
            }
        };
        if !fits {
            let message =
                format!("data of shape {sizes:?} has indices of shape {index_shape:?} and updates of {given:?}");
            return Err(Fault::shape(message).into());
        }
        frame.charge(updates.iter().map(Tensor::len).sum::<usize>() as u64)?;
        let (places, row) = match this.axis() {
            Some(_) => (places_of_elements(op, picked.start, &sizes, &given, &indices)?, 1),
            None => places_of_slices(op, &sizes[..picked.end], product(&sizes[picked.end..]), &indices)?,
        };
        for (update, place) in places.iter().enumerate() {
            join.put(&mut out, *place, &updates, update * row, row)?;
        }
        set_parts(op, frame, out, &symbols)?;
        Ok(Flow::Next)
    }
}

/// Operands of one shape, and that shape; complex ones are two tensors of numbers.
fn tensors(frame: &Frame<'_>, operands: Range<usize>) -> Result<(Vec<usize>, Vec<Tensor>), Fault> {
    let first = operands.start;
    let shape = frame.tensor(first)?.shape().to_vec();
    let mut all = Vec::new();
    for i in operands {
        let tensor = frame.tensor(i)?;
        if tensor.shape() != shape {
            let message = format!("operands {first} and {i} have shapes {shape:?} and {:?}", tensor.shape());
            return Err(Fault::shape(message));
        }
        all.extend(parts(tensor.clone()));
    }
    Ok((shape, all))
}

/// Where each update goes that has an index of its own along the axis.
fn places_of_elements(
    op: OpRef<'_>,
    axis: usize,
    sizes: &[usize],
    given: &[usize],
    indices: &[i64],
) -> Result<Vec<usize>, InterpError> {
    let place = |(position, index): (usize, &i64)| {
        let (mut rest, mut at, mut stride) = (position, 0, 1);
        for d in (0..sizes.len()).rev() {
            let own = rest % given[d];
            rest /= given[d];
            at += stride * if d == axis { wrapped(op, position, *index, sizes[d])? } else { own };
            stride *= sizes[d];
        }
        Ok(at)
    };
    indices.iter().enumerate().map(place).collect()
}

/// Where each slice of `row` elements goes that has an index for each of the sizes. What has no elements writes nothing, as a
/// kernel does.
fn places_of_slices(
    op: OpRef<'_>,
    sizes: &[usize],
    row: usize,
    indices: &[i64],
) -> Result<(Vec<usize>, usize), InterpError> {
    let place = |first: usize| {
        sizes.iter().enumerate().try_fold(0, |at, (i, size)| {
            Ok::<usize, Fault>(at * size + wrapped(op, first + i, indices[first + i], *size)?)
        })
    };
    let count = if row > 0 { indices.len() / sizes.len() } else { 0 };
    let places = (0..count).map(|update| Ok(row * place(update * sizes.len())?)).collect::<Result<_, InterpError>>()?;
    Ok((places, row))
}
