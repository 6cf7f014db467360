//! Regions of images, pooled to one size.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::sampling::{Beyond, Sampler, Taps, rounded};
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("MaxRoiPool", max_roi_pool), ("RoiAlign", roi_align)];

/// The mean or the largest of what is read at points of each part of each region.
#[derive(Debug)]
struct RoiAlign<'m> {
    x: &'m str,
    regions: &'m str,
    images: &'m str,
    /// Parts along the height and the width, and points of each along either.
    parts: [i64; 2],
    points: i64,
    scale: f32,
    /// Regions begin at the middle of an element.
    half_pixel: bool,
    largest: bool,
}

fn roi_align<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let parts = [r.int("output_height")?, r.int("output_width")?];
    let points = r.int("sampling_ratio")?;
    if parts.iter().any(|part| !(1..1 << 31).contains(part)) || !(0..1 << 15).contains(&points) {
        return Err(format!("has parts of {parts:?} and {points} points along each").into());
    }
    if points == 0 {
        return Err(unsupported(
            "has a `sampling_ratio` of 0: how many points are read depends on data; give a number",
        ));
    }
    let half_pixel = match r.string("coordinate_transformation_mode")?.unwrap_or("output_half_pixel") {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => return Err(format!("attribute `coordinate_transformation_mode` is '{other}'").into()),
    };
    let largest = match r.string("mode")?.unwrap_or("avg") {
        "avg" => false,
        "max" => true,
        other => return Err(format!("attribute `mode` is '{other}', it must be avg or max").into()),
    };
    let (x, regions, images) = (r.input(0)?, r.input(1)?, r.input(2)?);
    let scale = r.float("spatial_scale")?;
    Ok(Conversion::op(RoiAlign { x, regions, images, parts, points, scale, half_pixel, largest }))
}

/// That a tensor has regions as rows of so many numbers.
fn check_regions(importer: &mut Importer<'_, '_, '_>, x: Value, regions: Value, numbers: i64) -> Made<Option<Poly>> {
    let (rank, rows) = (importer.g.rank(x), importer.g.shape(regions));
    if rank != 4 || rows.len() != 2 {
        return wrong(format!(
            "takes regions of rank {} of images of rank {rank}; they must be of rank 2 and 4",
            rows.len()
        ));
    }
    importer.g.unify(&rows[1], &Some(numbers.into()), || "numbers of a region".into())?;
    Ok(rows[0].clone())
}

impl<'m> Convert<'m> for RoiAlign<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, regions) = (importer.value(self.x)?, importer.value(self.regions)?);
        let (images, elem) = (importer.value(self.images)?, importer.g.elem(x));
        let count = check_regions(importer, x, regions, 4)?;
        if importer.g.rank(images) != 1 {
            return wrong("takes a list of images");
        }
        let listed = importer.g.shape(images)[0].clone();
        importer.g.unify(&count, &listed, || "regions and their images".into())?;
        let sizes = importer.g.shape(x);
        let wide = accumulator_type(importer.cx(), elem);
        // Dims of the points: regions, parts and points along the height, then along the width.
        let lengths = [self.parts[0], self.points, self.parts[1], self.points].map(|n| Some(Poly::constant(n)));
        let shape: Vec<Option<Poly>> = std::iter::once(count).chain(lengths).collect();
        let place = |importer: &mut Importer<'m, '_, '_>, d: usize, of: Type| {
            let number = |at: usize| vec![importer.g.dim(0), importer.cx().affine_const(at as i64)];
            let inputs = [1 - d, 3 - d].map(|at| ComputeInput { value: regions, index: number(at), oob: None });
            let result = ComputeResult { shape: shape.clone(), elem: of, index: importer.g.dims(0..5), combiner: None };
            let size = sizes[2 + d].clone().unwrap_or_default();
            let op = importer.g.compute(&[IteratorKind::Parallel; 5], inputs.to_vec(), vec![result], |s, args| {
                let ends = [s.cast(args[0], wide), s.cast(args[1], wide)];
                let at = self.place(s, ends, d);
                vec![if of == Type::I1 { inside(s, at, &size) } else { at }]
            });
            importer.g.b.body().result(op, 0)
        };
        let at = [place(importer, 0, wide), place(importer, 1, wide)];
        let counts = [place(importer, 0, Type::I1), place(importer, 1, Type::I1)];
        let join = if self.largest { Combiner::Max } else { Combiner::Add };
        let sampler = Sampler { taps: Taps::Linear, beyond: Beyond::Border { corners: true }, join };
        let read = sampler.read(importer, x, &at, Some(images))?;
        let made = self.pooled(importer, read, counts, wide);
        Ok(vec![rounded(importer, made, elem)?])
    }
}

