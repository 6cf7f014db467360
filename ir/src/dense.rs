//! Reading and making the elements of dense constants.

use bytes::Bytes;

use crate::attrs::{Attr, AttrData};
use crate::context::Context;
use crate::types::{Type, TypeData};

/// The elements of a `dense<…>` attribute whose elements are integers, `index` or floats of at most 64 bits.
#[derive(Clone, Copy)]
pub struct DenseElements<'a> {
    cx: &'a Context,
    ty: Type,
    elem: Type,
    bytes: &'a [u8],
    width: usize,
    len: usize,
}

/// Bytes that one element takes; `None` for elements that are not integers, `index` or floats of at most 64 bits.
fn element_bytes(cx: &Context, elem: Type) -> Option<usize> {
    let bits = cx.bit_width(elem)?;
    (1..=64).contains(&bits).then(|| bits.div_ceil(8) as usize)
}

impl Context {
    /// Number of elements of a ranked tensor, memref or vector of static shape.
    pub fn num_elements(&self, ty: Type) -> Option<usize> {
        if let TypeData::Vector { scalable, .. } = self.type_data(ty)
            && self.ints(scalable).contains(&1)
        {
            return None;
        }
        let sizes = self.shape(ty)?.iter().map(|&d| usize::try_from(d).ok());
        sizes.into_iter().try_fold(1usize, |product, size| product.checked_mul(size?))
    }

    /// The elements of a dense constant.
    pub fn dense(&self, attr: Attr) -> Option<DenseElements<'_>> {
        let AttrData::Dense { ty, data, .. } = self.attr_data(attr) else { return None };
        let elem = self.element_type(ty);
        let width = element_bytes(self, elem)?;
        Some(DenseElements { cx: self, ty, elem, bytes: self.bytes(data), width, len: self.num_elements(ty)? })
    }

    /// The dense constant of type `ty` with these elements, each the low bits of a word. Equal elements make a splat.
    ///
    /// `None` when `ty` has no static shape, its elements are no integers, `index` or floats of at most 64 bits, or the
    /// number of words is neither one (a splat) nor that of the elements.
    pub fn dense_attr(&self, ty: Type, words: &[u64]) -> Option<Attr> {
        let elem = self.element_type(ty);
        let (width, len) = (element_bytes(self, elem)?, self.num_elements(ty)?);
        if !matches!(self.type_data(ty), TypeData::RankedTensor { .. } | TypeData::Vector { .. }) {
            return None;
        }
        if words.len() != len && words.len() != 1 {
            return None;
        }
        let mask = u64::MAX >> (64 - self.bit_width(elem)?);
        let splat = words.first().is_some_and(|first| words.iter().all(|w| w & mask == first & mask));
        let stored = if splat { &words[..1] } else { words };
        let mut bytes = Vec::with_capacity(stored.len() * width);
        for word in stored {
            bytes.extend_from_slice(&(word & mask).to_le_bytes()[..width]);
        }
        Some(self.attr(AttrData::Dense { ty, data: self.blob(&bytes), splat }))
    }

    /// The dense constant of type `ty` whose elements have these bytes, each little-endian in the bytes its width needs and zero
    /// above it. They are not copied. Equal elements make a splat.
    ///
    /// `None` where [`Self::dense_attr`] has none, or the number of bytes is not that of the elements.
    pub fn dense_of_bytes(&self, ty: Type, bytes: Bytes) -> Option<Attr> {
        let (width, len) = (element_bytes(self, self.element_type(ty))?, self.num_elements(ty)?);
        if !matches!(self.type_data(ty), TypeData::RankedTensor { .. } | TypeData::Vector { .. }) {
            return None;
        }
        if len.checked_mul(width) != Some(bytes.len()) {
            return None;
        }
        let first = bytes.get(..width).unwrap_or_default();
        let splat = !bytes.is_empty() && bytes.chunks_exact(width).all(|element| element == first);
        let data = if splat { self.blob(first) } else { self.blob_of(bytes) };
        Some(self.attr(AttrData::Dense { ty, data, splat }))
    }

    /// The constant of type `ty` all of whose elements are `value`, a scalar attribute; `value` itself for a scalar
    /// type. `None` when `ty` has no static shape.
    pub fn splat_attr(&self, ty: Type, value: Attr) -> Option<Attr> {
        if !ty.is_shaped(self) {
            return (self.attr_type(value) == Some(ty)).then_some(value);
        }
        if self.attr_type(value) != Some(self.element_type(ty)) {
            return None;
        }
        match self.attr_data(value) {
            AttrData::Integer { value, .. } => self.dense_attr(ty, &[value as u64]),
            AttrData::Float { bits, .. } => self.dense_attr(ty, &[bits]),
            _ => None,
        }
    }

    /// The scalar that a scalar constant or every element of a splat is.
    pub fn splat_value(&self, attr: Attr) -> Option<Attr> {
        match self.attr_data(attr) {
            AttrData::Integer { .. } | AttrData::Float { .. } => Some(attr),
            AttrData::Dense { splat: true, .. } => self.dense(attr).map(|d| d.attr(0)),
            _ => None,
        }
    }
}

