//! Windows over signals, and bands of spectra.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::IteratorKind;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeResult, Scalars};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made};
use super::super::error::{Reason, unsupported};
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::{ElementType, Scalar};
use super::{Conversion, Convert, Family, one_number};

pub(super) const OPERATORS: Family = &[
    ("BlackmanWindow", |r| window(r, &[0.42, -0.5, 0.08])),
    ("HammingWindow", |r| window(r, &[25.0 / 46.0, -21.0 / 46.0])),
    ("HannWindow", |r| window(r, &[0.5, -0.5])),
    ("MelWeightMatrix", mel_weights),
];

/// A sum of cosines: of the multiples 0, 1, … of the angle that goes round once in a window.
#[derive(Debug)]
struct Window<'m> {
    size: Param<'m, Scalar>,
    to: ElementType,
    /// The element behind the last one is the first one again; else the last one is.
    periodic: bool,
    factors: &'static [f64],
}

fn window<'m>(r: &NodeReader<'m, '_>, factors: &'static [f64]) -> Result<Op<'m>, Reason> {
    let size = r.scalar_param(0)?.ok_or("has no `size`")?;
    Ok(Conversion::op(Window { size, to: datatype(r)?, periodic: r.flag("periodic")?, factors }))
}

/// The type of numbers that the result has.
fn datatype(r: &NodeReader<'_, '_>) -> Result<ElementType, Reason> {
    let code = r.int("output_datatype")?;
    let to = ElementType::from_code(code).ok_or_else(|| format!("makes unknown element type {code}"))?;
    match to {
        ElementType::Bool => Err("makes truth values, which are no numbers".into()),
        _ if to.is_numeric() => Ok(to),
        _ => Err(unsupported(format!("makes {to}, which is not supported"))),
    }
}

/// A size.
fn shaped<'m>(importer: &mut Importer<'m, '_, '_>, param: &Param<'m, Scalar>, what: &str) -> Made<Poly> {
    importer.any_size(param, what)
}

impl<'m> Convert<'m> for Window<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (size, elem) = (shaped(importer, &self.size, "size")?, importer.element(self.to)?);
        let turn = if self.periodic { size.clone() } else { size.sub(&1.into()) };
        Ok(vec![importer.g.generate(&[Some(size)], elem, |s| {
            let (at, turn) = (s.index(0), s.size(&turn));
            let (at, turn) = (s.cast(at, Type::F64), s.cast(turn, Type::F64));
            let round = s.number(std::f64::consts::TAU, Type::F64);
            let angle = s.mul(at, round);
            let angle = s.div(angle, turn);
            let mut sum = s.number(self.factors[0], Type::F64);
            for (multiple, factor) in self.factors.iter().enumerate().skip(1) {
                let (multiple, factor) = (s.number(multiple as f64, Type::F64), s.number(*factor, Type::F64));
                let angle = s.mul(angle, multiple);
                let cosine = s.math("math.cos", angle);
                let term = s.mul(cosine, factor);
                sum = s.add(sum, term);
            }
            narrowed(s, sum, elem)
        })?])
    }
}

/// The number as an element; floats of two bytes through `f32`.
fn narrowed(s: &mut Scalars<'_, '_>, x: Value, elem: Type) -> Value {
    let narrow = elem.is_float(s.cx()) && s.cx().bit_width(elem).is_some_and(|bits| bits < 32);
    let x = if narrow { s.cast(x, Type::F32) } else { x };
    s.cast(x, elem)
}

/// How much each frequency counts in each band: triangles whose corners are equally far on the mel scale.
#[derive(Debug)]
struct MelWeights<'m> {
    bands: Param<'m, Scalar>,
    length: Param<'m, Scalar>,
    /// The rate of samples, the lower and the upper edge.
    numbers: [&'m str; 3],
    to: ElementType,
}

fn mel_weights<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let size = |i: usize| r.scalar_param(i)?.ok_or_else(|| Reason::from(format!("has no input {i}")));
    let numbers = [r.input(2)?, r.input(3)?, r.input(4)?];
    Ok(Conversion::op(MelWeights { bands: size(0)?, length: size(1)?, numbers, to: datatype(r)? }))
}

