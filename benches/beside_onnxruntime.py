"""The example models beside onnxruntime, on the same number of threads, in turns.

    pip install numpy onnxruntime
    cargo build --release -p sutura
    python benches/beside_onnxruntime.py target/release/sutura [--threads 1] [--rounds 7] [model ...]

Each model is compiled once. A round times each case by both, right after each other; a figure is the median over
rounds of the median over a round's runs.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
LATENCY = re.compile(r"latency: ([0-9.]+) ms median")


def tensors(case, names):
    return {name: np.load(case / f"{name}.npy") for name in names}


def time_sutura(sutura, artifact, case, inputs, threads, repeat):
    command = [sutura, "run", artifact, "--threads", str(threads), "--repeat", str(repeat)]
    for name in inputs:
        command += ["--input", f"{name}=@{case / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    found = LATENCY.search(done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return float(found.group(1))


def time_onnxruntime(session, feeds, repeat):
    session.run(None, feeds)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        session.run(None, feeds)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def compare(sutura, model, args, folder):
    source = EXAMPLES / model / f"{model}.onnx"
    artifact = pathlib.Path(folder) / f"{model}.sutura"
    subprocess.run([sutura, "compile", source, "-o", artifact, "--quiet"], check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    inputs = [value.name for value in session.get_inputs()]
    for case in sorted(path for path in (EXAMPLES / model).iterdir() if path.is_dir()):
        feeds = tensors(case, inputs)
        mine, theirs = [], []
        for _ in range(args.rounds):
            mine.append(time_sutura(sutura, artifact, case, inputs, args.threads, args.repeat))
            theirs.append(time_onnxruntime(session, feeds, args.repeat))
        mine, theirs = statistics.median(mine), statistics.median(theirs)
        print(f"| {model} | {case.name} | {mine:.3f} ms | {theirs:.3f} ms | {theirs / mine:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sutura")
    parser.add_argument("models", nargs="*", default=["encoder", "mlp", "cnn"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=20)
    args = parser.parse_args()
    print(f"| model | case | Sutura | onnxruntime {onnxruntime.__version__} | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            compare(args.sutura, model, args, folder)


if __name__ == "__main__":
    main()
