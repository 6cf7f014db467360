"""Times kernels of elements of one width, compiled by two builds of `sutura`, in turns.

    python benches/vector_widths.py BEFORE AFTER [--rounds 7]

Each program is a chain of operations on two tensors that lie in a core's cache, so that what is timed is how many elements
a vector has. One thread; medians over rounds of medians of 200 runs.
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

ELEMENTS = 262144

INTEGERS = "%c = arith.muli {a}, %b : {t}; %d = arith.addi %c, {a} : {t}; %e = arith.xori %d, %b : {t}; " \
    "%f = arith.maxsi %e, {a} : {t}; %r = arith.subi %f, %b : {t}"
SATURATED = "%c = arith.addi {a}, %b : {t}; %l = arith.cmpi ult, %c, {a} : {t}; %w = arith.constant -1 : {t}; " \
    "%r = arith.select %l, %w, %c : {t}"
TRUTHS = "%c = arith.andi {a}, %b : {t}; %d = arith.xori %c, {a} : {t}; %r = arith.ori %d, %b : {t}"
FLOATS = "%c = arith.mulf {a}, %b : {t}; %d = arith.addf %c, {a} : {t}; %e = arith.mulf %d, %c : {t}; " \
    "%f = arith.addf %e, %b : {t}; %r = arith.maximumf %f, {a} : {t}"

# The element as the IR names it, the scalar, the element as the command line names it, what is done to it.
CASES = [
    ("i8", "i8", "i8", INTEGERS),
    ("ui8", "i8", "u8", SATURATED),
    ("i16", "i16", "i16", INTEGERS),
    ("i1", "i1", "bool", TRUTHS),
    ("i32", "i32", "i32", INTEGERS),
    ("i64", "i64", "i64", INTEGERS),
    ("f32", "f32", "f32", FLOATS),
    ("f64", "f64", "f64", FLOATS),
]


def program(element, scalar, step, steps=6):
    """A program that does `step` so many times, each time to what it made before."""
    lines, last = [], "%a"
    for i in range(steps):
        text = re.sub(r"%([c-z])\b", rf"%\g<1>{i}", step).format(a=last, t=scalar)
        lines += text.split("; ")
        last = f"%r{i}"
    body = "\n    ".join(lines)
    tensor = f"tensor<{ELEMENTS}x{element}>"
    return f"""#m = affine_map<(d0) -> (d0)>
func.func @main(%x: {tensor} {{graph.name = "x"}}, %y: {tensor} {{graph.name = "y"}}) -> ({tensor} {{graph.name = "z"}}) {{
  %0 = graph.compute ins(%x, %y : {tensor}, {tensor}) -> {tensor}
      {{iterators = #graph.iterators<[parallel]>, maps = [#m, #m, #m]}} {{
  ^bb0(%a: {scalar}, %b: {scalar}):
    {body}
    graph.yield {last} : {scalar}
  }}
  return %0 : {tensor}
}}
"""


def microseconds(tool, artifact, element):
    inputs = [f"{name}={ELEMENTS}x{element}=1" for name in "xy"]
    command = [tool, "run", artifact, "-i", inputs[0], "-i", inputs[1], "--repeat", "200", "--threads", "1"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return 1000 * float(re.search(r"([\d.]+) ms median", said).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for element, scalar, name, step in CASES:
            source = Path(folder, f"{name}.mlir")
            source.write_text(program(element, scalar, step))
            times = {"before": [], "after": []}
            for build in times:
                tool = getattr(args, build)
                subprocess.run([tool, "compile", source, "-q", "-o", Path(folder, f"{build}.sutura")], check=True)
            for _ in range(args.rounds):
                for build, found in times.items():
                    found.append(microseconds(args.after, Path(folder, f"{build}.sutura"), name))
            medians = {build: round(statistics.median(found), 1) for build, found in times.items()}
            print(json.dumps({"element": name, **medians}), flush=True)


if __name__ == "__main__":
    main()
