//! What operators share that read tensors between their elements.

mod points;

use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::IteratorKind;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars};
use sutura_ir::types::TypeData;
use sutura_ir::{Context, Type, Value};

pub(super) use self::points::{Beyond, Sampler, Taps};
use super::super::convert::{Importer, Made};

/// The float type in which elements are interpolated; `None` where they are no numbers.
pub(super) fn accumulator(cx: &Context, elem: Type) -> Option<Type> {
    match cx.type_data(elem) {
        TypeData::Float(_) => Some(accumulator_type(cx, elem)),
        TypeData::Integer { width, .. } => (width > 1).then_some(Type::F64),
        _ => None,
    }
}

/// A place, a float, as the index of an element of a dim of so many: the nearest one where it lies outside, the first for NaN.
pub(super) fn clamped(s: &mut Scalars<'_, '_>, at: Value, size: Value) -> Value {
    let ty = s.ty(at);
    let (zero, one) = (s.number(0.0, ty), s.number(1.0, ty));
    let last = s.sub(size, one);
    // A comparison with NaN is false, so that it is not converted.
    let inside = s.compare(Comparison::Greater, at, zero);
    let low = s.select(inside, at, zero);
    let within = s.compare(Comparison::Less, low, last);
    let at = s.select(within, low, last);
    s.cast(at, Type::I64)
}

/// `((a + 2) d - (a + 3)) d d + 1`: the cubic kernel up to a distance of 1.
pub(super) fn cubic_near(s: &mut Scalars<'_, '_>, d: Value, a: f64) -> Value {
    let ty = s.ty(d);
    let (first, second, one) = (s.number(a + 2.0, ty), s.number(a + 3.0, ty), s.number(1.0, ty));
    let sum = s.mul(first, d);
    let sum = s.sub(sum, second);
    let sum = s.mul(sum, d);
    let sum = s.mul(sum, d);
    s.add(sum, one)
}

/// `((a d - 5 a) d + 8 a) d - 4 a`: the cubic kernel from a distance of 1 to 2.
pub(super) fn cubic_far(s: &mut Scalars<'_, '_>, d: Value, a: f64) -> Value {
    let ty = s.ty(d);
    let (a1, a5, a8, a4) = (s.number(a, ty), s.number(5.0 * a, ty), s.number(8.0 * a, ty), s.number(4.0 * a, ty));
    let sum = s.mul(a1, d);
    let sum = s.sub(sum, a5);
    let sum = s.mul(sum, d);
    let sum = s.add(sum, a8);
    let sum = s.mul(sum, d);
    s.sub(sum, a4)
}

/// The elements, or `value` where one of the tables says so, each of which has the size of a dim.
pub(super) fn masked(importer: &mut Importer<'_, '_, '_>, x: Value, tables: &[(usize, Value)], value: f64) -> Made {
    if tables.is_empty() {
        return Ok(x);
    }
    let (rank, shape, elem) = (importer.g.rank(x), importer.g.shape(x), importer.g.elem(x));
    let mut inputs = vec![ComputeInput { value: x, index: importer.g.dims(0..rank), oob: None }];
    inputs.extend(tables.iter().map(|(dim, table)| {
        let index = importer.g.dims(*dim..*dim + 1);
        ComputeInput { value: *table, index, oob: None }
    }));
    let result = ComputeResult { shape, elem, index: importer.g.dims(0..rank), combiner: None };
    let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
        let any = args[1..].iter().copied().reduce(|a, b| s.bits("arith.ori", a, b)).expect("there is a table");
        let value = s.number(value, elem);
        vec![s.select(any, value, args[0])]
    });
    Ok(importer.g.b.body().result(op, 0))
}

/// The elements as such of type `elem`: integers are rounded to the nearest, of the middle to even, and do not leave their type.
pub(super) fn rounded(importer: &mut Importer<'_, '_, '_>, x: Value, elem: Type) -> Made {
    if importer.g.elem(x) == elem {
        return Ok(x);
    }
    let cx = importer.cx();
    Ok(importer.g.elementwise(&[x], elem, |s, args| {
        let number = match cx.type_data(elem) {
            TypeData::Integer { width, .. } => {
                let (least, most) = bounds(cx, elem, width);
                let ty = s.ty(args[0]);
                let (least, most, zero) = (s.number(least, ty), s.number(most, ty), s.number(0.0, ty));
                let number = s.math("math.roundeven", args[0]);
                let is_number = s.compare(Comparison::Equal, number, number);
                let number = s.select(is_number, number, zero);
                let number = s.max(number, least);
                s.min(number, most)
            }
            _ => args[0],
        };
        s.cast(number, elem)
    })?)
}

/// The least and the greatest number of an integer type that its float type holds.
fn bounds(cx: &Context, elem: Type, width: u32) -> (f64, f64) {
    let unsigned = sutura_dialects::elements::is_unsigned(cx, elem);
    let bits = if unsigned { width } else { width - 1 };
    // Of 64 bits, the greatest has more digits than a float.
    let most =
        if bits > 53 { 2f64.powi(bits as i32) - 2f64.powi(bits as i32 - 53) } else { 2f64.powi(bits as i32) - 1.0 };
    (if unsigned { 0.0 } else { -(2f64.powi(bits as i32)) }, most)
}
