//! Reads by index: what they are called in messages, the elements that they check, and how they are run.

use sutura_interp::tensor::Shape;
use sutura_interp::{Buffer, Fault, FaultKind, Flow, Frame, Interpret, Tensor};
use sutura_ir::location::LocData;
use sutura_ir::{Context, Loc, OpRef};

use super::interp::{Ran, broken, integers, product, set, symbols};
use super::ops::{GatherElementsOp, GatherNdOp, GatherOp};

/// What messages at run time call an op: its kind, and the model's name of it or the name of its result.
pub fn described(op: OpRef<'_>) -> String {
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