impl<'a> DenseElements<'a> {
    /// Type of the constant.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Type of the elements.
    pub fn element_type(&self) -> Type {
        self.elem
    }

    /// Number of elements, in row-major order.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when the shape has a size of zero.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True when one stored element stands for all.
    pub fn is_splat(&self) -> bool {
        self.bytes.len() == self.width
    }

    /// Bits of element `index`, zero-extended.
    pub fn word(&self, index: usize) -> u64 {
        let at = if self.is_splat() { 0 } else { index * self.width };
        let mut word = [0; 8];
        word[..self.width].copy_from_slice(&self.bytes[at..at + self.width]);
        u64::from_le_bytes(word)
    }

    /// Element `index` as a scalar attribute.
    pub fn attr(&self, index: usize) -> Attr {
        let word = self.word(index);
        if self.elem.is_float(self.cx) {
            self.cx.attr(AttrData::Float { ty: self.elem, bits: word })
        } else {
            self.cx.int_attr(word as i64, self.elem)
        }
    }

    /// Bits of the stored elements: one for a splat, else all.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        let elements = *self;
        (0..self.bytes.len() / self.width).map(move |i| elements.word(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn elements_come_back() {
        let cx = Context::new(Registry::default());
        for (elem, words) in [
            (Type::I1, vec![0u64, 1, 1, 0]),
            (cx.int_type(12), vec![1, 0xfff, 0x800, 7]),
            (Type::I64, vec![u64::MAX, 1, 2, 3]),
            (Type::F16, vec![0x3c00, 0x8000, 0x7c00, 1]),
        ] {
            let attr = cx.dense_attr(cx.tensor_type(&[2, 2], elem, None), &words).expect("a dense constant");
            let dense = cx.dense(attr).expect("just made");
            assert_eq!((0..4).map(|i| dense.word(i)).collect::<Vec<_>>(), words);
            assert!(!dense.is_splat());
        }
    }

    #[test]
    fn bytes_are_elements() {
        let cx = Context::new(Registry::default());
        let ty = cx.tensor_type(&[3], cx.int_type(12), None);
        let of = |bytes: &[u8]| cx.dense_of_bytes(ty, Bytes::copy_from_slice(bytes));
        assert_eq!(of(&[1, 0, 0xff, 0xf, 2, 0]), cx.dense_attr(ty, &[1, 0xfff, 2]));
        assert_eq!(of(&[1, 2, 1, 2, 1, 2]), cx.dense_attr(ty, &[0x201]));
        assert_eq!(of(&[1, 2, 1, 2]), None);
    }

    #[test]
    fn equal_elements_are_a_splat() {
        let cx = Context::new(Registry::default());
        let ty = cx.vector_type(&[3], Type::I8);
        let attr = cx.dense_attr(ty, &[5, 0x105, 5]).expect("a dense constant");
        assert_eq!(cx.splat_value(attr), Some(cx.int_attr(5, Type::I8)));
        assert_eq!(cx.splat_attr(ty, cx.int_attr(5, Type::I8)), Some(attr));
    }

    #[test]
    fn shapes_must_be_static_and_counts_must_fit() {
        let cx = Context::new(Registry::default());
        let dynamic = cx.tensor_type(&[crate::types::DYNAMIC], Type::I8, None);
        assert_eq!(cx.dense_attr(dynamic, &[1]), None);
        assert_eq!(cx.dense_attr(cx.tensor_type(&[3], Type::I8, None), &[1, 2]), None);
        let huge = cx.tensor_type(&[i64::MAX, 16], Type::I8, None);
        assert_eq!(cx.num_elements(huge), None);
    }
}
