//! Scales and zero points of tensors: where they are, and whether a tensor can have them.

use sutura_ir::{Context, Type};

use super::types::{Scheme, UniformType};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;

/// Scales along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Along {
    /// How many there are.
    pub count: i64,
    /// Elements that share one; `None` where all along the dimension do, however many they are.
    pub block: Option<i64>,
}

impl Along {
    /// How many elements there must be.
    pub fn size(&self) -> Option<i64> {
        self.count.checked_mul(self.block?)
    }
}

/// Scales along each dimension of a tensor of that rank.
///
/// # Errors
/// Says why there is no such tensor.
pub fn along(ty: &UniformType, rank: usize) -> Result<Vec<Along>, String> {
    const ONE: Along = Along { count: 1, block: None };
    let outside = |dim: usize| format!("quantized dimension {dim} must be less than tensor rank {rank}");
    match &ty.scheme {
        Scheme::Tensor(_) => Ok(vec![ONE; rank]),
        Scheme::Axis { axis, affine } => {
            let mut all = vec![ONE; rank];
            let one = all.get_mut(*axis).ok_or_else(|| outside(*axis))?;
            *one = Along { count: affine.len() as i64, block: Some(1) };
            Ok(all)
        }
        Scheme::Blocks { sizes, counts, .. } => {
            if let Some((dim, _)) = sizes.iter().find(|(dim, _)| *dim >= rank) {
                return Err(outside(*dim));
            }
            if counts.len() != rank {
                return Err(format!("Rank of scales {} must match the rank of the tensor {rank}", counts.len()));
            }
            let block = |dim: usize| sizes.iter().find(|(other, _)| *other == dim).map(|(_, size)| *size);
            let all: Vec<Along> =
                counts.iter().enumerate().map(|(dim, count)| Along { count: *count, block: block(dim) }).collect();
            match all.iter().position(|along| along.block.is_none() && along.count != 1) {
                Some(dim) => Err(format!(
                    "there are {} scales along dimension {dim}, for which no block size is given: one block reaches from end to end",
                    all[dim].count
                )),
                None => Ok(all),
            }
        }
    }
}

/// The sizes that a type states, by scales too, where it has a rank.
pub fn stated_shape(cx: &Context, ty: Type) -> Option<Vec<Option<Poly>>> {
    let mut shape = symbolic_shape(cx, ty)?;
    let scales = super::uniform(cx, ty).and_then(|uniform| along(uniform, shape.len()).ok()).unwrap_or_default();
    for (size, along) in shape.iter_mut().zip(scales).filter(|(size, _)| size.is_none()) {
        *size = along.size().map(Poly::constant);
    }
    Some(shape)
}

/// Checks that a value of type `ty` can have the scales that its type says.
///
/// # Errors
/// Says why not.
pub fn check_type(cx: &Context, ty: Type) -> Result<(), String> {
    let Some(uniform) = super::uniform(cx, ty) else { return Ok(()) };
    if matches!(uniform.scheme, Scheme::Tensor(_)) {
        return Ok(());
    }
    let kind = if matches!(uniform.scheme, Scheme::Axis { .. }) { "per-axis" } else { "sub-channel" };
    let Some(rank) = cx.shape(ty).map(<[i64]>::len) else {
        return match (ty.is_tensor(cx), &uniform.scheme) {
            (false, _) => Err(format!("scalar types may not use {kind} quantization")),
            (_, Scheme::Axis { .. }) => Ok(()),
            _ => Err(format!("tensor containing the {kind} quantized type must be ranked")),
        };
    };
    let sizes = symbolic_shape(cx, ty).unwrap_or_else(|| vec![None; rank]);
    for (dim, (along, size)) in along(uniform, rank)?.iter().zip(sizes).enumerate() {
        let Some(size) = size.as_ref().and_then(Poly::as_const) else { continue };
        check_size(dim, *along, size)?;
    }
    Ok(())
}

/// Checks the size of a dimension.
///
/// # Errors
/// Says what does not fit.
pub(super) fn check_size(dim: usize, along: Along, size: i64) -> Result<(), String> {
    let Some(block) = along.block else { return Ok(()) };
    if size % block != 0 {
        return Err(format!(
            "tensor dimension size {size} at axis {dim} must be divisible by the corresponding block size {block}"
        ));
    }
    match size / block == along.count {
        true => Ok(()),
        false if block == 1 => {
            let count = along.count;
            Err(format!(
                "quantized dimension size does not match number of scales: dimension {dim} has size {size}, there are {count} scales"
            ))
        }
        false => Err(format!(
            "there must be {} scales along dimension {dim}, of size {size} in blocks of {block}, not {}",
            size / block,
            along.count
        )),
    }
}
