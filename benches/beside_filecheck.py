"""Many checks with variables, with sutura-filecheck and with LLVM's FileCheck 22, in turns.

    cargo build --profile dist -p sutura-filecheck
    python benches/beside_filecheck.py target/dist/sutura-filecheck [--checks 4000] [--rounds 9]

Every row is a check file and its input; both tools run on it, one after the other, and both must find what the row says. A
row gives medians of the time on the wall and of processor time, and the ratio of the times on the wall: above 1
sutura-filecheck is faster.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

FILECHECK = pathlib.Path(os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22")) / "bin/FileCheck"


def chain(n, last="addf"):
    """Each check defines a variable and uses those of the two before it."""
    checks, text = ["CHECK-LABEL: func @f", "CHECK-SAME: %[[V0:.*]]: f32, %[[V1:[a-z0-9]+]]: f32"], ["func @f(%a: f32, %b: f32) {"]
    names = ["a", "b"]
    for i in range(2, n + 2):
        checks.append(f"CHECK-NEXT: %[[V{i}:.*]] = arith.addf %[[V{i - 1}]], %[[V{i - 2}]] : f32")
        op = last if i == n + 1 else "addf"
        text.append(f"  %{i} = arith.{op} %{names[-1]}, %{names[-2]} : f32")
        names.append(str(i))
    return checks, text


def skipping(n):
    """`CHECK:` that has to look for its line, with eight lines between."""
    checks, text = [], []
    for i in range(n):
        text += [f"  %x{i}_{j} = test.noise %y : i32" for j in range(8)]
        text.append(f"  %n{i} = test.op{i % 7} {i} : tensor<{i % 13}x4xf32>")
        checks.append(f"CHECK: %[[R:n.*]] = test.op{i % 7} [[#%u,N:]] : tensor<{{{{[0-9]+}}}}x4xf32>")
    return checks, text


def numeric(n):
    """Numbers that are computed from the ones before."""
    checks, text = ["CHECK: at [[#A:]]"], ["at 7"]
    for i in range(n // 2):
        checks += ["CHECK-NEXT: at [[#%u,A:A+3]]", "CHECK-NEXT: and [[#%x,A+1]] of [[#mul(A,2)]]"]
        text += [f"at {10 + 3 * i}", f"and {11 + 3 * i:x} of {20 + 6 * i}"]
    return checks, text


def dag(n):
    """Groups of eight lines in another order, and what must not stand between."""
    checks, text = [], []
    for group in range(n // 8):
        checks += [f"CHECK-DAG: set %[[D{i}:.*]] to {group} {i}" for i in range(8)]
        checks.append("CHECK-NOT: poison")
        checks.append(f"CHECK: end {group} %[[D7]]")
        text += [f"set %r{group}_{i} to {group} {i}" for i in reversed(range(8))]
        text.append(f"end {group} %r{group}_7")
    return checks, text


def rows(n):
    yield "chain of variables", chain(n), 0
    yield "the last one wrong", chain(n, last="mulf"), 1
    yield "looking for lines", skipping(n), 0
    yield "numbers", numeric(n), 0
    yield "DAG and NOT", dag(n), 0


def run(tool, checks, text):
    """Seconds on the wall, seconds of the processor and exit status of a run; what it prints goes nowhere."""
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.execv(tool, [str(tool), f"--input-file={text}", str(checks)])
    _, status, usage = os.wait4(pid, 0)
    seconds, processor = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    return seconds, processor, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("--checks", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    theirs = FILECHECK if FILECHECK.exists() else None
    if theirs is None:
        print(f"{FILECHECK} is not there: only {args.tool} is measured", file=sys.stderr)
    print(f"{args.checks} checks, medians of {args.rounds} rounds")
    print(f"{'':22} {'sutura-filecheck':>22} {'FileCheck':>22} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        checks_file, text_file = pathlib.Path(folder, "checks.txt"), pathlib.Path(folder, "input.txt")
        for name, (checks, text), expected in rows(args.checks):
            checks_file.write_text("\n".join(checks) + "\n")
            text_file.write_text("\n".join(text) + "\n")
            found = {tool: [] for tool in (args.tool, theirs) if tool}
            for _ in range(args.rounds):
                for tool, results in found.items():
                    *numbers, status = run(tool, checks_file, text_file)
                    if status != expected:
                        sys.exit(f"{name}: {tool} ended with {status}, not {expected}")
                    results.append(numbers)
            medians = {tool: [statistics.median(column) for column in zip(*r)] for tool, r in found.items()}
            cells = [f"{1e3 * s:7.1f} ms {1e3 * p:7.1f} ms" for s, p in medians.values()]
            ratio = f"{medians[theirs][0] / medians[args.tool][0]:7.2f}" if theirs else ""
            print(f"{name:22} {' '.join(f'{c:>22}' for c in cells)} {ratio}")


if __name__ == "__main__":
    main()
