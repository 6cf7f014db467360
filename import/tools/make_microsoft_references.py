#!/usr/bin/env python3
"""Prints src/onnx/tests/microsoft.txt: operators of onnxruntime's own domain, and what onnxruntime computes of them.

Lines are those of make_references.py. Floats are f32, and results of integers are onnxruntime's; where it rounds otherwise than
its operator says, which the test lists, they may differ by one step.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

RNG = np.random.default_rng(7)
KINDS = {"float32": "f32", "uint8": "u8", "int8": "i8", "int32": "i32", "int64": "i64", "bool": "bool", "float16": "f16"}
TYPES = {
    "f32": TensorProto.FLOAT, "u8": TensorProto.UINT8, "i8": TensorProto.INT8, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
    "bool": TensorProto.BOOL, "f16": TensorProto.FLOAT16,
}


def floats(*shape, scale=1.0):
    return (RNG.normal(size=shape) * scale).astype(np.float32)


def scale(value):
    return np.asarray(value, np.float32)


def scales(*shape):
    return RNG.uniform(0.01, 0.06, shape).astype(np.float32)


def stored(kind, *shape):
    low, high = (-128, 128) if kind == "i8" else (0, 256)
    return RNG.integers(low, high, shape).astype({"i8": np.int8, "u8": np.uint8}[kind])


def ints(high, *shape):
    return RNG.integers(0, high, shape).astype(np.int32)


def shown(array):
    if array is None:
        return "-"
    kind = KINDS[str(array.dtype)]
    number = (lambda v: repr(float(v))) if kind[0] == "f" else (lambda v: str(int(v)))
    return f"{kind}[{','.join(map(str, array.shape))}]=" + " ".join(number(v) for v in array.reshape(-1))


def written(value):
    if isinstance(value, str):
        return f"string={value}"
    if isinstance(value, list):
        return ("ints=" if isinstance(value[0], int) else "floats=") + ",".join(map(str, value))
    return f"int={value}" if isinstance(value, int) else f"float={value!r}"


def case(op, inputs, outputs=(True,), domain="com.microsoft", **attributes):
    """`outputs` says which results are asked for."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    results = [f"y{i}" if asked else "" for i, asked in enumerate(outputs)]
    infos = [
        helper.make_tensor_value_info(name, TYPES[KINDS[str(array.dtype)]], array.shape) for name, array in zip(names, inputs) if name
    ]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=name) for name in results if name])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    made = iter(session.run(None, {name: array for name, array in zip(names, inputs) if name}))
    found = [next(made) if asked else None for asked in outputs]
    text = " ".join(f"{k}:{written(v)}" for k, v in attributes.items())
    name = f"{domain}.{op} 1" if domain else f"{op} 17"
    print(f"{name} | {text} | {' ; '.join(map(shown, inputs))} | {' ; '.join(map(shown, found))}")


def of_numbers():
    for op in ("Gelu", "QuickGelu", "FastGelu"):
        case(op, [floats(2, 3)])
    case("QuickGelu", [floats(4)], alpha=0.7)
    case("FastGelu", [floats(2, 3), floats(3)])
    case("BiasGelu", [floats(2, 1, 3), floats(3)])


def of_norms():
    case("SimplifiedLayerNormalization", [floats(2, 3, 4), floats(4)], domain="", axis=-1, epsilon=1e-5)
    for rest in ([None, None], [floats(4), None], [None, floats(4)], [floats(4), floats(4)]):
        case("SkipLayerNormalization", [floats(2, 3, 4), floats(2, 3, 4), floats(4)] + rest, (True, False, False, True), epsilon=1e-5)
    case("SkipLayerNormalization", [floats(2, 3, 4), floats(3, 4), floats(4)])
    for rest in ([None], [floats(4)]):
        inputs = [floats(2, 3, 4), floats(2, 3, 4), floats(4)] + rest
        case("SkipSimplifiedLayerNormalization", inputs, (True, False, False, True), epsilon=1e-5)
    for segments in (False, True):
        inputs = [ints(9, 2, 5), ints(2, 2, 5) if segments else None, floats(9, 4), floats(7, 4), floats(2, 4) if segments else None]
        rest = [floats(4), floats(4), ints(2, 2, 5) if segments else None, ints(7, 2, 5) if segments else None]
        case("EmbedLayerNormalization", inputs + rest, (True, True, True), epsilon=1e-6)


