//! Reads by index: what they are called in messages, their sizes, the elements that they check, and how they are run.

use sutura_interp::tensor::Shape;
use sutura_interp::{Buffer, Fault, FaultKind, Flow, Frame, Interpret, Tensor};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::location::LocData;
use sutura_ir::op_def::Verify;
use sutura_ir::{Context, Loc, OpRef, Value};

use super::NonZeroOp;
use super::interp::{Ran, broken, integers, product, set, symbols};
use super::ops::{GatherElementsOp, GatherNdOp, GatherOp};
use super::rule::{self, SizeRule, unified};
use super::shape_fn::{Contents, Inferred, Requirement, ShapeEnv, SymShape};
use super::verify::{check_integers, check_same_element};
use crate::r#dyn::Poly;

/// What messages at run time call an op: its kind, the model's name of it or the name of its result, and what it looks for.
pub fn described(op: OpRef<'_>) -> String {
    let named = with_name(op);
    match op.as_::<NonZeroOp<'_>>().and_then(|op| op.looks_for()) {
        Some(wanted) => format!("{named}, which looks for {wanted},"),
        None => named,
    }
}

fn with_name(op: OpRef<'_>) -> String {
    let kind = op.name_str();
    let result = || op.results().next().and_then(|v| op.body.value_name(v)).map(|name| format!("%{}", op.cx.str(name)));
    match name_in(op.cx, op.loc()).or_else(result) {
        Some(name) => format!("{kind} '{name}'"),
        None => kind.to_owned(),
    }
}

pub(super) fn name_in(cx: &Context, loc: Loc) -> Option<String> {
    match cx.loc_data(loc) {
        LocData::Name { name, .. } => Some(cx.str(name).to_owned()),
        LocData::Fused { locs, .. } => cx.fused_locs(locs).find_map(|l| name_in(cx, l)),
        _ => None,
    }
}

/// Position of element `position` of the indices along a dimension of that size.
pub(super) fn wrapped(op: OpRef<'_>, position: usize, index: i64, size: usize) -> Result<usize, Fault> {
    let from_start = if index < 0 { index.saturating_add(size as i64) } else { index };
    usize::try_from(from_start).ok().filter(|i| *i < size).ok_or_else(|| {
        let message = crate::show::wrong_index(&described(op), position as i64, index, size as i64);
        Fault::new(FaultKind::OutOfBounds, message)
    })
}

fn check_elements(
    op: OpRef<'_>,
    (data, indices, result): (Value, Value, Value),
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    check_same_element(op, data, result, diags)?;
    check_integers(op, indices, "indices", &[], diags)?;
    rule::verify(op, diags)
}

fn shapes(op: OpRef<'_>, data: Value, indices: Value, env: &ShapeEnv) -> (SymShape, SymShape) {
    (env.shape(op, data).unwrap_or_default(), env.shape(op, indices).unwrap_or_default())
}

impl Verify for GatherOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(gather) = op.as_::<GatherOp<'_>>() else { return Ok(()) };
        check_elements(op, (gather.data(), gather.indices(), gather.result()), diags)
    }
}

pub(super) struct GatherRule;

impl SizeRule for GatherRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let gather = op.as_::<GatherOp<'_>>().ok_or("is no 'graph.gather'")?;
        let (data, indices) = shapes(op, gather.data(), gather.indices(), env);
        let axis = rule::axis(gather.axis(), data.len())?;
        let shape: SymShape = data[..axis].iter().chain(&indices).chain(&data[axis + 1..]).cloned().collect();
        let contents = || -> Option<Contents> {
            let (table, at) = (env.contents(op, gather.data())?, env.contents(op, gather.indices())?);
            let pick = |i: &Option<Poly>| {
                let i = i.as_ref()?.as_const()?;
                let i = if i < 0 { i + table.len() as i64 } else { i };
                table.get(usize::try_from(i).ok()?).cloned().flatten()
            };
            (data.len() == 1).then(|| at.iter().map(pick).collect())
        };
        let contents = contents();
        Ok(Inferred { contents: vec![contents], ..rule::one(shape, vec![]) })
    }
}

impl Verify for GatherElementsOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(gather) = op.as_::<GatherElementsOp<'_>>() else { return Ok(()) };
        check_elements(op, (gather.data(), gather.indices(), gather.result()), diags)
    }
}

pub(super) struct GatherElementsRule;

impl SizeRule for GatherElementsRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let gather = op.as_::<GatherElementsOp<'_>>().ok_or("is no 'graph.gather_elements'")?;
        let (data, mut shape) = shapes(op, gather.data(), gather.indices(), env);
        let axis = rule::axis(gather.axis(), data.len())?;
        if shape.len() != data.len() {
            return Err(format!("indices must have the data's rank, {}, not {}", data.len(), shape.len()));
        }
        let mut required = Vec::new();
        for (d, (from, size)) in data.iter().zip(&mut shape).enumerate().filter(|(d, _)| *d != axis) {
            match (from, &size) {
                (Some(lhs), Some(rhs)) if lhs != rhs => {
                    let what = format!("dimension {d} of data and indices");
                    required.push(Requirement { lhs: lhs.clone(), rhs: rhs.clone(), what });
                }
                (Some(known), None) => *size = Some(known.clone()),
                _ => {}
            }
        }
        Ok(rule::one(shape, required))
    }
}

impl Verify for GatherNdOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(gather) = op.as_::<GatherNdOp<'_>>() else { return Ok(()) };
        check_elements(op, (gather.data(), gather.indices(), gather.result()), diags)
    }
}

