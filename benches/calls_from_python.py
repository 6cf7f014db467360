"""What a call costs from Python: a model of one operator on one element beside onnxruntime, with and without bound memory.

    cargo xtask wheel && pip install target/wheels/*.whl onnx onnxruntime
    python benches/calls_from_python.py

Both run on one thread. A round times a block of calls of each in turn; a figure is the median over rounds. Without the package
`sutura-compiler` set SUTURA_COMPILER to the program `sutura`.
"""

import argparse
import statistics
import time

import numpy as np
import onnx
import onnxruntime
import sutura
from onnx import TensorProto, helper


def model():
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", "cols"])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [value("x")], [value("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def ways(proto):
    """Calls without arguments, by what they are: ours, then theirs."""
    ours = sutura.compile(proto, threads=1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    theirs = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    x, out = sutura.empty((1, 1)), sutura.empty((1, 1))
    x[:] = 2
    unaligned = np.frombuffer(bytearray(68), "float32", offset=4)[:1].reshape(1, 1)
    feeds, bound, into = {"x": x}, theirs.io_binding(), theirs.io_binding()
    bound.bind_cpu_input("x", x)
    bound.bind_output("y")
    into.bind_cpu_input("x", x)
    into.bind_output("y", "cpu", 0, np.float32, (1, 1), out.ctypes.data)
    assert ours(x)[0, 0] == theirs.run(None, feeds)[0][0, 0] == 2
    mine = {
        "model(x)": lambda: ours(x),
        "model(x), x not aligned": lambda: ours(unaligned),
        "model(x=x)": lambda: ours(x=x),
        "model(x, out=y)": lambda: ours(x, out=out),
    }
    other = {
        "run": lambda: theirs.run(None, feeds),
        "run_with_iobinding": lambda: theirs.run_with_iobinding(bound),
        "run_with_iobinding, own output": lambda: theirs.run_with_iobinding(into),
    }
    return mine, other


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--calls", type=int, default=5000)
    args = parser.parse_args()
    mine, other = ways(model())
    times = {name: [] for name in [*mine, *other]}
    for _ in range(args.rounds):
        for name, call in {**mine, **other}.items():
            begin = time.perf_counter()
            for _ in range(args.calls):
                call()
            times[name].append((time.perf_counter() - begin) / args.calls * 1e6)
    medians = {name: statistics.median(each) for name, each in times.items()}
    run, binding = medians["run"], min(medians[name] for name in other if name != "run")
    print(f"onnxruntime {onnxruntime.__version__}, numpy {np.__version__}; the last columns are ratios, below 1 is less")
    print("| call | microseconds | of `run` | of the faster binding |\n|---|---|---|---|")
    for name, median in medians.items():
        who = "Sutura" if name in mine else "onnxruntime"
        print(f"| {who}, `{name}` | {median:.2f} | {median / run:.2f} | {median / binding:.2f} |")


if __name__ == "__main__":
    main()
