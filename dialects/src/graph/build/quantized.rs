//! Integers, and narrow floats, that stand for numbers: made of them, turned back into them, and multiplied as they are.
//!
//! Scales and zero points are tensors here, whether they are constants or are computed. A quotient has the precision that its
//! operator says, and sums of products of integers are exact, but that they wrap around at 32 bits.

use sutura_ir::affine::AffineOp;
use sutura_ir::float::largest;
use sutura_ir::types::TypeData;
use sutura_ir::{Context, Type, Value};

use super::super::combine::Combiner;
use super::super::structured::IteratorKind;
use super::scalar::Comparison;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, Window, fail, zero};
use crate::r#dyn::Poly;
use crate::elements::{is_unsigned, policy};

/// Floats of this magnitude are beyond every sum of two integers of at most 16 bits.
const BEYOND: f64 = (1u64 << 20) as f64;

/// For which elements there is a scale of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// One for all.
    Tensor,
    /// One for each index of a dimension.
    Axis(usize),
    /// One for each block of so many elements along a dimension, at each index of the others.
    Blocks(usize, i64),
}

/// Scales and zero points of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Scaling {
    /// Of floats, or of 32-bit integers.
    pub scale: Value,
    /// As many as there are scales; none is 0 everywhere.
    pub zero: Option<Value>,
    /// Which elements have which.
    pub grain: Grain,
}

/// A tensor of stored elements, from each of which a zero point is subtracted.
#[derive(Clone, Copy, Debug)]
pub struct Shifted {
    /// The elements.
    pub value: Value,
    /// One for all, or a tensor that is broadcast to the elements.
    pub zero: Option<Value>,
}

/// What is subtracted from every element.
#[derive(Clone, Copy)]
enum Shift {
    None,
    Known(i64),
    /// A tensor of rank 0.
    Computed(Value),
}

