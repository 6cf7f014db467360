//! Operators as the importer's consumer sees them: one form per operator,
//! whatever the model's opset.

use sutura_dialects::graph::operator::Unsigned;

use super::{
    named::{NamedInput, NamedNumber, Permutations},
    operators::Conversion,
    tensor::{ElementType, Scalar, Tensor},
    window::Window,
};

/// How a conversion to a power of two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the larger one.
    Up,
    /// To the smaller one.
    Down,
    /// To the nearer one; of the middle to the larger one.
    Nearest,
}

/// An operator with its operands (names of values) and parameters.
///
/// Axes may be negative, counting from the end; only the consumer knows
/// ranks. What a node's outputs are called is in
/// [`TypedNode::outputs`](super::TypedNode::outputs); most operators have one.
#[derive(Clone, Debug, PartialEq)]
pub enum Op<'m> {
    Unary {
        function: Unary,
        x: &'m str,
    },
    /// An operator of the library of declarations, which says all about it.
    Named {
        operator: &'static str,
        inputs: Vec<NamedInput<'m>>,
        /// Takes any number of inputs: the first two, then what they give and the next.
        variadic: Option<&'static str>,
        /// How many dimensions the first input has, where the operator takes no other.
        rank: Option<usize>,
        attributes: Vec<(String, NamedNumber)>,
        /// Orders of the dimensions of inputs, and of results, by their numbers.
        permute: (Permutations, Permutations),
        /// How it takes integers without sign, if it is not declared for them.
        unsigned: Option<Unsigned>,
        /// How many results it makes.
        results: usize,
        /// Others that the node may be, where its tensors do not fit this one.
        others: Vec<Op<'m>>,
    },
    /// Operands broadcast as in NumPy.
    Binary {
        function: Binary,
        a: &'m str,
        b: &'m str,
    },
    /// Like `Binary`, with a result of booleans.
    Compare {
        function: Compare,
        a: &'m str,
        b: &'m str,
    },
    /// One or more operands, broadcast together.
    Extremum {
        function: Extremum,
        inputs: Vec<&'m str>,
    },
    /// Three operands, broadcast together.
    Where {
        condition: &'m str,
        x: &'m str,
        y: &'m str,
    },
    /// `min(max(x, lower), upper)`; a bound left out does not apply.
    Clip {
        x: &'m str,
        lower: Option<Param<'m, Scalar>>,
        upper: Option<Param<'m, Scalar>>,
    },
    /// `saturate` matters for 8-bit floats only, `round` for those without a mantissa.
    Cast {
        x: &'m str,
        to: ElementType,
        saturate: bool,
        round: Rounding,
    },
    /// Also `Dropout`, which does nothing outside training.
    Identity {
        x: &'m str,
    },
    Constant {
        value: Tensor,
    },
    /// All elements are `value`, a tensor of one element.
    ConstantOfShape {
        shape: Param<'m, Vec<i64>>,
        value: Tensor,
    },
    Range {
        start: Param<'m, Scalar>,
        limit: Param<'m, Scalar>,
        delta: Param<'m, Scalar>,
        /// The value that is `start`, whose element type the range has.
        first: &'m str,
    },
    /// Sizes of dims `start..end`, which are clamped to the rank.
    Shape {
        x: &'m str,
        start: i64,
        end: Option<i64>,
    },
    /// In `shape`, -1 is what remains; 0 is the input's dim if `zero_copies`.
    Reshape {
        x: &'m str,
        shape: Param<'m, Vec<i64>>,
        zero_copies: bool,
    },
    /// To rank 2: dims before `axis`, and from there on.
    Flatten {
        x: &'m str,
        axis: i64,
    },
    /// Without axes: all dims of size 1.
    Squeeze {
        x: &'m str,
        axes: Option<Vec<i64>>,
    },
    /// Axes are those of the result.
    Unsqueeze {
        x: &'m str,
        axes: Vec<i64>,
    },
    /// Broadcast of `x` and `shape`, in both directions.
    Expand {
        x: &'m str,
        shape: Param<'m, Vec<i64>>,
    },
    Tile {
        x: &'m str,
        repeats: Param<'m, Vec<i64>>,
    },
    /// Without a permutation: reverses the dims.
    Transpose {
        x: &'m str,
        permutation: Option<Vec<i64>>,
    },
    Concat {
        inputs: Vec<&'m str>,
        axis: i64,
    },
    /// Without sizes: `parts` of `ceil(dim / parts)` each, the last of what
    /// remains.
    Split {
        x: &'m str,
        axis: i64,
        parts: usize,
        sizes: Option<Param<'m, Vec<i64>>>,
    },
    Slice(Slice<'m>),
    /// Negative indices count from the end.
    Gather {
        x: &'m str,
        indices: &'m str,
        axis: i64,
    },
    /// Channels become blocks of `block` times `block` pixels; neighbouring channels of the input are of one block with
    /// `depth_inner` (mode CRD), else (DCR) of one pixel.
    DepthToSpace {
        x: &'m str,
        block: i64,
        depth_inner: bool,
    },
    /// The other way.
    SpaceToDepth {
        x: &'m str,
        block: i64,
        depth_inner: bool,
    },
    /// Every element has an index of its own.
    GatherElements {
        x: &'m str,
        indices: &'m str,
        axis: i64,
    },
    /// The last dim of the indices holds one for each of the first dims of `x` behind those that both have.
    GatherNd {
        x: &'m str,
        indices: &'m str,
        batch_dims: i64,
    },
    /// Writes `updates` to a copy of `x`; `reduction` says how they are joined to what is there. Every update has an index
    /// along `axis`, or the last dim of the indices holds one for each of the first dims of `x`.
    Scatter {
        x: &'m str,
        indices: &'m str,
        updates: &'m str,
        axis: Option<i64>,
        reduction: &'m str,
    },
    /// `pads` are all begins, then all ends, of `axes` (of all dims without
    /// them); negative ones crop. Without a value: zero.
    Pad {
        x: &'m str,
        mode: PadMode,
        pads: Param<'m, Vec<i64>>,
        value: Option<Param<'m, Scalar>>,
        axes: Option<Param<'m, Vec<i64>>>,
    },
    /// As `numpy.matmul`.
    MatMul {
        a: &'m str,
        b: &'m str,
    },
    /// `alpha * a' * b' + beta * c`, with `c` broadcast to the result.
    Gemm {
        a: &'m str,
        b: &'m str,
        c: Option<&'m str>,
        alpha: f32,
        beta: f32,
        transpose_a: bool,
        transpose_b: bool,
    },
    /// `x: [N, C, spatial…]`, `weight: [M, C / group, kernel…]`, `bias: [M]`.
    Conv {
        x: &'m str,
        weight: &'m str,
        bias: Option<&'m str>,
        group: u64,
        window: Window,
    },
    /// `x: [N, C, spatial…]`, `weight: [C, M / group, kernel…]`, `bias: [M]`. With a shape of the result, or `same` padding, what
    /// is left out of the result follows from its size.
    ConvTranspose {
        x: &'m str,
        weight: &'m str,
        bias: Option<&'m str>,
        group: u64,
        window: Window,
        output_padding: Vec<u64>,
        output_shape: Option<Vec<u64>>,
    },
    /// Over `x: [N, C, spatial…]`.
    Pool {
        x: &'m str,
        function: Pool,
        window: Window,
        /// Whether a last, partial window counts.
        ceil: bool,
    },
    /// Mean over all dims from 2 on, which stay as 1.
    GlobalAveragePool {
        x: &'m str,
    },
    /// Without axes: over all dims.
    Reduce {
        function: Reduction,
        x: &'m str,
        axes: Option<Vec<i64>>,
        keep_dims: bool,
    },
    /// Sums up to each element along `axis`; with `exclusive` without it, with `reverse` from the last element on.
    CumSum {
        x: &'m str,
        axis: i64,
        exclusive: bool,
        reverse: bool,
    },
    /// One of a family that is read and converted in one place.
    Converted(Conversion<'m>),
}

/// A parameter that ONNX passes as an input: known, or a value computed at
/// run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Param<'m, T> {
    Known(T),
    Value(&'m str),
}

/// `x[starts : ends : steps]` along `axes`; all lists are equally long. Without
/// axes: the first dims; without steps: 1. Bounds are clamped, negative ones
/// count from the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice<'m> {
    pub x: &'m str,
    pub starts: Param<'m, Vec<i64>>,
    pub ends: Param<'m, Vec<i64>>,
    pub axes: Option<Param<'m, Vec<i64>>>,
    pub steps: Option<Param<'m, Vec<i64>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Abs,
    Ceil,
    Cos,
    Erf,
    Exp,
    Floor,
    Log,
    Neg,
    Not,
    Reciprocal,
    Relu,
    /// To the nearest integer, ties to even.
    Round,
    Sin,
    Sqrt,
    Tanh,
}

/// `Pow` may have operands of different types and gives the first's; division
/// of integers truncates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// With the sign of the divisor.
    Mod,
    /// The same of integers alone.
    IntegerMod,
    /// With the sign of the dividend.
    Remainder,
    Pow,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    Max,
    Min,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Sum of magnitudes.
    L1,
    /// Root of the sum of squares.
    L2,
    LogSum,
    LogSumExp,
    Max,
    Mean,
    Min,
    Prod,
    Sum,
    SumSquare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    Max,
    /// Whether padding counts as elements of the mean.
    Average {
        count_padding: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadMode {
    Constant,
    /// Mirrored, without repeating the edge.
    Reflect,
    Edge,
    Wrap,
}
