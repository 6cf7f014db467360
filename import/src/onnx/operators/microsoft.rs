//! Operators of onnxruntime's optimizer, of the domain `com.microsoft`, that no declaration says alone.

use sutura_ir::Value;

use super::super::convert::{Importer, Made, of_weight, window, wrong};
use super::super::error::{Reason, unsupported};
use super::super::model::Attribute;
use super::super::named::NamedNumber;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::typing::convolution;
use super::super::window::Window;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[
    ("BiasGelu", |r| Ok(Conversion::op(BiasGelu { x: r.input(0)?, bias: Some(r.input(1)?), by_tanh: false }))),
    ("EmbedLayerNormalization", embed_layer_normalization),
    ("FastGelu", |r| Ok(Conversion::op(BiasGelu { x: r.input(0)?, bias: r.optional(1), by_tanh: true }))),
    ("FusedConv", fused_conv),
    ("FusedGemm", fused_gemm),
    ("FusedMatMul", fused_mat_mul),
    ("SkipLayerNormalization", |r| skip_layer_normalization(r, false)),
    ("SkipSimplifiedLayerNormalization", |r| skip_layer_normalization(r, true)),
    ("TransposeMatMul", fused_mat_mul),
];

/// gelu of a sum.
#[derive(Debug)]
struct BiasGelu<'m> {
    x: &'m str,
    bias: Option<&'m str>,
    by_tanh: bool,
}

impl<'m> Convert<'m> for BiasGelu<'m> {
    fn operators(&self) -> &'static [&'static str] {
        if self.by_tanh { &["gelu_tanh"] } else { &["gelu"] }
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let mut x = importer.value(self.x)?;
        if let Some(bias) = self.bias {
            let bias = list(importer, bias)?;
            x = importer.g.zip(x, bias, |s, x, bias| s.add(x, bias))?;
        }
        Ok(vec![importer.applied(self.operators()[0], &[x], &[])?])
    }
}

/// A value that must be a list.
fn list<'m>(importer: &mut Importer<'m, '_, '_>, name: &'m str) -> Made {
    let value = importer.value(name)?;
    match importer.g.rank(value) {
        1 => Ok(value),
        rank => wrong(format!("has `{name}` of rank {rank}; a list is needed")),
    }
}

/// A product of matrices, transposed before, and multiplied by a number behind.
#[derive(Debug)]
struct FusedMatMul<'m> {
    a: (&'m str, bool, bool),
    b: (&'m str, bool, bool),
    alpha: f32,
}

fn fused_mat_mul<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let a = (r.input(0)?, r.flag("transA")?, r.flag("transBatchA")?);
    let b = (r.input(1)?, r.flag("transB")?, r.flag("transBatchB")?);
    Ok(Conversion::op(FusedMatMul { a, b, alpha: r.float("alpha")? }))
}

/// A factor with its first dimension behind those of the batch, if they are to be transposed; a vector is left as it is.
fn factor<'m>(
    importer: &mut Importer<'m, '_, '_>,
    (name, across, batch): (&'m str, bool, bool),
) -> Made<(Value, bool)> {
    let value = importer.value(name)?;
    let rank = importer.g.rank(value);
    if !batch || rank < 3 {
        return Ok((value, across && rank > 1));
    }
    let order: Vec<usize> = (1..rank - 1).chain([0, rank - 1]).collect();
    Ok((importer.g.transpose(value, &order)?, across))
}

impl<'m> Convert<'m> for FusedMatMul<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let ((a, across_a), (b, across_b)) = (factor(importer, self.a)?, factor(importer, self.b)?);
        let made = importer.g.product(a, b, across_a, across_b)?;
        if self.alpha == 1.0 {
            return Ok(vec![made]);
        }
        let alpha = f64::from(self.alpha);
        Ok(vec![importer.g.map(made, |s, x| {
            let alpha = s.number(alpha, s.ty(x));
            s.mul(x, alpha)
        })?])
    }
}