impl GraphBuilder<'_, '_> {
    /// The stored element of type `to` that is nearest to each `x / scale + zero`: the quotient, of type `quotient`, is rounded to the
    /// nearest integer, of two the even one; what is beyond the bounds becomes a bound. NaN becomes the zero point. A float is rounded
    /// once, after the sum; what is beyond its bounds becomes a bound with `saturate`.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn quantize(&mut self, x: Value, scaling: &Scaling, to: Type, quotient: Type, saturate: bool) -> Built {
        let inputs = self.scaled_inputs(x, scaling)?;
        let (shape, index) = (self.shape(x), self.dims(0..self.rank(x)));
        let result = ComputeResult { shape, elem: to, index, combiner: None };
        let iterators = vec![IteratorKind::Parallel; self.rank(x)];
        let op = self.compute(&iterators, inputs, vec![result], |s, args| {
            let (x, scale) = (computed(s, args[0], quotient), computed(s, args[1], quotient));
            let ratio = s.div(x, scale);
            let ratio = computed(s, ratio, quotient);
            vec![stored(s, ratio, args.get(2).copied(), to, saturate)]
        });
        Ok(self.b.body().result(op, 0))
    }

    /// `(x - zero) * scale` of each element, as `to`: the difference of integers is exact, and rounded to `f32`, as is the product.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn dequantize(&mut self, x: Value, scaling: &Scaling, to: Type) -> Built {
        let inputs = self.scaled_inputs(x, scaling)?;
        let (shape, index) = (self.shape(x), self.dims(0..self.rank(x)));
        let result = ComputeResult { shape, elem: to, index, combiner: None };
        let iterators = vec![IteratorKind::Parallel; self.rank(x)];
        let op = self.compute(&iterators, inputs, vec![result], |s, args| {
            let difference = match args.get(2) {
                Some(zero) => {
                    let bits = s.cx().bit_width(s.ty(args[0])).unwrap_or(64);
                    let wide = match s.ty(args[0]).is_float(s.cx()) {
                        true => Type::F32,
                        false if bits < 32 => Type::I32,
                        false => Type::I64,
                    };
                    let (x, zero) = (s.cast(args[0], wide), s.cast(*zero, wide));
                    s.sub(x, zero)
                }
                None => args[0],
            };
            let (difference, scale) = (s.cast(difference, Type::F32), s.cast(args[1], Type::F32));
            let product = s.mul(difference, scale);
            vec![s.cast(product, to)]
        });
        Ok(self.b.body().result(op, 0))
    }

    /// The tensor, its scales and, if there are any, its zero points, each at the index of an element.
    fn scaled_inputs(&mut self, x: Value, scaling: &Scaling) -> Built<Vec<ComputeInput>> {
        let index = self.dims(0..self.rank(x));
        let mut inputs = vec![ComputeInput { value: x, index, oob: None }];
        for (parameter, what) in [(Some(scaling.scale), "scale"), (scaling.zero, "zero point")] {
            let Some(parameter) = parameter else { continue };
            inputs.push(self.parameter(x, parameter, scaling.grain, what)?);
        }
        Ok(inputs)
    }

    fn parameter(&mut self, x: Value, parameter: Value, grain: Grain, what: &str) -> Built<ComputeInput> {
        let (shape, sizes) = (self.shape(x), self.shape(parameter));
        let one = self.is_single(parameter);
        let cx = self.cx();
        let index = match grain {
            _ if one => vec![cx.affine_const(0); sizes.len()],
            Grain::Axis(axis) if sizes.len() == 1 => {
                self.unify(&sizes[0], &shape[axis], || format!("numbers along dimension {axis} of the {what}"))?;
                vec![self.dim(axis)]
            }
            Grain::Blocks(axis, block) if sizes.len() == shape.len() => {
                let mut index = self.dims(0..shape.len());
                index[axis] = cx.affine_binary(AffineOp::FloorDiv, index[axis], cx.affine_const(block));
                for (d, size) in shape.iter().enumerate() {
                    let wanted = if d == axis { size.as_ref().map(|size| size.ceildiv(block)) } else { size.clone() };
                    self.unify(&sizes[d], &wanted, || format!("numbers along dimension {d} of the {what}"))?;
                }
                index
            }
            _ => return fail(format!("the {what} has rank {}, which does not fit the scale", sizes.len())),
        };
        Ok(ComputeInput { value: parameter, index, oob: None })
    }

    /// Whether a tensor surely has one element.
    pub fn is_single(&self, x: Value) -> bool {
        self.shape(x).iter().all(|size| *size == Some(Poly::constant(1)))
    }

    /// A tensor of one element as one of rank 0; others are left.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn as_scalar(&mut self, x: Value) -> Built {
        let rank = self.rank(x);
        if rank == 0 || !self.is_single(x) { Ok(x) } else { self.squeeze(x, &(0..rank).collect::<Vec<_>>()) }
    }

    /// The product of matrices, as `product`, with the last two dimensions swapped where asked for, of the differences of elements and zero points, in 32-bit integers; in `f32` if one is of
    /// floats.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn shifted_product(&mut self, a: (Shifted, bool), b: (Shifted, bool)) -> Built {
        let wide = self.wide_of(a.0.value, b.0.value);
        let (value_a, shift_a) = self.settled(a.0, wide)?;
        let (value_b, shift_b) = self.settled(b.0, wide)?;
        let more = computed_shifts([shift_a, shift_b]);
        self.contraction((value_a, a.1), (value_b, b.1), wide, &more, |s, args| {
            let mut rest = args[2..].iter();
            let a = difference(s, args[0], shift_a, &mut rest, wide);
            let b = difference(s, args[1], shift_b, &mut rest, wide);
            s.mul(a, b)
        })
    }

    /// The convolution, as `conv`, of the differences of elements and zero points, in 32-bit integers. What is added around the input
    /// adds nothing.
    ///
    /// # Errors
    /// When shapes do not fit, or grouped channels are not known.
    pub fn shifted_conv(&mut self, x: Shifted, weight: Shifted, group: i64, window: &Window) -> Built {
        let wide = self.wide_of(x.value, weight.value);
        let (mut x, mut shift_x) = self.settled(x, wide)?;
        if let Shift::Computed(by) = shift_x {
            // What lies outside is no constant, so it is subtracted first.
            x = self.differences(x, by, wide)?;
            shift_x = Shift::None;
        }
        let (weight, shift_weight) = self.settled(weight, wide)?;
        let (cx, elem) = (self.cx(), self.elem(x));
        let outside = match shift_x {
            Shift::Known(value) => cx.int_attr(value, elem),
            _ => zero(cx, elem),
        };
        let more = computed_shifts([Shift::None, shift_weight]);
        self.windows_of((x, outside), weight, (group, window), wide, &more, |s, args| {
            let mut rest = args[2..].iter();
            let x = difference(s, args[0], shift_x, &mut rest, wide);
            let weight = difference(s, args[1], shift_weight, &mut rest, wide);
            s.mul(x, weight)
        })
    }

    /// The stored elements of type `to` that are nearest to `(sum + bias) * factor + zero`; `bias` and `factor` are broadcast, and the
    /// product is one of `f32`.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn requantize(
        &mut self,
        sum: Value,
        factor: Value,
        bias: Option<Value>,
        zero: Option<Value>,
        to: Type,
    ) -> Built {
        let operands: Vec<Value> = [Some(sum), Some(factor), bias, zero].into_iter().flatten().collect();
        self.elementwise(&operands, to, |s, args| {
            let sum = if bias.is_some() { s.add(args[0], args[2]) } else { args[0] };
            let (sum, factor) = (s.cast(sum, Type::F32), s.cast(args[1], Type::F32));
            let number = s.mul(sum, factor);
            stored(s, number, zero.map(|_| args[args.len() - 1]), to, true)
        })
    }

    /// `a * b / c` of tensors that are broadcast together; each is rounded to their type.
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn scale_ratio(&mut self, a: Value, b: Value, c: Value) -> Built {
        let elem = self.elem(a);
        self.elementwise(&[a, b, c], elem, |s, args| {
            let [a, b, c] = [0, 1, 2].map(|i| computed(s, args[i], elem));
            let product = s.mul(a, b);
            let product = computed(s, product, elem);
            let ratio = s.div(product, c);
            s.cast(ratio, elem)
        })
    }

    /// Scale and zero point with which 8 bits without sign hold all elements of `x`, and 0; then `x` so stored.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn quantize_by_range(&mut self, x: Value, to: Type) -> Built<[Value; 3]> {
        let (axes, elem): (Vec<usize>, Type) = ((0..self.rank(x)).collect(), self.elem(x));
        let bounded = |g: &mut Self, combiner| {
            let bound = g.reduce(x, &axes, false, combiner, elem, |_, x| x);
            g.map(bound, |s, bound| {
                let nothing = s.number(0.0, elem);
                if combiner == Combiner::Max { s.max(bound, nothing) } else { s.min(bound, nothing) }
            })
        };
        let (least, most) = (bounded(self, Combiner::Min)?, bounded(self, Combiner::Max)?);
        let steps = 255.0;
        let scale = self.elementwise(&[least, most], elem, |s, args| {
            let range = s.sub(args[1], args[0]);
            let (same, one, steps) =
                (s.compare(Comparison::Equal, args[0], args[1]), s.number(1.0, elem), s.number(steps, elem));
            let range = s.select(same, one, range);
            s.div(range, steps)
        })?;
        let zero = self.elementwise(&[least, scale], to, |s, args| {
            let (nothing, ratio) = (s.number(0.0, elem), s.div(args[0], args[1]));
            let number = s.sub(nothing, ratio);
            stored(s, number, None, to, true)
        })?;
        let scaling = Scaling { scale, zero: Some(zero), grain: Grain::Tensor };
        let stored = self.quantize(x, &scaling, to, elem, true)?;
        Ok([stored, scale, zero])
    }

    /// In which type products of two tensors are summed.
    fn wide_of(&self, a: Value, b: Value) -> Type {
        let float = [a, b].into_iter().any(|x| self.elem(x).is_float(self.cx()));
        if float { Type::F32 } else { Type::I32 }
    }

    /// The elements, and what is still to be subtracted from all: zero points that are not one for all are subtracted here.
    fn settled(&mut self, of: Shifted, wide: Type) -> Built<(Value, Shift)> {
        let Some(zero) = of.zero else { return Ok((of.value, Shift::None)) };
        match self.known_integer(zero) {
            Some(0) => return Ok((of.value, Shift::None)),
            Some(value) if self.elem(of.value) == self.elem(zero) => return Ok((of.value, Shift::Known(value))),
            _ => {}
        }
        if self.is_single(zero) {
            return Ok((of.value, Shift::Computed(self.as_scalar(zero)?)));
        }
        Ok((self.differences(of.value, zero, wide)?, Shift::None))
    }

    fn differences(&mut self, x: Value, zero: Value, wide: Type) -> Built {
        self.elementwise(&[x, zero], wide, |s, args| {
            let (x, zero) = (s.cast(args[0], wide), s.cast(args[1], wide));
            s.sub(x, zero)
        })
    }

    /// The integer that all elements of a constant are.
    fn known_integer(&self, value: Value) -> Option<i64> {
        let (cx, elem) = (self.cx(), self.elem(value));
        let constant = sutura_ir::registry::constant_of(self.b.body(), cx, value)?;
        let number = cx.as_int(cx.splat_value(constant)?)?;
        let bits = cx.bit_width(elem).filter(|bits| *bits < 64)?;
        Some(if is_unsigned(cx, elem) { number & ((1 << bits) - 1) } else { number })
    }
}

