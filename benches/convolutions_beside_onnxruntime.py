"""Convolutions with a bias and a ReLU beside onnxruntime, on the same number of threads, in turns.

    pip install numpy onnx onnxruntime
    cargo build --release -p sutura
    python benches/convolutions_beside_onnxruntime.py target/release/sutura [--threads 1 2] [--limit GFLOPS]

A round times both, right after each other; a figure is the median over rounds of the median over a round's runs. With `--limit`,
the products and sums that one thread of the machine computes in a nanosecond, the last column has Sutura's part of it.
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

# Channels, features, lines and columns, places of the window, step, padding, groups.
CASES = [
    (64, 64, 56, 3, 1, 1, 1),
    (64, 64, 56, 3, 2, 1, 1),
    (3, 64, 224, 7, 2, 3, 1),
    (128, 128, 28, 3, 1, 1, 1),
    (256, 256, 14, 3, 1, 1, 1),
    (256, 256, 14, 3, 2, 1, 1),
    (512, 512, 7, 3, 1, 1, 1),
    (64, 256, 56, 1, 1, 0, 1),
    (256, 128, 28, 1, 2, 0, 1),
    (64, 64, 28, 3, 1, 1, 4),
    (64, 64, 28, 3, 1, 1, 64),
]


def model(channels, features, size, places, step, padding, groups, rng):
    weights = rng.uniform(-0.1, 0.1, (features, channels // groups, places, places)).astype(np.float32)
    bias = rng.uniform(-0.1, 0.1, features).astype(np.float32)
    conv = helper.make_node("Conv", ["X", "W", "B"], ["sum"], strides=[step] * 2, pads=[padding] * 4, group=groups)
    relu = helper.make_node("Relu", ["sum"], ["Y"])
    out = (size + 2 * padding - places) // step + 1
    value = lambda name, *dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    ends = [value("X", 1, channels, size, size)], [value("Y", 1, features, out, out)]
    graph = helper.make_graph([conv, relu], "conv", *ends, [numpy_helper.from_array(weights, "W"), numpy_helper.from_array(bias, "B")])
    operations = 2 * weights.size * out * out
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=8), operations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sutura")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--limit", type=float)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    print(f"| convolution | threads | Sutura | onnxruntime {onnxruntime.__version__} | ratio | GFLOP/s | of the limit |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        artifact = folder / "model.sutura"
        for case in CASES:
            channels, features, size, places, step, padding, groups = case
            proto, operations = model(*case, rng)
            x = rng.uniform(-1, 1, (1, channels, size, size)).astype(np.float32)
            onnx.save(proto, folder / "model.onnx")
            np.save(folder / "X.npy", x)
            subprocess.run([args.sutura, "compile", folder / "model.onnx", "-o", artifact, "--quiet"], check=True)
            for threads in args.threads:
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = options.inter_op_num_threads = threads
                session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
                expected = session.run(None, {"X": x})[0]
                np.save(folder / "Y.npy", expected)
                check = ["run", artifact, "-i", f"X=@{folder / 'X.npy'}", "--expected", f"Y=@{folder / 'Y.npy'}", "--quiet"]
                subprocess.run([args.sutura, *check], check=True, stdout=subprocess.DEVNULL)
                mine, theirs = [], []
                for _ in range(args.rounds):
                    mine.append(time_sutura(args.sutura, artifact, folder, ["X"], threads, args.repeat))
                    theirs.append(time_onnxruntime(session, {"X": x}, args.repeat))
                mine, theirs = statistics.median(mine), statistics.median(theirs)
                speed = operations / mine / 1e6
                part = f"{speed / args.limit / threads:.2f}" if args.limit else ""
                grouped = f", {groups} groups" if groups > 1 else ""
                name = f"{places}x{places}, step {step}, {channels} to {features}, {size}x{size}{grouped}"
                print(f"| {name} | {threads} | {mine:.3f} ms | {theirs:.3f} ms | {theirs / mine:.2f} | {speed:.0f} | {part} |", flush=True)


if __name__ == "__main__":
    main()
