#!/usr/bin/env python3
"""Prints src/onnx/tests/references.txt: operators of the library, and what onnx's reference evaluator makes of them.

Floats are evaluated in f64, whatever the type in which they are tested. A line is
`OPERATOR OPSET | ATTRIBUTES | INPUTS | OUTPUTS`; tensors are `type[sizes]=numbers`, `-` is an input that is left out, or an
output that is not asked for.
"""

import math

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(20)
FLOATS = ["f32", "f64", "f16", "bf16"]
INTS = ["i8", "i16", "i32", "i64"]
BITS = {"f32": 24, "f64": 24, "f16": 11, "bf16": 8}


def rounded(values, kind):
    """Numbers that the type holds."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    scale = 2.0 ** BITS[kind]
    return np.ldexp(np.round(mantissa * scale) / scale, exponent)


def floats(kind, *shape, low=-3.0, high=3.0):
    return kind, rounded(RNG.uniform(low, high, shape), kind)


def listed(kind, *values):
    return kind, np.array(values, dtype=np.float64)


def ints(kind, *shape):
    return kind, RNG.integers(-9, 10, shape).astype(np.int64)


def bools(*shape):
    return "bool", RNG.integers(0, 2, shape).astype(bool)


def shown(tensor):
    if tensor is None:
        return "-"
    kind, array = tensor
    number = (lambda v: repr(float(v))) if kind in FLOATS else (lambda v: str(int(v)))
    sizes = ",".join(map(str, array.shape))
    return f"{kind}[{sizes}]=" + " ".join(number(v) for v in array.reshape(-1))


def native(kind, array):
    """The array as the evaluator takes it."""
    return array if kind in FLOATS + ["bool"] else array.astype(kind.replace("i", "int"))


def evaluated(op, opset, inputs, attributes):
    # What the evaluator has of these rounds its constants, or the error function, to f32.
    x = inputs[0]
    if op == "HardSwish":
        return x * np.clip(x / 6 + 0.5, 0, 1)
    if op == "Gelu" and attributes:
        return x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    if op == "Gelu":
        return x * 0.5 * (1 + np.vectorize(math.erf, otypes=["d"])(x / math.sqrt(2)))
    if op == "Scatter":
        op, opset = "ScatterElements", 11
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    node = helper.make_node(op, names, ["y"], **attributes)
    given = {n: a for n, a in zip(names, inputs) if a is not None}
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
    graph = helper.make_graph([node], "g", infos, [helper.make_value_info("y", onnx.TypeProto())])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    with np.errstate(all="ignore"):
        return np.asarray(ReferenceEvaluator(model).run(None, given)[0])


def written(value):
    """An attribute's value, behind the kind that it has."""
    if isinstance(value, list) and isinstance(value[0], str):
        return "strings=" + ",".join(value)
    if isinstance(value, list) and isinstance(value[0], float):
        return "floats=" + ",".join(map(str, value))
    if isinstance(value, list):
        return "ints=" + ",".join(map(str, value))
    return f"{'int' if isinstance(value, int) else 'string' if isinstance(value, str) else 'float'}={value}"


def case(op, inputs, opset=23, result=None, **attributes):
    arrays = [t if t is None else native(*t) for t in inputs]
    if len(arrays) == 1 and arrays[0].ndim == 0:
        # Not every operator of the evaluator takes a tensor without dims.
        y = evaluated(op, opset, [arrays[0].reshape(1)], attributes).reshape(())
    else:
        y = evaluated(op, opset, arrays, attributes)
    text = " ".join(f"{k}:{written(v)}" for k, v in attributes.items())
    kind = result or inputs[0][0]
    print(f"{op} {opset} | {text} | {' ; '.join(map(shown, inputs))} | {shown((kind, y))}")


def of_numbers():
    plain = ["Gelu", "Softplus", "HardSwish", "Sigmoid", "Mish", "Softsign", "Tan", "Sinh", "Cosh", "Asinh"]
    for op in plain:
        for kind in FLOATS:
            case(op, [floats(kind, 2, 3)])
        case(op, [floats("f32")])
        case(op, [floats("f32", 2, 0, 3)])
        case(op, [floats("f32", 2, 1, 2, 2, low=-20.0, high=20.0)] if op not in ("Tan", "Sinh", "Cosh") else [floats("f32", 2, 1, 2, 2)])
    for kind in FLOATS:
        case("Acosh", [floats(kind, 2, 3, low=1.0, high=9.0)])
        case("Atanh", [floats(kind, 3, 2, low=-0.9, high=0.9)])
        case("Gelu", [floats(kind, 4)], approximate="tanh")
        case("HardSigmoid", [floats(kind, 4)])
        case("HardSigmoid", [floats(kind, 2, 2)], alpha=0.5, beta=0.25)
        case("Elu", [floats(kind, 4)], alpha=0.5)
        case("LeakyRelu", [floats(kind, 4)], alpha=0.25)
        case("Swish", [floats(kind, 4)], opset=24, alpha=0.5)
        case("Selu", [floats(kind, 2, 4)])
        case("Selu", [floats(kind, 3)], alpha=2.0, gamma=0.5)
        case("Celu", [floats(kind, 2, 3)], opset=28, alpha=2.0)
        case("ThresholdedRelu", [floats(kind, 2, 4)], alpha=0.5)
        case("Shrink", [floats(kind, 3, 3)], bias=0.5, lambd=1.5)
        case("PRelu", [floats(kind, 2, 3, 2), floats(kind, 3, 1)])
        case("PRelu", [floats(kind, 2, 3), floats(kind)])
        case("Sum", [floats(kind, 2, 3), floats(kind, 3), floats(kind, 2, 1)])
        case("Sum", [floats(kind, 2, 3)])
        case("Mean", [floats(kind, 2, 3), floats(kind, 3), floats(kind, 2, 1)])
        case("Mean", [floats(kind, 2, 3)])
        case("Sign", [listed(kind, -2.0, -0.0, 0.0, 3.0)])
    case("Sinh", [listed("f32", -88.0, -41.0, -1e-4, 0.0, 1e-6, 39.9, 80.0)])
    case("Cosh", [listed("f32", -88.0, -41.0, 0.0, 88.5)])
    case("Asinh", [listed("f32", -3e38, -1e-5, 0.0, 1e-7, 2e9, 1e30)])
    case("Acosh", [listed("f32", 1.0, 1.0001220703125, 2e9, 3e38)])
    case("Atanh", [listed("f32", -1e-6, 0.0, 1e-7, 0.99951171875)])
    case("PRelu", [floats("f32", 0, 3), floats("f32", 3)])
    case("PRelu", [ints("i32", 2, 3), ints("i32", 3)])
    case("PRelu", [ints("i64", 4), ints("i64", 1)])
    for kind in INTS:
        case("Sign", [ints(kind, 2, 3)])
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            case(op, [ints(kind, 2, 3), ints(kind, 3)])
        case("BitwiseNot", [ints(kind, 5)])
        case("Size", [ints(kind, 2, 3)], result="i64")
    case("Size", [floats("f32", 2, 0, 3)], result="i64")
    case("Size", [floats("f16")], result="i64")
    case("Xor", [bools(2, 3), bools(3)])
    case("Xor", [bools(4), bools(1)])
    nan, inf = float("nan"), float("inf")
    for kind in FLOATS:
        case("IsNaN", [listed(kind, nan, 1.0, inf)], result="bool")
        case("IsInf", [listed(kind, nan, 1.0, inf, -inf)], result="bool")
    case("IsInf", [listed("f32", nan, 1.0, inf, -inf)], result="bool", detect_negative=0)
    case("IsInf", [listed("f32", nan, 1.0, inf, -inf)], result="bool", detect_positive=0)


