//! Resize and Upsample.
//!
//! Dims are resized one after the other: each element of the result is a sum of few elements along the dim, at places and with
//! weights that follow from its own place. These are tables, and the elements are gathered.

mod coordinates;
mod weights;

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::Scalars;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{Type, Value};

use self::coordinates::{Axis, Coordinates, Scale};
use self::weights::{Filter, Rounding};
use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::Scalar;
use super::{Conversion, Convert, Family};
use super::{by_data, sampling, sizes_by_data};

pub(super) const OPERATORS: Family = &[("Resize", resize), ("Upsample", upsample)];

/// How large the result is.
#[derive(Clone, Debug)]
enum Target<'m> {
    /// So many times as large, along each of the axes.
    Scales(Vec<f64>),
    /// Likewise, by data; the model states the sizes that come out.
    Data(&'m str),
    /// Of these sizes.
    Sizes(Param<'m, Vec<i64>>, Aspect),
}

/// What becomes of the aspect ratio where sizes are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aspect {
    Stretch,
    NotLarger,
    NotSmaller,
}

#[derive(Debug)]
struct Resize<'m> {
    x: &'m str,
    /// Begins and ends of the part of the input that is sampled, as parts of its sizes.
    roi: Option<&'m str>,
    target: Target<'m>,
    axes: Option<Vec<i64>>,
    coordinates: Coordinates,
    filter: Filter,
    extrapolation: f32,
}

/// Upsample, and Resize of opset 10, which say nothing of coordinates: what onnxruntime does.
fn simple(r: &NodeReader<'_, '_>) -> Result<Filter, Reason> {
    match r.string("mode")? {
        Some("nearest") | None => Ok(Filter::Nearest(Rounding::Simple)),
        Some("linear") => Ok(Filter::Linear { antialias: false, exclude: false }),
        Some(other) => Err(format!("attribute `mode` is '{other}', it must be nearest or linear").into()),
    }
}

fn upsample<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let scales = match r.interface.since {
        ..7 => {
            let scales = vec![1.0, 1.0, r.float("height_scale")?.into(), r.float("width_scale")?.into()];
            Target::Scales(positive(scales)?)
        }
        7..9 => Target::Scales(positive(r.floats("scales")?)?),
        _ => match scales(r, 1)? {
            Some(scales) => scales,
            None => return Err("has no `scales`".into()),
        },
    };
    old(r, scales)
}

fn old<'m>(r: &NodeReader<'m, '_>, target: Target<'m>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(Resize {
        x: r.input(0)?,
        roi: None,
        target,
        axes: None,
        coordinates: Coordinates::Asymmetric,
        filter: simple(r)?,
        extrapolation: 0.0,
    }))
}

fn resize<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    if r.interface.since < 11 {
        return match scales(r, 1)? {
            Some(scales) => old(r, scales),
            None => Err("has no `scales`".into()),
        };
    }
    let coordinates = coordinates(r)?;
    let target = match (scales(r, 2)?, sizes(r)?) {
        (Some(_), Some(_)) => return Err("has both `scales` and `sizes`".into()),
        (Some(scales), None) => scales,
        (None, Some(sizes)) => Target::Sizes(sizes, aspect(r)?),
        (None, None) => return Err("has neither `scales` nor `sizes`".into()),
    };
    let roi = if coordinates == Coordinates::CropAndResize { Some(r.input(1)?) } else { None };
    Ok(Conversion::op(Resize {
        x: r.input(0)?,
        roi,
        target,
        axes: r.optional_ints("axes"),
        coordinates,
        filter: filter(r)?,
        extrapolation: r.float("extrapolation_value")?,
    }))
}

fn coordinates(r: &NodeReader<'_, '_>) -> Result<Coordinates, Reason> {
    let known = r.string("coordinate_transformation_mode")?.unwrap_or("half_pixel");
    match Coordinates::of(known, r.interface.since) {
        Some(coordinates) => Ok(coordinates),
        None => Err(format!(
            "attribute `coordinate_transformation_mode` is '{known}', which opset {} does not have",
            r.interface.since
        )
        .into()),
    }
}