/// The function behind a convolution or a product.
#[derive(Clone, Copy, Debug)]
enum Activation {
    None,
    Relu,
    Tanh,
    Sigmoid,
    LeakyRelu(f32),
    HardSigmoid(f32, f32),
    Clip(f32, f32),
}

impl Activation {
    /// By its name and its numbers, where those that are left out have defaults.
    fn named(name: Option<&str>, numbers: [Option<f32>; 2]) -> Result<Self, Reason> {
        let missing = || Reason::from("has too few numbers for its activation");
        Ok(match name {
            None | Some("") => Self::None,
            Some("Relu") => Self::Relu,
            Some("Tanh") => Self::Tanh,
            Some("Sigmoid") => Self::Sigmoid,
            Some("LeakyRelu") => Self::LeakyRelu(numbers[0].ok_or_else(missing)?),
            Some("HardSigmoid") => Self::HardSigmoid(numbers[0].ok_or_else(missing)?, numbers[1].ok_or_else(missing)?),
            Some("Clip") => Self::Clip(numbers[0].ok_or_else(missing)?, numbers[1].ok_or_else(missing)?),
            Some(other) => return Err(unsupported(format!("has the activation {other}, which is not supported"))),
        })
    }

    fn operators(self) -> &'static [&'static str] {
        match self {
            Self::Sigmoid => &["sigmoid"],
            Self::LeakyRelu(_) => &["leaky_relu"],
            Self::HardSigmoid(..) => &["hard_sigmoid"],
            _ => &[],
        }
    }

    fn of(self, importer: &mut Importer<'_, '_, '_>, x: Value) -> Made {
        let float = |name: &str, value: f32| (name.to_owned(), NamedNumber::Float(value));
        let numbers = match self {
            Self::None => return Ok(x),
            Self::Relu => {
                return Ok(importer.g.map(x, |s, x| {
                    let zero = s.number(0.0, s.ty(x));
                    s.max(x, zero)
                })?);
            }
            Self::Tanh => return Ok(importer.g.map(x, |s, x| s.math("math.tanh", x))?),
            Self::Clip(least, most) => {
                return Ok(importer.g.map(x, |s, x| {
                    let (least, most) = (s.number(least.into(), s.ty(x)), s.number(most.into(), s.ty(x)));
                    let above = s.max(x, least);
                    s.min(above, most)
                })?);
            }
            Self::Sigmoid => vec![],
            Self::LeakyRelu(alpha) => vec![float("alpha", alpha)],
            Self::HardSigmoid(alpha, beta) => vec![float("alpha", alpha), float("beta", beta)],
        };
        importer.applied(self.operators()[0], &[x], &numbers)
    }
}

/// A convolution, to which a tensor is added, and a function of it.
#[derive(Debug)]
struct FusedConv<'m> {
    x: &'m str,
    weight: &'m str,
    bias: Option<&'m str>,
    added: Option<&'m str>,
    group: u64,
    window: Window,
    activation: Activation,
}

fn fused_conv<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (weight, group, window) = convolution(r, 1)?;
    let numbers = match r.attribute("activation_params") {
        Some(Attribute::Floats(numbers)) => &numbers[..],
        _ => &[],
    };
    let activation = Activation::named(r.string("activation")?, [numbers.first().copied(), numbers.get(1).copied()])?;
    let (bias, added) = (r.optional(2), r.optional(3));
    Ok(Conversion::op(FusedConv { x: r.input(0)?, weight, bias, added, group, window, activation }))
}

