//! Which elements of the input make an element of the result, and how much of each.

use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_ir::{Type, Value};

use super::super::super::convert::{Importer, Made};
use super::super::sampling::{clamped, cubic_far, cubic_near};
use super::coordinates::{Place, Places};

/// Which element is the nearest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    Floor,
    Ceil,
    PreferFloor,
    PreferCeil,
    /// What old versions do: up where the result is smaller than the input, else down.
    Simple,
}

impl Rounding {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "floor" => Self::Floor,
            "ceil" => Self::Ceil,
            "round_prefer_floor" => Self::PreferFloor,
            "round_prefer_ceil" => Self::PreferCeil,
            _ => return None,
        })
    }

    fn round(self, s: &mut Scalars<'_, '_>, place: Place) -> Value {
        let Place { at, scale, .. } = place;
        let ty = s.ty(at);
        let floor = s.math("math.floor", at);
        let past_half = |s: &mut Scalars<'_, '_>, than: Comparison| {
            // Adding one half could round to the next whole number.
            let (half, zero, one) = (s.number(0.5, ty), s.number(0.0, ty), s.number(1.0, ty));
            let rest = s.sub(at, floor);
            let past = s.compare(than, rest, half);
            let more = s.select(past, one, zero);
            s.add(floor, more)
        };
        match self {
            Self::Floor => floor,
            Self::Ceil => s.math("math.ceil", at),
            Self::PreferFloor => past_half(s, Comparison::Greater),
            Self::PreferCeil => past_half(s, Comparison::GreaterOrEqual),
            Self::Simple => {
                let (one, ceil) = (s.number(1.0, ty), s.math("math.ceil", at));
                let smaller = s.compare(Comparison::Less, scale, one);
                s.select(smaller, ceil, floor)
            }
        }
    }
}

/// What makes an element of the result from those around its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Filter {
    Nearest(Rounding),
    Linear { antialias: bool, exclude: bool },
    Cubic { a: f32, antialias: bool, exclude: bool },
}

impl Filter {
    /// The tensor resized along a dim, with elements of type `wide`.
    pub(super) fn apply(self, importer: &mut Importer<'_, '_, '_>, x: Value, wide: Type, places: &Places<'_>) -> Made {
        let (support, antialias) = match self {
            Self::Nearest(rounding) => {
                let at = places.table(importer, None, Type::I64, |s, place| {
                    let at = rounding.round(s, place);
                    clamped(s, at, place.input)
                })?;
                return Ok(importer.g.gather(x, at, places.axis.dim));
            }
            Self::Linear { antialias, .. } => (1, antialias),
            Self::Cubic { antialias, .. } => (2, antialias),
        };
        match antialias {
            true => self.antialiased(importer, x, wide, places, support),
            false => self.few(importer, x, wide, places, support),
        }
    }

    fn excludes(self) -> bool {
        matches!(self, Self::Linear { exclude: true, .. } | Self::Cubic { exclude: true, .. })
    }