pub(super) struct GatherNdRule;

impl SizeRule for GatherNdRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let gather = op.as_::<GatherNdOp<'_>>().ok_or("is no 'graph.gather_nd'")?;
        let (data, indices) = shapes(op, gather.data(), gather.indices(), env);
        let last = indices.len().checked_sub(1);
        let last = last.ok_or("indices must have a last dimension, of one index per dimension of the data")?;
        let batch = usize::try_from(gather.batch_dims()).ok().filter(|b| *b <= last && *b < data.len());
        let batch = batch.ok_or_else(|| {
            format!("batch_dims {} leaves no index for data of rank {}", gather.batch_dims(), data.len())
        })?;
        let picked = gather.picked(op).filter(|picked| !picked.is_empty() && picked.end <= data.len());
        let picked = picked.ok_or_else(|| {
            format!("the last dimension of indices must have a constant size from 1 to {}", data.len() - batch)
        })?;
        let mut required = Vec::new();
        let mut shape = SymShape::new();
        for (d, (size, other)) in data[..batch].iter().zip(&indices[..batch]).enumerate() {
            shape.push(unified(size, other, || format!("dimension {d} of data and indices"), &mut required));
        }
        shape.extend(indices[batch..last].iter().chain(&data[picked.end..]).cloned());
        Ok(rule::one(shape, required))
    }
}

pub(super) struct GatherHook;

impl Interpret for GatherHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(gather) = op.as_::<GatherOp<'_>>() else { return broken().map_err(Into::into) };
        let (axis, symbols) = (gather.axis() as usize, symbols(frame)?);
        let (data, indices) = (frame.tensor(0)?.clone(), integers(frame, 1)?);
        let index_shape: Shape = frame.tensor(1)?.shape().into();
        let size = data.shape()[axis];
        let (outer, row) = (product(&data.shape()[..axis]), product(&data.shape()[axis + 1..]));
        let shape: Shape =
            data.shape()[..axis].iter().chain(&index_shape).chain(&data.shape()[axis + 1..]).copied().collect();
        let mut out = Buffer::zeros(data.dtype(), product(&shape));
        for o in 0..outer.min(out.len()) {
            for (i, index) in indices.iter().enumerate().filter(|_| row > 0) {
                let from = (o * size + wrapped(op, i, *index, size)?) * row;
                out.copy_range((o * indices.len() + i) * row, data.data(), from, row);
            }
        }
        set(frame, 0, Tensor::new(shape, out)?, &symbols)?;
        Ok(Flow::Next)
    }
}

pub(super) struct GatherElementsHook;

impl Interpret for GatherElementsHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(gather) = op.as_::<GatherElementsOp<'_>>() else { return broken().map_err(Into::into) };
        let (axis, symbols) = (gather.axis() as usize, symbols(frame)?);
        let (data, indices) = (frame.tensor(0)?.clone(), integers(frame, 1)?);
        let shape: Shape = frame.tensor(1)?.shape().into();
        let same = |d: usize| d == axis || data.shape().get(d) == shape.get(d);
        if data.shape().len() != shape.len() || !(0..shape.len()).all(same) {
            let message = format!("data of shape {:?} has indices of shape {:?}", data.shape(), &shape[..]);
            return Err(Fault::shape(message).into());
        }
        let (size, inner) = (data.shape()[axis], product(&shape[axis + 1..]));
        let mut out = Buffer::zeros(data.dtype(), product(&shape));
        for (at, index) in indices.iter().enumerate() {
            let (outer, column) = (at / (inner * shape[axis]), at % inner);
            let from = (outer * size + wrapped(op, at, *index, size)?) * inner + column;
            out.copy_range(at, data.data(), from, 1);
        }
        set(frame, 0, Tensor::new(shape, out)?, &symbols)?;
        Ok(Flow::Next)
    }
}

pub(super) struct GatherNdHook;

impl Interpret for GatherNdHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(gather) = op.as_::<GatherNdOp<'_>>() else { return broken().map_err(Into::into) };
        let (batch, symbols) = (gather.batch_dims() as usize, symbols(frame)?);
        let (data, indices) = (frame.tensor(0)?.clone(), integers(frame, 1)?);
        let index_shape: Shape = frame.tensor(1)?.shape().into();
        let Some((&count, places)) = index_shape.split_last() else { return broken().map_err(Into::into) };
        let (from, rank) = (data.shape(), data.shape().len());
        if batch + count > rank || places.len() < batch || from[..batch] != places[..batch] {
            let message = format!("data of shape {from:?} has indices of shape {:?}", &index_shape[..]);
            return Err(Fault::shape(message).into());
        }
        let (picked, rest) = (&from[batch..batch + count], &from[batch + count..]);
        let (row, each) = (product(rest), product(&places[batch..]));
        let shape: Shape = places.iter().chain(rest).copied().collect();
        let mut out = Buffer::zeros(data.dtype(), product(&shape));
        // What has no elements reads nothing, as a kernel does.
        for place in (0..product(places)).filter(|_| row > 0) {
            let mut at = place / each;
            for (i, size) in picked.iter().enumerate() {
                let position = place * count + i;
                at = at * size + wrapped(op, position, indices[position], *size)?;
            }
            out.copy_range(place * row, data.data(), at * row, row);
        }
        set(frame, 0, Tensor::new(shape, out)?, &symbols)?;
        Ok(Flow::Next)
    }
}
