//! Which place of the input a place of the result is.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::IteratorKind;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars};
use sutura_ir::{Type, Value};

use super::super::super::convert::{Importer, Made};

/// How coordinates are mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Coordinates {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    CropAndResize,
    HalfPixelForNearest,
}

impl Coordinates {
    /// The mode of that name, in an interface of that version.
    pub(super) fn of(name: &str, since: i64) -> Option<Self> {
        Some(match name {
            "half_pixel" => Self::HalfPixel,
            "half_pixel_symmetric" if since >= 18 => Self::HalfPixelSymmetric,
            "pytorch_half_pixel" => Self::PytorchHalfPixel,
            "align_corners" => Self::AlignCorners,
            "asymmetric" => Self::Asymmetric,
            "tf_crop_and_resize" => Self::CropAndResize,
            "tf_half_pixel_for_nn" if since < 13 => Self::HalfPixelForNearest,
            _ => return None,
        })
    }
}

/// How many times as large a dim becomes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Scale {
    /// A number, also where it makes no whole size.
    Known(f64),
    /// That of the sizes.
    Ratio,
    /// The one at a place of a list.
    Data(Value, i64),
}

/// A dim that is resized.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) dim: usize,
    pub(super) input: Poly,
    pub(super) output: Poly,
    pub(super) scale: Scale,
}

impl Axis {
    /// Whether the dim stays as it is.
    pub(super) fn is_identity(&self, importer: &Importer<'_, '_, '_>) -> bool {
        match self.scale {
            Scale::Known(scale) if scale != 1.0 => false,
            Scale::Data(..) => false,
            _ => importer.g.env.facts.prove_equal(&self.input, &self.output),
        }
    }

    /// The least number of elements that lie around a place within `support` elements of the result; at least `support`.
    pub(super) fn reach(&self, support: i64) -> Poly {
        let reach = match (self.scale, self.output.as_const()) {
            (Scale::Known(scale), _) if scale >= 1.0 => support.into(),
            (Scale::Known(scale), _) => Poly::constant((support as f64 / scale).ceil() as i64),
            (Scale::Ratio | Scale::Data(..), Some(output)) if output > 0 => self.input.scale(support).ceildiv(output),
            (Scale::Ratio | Scale::Data(..), _) => self.input.scale(support),
        };
        reach.greater(&support.into())
    }
}

/// Places of a dim of the result in the input.
pub(super) struct Places<'a> {
    pub(super) axis: &'a Axis,
    pub(super) coordinates: Coordinates,
    /// The tensor with the part of the input that is sampled, and where its begin and its end stand.
    pub(super) roi: Option<(Value, [i64; 2])>,
    /// In which coordinates are computed.
    pub(super) ty: Type,
}

/// The numbers of a place, in the type of coordinates: those that tables are made of.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The place in the input.
    pub(super) at: Value,
    /// The size of the input.
    pub(super) input: Value,
    /// How many times as large the result is.
    pub(super) scale: Value,
}

