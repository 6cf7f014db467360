"""What the make_*.py scripts of this folder share.

`Graph` collects nodes and initializers under the names that PyTorch's
exporter would give them; `write` checks and saves the model, runs it in
onnxruntime and stores inputs and outputs as .npy files beside it. `arguments`
reads the command line of the networks that have two sizes.
"""

import argparse
import collections
import pathlib
import platform

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, checker, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64


class Graph:
    """Nodes and weights of one model, in the order they are added."""

    def __init__(self):
        self.nodes = []
        self.weights = []
        self.counts = collections.Counter()

    def op(self, op_type, scope, *inputs, **attributes):
        """Adds a node with one output and returns the output's name."""
        stem = f"{scope}/{op_type}"
        n = self.counts[stem]
        self.counts[stem] += 1
        name = f"{stem}_{n}" if n else stem
        output = f"{name}_output_0"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        return output

    def ops(self, op_type, scope, outputs, *inputs, **attributes):
        """Adds a node with several outputs and returns their names."""
        first = self.op(op_type, scope, *inputs, **attributes)
        names = [first] + [f"{first[:-1]}{n}" for n in range(1, outputs)]
        self.nodes[-1].output[:] = names
        return names

    def inner(self):
        """A graph in this one: a loop's body. Weights are those of the outermost graph."""
        inner = Graph()
        inner.weights, inner.counts = self.weights, self.counts
        return inner

    def loop(self, scope, body, trips, carried, initial):
        """A Loop of `trips` at most over what `carried` names: `(name, element type, shape, name of the next value)`.

        The body has the number of the iteration in `iteration`, and makes
        `go_on`. Returns the names of the last values.
        """
        flags = [("iteration", INT64, []), ("going_on", TensorProto.BOOL, [])]
        graph = helper.make_graph(
            body.nodes,
            "body",
            [helper.make_tensor_value_info(*i) for i in flags + [c[:3] for c in carried]],
            [helper.make_tensor_value_info("go_on", TensorProto.BOOL, [])]
            + [helper.make_tensor_value_info(after, ty, shape) for _, ty, shape, after in carried],
        )
        start = self.const(scope, np.bool_(True))
        return self.ops("Loop", scope, len(carried), trips, start, *initial, body=graph)

    def output(self, value, name):
        """Gives any value a graph output's name."""
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))

    def ints(self, scope, *values):
        """A list of int64 as a Constant node."""
        return self.const(scope, np.array(values, np.int64))

    def size(self, scope, x, axis):
        """The size of one dimension as an int64 list of one number."""
        shape = self.op("Shape", scope, x)
        return self.op("Gather", scope, shape, self.ints(scope, axis), axis=0)

    def reshape(self, scope, x, *parts):
        """Reshape to integers and lists of one number that the graph computes."""
        if all(isinstance(part, int) for part in parts):
            return self.op("Reshape", scope, x, self.ints(scope, *parts))
        names = [part if isinstance(part, str) else self.ints(scope, part) for part in parts]
        return self.op("Reshape", scope, x, self.op("Concat", scope, *names, axis=0))

    def rename_output(self, old, new):
        """Gives the value `old`, made by the last node, a graph output's name."""
        assert list(self.nodes[-1].output) == [old]
        self.nodes[-1].output[0] = new

    def const(self, scope, value):
        """Adds a Constant node; exporters write shapes and scalars this way."""
        return self.op("Constant", scope, value=numpy_helper.from_array(np.asarray(value)))

    def weight(self, name, value):
        """Adds a float32 initializer, stored as raw little-endian bytes."""
        return self.constant(name, np.asarray(value, np.float32))

    def constant(self, name, value):
        """Adds an initializer of the value's own type."""
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def conv(self, rng, scope, name, x, sizes, stride=1, group=1, bias=True, gain=2.0, pad=None):
        """A Conv of `(in, out, kernel)`, with the padding that keeps sizes at stride 1 where none is given."""
        n_in, n_out, kernel = sizes
        fan_in = n_in // group * kernel * kernel
        shape = (n_out, n_in // group, kernel, kernel)
        inputs = [x, self.weight(f"{name}.weight", rng.normal(0, (gain / fan_in) ** 0.5, shape))]
        if bias:
            inputs.append(self.weight(f"{name}.bias", rng.normal(0, 0.1, n_out)))
        return self.op(
            "Conv",
            scope,
            *inputs,
            dilations=[1, 1],
            group=group,
            kernel_shape=[kernel] * 2,
            pads=[kernel // 2 if pad is None else pad] * 4,
            strides=[stride] * 2,
        )

    def linear(self, rng, scope, name, x, n_in, n_out):
        """x @ W + b as MatMul and Add, which is how a 3-D Linear is exported."""
        w = self.weight(f"{name}.weight_t", rng.normal(0, n_in**-0.5, (n_in, n_out)))
        b = self.weight(f"{name}.bias", rng.normal(0, 0.1, n_out))
        return self.op("Add", scope, b, self.op("MatMul", scope, x, w))


def arguments(here):
    """`--size small` is what the tests run and the repository holds; `--size full` has the published widths."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--out", type=pathlib.Path, help="the folder to write to; needed for --size full")
    chosen = parser.parse_args()
    if chosen.size == "full" and chosen.out is None:
        parser.error("--size full needs --out FOLDER: the repository holds the small size only")
    folder = chosen.out or here
    folder.mkdir(parents=True, exist_ok=True)
    return chosen.size == "small", folder


def write_of_images(folder, file_name, graph, outputs, shapes, seed):
    """Saves a network of images `[batch, 3, height, width]`, and what it makes of random ones of these shapes."""

    def image(shape):
        batch, height, width = shape
        numbers = np.random.default_rng([seed, *shape]).normal(0, 1, (batch, 3, height, width))
        return {"image": numbers.astype(np.float32)}

    write(
        folder,
        file_name,
        graph,
        [("image", FLOAT, ["batch", 3, "height", "width"])],
        outputs,
        opset=17,
        ir_version=8,
        cases={f"b{b}_h{h}_w{w}": image((b, h, w)) for b, h, w in shapes},
    )


def versions():
    return (
        f"python {platform.python_version()}, numpy {np.__version__}, "
        f"onnx {onnx.__version__}, onnxruntime {ort.__version__}"
    )


def write(folder, file_name, graph, inputs, outputs, opset, ir_version, cases, domains=(), optimises=True):
    """Saves the model and, per case name, the .npy files of one run.

    `inputs` and `outputs` are lists of (name, element type, shape) with
    strings for dynamic dims; `cases` maps a sub-folder's name to the inputs.
    The reference runs unoptimised and on one thread, so it is the model as
    written and the same bits each time. `optimises` is false where
    onnxruntime's optimiser refuses the model.
    """
    folder = pathlib.Path(folder)
    print(versions())
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            pathlib.Path(file_name).stem,
            [helper.make_tensor_value_info(*i) for i in inputs],
            [helper.make_tensor_value_info(*o) for o in outputs],
            initializer=graph.weights,
        ),
        opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)],
        ir_version=ir_version,
        producer_name="sutura-examples",
    )
    checker.check_model(model, full_check=True)
    data = model.SerializeToString(deterministic=True)
    (folder / file_name).write_bytes(data)
    print(f"{file_name}: {len(graph.nodes)} nodes, {len(data)} bytes")

    reference = session(data, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    optimised = session(data, ort.GraphOptimizationLevel.ORT_ENABLE_ALL) if optimises else reference
    for case, feeds in cases.items():
        out = folder / case
        out.mkdir(exist_ok=True)
        results = reference.run(None, feeds)
        others = optimised.run(None, feeds)
        for name, value in feeds.items():
            np.save(out / f"{name}.npy", value)
        for (name, _, _), value, other in zip(outputs, results, others, strict=True):
            assert np.isfinite(value).all(), f"{case}: {name} is not finite"
            np.save(out / f"{name}.npy", value)
            print(
                f"{case}: {name} {value.shape}, max abs {greatest(value):.4f}, "
                f"optimised onnxruntime differs by {difference(value, other)}"
            )


def session(data, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def greatest(value):
    return np.abs(value).max() if value.size else 0.0


def difference(value, other):
    """The largest difference, where both have one shape; sizes may depend on data."""
    return f"{greatest(value - other):.1e}" if value.shape == other.shape else f"shape {other.shape}"
