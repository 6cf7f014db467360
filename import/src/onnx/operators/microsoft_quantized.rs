//! Operators of onnxruntime's quantizer, of the domain `com.microsoft`.

use sutura_dialects::graph::build::{Blocks, Grain, Scaling, Shifted};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, element_type, fail, window, wrong};
use super::super::error::{Reason, unsupported};
use super::super::named::NamedNumber;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::tensor::ElementType;
use super::super::window::Window;
use super::quantized::{self, Factor, Parameters, Side, one, per_line};
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[
    ("DequantizeLinear", dequantize_linear),
    ("DynamicQuantizeMatMul", dynamic_quantize_mat_mul),
    ("MatMulIntegerToFloat", mat_mul_integer_to_float),
    ("MatMulNBits", mat_mul_n_bits),
    ("NhwcMaxPool", nhwc_max_pool),
    ("QGemm", q_gemm),
    ("QLinearAdd", |r| q_linear_binary(r, Pairwise::Add)),
    ("QLinearAveragePool", q_linear_average_pool),
    ("QLinearConcat", q_linear_concat),
    ("QLinearConv", q_linear_conv),
    ("QLinearGlobalAveragePool", q_linear_global_average_pool),
    ("QLinearLeakyRelu", q_linear_leaky_relu),
    ("QLinearMul", |r| q_linear_binary(r, Pairwise::Mul)),
    ("QLinearSigmoid", |r| {
        Ok(Conversion::op(QLinearFunction { function: Function::Sigmoid, numbers: Numbers::read(r)? }))
    }),
    ("QLinearSoftmax", q_linear_softmax),
    ("QLinearWhere", q_linear_where),
    ("QuantizeLinear", quantize_linear),
];

/// The version of ONNX's operators that has the types of these.
const TYPES: i64 = 21;

fn quantize_linear<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let axis = Some(r.optional_int("axis").unwrap_or(1));
    let parameters = Parameters { scale: r.input(1)?, zero: r.optional(2), axis, block: 0 };
    quantized::quantize(r, parameters, Some(ElementType::F32), TYPES)
}

fn dequantize_linear<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let axis = Some(r.optional_int("axis").unwrap_or(1));
    quantized::dequantize(r, Parameters { scale: r.input(1)?, zero: r.optional(2), axis, block: 0 }, TYPES)
}

/// A tensor of stored elements, with one scale and one zero point.
#[derive(Debug)]
struct Stored<'m> {
    value: &'m str,
    scale: &'m str,
    zero: Option<&'m str>,
}

impl<'m> Stored<'m> {
    /// From inputs that follow one another.
    fn read(r: &NodeReader<'m, '_>, first: usize) -> Result<Self, Reason> {
        Ok(Self { value: r.input(first)?, scale: r.input(first + 1)?, zero: r.optional(first + 2) })
    }

    fn scaling(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Scaling> {
        let scale = one(importer, self.scale)?;
        let zero = self.zero.map(|zero| one(importer, zero)).transpose()?;
        Ok(Scaling { scale, zero, grain: Grain::Tensor })
    }

    /// The elements less the zero point, in 32 bits.
    fn shifted(&self, importer: &mut Importer<'m, '_, '_>) -> Made {
        let x = importer.value(self.value)?;
        let zero = self.zero.map(|zero| one(importer, zero)).transpose()?;
        let operands: Vec<Value> = std::iter::once(x).chain(zero).collect();
        Ok(importer.g.elementwise(&operands, Type::I32, |s, args| {
            let x = s.cast(args[0], Type::I32);
            match args.get(1) {
                Some(zero) => {
                    let zero = s.cast(*zero, Type::I32);
                    s.sub(x, zero)
                }
                None => x,
            }
        })?)
    }

    /// The numbers for which the elements stand.
    fn numbers(&self, importer: &mut Importer<'m, '_, '_>) -> Made {
        let (x, scaling) = (importer.value(self.value)?, self.scaling(importer)?);
        Ok(importer.g.dequantize(x, &scaling, Type::F32)?)
    }
}

/// How results are stored: as elements of the type of the inputs, where no zero point says another.
#[derive(Debug)]
struct Target<'m> {
    scale: &'m str,
    zero: Option<&'m str>,
}

impl<'m> Target<'m> {
    fn stored(&self, importer: &mut Importer<'m, '_, '_>, numbers: Value, to: Type) -> Made {
        let scale = one(importer, self.scale)?;
        let zero = self.zero.map(|zero| one(importer, zero)).transpose()?;
        let to = zero.map_or(to, |zero| importer.g.elem(zero));
        let scaling = Scaling { scale, zero, grain: Grain::Tensor };
        Ok(importer.g.quantize(numbers, &scaling, to, Type::F32, true)?)
    }
}

