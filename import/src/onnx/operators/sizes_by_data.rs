//! Sizes that are computed from data: what a shape, pads or the bounds of a range ask for.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::SymShape;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail};

/// A number computed from numbers of lists, or, without a place, from tensors of rank 0.
pub(super) fn computed<'b>(
    importer: &mut Importer<'_, '_, 'b>,
    numbers: &[(Value, Option<usize>)],
    elem: Type,
    body: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Value,
) -> Value {
    let input = |(value, place): &(Value, Option<usize>)| {
        let index = place.iter().map(|at| importer.cx().affine_const(*at as i64)).collect();
        ComputeInput { value: *value, index, oob: None }
    };
    let inputs = numbers.iter().map(input).collect();
    let result = ComputeResult { shape: Vec::new(), elem, index: Vec::new(), combiner: None };
    let op = importer.g.compute(&[], inputs, vec![result], |s, args| vec![body(s, args)]);
    importer.g.b.body().result(op, 0)
}

/// A size as a number of 64 bits.
fn number(s: &mut Scalars<'_, '_>, size: &Poly) -> Value {
    let size = s.size(size);
    s.cast(size, Type::I64)
}

/// The sizes of a tensor that is padded by as many elements as lists say, but for those that are told.
pub(in super::super) fn padded(
    importer: &mut Importer<'_, '_, '_>,
    own: &[Poly],
    told: &[Option<Poly>],
    (before, after): (Value, Value),
) -> Made<Vec<Poly>> {
    let mut sizes = Vec::new();
    for (d, (own, told)) in own.iter().zip(told).enumerate() {
        if let Some(told) = told {
            importer.not_negative(&vec![Some(told.clone())], "size")?;
            sizes.push(told.clone());
            continue;
        }
        let sum = computed(importer, &[(before, Some(d)), (after, Some(d))], Type::I64, |s, pads| {
            let own = number(s, own);
            let sum = s.add(pads[0], own);
            s.add(sum, pads[1])
        });
        sizes.push(importer.size_of_number(sum)?);
    }
    Ok(sizes)
}

/// The sizes to which a tensor of these is expanded: a 1 in the list asks for the tensor's own.
pub(in super::super) fn expanded(
    importer: &mut Importer<'_, '_, '_>,
    own: &SymShape,
    list: Value,
    length: usize,
) -> Made<Vec<Poly>> {
    let mut sizes = Vec::new();
    for at in 0..length {
        let same = (at + own.len()).checked_sub(length).and_then(|d| own[d].clone());
        let asked = computed(importer, &[(list, Some(at))], Type::I64, |s, asked| match &same {
            Some(own) if own.as_const() != Some(1) => {
                let (one, own) = (s.int(1, Type::I64), number(s, own));
                let is_one = s.compare(Comparison::Equal, asked[0], one);
                s.select(is_one, own, asked[0])
            }
            _ => asked[0],
        });
        sizes.push(importer.size_of_number(asked)?);
    }
    Ok(sizes)
}

/// The sizes of a tensor of these that a list asks for: -1 is what remains, and 0 the tensor's own where zeros copy.
pub(in super::super) fn reshaped(
    importer: &mut Importer<'_, '_, '_>,
    own: &SymShape,
    (list, length): (Value, usize),
    zero_copies: bool,
) -> Made<Vec<Poly>> {
    let Some(own) = own.iter().cloned().collect::<Option<Vec<Poly>>>() else {
        return fail("reshapes a tensor whose sizes are not known");
    };
    let all: Vec<(Value, Option<usize>)> = (0..length).map(|at| (list, Some(at))).collect();
    let mut sizes = Vec::new();
    for at in 0..length {
        let asked = computed(importer, &all, Type::I64, |s, asked| {
            let (zero, one, rest) = (s.int(0, Type::I64), s.int(1, Type::I64), s.int(-1, Type::I64));
            let mut copied = Vec::new();
            for (d, asked) in asked.iter().enumerate() {
                copied.push(match own.get(d).filter(|_| zero_copies) {
                    Some(own) => {
                        let own = number(s, own);
                        let copies = s.compare(Comparison::Equal, *asked, zero);
                        s.select(copies, own, *asked)
                    }
                    None => *asked,
                });
            }
            let mut others = one;
            for size in &copied {
                let is_rest = s.compare(Comparison::Equal, *size, rest);
                let factor = s.select(is_rest, one, *size);
                others = s.mul(others, factor);
            }
            let (elements, divisor) = (number(s, &Poly::product(&own)), s.max(others, one));
            let remains = s.div(elements, divisor);
            let is_rest = s.compare(Comparison::Equal, copied[at], rest);
            s.select(is_rest, remains, copied[at])
        });
        sizes.push(importer.size_of_number(asked)?);
    }
    Ok(sizes)
}