impl Places<'_> {
    /// A table with an element for each place along the dim of the result, and one for each of so many elements around it if asked
    /// for, which are the second index.
    pub(super) fn table<'b>(
        &self,
        importer: &mut Importer<'_, '_, 'b>,
        taps: Option<Poly>,
        elem: Type,
        body: impl FnOnce(&mut Scalars<'_, 'b>, Place) -> Value,
    ) -> Made {
        let shape: Vec<Option<Poly>> = std::iter::once(self.axis.output.clone()).chain(taps).map(Some).collect();
        let rank = shape.len();
        let number = |at: i64| vec![importer.cx().affine_const(at)];
        let inputs = self.roi.iter().flat_map(|(roi, at)| at.iter().map(|at| (*roi, number(*at))));
        let scale = if let Scale::Data(scales, at) = self.axis.scale { Some((scales, number(at))) } else { None };
        let inputs = inputs.chain(scale).map(|(value, index)| ComputeInput { value, index, oob: None }).collect();
        let result = ComputeResult { shape, elem, index: importer.g.dims(0..rank), combiner: None };
        let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, roi| {
            let place = self.place(s, roi);
            vec![body(s, place)]
        });
        Ok(importer.g.b.body().result(op, 0))
    }

    /// Whether places lie outside the input, as a table.
    pub(super) fn outside(&self, importer: &mut Importer<'_, '_, '_>) -> Made {
        self.table(importer, None, Type::I1, |s, place| {
            let (zero, one) = (s.number(0.0, self.ty), s.number(1.0, self.ty));
            let last = s.sub(place.input, one);
            let (low, high) = (
                s.compare(Comparison::GreaterOrEqual, place.at, zero),
                s.compare(Comparison::LessOrEqual, place.at, last),
            );
            let inside = s.bits("arith.andi", low, high);
            s.not(inside)
        })
    }

    /// The numbers of the place at the first iterator; `roi` is the begin and the end of what is sampled.
    fn place(&self, s: &mut Scalars<'_, '_>, roi: &[Value]) -> Place {
        let ty = self.ty;
        let number = |s: &mut Scalars<'_, '_>, size: &Poly| match size.as_const() {
            Some(size) => s.number(size as f64, ty),
            None => {
                let size = s.size(size);
                s.cast(size, ty)
            }
        };
        let (input, output) = (number(s, &self.axis.input), number(s, &self.axis.output));
        let (scale, width) = match self.axis.scale {
            Scale::Known(scale) => {
                let scale = s.number(scale, ty);
                (scale, s.mul(scale, input))
            }
            Scale::Ratio => (s.div(output, input), output),
            Scale::Data(..) => {
                let scale = roi.last().copied().map_or(input, |scale| s.cast(scale, ty));
                (scale, s.mul(scale, input))
            }
        };
        let i = s.index(0);
        let i = s.cast(i, ty);
        let at = match self.coordinates {
            Coordinates::HalfPixel => half_pixel(s, i, scale),
            Coordinates::HalfPixelSymmetric => {
                let (one, two) = (s.number(1.0, ty), s.number(2.0, ty));
                let adjustment = s.div(output, width);
                let (rest, center) = (s.sub(one, adjustment), s.div(input, two));
                let (offset, half) = (s.mul(center, rest), s.number(0.5, ty));
                let middle = s.add(i, half);
                let middle = s.div(middle, scale);
                let at = s.add(offset, middle);
                s.sub(at, half)
            }
            Coordinates::PytorchHalfPixel => {
                let (zero, one, at) = (s.number(0.0, ty), s.number(1.0, ty), half_pixel(s, i, scale));
                let several = s.compare(Comparison::Greater, output, one);
                s.select(several, at, zero)
            }
            Coordinates::AlignCorners => {
                let (zero, one) = (s.number(0.0, ty), s.number(1.0, ty));
                let last = s.sub(input, one);
                let (above, below) = (s.mul(i, last), s.sub(width, one));
                let at = s.div(above, below);
                let single = s.compare(Comparison::Equal, width, one);
                s.select(single, zero, at)
            }
            Coordinates::Asymmetric => s.div(i, scale),
            Coordinates::CropAndResize => cropped(s, i, (input, width), roi),
            Coordinates::HalfPixelForNearest => {
                let half = s.number(0.5, ty);
                let middle = s.add(i, half);
                s.div(middle, scale)
            }
        };
        Place { at, input, scale }
    }
}

fn half_pixel(s: &mut Scalars<'_, '_>, i: Value, scale: Value) -> Value {
    let half = s.number(0.5, s.ty(i));
    let middle = s.add(i, half);
    let middle = s.div(middle, scale);
    s.sub(middle, half)
}

/// The place of element `i` of `width` of a part of the input.
fn cropped(s: &mut Scalars<'_, '_>, i: Value, (input, width): (Value, Value), roi: &[Value]) -> Value {
    let ty = s.ty(i);
    let (begin, end) = (s.cast(roi[0], ty), s.cast(roi[1], ty));
    let (one, half) = (s.number(1.0, ty), s.number(0.5, ty));
    let (last, part, below) = (s.sub(input, one), s.sub(end, begin), s.sub(width, one));
    let first = s.mul(begin, last);
    let (distance, both) = (s.mul(i, part), s.add(begin, end));
    let (distance, both) = (s.mul(distance, last), s.mul(half, both));
    let distance = s.div(distance, below);
    let (at, middle) = (s.add(first, distance), s.mul(both, last));
    let single = s.compare(Comparison::Equal, width, one);
    s.select(single, middle, at)
}
