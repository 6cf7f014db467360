//! What the vector ops that access memory or tensors do when a program runs.

use std::sync::Arc;

use crate::vector::{
    CompressStoreOp, ExpandLoadOp, LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp, TransferReadOp, TransferWriteOp,
};

use sutura_interp::constant::static_shape;
use sutura_interp::tensor::{next_index, out_of_bounds};
use sutura_interp::{DType, Fault, Flow, Frame, InterpError, Interpret, MemRef, Scalar, Shape, Tensor, Value};
use sutura_ir::affine::AffineExprData;
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{DialectBuilder, OpRef, Type};

use super::interp::{next, result_shape, vector};
use crate::interp::group;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<LoadOp<'_>, dyn Interpret>(&load)
        .op_interface::<StoreOp<'_>, dyn Interpret>(&store)
        .op_interface::<MaskedLoadOp<'_>, dyn Interpret>(&masked_load)
        .op_interface::<MaskedStoreOp<'_>, dyn Interpret>(&masked_store)
        .op_interface::<ExpandLoadOp<'_>, dyn Interpret>(&expand_load)
        .op_interface::<CompressStoreOp<'_>, dyn Interpret>(&compress_store)
        .op_interface::<TransferReadOp<'_>, dyn Interpret>(&transfer_read)
        .op_interface::<TransferWriteOp<'_>, dyn Interpret>(&transfer_write);
}

/// The window of a vector of shape `shape` along the last dimensions of a memref.
fn window(memref: &MemRef, index: &[i64], shape: &[usize]) -> Result<MemRef, Fault> {
    let lead = memref.layout.rank().checked_sub(shape.len());
    let lead = lead.ok_or_else(|| Fault::shape("accesses memory of lower rank than the vector's"))?;
    let mut sizes = vec![1; lead];
    sizes.extend(shape.iter().map(|&d| d as i64));
    let mut layout = memref.layout.slice(index, &sizes, &vec![1; sizes.len()])?;
    layout.sizes = shape.into();
    layout.strides = layout.strides[lead..].into();
    Ok(memref.with_layout(layout))
}

fn load(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (memref, index) = (frame.memref(0)?, frame.ints(group(op, 1)?)?);
    let window = window(&memref, &index, &result_shape(frame)?)?;
    let result = frame.memory().read(&window)?;
    next(frame, result)
}

fn store(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (stored, memref, index) = (vector(frame, 0)?, frame.memref(1)?, frame.ints(group(op, 2)?)?);
    let window = window(&memref, &index, stored.shape())?;
    frame.memory().write(&window, &stored)?;
    Ok(Flow::Next)
}

/// Operand of the group `index`, which has one.
fn only(op: OpRef<'_>, index: usize) -> Result<usize, Fault> {
    Ok(group(op, index)?.start)
}

fn is_set(mask: &Tensor, at: usize) -> Result<bool, Fault> {
    Ok(mask.data().read(at)?.as_bool() == Some(true))
}

/// The index of lane `lane` of a vector along the last dimension.
fn lane_index(index: &[i64], lane: usize) -> SmallVec<[i64; 4]> {
    let mut index: SmallVec<[i64; 4]> = index.into();
    if let Some(last) = index.last_mut() {
        *last = last.wrapping_add(lane as i64);
    }
    index
}

fn masked_load(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (memref, index) = (frame.memref(0)?, frame.ints(group(op, 1)?)?);
    let (mask, mut result) = (vector(frame, only(op, 2)?)?, vector(frame, only(op, 3)?)?);
    for lane in 0..result.len() {
        if is_set(&mask, lane)? {
            let value = frame.memory().get(&memref, &lane_index(&index, lane))?;
            result.data_mut().set(lane, value);
        }
    }
    next(frame, result)
}

fn masked_store(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (memref, index) = (frame.memref(0)?, frame.ints(group(op, 1)?)?);
    let (mask, stored) = (vector(frame, only(op, 2)?)?, vector(frame, only(op, 3)?)?);
    for lane in 0..stored.len() {
        if is_set(&mask, lane)? {
            frame.memory().store(&memref, &lane_index(&index, lane), stored.data().get(lane))?;
        }
    }
    Ok(Flow::Next)
}

