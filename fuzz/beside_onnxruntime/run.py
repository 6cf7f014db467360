"""Random ONNX models, compiled and run by Sutura beside onnxruntime.

    pip install onnx onnxruntime numpy
    cargo build -p sutura
    python fuzz/beside_onnxruntime/run.py --seeds 0..500 [--sutura target/debug/sutura] [--keep FOLDER] [--ops NAMES]
    python fuzz/beside_onnxruntime/run.py --model target/findings/123.small.onnx

Each seed is a model, with the sizes and the options of the compiler that it is tried with. A finding is a result that
differs from onnxruntime's by more than rounding explains, another shape, a crash, a timeout, or an error other than
exit code 3 (unsupported) with a message. Its model is kept, and a smaller one that goes wrong in the same way. `--ops list`
names the rules that models are made by. The exit code is 1 if there was a finding.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

import onnx

import check
import models
import operators
import reduce


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0..100", metavar="A..B", help="from A on, before B")
    parser.add_argument("--sutura", default="target/debug/sutura", help="the tool")
    parser.add_argument("--model", action="append", default=[], metavar="FILE", help="models kept before, not seeds")
    parser.add_argument("--ops", help="only these rules, by name; `list` shows them")
    parser.add_argument("--most-ops", type=int, default=10, help="rules that a model is made by at most")
    parser.add_argument("--keep", default="target/findings", metavar="FOLDER", help="where models of findings go")
    parser.add_argument("--no-reduce", action="store_true", help="does not make findings smaller")
    parser.add_argument("--unsupported", action="store_true", help="shows what is unsupported")
    parser.add_argument("more", nargs="*", help="after `--`: options of the compiler for all models")
    return parser.parse_args()


def chosen(names):
    names = names.split(",") if names else None
    unknown = set(names or ()) - set(operators.RULES)
    if unknown:
        sys.exit(f"there are no rules {', '.join(sorted(unknown))}; there are {', '.join(operators.RULES)}")
    return names


def candidates(args):
    """Names and models."""
    for path in args.model:
        yield pathlib.Path(path).stem, onnx.load(path)
    if not args.model:
        first, end = map(int, args.seeds.split(".."))
        only = chosen(args.ops)
        for seed in range(first, end):
            model = models.model(seed, args.most_ops, only)
            if model is not None:
                yield str(seed), model


def report(args, name, model, outcome, checker):
    print(f"{name}: {outcome.kind}: {outcome.text}", flush=True)
    if args.model:
        return
    keep = pathlib.Path(args.keep)
    keep.mkdir(parents=True, exist_ok=True)
    onnx.save(model, keep / f"{name}.onnx")
    if not args.no_reduce:
        small = reduce.reduced(model, outcome.kind, checker)
        onnx.save(small, keep / f"{name}.small.onnx")
        print(f"    {keep / name}.small.onnx: {' '.join(n.op_type for n in small.graph.node)}", flush=True)


def main():
    args = options()
    if args.ops == "list":
        print("\n".join(operators.RULES))
        return 0
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        checker = check.Checker(pathlib.Path(args.sutura).resolve(), folder, args.more)
        for name, model in candidates(args):
            outcome = checker.check(model)
            counts[outcome.kind] += 1
            if outcome.wrong:
                report(args, name, model, outcome, checker)
            elif args.model or (args.unsupported and outcome.kind != "same"):
                print(f"{name}: {outcome.kind}: {outcome.text}", flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    return int(any(check.Outcome(kind).wrong for kind in counts))


if __name__ == "__main__":
    sys.exit(main())
