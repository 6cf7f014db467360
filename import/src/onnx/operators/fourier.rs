//! Transforms between signals and spectra.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::IteratorKind;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars, Transform};
use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::Reason;
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::Scalar;
use super::{Conversion, Convert, Family, by_data, sizes_by_data};

pub(super) const OPERATORS: Family = &[("DFT", dft), ("STFT", stft)];

/// Discrete Fourier transform along `axis` of numbers whose parts lie along the last dim. Without a length: as many as there
/// are.
#[derive(Debug)]
struct Dft<'m> {
    x: &'m str,
    length: Option<Param<'m, Scalar>>,
    axis: Param<'m, Scalar>,
    inverse: bool,
    onesided: bool,
}

fn dft<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (inverse, onesided) = (r.flag("inverse")?, r.flag("onesided")?);
    let axis = match r.interface.since {
        ..20 => Param::Known(Scalar::Int(r.int("axis")?.into())),
        _ => r.scalar_param(2)?.unwrap_or(Param::Known(Scalar::Int(-2))),
    };
    Ok(Conversion::op(Dft { x: r.input(0)?, length: r.scalar_param(1)?, axis, inverse, onesided }))
}

impl<'m> Convert<'m> for Dft<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let axis = match importer.size(&self.axis)?.map(|axis| axis.as_const()) {
            Some(Some(axis)) => importer.g.axis(axis, importer.g.rank(x))?,
            _ => return Ok(vec![self.by_data(importer, x)?]),
        };
        Ok(vec![self.along(importer, x, axis)?])
    }
}

impl<'m> Dft<'m> {
    fn along(&self, importer: &mut Importer<'m, '_, '_>, x: Value, axis: usize) -> Made {
        let Self { length, inverse, onesided, .. } = self;
        let shape = importer.g.shape(x);
        let size = match length {
            Some(length) => Some(importer.any_size(length, "dft_length")?),
            // The spectrum of so many real numbers has one more than half as many elements.
            None if *inverse && *onesided => shape[axis].as_ref().map(|half| half.scale(2).sub(&Poly::from(2))),
            None => shape[axis].clone(),
        };
        let Some(size) = size else { return fail("transforms lines whose size is not known") };
        if size.as_const().is_some_and(|size| size < 1) {
            return wrong(format!("transforms lines of {size} elements"));
        }
        if length.is_some() {
            importer.not_negative(&vec![Some(size.sub(&1.into()))], "length less 1")?;
        }
        let real = shape.last().cloned().flatten() == Some(1.into());
        if *onesided && real == *inverse {
            let numbers = if *inverse { "real numbers back from one side" } else { "one side of complex numbers" };
            return wrong(format!("transforms {numbers}, which is not defined"));
        }
        let way = Transform { inverse: *inverse, onesided: *onesided };
        Ok(importer.g.fft(x, &size, axis, way)?)
    }

    /// Along an axis that data say: the dims before it are one, and those behind it.
    fn by_data(&self, importer: &mut Importer<'m, '_, '_>, x: Value) -> Made {
        let Param::Value(axis) = self.axis else { return wrong("has an `axis` that is no integer") };
        let axis = importer.value(axis)?;
        let axis = importer.number(axis, "axis")?;
        let axis = importer.g.cast(axis, Type::I64)?;
        let Some(dims) = importer.g.shape(x).into_iter().collect::<Option<Vec<Poly>>>() else {
            return fail("transforms a tensor whose sizes are not known");
        };
        let [dims @ .., parts] = &dims[..] else { return wrong("transforms a tensor of rank 0") };
        let mut view = Vec::new();
        for part in [Comparison::Less, Comparison::Equal, Comparison::Greater] {
            let size = sizes_by_data::computed(importer, &[(axis, None)], Type::I64, |s, axis| {
                product_of(s, dims, |s, d| is_at(s, axis[0], dims.len() + 1, d, part))
            });
            view.push(Some(importer.size_of_number(size)?));
        }
        view.push(Some(parts.clone()));
        let lines = importer.g.reshape_to(x, &view)?;
        let made = self.along(importer, lines, 1)?;
        let made_shape = importer.g.shape(made);
        let Some(along) = made_shape[1].clone() else { return fail("transforms lines whose size is not known") };
        let mut shape = Vec::new();
        for (d, own) in dims.iter().enumerate() {
            let size = sizes_by_data::computed(importer, &[(axis, None)], Type::I64, |s, axis| {
                let here = is_at(s, axis[0], dims.len() + 1, d, Comparison::Equal);
                let (along, own) = (s.size(&along), s.size(own));
                let (along, own) = (s.cast(along, Type::I64), s.cast(own, Type::I64));
                s.select(here, along, own)
            });
            shape.push(Some(importer.size_of_number(size)?));
        }
        shape.push(made_shape[3].clone());
        Ok(importer.g.reshape_to(made, &shape)?)
    }
}