impl<'m> Convert<'m> for FusedConv<'m> {
    fn operators(&self) -> &'static [&'static str] {
        self.activation.operators()
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, weight) = (importer.value(self.x)?, importer.value(self.weight)?);
        let bias = self.bias.map(|bias| importer.value(bias)).transpose()?;
        let Ok(group) = i64::try_from(self.group) else { return wrong("has too many groups") };
        let window = window(&of_weight(&self.window, &importer.g.shape(weight))?, false)?;
        let mut made = importer.g.conv(x, weight, bias, group, &window)?;
        if let Some(added) = self.added {
            let added = importer.value(added)?;
            made = importer.g.zip(made, added, |s, made, added| s.add(made, added))?;
        }
        Ok(vec![self.activation.of(importer, made)?])
    }
}

/// A Gemm and a function of it.
#[derive(Debug)]
struct FusedGemm<'m> {
    a: (&'m str, bool),
    b: (&'m str, bool),
    c: Option<&'m str>,
    alpha: f32,
    beta: f32,
    activation: Activation,
}

fn fused_gemm<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let number = |name: &str| match r.attribute(name) {
        Some(Attribute::Float(number)) => Some(*number),
        _ => None,
    };
    let numbers = [number("activation_alpha"), number("activation_beta")];
    Ok(Conversion::op(FusedGemm {
        a: (r.input(0)?, r.flag("transA")?),
        b: (r.input(1)?, r.flag("transB")?),
        c: r.optional(2),
        alpha: r.float("alpha")?,
        beta: r.float("beta")?,
        activation: Activation::named(r.string("activation")?, numbers)?,
    }))
}

impl<'m> Convert<'m> for FusedGemm<'m> {
    fn operators(&self) -> &'static [&'static str] {
        self.activation.operators()
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (a, b) = (importer.value(self.a.0)?, importer.value(self.b.0)?);
        let c = self.c.map(|c| importer.value(c)).transpose()?;
        let made = importer.g.gemm((a, self.a.1), (b, self.b.1), c, self.alpha.into(), self.beta.into())?;
        Ok(vec![self.activation.of(importer, made)?])
    }
}

/// A normalisation along the last dimension of the sum of two tensors, and perhaps a list; the sum is the last of four results.
#[derive(Debug)]
struct SkipLayerNormalization<'m> {
    x: &'m str,
    skip: &'m str,
    scale: &'m str,
    shift: Option<&'m str>,
    bias: Option<&'m str>,
    /// By the root of the mean square.
    simplified: bool,
    epsilon: f32,
    results: usize,
}

fn skip_layer_normalization<'m>(r: &NodeReader<'m, '_>, simplified: bool) -> Result<Op<'m>, Reason> {
    unused(r, 1..3)?;
    Ok(Conversion::op(SkipLayerNormalization {
        x: r.input(0)?,
        skip: r.input(1)?,
        scale: r.input(2)?,
        shift: if simplified { None } else { r.optional(3) },
        bias: r.optional(if simplified { 3 } else { 4 }),
        simplified,
        epsilon: r.float("epsilon")?,
        results: r.node.outputs.len(),
    }))
}

/// Refuses a node of which outputs in the middle are used.
fn unused(r: &NodeReader<'_, '_>, outputs: std::ops::Range<usize>) -> Result<(), Reason> {
    if let Some(i) = outputs.into_iter().find(|i| r.output_used(*i)) {
        let formal = r.interface.outputs.get(i).map_or("", |formal| formal.name);
        return Err(unsupported(format!("output `{formal}` is not supported")));
    }
    Ok(())
}

impl<'m> Convert<'m> for SkipLayerNormalization<'m> {
    fn operators(&self) -> &'static [&'static str] {
        normalization(self.simplified, self.shift.is_some())
    }

    fn results(&self) -> usize {
        self.results
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, skip) = (importer.value(self.x)?, importer.value(self.skip)?);
        let mut sum = importer.g.zip(x, skip, |s, x, skip| s.add(x, skip))?;
        if let Some(bias) = self.bias {
            let bias = list(importer, bias)?;
            sum = importer.g.zip(sum, bias, |s, sum, bias| s.add(sum, bias))?;
        }
        let mut inputs = vec![sum, list(importer, self.scale)?];
        if let Some(shift) = self.shift {
            inputs.push(list(importer, shift)?);
        }
        let epsilon = [("epsilon".to_owned(), NamedNumber::Float(self.epsilon))];
        let made = importer.applied(self.operators()[0], &inputs, &epsilon)?;
        // The results between have names that nothing uses.
        Ok([made, made, made, sum][..self.results.clamp(1, 4)].to_vec())
    }
}

