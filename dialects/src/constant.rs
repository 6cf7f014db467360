//! Folding element by element over scalar, splat and dense constants.

use smallvec::SmallVec;
use sutura_ir::dense::DenseElements;
use sutura_ir::{Attr, AttrData, Context, Type, TypeData};

/// A constant whose elements are numbers of at most 64 bits.
enum Elements<'a> {
    Scalar(u64),
    Dense(DenseElements<'a>),
}

fn elements(cx: &Context, attr: Attr) -> Option<Elements<'_>> {
    match cx.attr_data(attr) {
        AttrData::Integer { ty, value } => Some(Elements::Scalar(value as u64 & mask(cx.bit_width(ty)?))),
        AttrData::Float { bits, .. } => Some(Elements::Scalar(bits)),
        _ => cx.dense(attr).map(Elements::Dense),
    }
}

/// The low `width` bits.
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width.min(64)).unwrap_or(0)
}

/// The integer that the low `width` bits of `word` are, in two's complement.
pub(crate) fn sign_extend(word: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    ((word << shift) as i64) >> shift
}

/// The scalar constant of type `ty` with these bits.
pub(crate) fn scalar(cx: &Context, ty: Type, word: u64) -> Option<Attr> {
    match cx.type_data(ty) {
        TypeData::Integer { width: 1..=64, .. } | TypeData::Index => Some(cx.int_attr(word as i64, ty)),
        TypeData::Float(kind) if kind.bits() <= 64 => {
            Some(cx.attr(AttrData::Float { ty, bits: word & mask(kind.bits()) }))
        }
        _ => None,
    }
}

/// The constant of type `ty` (a scalar type, or a vector or tensor of static shape) all of whose elements have these
/// bits.
pub(crate) fn uniform(cx: &Context, ty: Type, word: u64) -> Option<Attr> {
    cx.splat_attr(ty, scalar(cx, cx.element_type(ty), word)?)
}

/// The integer constant of type `ty` all of whose elements are `value`.
pub(crate) fn int(cx: &Context, ty: Type, value: i64) -> Option<Attr> {
    uniform(cx, ty, value as u64)
}

/// The constant of type `ty` whose elements are `f` of the bits of the inputs' elements; `None` as soon as `f` is.
///
/// The inputs are all scalar, or all dense with as many elements as `ty`.
pub(crate) fn map(cx: &Context, ty: Type, inputs: &[Attr], mut f: impl FnMut(&[u64]) -> Option<u64>) -> Option<Attr> {
    let inputs: SmallVec<[Elements<'_>; 3]> = inputs.iter().map(|a| elements(cx, *a)).collect::<Option<_>>()?;
    let at = |i: usize| -> SmallVec<[u64; 3]> {
        inputs
            .iter()
            .map(|e| match e {
                Elements::Scalar(word) => *word,
                Elements::Dense(dense) => dense.word(i),
            })
            .collect()
    };
    if inputs.iter().all(|e| matches!(e, Elements::Scalar(_))) {
        return scalar(cx, ty, f(&at(0))?);
    }
    let len = cx.num_elements(ty)?;
    if inputs.iter().any(|e| !matches!(e, Elements::Dense(d) if d.len() == len)) {
        return None;
    }
    let splat = inputs.iter().all(|e| matches!(e, Elements::Dense(d) if d.is_splat()));
    let words: Vec<u64> = (0..if splat { 1 } else { len }).map(|i| f(&at(i))).collect::<Option<_>>()?;
    cx.dense_attr(ty, &words)
}

/// Width in bits of the elements of an integer-like type.
pub(crate) fn int_width(cx: &Context, ty: Type) -> Option<u32> {
    let elem = cx.element_type(ty);
    cx.bit_width(elem).filter(|w| !elem.is_float(cx) && (1..=64).contains(w))
}

/// The integer that a constant is or all of its elements are, sign-extended.
pub(crate) fn int_value(cx: &Context, attr: Attr) -> Option<i64> {
    cx.as_int(cx.splat_value(attr)?)
}

/// The float that a constant is or all of its elements are.
pub(crate) fn float_value(cx: &Context, attr: Attr) -> Option<f64> {
    cx.as_f64(cx.splat_value(attr)?)
}
