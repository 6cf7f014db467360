#!/usr/bin/env python3
"""Prints the operator table, src/onnx/operators.txt, from the onnx package and, for operators of other domains, from onnxruntime.

One line per operator and opset version in which its interface (inputs,
outputs, attributes) changed, among those in force in the supported opsets.
`cargo xtask operators` runs it and stamps what it prints.
"""

import sys

import numpy as np
import onnx
from onnx import defs, helper

MIN_OPSET = 1
# The version whose schemas operators of onnxruntime are of.
RUNTIME = "1.32.0"
OPERATORS = """
    Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization
    Bernoulli BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast CastLike
    CausalConvWithState Ceil Celu CenterCropPad Clip Col2Im Compress Concat ConcatFromSequence Constant
    ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace
    DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU
    Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual
    GridSample GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If
    InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual LinearAttention Log
    LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean
    MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul Multinomial Neg NegativeLogLikelihoodLoss
    NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement OptionalHasElement Or PRelu Pad Pow QLinearConv
    QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike
    Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
    ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence RoiAlign RotaryEmbedding Round STFT Scan Scatter
    ScatterElements ScatterND Selu SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert
    SequenceLength SequenceMap Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss
    Softplus Softsign SpaceToDepth Split SplitToSequence Sqrt Squeeze Sub Sum SwiGLU Swish Tan Tanh TensorScatter
    TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Upsample Where Xor
    ai.onnx.preview.FlexAttention
    ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam ai.onnx.preview.training.Momentum
""".split()
# What onnxruntime's optimizer and quantizer write; those without a domain it has as if they were ONNX's.
OF_RUNTIME = """
    SimplifiedLayerNormalization
    com.microsoft.Attention com.microsoft.BiasGelu com.microsoft.DequantizeLinear com.microsoft.DynamicQuantizeMatMul
    com.microsoft.EmbedLayerNormalization
    com.microsoft.FastGelu com.microsoft.FusedConv com.microsoft.FusedGemm com.microsoft.FusedMatMul com.microsoft.Gelu
    com.microsoft.GroupQueryAttention
    com.microsoft.MatMulIntegerToFloat com.microsoft.MatMulNBits com.microsoft.MultiHeadAttention com.microsoft.NhwcMaxPool
    com.microsoft.QGemm com.microsoft.QLinearAdd
    com.microsoft.QLinearAveragePool com.microsoft.QLinearConcat com.microsoft.QLinearConv com.microsoft.QLinearGlobalAveragePool
    com.microsoft.QLinearLeakyRelu com.microsoft.QLinearMul com.microsoft.QLinearSigmoid
    com.microsoft.QLinearSoftmax com.microsoft.QLinearWhere com.microsoft.QuantizeLinear com.microsoft.QuickGelu
    com.microsoft.RotaryEmbedding
    com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization com.microsoft.TransposeMatMul
""".split()
HEADER = f"""\
# By import/tools/make_operators.py from onnx {onnx.__version__} and onnxruntime {RUNTIME}. Do not edit.
# OPERATOR SINCE: INPUTS -> OUTPUTS | ATTRIBUTES, the operator with its domain where that is not ONNX's.
# `x?` may be left out, `x*` is one or more, `x**` any number; inputs with the same `:T` have one
# element type; `=` names the types where there are one or two. Attributes are
# name:kind, then `!` for required, `=value` for a default, nothing for optional
# without one.
"""
NAMES = {"bfloat16": "bf16", "float16": "f16", "float": "f32", "double": "f64"}
MARK = {"Single": "", "Optional": "?", "Variadic": "*"}


def mark(parameter):
    """How often a value is there."""
    return "**" if parameter.option.name == "Variadic" and not parameter.min_arity else MARK[parameter.option.name]


def formals(parameters):
    return " ".join(p.name.rstrip(".") + mark(p) for p in parameters)


def element_types(parameter):
    """`=` and the element types of an input that has one or two, or nothing."""
    types = sorted(t.removeprefix("tensor(").removesuffix(")") for t in parameter.types)
    return "=" + ",".join(NAMES.get(t, t.replace("uint", "u").replace("int", "i")) for t in types) if 0 < len(types) <= 2 else ""


