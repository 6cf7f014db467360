//! Tensors whose elements lie apart: where they lie, and copies of them.

use std::ops::Range;

/// Whether strides, in bytes, are those of rows one behind the other. Dims of size 1 may have any.
pub(crate) fn is_contiguous(dims: &[i64], strides: &[i64], item: usize) -> bool {
    if dims.contains(&0) {
        return true;
    }
    let mut expected = item as i64;
    dims.iter().zip(strides).rev().all(|(&dim, &stride)| {
        let fits = dim == 1 || stride == expected;
        expected = expected.saturating_mul(dim);
        fits
    })
}

/// The addresses from the first to the last byte of a tensor.
pub(crate) fn extent(data: usize, dims: &[i64], strides: Option<&[i64]>, item: usize) -> Range<usize> {
    if dims.contains(&0) {
        return data..data;
    }
    let Some(strides) = strides else {
        let bytes = dims.iter().fold(item, |bytes, dim| bytes.saturating_mul(*dim as usize));
        return data..data.saturating_add(bytes);
    };
    let (mut first, mut last) = (data, data);
    for (dim, stride) in dims.iter().zip(strides) {
        let span = stride.saturating_mul(dim - 1) as isize;
        if span < 0 { first = first.saturating_add_signed(span) } else { last = last.saturating_add_signed(span) }
    }
    first..last.saturating_add(item)
}

/// Whether no two elements share memory, as far as strides that grow show it.
pub(crate) fn is_apart(dims: &[i64], strides: &[i64], item: usize) -> bool {
    if dims.contains(&0) {
        return true;
    }
    let mut steps: Vec<(i64, i64)> = dims
        .iter()
        .zip(strides)
        .filter(|(dim, _)| **dim > 1)
        .map(|(dim, stride)| (stride.saturating_abs(), *dim))
        .collect();
    steps.sort_unstable();
    let mut extent = item as i64;
    steps.into_iter().all(|(step, dim)| {
        let apart = step >= extent;
        extent = extent.saturating_add(step.saturating_mul(dim - 1));
        apart
    })
}

/// Copies elements that lie at strides to rows one behind the other.
///
/// # Safety
/// `from` has elements of `item` bytes where dims and strides say; `to` has room for all of them, elsewhere.
pub(crate) unsafe fn gather(from: *const u8, dims: &[i64], strides: &[i64], item: usize, to: *mut u8) {
    let mut to = to;
    each_offset(dims, strides, &mut |offset| {
        // SAFETY: by this function's condition.
        unsafe {
            to.copy_from_nonoverlapping(from.offset(offset), item);
            to = to.add(item);
        }
    });
}

/// Copies rows one behind the other to elements that lie at strides.
///
/// # Safety
/// As for [`gather`], the other way round.
pub(crate) unsafe fn scatter(from: *const u8, dims: &[i64], strides: &[i64], item: usize, to: *mut u8) {
    let mut from = from;
    each_offset(dims, strides, &mut |offset| {
        // SAFETY: by this function's condition.
        unsafe {
            to.offset(offset).copy_from_nonoverlapping(from, item);
            from = from.add(item);
        }
    });
}

/// The place of each element, row by row.
fn each_offset(dims: &[i64], strides: &[i64], visit: &mut impl FnMut(isize)) {
    fn level(dims: &[i64], strides: &[i64], start: isize, visit: &mut impl FnMut(isize)) {
        let ([dim, inner @ ..], [stride, inner_strides @ ..]) = (dims, strides) else { return visit(start) };
        let mut offset = start;
        for _ in 0..*dim {
            level(inner, inner_strides, offset, visit);
            offset += *stride as isize;
        }
    }
    level(dims, strides, 0, visit);
}
