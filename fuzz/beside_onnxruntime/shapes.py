"""Random models whose sizes need not fit each other, run at sizes that do and at sizes that do not, beside onnxruntime.

    pip install onnx onnxruntime numpy
    cargo build -p sutura
    python fuzz/beside_onnxruntime/shapes.py --seeds 0..200 [--sutura target/debug/sutura] [--keep FOLDER]

A compiler of dynamic shapes assumes that sizes are equal, that one divides another, that a list from data asks for what it
asks for. Each seed is a model that makes it assume something, by a rule of `RULES`, with an elementwise op or a softmax
behind. A run that ends with exit code 0 must have onnxruntime's result; where onnxruntime refuses the sizes, it must end
with 1. A run that ends with 1 where onnxruntime has a result is counted as refused. A finding is anything else: another
result, a result where there is none, a crash, an internal error. The exit code is 1 if there was a finding.
"""

import argparse
import collections
import pathlib
import random
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import check

F, I = TensorProto.FLOAT, TensorProto.INT64
SIZES = [0, 1, 1, 2, 2, 3, 4, 4, 6, 8, 12]


class Model:
    """What a rule makes: nodes, and inputs whose dims are numbers or names."""

    def __init__(self, rng):
        self.rng, self.nodes, self.inputs, self.constants, self.lists = rng, [], {}, [], {}

    def new(self, kind):
        return f"{kind}{len(self.nodes) + len(self.inputs) + len(self.constants)}"

    def input(self, shape):
        name = self.new("x")
        self.inputs[name] = (F, shape)
        return name

    def list_input(self, length):
        """A list of sizes that only data tells."""
        name = self.new("s")
        self.inputs[name] = (I, [length])
        return name

    def ints(self, values, rank=1):
        name = self.new("c")
        array = np.array(values, dtype=np.int64)
        self.constants.append(numpy_helper.from_array(array.reshape(-1) if rank else array.reshape(()), name))
        return name

    def node(self, op, inputs, **attributes):
        name = self.new("v")
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def size(self, of, axis):
        return self.node("Shape", [of], start=axis, end=axis + 1)

    def proto(self, result):
        inputs = [helper.make_tensor_value_info(n, t, s) for n, (t, s) in self.inputs.items()]
        output = helper.make_tensor_value_info(result, F, None)
        graph = helper.make_graph(self.nodes, "shapes", inputs, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        model.ir_version = 8
        return model


def some(m, rank, names="NMKB"):
    """Dims of an input: numbers at times."""
    return [m.rng.choice([4, m.rng.choice(names)]) for _ in range(rank)]


def open_size(m):
    """Reshape by a list of numbers in which one is open."""
    x = m.input(some(m, m.rng.choice([1, 2, 2, 3])))
    sizes = [m.rng.choice([0, 1, 2, 3, 3, 4, 6, 8]) for _ in range(m.rng.choice([1, 2, 2, 3]))]
    sizes[m.rng.randrange(len(sizes))] = -1
    return m.node("Reshape", [x, m.ints(sizes)])


def fixed_sizes(m):
    x = m.input(some(m, 2))
    return m.node("Reshape", [x, m.ints([m.rng.choice([0, 1, 2, 3, 4, 8]) for _ in range(m.rng.choice([2, 3]))])])


def by_sizes(m):
    """Reshape to sizes of another tensor, one open at times."""
    x, z = m.input(some(m, 2)), m.input(some(m, 2, "PQ"))
    parts = [m.size(z, m.rng.randrange(2)) for _ in range(m.rng.choice([1, 2]))]
    if m.rng.random() < 0.6:
        parts.insert(m.rng.randrange(len(parts) + 1), m.ints([-1]))
    shape = m.node("Concat", parts, axis=0) if len(parts) > 1 else parts[0]
    return m.node("Reshape", [x, shape], allowzero=m.rng.choice([0, 0, 1]))


def by_data(m):
    """Reshape to what data asks for."""
    x = m.input(some(m, 2))
    if m.rng.random() < 0.5:
        return m.node("Reshape", [x, m.list_input(1)])
    part, known = m.list_input(1), m.size(x, m.rng.randrange(2))
    pair = [part, known] if m.rng.random() < 0.5 else [known, part]
    return m.node("Reshape", [x, m.node("Concat", pair, axis=0)], allowzero=m.rng.choice([0, 1]))


def arithmetic(m):
    """Reshape, Expand or ConstantOfShape by computed sizes."""
    x, z = m.input(some(m, 1)), m.input(some(m, 1, "PQ"))
    a, b = m.size(x, 0), m.size(z, 0)
    size = m.node(m.rng.choice(["Add", "Sub", "Mul"]), [a, m.rng.choice([b, m.ints([m.rng.choice([1, 2, 3])])])])
    if m.rng.random() < 0.4:
        size = m.node(m.rng.choice(["Div", "Mod"]), [size, m.ints([m.rng.choice([2, 3])])])
    kind = m.rng.choice(["Reshape", "Expand", "ConstantOfShape", "Tile"])
    return m.node(kind, [size] if kind == "ConstantOfShape" else [x, size])


def twice(m):
    """An open size, flattened or split again."""
    x = open_size(m)
    shape = m.rng.choice([[-1], [2, -1], [-1, 3], [0, -1]])
    return m.node("Reshape", [x, m.ints(shape)])


def slices(m):
    x, z = m.input(some(m, 2)), m.input(some(m, 1, "PQ"))
    end = m.rng.choice([m.size(z, 0), m.ints([m.rng.choice([-1, 1, 3, 9])])])
    return m.node("Slice", [x, m.ints([m.rng.choice([0, 1, 2])]), end, m.ints([m.rng.randrange(2)])])


def concat(m):
    x, z = m.input(some(m, 2)), m.input(some(m, 2, "PQ"))
    parts = m.rng.choice([[x, z], [x, x], [x, z, x]])
    return m.node("Concat", parts, axis=m.rng.randrange(2))


def product(m):
    x, z = m.input(some(m, 2)), m.input(some(m, 2, "PQ"))
    return m.node("MatMul", [x, z])


def broadcast(m):
    x, z = m.input(some(m, 2)), m.input(some(m, m.rng.choice([1, 2]), "NPQ"))
    return m.node(m.rng.choice(["Add", "Mul", "Max"]), [x, z])


def cache(m):
    """Scores over keys of length P + Q."""
    q, k, v = m.input(["B", "S", 4]), m.input(["B", "P", 4]), m.input(["B", "Q", 4])
    keys = m.node("Concat", [k, v], axis=1)
    scores = m.node("MatMul", [q, m.node("Transpose", [keys], perm=[0, 2, 1])])
    return m.node("MatMul", [m.node("Softmax", [scores], axis=-1), keys])


RULES = [open_size, fixed_sizes, by_sizes, by_data, arithmetic, twice, slices, concat, product, broadcast, cache]


def behind(m, value):
    """What uses the result, so that sizes go through a kernel."""
    kind = m.rng.choice(["Relu", "Softmax", "both", "other"])
    if kind in ("Relu", "both"):
        value = m.node("Relu", [value])
    if kind in ("Softmax", "both"):
        value = m.node("Softmax", [value], axis=-1)
    if kind == "other":
        value = m.node("Add", [value, m.input([m.rng.choice(["N", "R", 4])])])
    return value


def feeds(m, rng):
    """Inputs at random sizes; a list is right, open, or anything."""
    sizes = collections.defaultdict(lambda: rng.choice(SIZES))
    made, numbers = {}, np.random.default_rng(rng.randrange(1 << 30))
    for name, (kind, shape) in m.inputs.items():
        if kind == F:
            made[name] = numbers.standard_normal([sizes[d] if isinstance(d, str) else d for d in shape], np.float32)
    elements = [a.size for a in made.values()]
    for name, (kind, shape) in m.inputs.items():
        if kind == I:
            likely = [-1, 0, 4, *elements, *(d for a in made.values() for d in a.shape), rng.choice(SIZES) + 1]
            made[name] = np.array([rng.choice(likely) for _ in range(shape[0])], dtype=np.int64)
    return made


def copied_nothing(expected, result):
    """A size is open beside a 0 that is copied: onnxruntime refuses, the size follows all the same."""
    return "size != 0" in expected and result.size == 0


def outcome(model, m, session, artifact, checker, rng):
    """The kinds of a few runs, and a text for a finding."""
    for _ in range(6):
        given = feeds(m, rng)
        try:
            expected = session.run(None, given)[0]
        except Exception as reason:  # noqa: BLE001
            expected = str(reason)
        result = checker.run(artifact, given, 1)
        here = ", ".join(f"{n}: {a.tolist() if a.dtype == np.int64 else list(a.shape)}" for n, a in given.items())
        if isinstance(result, check.Outcome):
            if result.kind != "run exits with 1":
                yield result.kind, f"{here}: {result.text}"
            yield ("refused" if not isinstance(expected, str) else "both refuse"), ""
            continue
        result = result[model.graph.output[0].name]
        if isinstance(expected, str):
            kind = "follows" if copied_nothing(expected, result) else "accepted"
            yield kind, f"{here}: has {list(result.shape)}, and onnxruntime says {expected[-200:]}"
            continue
        wrong = check.difference(result, expected, 1e-4)
        yield ("differs" if wrong else "same"), f"{here}: {wrong}"


FINE = ("same", "refused", "both refuse", "unsupported", "invalid", "skipped", "follows")


def seed(number, checker, folder):
    rng = random.Random(number)
    m = Model(rng)
    rule = rng.choice(RULES)
    model = m.proto(behind(m, rule(m)))
    path, artifact = folder / "model.onnx", folder / "model.sutura"
    onnx.save(model, path)
    try:
        session = check.reference(path)
    except Exception:  # noqa: BLE001
        session = None
    done = checker.call("compile", path, "-o", artifact, "--quiet")
    if done.returncode != 0:
        kind = {1: "invalid", 3: "unsupported"}.get(done.returncode, f"compile exits with {done.returncode}")
        return rule, model, [(kind, done.stderr[-600:])]
    if session is None:
        return rule, model, [("skipped", "")]
    return rule, model, list(outcome(model, m, session, artifact, checker, rng))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0..100", metavar="A..B", help="from A on, before B")
    parser.add_argument("--sutura", default="target/debug/sutura", help="the tool")
    parser.add_argument("--keep", default="target/findings", metavar="FOLDER", help="where models of findings go")
    parser.add_argument("--show", metavar="KIND", help="shows outcomes of this kind as well")
    args = parser.parse_args()
    first, end = map(int, args.seeds.split(".."))
    counts, found = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        checker = check.Checker(pathlib.Path(args.sutura).resolve(), folder)
        for number in range(first, end):
            rule, model, outcomes = seed(number, checker, pathlib.Path(folder))
            for kind, text in outcomes:
                counts[kind] += 1
                if kind not in FINE or kind == args.show:
                    print(f"{number} ({rule.__name__}): {kind}: {text}", flush=True)
            if any(kind not in FINE for kind, _ in outcomes):
                found += 1
                keep = pathlib.Path(args.keep)
                keep.mkdir(parents=True, exist_ok=True)
                onnx.save(model, keep / f"shapes-{number}.onnx")
    print(", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