impl<'m> Convert<'m> for MelWeights<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let bands = shaped(importer, &self.bands, "num_mel_bins")?;
        let length = shaped(importer, &self.length, "dft_length")?;
        let elem = importer.element(self.to)?;
        let inputs = self.numbers.iter().map(|name| one_number(importer, name)).collect::<Made<Vec<_>>>()?;
        let shape = vec![Some(length.floordiv(2).add(&1.into())), Some(bands.clone())];
        let index = importer.g.dims(0..2);
        let result = ComputeResult { shape, elem, index, combiner: None };
        let op = importer.g.compute(&[IteratorKind::Parallel; 2], inputs, vec![result], |s, args| {
            let mel = Mel::new(s, args, &bands, &length);
            let (bin, band) = (s.index(0), s.index(1));
            let (bin, band) = (s.cast(bin, Type::F64), s.cast(band, Type::F64));
            let weight = mel.weight(s, bin, band);
            vec![narrowed(s, weight, elem)]
        });
        Ok(vec![importer.g.b.body().result(op, 0)])
    }
}

/// The mel scale between two frequencies, as numbers of a function of elements.
struct Mel {
    low: Value,
    step: Value,
    /// Bins for each hertz.
    bins: Value,
    rate: Value,
}

/// mel = 2595 * log10(1 + hertz / 700)
const MELS: f64 = 2595.0 / std::f64::consts::LN_10;
const HERTZ: f64 = 700.0;

impl Mel {
    fn new(s: &mut Scalars<'_, '_>, numbers: &[Value], bands: &Poly, length: &Poly) -> Self {
        let [rate, lower, upper] = [0, 1, 2].map(|i| wide(s, numbers[i]));
        let (low, high) = (mels(s, lower), mels(s, upper));
        let (parts, bins) = (s.size(&bands.add(&2.into())), s.size(&length.add(&1.into())));
        let (parts, bins) = (s.cast(parts, Type::F64), s.cast(bins, Type::F64));
        let span = s.sub(high, low);
        Self { low, step: s.div(span, parts), bins, rate }
    }

    /// The bin of the corner with this number.
    fn corner(&self, s: &mut Scalars<'_, '_>, number: Value) -> Value {
        let (above, scale) = (s.mul(number, self.step), s.number(1.0 / MELS, Type::F64));
        let mel = s.add(above, self.low);
        let exponent = s.mul(mel, scale);
        let (power, one) = (s.math("math.exp", exponent), s.number(1.0, Type::F64));
        let (above, hertz) = (s.sub(power, one), s.number(HERTZ, Type::F64));
        let frequency = s.mul(above, hertz);
        let bins = s.mul(frequency, self.bins);
        let bins = s.div(bins, self.rate);
        s.math("math.floor", bins)
    }

    /// What a bin counts in a band.
    fn weight(&self, s: &mut Scalars<'_, '_>, bin: Value, band: Value) -> Value {
        let (zero, one) = (s.number(0.0, Type::F64), s.number(1.0, Type::F64));
        let next = s.add(band, one);
        let last = s.add(next, one);
        let [left, middle, right] = [band, next, last].map(|number| self.corner(s, number));
        let (rise, fall) = (s.sub(middle, left), s.sub(right, middle));
        let (up, down) = (s.sub(bin, left), s.sub(right, bin));
        let (up, down) = (s.div(up, rise), s.div(down, fall));
        let steep = s.compare(Comparison::Equal, rise, zero);
        let up = s.select(steep, one, up);
        let first = s.select(steep, middle, left);
        let (behind, before) =
            (s.compare(Comparison::GreaterOrEqual, bin, first), s.compare(Comparison::LessOrEqual, bin, middle));
        let rising = s.bits("arith.andi", behind, before);
        let (behind, before) =
            (s.compare(Comparison::GreaterOrEqual, bin, middle), s.compare(Comparison::Less, bin, right));
        let falling = s.bits("arith.andi", behind, before);
        let weight = s.select(rising, up, zero);
        s.select(falling, down, weight)
    }
}

fn wide(s: &mut Scalars<'_, '_>, x: Value) -> Value {
    let narrow = s.ty(x).is_float(s.cx()) && s.cx().bit_width(s.ty(x)).is_some_and(|bits| bits < 32);
    let x = if narrow { s.cast(x, Type::F32) } else { x };
    s.cast(x, Type::F64)
}

fn mels(s: &mut Scalars<'_, '_>, frequency: Value) -> Value {
    let (hertz, one, scale) = (s.number(HERTZ, Type::F64), s.number(1.0, Type::F64), s.number(MELS, Type::F64));
    let ratio = s.div(frequency, hertz);
    let sum = s.add(ratio, one);
    let log = s.math("math.log", sum);
    s.mul(log, scale)
}
