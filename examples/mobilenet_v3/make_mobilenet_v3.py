#!/usr/bin/env python3
"""Makes mobilenet_v3.onnx: MobileNetV3-Large with random weights, and its reference data.

The structure is the published one: inverted residuals with depthwise
convolutions of 3 and 5, squeeze-and-excite, hard swish, and a classifier of
two layers. Batch norms are folded into convolutions, as exporters do for
inference. `--size small` has an eighth of the channels. Batch, height and
width are dynamic.

    pip install numpy onnx onnxruntime
    python make_mobilenet_v3.py [--size full --out FOLDER]
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20190506
# Kernel, expanded channels, channels, squeeze-and-excite, hard swish, stride.
BLOCKS = [
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
]


def scaled(channels, divisor):
    """A part of the channels, a multiple of 2 (full: as published)."""
    return channels if divisor == 1 else max(2, (channels // divisor + 1) // 2 * 2)


def squeeze_excite(g, rng, scope, name, x, channels, divisor):
    squeezed = scaled((channels * divisor // 4 + 7) // 8 * 8, divisor)
    s = g.op("GlobalAveragePool", f"{scope}/avgpool", x)
    s = g.conv(rng, f"{scope}/fc1", f"{name}.fc1", s, (channels, squeezed, 1))
    s = g.op("Relu", f"{scope}/activation", s)
    s = g.conv(rng, f"{scope}/fc2", f"{name}.fc2", s, (squeezed, channels, 1))
    s = g.op("HardSigmoid", f"{scope}/scale_activation", s, alpha=1 / 6)
    return g.op("Mul", scope, s, x)


def block(g, rng, number, x, n_in, row, divisor):
    kernel, inner, n_out, excite, swish, stride = row
    inner, n_out = scaled(inner, divisor), scaled(n_out, divisor)
    scope, name = f"/features/features.{number}", f"features.{number}.block"
    activation, y = "HardSwish" if swish else "Relu", x
    if row[1] != 16:
        y = g.op(activation, f"{scope}/block.0", g.conv(rng, f"{scope}/block.0", f"{name}.0.0", y, (n_in, inner, 1)))
    # Hard swish and rectifiers halve the power, squeeze-and-excite halves numbers.
    y = g.conv(rng, f"{scope}/block.1", f"{name}.1.0", y, (inner, inner, kernel), stride, group=inner)
    y = g.op(activation, f"{scope}/block.1", y)
    if excite:
        y = squeeze_excite(g, rng, f"{scope}/block.2", f"{name}.2", y, inner, divisor)
    gain = 4.0 if excite else 1.0
    y = g.conv(rng, f"{scope}/block.3", f"{name}.3.0", y, (inner, n_out, 1), gain=gain)
    if stride == 1 and n_in == n_out:
        y = g.op("Add", scope, y, x)
    return y, n_out


def mobilenet(divisor, classes):
    g, rng = ex.Graph(), np.random.default_rng(SEED)
    n_in = scaled(16, divisor)
    x = g.op("HardSwish", "/features/features.0", g.conv(rng, "/features/features.0", "features.0.0", "image", (3, n_in, 3), 2))
    for number, row in enumerate(BLOCKS, 1):
        x, n_in = block(g, rng, number, x, n_in, row, divisor)
    last, hidden = scaled(960, divisor), scaled(1280, divisor)
    x = g.conv(rng, "/features/features.16", "features.16.0", x, (n_in, last, 1))
    x = g.op("GlobalAveragePool", "/avgpool", g.op("HardSwish", "/features/features.16", x))
    x = g.op("Flatten", "", x, axis=1)
    for number, (a, b) in [(0, (last, hidden)), (3, (hidden, classes))]:
        w = g.weight(f"classifier.{number}.weight", rng.normal(0, (2 / a) ** 0.5, (b, a)))
        bias = g.weight(f"classifier.{number}.bias", rng.normal(0, 0.1, b))
        x = g.op("Gemm", f"/classifier/classifier.{number}", x, w, bias, alpha=1.0, beta=1.0, transB=1)
        if number == 0:
            x = g.op("HardSwish", "/classifier/classifier.1", x)
    g.output(x, "logits")
    return g


if __name__ == "__main__":
    small, folder = ex.arguments(HERE)
    divisor, classes = (8, 10) if small else (1, 1000)
    shapes = [(1, 32, 32), (2, 45, 37), (3, 64, 33)] if small else [(1, 224, 224), (2, 160, 200), (3, 97, 65)]
    ex.write_of_images(folder, "mobilenet_v3.onnx", mobilenet(divisor, classes), [("logits", ex.FLOAT, ["batch", classes])], shapes, SEED)
