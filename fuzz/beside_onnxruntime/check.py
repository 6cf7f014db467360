"""One model: compiled, run at each of its sizes, and compared with onnxruntime's results."""

import dataclasses
import json
import pathlib
import random
import re
import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime

from graph import ARRAYS

SECONDS = 300
TOLERANCE = 3e-5
UNSUPPORTED = 3
# What a message of something unsupported must not be: a word with no place, name or hint in it.
LEAST_MESSAGE = 30


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`kind` is "same", "unsupported", "skipped" (onnxruntime does not run it), or what is wrong."""

    kind: str
    text: str = ""

    @property
    def wrong(self):
        return self.kind not in ("same", "unsupported", "skipped")


def properties(model):
    return {p.key: p.value for p in model.metadata_props}


def reference(path):
    """Without optimisations: what each node says, and nothing else."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def arrays(model, known, setting, seed):
    """Inputs within the bounds that the model's notes state."""
    numbers, made = np.random.default_rng(seed), {}
    for value in model.graph.input:
        kind, shape, low, high, _ = known[value.name]
        shape = [setting.get(d, d) for d in shape]
        if kind in "fdh":
            array = numbers.standard_normal(shape).clip(low, high)
        elif kind == "b":
            array = numbers.random(shape) < 0.5
        else:
            array = numbers.integers(int(low), int(high) + 1, shape)
        made[value.name] = array.astype(ARRAYS[kind])
    return made


def difference(result, expected, error):
    """What is wrong with a result, or None."""
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"is {result.dtype}{list(result.shape)}, not {expected.dtype}{list(expected.shape)}"
    if not np.issubdtype(expected.dtype, np.floating):
        wrong = np.argwhere(result != expected)
        return f"{len(wrong)} of {result.size} differ, first at {wrong[0].tolist()}" if len(wrong) else None
    finite = np.isfinite(expected)
    if not np.array_equal(result[~finite], expected[~finite], equal_nan=True) or not np.isfinite(result[finite]).all():
        return "infinities or NaN are elsewhere"
    if not finite.any():
        return None
    gaps = np.where(finite, np.abs(result.astype(np.float64) - np.where(finite, expected, 0)), 0)
    largest = np.abs(expected[finite]).max()
    allowed = TOLERANCE * max(largest, 1e-3) + error + 1e-6
    if gaps.max() <= allowed:
        return None
    at = np.unravel_index(gaps.argmax(), gaps.shape)
    place = list(map(int, at))
    return f"{(gaps > allowed).sum()} of {gaps.size} differ, most at {place}: {result[at]}, not {expected[at]}"


def crashed(done):
    return done.returncode not in (0, 1, 2, 3, 4, 5) or "panicked" in done.stderr


def last(text, characters=900):
    return re.sub(r"\n+", "\n", text[-characters:])


class Checker:
    def __init__(self, sutura, folder, more=()):
        self.sutura, self.folder, self.more = sutura, pathlib.Path(folder), list(more)
        self.folder.mkdir(parents=True, exist_ok=True)

    def call(self, *arguments):
        # In the folder, since a crash writes files where it happens.
        return subprocess.run([self.sutura, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS,
                              cwd=self.folder)

    def check(self, model):
        path, artifact = self.folder / "model.onnx", self.folder / "model.sutura"
        try:
            onnx.checker.check_model(model)
            onnx.save(model, path)
            session = reference(path)
        except Exception as reason:  # noqa: BLE001  (of any class: whatever stops the reference says nothing about us)
            return Outcome("skipped", str(reason)[:300])
        notes = properties(model)
        try:
            options = self.without_target(json.loads(notes["options"]))
            done = self.call("compile", path, "-o", artifact, "--quiet", *options, *self.more)
            if done.returncode == UNSUPPORTED and not crashed(done):
                clear = len(done.stderr) >= LEAST_MESSAGE
                return Outcome("unsupported" if clear else "unclear message", last(done.stderr))
            if done.returncode != 0:
                return Outcome(f"compile exits with {done.returncode}", last(done.stderr))
            return self.runs(model, session, artifact, notes)
        except subprocess.TimeoutExpired as reason:
            return Outcome("timeout", str(reason)[:300])

    def without_target(self, options):
        """The options of a model; one target for all models takes the place of its own."""
        if "--target" not in self.more:
            return options
        at = options.index("--target") if "--target" in options else len(options)
        return options[:at] + options[at + 2:]

    def runs(self, model, session, artifact, notes):
        known, seed = json.loads(notes["values"]), int(notes["seed"])
        threads, compared = random.Random(seed), 0
        for setting in json.loads(notes["sizes"]):
            given = arrays(model, known, setting, seed)
            here = f"with {', '.join(f'{n}={v}' for n, v in setting.items())}"
            try:
                expected = session.run(None, given)
            except Exception as reason:  # noqa: BLE001
                expected = str(reason)
            results = self.run(artifact, given, threads.choice([1, 2]))
            if isinstance(expected, str):
                # Sutura may do more than onnxruntime, but must say what it does not do.
                if isinstance(results, Outcome) and results.kind == "run crashes":
                    return Outcome(results.kind, f"{here}: {results.text}")
                continue
            if isinstance(results, Outcome):
                return Outcome(results.kind, f"{here}: {results.text}")
            for value, right in zip(model.graph.output, expected):
                wrong = difference(results[value.name], right, known[value.name][4])
                if wrong:
                    return Outcome("differs", f"{here}: {value.name}: {wrong}")
            compared += 1
        return Outcome("same") if compared else Outcome("skipped", "onnxruntime runs it at no size")

    def run(self, artifact, given, threads):
        """The outputs by name, or what went wrong."""
        arguments = []
        for name, array in given.items():
            np.save(self.folder / f"{name}.npy", np.ascontiguousarray(array).reshape(array.shape))
            arguments += ["-i", f"{name}=@{self.folder / f'{name}.npy'}"]
        made = self.folder / "outputs"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        done = self.call("run", artifact, *arguments, "-o", made, "--threads", threads, "--quiet")
        if done.returncode != 0:
            kind = "run crashes" if crashed(done) else f"run exits with {done.returncode}"
            return Outcome(kind, last(done.stderr))
        return {p.stem: np.load(p) for p in made.glob("*.npy")}