fn filter(r: &NodeReader<'_, '_>) -> Result<Filter, Reason> {
    let (antialias, exclude) = (r.flag("antialias")?, r.flag("exclude_outside")?);
    match r.string("mode")?.unwrap_or("nearest") {
        "nearest" if antialias => Err(unsupported("has `antialias`, which mode nearest does not have")),
        "nearest" => {
            let mode = r.string("nearest_mode")?.unwrap_or("round_prefer_floor");
            match Rounding::of(mode) {
                Some(rounding) => Ok(Filter::Nearest(rounding)),
                None => Err(format!("attribute `nearest_mode` is '{mode}', which ONNX does not have").into()),
            }
        }
        "linear" => Ok(Filter::Linear { antialias, exclude }),
        "cubic" => Ok(Filter::Cubic { a: r.float("cubic_coeff_a")?, antialias, exclude }),
        other => Err(format!("attribute `mode` is '{other}', it must be nearest, linear or cubic").into()),
    }
}

fn aspect(r: &NodeReader<'_, '_>) -> Result<Aspect, Reason> {
    match r.string("keep_aspect_ratio_policy")? {
        None | Some("stretch") => Ok(Aspect::Stretch),
        Some("not_larger") => Ok(Aspect::NotLarger),
        Some("not_smaller") => Ok(Aspect::NotSmaller),
        Some(other) => {
            Err(format!("attribute `keep_aspect_ratio_policy` is '{other}', which ONNX does not have").into())
        }
    }
}

/// The sizes; an empty list is none.
fn sizes<'m>(r: &NodeReader<'m, '_>) -> Result<Option<Param<'m, Vec<i64>>>, Reason> {
    Ok(r.ints_param("sizes")?.filter(|sizes| !matches!(sizes, Param::Known(known) if known.is_empty())))
}

/// A list of scales; an empty one is none.
fn scales<'m>(r: &NodeReader<'m, '_>, index: usize) -> Result<Option<Target<'m>>, Reason> {
    let Some(name) = r.optional(index) else { return Ok(None) };
    let called = r.interface.inputs.get(index).map_or("scales", |input| input.name);
    let Some(tensor) = r.values.constant(name) else { return Ok(Some(Target::Data(name))) };
    let number = |scalar| if let Scalar::Float(number) = scalar { Some(number) } else { None };
    let numbers: Option<Vec<f64>> = tensor.scalars().and_then(|all| all.map(number).collect());
    match numbers {
        Some(numbers) if tensor.dims.len() == 1 => {
            if numbers.is_empty() {
                Ok(None)
            } else {
                Ok(Some(Target::Scales(positive(numbers)?)))
            }
        }
        _ => Err(format!(
            "`{called}` must be a list of floats, but `{name}` is of {} and shape {:?}",
            tensor.element, tensor.dims
        )
        .into()),
    }
}

fn positive(scales: Vec<f64>) -> Result<Vec<f64>, Reason> {
    match scales.iter().find(|scale| !(**scale > 0.0 && scale.is_finite())) {
        Some(scale) => Err(format!("has the scale {scale}, it must be a number greater than 0").into()),
        None => Ok(scales),
    }
}

