"""The rules of operators that move elements, and of those that compute with sizes."""

import math

import numpy as np
from onnx import numpy_helper

from graph import ROUNDING, Unsuitable, broadcast, constant_dim, number_of
from operators import constant_above, exact, float_input, ranked, replaced, rule

ALL = "ffijbdhk"


@rule(2)
def transpose(g):
    x = g.pick(ALL, ranked(2))
    order = g.random.sample(range(x.rank), x.rank)
    g.moved("Transpose", [x], tuple(x.shape[i] for i in order), perm=order)


@rule(2)
def concat(g):
    x = g.pick(ALL, ranked(1))
    axis = g.axis(x)
    fits = [v for v in g.values.values() if v.kind == x.kind and v.rank == x.rank
            and replaced(v.shape, axis) == replaced(x.shape, axis)]
    parts = [g.random.choice(fits) for _ in range(g.random.randint(1, 3))]
    dim = tuple(map(sum, zip(*(p.shape[axis] for p in parts))))
    g.node("Concat", parts, [(x.kind, replaced(x.shape, axis, dim), min(p.low for p in parts),
                              max(p.high for p in parts), max(p.error for p in parts))], axis=g.negative(axis, x.rank))


@rule(1.2)
def slice_of_constants(g):
    x = g.pick(ALL, lambda v: any(constant_above(2)(d) for d in v.shape))
    axis = g.axis(x, constant_above(2))
    size, step = number_of(x.shape[axis]), g.random.choice([1, 1, 1, 2, -1, -2, 3])
    start, end = g.random.randint(-size - 1, size), g.random.randint(-size - 2, size + 1)
    taken = len(range(*slice(start, end, step).indices(size)))
    if taken == 0:
        raise Unsuitable
    g.moved("Slice", [x, g.ints(start), g.ints(end), g.ints(axis), g.ints(step)],
            replaced(x.shape, axis, g.dim(taken)))


@rule(0.4)
def slice_of_any_size(g):
    """Without bounds, the last or the first, of a dim that is not constant."""
    x = g.pick(ALL, lambda v: any(number_of(d) is None for d in v.shape))
    axis = g.axis(x, lambda d: number_of(d) is None)
    bounds = [(-1, -2**62, -1), (-1, 2**62, 1), (0, 1, 1), (0, -1, 1), (1, 2**62, 1), (0, 2**62, 2)]
    start, end, step = g.random.choice(bounds)
    dim = tuple(len(range(*slice(start, end, step).indices(d))) for d in x.shape[axis])
    g.moved("Slice", [x, g.ints(start), g.ints(end), g.ints(axis), g.ints(step)], replaced(x.shape, axis, dim))


@rule(0.8)
def slice_by_size(g):
    """As many as another value has elements in a dim."""
    x = g.pick(ALL, ranked(1))
    axis = g.axis(x)
    y = g.pick(ALL, lambda v: any(all(a <= b for a, b in zip(d, x.shape[axis])) for d in v.shape))
    dim = y.shape[g.axis(y, lambda d: all(a <= b for a, b in zip(d, x.shape[axis])))]
    size = size_of(g, y, y.shape.index(dim))
    if g.maybe(0.7):
        bounds = [g.ints(0), size]
    else:
        bounds = [integers(g, "Neg", [size], size.shape, size.high), g.ints(2**62)]
        if any(0 in d for d in (dim, x.shape[axis])):
            raise Unsuitable
    g.moved("Slice", [x, *bounds, g.ints(axis)], replaced(x.shape, axis, dim))


def size_of(g, x, axis):
    """A list of that size alone."""
    high = max(x.shape[axis])
    shape = integers(g, "Shape", [x], g.shape(x.rank), max(map(max, x.shape)))
    if g.maybe():
        return integers(g, "Gather", [shape, g.ints(axis)], g.shape(1), high, axis=0)
    one = integers(g, "Gather", [shape, g.constant(axis, "i")], (), high, axis=0)
    return integers(g, "Unsqueeze", [one, g.ints(0)], g.shape(1), high)


def integers(g, operator, operands, shape, high, **attributes):
    """Sizes, which are for other operators only."""
    return g.aside(g.node(operator, operands, [("i", shape, -high, high, 0.0)], **attributes))