impl RoiAlign<'_> {
    /// The place of a point along the height or the width, where the iterators behind the regions count parts and points.
    fn place(&self, s: &mut Scalars<'_, '_>, ends: [Value; 2], d: usize) -> Value {
        let ty = s.ty(ends[0]);
        let (scale, half, one) = (s.number(self.scale.into(), ty), s.number(0.5, ty), s.number(1.0, ty));
        let end = |s: &mut Scalars<'_, '_>, end: Value| {
            let end = s.mul(end, scale);
            if self.half_pixel { s.sub(end, half) } else { end }
        };
        let (start, stop) = (end(s, ends[0]), end(s, ends[1]));
        let length = s.sub(stop, start);
        let length = if self.half_pixel { length } else { s.max(length, one) };
        let (parts, points) = (s.number(self.parts[d] as f64, ty), s.number(self.points as f64, ty));
        let part_length = s.div(length, parts);
        let (part, point) = (s.index(1 + 2 * d), s.index(2 + 2 * d));
        let (part, point) = (s.cast(part, ty), s.cast(point, ty));
        let before = s.mul(part, part_length);
        let middle = s.add(point, half);
        let within = s.mul(middle, part_length);
        let within = s.div(within, points);
        let at = s.add(start, before);
        s.add(at, within)
    }

    /// What is read at the points of a part, as one element of `[regions, channels, height, width]`.
    fn pooled(&self, importer: &mut Importer<'_, '_, '_>, read: Value, counts: [Value; 2], wide: Type) -> Value {
        let all = importer.g.shape(read);
        // Iterators: regions, channels, parts, then points.
        let g = &importer.g;
        let point = [0, 2, 4, 3, 5].map(|d| g.dim(d)).to_vec();
        let element = point.iter().copied().chain([g.dim(1)]).collect();
        let input = |value: Value| ComputeInput { value, index: point.clone(), oob: None };
        let mut inputs = vec![ComputeInput { value: read, index: element, oob: None }];
        inputs.extend(counts.map(input));
        let shape = [0, 5, 1, 3].map(|d: usize| all[d].clone()).to_vec();
        let combiner = Some(if self.largest { Combiner::Max } else { Combiner::Add });
        let result = ComputeResult { shape, elem: wide, index: g.dims(0..4), combiner };
        let mut kinds = vec![IteratorKind::Parallel; 4];
        kinds.resize(6, IteratorKind::Reduce);
        let points = (self.points * self.points) as f64;
        let largest = self.largest;
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let zero = s.number(0.0, wide);
            let inside = s.bits("arith.andi", args[1], args[2]);
            let element = s.select(inside, args[0], zero);
            if largest {
                return vec![element];
            }
            let count = s.number(points, wide);
            vec![s.div(element, count)]
        });
        importer.g.b.body().result(op, 0)
    }
}

/// Whether a point counts: one beyond a whole element outside does not.
fn inside(s: &mut Scalars<'_, '_>, at: Value, size: &Poly) -> Value {
    let ty = s.ty(at);
    let size = s.size(size);
    let (size, least) = (s.cast(size, ty), s.number(-1.0, ty));
    let (low, high) = (s.compare(Comparison::GreaterOrEqual, at, least), s.compare(Comparison::LessOrEqual, at, size));
    s.bits("arith.andi", low, high)
}

/// The largest element of each part of each region, of whole elements; 0 of a part that has none.
#[derive(Debug)]
struct MaxRoiPool<'m> {
    x: &'m str,
    regions: &'m str,
    parts: [i64; 2],
    scale: f32,
}

fn max_roi_pool<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let Some(&[height, width]) = r.ints("pooled_shape") else {
        return Err("`pooled_shape` must have two sizes".into());
    };
    if [height, width].iter().any(|part| !(1..1 << 31).contains(part)) {
        return Err(format!("has the `pooled_shape` {height}, {width}").into());
    }
    let scale = r.float("spatial_scale")?;
    Ok(Conversion::op(MaxRoiPool { x: r.input(0)?, regions: r.input(1)?, parts: [height, width], scale }))
}

