#!/usr/bin/env python3
"""Writes models of one recurrent node beside this file, with inputs and what onnxruntime makes of them at several sizes.

NAME.onnx is a model, NAME_SxB.npz has its inputs at S steps of B samples and NAME_SxB_out.npz the outputs. With a second layout or
without steps onnxruntime computes nothing; `references.txt` of the importer has those.
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(64)
HERE = Path(__file__).parent
FEATURES, HIDDEN = 5, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
SIZES = [(1, 1), (4, 3), (9, 2)]


def uniform(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def written(name, op, states=True, lengths=True, opset=22, **attributes):
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = GATES[op] * HIDDEN
    weights = {"W": uniform(directions, rows, FEATURES), "R": uniform(directions, rows, HIDDEN), "Bias": uniform(directions, 2 * rows)}
    if op == "LSTM" and states:
        weights["P"] = uniform(directions, 3 * HIDDEN)
    state = [directions, "samples", HIDDEN]
    infos = {"X": (TensorProto.FLOAT, ["steps", "samples", FEATURES])}
    if lengths:
        infos["lengths"] = (TensorProto.INT32, ["samples"])
    if states:
        infos |= {name: (TensorProto.FLOAT, state) for name in (["H", "C"] if op == "LSTM" else ["H"])}
    names = ["X", "W", "R", "Bias", "lengths", "H", "C", "P"]
    names = [name if name in weights or name in infos else "" for name in names]
    while not names[-1]:
        names.pop()
    outputs = {"Y": ["steps", directions, "samples", HIDDEN], "Y_h": state} | ({"Y_c": state} if op == "LSTM" else {})
    node = helper.make_node(op, names, list(outputs), name=f"/encoder/{op}", hidden_size=HIDDEN, **attributes)
    graph = helper.make_graph(
        [node], name, [helper.make_tensor_value_info(n, *info) for n, info in infos.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, dims) for n, dims in outputs.items()],
        [numpy_helper.from_array(array, n) for n, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx")
    session = onnxruntime.InferenceSession(HERE / f"{name}.onnx")
    for steps, samples in SIZES:
        given = {"X": uniform(steps, samples, FEATURES)}
        if lengths:
            given["lengths"] = RNG.integers(1, steps + 1, samples).astype(np.int32)
        given |= {n: uniform(directions, samples, HIDDEN) for n in ("H", "C") if n in infos}
        np.savez(HERE / f"{name}_{steps}x{samples}.npz", **given)
        made = dict(zip(outputs, session.run(None, given)))
        np.savez(HERE / f"{name}_{steps}x{samples}_out.npz", **made)


if __name__ == "__main__":
    written("lstm", "LSTM", direction="bidirectional")
    written("lstm_plain", "LSTM", states=False, lengths=False, opset=7)
    written("gru", "GRU", direction="reverse", clip=0.5)
    written("gru_before", "GRU", direction="bidirectional", linear_before_reset=1, opset=14)
    written("rnn", "RNN", activations=["Relu"], clip=0.75)