def inputs(parameters):
    """As `formals`, with the type variables that several values share, and what types a value may have where they are few."""
    bound = [p.type_str for p in parameters if "(" not in p.type_str]
    several = [p.type_str for p in parameters if p.option.name == "Variadic" and p.is_homogeneous]
    shared = {t for t in bound if bound.count(t) > 1 or t in several}
    texts = formals(parameters).split()
    variables = [f":{p.type_str}" if p.type_str in shared else "" for p in parameters]
    return " ".join(map("".join, zip(texts, variables, map(element_types, parameters))))


def attribute(a):
    text = f"{a.name}:{a.type.name.lower()}"
    if a.required:
        return text + "!"
    if not a.default_value.type:
        return text
    value = helper.get_attribute_value(a.default_value)
    if isinstance(value, float):
        value = str(np.float32(value))
    if isinstance(value, list):
        value = ",".join(v.decode() if isinstance(v, bytes) else str(v) for v in value)
    if value == b"foward":  # GRU version 1 has it so.
        value = b"forward"
    return f"{text}={value.decode() if isinstance(value, bytes) else value}"


def interface(schema):
    text = f"{inputs(schema.inputs)} -> {formals(schema.outputs)}"
    attributes = " ".join(attribute(a) for _, a in sorted(schema.attributes.items()))
    return f"{text} | {attributes}" if attributes else text


def rows(schemas):
    """(since, interface) of the versions in force from MIN_OPSET on."""
    schemas = sorted(schemas, key=lambda s: s.since_version)
    first = max((s.since_version for s in schemas if s.since_version <= MIN_OPSET), default=0)
    last = None
    for s in schemas:
        if s.since_version >= first and interface(s) != last:
            last = interface(s)
            yield s.since_version, last


class Named:
    """What onnxruntime says of an input or output, under onnx's names."""

    def __init__(self, of):
        self.name, self.option, self.types = of.name, of.option, sorted(of.types)
        self.type_str, self.is_homogeneous = of.typeStr, of.isHomogeneous
        # It does not say how many there must be: one, as far as the operators here go.
        self.min_arity = 1


class NamedAttribute:
    def __init__(self, of):
        self.name, self.type, self.required = of.name, of.type, of.required
        self.default_value = onnx.AttributeProto.FromString(of._default_value or b"")


class NamedSchema:
    def __init__(self, of):
        self.name, self.domain, self.since_version = of.name, of.domain, of.since_version
        self.inputs, self.outputs = [Named(i) for i in of.inputs], [Named(o) for o in of.outputs]
        self.attributes = {name: NamedAttribute(a) for name, a in of.attributes.items()}


def of_runtime():
    """Schemas of onnxruntime. Without it, or with another version of it, the program ends and says so."""
    try:
        import onnxruntime
        from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema
    except ImportError as error:
        sys.exit(f"the rows of operators of onnxruntime need it: `pip install onnxruntime=={RUNTIME}` ({error})")
    if onnxruntime.__version__ != RUNTIME:
        sys.exit(f"the rows of operators of onnxruntime are of version {RUNTIME}, but {onnxruntime.__version__} is installed")
    return [NamedSchema(schema) for schema in get_all_operator_schema() if f"{schema.domain}.{schema.name}".strip(".") in OF_RUNTIME]


def main():
    history = defs.get_all_schemas_with_history()
    lines = [HEADER]
    for name in OPERATORS:
        domain, _, operator = name.rpartition(".")
        schemas = [s for s in history if s.domain == domain and s.name == operator]
        lines += [f"{name} {since}: {text}\n" for since, text in rows(schemas)]
    runtime = of_runtime()
    for name in OF_RUNTIME:
        domain, _, operator = name.rpartition(".")
        schemas = [s for s in runtime if s.domain == domain and s.name == operator]
        lines += [f"{name} {since}: {text}\n" for since, text in rows(schemas)]
    sys.stdout.write("".join(lines))


if __name__ == "__main__":
    main()