/// A stored tensor, and how the result is stored.
#[derive(Debug)]
struct Numbers<'m> {
    x: Stored<'m>,
    target: Target<'m>,
}

impl<'m> Numbers<'m> {
    fn read(r: &NodeReader<'m, '_>) -> Result<Self, Reason> {
        Ok(Self { x: Stored::read(r, 0)?, target: Target { scale: r.input(3)?, zero: r.optional(4) } })
    }

    /// What `function` makes of the numbers, stored again.
    fn through(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        function: impl FnOnce(&mut Importer<'m, '_, '_>, Value) -> Made,
    ) -> Made<Vec<Value>> {
        let x = importer.value(self.x.value)?;
        let elem = importer.g.elem(x);
        let numbers = self.x.numbers(importer)?;
        let made = function(importer, numbers)?;
        Ok(vec![self.target.stored(importer, made, elem)?])
    }
}

/// The dimensions of `x` with the channels, which come last, behind the first one; or back.
fn channels_first(importer: &mut Importer<'_, '_, '_>, x: Value, back: bool) -> Made {
    let rank = importer.g.rank(x);
    if rank < 3 {
        return wrong(format!("has an input of rank {rank}, which has no spatial dims"));
    }
    let order: Vec<usize> = match back {
        false => [0, rank - 1].into_iter().chain(1..rank - 1).collect(),
        true => std::iter::once(0).chain(2..rank).chain([1]).collect(),
    };
    Ok(importer.g.transpose(x, &order)?)
}

/// What `function` makes of `x`, where channels may come last.
fn by_channels<'m>(
    importer: &mut Importer<'m, '_, '_>,
    x: Value,
    last: bool,
    function: impl FnOnce(&mut Importer<'m, '_, '_>, Value) -> Made,
) -> Made {
    if !last {
        return function(importer, x);
    }
    let x = channels_first(importer, x, false)?;
    let made = function(importer, x)?;
    channels_first(importer, made, true)
}

/// An operator of two numbers.
#[derive(Clone, Copy, Debug)]
enum Pairwise {
    Add,
    Mul,
}

#[derive(Debug)]
struct QLinearBinary<'m> {
    function: Pairwise,
    a: Stored<'m>,
    b: Stored<'m>,
    target: Target<'m>,
}

fn q_linear_binary<'m>(r: &NodeReader<'m, '_>, function: Pairwise) -> Result<Op<'m>, Reason> {
    let target = Target { scale: r.input(6)?, zero: r.optional(7) };
    Ok(Conversion::op(QLinearBinary { function, a: Stored::read(r, 0)?, b: Stored::read(r, 3)?, target }))
}

impl<'m> Convert<'m> for QLinearBinary<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.a.value)?;
        let elem = importer.g.elem(x);
        if let Pairwise::Mul = self.function {
            // The product of the differences is exact.
            let (a, b) = (self.a.shifted(importer)?, self.b.shifted(importer)?);
            let product = importer.g.zip(a, b, |s, a, b| s.mul(a, b))?;
            let (scale_a, scale_b) = (one(importer, self.a.scale)?, one(importer, self.b.scale)?);
            let scale = one(importer, self.target.scale)?;
            let factor = importer.g.scale_ratio(scale_a, scale_b, scale)?;
            let zero = self.target.zero.map(|zero| one(importer, zero)).transpose()?;
            return Ok(vec![importer.g.requantize(product, factor, None, zero, elem)?]);
        }
        let (a, b) = (self.a.numbers(importer)?, self.b.numbers(importer)?);
        let made = importer.g.zip(a, b, |s, a, b| s.add(a, b))?;
        Ok(vec![self.target.stored(importer, made, elem)?])
    }
}

#[derive(Debug)]
struct QLinearWhere<'m> {
    condition: &'m str,
    x: Stored<'m>,
    y: Stored<'m>,
    target: Target<'m>,
}

fn q_linear_where<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let target = Target { scale: r.input(7)?, zero: r.optional(8) };
    Ok(Conversion::op(QLinearWhere { condition: r.input(0)?, x: Stored::read(r, 1)?, y: Stored::read(r, 4)?, target }))
}