impl<'m> Convert<'m> for Resize<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let elem = importer.g.elem(x);
        let axes = self.axes(importer, x)?;
        let wide = match self.filter {
            Filter::Nearest(_) => elem,
            _ => match sampling::accumulator(importer.cx(), elem) {
                Some(wide) => wide,
                None => return fail("interpolates elements that are neither floats nor integers"),
            },
        };
        // Rounded integers tell the least difference.
        let is_nearest = matches!(self.filter, Filter::Nearest(_));
        let coordinate = if wide == Type::F64 && !is_nearest { Type::F64 } else { Type::F32 };
        let roi = self.roi(importer, axes.len())?;
        let mut made = x;
        let mut cropped = Vec::new();
        for (number, axis) in axes.iter().enumerate() {
            let roi = roi.map(|roi| (roi, [number as i64, (axes.len() + number) as i64]));
            if roi.is_none() && axis.is_identity(importer) {
                continue;
            }
            let places = coordinates::Places { axis, coordinates: self.coordinates, roi, ty: coordinate };
            made = self.filter.apply(importer, made, wide, &places)?;
            if roi.is_some() {
                cropped.push((axis.dim, places.outside(importer)?));
            }
        }
        let value = f64::from(self.extrapolation);
        let made = sampling::masked(importer, made, &cropped, value)?;
        Ok(vec![sampling::rounded(importer, made, elem)?])
    }
}

impl<'m> Resize<'m> {
    /// The tensor that says which part is sampled.
    fn roi(&self, importer: &mut Importer<'m, '_, '_>, axes: usize) -> Made<Option<Value>> {
        let Some(name) = self.roi else { return Ok(None) };
        let roi = importer.value(name)?;
        let shape = importer.g.shape(roi);
        if shape.len() != 1 {
            return wrong(format!("takes a list as `roi`, not a tensor of rank {}", shape.len()));
        }
        importer.g.unify(&shape[0], &Some((2 * axes as i64).into()), || {
            "numbers of `roi` and twice that of the axes".into()
        })?;
        Ok(Some(roi))
    }

    /// The sizes that the model states, and scales that are data. In every run they must make these sizes, rounded as `f32` or exactly.
    fn data(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        name: &'m str,
        dims: &[usize],
        inputs: &[Poly],
    ) -> Made<(Vec<Poly>, Vec<Scale>)> {
        let scales = importer.value(name)?;
        let given = importer.g.shape(scales);
        if given.len() != 1 {
            return wrong(format!("takes a list of scales from `{name}`, which has rank {}", given.len()));
        }
        importer.g.unify(&given[0], &Some((dims.len() as i64).into()), || "numbers of `scales` and of axes".into())?;
        let stated = importer.stated().filter(|stated| dims.iter().all(|dim| *dim < stated.len()));
        let Some(stated) = stated else {
            let sizes = (0..dims.len()).zip(inputs).map(|(at, input)| {
                let size = sizes_by_data::computed(importer, &[(scales, Some(at))], Type::I64, |s, scale| {
                    let (exact, near) = scaled_by_data(s, scale[0], input);
                    let size = s.max(exact, near);
                    // A scale that is not above 0 makes no size.
                    let (zero, none) = (s.number(0.0, s.ty(scale[0])), s.number(-1.0, Type::F64));
                    let is_scale = s.compare(Comparison::Greater, scale[0], zero);
                    let size = s.select(is_scale, size, none);
                    whole(s, size)
                });
                importer.size_of_number(size)
            });
            let sizes = sizes.collect::<Made<Vec<Poly>>>()?;
            return Ok((sizes, (0..dims.len()).map(|at| Scale::Data(scales, at as i64)).collect()));
        };
        let numbers: Vec<(Value, usize)> = (0..dims.len()).map(|at| (scales, at)).collect();
        let what = format!("scales of `{name}` that make other sizes than the model states");
        by_data::never(importer, &numbers, &what, |s, scales| {
            let mut other = s.int(0, Type::I1);
            for ((scale, input), dim) in scales.iter().zip(inputs).zip(dims) {
                let stated = s.number(stated[*dim] as f64, Type::F64);
                let (exact, near) = scaled_by_data(s, *scale, input);
                let (first, second) =
                    (s.compare(Comparison::NotEqual, exact, stated), s.compare(Comparison::NotEqual, near, stated));
                let both = s.bits("arith.andi", first, second);
                other = s.bits("arith.ori", other, both);
            }
            other
        })?;
        let sizes = dims.iter().map(|dim| stated[*dim].into()).collect();
        Ok((sizes, (0..dims.len()).map(|at| Scale::Data(scales, at as i64)).collect()))
    }

