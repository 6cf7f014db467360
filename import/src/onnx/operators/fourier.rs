//! Transforms between signals and spectra.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::IteratorKind;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Transform};
use sutura_ir::Value;
use sutura_ir::affine::AffineOp;

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::Scalar;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("DFT", dft), ("STFT", stft)];

/// Discrete Fourier transform along `axis` of numbers whose parts lie along the last dim. Without a length: as many as there
/// are.
#[derive(Debug)]
struct Dft<'m> {
    x: &'m str,
    length: Option<Param<'m, Scalar>>,
    axis: i64,
    inverse: bool,
    onesided: bool,
}

fn dft<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (inverse, onesided) = (r.flag("inverse")?, r.flag("onesided")?);
    let axis = match r.interface.since {
        ..20 => r.int("axis")?,
        _ => match r.scalar_param(2)? {
            None => -2,
            Some(Param::Known(Scalar::Int(axis))) => i64::try_from(axis).map_err(|_| "has no sensible `axis`")?,
            Some(_) => return Err(unsupported("`axis` must be a constant integer")),
        },
    };
    Ok(Conversion::op(Dft { x: r.input(0)?, length: r.scalar_param(1)?, axis, inverse, onesided }))
}

impl<'m> Convert<'m> for Dft<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let Self { length, inverse, onesided, .. } = self;
        let x = importer.value(self.x)?;
        let shape = importer.g.shape(x);
        let axis = importer.g.axis(self.axis, shape.len())?;
        let size = match length {
            Some(length) => importer.size(length)?,
            // The spectrum of so many real numbers has one more than half as many elements.
            None if *inverse && *onesided => shape[axis].as_ref().map(|half| half.scale(2).sub(&Poly::from(2))),
            None => shape[axis].clone(),
        };
        let Some(size) = size else {
            return fail("has a length that depends on data; it must follow from shapes");
        };
        if size.as_const().is_some_and(|size| size < 1) {
            return wrong(format!("transforms lines of {size} elements"));
        }
        let real = shape.last().cloned().flatten() == Some(1.into());
        if *onesided && real == *inverse {
            let numbers = if *inverse { "real numbers back from one side" } else { "one side of complex numbers" };
            return wrong(format!("transforms {numbers}, which is not defined"));
        }
        let way = Transform { inverse: *inverse, onesided: *onesided };
        Ok(vec![importer.g.fft(x, &size, axis, way)?])
    }
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
            Some(Some(step @ 1..)) => step,
            Some(Some(step)) => return wrong(format!("has a `frame_step` of {step}, which must be positive")),
            _ => return fail("has a `frame_step` that is no constant"),
        };
        let window = self.window.map(|window| importer.value(window)).transpose()?;
        let size = self.frame(importer, window, all)?;
        let (Some(all), Some(size)) = (all, size) else {
            return fail("has a length that depends on data; it must follow from shapes");
        };
        if size.as_const().is_some_and(|size| size < 1) {
            return wrong(format!("transforms frames of {size} elements"));
        }
        importer.not_negative(&vec![Some(all.sub(&size))], "rest behind a frame")?;
        let frames = frames(importer, x, window, (&size, step));
        let way = Transform { inverse: false, onesided: self.onesided };
        Ok(vec![importer.g.fft(frames, &size, 2, way)?])
    }
}

impl<'m> Stft<'m> {
    /// The number of elements of a frame.
    fn frame(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        window: Option<Value>,
        all: &Option<Poly>,
    ) -> Made<Option<Poly>> {
        let given = match &self.length {
            None => None,
            Some(length) => match importer.size(length)? {
                None => return fail("has a `frame_length` that depends on data; it must follow from shapes"),
                known => known,
            },
        };
        let Some(window) = window else { return Ok(given.or_else(|| all.clone())) };
        let [weights] = &importer.g.shape(window)[..] else { return wrong("`window` must be a list") };
        match given {
            None => Ok(weights.clone()),
            given => Ok(importer.g.unify(&given, &weights.clone(), || "`frame_length` and that of `window`".into())?),
        }
    }
}

/// Pieces of a signal in a dimension of their own.
fn frames(importer: &mut Importer<'_, '_, '_>, x: Value, window: Option<Value>, (size, step): (&Poly, i64)) -> Value {
    let (shape, elem, cx) = (importer.g.shape(x), importer.g.elem(x), importer.cx());
    let count = shape[1].as_ref().map(|all| all.sub(size).floordiv(step).add(&1.into()));
    let start = cx.affine_binary(AffineOp::Mul, importer.g.dim(1), cx.affine_const(step));
    let at = cx.affine_binary(AffineOp::Add, start, importer.g.dim(2));
    let index = vec![importer.g.dim(0), at, importer.g.dim(3)];
    let mut inputs = vec![ComputeInput { value: x, index, oob: None }];
    inputs.extend(window.map(|value| ComputeInput { value, index: vec![importer.g.dim(2)], oob: None }));
    let sizes = vec![shape[0].clone(), count, Some(size.clone()), shape[2].clone()];
    let result = ComputeResult { shape: sizes, elem, index: importer.g.dims(0..4), combiner: None };
    let op = importer.g.compute(&[IteratorKind::Parallel; 4], inputs, vec![result], |s, args| {
        vec![args.get(1).map_or(args[0], |weight| s.mul(args[0], *weight))]
    });
    importer.g.b.body().result(op, 0)
}