impl<'m> Convert<'m> for QLinearWhere<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (condition, value) = (importer.value(self.condition)?, importer.value(self.x.value)?);
        let elem = importer.g.elem(value);
        let (x, y) = (self.x.numbers(importer)?, self.y.numbers(importer)?);
        let made =
            importer.g.elementwise(&[condition, x, y], Type::F32, |s, args| s.select(args[0], args[1], args[2]))?;
        Ok(vec![self.target.stored(importer, made, elem)?])
    }
}

/// A function of numbers, from the library.
#[derive(Clone, Copy, Debug)]
enum Function {
    Sigmoid,
    LeakyRelu(f32),
    Softmax(i64),
    SoftmaxFrom(i64),
}

#[derive(Debug)]
struct QLinearFunction<'m> {
    function: Function,
    numbers: Numbers<'m>,
}

fn q_linear_leaky_relu<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let function = Function::LeakyRelu(r.float("alpha")?);
    Ok(Conversion::op(QLinearFunction { function, numbers: Numbers::read(r)? }))
}

fn q_linear_softmax<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let axis = r.int("axis")?;
    let function = if r.int("opset")? < 13 { Function::SoftmaxFrom(axis) } else { Function::Softmax(axis) };
    Ok(Conversion::op(QLinearFunction { function, numbers: Numbers::read(r)? }))
}

impl<'m> Convert<'m> for QLinearFunction<'m> {
    fn operators(&self) -> &'static [&'static str] {
        match self.function {
            Function::Sigmoid => &["sigmoid"],
            Function::LeakyRelu(_) => &["leaky_relu"],
            Function::Softmax(_) => &["softmax"],
            Function::SoftmaxFrom(_) => &["softmax_from"],
        }
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let attributes = match self.function {
            Function::Sigmoid => vec![],
            Function::LeakyRelu(alpha) => vec![("alpha".to_owned(), NamedNumber::Float(alpha))],
            Function::Softmax(axis) | Function::SoftmaxFrom(axis) => vec![("axis".to_owned(), NamedNumber::Int(axis))],
        };
        let operator = self.operators()[0];
        self.numbers.through(importer, |importer, x| importer.applied(operator, &[x], &attributes))
    }
}

#[derive(Debug)]
struct QLinearAveragePool<'m> {
    numbers: Numbers<'m>,
    /// Without one: the whole image.
    window: Option<Window>,
    count_padding: bool,
    ceil: bool,
    last: bool,
}

fn q_linear_average_pool<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(QLinearAveragePool {
        numbers: Numbers::read(r)?,
        window: Some(Window::read(r, None)?),
        count_padding: r.flag("count_include_pad")?,
        ceil: r.flag("ceil_mode")?,
        last: r.flag("channels_last")?,
    }))
}

fn q_linear_global_average_pool<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (numbers, last) = (Numbers::read(r)?, r.flag("channels_last")?);
    Ok(Conversion::op(QLinearAveragePool { numbers, window: None, count_padding: false, ceil: false, last }))
}

impl<'m> Convert<'m> for QLinearAveragePool<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        self.numbers.through(importer, |importer, x| {
            by_channels(importer, x, self.last, |importer, x| match &self.window {
                Some(of) => Ok(importer.g.average_pool(x, &window(of, self.ceil)?, self.count_padding)?),
                None => {
                    let axes: Vec<usize> = (2..importer.g.rank(x)).collect();
                    Ok(importer.g.mean(x, &axes, true)?)
                }
            })
        })
    }
}

#[derive(Debug)]
struct NhwcMaxPool<'m> {
    x: &'m str,
    window: Window,
    ceil: bool,
}

fn nhwc_max_pool<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(NhwcMaxPool { x: r.input(0)?, window: Window::read(r, None)?, ceil: r.flag("ceil_mode")? }))
}

impl<'m> Convert<'m> for NhwcMaxPool<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let window = window(&self.window, self.ceil)?;
        Ok(vec![by_channels(importer, x, true, |importer, x| Ok(importer.g.max_pool(x, &window)?))?])
    }
}

/// Stored tensors, or tensors of numbers, one after the other along an axis.
#[derive(Debug)]
struct QLinearConcat<'m> {
    inputs: Vec<Stored<'m>>,
    target: Target<'m>,
    axis: i64,
}

fn q_linear_concat<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let given = r.inputs().len();
    if given < 5 || given % 3 != 2 {
        return Err(format!("has {given} inputs: two, then three for each tensor").into());
    }
    let inputs = (2..given).step_by(3).map(|first| Stored::read(r, first)).collect::<Result<_, _>>()?;
    let target = Target { scale: r.input(0)?, zero: r.optional(1) };
    Ok(Conversion::op(QLinearConcat { inputs, target, axis: r.int("axis")? }))
}