impl<'m> Convert<'m> for MaxRoiPool<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, regions) = (importer.value(self.x)?, importer.value(self.regions)?);
        check_regions(importer, x, regions, 5)?;
        let number = |importer: &mut Importer<'m, '_, '_>, at: i64, elem: Type| {
            let rows = importer.g.shape(regions)[..1].to_vec();
            let index = vec![importer.g.dim(0), importer.cx().affine_const(at)];
            let inputs = vec![ComputeInput { value: regions, index, oob: None }];
            let result = ComputeResult { shape: rows, elem, index: importer.g.dims(0..1), combiner: None };
            let op = importer
                .g
                .compute(&[IteratorKind::Parallel], inputs, vec![result], |s, args| vec![s.cast(args[0], elem)]);
            importer.g.b.body().result(op, 0)
        };
        let images = number(importer, 0, Type::I64);
        let mut made = importer.g.gather(x, images, 0);
        // Along the height, then along the width: a part of a region has the largest of its rows.
        for d in 0..2 {
            let ends = [2 - d as i64, 4 - d as i64].map(|at| number(importer, at, importer.g.elem(regions)));
            made = self.along(importer, made, ends, d);
        }
        let elem = importer.g.elem(made);
        let least = Combiner::Max.identity(importer.cx(), elem);
        Ok(vec![importer.g.map(made, |s, x| {
            let (least, zero) = (s.constant(least, elem), s.number(0.0, elem));
            let nothing = s.compare(Comparison::Equal, x, least);
            s.select(nothing, zero, x)
        })?])
    }
}

impl MaxRoiPool<'_> {
    /// The largest elements of the parts along dim `2 + d`.
    fn along(&self, importer: &mut Importer<'_, '_, '_>, x: Value, ends: [Value; 2], d: usize) -> Value {
        let (mut shape, elem) = (importer.g.shape(x), importer.g.elem(x));
        shape[2 + d] = Some(self.parts[d].into());
        let mut index = importer.g.dims(0..4);
        index[2 + d] = importer.g.dim(4);
        let mut inputs = vec![ComputeInput { value: x, index, oob: None }];
        inputs.extend(ends.map(|value| ComputeInput { value, index: importer.g.dims(0..1), oob: None }));
        let mut kinds = vec![IteratorKind::Parallel; 4];
        kinds.push(IteratorKind::Reduce);
        let index = importer.g.dims(0..4);
        let result = ComputeResult { shape, elem, index, combiner: Some(Combiner::Max) };
        let least = Combiner::Max.identity(importer.cx(), elem);
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let least = s.constant(least, elem);
            let within = self.within(s, [args[1], args[2]], d);
            vec![s.select(within, args[0], least)]
        });
        importer.g.b.body().result(op, 0)
    }

    /// Whether the element that iterator 4 counts lies in the part that iterator `2 + d` counts.
    fn within(&self, s: &mut Scalars<'_, '_>, ends: [Value; 2], d: usize) -> Value {
        let ty = accumulator_type(s.cx(), s.ty(ends[0]));
        let (scale, half, one) = (s.number(self.scale.into(), ty), s.number(0.5, ty), s.number(1.0, ty));
        let [start, stop] = ends.map(|end| {
            let end = s.cast(end, ty);
            let end = s.mul(end, scale);
            // Half an element is rounded away from 0.
            let size = s.abs(end);
            let up = s.add(size, half);
            let whole = s.math("math.floor", up);
            s.op("math.copysign", &[whole, end], ty)
        });
        let length = s.sub(stop, start);
        let length = s.add(length, one);
        let length = s.max(length, one);
        let (parts, part, at) = (s.number(self.parts[d] as f64, ty), s.index(2 + d), s.index(4));
        let (part, at) = (s.cast(part, ty), s.cast(at, ty));
        let part_length = s.div(length, parts);
        let next = s.add(part, one);
        let (first, end) = (s.mul(part, part_length), s.mul(next, part_length));
        let (first, end) = (s.math("math.floor", first), s.math("math.ceil", end));
        let (first, end) = (s.add(first, start), s.add(end, start));
        let (low, high) = (s.compare(Comparison::GreaterOrEqual, at, first), s.compare(Comparison::Less, at, end));
        s.bits("arith.andi", low, high)
    }
}