def of_products():
    for a, b in ((0, 0), (1, 0), (0, 1), (1, 1)):
        case("FusedMatMul", [floats(2, 4, 3) if a else floats(2, 3, 4), floats(2, 5, 4) if b else floats(2, 4, 5)], transA=a, transB=b, alpha=0.5)
    case("FusedMatMul", [floats(3, 2, 4), floats(2, 4, 5)], transBatchA=1)
    case("FusedMatMul", [floats(2, 3, 4), floats(5, 2, 4)], transBatchB=1, transB=1)
    case("TransposeMatMul", [floats(4, 3), floats(4, 5)], transA=1)
    for name, numbers in (("Relu", []), ("LeakyRelu", [0.1]), ("Clip", [-0.5, 0.75]), ("Tanh", []), ("Sigmoid", []), ("HardSigmoid", [0.3, 0.4])):
        numbers = {"activation_params": numbers} if numbers else {}
        case("FusedConv", [floats(1, 2, 4, 3), floats(3, 2, 2, 2), floats(3)], activation=name, pads=[0, 0, 1, 1], **numbers)
    case("FusedConv", [floats(1, 2, 4, 3), floats(3, 2, 2, 2), floats(3), floats(1, 3, 3, 2)], activation="Relu")
    case("FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], activation="LeakyRelu", activation_alpha=0.25, transB=1, alpha=0.5, beta=2.0)


def of_stored():
    for kind in ("u8", "i8"):
        one = lambda: stored(kind)
        for op, to in (("QLinearAdd", 0.11), ("QLinearMul", 0.2)):
            case(op, [stored(kind, 2, 1, 3), scale(0.05), one(), stored(kind, 4, 3), scale(0.03), one(), scale(to), one()])
        case("QLinearSigmoid", [stored(kind, 2, 3), scale(0.05), one(), scale(1 / 256), one()])
        case("QLinearLeakyRelu", [stored(kind, 2, 3), scale(0.05), one(), scale(0.03), one()], alpha=0.25)
        for last in (0, 1):
            pooled = [stored(kind, 2, 3, 5, 4), scale(0.05), one(), scale(0.03), one()]
            case("QLinearGlobalAveragePool", pooled, channels_last=last)
            case("QLinearAveragePool", pooled, channels_last=last, kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 1])
            weight = [stored("i8", 4, 3, 2, 2), scales(4), np.zeros(4, np.int8), scale(0.5), one(), ints(500, 4)]
            x = stored(kind, 1, 4, 4, 3) if last else stored(kind, 1, 3, 4, 4)
            case("QLinearConv", [x, scale(0.05), one()] + weight, channels_last=last, pads=[1, 0, 0, 1])
        case("NhwcMaxPool", [stored(kind, 1, 4, 5, 2)], kernel_shape=[2, 3], pads=[1, 1, 0, 1])
        case("QLinearConcat", [scale(0.03), one(), stored(kind, 2, 3), scale(0.05), one(), stored(kind, 2, 1), scale(0.03), one()], axis=1)
        least = np.asarray(0, np.uint8) if kind == "u8" else np.asarray(-128, np.int8)
        case("QLinearSoftmax", [stored(kind, 2, 5), scale(0.05), one(), scale(1 / 256), least], axis=-1, opset=13)
        condition = np.array([[True, False, True]])
        case("QLinearWhere", [condition, stored(kind, 2, 3), scale(0.05), one(), stored(kind, 2, 3), scale(0.07), one(), scale(0.08), one()])
        case("QuantizeLinear", [floats(2, 3, scale=9.0), scale(0.25), one()])
        case("DequantizeLinear", [stored(kind, 2, 3), scales(3), stored(kind, 3)], axis=1)
    other = stored("i8", 4, 3)
    inputs = [stored("u8", 2, 4), scale(0.05), stored("u8"), other, scales(3), stored("i8", 3), ints(500, 3)]
    case("QGemm", inputs + [scale(0.3), stored("u8")], alpha=1.5)
    case("QGemm", [stored("u8", 2, 4), scale(0.05), stored("u8"), stored("i8", 3, 4), scale(0.02), stored("i8")], transB=1)
    case("DynamicQuantizeMatMul", [floats(2, 4), other, scales(3), stored("i8", 3), floats(3)])
    case("MatMulIntegerToFloat", [stored("u8", 2, 4), other, scale(0.05), scales(3), stored("u8"), stored("i8", 3), floats(3)])