/// The tensors among what is subtracted.
fn computed_shifts(shifts: [Shift; 2]) -> Vec<Value> {
    let value = |shift| if let Shift::Computed(value) = shift { Some(value) } else { None };
    shifts.into_iter().filter_map(value).collect()
}

/// An element less its zero point; `rest` has those that are computed.
fn difference<'a>(
    s: &mut Scalars<'_, '_>,
    x: Value,
    shift: Shift,
    rest: &mut impl Iterator<Item = &'a Value>,
    wide: Type,
) -> Value {
    let x = s.cast(x, wide);
    let zero = match shift {
        Shift::None => return x,
        Shift::Known(value) => s.number(value as f64, wide),
        Shift::Computed(_) => {
            let zero = *rest.next().expect("one for each that is computed");
            s.cast(zero, wide)
        }
    };
    s.sub(x, zero)
}

/// The type in which numbers of a type are computed.
fn computed_type(cx: &Context, ty: Type) -> Type {
    policy(cx, ty).map_or(ty, |policy| cx.ty(policy.computed))
}

/// A number rounded to the type `of`, as it is computed with.
fn computed(s: &mut Scalars<'_, '_>, x: Value, of: Type) -> Value {
    let wide = computed_type(s.cx(), of);
    let narrow = s.cast(x, of);
    s.cast(narrow, wide)
}

