//! Transforms between signals and spectra.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::Transform;
use sutura_ir::Value;

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::Scalar;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("DFT", dft)];

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