    /// Sizes that keep the aspect ratio, where those that are asked for are data: one scale for all.
    fn kept_by_data(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        sizes: &Param<'m, Vec<i64>>,
        aspect: Aspect,
        dims: &[usize],
        inputs: Vec<Poly>,
    ) -> Made<Vec<Axis>> {
        let (list, length) = importer.known_list(sizes)?;
        if length != dims.len() {
            return wrong(format!("has {length} sizes for {} axes", dims.len()));
        }
        let asked: Vec<(Value, Option<usize>)> = (0..length).map(|at| (list, Some(at))).collect();
        let scale = sizes_by_data::computed(importer, &asked, Type::F64, |s, asked| {
            let mut scale = None;
            for (asked, input) in asked.iter().zip(&inputs) {
                let (asked, input) = (s.cast(*asked, Type::F64), s.size(input));
                let input = s.cast(input, Type::F64);
                let own = s.div(asked, input);
                scale = Some(match scale {
                    None => own,
                    Some(scale) if aspect == Aspect::NotLarger => s.min(scale, own),
                    Some(scale) => s.max(scale, own),
                });
            }
            scale.unwrap_or_else(|| s.number(1.0, Type::F64))
        });
        let scales = importer.g.reshape_to(scale, &[Some(1.into())])?;
        let mut axes = Vec::new();
        for (dim, input) in dims.iter().zip(inputs) {
            let size = sizes_by_data::computed(importer, &[(scale, None)], Type::I64, |s, scale| {
                let (input, half) = (s.size(&input), s.number(0.5, Type::F64));
                let input = s.cast(input, Type::F64);
                let exact = s.mul(scale[0], input);
                let above = s.add(exact, half);
                let size = s.math("math.floor", above);
                whole(s, size)
            });
            let output = importer.size_of_number(size)?;
            axes.push(Axis { dim: *dim, input, output, scale: Scale::Data(scales, 0) });
        }
        Ok(axes)
    }

    /// The dims that are named, with their sizes before and after.
    fn axes(&self, importer: &mut Importer<'m, '_, '_>, x: Value) -> Made<Vec<Axis>> {
        let shape = importer.g.shape(x);
        let dims = match &self.axes {
            Some(axes) => axes.iter().map(|axis| importer.g.axis(*axis, shape.len())).collect::<Result<Vec<_>, _>>()?,
            None => (0..shape.len()).collect(),
        };
        if let Some(twice) = dims.iter().enumerate().find(|(i, dim)| dims[..*i].contains(dim)) {
            return wrong(format!("names axis {} twice", twice.1));
        }
        let sizes: Option<Vec<Poly>> = dims.iter().map(|dim| shape[*dim].clone()).collect();
        let Some(inputs) = sizes else { return fail("resizes a dim whose size depends on data") };
        let given = |what: &str, count: usize| match count == dims.len() {
            true => Ok(()),
            false => wrong(format!("has {count} {what} for {} axes", dims.len())),
        };
        let (outputs, scales) = match &self.target {
            Target::Scales(scales) => {
                given("scales", scales.len())?;
                let sizes = inputs.iter().zip(scales).map(|(input, scale)| scaled(input, *scale));
                let sizes: Option<Vec<Poly>> = sizes.collect();
                let Some(sizes) = sizes else {
                    return fail(format!(
                        "has the scales {scales:?}; one is too small or too large to make a size of it"
                    ));
                };
                (sizes, scales.iter().map(|scale| Scale::Known(*scale)).collect::<Vec<Scale>>())
            }
            Target::Data(name) => self.data(importer, name, &dims, &inputs)?,
            Target::Sizes(sizes, aspect) => {
                let stretches = *aspect == Aspect::Stretch;
                if !stretches && importer.is_data(sizes)? {
                    return self.kept_by_data(importer, sizes, *aspect, &dims, inputs);
                }
                let of =
                    |stated: &[i64]| -> Option<Vec<i64>> { dims.iter().map(|dim| stated.get(*dim).copied()).collect() };
                let sizes = importer.stated_or_any(sizes, |stated| of(stated).filter(|_| stretches))?;
                given("sizes", sizes.len())?;
                importer.not_negative(&sizes.iter().cloned().map(Some).collect(), "size")?;
                kept(*aspect, &inputs, sizes)?
            }
        };
        let parts = dims.into_iter().zip(inputs).zip(outputs).zip(scales);
        Ok(parts.map(|(((dim, input), output), scale)| Axis { dim, input, output, scale }).collect())
    }
}

