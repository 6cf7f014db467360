//! Images read at points that other tensors say.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_ir::{Type, Value};

use super::super::super::convert::{Importer, Made, fail, wrong};
use super::{clamped, cubic_far, cubic_near};

/// How many elements around a point count, along each dim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Taps {
    Nearest,
    Linear,
    Cubic,
}

/// What is read outside the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Beyond {
    Zeros,
    /// The nearest element; a point is moved there from beyond the middle of outer elements, or from beyond their outer edge.
    Border {
        corners: bool,
    },
    /// The image, mirrored at the middle of its outer elements, or at their outer edge.
    Reflection {
        corners: bool,
    },
}

/// How images are read.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Sampler {
    pub(in super::super) taps: Taps,
    pub(in super::super) beyond: Beyond,
    /// How what the elements around a point contribute is joined.
    pub(in super::super) join: Combiner,
}

impl Taps {
    fn count(self) -> i64 {
        match self {
            Self::Nearest => 1,
            Self::Linear => 2,
            Self::Cubic => 4,
        }
    }

    /// The element before the others, from the one before the point.
    fn first(self) -> i64 {
        if self == Self::Cubic { -1 } else { 0 }
    }
}

/// One dim of a point, as numbers.
#[derive(Clone, Copy)]
struct Along {
    /// What counts of the element.
    weight: Value,
    /// Whether it lies inside the image.
    inside: Value,
    /// The index that is read.
    index: Value,
}

/// What a table holds of each element around each point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Index,
    Weight,
    Inside,
}

/// The points at which images are read.
struct Points<'a> {
    /// The place along each spatial dim, in elements: tensors of one shape.
    at: &'a [Value],
    /// Which image, for each index of the first dim of points; without it, the one of that index.
    image: Option<Value>,
    /// Sizes of the spatial dims.
    sizes: &'a [Poly],
}

impl Sampler {
    /// Elements of `x: [images, channels, spatial…]` at points: the dims of the points, then channels. Elements are of the type in
    /// which they are accumulated, or of their own where the nearest one is read.
    ///
    /// # Errors
    /// When sizes are not known, or elements are no floats and are interpolated.
    pub(in super::super) fn read(
        &self,
        importer: &mut Importer<'_, '_, '_>,
        x: Value,
        at: &[Value],
        image: Option<Value>,
    ) -> Made {
        let (elem, shape) = (importer.g.elem(x), importer.g.shape(x));
        let Some(sizes) = shape.into_iter().collect::<Option<Vec<Poly>>>() else {
            return fail("reads a tensor whose size depends on data");
        };
        if sizes.len() != at.len() + 2 || at.is_empty() {
            return wrong(format!("reads a tensor of rank {} at points of {} dims", sizes.len(), at.len()));
        }
        if self.taps != Taps::Nearest && !elem.is_float(importer.cx()) {
            return fail("interpolates elements that are no floats; only the nearest one is read of those");
        }
        let (images, channels, pixels) = (&sizes[0], &sizes[1], Poly::product(&sizes[2..]));
        let parts = [images, channels, &pixels].map(|size| Some(size.clone()));
        let planes = importer.g.reshape_to(x, &parts)?;
        let planes = importer.g.transpose(planes, &[0, 2, 1])?;
        let rows = importer.g.reshape_to(planes, &[Some(images.mul(&pixels)), Some(channels.clone())])?;
        let points = Points { at, image, sizes: &sizes[2..] };
        let index = self.table(importer, &points, Table::Index)?;
        let elements = importer.g.gather(rows, index, 0);
        let inside = match self.beyond {
            Beyond::Zeros => Some(self.table(importer, &points, Table::Inside)?),
            _ => None,
        };
        if self.taps == Taps::Nearest {
            return self.nearest(importer, elements, inside);
        }
        let weights = self.table(importer, &points, Table::Weight)?;
        self.weighted(importer, elements, weights, inside)
    }

