"""What kernels take of a GPU: registers, instructions, memory of a block, spills. No GPU is needed.

    cargo build -p sutura
    SUTURA_PTXAS=target/ptxas/nvidia/cuda_nvcc/bin/ptxas SUTURA_NVDISASM=target/nvdisasm/nvidia/cu13/bin/nvdisasm \
        python3 benches/gpu_resources.py [--sutura target/debug/sutura] [--target sm_80] [--model encoder] [--each]

`cargo xtask test` fetches both programs. The figures are in docs/performance.md. Kernels with 32-bit indices are counted apart;
those that have no version count with both.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

NVIDIA = ["sm_80", "sm_90", "sm_100"]
AMD = ["gfx90a", "gfx942", "gfx1100"]
# What the bundle for a machine with a GPU times: softmax, norms, bias and GELU, a chain, in f32 and bf16.
PROGRAMS = sorted(pathlib.Path("benches/gpu/programs").glob("*.mlir"))
MODELS = {name: [pathlib.Path(f"examples/{name}/{name}.onnx")] for name in ["mlp", "encoder", "cnn"]} | {
    "f32 rows": [path for path in PROGRAMS if path.stem.endswith("f32")],
    "bf16 rows": [path for path in PROGRAMS if path.stem.endswith("bf16")]}


class Kernel:
    def __init__(self, registers, shared, spilled):
        self.registers, self.shared, self.spilled, self.instructions = registers, shared, spilled, 0


def compiled(sutura, path, target, emit, folder):
    out = folder / f"code.{emit}"
    subprocess.run([sutura, "compile", path, "--target", target, f"--emit={emit}", "-o", out, "--quiet"], check=True)
    return out


def nvidia(sutura, path, target, folder):
    ptx, cubin = compiled(sutura, path, target, "ptx", folder), folder / "cubin"
    command = [os.environ.get("SUTURA_PTXAS", "ptxas"), "-v", f"-arch={target}", ptx, "-o", cubin]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    kernels = {}
    for name, spilled, used in re.findall(r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (.*?)$", said, re.S | re.M):
        shared = re.search(r"(\d+) bytes smem", used)
        kernels[name] = Kernel(int(used.split()[0]), int(shared[1]) if shared else 0, int(spilled))
    command = [os.environ.get("SUTURA_NVDISASM", "nvdisasm"), "-c", cubin]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name, body in re.findall(r"^\.text\.(\w+):\n(.*?)(?=^\.text\.|\Z)", code, re.S | re.M):
        # Lines with an address; those that only fill up are none.
        lines = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*)$", body, re.M)
        kernels[name].instructions = sum(not line.startswith("NOP") for line in lines)
    return kernels


def amd(sutura, path, target, folder):
    text = compiled(sutura, path, target, "asm", folder).read_text()
    code, _, metadata = text.partition("amdhsa.kernels:")
    kernels = {}
    for kernel in filter(lambda entry: ".vgpr_count" in entry, metadata.split("\n  - ")):
        own = lambda name: int(re.search(rf"\.{name}:\s+(\d+)", kernel)[1])
        name = re.search(r"^\s+\.name:\s+(\w+)", kernel, re.M)[1]
        kernels[name] = Kernel(own("vgpr_count"), own("group_segment_fixed_size"), 4 * own("vgpr_spill_count"))
    for name, body in re.findall(r"^(\w+):.*?$(.*?)^\.Lfunc_end", code, re.S | re.M):
        kernels[name].instructions = len(re.findall(r"^\t[a-z]\w*_\w+", body, re.M))
    return kernels


def row(target, model, bits, kernels):
    registers = [kernel.registers for kernel in kernels]
    spilling = [kernel.spilled for kernel in kernels if kernel.spilled]
    spilled = f"{max(spilling)} bytes at most, {len(spilling)} of them" if spilling else "none"
    instructions = sum(kernel.instructions for kernel in kernels)
    shared = max(kernel.shared for kernel in kernels)
    print(f"| {target} | {model} | {bits} | {len(kernels)} | {min(registers)} to {max(registers)}, "
          f"{sum(registers) / len(registers):.0f} on average | {instructions:,} | {shared} bytes | {spilled} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sutura", default="target/debug/sutura")
    parser.add_argument("--target", choices=NVIDIA + AMD)
    parser.add_argument("--model", choices=list(MODELS))
    parser.add_argument("--each", action="store_true", help="each kernel has a row of its own")
    args = parser.parse_args()
    print("| target | model | indices | kernels | registers | instructions | block's memory, most | spills |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for target in [args.target] if args.target else NVIDIA + AMD:
            for model in [args.model] if args.model else MODELS:
                read = nvidia if target in NVIDIA else amd
                kernels = {}
                for path in MODELS[model]:
                    found = read(args.sutura, path, target, pathlib.Path(scratch))
                    kernels |= {f"{path.stem}.{name}": kernel for name, kernel in found.items()}
                narrow = {name: kernel for name, kernel in kernels.items() if name + "_i32" not in kernels}
                wide = {name: kernel for name, kernel in kernels.items() if not name.endswith("_i32")}
                for bits, group in [(64, wide), (32, narrow)]:
                    for name, kernel in group.items() if args.each else []:
                        row(target, f"{model} `{name}`", bits, [kernel])
                    row(target, model, bits, list(group.values()))


if __name__ == "__main__":
    main()