/// Whether dim `d` of `rank` lies before an axis, which may count from the end, is it, or lies behind it.
fn is_at(s: &mut Scalars<'_, '_>, axis: Value, rank: usize, d: usize, part: Comparison) -> Value {
    let (zero, rank, d) = (s.int(0, Type::I64), s.int(rank as i64, Type::I64), s.int(d as i64, Type::I64));
    let (from_end, wrapped) = (s.compare(Comparison::Less, axis, zero), s.add(axis, rank));
    let axis = s.select(from_end, wrapped, axis);
    s.compare(part, d, axis)
}

/// The product of those of the sizes that are chosen.
fn product_of<'b>(
    s: &mut Scalars<'_, 'b>,
    sizes: &[Poly],
    chosen: impl Fn(&mut Scalars<'_, 'b>, usize) -> Value,
) -> Value {
    let one = s.int(1, Type::I64);
    let mut product = one;
    for (d, size) in sizes.iter().enumerate() {
        let size = s.size(size);
        let (size, chosen) = (s.cast(size, Type::I64), chosen(s, d));
        let factor = s.select(chosen, size, one);
        product = s.mul(product, factor);
    }
    product
}

/// Spectra of pieces of a signal, each `step` behind the one before, which a window weighs.
#[derive(Debug)]
struct Stft<'m> {
    x: &'m str,
    step: Param<'m, Scalar>,
    window: Option<&'m str>,
    length: Option<Param<'m, Scalar>>,
    onesided: bool,
}

fn stft<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (step, length) = (r.scalar_param(1)?.ok_or("has no `frame_step`")?, r.scalar_param(3)?);
    Ok(Conversion::op(Stft { x: r.input(0)?, step, window: r.optional(2), length, onesided: r.flag("onesided")? }))
}

impl<'m> Convert<'m> for Stft<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let [_, all, parts] = &importer.g.shape(x)[..] else {
            return wrong("needs a signal of three dimensions: batch, samples, and 1 (real) or 2 (complex)");
        };
        if self.onesided && parts.as_ref().and_then(Poly::as_const) == Some(2) {
            return wrong("makes one side of the spectrum of complex numbers, which is not defined");
        }
        let step = match importer.size(&self.step)?.map(|step| step.as_const()) {
            Some(Some(step)) if step < 1 => {
                return wrong(format!("has a `frame_step` of {step}, which must be positive"));
            }
            Some(Some(step)) => Step::Known(step),
            _ => Step::Data(self.step_of_data(importer)?),
        };
        let window = self.window.map(|window| importer.value(window)).transpose()?;
        let size = self.frame(importer, window, all)?;
        let (Some(all), Some(size)) = (all, size) else {
            return fail("has a length that depends on data; it must follow from shapes");
        };
        if size.as_const().is_some_and(|size| size < 1) {
            return wrong(format!("transforms frames of {size} elements"));
        }
        if self.length.is_some() {
            importer.not_negative(&vec![Some(size.sub(&1.into()))], "length of a frame less 1")?;
        }
        importer.not_negative(&vec![Some(all.sub(&size))], "rest behind a frame")?;
        let frames = frames(importer, x, window, (&size, step))?;
        let way = Transform { inverse: false, onesided: self.onesided };
        Ok(vec![importer.g.fft(frames, &size, 2, way)?])
    }
}

/// How far a frame lies behind the one before.
#[derive(Clone, Copy)]
enum Step {
    Known(i64),
    /// A number of 64 bits. That it is positive is checked.
    Data(Value),
}

