"""Exports the networks of models.txt, compiles each once, runs it at several sizes and compares with onnxruntime.

`cargo xtask zoo` calls it. A network counts if every number of every output, in every case, is within BOUND of what onnxruntime
computes, as a part of the largest number of that output, or within twice what onnxruntime differs from itself without its
optimizations; a NaN or an infinity must stand where it stands there. Where it differs from itself by more than BOUND, nothing is shown.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy

import models
from compare import difference

HERE = pathlib.Path(__file__).resolve().parent
# Roundings of f32 (6e-8 each) add up over the sums of dozens of layers; wrong indices, masks or weights are a thousand times that.
BOUND = 1e-4
# Of the difference between two samples, by the largest number: below it a network hardly reads its input, and proves nothing.
ALIVE = 1e-3
BAR = 72


def options():
    parser = argparse.ArgumentParser(prog="cargo xtask zoo", description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="the networks whose `package/name` it finds")
    parser.add_argument("--list", action="store_true", help="show the networks that are chosen, and stop")
    parser.add_argument("--json", metavar="FILE", help="also write what was found to a file")
    parser.add_argument("--folder", default="target/zoo/models", help="where exported networks are kept")
    parser.add_argument("--sutura", default="target/release/sutura")
    parser.add_argument("--again", action="store_true", help="export also what is there")
    parser.add_argument("--seconds", type=int, default=900, help="the longest compilation")
    return parser.parse_args()


def export(entries, folder, again):
    missing = [entry.title for entry in entries if again or not told(folder, entry)]
    if missing:
        subprocess.run([sys.executable, "-B", HERE / "export.py", folder, *missing], check=True)


def told(folder, entry):
    """What the export said, if this line of the list is what was exported, and by this export."""
    file = folder / entry.file / "export.json"
    said = json.loads(file.read_text()) if file.exists() else {}
    return said if said.get("options") == entry.options and ("own" in said or "failed" in said) else {}


def measured(command, seconds):
    """Exit code, stderr, seconds and peak memory in MB of a program."""
    start = time.monotonic()
    with open("/dev/null") as nothing:
        process = subprocess.Popen(list(map(str, command)), stdin=nothing, stdout=nothing, stderr=subprocess.PIPE, text=True)
    try:
        _, text = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, f"stopped after {seconds} s", time.monotonic() - start
    return process.returncode, text, time.monotonic() - start


def compiled(sutura, folder):
    """Compiles in a process of its own, so that its peak memory is that of the compiler."""
    code = "import resource, subprocess, sys; c = subprocess.call(sys.argv[2:]); " \
        "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(c)"
    return [sys.executable, "-c", code, folder / "memory", sutura, "compile", folder / "model.onnx", "-o", folder / "model.sutura"]


def tried(args, entry):
    """What is said of one network."""
    folder = pathlib.Path(args.folder) / entry.file
    said = told(folder.parent, entry)
    row = {"model": entry.title, "exporter": said.get("exporter"), "export_s": said.get("seconds")}
    if "failed" in said:
        return row | {"verdict": "not exported", "reason": said["failed"]}
    code, text, row["compile_s"] = measured(compiled(args.sutura, folder), args.seconds)
    if code is None or not (folder / "memory").exists():
        return row | {"verdict": "not compiled", "reason": text}
    row["memory_mb"] = int((folder / "memory").read_text()) // 1024
    if code != 0:
        return row | {"verdict": "not compiled", "reason": f"exit code {code}: {first_error(text)}"}
    try:
        return row | compared(args, folder, said["own"])
    finally:
        (folder / "model.sutura").unlink()


def compared(args, folder, own):
    errors, alive = [], False
    for case in models.cases():
        command = [args.sutura, "run", folder / "model.sutura", "--inputs", folder / f"inputs_{case}.npz", "--outputs", folder / "outputs.npz"]
        code, text, _ = measured(command, args.seconds)
        if code != 0:
            return {"verdict": "does not run", "reason": f"case {case}, exit code {code}: {first_error(text)}"}
        expected, made = numpy.load(folder / f"expected_{case}.npz"), numpy.load(folder / "outputs.npz")
        for name in expected.files:
            error = difference(made[name], expected[name])
            if isinstance(error, str):
                return {"verdict": "WRONG", "reason": f"case {case}, `{name}`: {error}"}
            errors.append((error, f"case {case}, `{name}`"))
        alive |= any(reads_its_input(expected[name]) for name in expected.files)
    worst, place = max(errors)
    if own > BOUND:
        reason = f"onnxruntime differs by {own:.1e} from itself without optimizations"
        return {"verdict": "proves nothing", "error": worst, "reason": reason}
    if worst > max(BOUND, 2 * own):
        return {"verdict": "WRONG", "error": worst, "reason": f"{place}: off by {worst:.1e} of the largest number"}
    if not alive:
        return {"verdict": "proves nothing", "error": worst, "reason": "its outputs hardly depend on its inputs"}
    return {"verdict": "equal", "error": worst}


def reads_its_input(output):
    """Whether an output differs from one sample to the next."""
    if output.ndim < 2 or len(output) < 2 or output.dtype.kind != "f" or not output.size:
        return False
    return numpy.abs(output[0].astype("f8") - output[1]).max() > ALIVE * numpy.abs(output).max()


def first_error(text):
    lines = text.splitlines() or ["nothing said"]
    first = next((at for at, line in enumerate(lines) if "error" in line or "panicked" in line), 0)
    # What is not supported stands below a line that says so.
    return " ".join(line.strip() for line in lines[first : first + 2])[:300]


def shown(rows):
    """A table for people, and as Markdown."""
    yield "| model | exporter | result | compile, s | memory, MB | difference | reason |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        error = f"{row['error']:.1e}" if "error" in row else ""
        seconds = f"{row['compile_s']:.0f}" if "compile_s" in row else ""
        yield "| " + " | ".join(map(str, (
            row["model"], row["exporter"] or "", row["verdict"], seconds, row.get("memory_mb", ""), error, row.get("reason", "")))) + " |"


def main():
    args = options()
    entries = [entry for entry in models.listed() if re.search(args.only, entry.title)]
    if args.list:
        for entry in entries:
            print(entry.title, *(f"{key}={value}" for key, value in entry.options.items()))
        return 0
    export(entries, pathlib.Path(args.folder), args.again)
    rows = []
    for entry in entries:
        rows.append(tried(args, entry))
        print(*list(shown(rows[-1:]))[2:], flush=True)
        if args.json:
            pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))
    print("\n".join(shown(rows)))
    equal = sum(row["verdict"] == "equal" for row in rows)
    wrong = [row["model"] for row in rows if row["verdict"] == "WRONG"]
    print(f"\n{equal} of {len(rows)} equal, {len(wrong)} wrong")
    return 1 if wrong or equal < BAR * len(rows) / 80 else 0


if __name__ == "__main__":
    sys.exit(main())
