//! Numbers that are stored in few bits, and products of them.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::{Grain, Scaling, Shifted};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, element_type, fail, of_weight, window, wrong};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::tensor::ElementType;
use super::super::typing::convolution;
use super::super::window::Window;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[
    ("ConvInteger", conv_integer),
    ("DequantizeLinear", dequantize_linear),
    ("DynamicQuantizeLinear", |r| Ok(Conversion::op(DynamicQuantize { x: r.input(0)? }))),
    ("MatMulInteger", mat_mul_integer),
    ("QLinearConv", q_linear_conv),
    ("QLinearMatMul", q_linear_mat_mul),
    ("QuantizeLinear", quantize_linear),
];

/// Types of stored elements, and the version from which on they are: integers of 2 bits since opset 25, which has the interface of 23.
const STORED: [(i64, ElementType); 13] = [
    (10, ElementType::I8),
    (10, ElementType::U8),
    (19, ElementType::F8E4M3FN),
    (19, ElementType::F8E4M3FNUZ),
    (19, ElementType::F8E5M2),
    (19, ElementType::F8E5M2FNUZ),
    (21, ElementType::I16),
    (21, ElementType::U16),
    (21, ElementType::I4),
    (21, ElementType::U4),
    (23, ElementType::F4E2M1FN),
    (23, ElementType::I2),
    (23, ElementType::U2),
];

fn stored_types(since: i64) -> Vec<ElementType> {
    STORED.into_iter().filter(|(first, _)| *first <= since).map(|(_, ty)| ty).collect()
}

/// What an attribute says of an element type; 0 says nothing.
fn type_attribute(r: &NodeReader<'_, '_>, name: &str, allowed: &[ElementType]) -> Result<Option<ElementType>, Reason> {
    let code = r.optional_int(name).unwrap_or(0);
    if code == 0 {
        return Ok(None);
    }
    match ElementType::from_code(code) {
        Some(ty) if allowed.contains(&ty) => Ok(Some(ty)),
        Some(ty) => Err(format!("attribute `{name}` is {code} ({ty}), which the operator does not allow").into()),
        None => Err(format!("attribute `{name}` is {code}, which is no element type").into()),
    }
}

/// A scale, a zero point, and for which elements of a tensor there is one of them.
#[derive(Debug)]
pub(super) struct Parameters<'m> {
    pub(super) scale: &'m str,
    pub(super) zero: Option<&'m str>,
    pub(super) axis: Option<i64>,
    /// 0 says that there are no blocks.
    pub(super) block: i64,
}

impl<'m> Parameters<'m> {
    fn read(r: &NodeReader<'m, '_>) -> Result<Self, Reason> {
        let block = r.optional_int("block_size").unwrap_or(0);
        if block < 0 {
            return Err(format!("attribute `block_size` is {block}, it must be positive").into());
        }
        Ok(Self { scale: r.input(1)?, zero: r.optional(2), axis: r.optional_int("axis"), block })
    }

    fn scaling(&self, importer: &mut Importer<'m, '_, '_>, x: Value) -> Made<Scaling> {
        let scale = importer.value(self.scale)?;
        let zero = self.zero.map(|zero| importer.value(zero)).transpose()?;
        let grain = self.grain(importer, x, scale)?;
        if let Some(zero) = zero {
            let one = importer.g.is_single(scale) && importer.g.is_single(zero);
            let (ranks, name) = ((importer.g.rank(zero), importer.g.rank(scale)), self.scale);
            if !one && ranks.0 != ranks.1 {
                return wrong(format!("has a zero point of rank {} for `{name}`, which has rank {}", ranks.0, ranks.1));
            }
        }
        Ok(Scaling { scale, zero, grain })
    }