/// The whole part of a size by a scale, and of what that could be but for the rounding of the scale.
fn scaled_by_data(s: &mut Scalars<'_, '_>, scale: Value, input: &Poly) -> (Value, Value) {
    let (scale, input) = (s.cast(scale, Type::F64), s.size(input));
    let input = s.cast(input, Type::F64);
    let (exact, step) = (s.mul(scale, input), s.number(f64::from(f32::EPSILON) / 2.0, Type::F64));
    let more = s.mul(exact, step);
    let near = s.add(exact, more);
    (s.math("math.floor", exact), s.math("math.floor", near))
}

/// A float as an integer; what is far from all sizes, or no number, is -1.
fn whole(s: &mut Scalars<'_, '_>, size: Value) -> Value {
    let (far, none) = (s.number((1_u64 << 62) as f64, Type::F64), s.number(-1.0, Type::F64));
    let fits = s.compare(Comparison::Less, size, far);
    let size = s.select(fits, size, none);
    s.cast(size, Type::I64)
}

/// The sizes that are made where these are asked for, and the scales.
fn kept(aspect: Aspect, inputs: &[Poly], sizes: Vec<Poly>) -> Made<(Vec<Poly>, Vec<Scale>)> {
    if aspect == Aspect::Stretch {
        let scales = vec![Scale::Ratio; sizes.len()];
        return Ok((sizes, scales));
    }
    let ratio = |(input, size): (&Poly, &Poly)| Some(size.as_const()? as f64 / input.as_const()? as f64);
    let ratios: Option<Vec<f64>> = inputs.iter().zip(&sizes).map(ratio).collect();
    let Some(ratios) = ratios.filter(|ratios| ratios.iter().all(|ratio| ratio.is_finite())) else {
        return fail(
            "keeps the aspect ratio of sizes that are no constants greater than 0; with `stretch` sizes may follow from shapes",
        );
    };
    let scale = ratios.into_iter().reduce(if aspect == Aspect::NotLarger { f64::min } else { f64::max }).unwrap_or(1.0);
    let size = |input: &Poly| Poly::constant((scale * input.as_const().unwrap_or(0) as f64 + 0.5).floor() as i64);
    Ok((inputs.iter().map(size).collect(), vec![Scale::Known(scale); inputs.len()]))
}

/// The whole part of `scale * size`. A scale is the simplest fraction that has it as its nearest `f32`: 0.7 is 7/10, and 10 times it
/// are 7. One that is near no simple fraction is taken as it is.
fn scaled(size: &Poly, scale: f64) -> Option<Poly> {
    const MOST: i64 = 1 << 12;
    let near = |below: &i64| {
        let above = (scale * *below as f64).round();
        (above >= 1.0 && above < (1_u64 << 31) as f64 && (above / *below as f64) as f32 == scale as f32)
            .then_some((above as i64, *below))
    };
    if let Some((above, below)) = (1..=MOST).find_map(|below| near(&below)) {
        return Some(size.scale(above).floordiv(below));
    }
    // A float is a whole number of 24 bits times a power of two.
    let shift = (0..=60).find(|shift| (scale * (1_u64 << shift) as f64).fract() == 0.0)?;
    let above = scale * (1_u64 << shift) as f64;
    (above < (1_u64 << 31) as f64).then(|| size.scale(above as i64).floordiv(1 << shift))
}