impl<'m> Stft<'m> {
    fn step_of_data(&self, importer: &mut Importer<'m, '_, '_>) -> Made {
        let Param::Value(name) = self.step else { return wrong("has a `frame_step` that is no integer") };
        let step = importer.value(name)?;
        let step = importer.number(step, "frame step")?;
        let step = importer.g.cast(step, Type::I64)?;
        let list = importer.g.reshape_to(step, &[Some(1.into())])?;
        by_data::never(importer, &[(list, 0)], STEP_IS_WRONG, |s, step| {
            let one = s.int(1, Type::I64);
            s.compare(Comparison::Less, step[0], one)
        })?;
        Ok(step)
    }

    /// The number of elements of a frame.
    fn frame(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        window: Option<Value>,
        all: &Option<Poly>,
    ) -> Made<Option<Poly>> {
        let given = match &self.length {
            None => None,
            Some(length) => Some(importer.any_size(length, "frame_length")?),
        };
        let Some(window) = window else { return Ok(given.or_else(|| all.clone())) };
        let [weights] = &importer.g.shape(window)[..] else { return wrong("`window` must be a list") };
        match given {
            None => Ok(weights.clone()),
            given => Ok(importer.g.unify(&given, &weights.clone(), || "`frame_length` and that of `window`".into())?),
        }
    }
}

const STEP_IS_WRONG: &str = "a `frame_step` that is less than 1";

/// Pieces of a signal in a dimension of their own.
fn frames(importer: &mut Importer<'_, '_, '_>, x: Value, window: Option<Value>, (size, step): (&Poly, Step)) -> Made {
    let (shape, elem, cx) = (importer.g.shape(x), importer.g.elem(x), importer.cx());
    let rest = shape[1].as_ref().map(|all| all.sub(size));
    let (x, count) = match step {
        Step::Known(step) => (x, rest.map(|rest| rest.floordiv(step).add(&1.into()))),
        Step::Data(step) => {
            let Some(rest) = rest else { return fail("cuts a signal whose size is not known") };
            let count = sizes_by_data::computed(importer, &[(step, None)], Type::I64, |s, step| {
                let (rest, one) = (s.size(&rest), s.int(1, Type::I64));
                let (rest, step) = (s.cast(rest, Type::I64), s.max(step[0], one));
                let others = s.div(rest, step);
                s.add(others, one)
            });
            let count = importer.size_of_number(count)?;
            (pieces(importer, x, step, (&count, size))?, Some(count))
        }
    };
    let (all, within) = (importer.g.dim(1), importer.g.dim(2));
    let index = match step {
        Step::Known(step) => {
            let start = cx.affine_binary(AffineOp::Mul, all, cx.affine_const(step));
            vec![importer.g.dim(0), cx.affine_binary(AffineOp::Add, start, within), importer.g.dim(3)]
        }
        Step::Data(_) => importer.g.dims(0..4),
    };
    let mut inputs = vec![ComputeInput { value: x, index, oob: None }];
    inputs.extend(window.map(|value| ComputeInput { value, index: vec![importer.g.dim(2)], oob: None }));
    let sizes = vec![shape[0].clone(), count, Some(size.clone()), shape[2].clone()];
    let result = ComputeResult { shape: sizes, elem, index: importer.g.dims(0..4), combiner: None };
    let op = importer.g.compute(&[IteratorKind::Parallel; 4], inputs, vec![result], |s, args| {
        vec![args.get(1).map_or(args[0], |weight| s.mul(args[0], *weight))]
    });
    Ok(importer.g.b.body().result(op, 0))
}

/// So many pieces of a signal, `step` apart.
fn pieces(importer: &mut Importer<'_, '_, '_>, x: Value, step: Value, (count, size): (&Poly, &Poly)) -> Made {
    let shape = vec![Some(count.clone()), Some(size.clone())];
    let inputs = vec![ComputeInput { value: step, index: Vec::new(), oob: None }];
    let result = ComputeResult { shape, elem: Type::I64, index: importer.g.dims(0..2), combiner: None };
    let op = importer.g.compute(&[IteratorKind::Parallel; 2], inputs, vec![result], |s, args| {
        let (piece, at) = (s.index(0), s.index(1));
        let (piece, at) = (s.cast(piece, Type::I64), s.cast(at, Type::I64));
        let start = s.mul(piece, args[0]);
        vec![s.add(start, at)]
    });
    let places = importer.g.b.body().result(op, 0);
    Ok(importer.g.gather(x, places, 1))
}
