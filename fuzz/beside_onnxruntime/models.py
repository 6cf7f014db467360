"""Random models: `model(seed)` makes the same one each time."""

import json
import random

import movements  # noqa: F401  (its rules)
import operators
from graph import Graph, Unsuitable

TRIES = 20


def sizes(numbers):
    """What the model runs at: small, middling, large, and at times nothing or rows that are long."""
    chosen = [dict(B=1, S=1), dict(B=numbers.choice([2, 3, 7]), S=numbers.choice([5, 16, 17]))]
    chosen.append(dict(B=numbers.choice([1, 4, 33, 70]), S=numbers.choice([31, 64, 100, 130])))
    odd = numbers.random()
    if odd < 0.15:
        chosen.append(numbers.choice([dict(B=0, S=5), dict(B=3, S=0), dict(B=0, S=0)]))
    elif odd < 0.3:
        chosen.append(numbers.choice([dict(B=1, S=30000), dict(B=3, S=5000), dict(B=100_000, S=3), dict(B=2, S=4097)]))
    return chosen


def settings(numbers, names):
    """Options of `sutura compile` for a model with these names of sizes."""
    options = []
    if numbers.random() < 0.2:
        options += ["--target", "generic"]
    if numbers.random() < 0.2:
        options += ["--search=off"]
    likely = [f"{n}={numbers.choice([1, 17, 31, 64, 100])}" for n in names for _ in range(numbers.randint(1, 2))]
    if likely and numbers.random() < 0.15:
        options += ["--likely", ",".join(likely)]
    return options


def input_shape(g, dims):
    while True:
        shape = g.shape(*(g.random.choice(dims) for _ in range(g.random.randint(1, 4))))
        if g.fits(shape):
            return shape


def model(seed, most=10, only=None):
    """The model of a seed, made by up to `most` rules (of those named in `only`); None if it has no output."""
    outer = random.Random(-seed - 1)
    g = Graph(seed, sizes(outer))
    dims = ["B", "S", g.random.choice([1, 2, 3, 4, 8, 17, 32, 48]), g.random.choice([2, 6, 12, 64, 100])]
    for _ in range(g.random.randint(1, 3)):
        operators.float_input(g, input_shape(g, dims))
    if g.maybe(0.25):
        g.input("i", input_shape(g, dims), -9, 9)
    rules = [r for name, r in operators.RULES.items() if only is None or name in only]
    weights = [r.weight for r in rules]
    for _ in range(g.random.randint(2, most)):
        for _ in range(TRIES):
            nodes, values = len(g.nodes), set(g.values)
            try:
                g.random.choices(rules, weights)[0].apply(g)
                break
            except Unsuitable:
                # What a rule began is no use: it may be all that a model fails on.
                del g.nodes[nodes:]
                g.values = {n: v for n, v in g.values.items() if n in values}
                g.inputs = [v for v in g.inputs if v.name in values]
    made = g.model({"seed": str(seed)})
    if made is not None:
        names = {d.dim_param for v in made.graph.input for d in v.type.tensor_type.shape.dim} - {""}
        made.metadata_props.add(key="options", value=json.dumps(settings(outer, sorted(names))))
    return made
