#!/usr/bin/env python3
"""Makes encoder.onnx, a transformer encoder layer, and its reference data.

BERT-like and post-norm: hidden 256, 4 heads, feed-forward 1024, random
weights from a fixed seed. The graph is written the way PyTorch's TorchScript
exporter writes it, so that an importer meets what it meets in real models:
shapes computed by Shape/Gather/Unsqueeze/Concat, -1 and 0 in Reshape, an
int64 mask turned into an additive one, the first layer norm in primitive ops
and the second as LayerNormalization, GELU by Erf.

    pip install numpy onnx onnxruntime
    python make_encoder.py
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20240229
HIDDEN, HEADS, FEED_FORWARD = 256, 4, 1024
HEAD = HIDDEN // HEADS
SHAPES = [(1, 1), (1, 17), (3, 128), (2, 500)]
LOWEST = np.float32(np.finfo(np.float32).min)


def dim(g, scope, x, axis):
    """The size of one dimension as a 1-element int64 tensor."""
    size = g.op("Gather", scope, g.op("Shape", scope, x), g.const(scope, np.int64(axis)), axis=0)
    return g.op("Unsqueeze", scope, size, g.const(scope, np.array([0], np.int64)))


def shape_of(g, scope, parts):
    """A shape tensor; integers become constants, strings are value names."""
    names = [p if isinstance(p, str) else g.const(scope, np.array([p], np.int64)) for p in parts]
    return g.op("Concat", scope, *names, axis=0)


def additive_mask(g, mask):
    """[batch, seq] of 0 and 1 to [batch, 1, 1, seq] of lowest and 0."""
    m = g.op("Unsqueeze", "", mask, g.const("", np.array([1], np.int64)))
    m = g.op("Unsqueeze", "", m, g.const("", np.array([2], np.int64)))
    m = g.op("Cast", "", m, to=ex.FLOAT)
    m = g.op("Sub", "", g.const("", np.float32(1)), m)
    return g.op("Mul", "", m, g.const("", LOWEST))


def attention(g, rng, x, mask):
    s = "/attention/self"
    q = g.linear(rng, s + "/query", "attention.self.query", x, HIDDEN, HIDDEN)
    k = g.linear(rng, s + "/key", "attention.self.key", x, HIDDEN, HIDDEN)
    v = g.linear(rng, s + "/value", "attention.self.value", x, HIDDEN, HIDDEN)
    q_shape = shape_of(g, s, [dim(g, s, q, 0), dim(g, s, q, 1), HEADS, HEAD])
    k_shape = shape_of(g, s, [dim(g, s, k, 0), -1, HEADS, HEAD])
    v_shape = g.const(s, np.array([0, 0, HEADS, HEAD], np.int64))
    q = g.op("Transpose", s, g.op("Reshape", s, q, q_shape), perm=[0, 2, 1, 3])
    k = g.op("Transpose", s, g.op("Reshape", s, k, k_shape), perm=[0, 2, 3, 1])
    v = g.op("Transpose", s, g.op("Reshape", s, v, v_shape), perm=[0, 2, 1, 3])
    scores = g.op("MatMul", s, q, k)
    scores = g.op("Div", s, scores, g.const(s, np.float32(HEAD**0.5)))
    scores = g.op("Add", s, scores, mask)
    context = g.op("MatMul", s, g.op("Softmax", s, scores, axis=-1), v)
    context = g.op("Transpose", s, context, perm=[0, 2, 1, 3])
    c_shape = shape_of(g, s, [dim(g, s, context, 0), dim(g, s, context, 1), HIDDEN])
    context = g.op("Reshape", s, context, c_shape)
    o = "/attention/output"
    return g.linear(rng, o + "/dense", "attention.output.dense", context, HIDDEN, HIDDEN)


def norm_weights(g, rng, name):
    gamma = g.weight(f"{name}.weight", rng.normal(1, 0.1, HIDDEN))
    beta = g.weight(f"{name}.bias", rng.normal(0, 0.1, HIDDEN))
    return gamma, beta


def layer_norm_primitive(g, rng, scope, name, x):
    gamma, beta = norm_weights(g, rng, name)
    centred = g.op("Sub", scope, x, g.op("ReduceMean", scope, x, axes=[-1]))
    square = g.op("Pow", scope, centred, g.const(scope, np.float32(2)))
    variance = g.op("ReduceMean", scope, square, axes=[-1])
    shifted = g.op("Add", scope, variance, g.const(scope, np.float32(1e-5)))
    y = g.op("Div", scope, centred, g.op("Sqrt", scope, shifted))
    return g.op("Add", scope, g.op("Mul", scope, y, gamma), beta)


def gelu(g, scope, x):
    e = g.op("Erf", scope, g.op("Div", scope, x, g.const(scope, np.float32(2**0.5))))
    e = g.op("Add", scope, e, g.const(scope, np.float32(1)))
    return g.op("Mul", scope, g.op("Mul", scope, x, e), g.const(scope, np.float32(0.5)))


def encoder():
    g, rng = ex.Graph(), np.random.default_rng(SEED)
    mask = additive_mask(g, "mask")
    h = g.op("Add", "/attention/output", attention(g, rng, "x", mask), "x")
    h = layer_norm_primitive(g, rng, "/attention/output/LayerNorm", "attention.output.LayerNorm", h)
    f = g.linear(rng, "/intermediate/dense", "intermediate.dense", h, HIDDEN, FEED_FORWARD)
    f = gelu(g, "/intermediate", f)
    f = g.linear(rng, "/output/dense", "output.dense", f, FEED_FORWARD, HIDDEN)
    f = g.op("Add", "/output", f, h)
    gamma, beta = norm_weights(g, rng, "output.LayerNorm")
    y = g.op("LayerNormalization", "/output/LayerNorm", f, gamma, beta, axis=-1, epsilon=1e-5)
    g.rename_output(y, "y")
    return g


def feeds(batch, seq):
    """Inputs of one case; row r keeps seq - r * seq / 4 positions, at least one.

    The last row of a batch also loses a stretch in the middle, so the mask is
    not only a length.
    """
    rng = np.random.default_rng([SEED, batch, seq])
    mask = np.zeros((batch, seq), np.int64)
    for row in range(batch):
        mask[row, : max(1, seq - row * seq // 4)] = 1
    if seq >= 16:
        mask[-1, seq // 8 : seq // 4] = 0
    return {"x": rng.normal(0, 1, (batch, seq, HIDDEN)).astype(np.float32), "mask": mask}


if __name__ == "__main__":
    ex.write(
        HERE,
        "encoder.onnx",
        encoder(),
        [("x", ex.FLOAT, ["batch", "seq", HIDDEN]), ("mask", ex.INT64, ["batch", "seq"])],
        [("y", ex.FLOAT, ["batch", "seq", HIDDEN])],
        opset=17,
        ir_version=8,
        cases={f"b{b}_s{s}": feeds(b, s) for b, s in SHAPES},
    )