    fn grain(&self, importer: &Importer<'m, '_, '_>, x: Value, scale: Value) -> Made<Grain> {
        let (rank, scales) = (importer.g.rank(x), importer.g.rank(scale));
        if scales == 0 || (self.block == 0 && scales == 1 && importer.g.is_single(scale)) {
            return Ok(Grain::Tensor);
        }
        let name = self.scale;
        if self.block > 0 {
            if scales != rank {
                return wrong(format!("has blocks, for which `{name}` must have rank {rank}, not {scales}"));
            }
            let Some(axis) = self.axis else { return wrong("has blocks along no axis") };
            return Ok(Grain::Blocks(importer.g.axis(axis, rank)?, self.block));
        }
        if scales > 1 {
            return wrong(format!("has `{name}` of rank {scales}, which needs a `block_size`"));
        }
        match self.axis {
            // A list has one axis, whatever is said.
            Some(1) if rank == 1 => Ok(Grain::Axis(0)),
            Some(axis) => Ok(Grain::Axis(importer.g.axis(axis, rank)?)),
            None => wrong(format!("takes one scale for all, and `{name}` may have several")),
        }
    }
}

/// Elements of a narrow type for numbers.
#[derive(Debug)]
struct Quantize<'m> {
    x: &'m str,
    parameters: Parameters<'m>,
    to: Option<ElementType>,
    precision: Option<ElementType>,
    saturate: bool,
    since: i64,
}

fn quantize_linear<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    use ElementType::{BF16, F16, F32, F64};
    let precision = type_attribute(r, "precision", &[F32, F16, BF16, F64])?;
    quantize(r, Parameters::read(r)?, precision, r.interface.since)
}

/// The conversion of a node with these parameters, which is as in version `since`.
pub(super) fn quantize<'m>(
    r: &NodeReader<'m, '_>,
    parameters: Parameters<'m>,
    precision: Option<ElementType>,
    since: i64,
) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(Quantize {
        x: r.input(0)?,
        parameters,
        to: type_attribute(r, "output_dtype", &stored_types(since))?,
        precision,
        saturate: r.optional_int("saturate") != Some(0),
        since,
    }))
}

impl<'m> Convert<'m> for Quantize<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        use ElementType::{BF16, F8E8M0FNU, F16, F32, I32};
        let (x, name) = (importer.value(self.x)?, self.parameters.scale);
        let scaling = self.parameters.scaling(importer, x)?;
        let (elem, scale) = (importer.g.elem(x), importer.g.elem(scaling.scale));
        let newer = if self.since < 19 { &[F32, I32][..] } else { &[F32, I32, F16, BF16] };
        importer.check_type(self.x, elem, newer)?;
        let scales = if self.since < 23 { newer.to_vec() } else { [newer, &[F8E8M0FNU]].concat() };
        importer.check_type(name, scale, &scales)?;
        let to = self.stored(importer, scaling.zero)?;
        // A type that is no float of some digits says nothing of the quotient; nor did opsets before 23 where an integer is divided.
        let is_divided = elem == Type::I32 && self.since < 23;
        let quotient = match self.precision {
            Some(precision) => element_type(importer.cx(), precision)?,
            None if scale == Type::I32 || is_divided => Type::F64,
            None if scale == element_type(importer.cx(), F8E8M0FNU)? => Type::F32,
            None => scale,
        };
        Ok(vec![importer.g.quantize(x, &scaling, to, quotient, self.saturate)?])
    }
}

impl<'m> Quantize<'m> {
    /// The type of the stored elements.
    fn stored(&self, importer: &mut Importer<'m, '_, '_>, zero: Option<Value>) -> Made<Type> {
        let said = self.to.map(|to| element_type(importer.cx(), to)).transpose()?;
        let Some(zero) = zero else {
            return Ok(said.map_or_else(|| element_type(importer.cx(), ElementType::U8), Ok)?);
        };
        let elem = importer.g.elem(zero);
        importer.check_type(self.parameters.zero.unwrap_or_default(), elem, &stored_types(self.since))?;
        match (said, self.to) {
            (Some(said), Some(to)) if said != elem => wrong(format!("has a zero point of another type than {to}")),
            _ => Ok(elem),
        }
    }
}

/// The numbers for which elements of a narrow type stand.
#[derive(Debug)]
struct Dequantize<'m> {
    x: &'m str,
    parameters: Parameters<'m>,
    to: Option<ElementType>,
    since: i64,
}

fn dequantize_linear<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    dequantize(r, Parameters::read(r)?, r.interface.since)
}

