#!/usr/bin/env python3
"""Makes cnn.onnx, a small image classifier, and its reference data.

Batch, height and width are dynamic. Convolutions: strided with padding,
depthwise, grouped, pointwise, one with uneven padding and a dilation; batch
normalisation after three of them; max and average pooling with padding.

    pip install numpy onnx onnxruntime
    python make_cnn.py
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20240302
CLASSES = 10
SHAPES = [(1, 32, 32), (4, 32, 32), (2, 45, 37)]


def conv(g, rng, name, x, n_in, n_out, kernel, group=1, bias=False, **attributes):
    fan_in = n_in // group * kernel * kernel
    w = rng.normal(0, (2 / fan_in) ** 0.5, (n_out, n_in // group, kernel, kernel))
    inputs = [x, g.weight(f"{name}.weight", w)]
    if bias:
        inputs.append(g.weight(f"{name}.bias", rng.normal(0, 0.1, n_out)))
    return g.op(
        "Conv", f"/{name}", *inputs, group=group, kernel_shape=[kernel, kernel], **attributes
    )


def norm_relu(g, rng, name, x, channels):
    scale = g.weight(f"{name}.weight", rng.normal(1, 0.1, channels))
    shift = g.weight(f"{name}.bias", rng.normal(0, 0.1, channels))
    mean = g.weight(f"{name}.running_mean", rng.normal(0, 0.2, channels))
    variance = g.weight(f"{name}.running_var", rng.uniform(0.5, 1.5, channels))
    y = g.op("BatchNormalization", f"/{name}", x, scale, shift, mean, variance, epsilon=1e-5)
    return g.op("Relu", f"/{name}", y)


def cnn():
    g, rng = ex.Graph(), np.random.default_rng(SEED)
    h = conv(g, rng, "stem", "image", 3, 16, 3, strides=[2, 2], pads=[1, 1, 1, 1])
    h = norm_relu(g, rng, "stem_norm", h, 16)
    h = conv(g, rng, "depthwise", h, 16, 16, 3, group=16, pads=[1, 1, 1, 1])
    h = norm_relu(g, rng, "depthwise_norm", h, 16)
    h = conv(g, rng, "pointwise", h, 16, 32, 1, bias=True)
    h = g.op("MaxPool", "/pool1", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    h = conv(g, rng, "grouped", h, 32, 32, 3, group=2, strides=[2, 2], pads=[0, 0, 1, 1])
    h = norm_relu(g, rng, "grouped_norm", h, 32)
    h = g.op("AveragePool", "/pool2", h, kernel_shape=[2, 2], pads=[0, 0, 1, 1])
    h = conv(
        g, rng, "dilated", h, 32, 48, 3, bias=True, dilations=[2, 2], pads=[2, 2, 2, 2]
    )
    h = g.op("Relu", "/dilated", h)
    h = g.op("Flatten", "", g.op("GlobalAveragePool", "/pool3", h), axis=1)
    w = g.weight("fc.weight", rng.normal(0, 48**-0.5, (CLASSES, 48)))
    b = g.weight("fc.bias", rng.normal(0, 0.1, CLASSES))
    y = g.op("Softmax", "", g.op("Gemm", "/fc", h, w, b, transB=1), axis=-1)
    g.rename_output(y, "probabilities")
    return g


def feeds(batch, height, width):
    rng = np.random.default_rng([SEED, batch, height, width])
    return {"image": rng.normal(0, 1, (batch, 3, height, width)).astype(np.float32)}


if __name__ == "__main__":
    ex.write(
        HERE,
        "cnn.onnx",
        cnn(),
        [("image", ex.FLOAT, ["batch", 3, "height", "width"])],
        [("probabilities", ex.FLOAT, ["batch", CLASSES])],
        opset=18,
        ir_version=8,
        cases={f"b{b}_h{h}_w{w}": feeds(b, h, w) for b, h, w in SHAPES},
    )
