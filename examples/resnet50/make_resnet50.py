#!/usr/bin/env python3
"""Makes resnet50.onnx: ResNet-50 with random weights, and its reference data.

The structure is the published one: a 7x7 stem, stages of 3, 4, 6 and 3
bottlenecks with the stride in their 3x3 convolution, and a linear classifier.
Batch norms are nodes of their own, as exporters leave them in models that
train. `--size small` has a 16th of the channels, `--size full` all of them
and 1000 classes. Batch, height and width are dynamic.

    pip install numpy onnx onnxruntime
    python make_resnet50.py [--size full --out FOLDER]
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20151210
BLOCKS = [3, 4, 6, 3]
EXPANSION = 4


def batch_norm(g, rng, scope, name, x, channels, gain):
    """Statistics near those that the convolution before makes, so that nothing grows through 16 blocks."""
    values = [
        ("weight", rng.normal(gain, 0.1 * gain, channels)),
        ("bias", rng.normal(0, 0.1, channels)),
        ("running_mean", rng.normal(0, 0.1, channels)),
        ("running_var", rng.uniform(0.8, 1.2, channels)),
    ]
    inputs = [g.weight(f"{name}.{part}", value) for part, value in values]
    return g.op("BatchNormalization", scope, x, *inputs, epsilon=1e-5, momentum=0.9)


def conv_norm(g, rng, scope, name, x, sizes, stride=1, gain=1.0):
    conv, norm = name
    x = g.conv(rng, f"{scope}/{conv.rpartition('.')[2]}", conv, x, sizes, stride, bias=False)
    return batch_norm(g, rng, f"{scope}/{norm.rpartition('.')[2]}", norm, x, sizes[1], gain)


def bottleneck(g, rng, stage, block, x, n_in, width, stride):
    scope, name = f"/layer{stage}/layer{stage}.{block}", f"layer{stage}.{block}"
    parts = [(n_in, width, 1), (width, width, 3), (width, EXPANSION * width, 1)]
    y = x
    for i, sizes in enumerate(parts, 1):
        names = (f"{name}.conv{i}", f"{name}.bn{i}")
        y = conv_norm(g, rng, scope, names, y, sizes, stride if i == 2 else 1, 0.5 if i == 3 else 1.0)
        if i < 3:
            y = g.op("Relu", f"{scope}/relu", y)
    if block == 0:
        names = (f"{name}.downsample.0", f"{name}.downsample.1")
        x = conv_norm(g, rng, f"{scope}/downsample", names, x, (n_in, EXPANSION * width, 1), stride, 0.7)
    return g.op("Relu", f"{scope}/relu", g.op("Add", scope, y, x))


def resnet50(width, classes):
    g, rng = ex.Graph(), np.random.default_rng(SEED)
    x = conv_norm(g, rng, "", ("conv1", "bn1"), "image", (3, width, 7), 2)
    x = g.op("Relu", "/relu", x)
    x = g.op("MaxPool", "/maxpool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    n_in = width
    for stage, blocks in enumerate(BLOCKS, 1):
        inner = width << (stage - 1)
        for block in range(blocks):
            x = bottleneck(g, rng, stage, block, x, n_in, inner, 2 if stage > 1 and block == 0 else 1)
            n_in = EXPANSION * inner
    x = g.op("Flatten", "", g.op("GlobalAveragePool", "/avgpool", x), axis=1)
    w = g.weight("fc.weight", rng.normal(0, n_in**-0.5, (classes, n_in)))
    b = g.weight("fc.bias", rng.normal(0, 0.1, classes))
    g.output(g.op("Gemm", "/fc", x, w, b, alpha=1.0, beta=1.0, transB=1), "logits")
    return g


if __name__ == "__main__":
    small, folder = ex.arguments(HERE)
    channels, classes = (4, 10) if small else (64, 1000)
    shapes = [(1, 32, 32), (2, 45, 37), (3, 64, 33)] if small else [(1, 224, 224), (2, 160, 200), (3, 97, 65)]
    ex.write_of_images(folder, "resnet50.onnx", resnet50(channels, classes), [("logits", ex.FLOAT, ["batch", classes])], shapes, SEED)