/// The conversion of a node with these parameters, which is as in version `since`.
pub(super) fn dequantize<'m>(r: &NodeReader<'m, '_>, parameters: Parameters<'m>, since: i64) -> Result<Op<'m>, Reason> {
    use ElementType::{BF16, F16, F32};
    let to = type_attribute(r, "output_dtype", &[F32, F16, BF16])?;
    Ok(Conversion::op(Dequantize { x: r.input(0)?, parameters, to, since }))
}

impl<'m> Convert<'m> for Dequantize<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        use ElementType::{BF16, F8E8M0FNU, F16, F32, I32};
        let (x, name) = (importer.value(self.x)?, self.parameters.scale);
        let scaling = self.parameters.scaling(importer, x)?;
        let (elem, scale) = (importer.g.elem(x), importer.g.elem(scaling.scale));
        let types: Vec<ElementType> = stored_types(self.since).into_iter().chain([I32]).collect();
        importer.check_type(self.x, elem, &types)?;
        let scales: &[ElementType] = match self.since {
            ..19 => &[F32],
            19..23 => &[F32, F16, BF16],
            _ => &[F32, F16, BF16, F8E8M0FNU],
        };
        importer.check_type(name, scale, scales)?;
        let to = match self.to {
            Some(to) => element_type(importer.cx(), to)?,
            None if scale == element_type(importer.cx(), F8E8M0FNU)? => {
                return wrong(format!("says no type of its result, and `{name}` has none that it could be"));
            }
            None => scale,
        };
        Ok(vec![importer.g.dequantize(x, &scaling, to)?])
    }
}

/// Elements of 8 bits without sign, with the scale and the zero point that all of them fit.
#[derive(Debug)]
struct DynamicQuantize<'m> {
    x: &'m str,
}

impl<'m> Convert<'m> for DynamicQuantize<'m> {
    fn results(&self) -> usize {
        3
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let to = element_type(importer.cx(), ElementType::U8)?;
        Ok(importer.g.quantize_by_range(x, to)?.to_vec())
    }
}

/// A factor of a product.
#[derive(Debug)]
pub(super) struct Factor<'m> {
    pub(super) value: &'m str,
    pub(super) zero: Option<&'m str>,
}

/// Which dimension of a matrix has scales and zero points of its own.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Rows,
    Columns,
}

impl<'m> Factor<'m> {
    pub(super) fn shifted(&self, importer: &mut Importer<'m, '_, '_>, side: Side) -> Made<Shifted> {
        let value = importer.value(self.value)?;
        let zero = self.zero.map(|zero| per_line(importer, value, zero, side)).transpose()?;
        Ok(Shifted { value, zero })
    }
}

/// A scale or zero point of a matrix: one for all as a tensor of rank 0; one for each row or column so that it is broadcast to the
/// matrix.
pub(super) fn per_line<'m>(importer: &mut Importer<'m, '_, '_>, matrix: Value, name: &'m str, side: Side) -> Made {
    let given = importer.value(name)?;
    let single = importer.g.as_scalar(given)?;
    let (rank, of) = (importer.g.rank(single), importer.g.rank(matrix));
    if rank == 0 {
        return Ok(single);
    }
    let (own, other) = match side {
        _ if of < 2 => return wrong(format!("has `{name}` of rank {rank} for a vector; one number is needed")),
        Side::Rows => (of - 2, of - 1),
        Side::Columns => (of - 1, of - 2),
    };
    let (shape, sizes) = (importer.g.shape(matrix), importer.g.shape(single));
    let lines = if matches!(side, Side::Rows) { "rows" } else { "columns" };
    let at = if rank == 1 { 0 } else { own };
    if rank != 1 && rank != of {
        return wrong(format!("has `{name}` of rank {rank} for a matrix of rank {of}"));
    }
    importer.g.unify(&sizes[at], &shape[own], || format!("the {lines} and the numbers of `{name}`"))?;
    if rank == 1 {
        let axes: Vec<usize> = if other > own { vec![1] } else { Vec::new() };
        return if axes.is_empty() { Ok(single) } else { Ok(importer.g.unsqueeze(single, &axes)?) };
    }
    importer.g.unify(&sizes[other], &Some(Poly::from(1)), || format!("the size of `{name}` and 1"))?;
    Ok(single)
}

/// The product of matrices of integers, in integers of 32 bits.
#[derive(Debug)]
struct MatMulInteger<'m> {
    a: Factor<'m>,
    b: Factor<'m>,
}