def sizes_of(g, shape, x):
    """A list of the shape's sizes; those that are not constant are dims of x, others are unsuitable."""
    parts = []
    for dim in shape:
        if number_of(dim) is not None:
            parts.append(g.ints(number_of(dim)))
        elif dim in x.shape:
            parts.append(size_of(g, x, x.shape.index(dim)))
        else:
            raise Unsuitable
    if not parts:
        raise Unsuitable
    return integers(g, "Concat", parts, g.shape(len(parts)), max(map(max, shape)), axis=0)


@rule(1.2)
def pad(g):
    x = g.pick("fi", ranked(1))
    mode = g.random.choice(["constant", "constant", "constant", "reflect", "edge", "wrap"])
    dynamic = g.maybe(0.3)
    axis = g.axis(x, lambda d: min(d) > 4 or (mode == "constant" and (dynamic or number_of(d) is not None)))
    before, after = g.random.randint(0, 3), g.random.randint(0, 3)
    if mode == "constant" and min(x.shape[axis]) > 2 and g.maybe(0.2):
        before = -1
    pads = [0] * (2 * x.rank)
    pads[axis], pads[x.rank + axis] = before, after
    fill = g.random.choice([0, 2])
    value = [g.constant(fill, x.kind)] if mode == "constant" and g.maybe(0.7) else []
    dim = tuple(d + before + after for d in x.shape[axis])
    fill = fill if value else 0
    g.opset = max(g.opset, 19 if mode == "wrap" else 18)
    operands, shape = [x, g.ints(*pads), *value], replaced(x.shape, axis, dim)
    g.node("Pad", operands, [(x.kind, shape, min(x.low, fill), max(x.high, fill), x.error)], mode=mode)


def indices(g, shape, size):
    """Integers that are indices of that size: constant, computed, or an input."""
    if g.maybe(0.4) and all(number_of(d) is not None for d in shape):
        return g.constant(g.numbers.integers(-size, size, [number_of(d) for d in shape]), "i")
    usable = [v for v in g.values.values() if v.kind in "ij" and v.shape == shape and -size <= v.low and v.high < size]
    if usable and g.maybe():
        return g.random.choice(usable)
    return g.input(g.random.choice("iij"), shape, -size, size - 1)


@rule(1.5)
def gather(g):
    x = g.pick(ALL, lambda v: v.rank <= 4 and any(constant_above(0)(d) for d in v.shape))
    axis = g.axis(x, constant_above(0))
    n = g.random.randint(1, 5)
    shape = g.shape(*g.random.choice([[n], [n], [], [2, n], ["B"], ["S"], ["B", n]]))
    i = indices(g, shape, number_of(x.shape[axis]))
    g.moved("Gather", [x, i], replaced(x.shape, axis, *shape), axis=g.negative(axis, x.rank))


@rule(0.7)
def gather_elements(g):
    x = g.pick("fij", lambda v: 1 <= v.rank <= 4 and any(constant_above(0)(d) for d in v.shape))
    axis = g.axis(x, constant_above(0))
    shape = replaced(x.shape, axis, g.shape(g.random.choice(["B", "S", 1, 3, 9]))[0])
    g.moved("GatherElements", [x, indices(g, shape, number_of(x.shape[axis]))], shape, axis=g.negative(axis, x.rank))


@rule(0.7)
def gather_nd(g):
    batch = g.random.choice([0, 0, 1])
    x = g.pick("fij", lambda v: v.rank > batch and constant_above(0)(v.shape[batch]))
    many = 1
    if x.rank > batch + 1 and constant_above(0)(x.shape[batch + 1]) and g.maybe():
        many = 2
    size = min(number_of(d) for d in x.shape[batch:batch + many])
    places = x.shape[:batch] + g.shape(*g.random.choice([["B"], ["S"], [3], [2, "S"]]))
    i = indices(g, places + g.shape(many), size)
    if i.kind != "i":
        raise Unsuitable
    g.moved("GatherND", [x, i], places + x.shape[batch + many:], batch_dims=batch)