    /// A sum of `2 * support` elements, each gathered.
    fn few(self, importer: &mut Importer<'_, '_, '_>, x: Value, wide: Type, places: &Places<'_>, support: i64) -> Made {
        let (dim, mut inputs) = (places.axis.dim, Vec::new());
        let (rank, mut shape) = (importer.g.rank(x), importer.g.shape(x));
        let offsets = 1 - support..=support;
        for offset in offsets.clone() {
            let at = places.table(importer, None, Type::I64, |s, place| {
                let at = neighbour(s, place, offset);
                clamped(s, at, place.input)
            })?;
            let value = importer.g.gather(x, at, dim);
            inputs.push(ComputeInput { value, index: importer.g.dims(0..rank), oob: None });
        }
        let count = inputs.len();
        for offset in offsets.clone() {
            let value = places.table(importer, None, wide, |s, place| {
                let weight = self.weight(s, place, offset);
                let weight = if self.excludes() {
                    let mut sum = s.number(0.0, s.ty(weight));
                    for other in offsets.clone() {
                        let weight = self.weight(s, place, other);
                        sum = s.add(sum, weight);
                    }
                    normal(s, weight, sum)
                } else {
                    weight
                };
                s.cast(weight, wide)
            })?;
            inputs.push(ComputeInput { value, index: importer.g.dims(dim..dim + 1), oob: None });
        }
        shape[dim] = Some(places.axis.output.clone());
        let result = ComputeResult { shape, elem: wide, index: importer.g.dims(0..rank), combiner: None };
        let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
            let (elements, weights) = args.split_at(count);
            let products = elements.iter().zip(weights).map(|(element, weight)| {
                let element = s.cast(*element, wide);
                s.mul(element, *weight)
            });
            let products: Vec<Value> = products.collect();
            vec![products.into_iter().reduce(|a, b| s.add(a, b)).expect("a filter has elements")]
        });
        Ok(importer.g.b.body().result(op, 0))
    }

    /// The weight of the element so many behind the one before the place.
    fn weight(self, s: &mut Scalars<'_, '_>, place: Place, offset: i64) -> Value {
        let ty = s.ty(place.at);
        let (floor, one) = (s.math("math.floor", place.at), s.number(1.0, ty));
        let part = s.sub(place.at, floor);
        let distance = match offset {
            ..=0 => {
                let back = s.number(-offset as f64, ty);
                s.add(part, back)
            }
            _ => {
                let on = s.number(offset as f64, ty);
                s.sub(on, part)
            }
        };
        let weight = match self {
            Self::Cubic { a, .. } if (0..=1).contains(&offset) => cubic_near(s, distance, f64::from(a)),
            Self::Cubic { a, .. } => cubic_far(s, distance, f64::from(a)),
            _ => s.sub(one, distance),
        };
        if !self.excludes() {
            return weight;
        }
        let at = neighbour(s, place, offset);
        self.unless_outside(s, at, place, weight)
    }

    /// The weight, or 0 for an element outside the input if such ones do not count.
    fn unless_outside(self, s: &mut Scalars<'_, '_>, at: Value, place: Place, weight: Value) -> Value {
        if !self.excludes() {
            return weight;
        }
        let zero = s.number(0.0, s.ty(weight));
        let (low, high) =
            (s.compare(Comparison::Less, at, zero), s.compare(Comparison::GreaterOrEqual, at, place.input));
        let outside = s.bits("arith.ori", low, high);
        s.select(outside, zero, weight)
    }

    /// The filter is as wide as an element of the result: a sum over all elements under it, whose weights are divided by their sum.
    fn antialiased(
        self,
        importer: &mut Importer<'_, '_, '_>,
        x: Value,
        wide: Type,
        places: &Places<'_>,
        support: i64,
    ) -> Made {
        let (dim, rank) = (places.axis.dim, importer.g.rank(x));
        let reach = importer.g.env.facts.canonical(&places.axis.reach(support));
        let taps = reach.scale(2);
        let at = |s: &mut Scalars<'_, '_>, place: Place| {
            let (k, before) = (s.index(1), s.size(&reach.sub(&1.into())));
            let k = s.sub(k, before);
            let k = s.cast(k, s.ty(place.at));
            let floor = s.math("math.floor", place.at);
            s.add(floor, k)
        };
        let indices = places.table(importer, Some(taps.clone()), Type::I64, |s, place| {
            let at = at(s, place);
            clamped(s, at, place.input)
        })?;
        let ty = places.ty;
        let weights = places.table(importer, Some(taps), ty, |s, place| {
            let (at, one) = (at(s, place), s.number(1.0, ty));
            let (scale, distance) = (s.min(place.scale, one), s.sub(at, place.at));
            let distance = s.mul(distance, scale);
            let distance = s.abs(distance);
            let weight = self.of_distance(s, distance);
            self.unless_outside(s, at, place, weight)
        })?;
        let sums = importer.g.reduce(weights, &[1], true, Combiner::Add, ty, |_, weight| weight);
        let weights = importer.g.elementwise(&[weights, sums], wide, |s, args| {
            let weight = normal(s, args[0], args[1]);
            s.cast(weight, wide)
        })?;
        // The elements under the filter become a dim behind the one that is resized.
        let elements = importer.g.gather(x, indices, dim);
        let mut shape = importer.g.shape(elements);
        shape.remove(dim + 1);
        let parallel = |d: usize| if d == dim + 1 { IteratorKind::Reduce } else { IteratorKind::Parallel };
        let kinds: Vec<IteratorKind> = (0..=rank).map(parallel).collect();
        let inputs = vec![
            ComputeInput { value: elements, index: importer.g.dims(0..rank + 1), oob: None },
            ComputeInput { value: weights, index: importer.g.dims(dim..dim + 2), oob: None },
        ];
        let index = (0..=rank).filter(|d| *d != dim + 1).map(|d| importer.g.dim(d)).collect();
        let result = ComputeResult { shape, elem: wide, index, combiner: Some(Combiner::Add) };
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let element = s.cast(args[0], wide);
            vec![s.mul(element, args[1])]
        });
        Ok(importer.g.b.body().result(op, 0))
    }

    /// The weight at a distance, which is not negative.
    fn of_distance(self, s: &mut Scalars<'_, '_>, distance: Value) -> Value {
        let ty = s.ty(distance);
        let (zero, one, two) = (s.number(0.0, ty), s.number(1.0, ty), s.number(2.0, ty));
        let Self::Cubic { a, .. } = self else {
            let weight = s.sub(one, distance);
            return s.max(weight, zero);
        };
        let a = f64::from(a);
        let (inner, outer) = (cubic_near(s, distance, a), cubic_far(s, distance, a));
        let (near, within) =
            (s.compare(Comparison::LessOrEqual, distance, one), s.compare(Comparison::Less, distance, two));
        let far = s.select(within, outer, zero);
        s.select(near, inner, far)
    }
}

/// The element so many behind the one before the place.
fn neighbour(s: &mut Scalars<'_, '_>, place: Place, offset: i64) -> Value {
    let floor = s.math("math.floor", place.at);
    let offset = s.number(offset as f64, s.ty(floor));
    s.add(floor, offset)
}

/// `weight / sum`, or the weight itself where all are 0.
fn normal(s: &mut Scalars<'_, '_>, weight: Value, sum: Value) -> Value {
    let ty = s.ty(sum);
    let (zero, one) = (s.number(0.0, ty), s.number(1.0, ty));
    let nothing = s.compare(Comparison::Equal, sum, zero);
    let divisor = s.select(nothing, one, sum);
    s.div(weight, divisor)
}