    /// The only element at each point, where it lies inside.
    fn nearest(&self, importer: &mut Importer<'_, '_, '_>, elements: Value, inside: Option<Value>) -> Made {
        let (mut shape, elem) = (importer.g.shape(elements), importer.g.elem(elements));
        let rank = shape.len() - 1;
        let channels = shape.remove(rank - 1);
        shape.truncate(rank - 1);
        shape.push(importer.g.shape(elements)[rank].clone());
        debug_assert_eq!(channels, Some(1.into()));
        let zero = importer.cx().affine_const(0);
        let mut index = importer.g.dims(0..rank - 1);
        index.push(zero);
        let mut inputs = vec![ComputeInput {
            value: elements,
            index: index.iter().copied().chain([importer.g.dim(rank - 1)]).collect(),
            oob: None,
        }];
        inputs.extend(inside.map(|value| ComputeInput { value, index, oob: None }));
        let result = ComputeResult { shape, elem, index: importer.g.dims(0..rank), combiner: None };
        let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| {
            vec![match args {
                [element, inside] => {
                    let zero = s.number(0.0, elem);
                    s.select(*inside, *element, zero)
                }
                _ => args[0],
            }]
        });
        Ok(importer.g.b.body().result(op, 0))
    }

    /// The elements around each point, weighted and joined.
    fn weighted(
        &self,
        importer: &mut Importer<'_, '_, '_>,
        elements: Value,
        weights: Value,
        inside: Option<Value>,
    ) -> Made {
        let wide = accumulator_type(importer.cx(), importer.g.elem(elements));
        let all = importer.g.shape(elements);
        let rank = all.len() - 2;
        // Iterators: dims of points, channels, elements around the point.
        let mut shape = all[..rank].to_vec();
        shape.push(all[rank + 1].clone());
        let points = importer.g.dims(0..rank);
        let around: Vec<_> = points.iter().copied().chain([importer.g.dim(rank + 1)]).collect();
        let element = around.iter().copied().chain([importer.g.dim(rank)]).collect();
        let mut inputs = vec![
            ComputeInput { value: elements, index: element, oob: None },
            ComputeInput { value: weights, index: around.clone(), oob: None },
        ];
        inputs.extend(inside.map(|value| ComputeInput { value, index: around, oob: None }));
        let mut kinds = vec![IteratorKind::Parallel; rank + 1];
        kinds.push(IteratorKind::Reduce);
        let index = importer.g.dims(0..rank + 1);
        let result = ComputeResult { shape, elem: wide, index, combiner: Some(self.join) };
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let (element, weight) = (s.cast(args[0], wide), s.cast(args[1], wide));
            let product = s.mul(element, weight);
            vec![match args.get(2) {
                Some(inside) => {
                    let zero = s.number(0.0, wide);
                    s.select(*inside, product, zero)
                }
                None => product,
            }]
        });
        Ok(importer.g.b.body().result(op, 0))
    }

    /// A table of all elements around all points, which are its last dim.
    fn table(&self, importer: &mut Importer<'_, '_, '_>, points: &Points<'_>, table: Table) -> Made {
        let (mut shape, place) = (importer.g.shape(points.at[0]), importer.g.elem(points.at[0]));
        let rank = shape.len();
        let count = self.taps.count().pow(points.at.len() as u32);
        shape.push(Some(count.into()));
        let elem = match table {
            Table::Index => Type::I64,
            Table::Weight => place,
            Table::Inside => Type::I1,
        };
        let index = importer.g.dims(0..rank);
        let input = |value: &Value| ComputeInput { value: *value, index: index.clone(), oob: None };
        let mut inputs: Vec<ComputeInput> = points.at.iter().map(input).collect();
        let image = points.image.filter(|_| table == Table::Index);
        inputs.extend(image.map(|value| ComputeInput { value, index: importer.g.dims(0..1), oob: None }));
        let result = ComputeResult { shape, elem, index: importer.g.dims(0..rank + 1), combiner: None };
        let kinds = vec![IteratorKind::Parallel; rank + 1];
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let along = self.along(s, &args[..points.at.len()], points.sizes, rank);
            let joined = |s: &mut Scalars<'_, '_>, name: &str, part: fn(&Along) -> Value| {
                let parts: Vec<Value> = along.iter().map(part).collect();
                parts.into_iter().reduce(|a, b| s.op(name, &[a, b], s.ty(a))).expect("a point has dims")
            };
            vec![match table {
                Table::Inside => joined(s, "arith.andi", |along| along.inside),
                Table::Weight => joined(s, "arith.mulf", |along| along.weight),
                Table::Index => {
                    let mut flat = match args.get(points.at.len()) {
                        Some(image) => s.cast(*image, Type::I64),
                        None => {
                            let image = s.index(0);
                            s.cast(image, Type::I64)
                        }
                    };
                    for (along, size) in along.iter().zip(points.sizes) {
                        let size = s.size(size);
                        let size = s.cast(size, Type::I64);
                        let rows = s.mul(flat, size);
                        flat = s.add(rows, along.index);
                    }
                    flat
                }
            }]
        });
        Ok(importer.g.b.body().result(op, 0))
    }

    /// What the element that the last iterator counts is along each dim.
    fn along(&self, s: &mut Scalars<'_, '_>, at: &[Value], sizes: &[Poly], last: usize) -> Vec<Along> {
        let count = s.int(self.taps.count(), Type::INDEX);
        let mut rest = s.index(last);
        let mut along = Vec::new();
        for (at, size) in at.iter().zip(sizes).rev() {
            let number = s.rem(rest, count);
            rest = s.div(rest, count);
            let ty = s.ty(*at);
            let size = s.size(size);
            let (number, size) = (s.cast(number, ty), s.cast(size, ty));
            along.push(self.tap(s, *at, number, size));
        }
        along.reverse();
        along
    }

    fn tap(&self, s: &mut Scalars<'_, '_>, at: Value, number: Value, size: Value) -> Along {
        let ty = s.ty(at);
        let (zero, one) = (s.number(0.0, ty), s.number(1.0, ty));
        let at = if self.taps == Taps::Nearest { s.math("math.roundeven", at) } else { at };
        let at = self.within(s, at, size);
        let floor = s.math("math.floor", at);
        let first = s.number(self.taps.first() as f64, ty);
        let tap = s.add(floor, first);
        let tap = s.add(tap, number);
        let distance = s.sub(at, tap);
        let distance = s.abs(distance);
        let weight = match self.taps {
            Taps::Nearest => one,
            Taps::Linear => s.sub(one, distance),
            Taps::Cubic => {
                let (near, far) = (cubic_near(s, distance, -0.75), cubic_far(s, distance, -0.75));
                let is_near = s.compare(Comparison::LessOrEqual, distance, one);
                s.select(is_near, near, far)
            }
        };
        let (low, high) = (s.compare(Comparison::GreaterOrEqual, tap, zero), s.compare(Comparison::Less, tap, size));
        let inside = s.bits("arith.andi", low, high);
        let read = match self.beyond {
            Beyond::Reflection { corners } => {
                let mirrored = reflected(s, tap, size, corners);
                s.math("math.trunc", mirrored)
            }
            _ => tap,
        };
        let index = clamped(s, read, size);
        Along { weight, inside, index }
    }

    /// A point outside the image, beyond half an element, where it is read.
    fn within(&self, s: &mut Scalars<'_, '_>, at: Value, size: Value) -> Value {
        let ty = s.ty(at);
        let (zero, one) = (s.number(0.0, ty), s.number(1.0, ty));
        match self.beyond {
            Beyond::Zeros => at,
            // A cubic keeps its point, as in PyTorch and onnxruntime: only what it reads lies at the border.
            Beyond::Border { .. } if self.taps == Taps::Cubic => at,
            Beyond::Reflection { corners } => reflected(s, at, size, corners),
            Beyond::Border { corners } => {
                let last = s.sub(size, one);
                let (least, most) = edges(s, size, corners);
                let (is_below, is_above) =
                    (s.compare(Comparison::Less, at, least), s.compare(Comparison::Greater, at, most));
                let at = s.select(is_below, zero, at);
                s.select(is_above, last, at)
            }
        }
    }
}

