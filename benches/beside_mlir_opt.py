"""Reading, verifying and printing a large program with sutura-opt and with mlir-opt, in turns.

    cargo build --release -p sutura-opt
    python benches/beside_mlir_opt.py target/release/sutura-opt [--ops 100000] [--rounds 10] [--file program.mlir]

Without --file the program is one function of mixed operations in generic form: arithmetic on tensors and integers,
dense constants, casts, attributes of several kinds. Both tools work on one thread and write to a file.
"""

import argparse
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

MLIR_OPT = pathlib.Path(os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22")) / "bin/mlir-opt"
TENSOR = "tensor<4x8xf32>"
RECENT = 32


def program(count):
    """One function of `count` operations whose operands are picked among recent results."""
    pick = random.Random(1).choice
    tensors, numbers, lines = ["%a", "%b"], ["%s", "%t"], []
    for i in range(count):
        kind = i % 8
        t, u = pick(tensors[-RECENT:]), pick(tensors[-RECENT:])
        n, m = pick(numbers[-RECENT:]), pick(numbers[-RECENT:])
        binary = f"({t}, {u}) <{{fastmath = #arith.fastmath<contract>}}> : ({TENSOR}, {TENSOR}) -> {TENSOR}"
        if kind in (0, 1):
            lines.append(f'%{i} = "arith.{"addf" if kind else "mulf"}"{binary}')
            tensors.append(f"%{i}")
        elif kind == 2:
            lines.append(f'%{i} = "arith.constant"() <{{value = {i % 997} : i32}}> : () -> i32')
            numbers.append(f"%{i}")
        elif kind == 3:
            labels = f'{{layer = {i} : i64, name = "op_{i}"}}'
            flags = "<{overflowFlags = #arith.overflow<none>}>"
            lines.append(f'%{i} = "arith.addi"({n}, {m}) {flags} {labels} : (i32, i32) -> i32')
            numbers.append(f"%{i}")
        elif kind == 4:
            elements = ", ".join(f"{(i * 7 + j) % 100 / 8:.6e}" for j in range(8))
            lines.append(f'%{i} = "arith.constant"() <{{value = dense<[{elements}]> : tensor<8xf32>}}> : () -> tensor<8xf32>')
        elif kind == 5:
            extra = f'{{map = affine_map<(d0, d1) -> (d1, d0)>, tags = ["a", {i} : i32]}}'
            lines.append(f'%{i} = "math.tanh"({t}) <{{fastmath = #arith.fastmath<none>}}> {extra} : ({TENSOR}) -> {TENSOR}')
            tensors.append(f"%{i}")
        elif kind == 6:
            lines.append(f'%{i} = "arith.cmpi"({n}, {m}) <{{predicate = {i % 10} : i64}}> : (i32, i32) -> i1')
        else:
            lines.append(f'%{i} = "tensor.cast"({t}) : ({TENSOR}) -> tensor<?x8xf32>')
    signature = f"({TENSOR}, {TENSOR}, i32, i32) -> {TENSOR}"
    arguments = f"%a: {TENSOR}, %b: {TENSOR}, %s: i32, %t: i32"
    body = "\n    ".join(lines)
    return (
        f'"builtin.module"() ({{\n  "func.func"() <{{function_type = {signature}, sym_name = "main"}}> ({{\n'
        f'  ^bb0({arguments}):\n    {body}\n    "func.return"({tensors[-1]}) : ({TENSOR}) -> ()\n  }}) : () -> ()\n'
        f"}}) : () -> ()\n"
    )


def run(command):
    """Seconds on the wall, seconds of processor time, and peak memory in MiB."""
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sutura_opt")
    parser.add_argument("--ops", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = args.file
        if source is None:
            source = f"{folder}/program.mlir"
            pathlib.Path(source).write_text(program(args.ops))
        tools = {
            "sutura-opt": [args.sutura_opt, "--threads=1", source, "-o", f"{folder}/ours.mlir"],
            "mlir-opt": [str(MLIR_OPT), "--mlir-disable-threading", source, "-o", f"{folder}/theirs.mlir"],
        }
        results = {name: [] for name in tools}
        for _ in range(args.rounds):
            for name, command in tools.items():
                results[name].append(run(command))
        print("| | wall, s | processor, s | peak, MiB |\n|---|---|---|---|")
        medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in results.items()}
        for name, (wall, cpu, peak) in medians.items():
            print(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:.0f} |")
        ratios = [theirs / ours for ours, theirs in zip(medians["sutura-opt"], medians["mlir-opt"])]
        print(f"| ratio | {ratios[0]:.2f} | {ratios[1]:.2f} | {ratios[2]:.2f} |")


if __name__ == "__main__":
    main()