@rule(1.5)
def merge_dims(g):
    x = g.pick(ALL, ranked(2))
    at = g.random.randrange(x.rank - 1)
    merged = tuple(a * b for a, b in zip(*x.shape[at:at + 2]))
    after = [number_of(d) for d in x.shape[at + 2:]]
    # A 0 stands for the input's dim at its own place; nothing follows from -1 where there are no elements.
    if None in after or any(0 in d for d in x.shape):
        raise Unsuitable
    g.moved("Reshape", [x, g.ints(*[0] * at, -1, *after)], x.shape[:at] + (merged,) + x.shape[at + 2:])


@rule(1.2)
def split_dim(g):
    even = lambda d: constant_above(3)(d) and number_of(d) % 2 == 0  # noqa: E731
    x = g.pick(ALL, lambda v: any(even(d) for d in v.shape))
    at = g.axis(x, even)
    first = g.random.choice([2, number_of(x.shape[at]) // 2])
    parts = g.shape(first, number_of(x.shape[at]) // first)
    shape = replaced(x.shape, at, *parts)
    if any(number_of(d) is None for d in x.shape[at + 1:]):
        g.moved("Reshape", [x, sizes_of(g, shape, x)], shape)
    else:
        after = [number_of(d) for d in shape[at:]]
        if 0 in after:
            raise Unsuitable
        g.moved("Reshape", [x, g.ints(*[0] * at, *after)], shape)


@rule(1)
def reshape_by_sizes(g):
    """To dims in another order, or with neighbours made one, as a list of sizes says."""
    x = g.pick(ALL, ranked(2, 4))
    shape = tuple(g.random.sample(x.shape, x.rank))
    target = sizes_of(g, shape, x)
    g.moved("Reshape", [x, target], shape, allowzero=1)


@rule(0.6)
def reshape_like(g):
    """A product of sizes, as `view(B * S, -1)` exports it."""
    x = g.pick(ALL, ranked(2))
    if any(0 in d for d in x.shape):
        raise Unsuitable
    a, b = size_of(g, x, 0), size_of(g, x, 1)
    merged = tuple(m * n for m, n in zip(*x.shape[:2]))
    rest = tuple(map(math.prod, zip(*x.shape[2:]))) if x.rank > 2 else g.dim(1)
    size = integers(g, "Mul", [a, b], g.shape(1), max(merged))
    target = integers(g, "Concat", [size, g.ints(-1)], g.shape(2), max(merged), axis=0)
    g.moved("Reshape", [x, target], (merged, rest))


@rule(0.5)
def flatten(g):
    x = g.pick(ALL, ranked(1))
    axis = g.random.randint(0, x.rank)
    ones = constant_dim(1, x.shape[0])
    shape = [tuple(map(math.prod, zip(ones, *part))) for part in (x.shape[:axis], x.shape[axis:])]
    g.moved("Flatten", [x], tuple(shape), axis=axis)


@rule(0.8)
def unsqueeze(g):
    x = g.pick(ALL, ranked(0, 3))
    axes = sorted(g.random.sample(range(x.rank + 2), 2)) if g.maybe(0.2) else [g.random.randint(0, x.rank)]
    shape = list(x.shape)
    for axis in axes:
        shape.insert(axis, g.dim(1))
    g.moved("Unsqueeze", [x, g.ints(*axes)], tuple(shape))


@rule(0.8)
def squeeze(g):
    x = g.pick(ALL, lambda v: any(number_of(d) == 1 for d in v.shape))
    axis = g.axis(x, lambda d: number_of(d) == 1)
    g.moved("Squeeze", [x, g.ints(g.negative(axis, x.rank))], replaced(x.shape, axis))


@rule(1)
def expand(g):
    x = g.pick("fijbd")
    y = g.pick(ALL, lambda v: v.rank and broadcast(v.shape, x.shape) is not None)
    shape = y.shape if g.maybe(0.7) else (g.dim(2), *y.shape)
    g.moved("Expand", [x, sizes_of(g, shape, y)], broadcast(shape, x.shape))


@rule(0.8)
def tile(g):
    x = g.pick("fij", ranked(1))
    repeats = [g.random.choice([1, 1, 2, 3]) for _ in x.shape]
    shape = tuple(tuple(n * r for n in d) for d, r in zip(x.shape, repeats))
    g.moved("Tile", [x, g.ints(*repeats)], shape)


@rule(0.9)
def split(g):
    x = g.pick("fij", lambda v: any(constant_above(1)(d) for d in v.shape))
    axis = g.axis(x, constant_above(1))
    size = number_of(x.shape[axis])
    if g.maybe(0.6):
        cut = g.random.randint(1, size - 1)
        sizes, lengths, attributes = [cut, size - cut], [g.ints(cut, size - cut)], {}
    else:
        n = g.random.choice([2, 3])
        each = -(-size // n)
        sizes = [min(each, size - i * each) for i in range(n)]
        lengths, attributes = [], dict(num_outputs=n)
        if min(sizes) <= 0:
            raise Unsuitable
    results = [(x.kind, replaced(x.shape, axis, g.dim(s)), x.low, x.high, x.error) for s in sizes]
    g.node("Split", [x, *lengths], results, axis=g.negative(axis, x.rank), **attributes)


@rule(0.6)
def constant_of_shape(g):
    x = g.pick(ALL, ranked(1))
    kind = g.random.choice("fij")
    value = {"f": np.float32, "i": np.int64, "j": np.int32}[kind](g.random.choice([0, 1, -2]))
    shape = x.shape if g.maybe(0.7) else x.shape[:1]
    g.node("ConstantOfShape", [sizes_of(g, shape, x)], [(kind, shape, float(value), float(value), 0.0)],
           value=numpy_helper.from_array(np.array([value])))


@rule(0.7)
def numbers_in_turn(g):
    """A range to a size."""
    x = g.pick(ALL, ranked(1))
    axis = g.axis(x)
    size = size_of(g, x, axis)
    limit = integers(g, "Squeeze", [size, g.ints(0)], (), size.high)
    step = g.random.choice([1, 1, 2])
    dim = tuple(-(-d // step) for d in x.shape[axis])
    g.node("Range", [g.constant(0, "i"), limit, g.constant(step, "i")], [("i", (dim,), 0, size.high, 0.0)])


@rule(0.6)
def blocks(g):
    x = g.pick("f", lambda v: v.rank == 4)
    n, c, h, w = x.shape
    if number_of(c) and number_of(c) % 4 == 0 and g.maybe(0.6):
        shape = (n, g.dim(number_of(c) // 4), tuple(2 * d for d in h), tuple(2 * d for d in w))
        g.moved("DepthToSpace", [x], shape, blocksize=2, mode=g.random.choice(["DCR", "CRD"]))
    elif all(d % 2 == 0 for d in h + w):
        shape = (n, tuple(4 * d for d in c), tuple(d // 2 for d in h), tuple(d // 2 for d in w))
        g.moved("SpaceToDepth", [x], shape, blocksize=2)
    else:
        raise Unsuitable


@rule(0.6)
def one_hot(g):
    """Of indices, as comparisons with numbers in turn."""
    x = g.pick("ij", lambda v: exact(v) and v.rank < 4)
    n = g.random.choice([3, 10, 33])
    column = g.moved("Unsqueeze", [x, g.ints(-1)], (*x.shape, g.dim(1)))
    shape = (*x.shape, g.dim(n))
    hot = g.node("Equal", [column, g.constant(range(n), x.kind)], [("b", shape, 0, 1, 0.0)])
    g.node("Cast", [hot], [("f", shape, 0.0, 1.0, 0.0)], to=1)


@rule(0.4)
def scaled_by_size(g):
    """Over the root of a size, as attention is exported."""
    x = g.pick("f", lambda v: v.rank and not any(0 in d for d in v.shape))
    axis = g.axis(x)
    high = max(x.shape[axis])
    size = g.aside(g.node("Cast", [size_of(g, x, axis)], [("f", g.shape(1), 1.0, high, 0.0)], to=1))
    root = g.aside(g.node("Sqrt", [size], [("f", g.shape(1), 1.0, math.sqrt(high), 0.0)]))
    g.node("Div", [x, root], [("f", x.shape, x.low, x.high, x.error + ROUNDING * x.largest)])


@rule(0.4)
def another_input(g):
    float_input(g, g.pick("f", ranked(1, 4)).shape)
