"""The workloads: each as an ONNX model with named dynamic dims and as one function over numpy-like arrays.

torch and jax.numpy take the same calls that stand here; `xp` is either of them.
"""

import numpy as np

F, I = "f4", "i8"
RANDOM = np.random.default_rng(17)


def randoms(*shape, scale=1.0, base=0.0):
    return (base + scale * RANDOM.standard_normal(shape)).astype(np.float32)


class Workload:
    """Inputs are `(name, type, shape)` with strings for dynamic dims; `cases` gives them numbers."""

    def __init__(self, inputs, cases, function, build, constants=None, outputs=1, limits=None, operations=None, flags=(),
                 onnxruntime_level="ORT_ENABLE_ALL", any_order=False):
        self.inputs, self.cases, self.function, self.build = inputs, cases, function, build
        self.operations = operations or (lambda case: None)  # Of a product: multiplications and sums.
        self.constants, self.outputs, self.limits = constants or {}, outputs, limits or {}
        self.flags = list(flags)  # Of `sutura compile`.
        self.onnxruntime_level = onnxruntime_level  # How far onnxruntime optimises; less where it refuses the model otherwise.
        self.any_order = any_order  # Of an output's rows: columns are sorted before they are compared.

    def shapes(self, case):
        return [[case.get(d, d) for d in shape] for _, _, shape in self.inputs]

    def arrays(self, case):
        random = np.random.default_rng(5)
        arrays = []
        for (name, kind, _), shape in zip(self.inputs, self.shapes(case)):
            if kind == I:
                arrays.append(random.integers(0, self.limits[name], shape))
            elif kind == "b1":
                arrays.append(random.random(shape) < 0.9)
            else:
                arrays.append(random.standard_normal(shape, dtype=np.float32))
        return arrays

    def model(self, case=None):
        """The ONNX model, with the dims of a case or with all of them dynamic."""
        from onnx import TensorProto, helper, numpy_helper

        kinds = {F: TensorProto.FLOAT, I: TensorProto.INT64, "b1": TensorProto.BOOL}
        graph = Graph(helper, numpy_helper)
        constants = {name: graph.constant(value, name) for name, value in self.constants.items()}
        results = self.build(graph, *[name for name, _, _ in self.inputs], **constants)
        results = results if isinstance(results, tuple) else (results,)
        shapes = self.shapes(case or {})
        values = [helper.make_tensor_value_info(n, kinds[k], s) for (n, k, _), s in zip(self.inputs, shapes)]
        names = [f"y{i}" for i in range(len(results))]
        graph.nodes += [helper.make_node("Identity", [r], [n]) for r, n in zip(results, names)]
        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names]
        made = helper.make_graph(graph.nodes, "workload", values, ends, graph.initializers)
        return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


