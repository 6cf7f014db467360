#!/usr/bin/env python3
"""Makes yolo.onnx: a detector as YOLOv5 with random weights, and its reference data.

A CSP backbone with SPPF, a neck that goes up (Resize and Concat) and down
again, three detection heads whose numbers are decoded to boxes, and behind
them, in the model, NonMaxSuppression and the gathering of what it selects.
So the outputs have as many rows as data decide. `--size small` has an eighth
of the channels of YOLOv5n and 4 classes; `--size full` is YOLOv5n with 80.
Batch, height and width are dynamic; the latter two multiples of 32.

    pip install numpy onnx onnxruntime
    python make_yolo.py [--size full --out FOLDER]
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import exportlib as ex  # noqa: E402

SEED = 20200618
ANCHORS = [
    [(10, 13), (16, 30), (33, 23)],
    [(30, 61), (62, 45), (59, 119)],
    [(116, 90), (156, 198), (373, 326)],
]
STRIDES = [8, 16, 32]
# Of the heads: numbers neither near 0, where no box is chosen, nor so large that scores are 1.
GAIN = 4.0


class Yolo:
    def __init__(self, width, classes, most):
        self.g, self.rng = ex.Graph(), np.random.default_rng(SEED)
        self.width, self.classes, self.most = width, classes, most

    def conv(self, name, x, sizes, stride=1, pad=None):
        """A convolution and SiLU, written as exporters write it."""
        scope = "/" + name.replace(".", "/")
        # SiLU keeps about a third of the power of what it gets.
        y = self.g.conv(self.rng, scope, name, x, sizes, stride, gain=2.2, pad=pad)
        return self.g.op("Mul", f"{scope}/act", y, self.g.op("Sigmoid", f"{scope}/act", y))

    def csp(self, name, x, n_in, n_out, repeat, shortcut=True):
        """C3: two ways, one of them through bottlenecks."""
        half = n_out // 2
        y = self.conv(f"{name}.cv1", x, (n_in, half, 1))
        for i in range(repeat):
            z = self.conv(f"{name}.m.{i}.cv1", y, (half, half, 1))
            z = self.conv(f"{name}.m.{i}.cv2", z, (half, half, 3))
            y = self.g.op("Add", f"/{name}/m/{i}", y, z) if shortcut else z
        other = self.conv(f"{name}.cv2", x, (n_in, half, 1))
        y = self.g.op("Concat", f"/{name}", y, other, axis=1)
        return self.conv(f"{name}.cv3", y, (2 * half, n_out, 1))

    def pool_pyramid(self, name, x, n):
        """SPPF: three poolings one after the other, beside what they got."""
        parts = [self.conv(f"{name}.cv1", x, (n, n // 2, 1))]
        for _ in range(3):
            parts.append(
                self.g.op("MaxPool", f"/{name}/m", parts[-1], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1])
            )
        return self.conv(f"{name}.cv2", self.g.op("Concat", f"/{name}", *parts, axis=1), (2 * n, n, 1))

    def up(self, name, x):
        scales = self.g.const(f"/{name}", np.array([1, 1, 2, 2], np.float32))
        return self.g.op(
            "Resize",
            f"/{name}",
            x,
            "",
            scales,
            coordinate_transformation_mode="asymmetric",
            mode="nearest",
            nearest_mode="floor",
        )

    def features(self):
        w = self.width
        x = self.conv("model.0", "image", (3, w, 6), 2, pad=2)
        x = self.csp("model.2", self.conv("model.1", x, (w, 2 * w, 3), 2), 2 * w, 2 * w, 1)
        fine = self.csp("model.4", self.conv("model.3", x, (2 * w, 4 * w, 3), 2), 4 * w, 4 * w, 2)
        middle = self.csp("model.6", self.conv("model.5", fine, (4 * w, 8 * w, 3), 2), 8 * w, 8 * w, 3)
        x = self.csp("model.8", self.conv("model.7", middle, (8 * w, 16 * w, 3), 2), 16 * w, 16 * w, 1)
        coarse = self.conv("model.10", self.pool_pyramid("model.9", x, 16 * w), (16 * w, 8 * w, 1))
        x = self.g.op("Concat", "/model.12", self.up("model.11", coarse), middle, axis=1)
        x = self.csp("model.13", x, 16 * w, 8 * w, 1, shortcut=False)
        mid = self.conv("model.14", x, (8 * w, 4 * w, 1))
        x = self.g.op("Concat", "/model.16", self.up("model.15", mid), fine, axis=1)
        first = self.csp("model.17", x, 8 * w, 4 * w, 1, shortcut=False)
        x = self.conv("model.18", first, (4 * w, 4 * w, 3), 2)
        second = self.csp("model.20", self.g.op("Concat", "/model.19", x, mid, axis=1), 8 * w, 8 * w, 1, shortcut=False)
        x = self.conv("model.21", second, (8 * w, 8 * w, 3), 2)
        x = self.g.op("Concat", "/model.22", x, coarse, axis=1)
        third = self.csp("model.23", x, 16 * w, 16 * w, 1, shortcut=False)
        return [(first, 4 * w), (second, 8 * w), (third, 16 * w)]

    def grid(self, scope, rows, columns):
        """[rows, columns, 2] of the x and y of each cell, whose numbers depend on the image."""
        g = self.g
        zero, one = g.const(scope, np.int64(0)), g.const(scope, np.int64(1))
        shape = g.op("Concat", scope, rows, columns, axis=0)
        parts = []
        for size, axis in [(columns, [0]), (rows, [1])]:
            limit = g.op("Squeeze", scope, size, g.ints(scope, 0))
            places = g.op("Cast", scope, g.op("Range", scope, zero, limit, one), to=ex.FLOAT)
            places = g.op("Unsqueeze", scope, places, g.ints(scope, *axis))
            parts.append(g.op("Unsqueeze", scope, g.op("Expand", scope, places, shape), g.ints(scope, 2)))
        return g.op("Concat", scope, *parts, axis=2)

    def decoded(self, level, x, channels):
        """[batch, anchors * rows * columns, 5 + classes] of centre, size, objectness and classes."""
        g, scope, numbers = self.g, f"/model.24/{level}", 5 + self.classes
        x = g.conv(self.rng, scope, f"model.24.m.{level}", x, (channels, 3 * numbers, 1), gain=GAIN)
        batch, rows, columns = (g.size(scope, x, axis) for axis in (0, 2, 3))
        x = g.reshape(scope, x, batch, 3, numbers, rows, columns)
        x = g.op("Sigmoid", scope, g.op("Transpose", scope, x, perm=[0, 1, 3, 4, 2]))
        split = g.ints(scope, 2, 2, 1 + self.classes)
        place, size, rest = g.ops("Split", scope, 3, x, split, axis=4)
        place = g.op("Mul", scope, place, g.const(scope, np.float32(2)))
        place = g.op("Add", scope, place, self.grid(scope, rows, columns))
        place = g.op("Sub", scope, place, g.const(scope, np.float32(0.5)))
        place = g.op("Mul", scope, place, g.const(scope, np.float32(STRIDES[level])))
        size = g.op("Mul", scope, size, g.const(scope, np.float32(2)))
        size = g.op("Pow", scope, size, g.const(scope, np.float32(2)))
        anchors = g.weight(f"model.24.anchors.{level}", np.reshape(ANCHORS[level], (1, 3, 1, 1, 2)))
        x = g.op("Concat", scope, place, g.op("Mul", scope, size, anchors), rest, axis=4)
        return g.reshape(scope, x, batch, -1, numbers)

    def build(self):
        g = self.g
        levels = [self.decoded(i, x, n) for i, (x, n) in enumerate(self.features())]
        rows = g.op("Concat", "/model.24", *levels, axis=1)
        scope = "/nms"
        boxes, objects, classes = g.ops("Split", scope, 3, rows, g.ints(scope, 4, 1, self.classes), axis=2)
        scores = g.op("Mul", scope, classes, objects)
        by_class = g.op("Transpose", scope, scores, perm=[0, 2, 1])
        limits = [g.ints(scope, self.most)] + [g.const(scope, np.array([x], np.float32)) for x in (0.45, 0.3)]
        chosen = g.op("NonMaxSuppression", scope, boxes, by_class, *limits, center_point_box=1)
        places = g.op("Gather", scope, chosen, g.ints(scope, 0, 2), axis=1)
        g.output(g.op("GatherND", scope, boxes, places), "boxes")
        g.output(g.op("GatherND", scope, by_class, chosen), "scores")
        g.output(g.op("Gather", scope, chosen, g.ints(scope, 0, 1), axis=1), "image_and_class")
        return g


def feeds(batch, height, width):
    rng = np.random.default_rng([SEED, batch, height, width])
    return {"image": rng.uniform(0, 1, (batch, 3, height, width)).astype(np.float32)}


if __name__ == "__main__":
    small, folder = ex.arguments(HERE)
    width, classes, most = (4, 4, 10) if small else (16, 80, 100)
    shapes = [(1, 64, 64), (2, 96, 32), (3, 32, 64)] if small else [(1, 640, 640), (2, 320, 480), (3, 96, 128)]
    ex.write(
        folder,
        "yolo.onnx",
        Yolo(width, classes, most).build(),
        [("image", ex.FLOAT, ["batch", 3, "height", "width"])],
        [
            ("boxes", ex.FLOAT, ["selected", 4]),
            ("scores", ex.FLOAT, ["selected"]),
            ("image_and_class", ex.INT64, ["selected", 2]),
        ],
        opset=17,
        ir_version=8,
        cases={f"b{b}_h{h}_w{w}": feeds(b, h, w) for b, h, w in shapes},
    )