/// How the elements of a vector lie in a tensor or memref.
struct Transfer {
    /// Index of the vector's first element.
    first: SmallVec<[i64; 4]>,
    /// For each vector dimension the dimension along which it runs; `None` where elements are repeated.
    dims: SmallVec<[Option<usize>; 4]>,
    /// For each vector dimension whether it is promised to stay inside.
    in_bounds: SmallVec<[bool; 4]>,
    /// Sizes of the tensor or memref.
    sizes: Shape,
    mask: Option<Tensor>,
}

impl Transfer {
    fn new(op: OpRef<'_>, frame: &Frame<'_>, base: usize, mask: usize) -> Result<Self, Fault> {
        let sizes: Shape = match frame.operand(only(op, base)?)? {
            Value::Tensor(t) => t.shape().into(),
            other => other.memref()?.sizes().into(),
        };
        let map = op.prop("permutation_map").and_then(|a| op.cx.as_affine_map(a));
        let map = map.ok_or_else(|| Fault::invalid_ir("has no 'permutation_map'"))?;
        let dim = |expr| match op.cx.affine_data(expr) {
            AffineExprData::Dim(d) if (d as usize) < sizes.len() => Ok(Some(d as usize)),
            AffineExprData::Const(0) => Ok(None),
            _ => Err(Fault::invalid_ir("the permutation map is no projection of the dimensions")),
        };
        let dims = op.cx.map_results(map).iter().map(|&e| dim(e)).collect::<Result<_, _>>()?;
        let in_bounds = op.prop("in_bounds").and_then(|a| op.cx.array(a)).unwrap_or_default();
        let in_bounds = in_bounds.iter().map(|&a| op.cx.as_bool(a) == Some(true)).collect();
        let first = frame.ints(group(op, base + 1)?)?;
        if first.len() != sizes.len() {
            return Err(Fault::shape(format!("{} indices for a value of rank {}", first.len(), sizes.len())));
        }
        let masks = group(op, mask)?;
        let mask = if masks.is_empty() { None } else { Some(vector(frame, masks.start)?) };
        Ok(Self { first, dims, in_bounds, sizes, mask })
    }

    /// Index of the element that belongs to a place in the vector; `None` where it lies outside or is masked.
    fn element(&self, at: &[usize]) -> Result<Option<SmallVec<[i64; 4]>>, Fault> {
        if !self.is_set(at)? {
            return Ok(None);
        }
        let mut index = self.first.clone();
        for (&dim, &i) in self.dims.iter().zip(at) {
            if let Some(d) = dim {
                index[d] = index[d].wrapping_add(i as i64);
            }
        }
        for (d, (&i, &size)) in index.iter().zip(&self.sizes).enumerate() {
            if i < 0 || i >= size as i64 {
                let vector_dim = self.dims.iter().position(|&x| x == Some(d));
                let promised = vector_dim.is_none_or(|v| self.in_bounds.get(v) == Some(&true));
                return if promised { Err(out_of_bounds(i, d, size)) } else { Ok(None) };
            }
        }
        Ok(Some(index))
    }

    /// The mask has the dimensions that the vector runs along, in the order of the tensor or memref.
    fn is_set(&self, at: &[usize]) -> Result<bool, Fault> {
        let Some(mask) = &self.mask else { return Ok(true) };
        let mut order: SmallVec<[(usize, usize); 4]> =
            self.dims.iter().zip(at).filter_map(|(d, &i)| Some(((*d)?, i))).collect();
        order.sort_by_key(|(dim, _)| *dim);
        let index: SmallVec<[i64; 4]> = order.iter().map(|(_, i)| *i as i64).collect();
        Ok(mask.at(&index)?.as_bool() == Some(true))
    }
}

/// Calls `visit(position, index)` for every place in a vector of this shape.
fn for_each(
    shape: &[usize],
    mut visit: impl FnMut(usize, &[usize]) -> Result<(), InterpError>,
) -> Result<(), InterpError> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut index: Shape = shape.iter().map(|_| 0).collect();
    let mut position = 0;
    loop {
        visit(position, &index)?;
        position += 1;
        if !next_index(&mut index, shape) {
            return Ok(());
        }
    }
}

