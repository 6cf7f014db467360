"""A model while it is made: its values with what is known of them, and its operators.

A dim is a tuple of numbers, one for each setting of the sizes `B` and `S`: what it is in every run of the model, and at
two settings of primes. Two dims that are the same at all of them are taken for the same, and one that is the same
number at all of them for constant; no algebra is needed, and shapes of every run are known.
"""

import dataclasses
import json
import math
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

PRIMES = [dict(B=7, S=11), dict(B=13, S=29)]
# What one rounding of an elementary function may be away, of the value.
ROUNDING = 5e-7
# A value of larger magnitude, or known less well, is not computed with: differences would mean nothing.
LARGEST, LEAST_KNOWN = 1e4, 2e-3
MOST_ELEMENTS = 3_000_000
TYPES = {"f": TensorProto.FLOAT, "d": TensorProto.DOUBLE, "h": TensorProto.FLOAT16, "i": TensorProto.INT64,
         "j": TensorProto.INT32, "k": TensorProto.INT8, "b": TensorProto.BOOL}
ARRAYS = {"f": np.float32, "d": np.float64, "h": np.float16, "i": np.int64, "j": np.int32, "k": np.int8, "b": np.bool_}


class Unsuitable(Exception):
    """The operator cannot be had here: no such value, or its result would be too large or too badly known."""


@dataclasses.dataclass(frozen=True)
class Value:
    """`low` and `high` hold its elements; `error` is how far two right implementations may be apart (0: not a bit)."""

    name: str
    kind: str
    shape: tuple
    low: float
    high: float
    error: float = 0.0

    @property
    def rank(self):
        return len(self.shape)

    @property
    def largest(self):
        return max(abs(self.low), abs(self.high))


def broadcast(a, b):
    """The shape of both together, or None."""
    rank, ones = max(len(a), len(b)), (constant_dim(1, (a + b)[0]),) if a + b else ()
    a, b = ones * (rank - len(a)) + a, ones * (rank - len(b)) + b
    if all(x == y or set(x) == {1} or set(y) == {1} for x, y in zip(a, b)):
        return tuple(y if set(x) == {1} else x for x, y in zip(a, b))
    return None


def constant_dim(number, like):
    return (number,) * len(like)


def number_of(dim):
    """The dim's number if it is constant."""
    return dim[0] if len(set(dim)) == 1 else None


class Graph:
    def __init__(self, seed, sizes):
        """`sizes` are the settings that the model is run at."""
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.sizes = sizes
        self.settings = sizes + PRIMES
        self.symbols = {name: tuple(s[name] for s in self.settings) for name in "BS"}
        self.nodes, self.initializers, self.inputs = [], [], []
        self.values, self.others = {}, {}
        self.count, self.opset = 0, 20

    # Dims and shapes

    def dim(self, number):
        return (number,) * len(self.settings)

    def shape(self, *dims):
        return tuple(self.symbols.get(d, d) if isinstance(d, (str, tuple)) else self.dim(d) for d in dims)

    def stated(self, shape):
        """Names and numbers of dims; None for one that is neither."""
        names = {dim: name for name, dim in self.symbols.items()}
        return [number_of(d) if number_of(d) is not None else names.get(d) for d in shape]

    def fits(self, shape):
        return all(math.prod(d[s] for d in shape) <= MOST_ELEMENTS for s in range(len(self.sizes)))

    # Making values

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def input(self, kind, shape, low, high):
        if None in self.stated(shape) or not self.fits(shape):
            raise Unsuitable
        value = Value(self.fresh("x"), kind, shape, low, high)
        self.inputs.append(value)
        self.values[value.name] = value
        return value

    def constant(self, array, kind="f"):
        """Not among the values that operators are tried on; elements are its own bounds."""
        array = np.asarray(array, ARRAYS[kind])
        name = self.fresh("c")
        self.initializers.append(numpy_helper.from_array(array, name))
        low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
        return Value(name, kind, self.shape(*array.shape), low, high)

    def ints(self, *numbers):
        return self.constant(np.array(numbers), "i")

    def normal(self, *shape, scale=1.0):
        return self.constant((self.numbers.standard_normal(shape) * scale).clip(-4 * scale, 4 * scale))

    def uniform(self, low, high, *shape):
        return self.constant(self.numbers.uniform(low, high, shape))

    def node(self, operator, operands, results, **attributes):
        """Results are `(kind, shape, low, high, error)`; operands are values, or None where one is left out."""
        made = [Value(self.fresh("t"), *r) for r in results]
        for value in made:
            if value.shape is None or not self.fits(value.shape) or value.rank > 6:
                raise Unsuitable
            is_float = value.kind in "fdh"
            if value.largest > (LARGEST if is_float else 2**30) or (is_float and value.error > LEAST_KNOWN):
                raise Unsuitable
        operands = [o.name if o else "" for o in operands]
        self.nodes.append(helper.make_node(operator, operands, [v.name for v in made], **attributes))
        self.values |= {v.name: v for v in made}
        return made[0] if len(made) == 1 else made

    def moved(self, operator, operands, shape, **attributes):
        """An operator that takes elements of the first operand as they are."""
        x = operands[0]
        return self.node(operator, operands, [(x.kind, shape, x.low, x.high, x.error)], **attributes)

    def aside(self, value):
        """Keeps a value from being picked, and from being an output."""
        self.others[value.name] = self.values.pop(value.name)
        return value

    # Choosing values

    def pick(self, kinds="f", suits=lambda v: True):
        """One of the values, often a late one."""
        found = [v for v in self.values.values() if v.kind in kinds and suits(v)]
        if not found:
            raise Unsuitable
        return self.random.choice(found[-6:] if self.random.random() < 0.7 else found)

    def axis(self, x, suits=lambda d: True):
        found = [i for i, d in enumerate(x.shape) if suits(d)]
        if not found:
            raise Unsuitable
        return self.random.choice(found)

    def maybe(self, probability=0.5):
        return self.random.random() < probability

    def negative(self, axis, rank):
        """The axis, or how it is counted from the end."""
        return axis - rank if self.maybe(0.3) else axis

    def squashed(self, x, bound=1.0):
        """x itself if it is not larger, else its tanh."""
        if x.largest <= bound:
            return x
        return self.node("Tanh", [x], [("f", x.shape, max(-1.0, x.low), min(1.0, x.high), x.error + ROUNDING)])

    # The model

    def model(self, notes):
        """With all values that nothing uses, and sometimes others too, as outputs; None without any."""
        used = {name for node in self.nodes for name in node.input}
        inputs = [v for v in self.inputs if v.name in used]
        computed = [v for v in self.values.values() if v not in self.inputs]
        outputs = [v for v in computed if v.name not in used]
        if not outputs:
            return None
        if self.maybe(0.3):
            outputs.append(self.random.choice(computed))
        outputs = list({v.name: v for v in outputs}.values())
        given = [helper.make_tensor_value_info(v.name, TYPES[v.kind], self.stated(v.shape)) for v in inputs]
        ends = [helper.make_tensor_value_info(v.name, TYPES[v.kind], self.stated(v.shape)) for v in outputs]
        graph = helper.make_graph(self.nodes, "random", given, ends, self.initializers)
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9 if self.opset < 22 else 11)
        values = (self.values | self.others).values()
        known = {v.name: [v.kind, self.stated(v.shape), v.low, v.high, v.error] for v in values}
        helper.set_model_props(model, {"values": json.dumps(known), "sizes": json.dumps(self.sizes), **notes})
        return model
