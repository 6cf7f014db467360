#!/usr/bin/env python3
"""Writes twenty small models beside this file, of which each node is called `n_` and its first output."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

RNG = np.random.default_rng(1)
HERE = Path(__file__).parent
NUMPY = {T.FLOAT: np.float32, T.FLOAT16: np.float16, T.DOUBLE: np.float64}


def weight(name, shape, element=T.FLOAT):
    values = RNG.standard_normal(shape) * 0.3
    if element == T.BFLOAT16:
        return helper.make_tensor(name, element, shape, values.flatten().tolist())
    return numpy_helper.from_array(values.astype(NUMPY[element]), name)


def integers(name, values, element=np.int64):
    return numpy_helper.from_array(np.array(values, element), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name="n_" + outputs[0], **attributes)


def write(name, nodes, inputs, output, weights=()):
    infos = [helper.make_tensor_value_info(*info) for info in inputs]
    output = helper.make_tensor_value_info("y", output, None)
    graph = helper.make_graph(nodes, name, infos, [output], list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, HERE / f"{name}.onnx")


def body():
    info = lambda name: helper.make_tensor_value_info(name, T.FLOAT, ["b", 4])
    nodes = [
        helper.make_node("Add", ["state", "x"], ["sum"]),
        helper.make_node("MatMul", ["sum", "W"], ["product"]),
        helper.make_node("Tanh", ["product"], ["next"]),
        helper.make_node("Identity", ["next"], ["seen"]),
    ]
    return helper.make_graph(nodes, "body", [info("state"), info("x")], [info("next"), info("seen")])


F, H, D, B = T.FLOAT, T.FLOAT16, T.DOUBLE, T.BFLOAT16
write("elementwise", [node("Mul", ["x", "x"], ["q"]), node("Add", ["q", "w"], ["s"]), node("Sigmoid", ["s"], ["g"]), node("Mul", ["g", "x"], ["y"])],
      [("x", F, ["a", 16])], F, [weight("w", (16,))])
write("reductions", [node("ReduceMean", ["x", "ax"], ["m"], keepdims=1), node("Sub", ["x", "m"], ["d"]), node("Mul", ["d", "d"], ["q"]), node("ReduceSum", ["q", "ax"], ["y"])],
      [("x", D, ["a", "b"])], D, [integers("ax", [1])])
write("matmul", [node("MatMul", ["x", "w1"], ["h"]), node("Add", ["h", "b1"], ["hb"]), node("Relu", ["hb"], ["r"]), node("MatMul", ["r", "w2"], ["y"])],
      [("x", F, ["a", 64])], F, [weight("w1", (64, 48)), weight("b1", (48,)), weight("w2", (48, 8))])
write("matmul_f16", [node("MatMul", ["x", "w1"], ["h"]), node("Tanh", ["h"], ["t"]), node("MatMul", ["t", "w2"], ["y"])],
      [("x", H, ["a", 64])], H, [weight("w1", (64, 32), H), weight("w2", (32, 8), H)])
write("matmul_bf16", [node("MatMul", ["x", "w1"], ["h"]), node("Sigmoid", ["h"], ["s"]), node("Mul", ["s", "h"], ["y"])],
      [("x", B, ["a", 64])], B, [weight("w1", (64, 32), B)])
write("convolution", [node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]), node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("GlobalAveragePool", ["p"], ["y"])],
      [("x", F, ["n", 3, 8, 8])], F, [weight("w", (4, 3, 3, 3))])
write("softmax", [node("MatMul", ["x", "w"], ["h"]), node("Softmax", ["h"], ["p"], axis=-1), node("Log", ["p"], ["y"])],
      [("x", F, ["a", 16])], F, [weight("w", (16, 24))])
write("layernorm", [node("LayerNormalization", ["x", "g", "b"], ["n"], axis=-1), node("Gelu", ["n"], ["y"])],
      [("x", F, ["a", "s", 32])], F, [weight("g", (32,)), weight("b", (32,))])
write("layernorm_f16", [node("LayerNormalization", ["x", "g", "b"], ["n"], axis=-1), node("Exp", ["n"], ["y"])],
      [("x", H, ["a", 32])], H, [weight("g", (32,), H), weight("b", (32,), H)])
write("instancenorm", [node("InstanceNormalization", ["x", "g", "b"], ["n"]), node("Tanh", ["n"], ["y"])],
      [("x", F, ["n", 4, 6, 6])], F, [weight("g", (4,)), weight("b", (4,))])
write("attention", [node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), node("MatMul", ["q", "kt"], ["s"]), node("Mul", ["s", "f"], ["sf"]), node("Softmax", ["sf"], ["p"], axis=-1), node("MatMul", ["p", "v"], ["y"])],
      [(name, F, ["b", "s", 16]) for name in "qkv"], F, [weight("f", (1,))])
write("gather", [node("Gather", ["w", "i"], ["e"]), node("Mul", ["e", "e"], ["m"]), node("ReduceMax", ["m", "ax"], ["y"])],
      [("i", T.INT64, ["a", "b"])], F, [weight("w", (8, 16)), integers("ax", [-1])])
write("lstm", [node("LSTM", ["x", "w", "r", "b"], ["h"], hidden_size=8), node("Squeeze", ["h", "ax"], ["q"]), node("Relu", ["q"], ["y"])],
      [("x", F, ["s", "b", 4])], F, [weight("w", (1, 32, 4)), weight("r", (1, 32, 8)), weight("b", (1, 64)), integers("ax", [1])])
write("gru", [node("GRU", ["x", "w", "r"], ["h"], hidden_size=6), node("Exp", ["h"], ["y"])],
      [("x", F, ["s", "b", 4])], F, [weight("w", (1, 18, 4)), weight("r", (1, 18, 6))])
write("scan", [node("Scan", ["s0", "xs"], ["sf", "ys"], body=body(), num_scan_inputs=1), node("ReduceSum", ["ys", "ax"], ["y"])],
      [("s0", F, ["b", 4]), ("xs", F, ["t", "b", 4])], F, [weight("W", (4, 4)), integers("ax", [0])])
write("casts", [node("Cast", ["x"], ["i"], to=T.INT32), node("Cast", ["i"], ["f"], to=T.FLOAT16), node("Mul", ["f", "f"], ["m"]), node("Cast", ["m"], ["y"], to=F)],
      [("x", F, ["a", 7])], F)
write("integers", [node("Mul", ["i", "k"], ["m"]), node("Add", ["m", "i"], ["s"]), node("Div", ["s", "k"], ["d"]), node("Mod", ["d", "k"], ["y"])],
      [("i", T.INT32, ["a", 5])], T.INT32, [integers("k", [3], np.int32)])
write("quantized", [node("MatMulInteger", ["x", "w"], ["p"]), node("Cast", ["p"], ["f"], to=F), node("QuantizeLinear", ["f", "sc", "z"], ["q"]), node("DequantizeLinear", ["q", "sc", "z"], ["y"])],
      [("x", T.INT8, ["a", 32])], F, [integers("w", RNG.integers(-100, 100, (32, 12)), np.int8), numpy_helper.from_array(np.float32(300), "sc"), integers("z", 3, np.int8)])
write("where", [node("Less", ["x", "z"], ["c"]), node("Where", ["c", "x", "w"], ["v"]), node("Abs", ["v"], ["y"])],
      [("x", F, ["a", 16])], F, [weight("z", (1,)), weight("w", (16,))])
write("slices", [node("Concat", ["x", "x"], ["c"], axis=0), node("Slice", ["c", "st", "en"], ["s"]), node("Transpose", ["s"], ["t"], perm=[1, 0]), node("Pad", ["t", "pads"], ["p"]), node("Exp", ["p"], ["y"])],
      [("x", F, ["a", 16])], F, [integers("st", [1]), integers("en", [100]), integers("pads", [0, 1, 0, 2])])
