"""An LSTM, a GRU or an RNN beside onnxruntime, on the same number of threads, in turns.

    pip install numpy onnx onnxruntime
    cargo build --release -p sutura
    python benches/recurrent_beside_onnxruntime.py target/release/sutura [--op LSTM] [--seq 64] [--batch 8] [--hidden 256]

The model is compiled once, for all numbers of steps and samples. A round times both, right after each other; a figure is the median
over rounds of the median over a round's runs.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from beside_onnxruntime import time_onnxruntime, time_sutura


def model(op, features, hidden, rng):
    rows = {"LSTM": 4, "GRU": 3, "RNN": 1}[op] * hidden
    uniform = lambda *shape: rng.uniform(-0.1, 0.1, shape).astype(np.float32)
    weights = {"W": uniform(1, rows, features), "R": uniform(1, rows, hidden), "B": uniform(1, 2 * rows)}
    node = helper.make_node(op, ["X", "W", "R", "B"], ["Y"], hidden_size=hidden)
    value = lambda name, *dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    inputs, outputs = [value("X", "steps", "samples", features)], [value("Y", "steps", 1, "samples", hidden)]
    graph = helper.make_graph([node], op, inputs, outputs, [numpy_helper.from_array(a, n) for n, a in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sutura")
    parser.add_argument("--op", default="LSTM", choices=["LSTM", "GRU", "RNN"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    for name, default in {"seq": 64, "batch": 8, "features": 256, "hidden": 256, "rounds": 7, "repeat": 20}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (args.seq, args.batch, args.features)).astype(np.float32)
    print(f"| threads | Sutura | onnxruntime {onnxruntime.__version__} | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(model(args.op, args.features, args.hidden, rng), folder / "model.onnx")
        np.save(folder / "X.npy", x)
        artifact = folder / "model.sutura"
        subprocess.run([args.sutura, "compile", folder / "model.onnx", "-o", artifact, "--quiet"], check=True)
        for threads in args.threads:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = threads
            session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
            mine, theirs = [], []
            for _ in range(args.rounds):
                mine.append(time_sutura(args.sutura, artifact, folder, ["X"], threads, args.repeat))
                theirs.append(time_onnxruntime(session, {"X": x}, args.repeat))
            mine, theirs = statistics.median(mine), statistics.median(theirs)
            print(f"| {threads} | {mine:.2f} ms | {theirs:.2f} ms | {theirs / mine:.2f} |", flush=True)


if __name__ == "__main__":
    main()