impl<'m> Convert<'m> for QLinearConcat<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let mut parts = Vec::new();
        for input in &self.inputs {
            let x = importer.value(input.value)?;
            let elem = importer.g.elem(x);
            if elem.is_float(importer.cx()) {
                return fail(format!("joins `{}`, which is not quantised", input.value));
            }
            let numbers = input.numbers(importer)?;
            parts.push(self.target.stored(importer, numbers, elem)?);
        }
        let Some(first) = parts.first() else { return wrong("has no input") };
        let axis = importer.g.axis(self.axis, importer.g.rank(*first))?;
        Ok(vec![if parts.len() == 1 { *first } else { importer.g.concat(&parts, axis)? }])
    }
}

/// `QLinearConv`, whose channels may come last.
#[derive(Debug)]
struct QLinearConv<'m> {
    conv: quantized::QLinearConv<'m>,
    last: bool,
}

fn q_linear_conv<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let conv = quantized::QLinearConv::read(r)?;
    Ok(Conversion::op(QLinearConv { conv, last: r.flag("channels_last")? }))
}

impl<'m> Convert<'m> for QLinearConv<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.conv.product.x.value)?;
        Ok(vec![by_channels(importer, x, self.last, |importer, x| self.conv.of(importer, x))?])
    }
}

/// `alpha * (A - a0) (B - b0) + C`, as numbers, or stored again.
#[derive(Debug)]
struct QGemm<'m> {
    a: Factor<'m>,
    b: Factor<'m>,
    scales: [&'m str; 2],
    bias: Option<&'m str>,
    target: Option<Target<'m>>,
    transposed: [bool; 2],
    alpha: f32,
}

fn q_gemm<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let target = match (r.optional(7), r.optional(8)) {
        (Some(scale), Some(zero)) => Some(Target { scale, zero: Some(zero) }),
        (None, None) => None,
        _ => return Err("has only one of `y_scale` and `y_zero_point`".into()),
    };
    Ok(Conversion::op(QGemm {
        a: Factor { value: r.input(0)?, zero: Some(r.input(2)?) },
        b: Factor { value: r.input(3)?, zero: Some(r.input(5)?) },
        scales: [r.input(1)?, r.input(4)?],
        bias: r.optional(6),
        target,
        transposed: [r.flag("transA")?, r.flag("transB")?],
        alpha: r.float("alpha")?,
    }))
}

impl<'m> Convert<'m> for QGemm<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let [across_a, across_b] = self.transposed;
        let columns = if across_b { Side::Rows } else { Side::Columns };
        let a = Shifted {
            value: importer.value(self.a.value)?,
            zero: self.a.zero.map(|zero| one(importer, zero)).transpose()?,
        };
        let b = self.b.shifted(importer, columns)?;
        if importer.g.rank(a.value) != 2 || importer.g.rank(b.value) != 2 {
            return wrong("needs matrices of rank 2");
        }
        let mut sums = importer.g.shifted_product((a, across_a), (b, across_b))?;
        if let Some(bias) = self.bias {
            let bias = importer.value(bias)?;
            sums = importer.g.zip(sums, bias, |s, sum, bias| s.add(sum, bias))?;
        }
        let scale_a = one(importer, self.scales[0])?;
        let scale_b = importer.value(self.scales[1])?;
        let scale_b = importer.g.as_scalar(scale_b)?;
        let alpha = f64::from(self.alpha);
        let scale = importer.g.zip(scale_b, scale_a, |s, b, a| {
            let product = s.mul(a, b);
            if alpha == 1.0 {
                return product;
            }
            let alpha = s.number(alpha, s.ty(product));
            s.mul(alpha, product)
        })?;
        let Some(target) = &self.target else {
            return Ok(vec![importer.g.zip(scale, sums, |s, scale, sum| {
                let sum = s.cast(sum, s.ty(scale));
                s.mul(sum, scale)
            })?]);
        };
        let (to_scale, zero) = (one(importer, target.scale)?, target.zero.map(|zero| one(importer, zero)).transpose()?);
        let factor = importer.g.zip(scale, to_scale, |s, scale, to| s.div(scale, to))?;
        let to = zero.map_or(importer.g.elem(a.value), |zero| importer.g.elem(zero));
        Ok(vec![importer.g.requantize(sums, factor, None, zero, to)?])
    }
}

