#!/usr/bin/env python3
"""Prints src/onnx/tests/decided.txt: graphs in whose middle data decide a size, and what onnxruntime makes of them.

A graph begins with `graph NAME OPSET`. Then `input NAME TYPE SIZES`, `output NAME TYPE`, `weight NAME TENSOR` and
`node OPERATOR INPUTS -> OUTPUTS | ATTRIBUTES`; for each run a line `run TENSORS => TENSORS`, in the order of inputs and
outputs. Tensors are `type[sizes]=numbers`.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(8)
TYPES = {"f32": (TensorProto.FLOAT, np.float32), "i64": (TensorProto.INT64, np.int64), "bool": (TensorProto.BOOL, np.bool_),
         "i32": (TensorProto.INT32, np.int32)}
OPSET = 18


def shown(array):
    kind = next(kind for kind, (_, native) in TYPES.items() if array.dtype == native)
    number = (lambda v: repr(float(v))) if kind == "f32" else (lambda v: str(int(v)))
    sizes = ",".join(map(str, array.shape))
    return f"{kind}[{sizes}]=" + " ".join(number(v) for v in array.reshape(-1))


def attribute(name, value):
    if isinstance(value, list):
        return f"{name}:ints=" + ",".join(map(str, value))
    return f"{name}:int={value}"


def graph(name, nodes, inputs, outputs, runs, weights=()):
    names = lambda text: ["" if name == "-" else name for name in text.split()]
    made = [helper.make_node(op, names(i), names(o), name=f"my_{o}", **a) for op, i, o, a in nodes]
    info = lambda n, t, s: helper.make_tensor_value_info(n, TYPES[t][0], s)
    ins = [info(n, t, s.split()) for n, t, s in inputs]
    outs = [helper.make_tensor_value_info(n, TYPES[t][0], None) for n, t in outputs]
    initial = [numpy_helper.from_array(np.asarray(v), n) for n, v in weights]
    model = helper.make_model(helper.make_graph(made, name, ins, outs, initial), opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 9
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    print(f"graph {name} {OPSET}")
    for n, t, s in inputs:
        print(f"input {n} {t} {s}".rstrip())
    for n, t in outputs:
        print(f"output {n} {t}")
    for n, v in weights:
        print(f"weight {n} {shown(np.asarray(v))}")
    for op, i, o, a in nodes:
        print((f"node {op} {i} -> {o} | " + " ".join(attribute(k, v) for k, v in a.items())).rstrip())
    for run in runs:
        values = session.run(None, {n: v for (n, _, _), v in zip(inputs, run)})
        print("run " + " ; ".join(map(shown, run)) + " => " + " ; ".join(shown(np.asarray(v)) for v in values))


def sparse(*shape):
    keep = RNG.random(shape) < 0.5
    return np.where(keep, np.round(RNG.uniform(-4, 4, shape) * 8) / 8, 0).astype(np.float32)


def runs(*shapes):
    """For each shape some, none and all elements."""
    return [[values] for s in shapes for values in (sparse(*s), np.zeros(s, np.float32), np.ones(s, np.float32))]


MATRIX = [("x", "f32", "A B")]
SHAPES = [(3, 4), (1, 1), (0, 3), (2, 0)]


def non_zero():
    special = np.array([[0, -0.0, np.nan], [np.inf, 1e-45, 0]], np.float32)
    graph("positions", [("NonZero", "x", "y", {})], MATRIX, [("y", "i64")], runs(*SHAPES) + [[special]])
    for kind in ("bool", "i32", "i64"):
        values = [[RNG.integers(0, 2, s).astype(TYPES[kind][1])] for s in [(2, 2, 3), (1, 0, 2)]]
        graph(f"positions_of_{kind}", [("NonZero", "x", "y", {})], [("x", kind, "A B C")], [("y", "i64")], values)
    pick = [("NonZero", "x", "p", {}), ("Transpose", "p", "q", {"perm": [1, 0]}), ("GatherND", "x q", "v", {})]
    graph("numbers", pick + [("Add", "v v", "y", {})], MATRIX, [("p", "i64"), ("y", "f32")], runs(*SHAPES))
    lists = [("minus", np.array([-1], np.int64)), ("one", np.array([1], np.int64)), ("zero", np.array([0], np.int64))]
    graph("sum_of_numbers", pick + [("ReduceSum", "v zero", "s", {"keepdims": 0}), ("Div", "v s", "y", {})], MATRIX,
          [("s", "f32"), ("y", "f32")], runs((3, 4), (5, 2)), lists[2:])
    graph("flat", [("NonZero", "x", "p", {}), ("Reshape", "p minus", "y", {}), ("Mul", "y y", "z", {})], MATRIX,
          [("y", "i64"), ("z", "i64")], runs(*SHAPES), lists[:1])
    graph("rows", [("ReduceSum", "x one", "r", {"keepdims": 0}), ("NonZero", "r", "p", {}), ("Squeeze", "p zero", "i", {}),
                   ("Gather", "x i", "y", {"axis": 0})], MATRIX, [("y", "f32")], runs((4, 3), (2, 2), (0, 3)), lists[1:])
    graph("how_many", [("NonZero", "x", "p", {}), ("Shape", "p", "s", {}), ("Gather", "s one", "n", {"axis": 0}),
                       ("ConstantOfShape", "s", "z", {}), ("Cast", "p", "f", {"to": 1}), ("Add", "z f", "y", {})], MATRIX,
          [("n", "i64"), ("y", "f32")], runs(*SHAPES), lists[1:2])
    graph("twice", [("NonZero", "x", "p", {}), ("NonZero", "p", "q", {}), ("Concat", "p q", "y", {"axis": 1})], MATRIX,
          [("y", "i64"), ("q", "i64")], runs(*SHAPES))


def compress():
    keep = np.array([0, 1, 1, 0], np.bool_)
    both = [("x", "f32", "A B"), ("c", "bool", "C")]
    values = [[sparse(4, 3), keep], [sparse(4, 3), keep[:3]], [sparse(4, 3), keep[:0]], [sparse(4, 0), keep]]
    graph("compress_rows", [("Compress", "x c", "y", {"axis": 0}), ("Relu", "y", "z", {})], both, [("y", "f32"), ("z", "f32")], values)
    columns = [[sparse(3, 4), keep], [sparse(2, 4), keep == 0]]
    graph("compress_columns", [("Compress", "x c", "y", {"axis": -1}), ("Exp", "y", "z", {})], both, [("z", "f32")], columns)
    graph("compress_elements", [("Compress", "x c", "y", {})], both, [("y", "f32")], values[:3])


def unique():
    outputs = [("y", "f32"), ("i", "i64"), ("v", "i64"), ("c", "i64")]
    values = [[np.array([2, 1, 1, 3, 4, 3, 2, 2], np.float32)], [np.zeros(5, np.float32)], [np.array([], np.float32)]]
    for order in (0, 1):
        graph(f"unique_{order}", [("Unique", "x", "y i v c", {"sorted": order})], [("x", "f32", "N")], outputs, values)
        table = np.array([[[1, 1], [0, 1], [2, 1], [0, 1]], [[1, 1], [0, 1], [2, 1], [0, 1]]], np.float32)
        for axis in (0, 1, -1):
            runs = [[table], [RNG.integers(0, 2, (3, 4, 2)).astype(np.float32)]]
            graph(f"unique_{order}_{axis + 1}", [("Unique", "x", "y i v c", {"sorted": order, "axis": axis})],
                  [("x", "f32", "A B C")], outputs, runs)
    graph("values_of_indices", [("Unique", "x", "u - v", {"sorted": 1}), ("Gather", "u v", "g", {"axis": 0}), ("Sub", "g x", "y", {})],
          [("x", "f32", "N")], [("u", "f32"), ("y", "f32")], values[:2])


def suppression():
    inputs = [("b", "f32", "B N 4"), ("s", "f32", "B C N")]
    numbers = [("most", np.array([2], np.int64)), ("iou", np.array([0.4], np.float32)), ("least", np.array([0.3], np.float32))]

    def boxes(batches, classes, count):
        corners = np.round(RNG.uniform(0, 4, (batches, count, 4)) * 4) / 4
        return [corners.astype(np.float32), (np.round(RNG.random((batches, classes, count)) * 8) / 8).astype(np.float32)]

    sets = [boxes(1, 1, 6), boxes(2, 3, 12), boxes(1, 2, 1)]
    for centers in (0, 1):
        for given in (3, 4, 5):
            names = "b s most iou least".split()[:given]
            graph(f"suppression_{centers}_{given}", [("NonMaxSuppression", " ".join(names), "y", {"center_point_box": centers})],
                  inputs, [("y", "i64")], sets, numbers[: given - 2])
    graph("selected_boxes", [("NonMaxSuppression", "b s most iou", "r", {}), ("Slice", "r two three one", "k", {}),
                             ("Squeeze", "k one", "p", {}), ("Squeeze", "b zero", "t", {}), ("Gather", "t p", "y", {"axis": 0})],
          [("b", "f32", "1 N 4"), ("s", "f32", "1 C N")], [("y", "f32")], [sets[0], sets[2]],
          numbers[:2] + [("zero", np.array([0], np.int64)), ("one", np.array([1], np.int64)), ("two", np.array([2], np.int64)),
                         ("three", np.array([3], np.int64))])


if __name__ == "__main__":
    print(f"# By import/tools/make_decided_references.py with onnx {onnx.__version__} and onnxruntime {onnxruntime.__version__}.")
    non_zero()
    compress()
    unique()
    suppression()