def group_norm(kind, sizes, weights, groups, opset=23, **attributes):
    """By hand: the evaluator rounds to f32 on the way."""
    x, scale, bias = floats(kind, *sizes), floats(kind, weights), floats(kind, weights)
    parts = x[1].reshape(sizes[0], groups, sizes[1] // groups * int(np.prod(sizes[2:])))
    epsilon = float(np.float32(attributes.get("epsilon", 1e-5)))
    y = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + epsilon)
    of_channel = [np.repeat(w, sizes[1] // weights).reshape(-1, *[1] * (len(sizes) - 2)) for _, w in (scale, bias)]
    y = y.reshape(sizes) * of_channel[0] + of_channel[1]
    text = " ".join(f"{k}:{written(v)}" for k, v in {"num_groups": groups, **attributes}.items())
    print(f"GroupNormalization {opset} | {text} | {shown(x)} ; {shown(scale)} ; {shown(bias)} | {shown((kind, y))}")


def of_rows():
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for kind in FLOATS:
            case(op, [floats(kind, 2, 3, 4)], axis=1)
            case(op, [floats(kind, 4)])
        case(op, [floats("f32", 3, 2)], axis=0)
        case(op, [floats("f32", 2, 3, 2, 2)], axis=-2)
        case(op, [floats("f32", 0, 3)])
    case("Hardmax", [listed("f32", 1.0, 3.0, 3.0, 2.0)])
    for kind in FLOATS:
        for p in (1, 2):
            # The evaluator sums powers of negative numbers, not of their magnitudes.
            kind, x = floats(kind, 2, 3, 2)
            norm = (np.abs(x) ** p).sum(1, keepdims=True) ** (1 / p)
            print(f"LpNormalization 22 | axis:int=1 p:int={p} | {shown((kind, x))} | {shown((kind, x / norm))}")
        case("LayerNormalization", [floats(kind, 2, 3, 4), floats(kind, 4), floats(kind, 4)])
        case("LayerNormalization", [floats(kind, 2, 3, 4), floats(kind, 3, 4)], axis=1, epsilon=0.5)
        case("LayerNormalization", [floats(kind, 2, 3, 4), floats(kind, 4), None], axis=-1)
        case("RMSNormalization", [floats(kind, 2, 3, 4), floats(kind, 4)], axis=2)
        case("InstanceNormalization", [floats(kind, 2, 3, 4), floats(kind, 3), floats(kind, 3)])
        group_norm(kind, (2, 6, 3), 6, 3)
        group_norm(kind, (2, 4, 1, 3), 2, 2, opset=18)
        # The evaluator has an f32 in it.
        kind, x = floats(kind, 2, 3, 2, 4)
        norm = (x - x.mean((0, 2, 3), keepdims=True)) / (x.std((0, 2, 3), keepdims=True) + 1e-9)
        print(f"MeanVarianceNormalization 13 |  | {shown((kind, x))} | {shown((kind, norm))}")
        case("BatchNormalization", [floats(kind, 2, 3, 4), *(floats(kind, 3, low=0.5) for _ in range(4))])
        case("GlobalMaxPool", [floats(kind, 2, 3, 2, 2)])
        # Which the evaluator does not have.
        kind, x = floats(kind, 2, 3, 4)
        print(f"GlobalLpPool 23 |  | {shown((kind, x))} | {shown((kind, np.sqrt((x * x).sum(2, keepdims=True))))}")
        case("Trilu", [floats(kind, 2, 3, 4)])
    case("LpNormalization", [listed("f32", 0.0, 0.0)], opset=22, p=2)
    case("LayerNormalization", [floats("f32", 0, 4), floats("f32", 4), floats("f32", 4)])
    case("InstanceNormalization", [floats("f32", 2, 1, 2, 3), floats("f32", 1), floats("f32", 1)], epsilon=0.125)
    group_norm("f32", (2, 4), 4, 2, epsilon=0.5)
    group_norm("f32", (0, 4, 3), 4, 4)
    case("BatchNormalization", [floats("f32", 2, 3), *(floats("f32", 3, low=0.5) for _ in range(4))])
    kind, x = floats("f32", 1, 2, 5)
    print(f"GlobalMaxPool 23 |  | {shown((kind, x))} | {shown((kind, x.max(2, keepdims=True)))}")
    one = np.array(1, dtype=np.int64)
    for kind in INTS:
        case("Trilu", [ints(kind, 3, 3), ("i64", one)])
    case("Trilu", [floats("f32", 4, 3), ("i64", -one)], upper=0)
    case("Trilu", [floats("f32", 0, 2, 3), ("i64", one)], upper=0)


def of_attention():
    def heads(kind, samples, number, queries, keys, width, values):
        sizes = [(queries, width), (keys, width), (keys, values)]
        return [floats(kind, samples, number, *size, low=-1.0, high=1.0) for size in sizes]

    for kind in FLOATS:
        case("Attention", heads(kind, 2, 2, 3, 4, 5, 2))
        # The evaluator takes the root of the scale in f32.
        case("Attention", heads(kind, 1, 2, 3, 3, 4, 4), opset=24, is_causal=1, scale=0.25)
    case("Attention", heads("f32", 1, 1, 4, 2, 3, 3), is_causal=1)
    # The last query sees no key.
    unseen = ("f32", np.array([[0.0, 1.0], [-np.inf, 0.5], [-np.inf, -np.inf]]))
    case("Attention", [*heads("f32", 2, 2, 3, 2, 4, 3), unseen], opset=24)
    for kind in FLOATS:
        case("Attention", [*heads(kind, 2, 2, 3, 4, 2, 2), floats(kind, 2, 1, 3, 4)], is_causal=1)
        case("Attention", [*heads(kind, 2, 2, 3, 4, 2, 2), floats(kind, 1, 4)])
    case("Attention", heads("f32", 1, 3, 1, 6, 4, 2), opset=25, scale=2.0)


def of_old_opsets():
    # The evaluator has only the newest meaning: over all dims from the axis on is along the one of the flattened tensor.
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for shape, axis in (((2, 3, 4), 1), ((4,), 0), ((2, 2, 3), 0), ((2, 3), -1)):
            kind, x = floats("f32", *shape)
            flat = x.reshape(int(np.prod(shape[:axis if axis >= 0 else axis + len(shape)])), -1)
            e = np.exp(flat - flat.max(-1, keepdims=True))
            y = e / e.sum(-1, keepdims=True)
            y = {"Softmax": y, "LogSoftmax": np.log(y), "Hardmax": np.eye(flat.shape[1])[flat.argmax(-1)]}[op]
            print(f"{op} 12 | axis:int={axis} | {shown((kind, x))} | {shown((kind, y.reshape(shape)))}")


def of_places():
    nan, inf = float("nan"), float("inf")
    for op in ("ArgMax", "ArgMin"):
        for kind in FLOATS:
            case(op, [floats(kind, 2, 5, 3)], result="i64", axis=1)
            case(op, [floats(kind, 4, 3)], result="i64", axis=-2, keepdims=0)
        for kind in INTS:
            case(op, [ints(kind, 3, 30)], result="i64", axis=1, keepdims=0)
            case(op, [ints(kind, 3, 30)], result="i64", axis=1, select_last_index=1)
        case(op, [listed("f32", 1.0, inf, -inf, inf, -inf)], result="i64", axis=0)
        case(op, [listed("f32", 1.0, nan, inf, nan, -inf)], result="i64", axis=0, keepdims=0)
        case(op, [listed("f32", -0.0, 0.0, -0.0)], result="i64", axis=0, keepdims=0, select_last_index=1)
        case(op, [floats("f32", 0, 4, 2)], result="i64", axis=1)


def places(kind, sizes, *shape):
    """Indices of dimensions of these sizes, one for each along the last of `shape`; some count from the end."""
    high = np.broadcast_to(np.array(sizes), shape)
    return kind, RNG.integers(-high, high)


def of_scatters():
    for reduction in ("none", "add", "mul", "max", "min"):
        for kind in FLOATS + ["i32", "i64", "i8"]:
            some = floats if kind in FLOATS else ints
            # Without a reduction nothing is said of updates that meet.
            line = RNG.permuted(np.tile(np.arange(5), (3, 1)), axis=1)[:, :4]
            at = ("i64", line) if reduction == "none" else places("i64", [5], 3, 4)
            more = {} if reduction == "none" else {"reduction": reduction}
            case("ScatterElements", [some(kind, 3, 5), at, some(kind, 3, 4)], opset=18, axis=1, **more)
            row = ("i64", np.array([[3], [-4]])) if reduction == "none" else places("i64", [4], 3, 1)
            case("ScatterND", [some(kind, 4, 3), row, some(kind, len(row[1]), 3)], opset=18, **more)
    fewer = ("i32", np.array([[2, -1, 0], [0, 1, 1]]))
    case("ScatterElements", [floats("f32", 3, 4), fewer, floats("f32", 2, 3)], opset=18, axis=0, reduction="add")
    case("ScatterElements", [floats("f32", 2, 3, 4), places("i64", [3], 2, 5, 4), floats("f32", 2, 5, 4)], opset=18, axis=-2, reduction="mul")
    case("ScatterElements", [floats("f32", 6), ("i64", np.array([1, -1])), floats("f32", 2)], opset=13)
    case("ScatterElements", [floats("f32", 6), ("i64", np.zeros(0, np.int64)), floats("f32", 0)], opset=13)
    case("Scatter", [floats("f32", 2, 3), ("i64", np.array([[1, 0, 1]])), floats("f32", 1, 3)], opset=9)
    case("ScatterND", [floats("f32", 4, 5), ("i64", np.array([[0, -5], [3, 4]])), floats("f32", 2)], opset=13)
    case("ScatterND", [floats("f32", 4, 5), places("i64", [4, 5], 3, 3, 2), floats("f32", 3, 3)], opset=18, reduction="add")
    case("ScatterND", [floats("f32", 2, 3, 4, 5), places("i64", [2, 3], 7, 2), floats("f32", 7, 4, 5)], opset=18, reduction="max")
    case("ScatterND", [floats("f32", 4), ("i64", np.array([2])), floats("f32")], opset=16)
    for reduction in ("add", "mul", "max", "min"):
        case("ScatterElements", [bools(4), ("i64", np.array([1, 0, 1, -2])), bools(4)], opset=18, reduction=reduction)


def transposed(x, w, b, group, strides, dilations, cropped, sizes):
    """A transposed convolution as it is defined: every element of the input adds the window to the result."""
    spatial = x.ndim - 2
    most = [s * (n - 1) + d * (k - 1) + 1 for s, n, d, k in zip(strides, x.shape[2:], dilations, w.shape[2:])]
    most = [max(m, c + n) for m, c, n in zip(most, cropped, sizes)]
    y = np.zeros((x.shape[0], w.shape[1] * group, *most))
    each, made = x.shape[1] // group, w.shape[1]
    for g in range(group):
        for i in np.ndindex(*x.shape[2:]):
            for k in np.ndindex(*w.shape[2:]):
                at = tuple(a * s + b * d for a, s, b, d in zip(i, strides, k, dilations))
                part = x[(slice(None), slice(g * each, (g + 1) * each), *i)] @ w[(slice(g * each, (g + 1) * each), slice(None), *k)]
                y[(slice(None), slice(g * made, (g + 1) * made), *at)] += part
    y = y[(slice(None), slice(None), *(slice(c, c + n) for c, n in zip(cropped, sizes)))]
    return y if b is None else y + b.reshape(-1, *[1] * spatial)


def conv_transpose(kind, x, w, bias=False, opset=22, cropped=None, sizes=None, **attributes):
    """`cropped` and `sizes` are said where they do not follow from `pads`."""
    spatial = len(x) - 2
    strides = attributes.get("strides", [1] * spatial)
    dilations = attributes.get("dilations", [1] * spatial)
    added = attributes.get("output_padding", [0] * spatial)
    pads = attributes.get("pads", [0] * 2 * spatial)
    group = attributes.get("group", 1)
    natural = [s * (n - 1) + d * (k - 1) + 1 + a for s, n, d, k, a in zip(strides, x[2:], dilations, w[2:], added)]
    cropped = cropped or pads[:spatial]
    sizes = sizes or [n - a - b for n, a, b in zip(natural, pads[:spatial], pads[spatial:])]
    inputs = [floats(kind, *x), floats(kind, *w)] + ([floats(kind, w[1] * group)] if bias else [])
    arrays = [array for _, array in inputs] + ([] if bias else [None])
    y = transposed(*arrays, group, strides, dilations, cropped, sizes)
    text = " ".join(f"{k}:{written(v)}" for k, v in {"kernel_shape": list(w[2:]), **attributes}.items())
    print(f"ConvTranspose {opset} | {text} | {' ; '.join(map(shown, inputs))} | {shown((kind, y))}")


def of_transposed_convolutions():
    for kind in FLOATS:
        conv_transpose(kind, (1, 2, 3, 3), (2, 3, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
        conv_transpose(kind, (2, 2, 5), (2, 2, 4), bias=True, opset=11, strides=[2], pads=[1, 1])
    conv_transpose("f32", (1, 1, 4), (1, 2, 3), bias=True, opset=7)
    conv_transpose("f32", (1, 2, 3, 4), (2, 2, 3, 2), strides=[3, 2])
    conv_transpose("f32", (1, 2, 3, 3), (2, 1, 2, 2), strides=[1, 3], dilations=[2, 2], pads=[1, 0, 0, 1])
    conv_transpose("f32", (1, 1, 4), (1, 1, 3), strides=[4], dilations=[3], output_padding=[2])
    conv_transpose("f32", (2, 4, 3), (4, 3, 2), bias=True, strides=[2], group=2)
    conv_transpose("f32", (1, 3, 2, 2), (3, 1, 2, 2), strides=[2, 2], group=3)
    conv_transpose("f32", (1, 2, 2, 3, 2), (2, 2, 2, 3, 2), bias=True, strides=[2, 1, 3], pads=[0, 1, 1, 1, 1, 0])
    conv_transpose("f32", (1, 1, 5), (1, 1, 2), strides=[3], pads=[2, 4])
    # The odd element goes behind with SAME_UPPER, else it goes before.
    conv_transpose("f32", (1, 1, 3, 3), (1, 2, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER", cropped=[0, 0], sizes=[6, 6])
    conv_transpose("f32", (1, 1, 3, 3), (1, 2, 3, 3), strides=[2, 2], auto_pad="SAME_LOWER", cropped=[1, 1], sizes=[6, 6])
    conv_transpose("f32", (1, 1, 4), (1, 1, 4), strides=[2], auto_pad="VALID")
    conv_transpose("f32", (1, 1, 3, 3), (1, 2, 3, 3), strides=[3, 2], output_shape=[10, 8], cropped=[0, 0], sizes=[10, 8])
    conv_transpose("f32", (1, 1, 3, 4), (1, 2, 3, 3), strides=[3, 2], output_shape=[8, 6], cropped=[1, 2], sizes=[8, 6])
    conv_transpose("f32", (1, 1, 4), (1, 1, 4), strides=[2], auto_pad="SAME_UPPER", output_shape=[7], cropped=[1], sizes=[7])


def of_angles():
    for kind in FLOATS:
        case("Atan", [floats(kind, 2, 5, low=-20.0, high=20.0)])
        case("Asin", [floats(kind, 2, 3, low=-1.0, high=1.0)])
        case("Acos", [floats(kind, 2, 3, low=-1.0, high=1.0)])
    case("Atan", [listed("f32", -3e38, -1.0, -1e-30, 0.0, 1.0, 16777216.0)])
    case("Asin", [listed("f32", -1.0, -0.99999994, -1e-20, 0.0, 0.5, 0.99999994, 1.0)])
    case("Acos", [listed("f32", -1.0, -0.99999994, 1e-20, 0.0, 0.5, 0.99999994, 1.0)])


def of_heads():
    """Attention of heads that share keys and values, that lie in rows, with masks of booleans and softcaps."""

    def heads(kind, samples, numbers, sizes):
        (queries, keys), (length, known), (width, values) = numbers, *sizes
        shapes = [(queries, length, width), (keys, known, width), (keys, known, values)]
        return [floats(kind, samples, *shape, low=-1.0, high=1.0) for shape in shapes]

    def rows(kind, samples, numbers, sizes):
        (queries, keys), (length, known), (width, values) = numbers, *sizes
        shapes = [(length, queries * width), (known, keys * width), (known, keys * values)]
        return [floats(kind, samples, *shape, low=-1.0, high=1.0) for shape in shapes]

    small = ((3, 4), (2, 3))
    for kind in FLOATS:
        case("Attention", heads(kind, 2, (4, 2), small), opset=24)
        case("Attention", rows(kind, 2, (2, 2), small), q_num_heads=2, kv_num_heads=2)
        case("Attention", rows(kind, 1, (6, 2), small), opset=24, q_num_heads=6, kv_num_heads=2, is_causal=1)
    for opset in (23, 24, 25):
        case("Attention", heads("f32", 1, (2, 2), small), opset=opset, softcap=0.5, is_causal=1)
    case("Attention", rows("f32", 2, (3, 1), small), q_num_heads=3, kv_num_heads=1, softcap=2.0, scale=0.25)
    case("Attention", [*heads("f32", 2, (2, 2), small), bools(3, 4)])
    case("Attention", [*heads("f32", 2, (4, 2), small), bools(2, 1, 3, 4)], is_causal=1)
    case("Attention", [*heads("f16", 2, (4, 2), small), bools(2, 4, 1, 4)], opset=24)
    case("Attention", [*heads("f32", 2, (4, 2), small), floats("f32", 4, 3, 4)], scale=0.25)
    case("Attention", [*rows("f32", 2, (4, 2), small), bools(4, 3, 4)], q_num_heads=4, kv_num_heads=2)
    case("Attention", [*rows("f64", 2, (2, 2), small), bools(1, 4)], q_num_heads=2, kv_num_heads=2)
    case("Attention", [*rows("f32", 2, (4, 2), small), floats("f32", 2, 4, 3, 4)], q_num_heads=4, kv_num_heads=2, softcap=1.5)
    case("Attention", [*rows("bf16", 1, (2, 1), small), floats("bf16", 3, 4)], q_num_heads=2, kv_num_heads=1)
    # Queries that see nothing.
    blind = ("bool", np.array([[True, False, True, False], [False] * 4, [True] * 4]))
    case("Attention", [*rows("f32", 1, (2, 2), small), blind], q_num_heads=2, kv_num_heads=2)


ALPHAS = ["Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"]
BETAS = ["Affine", "ScaledTanh", "HardSigmoid"]


def resolved(functions, alphas, betas):
    """Functions with the numbers that belong to them: lists are used up in order, by those that take one."""
    alphas, betas = (list(map(np.float32, numbers)) for numbers in (alphas, betas))
    take = lambda name, names, numbers: float(numbers.pop(0)) if name in names and numbers else None
    return [(name, take(name, ALPHAS, alphas), take(name, BETAS, betas)) for name in functions]


def gate(function, x, clip):
    name, alpha, beta = function
    x = np.clip(x, -clip, clip)
    usual = {"LeakyRelu": np.float32(0.01), "HardSigmoid": np.float32(0.2), "Elu": 1.0}
    alpha = usual.get(name, 0.0) if alpha is None else alpha
    beta = 0.5 if beta is None else beta
    return {
        "Sigmoid": lambda: 1 / (1 + np.exp(-x)),
        "Tanh": lambda: np.tanh(x),
        "Relu": lambda: np.maximum(x, 0),
        "Affine": lambda: alpha * x + beta,
        "LeakyRelu": lambda: np.where(x < 0, alpha * x, x),
        "ThresholdedRelu": lambda: np.where(x >= alpha, x, 0),
        "ScaledTanh": lambda: alpha * np.tanh(beta * x),
        "HardSigmoid": lambda: np.clip(alpha * x + beta, 0, 1),
        "Elu": lambda: np.where(x < 0, alpha * np.expm1(x), x),
        "Softsign": lambda: x / (1 + np.abs(x)),
        "Softplus": lambda: np.logaddexp(x, 0),
    }[name]()


def step(op, x, w, r, b, h, c, p, functions, clip, before_reset, coupled=0):
    """The state behind a step, as ONNX's text has it, but that the cell is not clipped before h, as in onnxruntime; the evaluator knows
    one direction, no lengths and no clip."""
    size = h.shape[-1]
    parts = len(w) // size
    of_x, of_h = x @ w.T + b[: len(w)], h @ r.T + b[len(w) :]
    xs, hs = (np.split(part, parts, -1) for part in (of_x, of_h))
    if op == "RNN":
        return gate(functions[0], xs[0] + hs[0], clip), c
    if op == "GRU":
        z, reset = (gate(functions[0], xs[i] + hs[i], clip) for i in (0, 1))
        r_h, b_h = r[2 * size :], b[len(w) + 2 * size :]
        added = reset * hs[2] if before_reset else (reset * h) @ r_h.T + b_h
        return (1 - z) * gate(functions[1], xs[2] + added, clip) + z * h, c
    i, o, f, new = (a + b for a, b in zip(xs, hs))
    p_i, p_o, p_f = np.split(p, 3)
    i, f = gate(functions[0], i + p_i * c, clip), gate(functions[0], f + p_f * c, clip)
    c = (1 - i if coupled else f) * c + i * gate(functions[1], new, clip)
    return gate(functions[0], o + p_o * c, clip) * gate(functions[2], c, np.inf), c


def agrees(op, opset, inputs, made, attributes):
    """What onnxruntime says of it, where that is there and takes it: other types and layouts are not for it, and the last state of a
    sample without steps is 0 there."""
    try:
        import onnxruntime
    except ImportError:
        return
    without = any(tensor and tensor[0] == "i32" and 0 in tensor[1] for tensor in inputs)
    if attributes.get("layout") or 0 in inputs[0][1].shape or inputs[0][0] != "f32" or without:
        return
    names = [f"x{i}" if tensor else "" for i, tensor in enumerate(inputs)]
    outputs = ["y", "h", "c"][: 3 if op == "LSTM" else 2]
    kinds = {"f32": np.float32, "i32": np.int32}
    given = {n: t[1].astype(kinds[t[0]]) for n, t in zip(names, inputs) if t}
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
    results = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in outputs]
    node = helper.make_node(op, names, outputs, **attributes)
    model = helper.make_model(helper.make_graph([node], "g", infos, results), opset_imports=[helper.make_opsetid("", min(opset, 14))])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    for name, found in zip(outputs, session.run(None, given)):
        wanted = made[name][1]
        if found.shape != wanted.shape or not np.allclose(found, wanted, 1e-4, 1e-5):
            raise SystemExit(f"{op} {attributes}: onnxruntime has {name} = {found}, this script {wanted}")


def recurrent(op, sizes, more="", outputs="y h c", kind="f32", opset=22, lengths=None, **attributes):
    """`more` has the letters of inputs that are given: b, h, c and p. Lengths are where a sample ends."""
    (s, b, i, h), parts = sizes, {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    narrow = lambda *shape: floats(kind, *shape, low=-1.0, high=1.0)
    x, w, r = narrow(s, b, i), narrow(directions, parts * h, i), narrow(directions, parts * h, h)
    given = {
        "b": narrow(directions, 2 * parts * h), "h": narrow(directions, b, h),
        "c": narrow(directions, b, h), "p": narrow(directions, 3 * h),
    }
    value = {name: array if name in more else np.zeros_like(array) for name, (_, array) in given.items()}
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[op]
    functions, clip = attributes.get("activations", usual * directions), float(np.float32(attributes.get("clip", np.inf)))
    functions = resolved(functions, attributes.get("activation_alpha", []), attributes.get("activation_beta", []))
    each = len(usual)
    ends = np.full(b, s) if lengths is None else np.array(lengths)
    y, hs, cs = np.zeros((s, directions, b, h)), value["h"].copy(), value["c"].copy()
    for d in range(directions):
        turned = d == 1 or attributes.get("direction") == "reverse"
        for t in reversed(range(s)) if turned else range(s):
            live = (t < ends)[:, None]
            new = step(op, x[1][t], w[1][d], r[1][d], value["b"][d], hs[d], cs[d], value["p"][d],
                       functions[each * d : each * (d + 1)], clip, attributes.get("linear_before_reset", 0),
                       attributes.get("input_forget", 0))
            hs[d], cs[d] = np.where(live, new[0], hs[d]), np.where(live, new[1], cs[d])
            y[t, d] = np.where(live, new[0], 0)
    turn = (lambda a: a.swapaxes(0, 1)) if attributes.get("layout") else (lambda a: a)
    typed = lambda a: (kind, turn(a))
    inputs = [(kind, turn(x[1])), w, r, given["b"] if "b" in more else None]
    inputs += [None if lengths is None else ("i32", ends), typed(value["h"]) if "h" in more else None]
    if op == "LSTM":
        inputs += [typed(value["c"]) if "c" in more else None, given["p"] if "p" in more else None]
    while inputs[-1] is None:
        inputs.pop()
    made = {"y": (kind, np.moveaxis(y, 2, 0) if attributes.get("layout") else y), "h": typed(hs), "c": typed(cs)}
    agrees(op, opset, inputs, made, {"hidden_size": h, **attributes})
    made = [made[name] if name in outputs else None for name in ("yhc" if op == "LSTM" else "yh")]
    text = " ".join(f"{k}:{written(v)}" for k, v in {"hidden_size": h, **attributes}.items())
    print(f"{op} {opset} | {text} | {' ; '.join(map(shown, inputs))} | {' ; '.join(map(shown, made))}")


def of_recurrent():
    for op in ("LSTM", "GRU", "RNN"):
        for kind in FLOATS:
            recurrent(op, (3, 2, 3, 4), "b", kind=kind)
        recurrent(op, (3, 2, 2, 3), opset=7)
        for direction in ("forward", "reverse", "bidirectional"):
            recurrent(op, (3, 2, 2, 2), "bhcp", direction=direction)
            recurrent(op, (3, 2, 2, 2), "bhcp", lengths=[2, 3], direction=direction)
            recurrent(op, (4, 3, 2, 2), "hc", lengths=[0, 1, 4], direction=direction, layout=1)
        recurrent(op, (3, 2, 2, 2), "b", outputs="h", layout=1)
        recurrent(op, (1, 1, 1, 1), "bhcp")
        recurrent(op, (0, 2, 2, 3), "bh", direction="bidirectional")
        recurrent(op, (2, 0, 2, 3), "b")
        if op != "LSTM":
            recurrent(op, (3, 2, 2, 2), "bhcp", clip=0.25)
        functions = {"LSTM": ["Tanh", "Relu", "Sigmoid"], "GRU": ["Relu", "Sigmoid"], "RNN": ["Relu"]}[op]
        recurrent(op, (3, 2, 2, 2), "bhcp", activations=functions)
    recurrent("LSTM", (3, 2, 2, 2), "p", outputs="c")
    for kind in FLOATS:
        recurrent("GRU", (3, 2, 3, 4), "bh", kind=kind, linear_before_reset=1)
    for direction in ("reverse", "bidirectional"):
        recurrent("GRU", (3, 2, 2, 2), "b", lengths=[3, 1], direction=direction, linear_before_reset=1, layout=1)


def of_functions():
    """Every function, with numbers of its own and without, and many configurations drawn by chance."""
    more = {"LeakyRelu": 0.3, "ThresholdedRelu": 0.25, "ScaledTanh": 1.5, "HardSigmoid": 0.4, "Elu": 0.7, "Affine": 0.6}
    plain = ["Softsign", "Softplus"]
    for name in [*more, *plain]:
        alphas = {"activation_alpha": [more[name]]} if name in more else {}
        betas = {"activation_beta": [0.125]} if name in BETAS else {}
        for kind in FLOATS if name != "ThresholdedRelu" else ["f32", "f64"]:
            recurrent("RNN", (2, 2, 2, 2), "bh", kind=kind, activations=[name], **alphas, **betas)
        if name not in ("ThresholdedRelu", "ScaledTanh", "Affine"):
            recurrent("GRU", (2, 2, 2, 2), "b", activations=["Sigmoid", name])
    twice = ["Sigmoid", "Tanh", "Elu", "HardSigmoid", "ScaledTanh", "LeakyRelu"]
    recurrent("LSTM", (3, 2, 2, 2), "bhcp", direction="bidirectional", activations=twice, activation_alpha=[0.5, 0.25, 1.25, 0.125],
              activation_beta=[0.75, 0.5], lengths=[1, 3])
    recurrent("LSTM", (3, 2, 2, 2), "bhc", activations=["HardSigmoid", "Tanh", "Relu"], input_forget=1)
    recurrent("LSTM", (3, 2, 2, 2), "bhcp", input_forget=1, direction="reverse", layout=1, kind="f64")
    # The same function in both directions, with numbers of their own.
    recurrent("RNN", (3, 2, 2, 2), "bh", direction="bidirectional", activations=["Elu", "Elu"], activation_alpha=[0.5, 2.0])
    for _ in range(48):
        op = str(RNG.choice(["LSTM", "GRU", "RNN"]))
        direction = str(RNG.choice(["forward", "reverse", "bidirectional"]))
        count = {"LSTM": 3, "GRU": 2, "RNN": 1}[op] * (2 if direction == "bidirectional" else 1)
        functions = [str(f) for f in RNG.choice(["Sigmoid", "Tanh", "Relu", *more, *plain], count)]
        number = lambda: round(float(RNG.uniform(0.1, 0.9)), 3)
        attributes = {"direction": direction, "activations": functions}
        for name, takes in (("activation_alpha", ALPHAS), ("activation_beta", BETAS)):
            numbers = [number() for f in functions if f in takes]
            attributes |= {name: numbers} if numbers else {}
        if op != "LSTM" and RNG.integers(2):
            attributes["clip"] = number()
        if op == "LSTM" and RNG.integers(2):
            attributes["input_forget"] = 1
        if op == "GRU" and RNG.integers(2):
            attributes["linear_before_reset"] = 1
        if RNG.integers(3) == 0:
            attributes["layout"] = 1
        sizes = [int(n) for n in RNG.integers(1, 4, 4)]
        lengths = [int(n) for n in RNG.integers(0, sizes[0] + 1, sizes[1])] if RNG.integers(2) else None
        given = "".join(letter for letter in "bhcp" if RNG.integers(2))
        kind = str(RNG.choice(["f32", "f32", "f64"]))
        recurrent(op, sizes, given, kind=kind, opset=22, lengths=lengths, **attributes)


def states(rank, sizes, kind="f32", opset=25, mask=None, lengths=None, outputs="ykvq", **attributes):
    """Attention with all that it has. `mask` is a tensor; `sizes` are samples, heads of keys, those of queries for each, queries,
    new keys, keys of before, and numbers of keys and values; without keys of before that is None."""
    p, n, g, l, s, w, d, e = sizes
    narrow = lambda *shape: floats(kind, *shape, low=-1.0, high=1.0)
    if rank == 4:
        inputs = [narrow(p, n * g, l, d), narrow(p, n, s, d), narrow(p, n, s, e)]
    else:
        inputs = [narrow(p, l, n * g * d), narrow(p, s, n * d), narrow(p, s, n * e)]
        attributes |= {"q_num_heads": n * g, "kv_num_heads": n}
    inputs += [mask]
    inputs += [None, None] if w is None else [narrow(p, n, w, d), narrow(p, n, w, e)]
    inputs += [("i64", np.array(lengths))] if lengths is not None else []
    while inputs[-1] is None:
        inputs.pop()

    def run(attributes):
        names = [f"x{i}" if tensor else "" for i, tensor in enumerate(inputs)]
        given = {n: native(*t) for n, t in zip(names, inputs) if t}
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
        results = [helper.make_value_info(n, onnx.TypeProto()) for n in "ykvq"]
        node = helper.make_node("Attention", names, list("ykvq"), **attributes)
        graph = helper.make_graph([node], "g", infos, results)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        with np.errstate(all="ignore"):
            return [np.asarray(y) for y in ReferenceEvaluator(model).run(None, given)]

    made = run(attributes)
    if attributes.get("qk_matmul_output_mode", 0) == 0:
        # By ONNX's text these are before the softcap; the evaluator has them behind it.
        made[3] = run({k: v for k, v in attributes.items() if k != "softcap"})[3]
    made = [(kind, y) if name in outputs else None for name, y in zip("ykvq", made)]
    while made[-1] is None:
        made.pop()
    text = " ".join(f"{k}:{written(v)}" for k, v in attributes.items())
    print(f"Attention {opset} | {text} | {' ; '.join(map(shown, inputs))} | {' ; '.join(map(shown, made))}")


def of_states():
    small = (2, 2, 2, 3, 4, 2, 4, 3)
    for kind in FLOATS:
        for rank in (3, 4):
            states(rank, small, kind, opset=23, is_causal=1)
            states(rank, (2, 2, 1, 3, 4, None, 4, 3), kind, opset=24, lengths=[4, 2], outputs="y")
    for mode in range(4):
        states(4, small, opset=24, is_causal=1, softcap=0.5, qk_matmul_output_mode=mode, mask=floats("f32", 3, 6))
        states(3, small, opset=23, qk_matmul_output_mode=mode, mask=bools(4, 3, 6), outputs="yq")
        states(4, (1, 1, 2, 2, 3, None, 2, 2), opset=23, qk_matmul_output_mode=mode, outputs="yq")
    # What a query sees nothing of is 0, also as a weight.
    blind = ("bool", np.array([[True, False, True, False], [False] * 4, [True] * 4]))
    states(4, (2, 1, 2, 3, 4, None, 2, 2), mask=blind, qk_matmul_output_mode=3)
    # More queries than a sample has keys, none at all, and lengths that are none.
    for lengths in ([1, 4], [0, 2], [-3, 9], [-(2**63), 2**63 - 1]):
        states(4, (2, 2, 1, 3, 4, None, 2, 2), opset=24, lengths=lengths, is_causal=1, outputs="y")
    states(4, (2, 2, 1, 3, 4, None, 2, 2), opset=24, lengths=[-(2**63), 2**63 - 1], outputs="y")
    states(4, (2, 1, 1, 1, 0, 3, 2, 2), is_causal=1)
    states(4, (2, 1, 1, 2, 2, 0, 2, 2), is_causal=1)
    states(4, (0, 1, 2, 2, 2, 1, 2, 2))
    for kind, precision in (("f16", 10), ("bf16", 16), ("f16", 1), ("bf16", 10), ("f16", 16)):
        states(4, (1, 2, 1, 3, 4, None, 4, 3), kind, opset=24, softmax_precision=precision, outputs="y")
    for left, right in ((1, -1), (-1, 1), (1, 0), (0, 2), (0, 0)):
        states(4, small, left_window_size=left, right_window_size=right)
        states(3, (2, 1, 2, 4, 5, None, 2, 2), left_window_size=left, right_window_size=right, lengths=[5, 4], outputs="y")
    for _ in range(48):
        p, n, g, l, s, d, e = (int(x) for x in RNG.integers(1, 4, 7))
        w = [None, int(RNG.integers(0, 4))][RNG.integers(2)]
        t = s + (w or 0)
        opset = int(RNG.choice([23, 24, 25]))
        attributes = {"is_causal": 1} if RNG.integers(2) else {}
        shapes = [(l, t), (n * g, l, t), (p, 1, l, t), (p, n * g, l, t)]
        # The evaluator makes a causal mask for as many queries as the mask has.
        shapes += [] if attributes else [(t,), (1, t), (n * g, 1, t)]
        shape = shapes[RNG.integers(len(shapes))]
        mask = [None, bools(*shape), floats("f32", *shape)][RNG.integers(3)]
        if opset == 25 and RNG.integers(2):
            attributes |= {"left_window_size": int(RNG.integers(-1, 3)), "right_window_size": int(RNG.integers(-1, 3))}
        if RNG.integers(2):
            attributes["qk_matmul_output_mode"] = int(RNG.integers(4))
        if RNG.integers(3) == 0:
            attributes["softcap"] = 1.5
        if RNG.integers(3) == 0:
            attributes["scale"] = 0.25
        lengths = [int(x) for x in RNG.integers(0, t + 1, p)] if opset > 23 and w is None and RNG.integers(2) else None
        states(int(RNG.integers(3, 5)), (p, n, g, l, s, w, d, e), opset=opset, mask=mask, lengths=lengths, **attributes)


def of_pairs():
    for kind in FLOATS:
        case("SwiGLU", [floats(kind, 2, 3), floats(kind, 2, 3)], opset=28)
    case("SwiGLU", [floats("f32", 2, 0, 2), floats("f32", 2, 0, 2)], opset=28)
    case("SwiGLU", [floats("f64", 4), floats("f64", 4)], opset=28, alpha=0.5)


def of_diagonals():
    for kind in FLOATS + INTS:
        some = floats if kind in FLOATS else ints
        case("EyeLike", [some(kind, 3, 4)], opset=22)
        case("EyeLike", [some(kind, 4, 2)], opset=9, k=-1)
    for k in (1, 7, -9, 2**63 - 1, -(2**63)):
        size = (2, 3)
        y = np.eye(*size, k=max(min(k, 100), -100))
        print(f"EyeLike 22 | k:int={k} | {shown(floats('f32', *size))} | {shown(('f32', y))}")
    case("EyeLike", [floats("f32", 0, 3)], opset=22)


def of_training():
    """Normalization of a batch by its own statistics, which are mixed with those of before."""
    for kind in FLOATS:
        for shape, momentum in [((2, 3, 4), 0.75), ((4, 2), 0.5), ((1, 2, 2, 3), 0.25)]:
            inputs = [floats(kind, *shape), *(floats(kind, shape[1], low=0.5) for _ in range(4))]
            x, scale, bias, mean, variance = (array for _, array in inputs)
            axes = tuple(d for d in range(x.ndim) if d != 1)
            along = (1, -1) + (1,) * (x.ndim - 2)
            centre, spread = x.mean(axes), x.var(axes)
            factor = (scale / np.sqrt(spread + float(np.float32(1e-5)))).reshape(along)
            y = (x - centre.reshape(along)) * factor + bias.reshape(along)
            mixed = [before * momentum + now * (1 - momentum) for before, now in ((mean, centre), (variance, spread))]
            outputs = " ; ".join(shown((kind, array)) for array in [y, *mixed])
            text = f"training_mode:int=1 momentum:float={momentum}"
            print(f"BatchNormalization 15 | {text} | {' ; '.join(map(shown, inputs))} | {outputs}")


def of_statistics():
    """Layer normalization with the statistics of its rows, which are f32."""
    for shape, axis, biased in [((2, 3, 4), -1, True), ((2, 3, 4), 1, False), ((3, 2), 0, True)]:
        x, scale, bias = floats("f32", *shape), floats("f32", *shape[axis:]), floats("f32", *shape[axis:])
        axes = tuple(range(axis % len(shape), len(shape)))
        mean, factor = x[1].mean(axes, keepdims=True), 1 / np.sqrt(x[1].var(axes, keepdims=True) + float(np.float32(1e-5)))
        y = (x[1] - mean) * factor * scale[1] + (bias[1] if biased else 0)
        inputs = [x, scale] + ([bias] if biased else [])
        outputs = " ; ".join(shown(("f32", array)) for array in (y, mean, factor))
        print(f"LayerNormalization 17 | axis:int={axis} | {' ; '.join(map(shown, inputs))} | {outputs}")


def of_clips():
    for kind in FLOATS:
        recurrent("LSTM", (4, 2, 2, 2), "bhcp", clip=0.25, kind=kind)
    recurrent("LSTM", (3, 2, 2, 2), "bhc", clip=0.125, direction="bidirectional", lengths=[1, 3])
    recurrent("LSTM", (3, 2, 2, 2), "b", clip=0.5, layout=1, input_forget=1, kind="f64")


if __name__ == "__main__":
    print(f"# By import/tools/make_references.py from onnx {onnx.__version__}. Do not edit.")
    of_numbers()
    of_rows()
    of_attention()
    of_old_opsets()
    of_places()
    of_scatters()
    of_transposed_convolutions()
    of_angles()
    of_heads()
    of_recurrent()
    of_functions()
    of_states()
    of_pairs()
    of_diagonals()
    of_training()
    of_statistics()
    of_clips()