class Graph:
    def __init__(self, helper, numpy_helper):
        self.helper, self.numpy_helper, self.nodes, self.initializers, self.count = helper, numpy_helper, [], [], 0

    def constant(self, value, name=None):
        self.count += 1
        name = name or f"c{self.count}"
        self.initializers.append(self.numpy_helper.from_array(np.asarray(value), name))
        return name

    def number(self, value):
        return self.constant(np.float32(value))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def __call__(self, operator, *inputs, outputs=1, **attributes):
        names = []
        for _ in range(outputs):
            self.count += 1
            names.append(f"t{self.count}")
        self.nodes.append(self.helper.make_node(operator, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def mean(self, x, *axes):
        return self("ReduceMean", x, self.ints(*axes), keepdims=1)

    def sum(self, x, *axes, keep=1):
        return self("ReduceSum", x, self.ints(*axes), keepdims=keep)

    def part(self, x, start, end, axis=-1):
        return self("Slice", x, self.ints(start), self.ints(end), self.ints(axis))


LAST = np.iinfo(np.int64).max


def softmax():
    return Workload(
        [("x", F, ["M", "N"])],
        [dict(M=4096, N=1024), dict(M=128, N=8192), dict(M=1, N=30522)],
        lambda xp, x: xp.softmax(x, -1),
        lambda g, x: g("Softmax", x, axis=-1),
    )


def layernorm():
    def function(xp, x, g, b):
        c = x - x.mean(-1, keepdims=True)
        return c * (1 / xp.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)) * g + b

    return Workload(
        [("x", F, ["M", 768])], [dict(M=1), dict(M=128), dict(M=4096)], function,
        lambda g, x, gain, bias: g("LayerNormalization", x, gain, bias, axis=-1, epsilon=1e-5),
        dict(gain=randoms(768, scale=0.1, base=1), bias=randoms(768, scale=0.1)),
    )


def biasgelu():
    return Workload(
        [("x", F, ["M", 3072])], [dict(M=128), dict(M=4096)],
        lambda xp, x, b: xp.gelu(x + b),
        lambda g, x, b: g("Gelu", g("Add", x, b), approximate="tanh"),
        dict(b=randoms(3072, scale=0.1)),
    )


def chain():
    def function(xp, x, y, s, b):
        z = x * s + b
        e = xp.exp(z - z.mean(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) * y

    def build(g, x, y, s, b):
        z = g("Add", g("Mul", x, s), b)
        e = g("Exp", g("Sub", z, g.mean(z, -1)))
        return g("Mul", g("Div", e, g.sum(e, -1)), y)

    return Workload([("x", F, ["M", 1024]), ("y", F, ["M", 1024])], [dict(M=4096)], function, build,
                    dict(s=randoms(1024, scale=0.1, base=1), b=randoms(1024, scale=0.1)))


def rmsnorm_residual():
    def function(xp, x, r, g):
        s = x + r
        return s * (1 / xp.sqrt((s * s).mean(-1, keepdims=True) + 1e-6)) * g, s

    def build(g, x, r, gain):
        s = g("Add", x, r)
        root = g("Sqrt", g("Add", g.mean(g("Mul", s, s), -1), g.number(1e-6)))
        return g("Mul", g("Mul", s, g("Reciprocal", root)), gain), s

    return Workload([("x", F, ["M", 2048]), ("r", F, ["M", 2048])], [dict(M=16), dict(M=2048)], function, build,
                    dict(gain=randoms(2048, scale=0.1, base=1)), outputs=2)


def groupnorm_silu():
    """32 groups of 10 channels."""
    def function(xp, x, g, b):
        n, c, h, w = x.shape
        t = x.reshape(n, 32, 10, h, w)
        t = t - t.mean((2, 3, 4), keepdims=True)
        t = t * (1 / xp.sqrt((t * t).mean((2, 3, 4), keepdims=True) + 1e-5))
        t = t.reshape(n, c, h, w) * g + b
        return t * xp.sigmoid(t)

    def build(g, x, gain, bias):
        shape = g("Shape", x)
        t = g("Reshape", x, g.ints(0, 32, -1))
        t = g("Sub", t, g.mean(t, 2))
        root = g("Sqrt", g("Add", g.mean(g("Mul", t, t), 2), g.number(1e-5)))
        t = g("Reshape", g("Div", t, root), shape)
        t = g("Add", g("Mul", t, gain), bias)
        return g("Mul", t, g("Sigmoid", t))

    return Workload([("x", F, ["N", 320, "H", "W"])], [dict(N=1, H=64, W=64), dict(N=2, H=17, W=31)], function, build,
                    dict(gain=randoms(320, 1, 1, scale=0.1, base=1), bias=randoms(320, 1, 1, scale=0.1)))


def logsoftmax_gather():
    def function(xp, x, label):
        return xp.take_along_axis(xp.log_softmax(x, -1), label, -1)

    return Workload(
        [("x", F, ["M", "N"]), ("label", I, ["M", 1])], [dict(M=512, N=8192), dict(M=64, N=32000)], function,
        lambda g, x, label: g("GatherElements", g("LogSoftmax", x, axis=-1), label, axis=1), limits=dict(label=8192),
    )


def rotary():
    def function(xp, x, c, s):
        turned = xp.concatenate((-x[..., 32:], x[..., :32]), -1)
        return x * c + turned * s

    def build(g, x, c, s):
        turned = g("Concat", g("Neg", g.part(x, 32, LAST)), g.part(x, 0, 32), axis=-1)
        return g("Add", g("Mul", x, c), g("Mul", turned, s))

    return Workload([("x", F, ["B", 12, "S", 64]), ("c", F, ["S", 64]), ("s", F, ["S", 64])],
                    [dict(B=1, S=128), dict(B=4, S=1024)], function, build)


def masked_softmax():
    def function(xp, x, mask):
        return xp.softmax(xp.where(mask, x * 0.125, -1e9), -1)

    def build(g, x, mask):
        return g("Softmax", g("Where", mask, g("Mul", x, g.number(0.125)), g.number(-1e9)), axis=-1)

    return Workload([("x", F, ["B", 12, "S", "S"]), ("mask", "b1", ["B", 1, 1, "S"])],
                    [dict(B=1, S=128), dict(B=1, S=512)], function, build)


def column_statistics():
    def function(xp, x):
        mean = x.mean(0, keepdims=True)
        c = x - mean
        return mean, (c * c).mean(0, keepdims=True)

    def build(g, x):
        mean = g.mean(x, 0)
        c = g("Sub", x, mean)
        return mean, g.mean(g("Mul", c, c), 0)

    return Workload([("x", F, ["M", "N"])], [dict(M=4096, N=1024), dict(M=65536, N=48)], function, build, outputs=2)


def swiglu():
    def function(xp, x):
        a = x[:, :2816]
        return a * xp.sigmoid(a) * x[:, 2816:]

    def build(g, x):
        a = g.part(x, 0, 2816)
        return g("Mul", g("Mul", a, g("Sigmoid", a)), g.part(x, 2816, LAST))

    return Workload([("x", F, ["M", 5632])], [dict(M=16), dict(M=1024)], function, build)


def quantise_rows():
    """Each row to 255 steps of its own and back."""
    def function(xp, x):
        scale = abs(x).max(-1, keepdims=True) / 127
        return xp.round(x / scale).clip(-127, 127) * scale

    def build(g, x):
        scale = g("Div", g("ReduceMax", g("Abs", x), g.ints(-1), keepdims=1), g.number(127))
        steps = g("Clip", g("Round", g("Div", x, scale)), g.number(-127), g.number(127))
        return g("Mul", steps, scale)

    return Workload([("x", F, ["M", "N"])], [dict(M=128, N=768), dict(M=4096, N=1024)], function, build)


def layernorm_backward():
    def function(xp, d, x, g):
        c = x - x.mean(-1, keepdims=True)
        r = 1 / xp.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)
        h, e = c * r, d * g
        return (r * (e - e.mean(-1, keepdims=True) - h * (e * h).mean(-1, keepdims=True)),
                (d * h).sum(0, keepdims=True), d.sum(0, keepdims=True))

    def build(g, d, x, gain):
        c = g("Sub", x, g.mean(x, -1))
        r = g("Reciprocal", g("Sqrt", g("Add", g.mean(g("Mul", c, c), -1), g.number(1e-5))))
        h, e = g("Mul", c, r), g("Mul", d, gain)
        inner = g("Sub", g("Sub", e, g.mean(e, -1)), g("Mul", h, g.mean(g("Mul", e, h), -1)))
        return g("Mul", r, inner), g.sum(g("Mul", d, h), 0), g.sum(d, 0)

    return Workload([("d", F, ["M", 768]), ("x", F, ["M", 768])], [dict(M=128), dict(M=4096)], function, build,
                    dict(gain=randoms(768, scale=0.1, base=1)), outputs=3)


def transpose_heads():
    """Heads in front of positions, with a bias; and channels behind pixels."""
    def function(xp, x, b):
        n, s, _ = x.shape
        return (xp.permute_dims((x + b).reshape(n, s, 12, 64), (0, 2, 1, 3)) * 0.125,
                xp.permute_dims(x, (0, 2, 1)) * 2.0)

    def build(g, x, b):
        t = g("Reshape", g("Add", x, b), g.ints(0, 0, 12, 64))
        t = g("Mul", g("Transpose", t, perm=[0, 2, 1, 3]), g.number(0.125))
        return t, g("Mul", g("Transpose", x, perm=[0, 2, 1]), g.number(2.0))

    return Workload([("x", F, ["N", "S", 768])], [dict(N=1, S=128), dict(N=8, S=512)], function, build,
                    dict(b=randoms(768, scale=0.1)), outputs=2)


FOUR = [softmax, layernorm, biasgelu, chain]
TEN = [rmsnorm_residual, groupnorm_silu, logsoftmax_gather, rotary, masked_softmax, column_statistics, swiglu,
       quantise_rows, layernorm_backward, transpose_heads]


from attention import ATTENTION, RECURRENT  # noqa: E402
from convolutions import CHAINS, CONVOLUTIONS  # noqa: E402  (these are made of what stands above)
from encoders import ENCODERS  # noqa: E402
from examples import EXAMPLES, FULL  # noqa: E402
from networks import NETWORKS  # noqa: E402
from products import NARROW, PRODUCTS  # noqa: E402

FAMILIES = {"rows": FOUR + TEN, "convolutions": CONVOLUTIONS, "chains": CHAINS, "products": PRODUCTS, "narrow": NARROW, "networks": NETWORKS,
            "encoders": ENCODERS, "attention": ATTENTION, "recurrent": RECURRENT, "examples": EXAMPLES, "full_examples": FULL}
NAMED = {make.__name__: make for family in FAMILIES.values() for make in family}


def made(name):
    """The workload of this name, with the same constants whatever was made before it."""
    global RANDOM
    RANDOM = np.random.default_rng(17)
    return NAMED[name]()


def named(words):
    """The names of workloads that a comma-separated list of workloads and families stands for."""
    names = []
    for word in words.split(","):
        if word not in NAMED and word not in FAMILIES:
            raise SystemExit(f"`{word}` is no workload and no family: {', '.join([*FAMILIES, *NAMED])}")
        names += [make.__name__ for make in FAMILIES.get(word, [])] or [word]
    return names
