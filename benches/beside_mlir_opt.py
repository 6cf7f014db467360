"""Reading, verifying, printing and two passes on large programs, with sutura-opt and with mlir-opt 22, in turns.

    cargo build --profile dist -p sutura-opt
    python benches/beside_mlir_opt.py target/dist/sutura-opt [--ops 100000] [--rounds 7] [--only straight,arith-cse]

Every row is a program and what is done to it; each is run in both tools, one after the other, on one thread unless the row
says otherwise (mlir-opt always has one). Both write to a file. A row gives medians of the time on the wall, of processor
time and of peak memory, and the ratios: above 1 sutura-opt needs less. Memory per operation leaves out what an empty
program takes. The time of a pass is what the tool itself tells with `--mlir-timing`.
"""

import argparse
import multiprocessing
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

MLIR_OPT = pathlib.Path(os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22")) / "bin/mlir-opt"
TENSOR = "tensor<4x8xf32>"
RECENT = 32
DEPTH = 24
ARGUMENTS = [("%a", TENSOR), ("%b", TENSOR), ("%s", "i32"), ("%t", "i32"), ("%c", "i1"), ("%lo", "index"), ("%hi", "index"),
             ("%st", "index")]


class Mixed:
    """Operations of several kinds whose operands are picked among recent results."""

    def __init__(self, registered=True):
        self.registered, self.pick = registered, random.Random(1).choice
        self.restart()

    def restart(self):
        self.tensors, self.numbers = ["%a", "%b"], ["%s", "%t"]

    def attr(self, known, foreign):
        return known if self.registered else f'"{foreign}"'

    def name(self, full):
        return full if self.registered else "bench." + full.split(".")[1]

    def op(self, i):
        kind = i % 10
        t, u = self.pick(self.tensors[-RECENT:]), self.pick(self.tensors[-RECENT:])
        n, m = self.pick(self.numbers[-RECENT:]), self.pick(self.numbers[-RECENT:])
        if kind in (0, 1, 9):
            name = self.name({0: "arith.mulf", 1: "arith.addf", 9: "arith.maximumf"}[kind])
            flags = self.attr("#arith.fastmath<contract>", "contract")
            self.tensors.append(f"%{i}")
            return f'"{name}"({t}, {u}) <{{fastmath = {flags}}}> : ({TENSOR}, {TENSOR}) -> {TENSOR}'
        if kind == 2:
            self.numbers.append(f"%{i}")
            return f'"{self.name("arith.constant")}"() <{{value = {i % 997} : i32}}> : () -> i32'
        if kind in (3, 4):
            flags = self.attr("#arith.overflow<none>", "none")
            self.numbers.append(f"%{i}")
            labels = f'{{layer = {i} : i64, name = "op_{i}"}}'
            name = self.name("arith.addi" if kind == 3 else "arith.muli")
            return f'"{name}"({n}, {m}) <{{overflowFlags = {flags}}}> {labels} : (i32, i32) -> i32'
        if kind == 5:
            elements = ", ".join(f"{(i * 7 + j) % 100 / 8:.6e}" for j in range(8))
            return f'"{self.name("arith.constant")}"() <{{value = dense<[{elements}]> : tensor<8xf32>}}> : () -> tensor<8xf32>'
        if kind == 6:
            extra = f'{{map = affine_map<(d0, d1) -> (d1, d0)>, tags = ["a", "b", {i} : i32]}}'
            flags = self.attr("#arith.fastmath<none>", "none")
            self.tensors.append(f"%{i}")
            return f'"{self.name("math.tanh")}"({t}) <{{fastmath = {flags}}}> {extra} : ({TENSOR}) -> {TENSOR}'
        if kind == 7:
            return f'"{self.name("arith.cmpi")}"({n}, {m}) <{{predicate = {i % 10} : i64}}> : (i32, i32) -> i1'
        return f'"{self.name("tensor.cast")}"({t}) : ({TENSOR}) -> tensor<?x8xf32>'


def function(name, arguments, result, body, returned):
    types, named = ", ".join(ty for _, ty in arguments), ", ".join(f"{n}: {ty}" for n, ty in arguments)
    lines = "\n".join(body)
    return (
        f'  "func.func"() <{{function_type = ({types}) -> {result}, sym_name = "{name}"}}> ({{\n  ^bb0({named}):\n{lines}\n'
        f'    "func.return"({returned}) : ({result}) -> ()\n  }}) : () -> ()\n'
    )


def straight(count, registered=True):
    """One function of mixed operations."""
    ops = Mixed(registered)
    body = [f"    %{i} = {ops.op(i)}" for i in range(count)]
    return function("main", ARGUMENTS, TENSOR, body, ops.tensors[-1])


def many_functions(count):
    """Functions of twenty mixed operations."""
    ops, text = Mixed(), []
    for number in range(max(1, count // 20)):
        ops.restart()
        body = [f"    %{i} = {ops.op(i)}" for i in range(20)]
        text.append(function(f"f{number}", ARGUMENTS, TENSOR, body, ops.tensors[-1]))
    return "".join(text)


def nested(count):
    """Loops and conditions inside one another, four operations on each level."""
    ops, body, i = Mixed(), [], 0
    while i < count:
        ops.restart()
        levels = []
        for depth in range(DEPTH):
            indent = "    " + "  " * depth
            for _ in range(min(4, count - i)):
                body.append(f"{indent}%{i} = {ops.op(i)}")
                i += 1
            if i >= count:
                break
            levels.append((indent, depth % 2))
            if depth % 2:
                body.append(f'{indent}"scf.if"(%c) ({{')
            else:
                body.append(f'{indent}"scf.for"(%lo, %hi, %st) ({{\n{indent}^bb0(%i{i}: index):')
            i += 1
        for indent, is_if in reversed(levels):
            body.append(f'{indent}  "scf.yield"() : () -> ()')
            body.append(f"{indent}}}, {{\n{indent}}}) : (i1) -> ()" if is_if else f"{indent}}}) : (index, index, index) -> ()")
    return function("main", ARGUMENTS, TENSOR, body, "%a")


def arith(count, per_function):
    """Integer arithmetic with equal operations and constants to fold."""
    pick, text, done = random.Random(1).randrange, [], 0
    while done < count:
        size, last, body = min(per_function, count - done), "%s", []
        for i in range(size):
            binary = "<{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32"
            body.append("    %" + str(i) + " = " + [
                lambda: f'"arith.constant"() <{{value = {pick(16)} : i32}}> : () -> i32',
                lambda: f'"arith.addi"({last}, %{i - 1}) {binary}',
                lambda: f'"arith.addi"({last}, %{i - 2}) {binary}',
                lambda: f'"arith.muli"(%{i - 1}, %t) {binary}',
                lambda: f'"arith.muli"(%{i - 3}, %t) {binary}',
                lambda: '"arith.constant"() <{value = 0 : i32}> : () -> i32',
                lambda: f'"arith.addi"(%{i - 2}, %{i - 1}) {binary}',
                lambda: f'"arith.xori"(%{i - 1}, %s) : (i32, i32) -> i32',
            ][i % 8]())
            if i % 8 == 7:
                last = f"%{i}"
        text.append(function(f"f{done}", [("%s", "i32"), ("%t", "i32")], "i32", body, f"%{size - 1}"))
        done += size
    return "".join(text)


PROGRAMS = {
    "straight": straight,
    "nested": nested,
    "manyfuncs": many_functions,
    "unreg": lambda n: straight(n, registered=False),
    "arith": lambda n: arith(n, n),
    "arithfuncs": lambda n: arith(n, 1000),
    "empty": lambda n: "^bb0:\n",
}

# Name of the row, program, threads of sutura-opt.
ROWS = [(name, name, 1) for name in list(PROGRAMS)[:6]] + [
    ("manyfuncs-2-threads", "manyfuncs", 2),
    ("arithfuncs-2-threads", "arithfuncs", 2),
]

# Name of the row, program, flag, name in the report of times.
PASSES = [
    ("arith-cse", "arith", "--cse", "CSE"),
    ("arith-canonicalize", "arith", "--canonicalize", "Canonicalizer"),
    ("arithfuncs-cse", "arithfuncs", "--cse", "CSE"),
    ("arithfuncs-canonicalize", "arithfuncs", "--canonicalize", "Canonicalizer"),
]


def write_program(name, ops, path):
    pathlib.Path(path).write_text(f'"builtin.module"() ({{\n{PROGRAMS[name](ops)}}}) : () -> ()\n')


def run(command):
    """Seconds on the wall, seconds of processor time, and peak memory in MiB."""
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return [wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]


def measure(commands, rounds):
    """Medians for each command, run in turns; the first round warms up."""
    results = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            sample = run(command)
            if number > 0:
                results[name].append(sample)
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in results.items()}


def pass_seconds(command, name):
    """Seconds on the wall that the tool's report of times gives the pass."""
    report = subprocess.run([*command, "--mlir-timing", "--mlir-timing-display=list"], capture_output=True, text=True)
    seconds = re.findall(rf"^ *([0-9.]+) \(.*%\) +{name}$", report.stderr, re.MULTILINE)
    if report.returncode != 0 or not seconds:
        sys.exit(f"{' '.join(command)} reports no time of {name}:\n{report.stderr}")
    return sum(map(float, seconds))


def measure_pass(commands, rounds, name):
    """Median seconds of a pass for each command, run in turns; the first round warms up."""
    results = {tool: [] for tool in commands}
    for number in range(rounds + 1):
        for tool, command in commands.items():
            seconds = pass_seconds(command, name)
            if number > 0:
                results[tool].append(seconds)
    return {tool: statistics.median(seconds) for tool, seconds in results.items()}


def commands_of(sutura_opt, source, folder, threads, passes):
    unregistered = ["--allow-unregistered-dialect", *passes]
    return {
        "ours": [sutura_opt, f"--threads={threads}", *unregistered, source, "-o", f"{folder}/ours.mlir"],
        "theirs": [str(MLIR_OPT), "--mlir-disable-threading", *unregistered, source, "-o", f"{folder}/theirs.mlir"],
    }


def row(name, ours, theirs, base, ops):
    """A line of the table."""
    per_op = [(tool[2] - empty[2]) * 2**20 / ops for tool, empty in zip((ours, theirs), base)]
    cells = [f"{ours[0]:.3f} / {theirs[0]:.3f}", f"{theirs[0] / ours[0]:.2f}", f"{ours[1]:.3f} / {theirs[1]:.3f}",
             f"{theirs[1] / ours[1]:.2f}", f"{ours[2]:.0f} / {theirs[2]:.0f}", f"{per_op[0]:.0f} / {per_op[1]:.0f}",
             f"{per_op[1] / max(per_op[0], 1):.2f}"]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sutura_opt")
    parser.add_argument("--ops", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", help="rows, with commas between them")
    args = parser.parse_args()
    tool = os.path.abspath(args.sutura_opt)
    only = set(args.only.split(",")) if args.only else None
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for name in PROGRAMS:
            sources[name] = f"{folder}/{name}.mlir"
            # A process is born with the peak of the one that starts it, so this one stays small.
            writer = multiprocessing.Process(target=write_program, args=(name, args.ops, sources[name]))
            writer.start()
            writer.join()
        start_up = measure(commands_of(tool, sources["empty"], folder, 1, []), 3 * args.rounds)
        base = (start_up["ours"], start_up["theirs"])
        print(f"start-up to the end of an empty module: {base[0][0] * 1e3:.1f} ms, {base[0][2]:.0f} MiB; "
              f"mlir-opt {base[1][0] * 1e3:.1f} ms, {base[1][2]:.0f} MiB\n")
        print(f"| {args.ops} operations | wall, s | ratio | processor, s | ratio | peak, MiB | bytes per op | ratio |\n" + "|---" * 8 + "|")
        for name, program, threads in ROWS:
            if not only or name in only:
                m = measure(commands_of(tool, sources[program], folder, threads, []), args.rounds)
                row(name, m["ours"], m["theirs"], base, args.ops)
        passes = [entry for entry in PASSES if not only or entry[0] in only]
        if passes:
            print(f"\n| pass on {args.ops} operations | wall, s | ratio |\n|---|---|---|")
        for name, program, flag, title in passes:
            m = measure_pass(commands_of(tool, sources[program], folder, 1, [flag]), args.rounds, title)
            print(f"| {name} | {m['ours']:.4f} / {m['theirs']:.4f} | {m['theirs'] / m['ours']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