fn mat_mul_integer<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (a, b) = (r.input(0)?, r.input(1)?);
    let (a, b) = (Factor { value: a, zero: r.optional(2) }, Factor { value: b, zero: r.optional(3) });
    Ok(Conversion::op(MatMulInteger { a, b }))
}

impl<'m> Convert<'m> for MatMulInteger<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (a, b) = (self.a.shifted(importer, Side::Rows)?, self.b.shifted(importer, Side::Columns)?);
        Ok(vec![importer.g.shifted_product((a, false), (b, false))?])
    }
}

/// The product of matrices of stored elements, stored again.
#[derive(Debug)]
struct QLinearMatMul<'m> {
    a: Factor<'m>,
    b: Factor<'m>,
    scales: [&'m str; 3],
    zero: &'m str,
    since: i64,
}

fn q_linear_mat_mul<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (a, b) = (r.input(0)?, r.input(3)?);
    let (a, b) = (Factor { value: a, zero: Some(r.input(2)?) }, Factor { value: b, zero: Some(r.input(5)?) });
    let scales = [r.input(1)?, r.input(4)?, r.input(6)?];
    Ok(Conversion::op(QLinearMatMul { a, b, scales, zero: r.input(7)?, since: r.interface.since }))
}

impl<'m> Convert<'m> for QLinearMatMul<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (a, b) = (self.a.shifted(importer, Side::Rows)?, self.b.shifted(importer, Side::Columns)?);
        let types: Vec<ElementType> =
            stored_types(self.since.min(20)).into_iter().filter(|_| self.since >= 21).collect();
        for name in [self.a.value, self.b.value, self.zero] {
            let value = importer.value(name)?;
            let elem = importer.g.elem(value);
            importer.check_type(name, elem, &types)?;
        }
        let vectors = [a.value, b.value].map(|factor| importer.g.rank(factor) == 1);
        let scale_a = per_line(importer, a.value, self.scales[0], Side::Rows)?;
        let scale_b = per_line(importer, b.value, self.scales[1], Side::Columns)?;
        let (scale, zero) = (one(importer, self.scales[2])?, one(importer, self.zero)?);
        // Scales have the place of a row or a column that a vector does not give the product.
        let scale_a = without(importer, scale_a, 1, vectors[1])?;
        let scale_b = without(importer, scale_b, 2, vectors[0])?;
        let product = importer.g.shifted_product((a, false), (b, false))?;
        let factor = importer.g.scale_ratio(scale_a, scale_b, scale)?;
        let to = importer.g.elem(zero);
        Ok(vec![importer.g.requantize(product, factor, None, Some(zero), to)?])
    }
}

/// The tensor without its dimension `from_end`, of size 1, if it has it and a vector makes it go.
fn without(importer: &mut Importer<'_, '_, '_>, scale: Value, from_end: usize, goes: bool) -> Made {
    match importer.g.rank(scale).checked_sub(from_end) {
        Some(at) if goes => Ok(importer.g.squeeze(scale, &[at])?),
        _ => Ok(scale),
    }
}

/// A parameter of which there must be one.
pub(super) fn one<'m>(importer: &mut Importer<'m, '_, '_>, name: &'m str) -> Made {
    let value = importer.value(name)?;
    let value = importer.g.as_scalar(value)?;
    match importer.g.rank(value) {
        0 => Ok(value),
        rank => fail(format!("has `{name}` of rank {rank}; one number is supported")),
    }
}

/// The convolution of integers, in integers of 32 bits.
#[derive(Debug)]
pub(super) struct ConvInteger<'m> {
    pub(super) x: Factor<'m>,
    pub(super) weight: Factor<'m>,
    pub(super) group: u64,
    pub(super) window: Window,
}

fn conv_integer<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (weight, group, window) = convolution(r, 1)?;
    let (x, weight) =
        (Factor { value: r.input(0)?, zero: r.optional(2) }, Factor { value: weight, zero: r.optional(3) });
    Ok(Conversion::op(ConvInteger { x, weight, group, window }))
}