/// The product of integers as numbers: `A` is stored already, or is stored here with the scale that its range needs.
#[derive(Debug)]
struct MatMulToFloat<'m> {
    a: Factor<'m>,
    b: Factor<'m>,
    /// Without the first one `A` holds numbers.
    scale_a: Option<&'m str>,
    scale_b: &'m str,
    bias: Option<&'m str>,
}

fn dynamic_quantize_mat_mul<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (a, b) = (Factor { value: r.input(0)?, zero: None }, Factor { value: r.input(1)?, zero: r.optional(3) });
    Ok(Conversion::op(MatMulToFloat { a, b, scale_a: None, scale_b: r.input(2)?, bias: r.optional(4) }))
}

fn mat_mul_integer_to_float<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (a, b) =
        (Factor { value: r.input(0)?, zero: r.optional(4) }, Factor { value: r.input(1)?, zero: r.optional(5) });
    Ok(Conversion::op(MatMulToFloat { a, b, scale_a: Some(r.input(2)?), scale_b: r.input(3)?, bias: r.optional(6) }))
}

impl<'m> Convert<'m> for MatMulToFloat<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (a, scale_a) = match self.scale_a {
            Some(scale) => {
                let a = self.a.shifted(importer, Side::Rows)?;
                (a, per_line(importer, a.value, scale, Side::Rows)?)
            }
            None => {
                let x = importer.value(self.a.value)?;
                let to = element_type(importer.cx(), ElementType::U8)?;
                let [value, scale, zero] = importer.g.quantize_by_range(x, to)?;
                (Shifted { value, zero: Some(zero) }, scale)
            }
        };
        let b = self.b.shifted(importer, Side::Columns)?;
        let vectors = [a.value, b.value].map(|factor| importer.g.rank(factor) < 2);
        if vectors.contains(&true) {
            return fail("multiplies a vector, which is not supported; matrices are");
        }
        let scale_b = per_line(importer, b.value, self.scale_b, Side::Columns)?;
        let sums = importer.g.shifted_product((a, false), (b, false))?;
        let scale = importer.g.zip(scale_a, scale_b, |s, a, b| s.mul(a, b))?;
        let made = importer.g.zip(scale, sums, |s, scale, sum| {
            let sum = s.cast(sum, s.ty(scale));
            s.mul(sum, scale)
        })?;
        let Some(bias) = self.bias else { return Ok(vec![made]) };
        let bias = importer.value(bias)?;
        Ok(vec![importer.g.zip(made, bias, |s, made, bias| s.add(made, bias))?])
    }
}

/// The product with a matrix whose columns are stored in blocks of a few bits for each number.
#[derive(Debug)]
struct MatMulNBits<'m> {
    a: &'m str,
    packed: &'m str,
    scales: &'m str,
    zeros: Option<&'m str>,
    bias: Option<&'m str>,
    columns: i64,
    blocks: Blocks,
}

fn mat_mul_n_bits<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (columns, length, block, bits) = (r.int("N")?, r.int("K")?, r.int("block_size")?, r.int("bits")?);
    if ![2, 4, 8].contains(&bits) {
        return Err(unsupported(format!("attribute `bits` is {bits}, which is not supported; 2, 4, 8 are")));
    }
    if block < 16 || block.count_ones() != 1 {
        return Err(format!("attribute `block_size` is {block}, it must be a power of 2 and at least 16").into());
    }
    if columns < 1 || length < 1 {
        return Err(format!("has a weight of {length} by {columns} numbers").into());
    }
    if r.int("weight_prepacked")? != 0 {
        return Err(unsupported("has a weight in the order of another machine (`weight_prepacked`)"));
    }
    if r.optional(4).is_some() {
        return Err(unsupported("input `g_idx` is not supported"));
    }
    Ok(Conversion::op(MatMulNBits {
        a: r.input(0)?,
        packed: r.input(1)?,
        scales: r.input(2)?,
        zeros: r.optional(3),
        bias: r.optional(5),
        columns,
        blocks: Blocks { length, block, bits },
    }))
}

impl<'m> Convert<'m> for MatMulNBits<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (a, packed, scales) = (importer.value(self.a)?, importer.value(self.packed)?, importer.value(self.scales)?);
        let zeros = self.zeros.map(|zeros| importer.value(zeros)).transpose()?;
        let weight = importer.g.unpacked(packed, scales, zeros, self.columns, &self.blocks)?;
        let made = importer.g.product(a, weight, false, true)?;
        let Some(bias) = self.bias else { return Ok(vec![made]) };
        let bias = importer.value(bias)?;
        Ok(vec![importer.g.zip(made, bias, |s, made, bias| s.add(made, bias))?])
    }
}
