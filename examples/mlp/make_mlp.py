#!/usr/bin/env python3
"""Makes mlp.onnx, a two-layer classifier with a dynamic batch, and its data.

Covers Gemm with and without a transposed weight, and with alpha and beta.

    pip install numpy onnx onnxruntime
    python make_mlp.py
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20240301
FEATURES, HIDDEN, CLASSES = 64, 96, 10


def mlp():
    g, rng = ex.Graph(), np.random.default_rng(SEED)
    w1 = g.weight("fc1.weight", rng.normal(0, FEATURES**-0.5, (HIDDEN, FEATURES)))
    b1 = g.weight("fc1.bias", rng.normal(0, 0.1, HIDDEN))
    w2 = g.weight("fc2.weight", rng.normal(0, HIDDEN**-0.5, (HIDDEN, CLASSES)))
    b2 = g.weight("fc2.bias", rng.normal(0, 0.1, (1, CLASSES)))
    h = g.op("Relu", "/act", g.op("Gemm", "/fc1", "x", w1, b1, transB=1))
    y = g.op("Gemm", "/fc2", h, w2, b2, alpha=2.0, beta=0.5)
    y = g.op("Softmax", "", y, axis=1)
    g.rename_output(y, "probabilities")
    return g


def feeds(batch):
    rng = np.random.default_rng([SEED, batch])
    return {"x": rng.normal(0, 1, (batch, FEATURES)).astype(np.float32)}


if __name__ == "__main__":
    ex.write(
        HERE,
        "mlp.onnx",
        mlp(),
        [("x", ex.FLOAT, ["batch", FEATURES])],
        [("probabilities", ex.FLOAT, ["batch", CLASSES])],
        opset=13,
        ir_version=7,
        cases={f"b{b}": feeds(b) for b in (1, 7, 64)},
    )