impl<'m> ConvInteger<'m> {
    /// The sums of a convolution of `x`.
    fn sums(&self, importer: &mut Importer<'m, '_, '_>, x: Value) -> Made {
        let weight = importer.value(self.weight.value)?;
        let zero_x = self.x.zero.map(|zero| one(importer, zero)).transpose()?;
        let zero_weight = self.weight.zero.map(|zero| per_output(importer, weight, zero)).transpose()?;
        let zero_weight = zero_weight.map(|zero| behind(importer, zero, weight, 1)).transpose()?;
        let group = i64::try_from(self.group).or_else(|_| fail("has too many groups"))?;
        let window = window(&of_weight(&self.window, &importer.g.shape(weight))?, false)?;
        let (x, weight) = (Shifted { value: x, zero: zero_x }, Shifted { value: weight, zero: zero_weight });
        Ok(importer.g.shifted_conv(x, weight, group, &window)?)
    }
}

impl<'m> Convert<'m> for ConvInteger<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x.value)?;
        Ok(vec![self.sums(importer, x)?])
    }
}

/// A parameter of a weight: one, or one for each output channel.
fn per_output<'m>(importer: &mut Importer<'m, '_, '_>, weight: Value, name: &'m str) -> Made {
    let given = importer.value(name)?;
    let single = importer.g.as_scalar(given)?;
    let sizes = importer.g.shape(single);
    match &sizes[..] {
        [] => {}
        [size] => {
            let channels = importer.g.shape(weight).first().cloned().flatten();
            importer.g.unify(size, &channels, || format!("the output channels and the numbers of `{name}`"))?;
        }
        _ => return wrong(format!("has `{name}` of rank {}; a number or a list is needed", sizes.len())),
    }
    Ok(single)
}

/// A list with so many dimensions of size 1 behind it that its elements are for the dimension of `like` which has `behind` less one
/// before it.
fn behind(importer: &mut Importer<'_, '_, '_>, list: Value, like: Value, behind: usize) -> Made {
    let rank = importer.g.rank(like);
    match importer.g.rank(list) {
        0 => Ok(list),
        _ => Ok(importer.g.unsqueeze(list, &(1..=rank.saturating_sub(behind)).collect::<Vec<_>>())?),
    }
}

/// The convolution of stored elements, stored again.
#[derive(Debug)]
pub(super) struct QLinearConv<'m> {
    pub(super) product: ConvInteger<'m>,
    pub(super) scales: [&'m str; 3],
    pub(super) zero: &'m str,
    pub(super) bias: Option<&'m str>,
}

fn q_linear_conv<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(QLinearConv::read(r)?))
}

impl<'m> QLinearConv<'m> {
    pub(super) fn read(r: &NodeReader<'m, '_>) -> Result<Self, Reason> {
        let (weight, group, window) = convolution(r, 3)?;
        let x = Factor { value: r.input(0)?, zero: Some(r.input(2)?) };
        let weight = Factor { value: weight, zero: Some(r.input(5)?) };
        let scales = [r.input(1)?, r.input(4)?, r.input(6)?];
        let product = ConvInteger { x, weight, group, window };
        Ok(Self { product, scales, zero: r.input(7)?, bias: r.optional(8) })
    }
}

impl<'m> Convert<'m> for QLinearConv<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.product.x.value)?;
        Ok(vec![self.of(importer, x)?])
    }
}

impl<'m> QLinearConv<'m> {
    /// The convolution of `x`.
    pub(super) fn of(&self, importer: &mut Importer<'m, '_, '_>, x: Value) -> Made {
        let weight = importer.value(self.product.weight.value)?;
        let scale_weight = per_output(importer, weight, self.scales[1])?;
        let (scale_x, scale, zero) =
            (one(importer, self.scales[0])?, one(importer, self.scales[2])?, one(importer, self.zero)?);
        let bias = match self.bias {
            Some(name) => {
                let bias = per_output(importer, weight, name)?;
                Some(behind(importer, bias, weight, 2)?)
            }
            None => None,
        };
        let sums = self.product.sums(importer, x)?;
        let factor = importer.g.scale_ratio(scale_x, scale_weight, scale)?;
        let factor = behind(importer, factor, weight, 2)?;
        let to = importer.g.elem(zero);
        Ok(importer.g.requantize(sums, factor, bias, Some(zero), to)?)
    }
}