/// One element of a tensor or memref; `None` when nothing was written to it.
fn get(frame: &mut Frame<'_>, base: &Base, index: &[i64]) -> Result<Option<Scalar>, Fault> {
    match base {
        Base::Tensor(tensor) => Ok(tensor.data().get(tensor.position(index)?)),
        Base::MemRef(memref) => frame.memory().get(memref, index),
    }
}

enum Base {
    Tensor(Tensor),
    MemRef(Arc<MemRef>),
}

impl Base {
    fn new(value: Value) -> Result<Self, Fault> {
        match value {
            Value::Tensor(tensor) => Ok(Self::Tensor(tensor)),
            other => other.memref().cloned().map(Self::MemRef),
        }
    }
}

/// Bits are not taken apart: elements must be those of the vector.
fn check_elements(op: OpRef<'_>, base: Type, vector: Type) -> Result<(), Fault> {
    if op.cx.element_type(base) == op.cx.element_type(vector) {
        return Ok(());
    }
    Err(Fault::unsupported("a transfer between a vector and elements of another type"))
}

/// The memref and the index of the first element, for operands that end in a mask and a vector.
fn packed_access(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<(Arc<MemRef>, Vec<i64>), Fault> {
    let memref = frame.memref(0)?;
    let index: Vec<i64> = frame.ints(1..op.num_operands() - 2)?.to_vec();
    if index.is_empty() {
        return Err(Fault::unsupported("consecutive elements of a memref without dimensions"));
    }
    Ok((memref, index))
}

/// Lanes that the mask names get elements that follow each other, the others are those of `pass_thru`.
fn expand_load(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (memref, mut index) = packed_access(op, frame)?;
    let (mask, mut result) = (vector(frame, op.num_operands() - 2)?, vector(frame, op.num_operands() - 1)?);
    for lane in 0..result.len() {
        if mask.data().read(lane)?.as_bool() == Some(true) {
            let value = frame.memory().get(&memref, &index)?;
            result.data_mut().set(lane, value);
            *index.last_mut().expect("there is a dimension") += 1;
        }
    }
    next(frame, result)
}

fn compress_store(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (memref, mut index) = packed_access(op, frame)?;
    let (mask, stored) = (vector(frame, op.num_operands() - 2)?, vector(frame, op.num_operands() - 1)?);
    for lane in 0..stored.len() {
        if mask.data().read(lane)?.as_bool() == Some(true) {
            frame.memory().store(&memref, &index, stored.data().get(lane))?;
            *index.last_mut().expect("there is a dimension") += 1;
        }
    }
    Ok(Flow::Next)
}

fn transfer_read(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    check_elements(op, op.ty(op.operand(0)), op.ty(op.result(0)))?;
    let transfer = Transfer::new(op, frame, 0, 3)?;
    let base = Base::new(frame.operand(0)?.clone())?;
    let padding = frame.operand(only(op, 2)?)?.scalar()?;
    let dtype: DType = padding.dtype();
    let shape = static_shape(op.cx, frame.result_type(0)?)?;
    let mut result = Tensor::undefined(dtype, &shape)?;
    for_each(&shape, |position, at| {
        let value = match transfer.element(at)? {
            Some(index) => get(frame, &base, &index)?,
            None => Some(padding),
        };
        result.data_mut().set(position, value);
        Ok(())
    })?;
    next(frame, result)
}

fn transfer_write(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    check_elements(op, op.ty(op.operand(1)), op.ty(op.operand(0)))?;
    let transfer = Transfer::new(op, frame, 1, 3)?;
    let stored = vector(frame, 0)?;
    let mut base = Base::new(frame.take(1)?)?;
    for_each(stored.shape(), |position, at| {
        let Some(index) = transfer.element(at)? else { return Ok(()) };
        let value = stored.data().get(position);
        match &mut base {
            Base::Tensor(tensor) => {
                let at = tensor.position(&index)?;
                tensor.data_mut().set(at, value);
            }
            Base::MemRef(memref) => frame.memory().store(memref, &index, value)?,
        }
        Ok(())
    })?;
    if let Base::Tensor(tensor) = base {
        frame.set(0, Value::Tensor(tensor))?;
    }
    Ok(Flow::Next)
}
