"""Predicted beside measured times of the kernels of all workloads, on one thread.

    pip install onnx numpy
    cargo build --release -p sutura
    python benches/beside_peers/predicted.py [--sutura target/release/sutura] [--only softmax,encoder] [--target-file FILE] [--each]

The figure is the mean over kernels of |ln(predicted / measured)|: 0 where all predictions are right, 0.69 where all are off by
two. `--report-measure` measures, the least of many runs; launches that are timed together count once.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import tempfile

import workloads

SAID = re.compile(r"predicted ([0-9.]+) us, measured ([0-9.]+) us")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sutura", default="target/release/sutura")
    parser.add_argument("--only", default="rows,encoder,mlp", help="workloads and families")
    parser.add_argument("--target-file", help="this machine, described: its caches, bandwidths and arithmetic")
    parser.add_argument("--each", action="store_true", help="print each kernel")
    return parser.parse_args()


def sizes(work, case):
    """What --report-sizes takes; a case that knows all sizes of a model has nothing to say."""
    symbols = {dim for _, _, shape in work.inputs for dim in shape if isinstance(dim, str)}
    return ",".join(f"{name}={value}" for name, value in case.items() if name in symbols)


def kernels(sutura, machine, path, at, folder):
    """Predicted and measured microseconds of each kernel, by name."""
    remarks = folder / "remarks.json"
    command = [sutura, "compile", path, "-o", folder / "model.sutura", "--report", folder / "report.html",
               "--report-measure", f"--remarks={remarks}", "--quiet"]
    command += ["--target-file", machine] if machine else []
    subprocess.run(command + (["--report-sizes", at] if at else []), check=True)
    for line in remarks.read_text().splitlines():
        message = json.loads(line)["message"]
        found = SAID.search(message)
        if found and float(found[2]) > 0:
            yield message.split(":")[0], float(found[1]), float(found[2])


def main():
    args = options()
    off = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for workload in workloads.named(args.only):
            work = workloads.made(workload)
            path = folder / f"{workload}.onnx"
            model = work.model()
            path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
            for case in work.cases:
                own = []
                for kernel, predicted, measured in kernels(args.sutura, args.target_file, path, sizes(work, case), folder):
                    own.append(abs(math.log(predicted / measured)))
                    if args.each:
                        print(f"    {kernel}: {predicted:.2f} us predicted, {measured:.2f} us measured")
                off += own
                print(f"{workload} {sizes(work, case)}: {sum(own) / max(len(own), 1):.2f} of {len(own)} kernels", flush=True)
    print(f"mean of |ln(predicted / measured)|: {sum(off) / len(off):.3f} of {len(off)} kernels")


main()