/// The numbers from `start` on, `delta` apart, before `limit`; all three are of the element type of the result.
pub(in super::super) fn range(importer: &mut Importer<'_, '_, '_>, [start, limit, delta]: [Value; 3]) -> Made {
    let elem = importer.g.elem(start);
    let bounds = [(start, None), (limit, None), (delta, None)];
    let count = match elem.is_float(importer.cx()) {
        true => computed(importer, &bounds, Type::I64, |s, bounds| count_of_floats(s, bounds)),
        false => computed(importer, &bounds, Type::I64, |s, bounds| count_of_integers(s, bounds)),
    };
    let size = importer.size_of_number(count)?;
    let inputs = [start, delta].map(|value| ComputeInput { value, index: Vec::new(), oob: None });
    let result = ComputeResult { shape: vec![Some(size)], elem, index: importer.g.dims(0..1), combiner: None };
    let kinds = [sutura_dialects::graph::IteratorKind::Parallel];
    let op = importer.g.compute(&kinds, inputs.into(), vec![result], |s, args| {
        let wide = wide(s, elem);
        let i = s.index(0);
        let i = s.cast(i, Type::I64);
        let (i, start, delta) = (s.cast(i, wide), s.cast(args[0], wide), s.cast(args[1], wide));
        let above = s.mul(i, delta);
        let at = s.add(start, above);
        vec![s.cast(at, elem)]
    });
    Ok(importer.g.b.body().result(op, 0))
}

/// The type in which elements of a range are computed.
fn wide(s: &Scalars<'_, '_>, elem: Type) -> Type {
    match () {
        () if elem == Type::F64 => Type::F64,
        () if elem.is_float(s.cx()) => Type::F32,
        () => Type::I64,
    }
}

/// Larger than any size.
const FAR: i64 = 1 << 62;

/// `ceil((limit - start) / delta)`, where the difference is rounded to the type and the quotient to `f32` at least; 0 where that is less.
fn count_of_floats(s: &mut Scalars<'_, '_>, bounds: &[Value]) -> Value {
    let ty = wide(s, s.ty(bounds[0]));
    let distance = s.sub(bounds[1], bounds[0]);
    let (distance, delta) = (s.cast(distance, ty), s.cast(bounds[2], ty));
    let quotient = s.div(distance, delta);
    let count = s.math("math.ceil", quotient);
    let (zero, far) = (s.number(0.0, ty), s.number(FAR as f64, ty));
    // Nothing of what is no number.
    let positive = s.compare(Comparison::Greater, count, zero);
    let count = s.select(positive, count, zero);
    let count = s.min(count, far);
    s.cast(count, Type::I64)
}

/// The same of integers. A distance beyond 64 bits is the farthest; a `delta` of 0 is an error of the run.
fn count_of_integers(s: &mut Scalars<'_, '_>, bounds: &[Value]) -> Value {
    let [start, limit, delta] = [0, 1, 2].map(|i| s.cast(bounds[i], Type::I64));
    let (zero, one) = (s.int(0, Type::I64), s.int(1, Type::I64));
    let (up, negative) = (s.compare(Comparison::Greater, limit, start), s.compare(Comparison::Less, delta, zero));
    let (low, high) = (s.min(start, limit), s.max(start, limit));
    let distance = s.sub(high, low);
    let overflows = s.compare(Comparison::Less, distance, zero);
    let far = s.int(i64::MAX, Type::I64);
    let distance = s.select(overflows, far, distance);
    let smallest = s.int(-i64::MAX, Type::I64);
    let step = s.max(delta, smallest);
    let step = s.abs(step);
    let (whole, rest) = (s.div(distance, step), s.rem(distance, step));
    let is_exact = s.compare(Comparison::Equal, rest, zero);
    let next = s.add(whole, one);
    let count = s.select(is_exact, whole, next);
    // None where the limit lies on the other side.
    let other_side = s.compare(Comparison::Equal, up, negative);
    s.select(other_side, zero, count)
}