def of_blocks():
    for bits in (4, 8):
        # onnxruntime takes no zero points that are numbers for 8 bits.
        for zeros in (None, np.uint8, np.float32)[: 3 if bits == 4 else 2]:
            blocks, bytes_ = 3, 16 * bits // 8
            packed = RNG.integers(0, 256, (2, blocks, bytes_)).astype(np.uint8)
            if zeros == np.uint8:
                zero = RNG.integers(0, 256, (2, (blocks * bits + 7) // 8)).astype(zeros)
            else:
                zero = None if zeros is None else RNG.uniform(0, 9, (2, blocks)).astype(zeros)
            case("MatMulNBits", [floats(2, 40), packed, scales(2, blocks), zero], N=2, K=40, block_size=16, bits=bits)


def of_attention():
    rows = lambda n, w=8: floats(2, n, w)
    case("MultiHeadAttention", [rows(3), rows(4), rows(4)], num_heads=2)
    case("MultiHeadAttention", [rows(3), rows(3), rows(3), floats(24)], num_heads=2, unidirectional=1, scale=0.3)
    mask = np.array([[1, 1, 0, 1], [1, 0, 0, 0]], np.int32)
    case("MultiHeadAttention", [rows(3), rows(4), rows(4, 6), None, mask, floats(1, 2, 3, 4)], num_heads=2)
    past = [floats(2, 2, 2, 4), floats(2, 2, 2, 4)]
    case("MultiHeadAttention", [rows(3), rows(3), rows(3), None, None, None] + past, (True, True, True), num_heads=2, unidirectional=1)
    weights = [floats(5, 24, scale=0.5), floats(24)]
    case("Attention", [floats(2, 3, 5)] + weights, num_heads=2)
    case("Attention", [floats(2, 3, 5)] + weights + [np.array([[1, 1, 0], [1, 0, 0]], np.int32)], num_heads=2)
    case("Attention", [floats(2, 3, 5)] + weights + [np.array([2, 3], np.int32)], num_heads=2, unidirectional=1)
    case("Attention", [floats(2, 3, 5)] + weights + [np.array([2, 3, 1, 0], np.int32)], num_heads=2)
    case("Attention", [floats(2, 3, 5)] + weights + [None, floats(2, 2, 2, 4, 4)], (True, True), num_heads=2, unidirectional=1)
    case("Attention", [floats(2, 3, 5), floats(5, 20), floats(20)], num_heads=2, qkv_hidden_sizes=[8, 8, 4])
    tables = [np.cos(floats(6, 2)), np.sin(floats(6, 2))]
    for interleaved in (0, 1):
        case("RotaryEmbedding", [floats(2, 3, 8), RNG.integers(0, 6, (2, 3))] + tables, interleaved=interleaved)
        case("RotaryEmbedding", [floats(2, 2, 3, 4), np.array([2])] + tables, interleaved=interleaved)
    case("RotaryEmbedding", [floats(2, 3, 12), np.array([1])] + tables, num_heads=2, rotary_embedding_dim=4)


def of_groups():
    def call(rows, past, lengths, packed=False, tables=None, added=None, size=16, **attributes):
        samples, heads, shared = len(lengths), 2, 1
        widths = [(heads + 2 * shared) * size] if packed else [heads * size, shared * size, shared * size]
        parts = [floats(samples, rows, width) for width in widths] + [None] * (3 - len(widths))
        before = [floats(samples, shared, past, size) for _ in range(2)] if past else [None, None]
        last = np.array(lengths, np.int32) - 1
        extra = [None] * 4 if tables is None else tables + [None] * 2
        extra[3] = added
        while extra and extra[-1] is None:
            extra.pop()
        inputs = parts + before + [last, np.array(max(lengths), np.int32)] + extra
        case("GroupQueryAttention", inputs, (True, True, True), num_heads=heads, kv_num_heads=shared, **attributes)

    # The number of keys is an input here, so what is given of before has place for all.
    call(3, 0, [3, 3])
    call(1, 5, [5, 5])
    call(2, 5, [5], packed=True)
    tables = [np.cos(floats(9, 8)), np.sin(floats(9, 8))]
    for interleaved in (0, 1):
        call(1, 5, [5, 5], packed=True, tables=tables, do_rotary=1, rotary_interleaved=interleaved)
    call(3, 5, [5], tables=tables, size=32, do_rotary=1)
    call(3, 7, [7], local_window_size=2, softcap=5.0, scale=0.3)
    call(2, 5, [5], added=floats(1, 2, 2, 5), softcap=2.0)


print(f"# By import/tools/make_microsoft_references.py from onnxruntime {onnxruntime.__version__}. Do not edit.")
of_numbers()
of_norms()
of_products()
of_stored()
of_blocks()
of_attention()
of_groups()