fn normalization(simplified: bool, shifted: bool) -> &'static [&'static str] {
    match (simplified, shifted) {
        (true, _) => &["rms_norm"],
        (false, true) => &["layer_norm"],
        (false, false) => &["layer_norm_unbiased"],
    }
}

/// The normalised sum of the embeddings of words, positions and segments.
#[derive(Debug)]
struct EmbedLayerNormalization<'m> {
    words: &'m str,
    segments: Option<&'m str>,
    /// Of words, positions and segments.
    tables: (&'m str, &'m str, Option<&'m str>),
    scale: &'m str,
    shift: &'m str,
    positions: Option<&'m str>,
    mask: Option<&'m str>,
    epsilon: f32,
}

fn embed_layer_normalization<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(EmbedLayerNormalization {
        words: r.input(0)?,
        segments: r.optional(1),
        tables: (r.input(2)?, r.input(3)?, r.optional(4)),
        scale: r.input(5)?,
        shift: r.input(6)?,
        mask: r.optional(7),
        positions: r.optional(8),
        epsilon: r.float("epsilon")?,
    }))
}

impl<'m> Convert<'m> for EmbedLayerNormalization<'m> {
    fn operators(&self) -> &'static [&'static str] {
        &["layer_norm"]
    }

    fn results(&self) -> usize {
        3
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        use sutura_dialects::graph::Combiner;
        use sutura_ir::Type;
        let ids = importer.value(self.words)?;
        let shape = importer.g.shape(ids);
        let [batch, length] = &shape[..] else { return wrong("needs `input_ids` of rank 2") };
        let table = importer.value(self.tables.0)?;
        let words = importer.g.gather(table, ids, 0);
        let table = importer.value(self.tables.1)?;
        let positions = match self.positions {
            Some(name) => importer.value(name)?,
            // The places in the row.
            None => importer.g.generate(std::slice::from_ref(length), Type::I32, |s| {
                let place = s.index(0);
                s.cast(place, Type::I32)
            })?,
        };
        let positions = importer.g.gather(table, positions, 0);
        let mut sum = importer.g.zip(words, positions, |s, a, b| s.add(a, b))?;
        match (self.segments, self.tables.2) {
            (Some(segments), Some(table)) => {
                let (segments, table) = (importer.value(segments)?, importer.value(table)?);
                let segments = importer.g.gather(table, segments, 0);
                sum = importer.g.zip(sum, segments, |s, a, b| s.add(a, b))?;
            }
            (None, None) => {}
            _ => return wrong("has only one of `segment_ids` and `segment_embedding`"),
        }
        let inputs = [sum, list(importer, self.scale)?, list(importer, self.shift)?];
        let epsilon = [("epsilon".to_owned(), NamedNumber::Float(self.epsilon))];
        let made = importer.applied("layer_norm", &inputs, &epsilon)?;
        let index = match self.mask {
            Some(mask) => {
                let mask = importer.value(mask)?;
                importer.g.reduce(mask, &[1], false, Combiner::Add, Type::I32, |s, x| {
                    let (one, zero) = (s.int(1, Type::I32), s.int(0, Type::I32));
                    let is_one = s.compare(sutura_dialects::graph::build::scalar::Comparison::Equal, x, one);
                    s.select(is_one, one, zero)
                })
            }
            None => importer.g.generate(std::slice::from_ref(batch), Type::I32, |s| s.int(0, Type::I32))?,
        };
        Ok(vec![made, index, sum])
    }
}
