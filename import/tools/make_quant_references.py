#!/usr/bin/env python3
"""Prints tools/sutura/tests/data/quant_references.txt: what onnx's reference evaluator makes of QuantizeLinear and DequantizeLinear.

A line is `case NAME | TYPE | SIZES | x NUMBERS | q INTEGERS | y NUMBERS`: `x` quantised is `q`, `q` dequantised is `y`. TYPE is the
type of a quantised element; numbers are bits of f32, in hexadecimal. Among them are halves between two integers, both zeros,
infinities, and numbers beyond every bound; of those only such as the evaluator converts without overflow, which it leaves open.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(20)
OPSET = 25
STORED = {
    "i8": TensorProto.INT8, "u8": TensorProto.UINT8, "i16": TensorProto.INT16, "u16": TensorProto.UINT16,
    "i4": TensorProto.INT4, "u4": TensorProto.UINT4, "i2": TensorProto.INT2, "u2": TensorProto.UINT2,
}
BOUNDS = {name: ((-(1 << int(name[1:]) - 1), (1 << int(name[1:]) - 1) - 1) if name[0] == "i" else (0, (1 << int(name[1:])) - 1)) for name in STORED}


def run(operator, inputs, types, result, **attributes):
    names = [f"i{k}" for k in range(len(inputs))]
    infos = [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, types)]
    node = helper.make_node(operator, names, ["o"], **attributes)
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("o", result, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))[0]


def numbers(shape, scales, low, high):
    """Numbers about the bounds and between, of which many are halves of a scale."""
    steps = RNG.integers(2 * low - 9, 2 * high + 10, shape) / 2
    other = RNG.uniform(low - 3, high + 3, shape)
    x = np.where(RNG.random(shape) < 0.5, steps, other).astype(np.float32) * scales.astype(np.float32)
    flat = x.reshape(-1)
    flat[: min(4, flat.size)] = np.array([0.0, -0.0, 0.25, -0.25], np.float32)[: flat.size]
    flat[-2:] = np.float32(2.0**20) * np.array([1, -1], np.float32)[: flat[-2:].size]
    return x


def bits(array):
    return " ".join(f"{int(v):08x}" for v in np.ascontiguousarray(array, np.float32).view(np.uint32).reshape(-1))


def affine(scale, zero):
    return repr(float(scale)) + (f":{int(zero)}" if int(zero) else "")


def nested(scales, zeros):
    if scales.ndim == 0:
        return affine(scales, zeros)
    return "{" + ", ".join(nested(s, z) for s, z in zip(scales, zeros)) + "}"


def case(name, stored, shape, scales, zeros, axis=None, blocks=None):
    scales, zeros = np.asarray(scales, np.float32), np.asarray(zeros)
    native = helper.tensor_dtype_to_np_dtype(STORED[stored])
    attributes, text = {}, f", {affine(scales, zeros)}" if scales.ndim == 0 else ""
    each = scales
    if axis is not None and blocks is None:
        attributes, text = {"axis": axis}, f":{axis}, {nested(scales, zeros)}"
        each = scales.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    elif blocks is not None:
        attributes = {"axis": axis, "block_size": blocks}
        # Along other dimensions each element has a scale: blocks of one.
        sizes = ", ".join(f"{d}:{blocks if d == axis else 1}" for d in range(len(shape)))
        text = f":{{{sizes}}}, {nested(scales, zeros)}"
        each = np.repeat(scales, blocks, axis)
    low, high = BOUNDS[stored]
    x = numbers(shape, np.broadcast_to(each, shape), low, high)
    kind = STORED[stored]
    q = run("QuantizeLinear", [x, scales, zeros.astype(native)], [TensorProto.FLOAT, TensorProto.FLOAT, kind], kind, **attributes)
    y = run("DequantizeLinear", [q, scales, zeros.astype(native)], [kind, TensorProto.FLOAT, kind], TensorProto.FLOAT, **attributes)
    integers = " ".join(str(int(v)) for v in np.asarray(q).reshape(-1))
    print(f"case {name} | !quant.uniform<{stored}:f32{text}> | {' '.join(map(str, shape))} | x {bits(x)} | q {integers} | y {bits(y)}")


for stored in STORED:
    low, high = BOUNDS[stored]
    case(f"tensor_{stored}", stored, (3, 11), 0.5, min(high, 3))
    case(f"tensor_{stored}_odd", stored, (23,), 0.1, low)
for stored in ["i8", "u8", "i16", "u4"]:
    low, high = BOUNDS[stored]
    some = lambda *n: RNG.integers(max(low, -9), min(high, 9) + 1, n)
    scale = lambda *n: np.float32(2.0) ** RNG.integers(-4, 3, n) * RNG.choice([1.0, 1.3, 0.7], n)
    case(f"axis0_{stored}", stored, (3, 7), scale(3), some(3), axis=0)
    case(f"axis1_{stored}", stored, (2, 5, 3), scale(5), some(5), axis=1)
    case(f"blocks0_{stored}", stored, (6, 4), scale(2, 4), some(2, 4), axis=0, blocks=3)
    case(f"blocks1_{stored}", stored, (3, 8), scale(3, 2), some(3, 2), axis=1, blocks=4)
    case(f"blocks2_{stored}", stored, (2, 2, 6), scale(2, 2, 3), some(2, 2, 3), axis=2, blocks=2)
    case(f"one_block_{stored}", stored, (2, 4), scale(2, 1), some(2, 1), axis=1, blocks=4)
