"""What the kernels of the examples take of a GPU: registers, memory of a block, spills. No GPU is needed.

    cargo build -p sutura
    SUTURA_PTXAS=target/ptxas/nvidia/cuda_nvcc/bin/ptxas python3 benches/gpu_resources.py [--sutura target/debug/sutura]

`cargo xtask test` fetches that `ptxas`. The figures are in docs/performance.md.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

NVIDIA = ["sm_80", "sm_90", "sm_100"]
AMD = ["gfx90a", "gfx942", "gfx1100"]
MODELS = ["mlp", "encoder", "cnn"]


def compiled(sutura, model, target, emit, folder):
    out = folder / f"{model}.{emit}"
    path = f"examples/{model}/{model}.onnx"
    subprocess.run([sutura, "compile", path, "--target", target, f"--emit={emit}", "-o", out, "--quiet"], check=True)
    return out


def numbers(pattern, text):
    return [int(n) for n in re.findall(pattern, text)]


def nvidia(sutura, ptxas, model, target, folder):
    ptx = compiled(sutura, model, target, "ptx", folder)
    done = subprocess.run([ptxas, "-v", f"-arch={target}", ptx, "-o", folder / "cubin"], capture_output=True, text=True,
                          check=True)
    said = done.stderr
    return numbers(r"Used (\d+) registers", said), numbers(r"(\d+) bytes smem", said), numbers(r"(\d+) bytes spill stores", said)


def amd(sutura, model, target, folder):
    text = compiled(sutura, model, target, "asm", folder).read_text()
    own = lambda name: numbers(rf"\.{name}:\s+(\d+)", text)
    return own("vgpr_count"), own("group_segment_fixed_size"), own("vgpr_spill_count")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sutura", default="target/debug/sutura")
    args = parser.parse_args()
    ptxas = os.environ.get("SUTURA_PTXAS", "ptxas")
    print("| target | model | kernels | registers | block's memory, most | spills |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for target in NVIDIA + AMD:
            for model in MODELS:
                folder = pathlib.Path(scratch)
                found = nvidia(args.sutura, ptxas, model, target, folder) if target in NVIDIA else amd(
                    args.sutura, model, target, folder)
                registers, shared, spills = found
                spilling = sum(n > 0 for n in spills)
                spilled = f"{max(spills)} bytes at most, {spilling} kernels" if spilling else "none"
                print(f"| {target} | {model} | {len(registers)} | {min(registers)} to {max(registers)} "
                      f"| {max(shared, default=0)} bytes | {spilled} |")


if __name__ == "__main__":
    main()
