"""What the make_*.py scripts of this folder share.

`Graph` collects nodes and initializers under the names that PyTorch's
exporter would give them; `write` checks and saves the model, runs it in
onnxruntime and stores inputs and outputs as .npy files beside it.
"""

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

    def rename_output(self, old, new):
        """Gives the value `old`, made by the last node, a graph output's name."""
        assert list(self.nodes[-1].output) == [old]
        self.nodes[-1].output[0] = new

    def const(self, scope, value):
        """Adds a Constant node; exporters write shapes and scalars this way."""
        return self.op("Constant", scope, value=numpy_helper.from_array(np.asarray(value)))

    def weight(self, name, value):
        """Adds a float32 initializer, stored as raw little-endian bytes."""
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def linear(self, rng, scope, name, x, n_in, n_out):
        """x @ W + b as MatMul and Add, which is how a 3-D Linear is exported."""
        w = self.weight(f"{name}.weight_t", rng.normal(0, n_in**-0.5, (n_in, n_out)))
        b = self.weight(f"{name}.bias", rng.normal(0, 0.1, n_out))
        return self.op("Add", scope, b, self.op("MatMul", scope, x, w))


def versions():
    return (
        f"python {platform.python_version()}, numpy {np.__version__}, "
        f"onnx {onnx.__version__}, onnxruntime {ort.__version__}"
    )


def write(folder, file_name, graph, inputs, outputs, opset, ir_version, cases):
    """Saves the model and, per case name, the .npy files of one run.

    `inputs` and `outputs` are lists of (name, element type, shape) with
    strings for dynamic dims; `cases` maps a sub-folder's name to the inputs.
    The reference runs unoptimised and on one thread, so it is the model as
    written and the same bits each time.
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
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=ir_version,
        producer_name="sutura-examples",
    )
    checker.check_model(model, full_check=True)
    data = model.SerializeToString(deterministic=True)
    (folder / file_name).write_bytes(data)
    print(f"{file_name}: {len(graph.nodes)} nodes, {len(data)} bytes")

    reference = session(data, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    optimised = session(data, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)
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
                f"{case}: {name} {value.shape}, max abs {np.abs(value).max():.4f}, "
                f"optimised onnxruntime differs by {np.abs(value - other).max():.1e}"
            )


def session(data, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
