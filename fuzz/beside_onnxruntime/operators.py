"""The rules: each adds an operator, or a few that belong together, to a graph, on values that it picks.

What is told by comparing, rounding or casting is made of exact values only: elsewhere two right implementations may
differ by more than rounding.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from graph import ROUNDING, TYPES, Unsuitable, broadcast, number_of


@dataclasses.dataclass(frozen=True)
class Rule:
    weight: float
    apply: Callable


RULES = {}


def rule(weight=1.0):
    def add(function):
        RULES[function.__name__] = Rule(weight, function)
        return function

    return add


def float_input(g, shape):
    return g.input("f", shape, -4.0, 4.0)


def constant_above(least):
    return lambda d: (number_of(d) or 0) > least


def ranked(least, most=6):
    return lambda v: least <= v.rank <= most


def exact(v):
    return v.error == 0.0


def replaced(shape, axis, *dims):
    return shape[:axis] + dims + shape[axis + 1:]


def elementwise(g, operator, x, low, high, slope=1.0, **attributes):
    """A function that makes errors at most `slope` times larger."""
    error = x.error * slope + ROUNDING * max(abs(low), abs(high))
    return g.node(operator, [x], [("f", x.shape, low, high, error)], **attributes)


# One operand


SMOOTH = {
    "Tanh": lambda l, h: (-1, 1), "Sigmoid": lambda l, h: (0, 1), "Erf": lambda l, h: (-1, 1),
    "Gelu": lambda l, h: (-0.2, max(0, h)), "Sin": lambda l, h: (-1, 1), "Cos": lambda l, h: (-1, 1),
    "Softplus": lambda l, h: (0, max(1, h + 1)), "HardSwish": lambda l, h: (-0.4, max(0, h)),
    "Elu": lambda l, h: (-1, max(0, h)), "HardSigmoid": lambda l, h: (0, 1), "LeakyRelu": lambda l, h: (l, h),
}


@rule(3)
def smooth(g):
    x = g.pick()
    operator = g.random.choice(list(SMOOTH))
    attributes = dict(approximate="tanh") if operator == "Gelu" and g.maybe() else {}
    elementwise(g, operator, x, *map(float, SMOOTH[operator](x.low, x.high)), slope=1.2, **attributes)


@rule(1.5)
def exactly(g):
    x = g.pick("ffijd")
    # onnxruntime has no Relu of integers.
    operator = g.random.choice(["Relu", "Neg", "Abs"] if x.kind in "fd" else ["Neg", "Abs"])
    bounds = {"Relu": (max(0, x.low), max(0, x.high)), "Neg": (-x.high, -x.low), "Abs": (0, x.largest)}[operator]
    g.node(operator, [x], [(x.kind, x.shape, *bounds, x.error)])


@rule(0.7)
def rounded(g):
    x = g.pick("f", exact)
    g.node(g.random.choice(["Floor", "Ceil", "Round"]), [x], [("f", x.shape, x.low - 1, x.high + 1, 0.0)])


@rule(0.7)
def exponential(g):
    x = g.squashed(g.pick(), 4.0)
    elementwise(g, "Exp", x, 0.0, math.exp(x.high), slope=math.exp(x.high))


def positive(g, least=0.1):
    """A value that is no less than that."""
    x = g.pick()
    a = g.node("Abs", [x], [("f", x.shape, 0.0, x.largest, x.error)])
    return g.node("Add", [a, g.constant(np.float32(least))],
                  [("f", x.shape, least, x.largest + least, x.error + ROUNDING * x.largest)])


@rule(0.8)
def of_positive(g):
    x = positive(g)
    operator = g.random.choice(["Log", "Sqrt", "Reciprocal"])
    bounds, slope = {"Log": ((math.log(x.low), math.log(x.high)), 10), "Sqrt": ((0.0, math.sqrt(x.high)), 2),
                     "Reciprocal": ((0.0, 1 / x.low), 100)}[operator]
    elementwise(g, operator, x, *bounds, slope=slope)


@rule(0.8)
def power(g):
    exponent = g.random.choice([2.0, 3.0, 1.0, 0.5, -1.0, -2.0, 1.5])
    x = g.pick() if exponent in (1.0, 2.0, 3.0) else positive(g, 0.5)
    high = max(x.largest**exponent, x.low**exponent if x.low > 0 else 0)
    e = g.constant(np.float32(exponent)) if g.maybe(0.7) else g.constant(np.full([number_of(x.shape[-1]) or 1]
                                                                                if x.rank else [1], exponent))
    shape = broadcast(x.shape, e.shape)
    low = -high if exponent == 3.0 else 0.0
    slope = max(1.0, abs(exponent) * high / (x.low if x.low > 0.4 else max(x.largest, 1e-3)))
    g.node("Pow", [x, e], [("f", shape, low, high, x.error * slope + 2 * ROUNDING * high)])


@rule(0.8)
def clip(g):
    x = g.pick("fid")
    low, high = sorted(g.random.choices([-3, -1, 0, 1, 2], k=2))
    lower = None if g.maybe(0.3) else g.constant(low, x.kind)
    upper = None if g.maybe(0.3) and lower else g.constant(high, x.kind)
    bounds = [min(max(b, low if lower else b), high if upper else math.inf) for b in (x.low, x.high)]
    g.node("Clip", [x, lower, upper], [(x.kind, x.shape, *bounds, x.error)])


@rule(1)
def cast(g):
    x = g.pick("fijb" if g.maybe(0.7) else "dhk", exact)
    kind = g.random.choice([k for k in "fffijb" + "dhk" if k != x.kind])
    least, most = {"k": (-128, 127), "h": (-60000, 60000)}.get(kind, (-math.inf, math.inf))
    low, high = (0, 1) if kind == "b" else (math.floor(x.low), math.ceil(x.high))
    if low < least or high > most:
        raise Unsuitable
    g.node("Cast", [x], [(kind, x.shape, low, high, 0.0)], to=TYPES[kind])


@rule(0.2)
def identity(g):
    x = g.pick("fij")
    g.moved(g.random.choice(["Identity", "Dropout"]) if x.kind == "f" else "Identity", [x], x.shape)


# Several operands


def arithmetic(g, operator, x, y):
    shape = broadcast(x.shape, y.shape)
    if shape is None:
        raise Unsuitable
    l, h, m, n = x.low, x.high, y.low, y.high
    products = [l * m, l * n, h * m, h * n]
    low, high = {"Add": (l + m, h + n), "Sub": (l - n, h - m), "Mul": (min(products), max(products)),
                 "Max": (max(l, m), max(h, n)), "Min": (min(l, m), min(h, n))}[operator]
    error = x.error * y.largest + y.error * x.largest if operator == "Mul" else x.error + y.error
    # One rounding of exact values is the same everywhere.
    error += ROUNDING * max(abs(low), abs(high)) if error else 0.0
    return g.node(operator, [x, y], [(x.kind, shape, low, high, error)])


@rule(4)
def binary(g):
    x = g.pick("fijd")
    y = g.pick(x.kind, lambda v: broadcast(x.shape, v.shape) is not None)
    arithmetic(g, g.random.choice(["Add", "Mul", "Sub", "Max", "Min"]), *g.random.sample([x, y], 2))


@rule(3)
def with_constant(g):
    x = g.pick("fijd", ranked(1))
    shape = [number_of(d) if number_of(d) is not None and g.maybe(0.7) else 1 for d in x.shape]
    shape = shape[-1:] if g.maybe(0.3) else shape
    numbers = g.numbers.standard_normal(shape).clip(-4, 4) if x.kind in "fd" else g.numbers.integers(-5, 6, shape)
    y = g.constant(numbers, x.kind)
    arithmetic(g, g.random.choice(["Add", "Mul", "Sub"]), *g.random.sample([x, y], 2))


@rule(0.7)
def quotient(g):
    y = positive(g, 0.5)
    x = g.pick("f", lambda v: broadcast(y.shape, v.shape) is not None)
    high = x.largest / y.low
    g.node("Div", [x, y], [("f", broadcast(x.shape, y.shape), -high, high,
                            2 * x.error + 4 * x.largest * y.error + ROUNDING * high)])


@rule(0.8)
def integer_quotient(g):
    x = g.pick("ij")
    divisor = g.constant(g.random.choice([2, 3, 7, -1, -2, 16]), x.kind)
    operator = g.random.choice(["Div", "Mod", "Remainder"])
    high = x.largest if operator == "Div" else min(x.largest, 16) if operator == "Remainder" else 16
    attributes = dict(fmod=1) if operator == "Remainder" else {}
    g.node("Mod" if operator == "Remainder" else operator, [x, divisor], [(x.kind, x.shape, -high, high, 0.0)],
           **attributes)


def truth(g, shape_suits=lambda s: True):
    """A comparison of something exact."""
    x = g.pick("fijd", lambda v: exact(v) and shape_suits(v.shape))
    limit = g.constant(0.1 if x.kind in "fd" else 1, x.kind)
    same = [v for v in g.values.values() if v.kind == x.kind and exact(v) and broadcast(v.shape, x.shape) == x.shape]
    y = g.random.choice(same) if g.maybe(0.3) else limit
    operator = g.random.choice(["Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"])
    return g.node(operator, [x, y], [("b", x.shape, 0, 1, 0.0)])


@rule(0.6)
def logic(g):
    a = truth(g)
    if g.maybe(0.3):
        a = g.node("Not", [a], [("b", a.shape, 0, 1, 0.0)])
    b = g.pick("b", lambda v: broadcast(a.shape, v.shape) is not None)
    g.node(g.random.choice(["And", "Or"]), [a, b], [("b", broadcast(a.shape, b.shape), 0, 1, 0.0)])


@rule(1.2)
def where(g):
    x = g.pick("fijd")
    mask = truth(g, lambda s: broadcast(s, x.shape) is not None)
    shape = broadcast(mask.shape, x.shape)
    y = g.pick(x.kind, lambda v: broadcast(v.shape, shape) is not None)
    g.node("Where", [mask, *g.random.sample([x, y], 2)],
           [(x.kind, broadcast(shape, y.shape), min(x.low, y.low), max(x.high, y.high), max(x.error, y.error))])


# Reductions


def count(x, axes, sizes):
    """The largest number of elements that are combined."""
    return max(1, max(math.prod(x.shape[a][s] for a in axes) for s in range(sizes)))


@rule(2.5)
def reduction(g):
    x = g.pick("fffid", ranked(1))
    both = ["Sum", "Max", "Min"]
    operator = g.random.choice(both + ["Mean", "SumSquare", "L1", "L2", "LogSumExp"] if x.kind == "f" else both)
    axes = sorted(g.random.sample(range(x.rank), g.random.randint(1, x.rank)))
    # Of nothing there is no mean, and no largest element.
    if operator in ("Max", "Min", "Mean") and any(0 in x.shape[a] for a in axes):
        raise Unsuitable
    if operator in ("SumSquare", "LogSumExp"):
        x = g.squashed(x, 4.0)
    n, b = count(x, axes, len(g.sizes)), x.largest
    steps = math.log2(n) + 1
    low, high, slope = {
        "Sum": (n * min(0, x.low), n * max(0, x.high), n), "Mean": (x.low, x.high, 1), "Max": (x.low, x.high, 1),
        "Min": (x.low, x.high, 1), "SumSquare": (0, n * b * b, 2 * b * n), "L1": (0, n * b, n),
        "L2": (0, math.sqrt(n) * b, math.sqrt(n)), "LogSumExp": (x.low, x.high + math.log(n) + 1, 1),
    }[operator]
    exactly = operator in ("Max", "Min") or x.kind == "i"
    # Of random numbers: an error in each, and roundings of sums that grow as the root of how many there are.
    roundings = ROUNDING * steps * min(high - low, 8 * b * math.sqrt(n))
    # onnxruntime adds exponentials one after another in 32 bits.
    roundings += 1e-8 * n if operator == "LogSumExp" else 0.0
    error = x.error if exactly else x.error * min(slope, 4 * math.sqrt(n)) + roundings
    high, low = (min(high, 30 * b * b * math.sqrt(n)), low) if operator == "SumSquare" else (high, low)
    keep = g.random.randint(0, 1)
    shape = tuple(g.dim(1) if a in axes else d for a, d in enumerate(x.shape) if keep or a not in axes)
    everything = len(axes) == x.rank and g.maybe(0.3)
    named = [] if everything else [g.ints(*(g.negative(a, x.rank) for a in axes))]
    g.node(f"Reduce{operator}", [x, *named], [(x.kind, shape, low, high, error)], keepdims=keep)


@rule(0.4)
def product(g):
    x = g.squashed(g.pick("f", lambda v: v.rank > 0 and any(constant_above(0)(d) for d in v.shape)))
    axis = g.axis(x, constant_above(0))
    shape = replaced(x.shape, axis, g.dim(1))
    g.node("ReduceProd", [x, g.ints(axis)],
           [("f", shape, -1.0, 1.0, (x.error + ROUNDING) * number_of(x.shape[axis]))], keepdims=1)


@rule(1)
def softmax(g):
    x = g.pick("f", ranked(1))
    axis = g.axis(x) if g.maybe(0.4) else -1
    high = x.high - x.low + math.log(count(x, [axis], len(g.sizes)))
    if g.maybe():
        g.node("Softmax", [x], [("f", x.shape, 0.0, 1.0, 2 * x.error + ROUNDING)], axis=axis)
    else:
        g.node("LogSoftmax", [x], [("f", x.shape, -high, 0.0, 2 * x.error + ROUNDING * high)], axis=axis)


@rule(0.8)
def running_sum(g):
    x = g.pick("fi", ranked(1))
    axis = g.axis(x)
    if x.kind == "f":
        x = g.node("Sin", [x], [("f", x.shape, -1.0, 1.0, x.error + ROUNDING)])
    n = count(x, [axis], len(g.sizes))
    error = x.error * n + ROUNDING * 8 * math.sqrt(n) * x.largest if x.kind == "f" else 0.0
    g.node("CumSum", [x, g.constant(g.negative(axis, x.rank), "i")],
           [(x.kind, x.shape, n * min(0, x.low), n * max(0, x.high), error)],
           exclusive=g.random.randint(0, 1), reverse=g.random.randint(0, 1))


# Normalisations. An epsilon of 0.01 keeps differences at most ten times as large.


def normalised(g, operator, operands, bound, shape=None, **attributes):
    x = operands[0]
    error = (x.error + ROUNDING * x.largest) * 40 + ROUNDING * bound
    return g.node(operator, operands, [("f", shape or x.shape, -bound, bound, error)], epsilon=1e-2, **attributes)


@rule(1)
def layer_norm(g):
    x = g.pick("f", lambda v: v.rank > 1 and constant_above(0)(v.shape[-1]))
    axis = x.rank - 2 if x.rank > 2 and constant_above(0)(x.shape[-2]) and g.maybe(0.3) else x.rank - 1
    dims = [number_of(d) for d in x.shape[axis:]]
    bias = None if g.maybe(0.2) else g.normal(*dims)
    normalised(g, "LayerNormalization", [x, g.normal(*dims), bias], 4 * math.sqrt(math.prod(dims)) + 4,
               axis=g.negative(axis, x.rank))


@rule(0.4)
def rms_norm(g):
    x = g.pick("f", lambda v: v.rank > 1 and constant_above(0)(v.shape[-1]))
    dim = number_of(x.shape[-1])
    g.opset = max(g.opset, 23)
    normalised(g, "RMSNormalization", [x, g.normal(dim)], 4 * math.sqrt(dim), axis=-1)


@rule(0.7)
def channel_norm(g):
    x = g.pick("f", lambda v: v.rank > 2 and constant_above(0)(v.shape[1]) and not any(0 in d for d in v.shape))
    channels = number_of(x.shape[1])
    bound = 4 * math.sqrt(count(x, range(1, x.rank), len(g.sizes))) + 4
    if bound > 4000:
        raise Unsuitable
    if g.maybe():
        normalised(g, "InstanceNormalization", [x, g.normal(channels), g.normal(channels)], bound)
    else:
        g.opset = max(g.opset, 21)
        groups = g.random.choice([d for d in range(1, channels + 1) if channels % d == 0])
        normalised(g, "GroupNormalization", [x, g.normal(channels), g.normal(channels)], bound, num_groups=groups)


@rule(0.5)
def batch_norm(g):
    x = g.pick("f", lambda v: v.rank > 1 and constant_above(0)(v.shape[1]))
    c = number_of(x.shape[1])
    normalised(g, "BatchNormalization", [x, g.normal(c), g.normal(c), g.normal(c), g.uniform(0.2, 2, c)],
               16 * x.largest + 16)


# Products and windows


def dot(x, y, n):
    """Bounds and error of sums of n products; of random numbers, they grow as the root of how many."""
    high = x.largest * y.largest * min(n, 4 * math.sqrt(n))
    error = (x.error * y.largest + y.error * x.largest) * math.sqrt(n) + ROUNDING * high * 2
    return -high, high, error


@rule(1.5)
def matmul_by_weights(g):
    x = g.pick("f", lambda v: v.rank > 1 and constant_above(0)(v.shape[-1]))
    k, n = number_of(x.shape[-1]), g.random.choice([1, 3, 8, 16, 33, 64])
    w = g.normal(k, n, scale=1 / math.sqrt(k))
    g.node("MatMul", [x, w], [("f", x.shape[:-1] + g.shape(n), *dot(x, w, k))])


@rule(0.8)
def gemm(g):
    x = g.pick("f", lambda v: v.rank == 2)
    a, b = g.random.randint(0, 1), g.random.randint(0, 1)
    m, k = x.shape[::-1] if a else x.shape
    if number_of(k) in (None, 0):
        raise Unsuitable
    n, k = g.random.choice([1, 5, 16, 40]), number_of(k)
    w = g.normal(*((n, k) if b else (k, n)), scale=1 / math.sqrt(k))
    c = g.random.choice([None, g.normal(n), g.normal(1, n), g.normal(1)])
    alpha, beta = g.random.choice([1.0, 0.5]), g.random.choice([1.0, -2.0])
    low, high, error = dot(x, w, k)
    g.node("Gemm", [x, w, c], [("f", (m, *g.shape(n)), low - 8, high + 8, error + ROUNDING * 8)], transA=a, transB=b,
           alpha=alpha, beta=beta)


@rule(1)
def attention(g):
    """Scores of a value with itself, and at times their softmax times the value again."""
    x = g.squashed(g.pick("f", ranked(2, 4)))
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    turned = g.moved("Transpose", [x], tuple(x.shape[i] for i in order), perm=order)
    n = count(x, [x.rank - 1], len(g.sizes))
    scores = g.node("MatMul", [x, turned], [("f", x.shape[:-1] + x.shape[-2:-1], *dot(x, x, n))])
    if g.maybe():
        weights = g.node("Softmax", [scores], [("f", scores.shape, 0.0, 1.0, 2 * scores.error + ROUNDING)], axis=-1)
        g.node("MatMul", [weights, x], [("f", x.shape, -1.0, 1.0, x.error + 2 * scores.error + ROUNDING)])


@rule(0.6)
def matmul_of_two(g):
    x = g.squashed(g.pick("f", ranked(2, 4)))
    y = g.squashed(g.pick("f", lambda v: v.rank >= 2 and v.shape[-2] == x.shape[-1]
                          and broadcast(v.shape[:-2], x.shape[:-2]) is not None))
    shape = broadcast(x.shape[:-2], y.shape[:-2]) + (x.shape[-2], y.shape[-1])
    g.node("MatMul", [x, y], [("f", shape, *dot(x, y, count(x, [x.rank - 1], len(g.sizes))))])


def window(g, x, kernels):
    """Attributes of a window over the dims from 2 on, and the dims that it makes; it fits at every size of the runs."""
    attributes = {name: [] for name in ("kernel_shape", "strides", "dilations")}
    begins, ends, dims = [], [], []
    for dim in x.shape[2:]:
        kernel, stride, dilation = g.random.choice(kernels), g.random.choice([1, 1, 2, 3]), g.random.choice([1, 1, 2])
        before, after = g.random.randint(0, kernel - 1), g.random.randint(0, kernel - 1)
        extent = (kernel - 1) * dilation + 1
        made = tuple((d + before + after - extent) // stride + 1 for d in dim)
        if min(dim) == 0 or any(d + before + after < extent for d in dim):
            raise Unsuitable
        for name, number in zip(attributes, (kernel, stride, dilation)):
            attributes[name].append(number)
        begins, ends, dims = [*begins, before], [*ends, after], [*dims, made]
    return attributes | dict(pads=begins + ends), tuple(dims)


@rule(1)
def convolution(g):
    x = g.pick("f", lambda v: 3 <= v.rank <= 4 and 0 < (number_of(v.shape[1]) or 0) <= 64)
    channels = number_of(x.shape[1])
    group = g.random.choice([d for d in (1, 1, 2, channels) if channels % d == 0])
    outputs = group * g.random.choice([1, 2, 5])
    attributes, dims = window(g, x, [1, 2, 3])
    n = channels // group * math.prod(attributes["kernel_shape"])
    w = g.normal(outputs, channels // group, *attributes["kernel_shape"], scale=1 / math.sqrt(n))
    bias = g.normal(outputs) if g.maybe() else None
    low, high, error = dot(x, w, n)
    shape = x.shape[:1] + g.shape(outputs) + dims
    g.node("Conv", [x, w, bias], [("f", shape, low - 4, high + 4, error + ROUNDING * 4)], group=group, **attributes)


@rule(0.7)
def pool(g):
    x = g.pick("f", ranked(3, 4))
    if g.maybe(0.2):
        shape = x.shape[:2] + g.shape(*[1] * (x.rank - 2))
        if any(0 in d for d in x.shape):
            raise Unsuitable
        g.node("GlobalAveragePool", [x], [("f", shape, x.low, x.high, x.error + ROUNDING * x.largest)])
        return
    attributes, dims = window(g, x, [1, 2, 3])
    # A window of padding alone has no maximum and no mean.
    if any(max(attributes["pads"][i::x.rank - 2]) * 2 > k for i, k in enumerate(attributes["kernel_shape"])) \
            or (any(attributes["pads"]) and max(attributes["dilations"]) > 1):
        raise Unsuitable
    bounds = ("f", x.shape[:2] + dims, min(0, x.low), max(0, x.high))
    if g.maybe():
        g.node("MaxPool", [x], [(*bounds, x.error)], **attributes)
    else:
        del attributes["dilations"]
        attributes, dims = plain_pool(x, attributes)
        g.node("AveragePool", [x], [("f", x.shape[:2] + dims, *bounds[2:], x.error + ROUNDING * x.largest)],
               count_include_pad=g.random.randint(0, 1), **attributes)


def plain_pool(x, attributes):
    """The window without dilations, and its dims."""
    spatial, dims = x.rank - 2, []
    for i, dim in enumerate(x.shape[2:]):
        pads = attributes["pads"][i] + attributes["pads"][i + spatial]
        dims.append(tuple((d + pads - attributes["kernel_shape"][i]) // attributes["strides"][i] + 1 for d in dim))
    return attributes, tuple(dims)
