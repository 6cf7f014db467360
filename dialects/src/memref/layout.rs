//! Strides and offsets of memrefs.

use sutura_ir::{AttrData, Context, DYNAMIC, Type, TypeData};

/// Where element (i0, i1, …) lies: at `offset + i0 * strides[0] + i1 * strides[1] + …` elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StridedLayout {
    /// One stride per dimension, [`DYNAMIC`] where unknown.
    pub strides: Vec<i64>,
    /// Offset of the first element, [`DYNAMIC`] where unknown.
    pub offset: i64,
}

impl StridedLayout {
    /// Row-major without gaps.
    pub fn contiguous(shape: &[i64]) -> Self {
        let mut strides = vec![1; shape.len()];
        for i in (1..shape.len()).rev() {
            strides[i - 1] = times(strides[i], shape[i]);
        }
        Self { strides, offset: 0 }
    }

    /// The memref type of this layout. A contiguous layout is not written.
    pub fn memref_type(&self, cx: &Context, shape: &[i64], elem: Type, space: Option<sutura_ir::Attr>) -> Type {
        let layout = (*self != Self::contiguous(shape))
            .then(|| cx.attr(AttrData::Strided { offset: self.offset, strides: cx.int_list(&self.strides) }));
        cx.memref_type(shape, elem, layout, space)
    }
}

/// The product, unknown when a factor is or when it does not fit.
pub(super) fn times(a: i64, b: i64) -> i64 {
    if a == 0 || b == 0 {
        return 0;
    }
    if a == DYNAMIC || b == DYNAMIC { DYNAMIC } else { a.checked_mul(b).unwrap_or(DYNAMIC) }
}

/// The sum, unknown when a summand is or when it does not fit.
pub(super) fn plus(a: i64, b: i64) -> i64 {
    if a == DYNAMIC || b == DYNAMIC { DYNAMIC } else { a.checked_add(b).unwrap_or(DYNAMIC) }
}

/// Strides and offset of a ranked memref without layout or with `strided<…>`; other layouts have none here.
pub fn strided_layout(cx: &Context, ty: Type) -> Option<StridedLayout> {
    let TypeData::MemRef { shape, layout, .. } = cx.type_data(ty) else { return None };
    match layout {
        None => Some(StridedLayout::contiguous(cx.ints(shape))),
        Some(layout) => match cx.attr_data(layout) {
            AttrData::Strided { offset, strides } => Some(StridedLayout { strides: cx.ints(strides).to_vec(), offset }),
            AttrData::AffineMap(map) if map == cx.identity_map(cx.ints(shape).len() as u32) => {
                Some(StridedLayout::contiguous(cx.ints(shape)))
            }
            _ => None,
        },
    }
}