/// The middle of the outer elements of a dim, or their outer edges.
fn edges(s: &mut Scalars<'_, '_>, size: Value, corners: bool) -> (Value, Value) {
    let ty = s.ty(size);
    let (zero, one, half) = (s.number(0.0, ty), s.number(1.0, ty), s.number(0.5, ty));
    match corners {
        true => (zero, s.sub(size, one)),
        false => (s.sub(zero, half), s.sub(size, half)),
    }
}

/// A place mirrored at the edges of a dim until it lies between them.
fn reflected(s: &mut Scalars<'_, '_>, at: Value, size: Value, corners: bool) -> Value {
    let ty = s.ty(at);
    let (zero, one) = (s.number(0.0, ty), s.number(1.0, ty));
    let (least, most) = edges(s, size, corners);
    let length = s.sub(most, least);
    let (below, above) = (s.sub(least, at), s.sub(at, most));
    let is_below = s.compare(Comparison::Less, at, least);
    let is_above = s.compare(Comparison::Greater, at, most);
    let beyond = s.select(is_below, below, above);
    let single = s.compare(Comparison::LessOrEqual, length, zero);
    let divisor = s.select(single, one, length);
    let turns = s.div(beyond, divisor);
    let turns = s.math("math.trunc", turns);
    let whole = s.mul(turns, divisor);
    let rest = s.sub(beyond, whole);
    let (two, up, down) = (s.number(2.0, ty), s.add(least, rest), s.sub(most, rest));
    let pairs = s.div(turns, two);
    let floor = s.math("math.floor", pairs);
    let even = s.compare(Comparison::Equal, pairs, floor);
    // From below an even number of turns goes up from the least, from above down from the most.
    let from_below = s.select(even, up, down);
    let from_above = s.select(even, down, up);
    let mirrored = s.select(is_below, from_below, from_above);
    let mirrored = s.select(single, least, mirrored);
    let outside = s.bits("arith.ori", is_below, is_above);
    s.select(outside, mirrored, at)
}
