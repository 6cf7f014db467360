"""The models of `examples/`, at the sizes and with the inputs of their stored cases.

`EXAMPLES` are as the repository holds them: the networks of two sizes are narrow there, so that what a call and a kernel's start cost
decides. `FULL` have the published widths. Their scripts write them to `target/full-examples` (or the folder that the environment's
SUTURA_FULL_EXAMPLES names) when they are measured first, which takes a minute or two; a folder that is there stays. LLaMA is not among
them: compiling its 900 MB takes minutes in each round.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np

from workloads import F, I, Workload

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITTEN = pathlib.Path(os.environ.get("SUTURA_FULL_EXAMPLES", ROOT / "target" / "full-examples"))


class Example(Workload):
    """A folder with a model and a folder for each case. There is no function for the peers that read no ONNX."""

    def __init__(self, folder, inputs, script=None, **how):
        if script:
            self.write(folder, script)
        self.path = folder / f"{folder.name}.onnx"
        self.stored = {}
        for path in filter(pathlib.Path.is_dir, folder.iterdir()):
            arrays = [np.load(path / f"{name}.npy") for name, _, _ in inputs]
            case = {d: n for (_, _, dims), a in zip(inputs, arrays) for d, n in zip(dims, a.shape) if isinstance(d, str)}
            self.stored[tuple(case.items())] = arrays
        super().__init__(inputs, [dict(case) for case in sorted(self.stored)], None, None, **how)

    def write(self, folder, script):
        """All or nothing: the model would be there before its last case is."""
        if folder.is_dir():
            return
        made = folder.with_name(f"{folder.name}-{os.getpid()}")
        subprocess.run([sys.executable, script, "--size", "full", "--out", made], check=True, stdout=sys.stderr)
        made.rename(folder)

    def arrays(self, case):
        return self.stored[tuple(case.items())]

    def model(self, case=None):
        import onnx

        return onnx.load(self.path)


def example(name, inputs, called=None, full=False, **how):
    folder = ROOT / "examples" / name

    def make():
        return Example(WRITTEN / name, inputs, folder / f"make_{name}.py", **how) if full else Example(folder, inputs, **how)

    make.__name__ = called or f"{name}_{'full' if full else 'example'}"
    return make


IMAGE = [("image", F, ["batch", 3, "height", "width"])]
# Boxes lie by their scores, of which some are equal but for the last bit: even onnxruntime's optimiser swaps such.
BOXES = dict(outputs=3, any_order=True)
PROMPT = ("prompt", I, ["batch", "longest"])
TEXT = [("tokens", I, ["batch", "longest"]), ("given", I, ["batch"])]

# `encoder`, `mlp` and `cnn` have one size and keep their names.
EXAMPLES = [
    example("encoder", [("x", F, ["batch", "seq", 256]), ("mask", I, ["batch", "seq"])], "encoder"),
    example("mlp", [("x", F, ["batch", 64])], "mlp"),
    example("cnn", IMAGE, "cnn"),
    example("resnet50", IMAGE), example("mobilenet_v3", IMAGE), example("yolo", IMAGE, **BOXES),
    example("whisper", [("mel", F, ["batch", 16, "frames"]), PROMPT], outputs=3),
    # Optimising more, onnxruntime 1.32 refuses the model: it looks for the weights of a loop's body in that body.
    example("llama", TEXT, outputs=3, onnxruntime_level="ORT_ENABLE_BASIC"),
    example("llama_ort", TEXT, outputs=3),
]

FULL = [example("resnet50", IMAGE, full=True), example("mobilenet_v3", IMAGE, full=True), example("yolo", IMAGE, full=True, **BOXES),
        example("whisper", [("mel", F, ["batch", 80, "frames"]), PROMPT], full=True, outputs=3)]