/// The stored element nearest to `x + zero`.
fn stored(s: &mut Scalars<'_, '_>, x: Value, zero: Option<Value>, to: Type, saturate: bool) -> Value {
    if to.is_float(s.cx()) {
        return stored_float(s, x, zero, to, saturate);
    }
    let (ty, wide) = (s.ty(x), Type::I32);
    let round = s.math("math.roundeven", x);
    // NaN is no integer. It becomes what zero becomes.
    let (known, nothing) = (s.compare(Comparison::Equal, round, round), s.number(0.0, ty));
    let round = s.select(known, round, nothing);
    let (least, most) = (s.number(-BEYOND, ty), s.number(BEYOND, ty));
    let below = s.min(round, most);
    let within = s.max(below, least);
    let mut integer = s.cast(within, wide);
    if let Some(zero) = zero {
        let zero = s.cast(zero, wide);
        integer = s.add(integer, zero);
    }
    let (least, most) = bounds(s.cx(), to);
    let (least, most) = (s.int(least, wide), s.int(most, wide));
    let above = s.max(integer, least);
    let kept = s.min(above, most);
    s.cast(kept, to)
}

/// The least and the greatest integer of a type of less than 32 bits.
fn bounds(cx: &Context, ty: Type) -> (i64, i64) {
    let bits = cx.bit_width(ty).unwrap_or(8).min(31);
    if is_unsigned(cx, ty) { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

/// The float of at most 8 bits nearest to `x + zero`. A sum with the zero point 0 keeps the sign of zero in types of 8 bits, for which
/// ONNX has no other zero point.
fn stored_float(s: &mut Scalars<'_, '_>, x: Value, zero: Option<Value>, to: Type, saturate: bool) -> Value {
    let ty = s.ty(x);
    let mut number = x;
    let bits = s.cx().bit_width(to).unwrap_or(8);
    if let Some(zero) = zero {
        let (zero, nothing) = (s.cast(zero, ty), s.number(0.0, ty));
        let sum = s.add(x, zero);
        let none = s.compare(Comparison::Equal, zero, nothing);
        number = if bits == 8 { s.select(none, x, sum) } else { sum };
    }
    if let (TypeData::Float(kind), true) = (s.cx().type_data(to), saturate || bits < 8) {
        let (least, most) = (s.number(-largest(kind), ty), s.number(largest(kind), ty));
        let above = s.max(number, least);
        number = s.min(above, most);
    }
    s.cast(number, to)
}
