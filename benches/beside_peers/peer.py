"""One peer on one workload: a JSON line per case. `run.py` starts it in the peer's own environment.

    python peer.py PEER WORKLOAD --threads 1 --seconds 0.5 --folder DIR [--sutura target/release]
                   [--old OTHER/target/release --pairs 3]

With `--old`, the peer is sutura: two builds run in turns in one process, on the same buffers, and a line has each pair's
times.
"""

import argparse
import ctypes
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("peer")
parser.add_argument("workload")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seconds", type=float, default=0.5)
parser.add_argument("--folder", required=True, help="for models and for the outputs that are compared")
parser.add_argument("--sutura", default="target/release", help="folder of the tool and of libsutura_rt.so")
parser.add_argument("--old", help="folder of another build of sutura to run beside it")
parser.add_argument("--pairs", type=int, default=3, help="with --old: how often each build is timed")
ARGS = parser.parse_args()
for name in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC"]:
    os.environ[name] = str(ARGS.threads)
if ARGS.threads == 1:
    os.sched_setaffinity(0, {os.cpu_count() - 1})

import numpy as np  # noqa: E402  (after the number of threads is set)

import workloads  # noqa: E402

WORK = workloads.made(ARGS.workload)
FOLDER = pathlib.Path(ARGS.folder)
MODEL = FOLDER / f"{ARGS.workload}.onnx"


def aligned(shape, dtype):
    """An array on a boundary of 64 bytes: where it lies decides half of the speed of short copies."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start:start + size].view(dtype).reshape(shape)


def placed(arrays):
    moved = [aligned(a.shape, a.dtype) for a in arrays]
    for to, a in zip(moved, arrays):
        to[...] = a
    return moved


class Onnxruntime:
    def __init__(self):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = ARGS.threads, 1
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, WORK.onnxruntime_level)
        self.ort, self.version = onnxruntime, onnxruntime.__version__
        self.session = onnxruntime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])

    def bind(self, case, arrays):
        names = [i.name for i in self.session.get_inputs()]
        binding = self.session.io_binding()
        values = [self.ort.OrtValue.ortvalue_from_numpy(a) for a in arrays]
        for name, value in zip(names, values):
            binding.bind_ortvalue_input(name, value)
        results = self.session.run(None, dict(zip(names, arrays)))
        made = [self.ort.OrtValue.ortvalue_from_numpy(np.zeros_like(r)) for r in results]
        for output, value in zip(self.session.get_outputs(), made):
            binding.bind_ortvalue_output(output.name, value)
        return lambda: self.session.run_with_iobinding(binding), lambda: [m.numpy() for m in made]


class OpenVino:
    def __init__(self):
        import openvino

        self.ov, self.version = openvino, openvino.__version__
        config = {"INFERENCE_NUM_THREADS": ARGS.threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
                  "INFERENCE_PRECISION_HINT": "bf16" if "--precision=bf16" in WORK.flags else "f32"}
        core = openvino.Core()
        self.model = core.compile_model(core.read_model(str(MODEL)), "CPU", config)

    def bind(self, case, arrays):
        request = self.model.create_infer_request()
        for i, array in enumerate(arrays):
            request.set_input_tensor(i, self.ov.Tensor(array, shared_memory=True))
        run = lambda: request.infer(None, share_outputs=True)  # noqa: E731
        return run, lambda: [np.array(request.get_output_tensor(i).data) for i in range(WORK.outputs)]


class Numpyish:
    """What torch and jax call differently from numpy."""

    def __init__(self, module, **others):
        self.module, self.others = module, others

    def __getattr__(self, name):
        return self.others[name] if name in self.others else getattr(self.module, name)


def torch_names():
    import torch
    import torch.nn.functional as nn

    xp = Numpyish(torch, softmax=nn.softmax, log_softmax=nn.log_softmax, permute_dims=torch.permute,
                  concatenate=torch.cat, gelu=lambda x: nn.gelu(x, approximate="tanh"),
                  take_along_axis=lambda x, i, axis: torch.gather(x, axis, i))
    return torch, xp


class Torch:
    compiled = False

    def __init__(self):
        torch, xp = torch_names()
        torch.set_num_threads(ARGS.threads)
        torch.set_grad_enabled(False)
        self.torch, self.version = torch, torch.__version__
        constants = [torch.from_numpy(c) for c in WORK.constants.values()]
        function = (lambda *xs: torch.nn.functional.layer_norm(xs[0], (768,), *constants)) \
            if ARGS.workload == "layernorm" and not self.compiled else (lambda *xs: WORK.function(xp, *xs, *constants))
        self.function = torch.compile(function, dynamic=True) if self.compiled else function

    def bind(self, case, arrays):
        inputs, box = [self.torch.from_numpy(a) for a in arrays], [None]

        def run():
            box[0] = self.function(*inputs)

        return run, lambda: [t.numpy() for t in (box[0] if isinstance(box[0], tuple) else box)]


class TorchCompile(Torch):
    compiled = True


class Jax:
    """Compiled for each case: XLA has no dynamic dims."""

    def __init__(self):
        import jax

        self.jax, self.version = jax, jax.__version__
        jax.config.update("jax_enable_x64", True)

    def bind(self, case, arrays):
        jax, jnp = self.jax, self.jax.numpy
        xp = Numpyish(jnp, softmax=jax.nn.softmax, log_softmax=jax.nn.log_softmax, gelu=jax.nn.gelu,
                      sigmoid=jax.nn.sigmoid)
        constants = [jnp.asarray(c) for c in WORK.constants.values()]
        compiled = jax.jit(lambda *xs: WORK.function(xp, *xs))
        inputs, box = [jnp.asarray(a) for a in arrays] + constants, [None]

        def run():
            box[0] = jax.block_until_ready(compiled(*inputs))

        return run, lambda: [np.asarray(y) for y in (box[0] if isinstance(box[0], tuple) else box)]


class Tensor(ctypes.Structure):
    _fields_ = [("element_type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p)]


class Value(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("element_type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64))]


class Sutura:
    KINDS = {np.dtype(np.bool_): 0, np.dtype(np.int64): 7, np.dtype(np.float32): 13}
    TYPES = {number: dtype for dtype, number in KINDS.items()}

    def __init__(self, folder=None):
        tool = pathlib.Path(folder or ARGS.sutura).resolve()
        artifact = FOLDER / f"{ARGS.workload}{'-old' if folder else ''}.sutura"
        subprocess.run([tool / "sutura", "compile", MODEL, "-o", artifact, "--quiet", *WORK.flags], check=True)
        self.library = ctypes.CDLL(tool / "libsutura_rt.so")
        self.library.sutura_version.restype = self.library.sutura_last_error.restype = ctypes.c_char_p
        self.version, self.model = self.library.sutura_version().decode(), ctypes.c_void_p()
        self.check(self.library.sutura_model_open(str(artifact).encode(), ARGS.threads, ctypes.byref(self.model)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.sutura_last_error().decode())

    def tensors(self, arrays):
        made = (Tensor * len(arrays))()
        self.keep = getattr(self, "keep", [])
        for tensor, a in zip(made, arrays):
            dims = (ctypes.c_int64 * a.ndim)(*a.shape)
            self.keep += [dims, a]
            tensor.element_type, tensor.rank, tensor.dims = self.KINDS[a.dtype], a.ndim, dims
            tensor.data = a.ctypes.data
        return made

    def bind(self, case, arrays, results=None):
        inputs, made = self.tensors(arrays), []
        for i in range(WORK.outputs):
            value = Value()
            self.check(self.library.sutura_model_output(self.model, i, ctypes.byref(value)))
            dims = (ctypes.c_int64 * value.rank)()
            self.check(self.library.sutura_model_output_dims(self.model, inputs, len(arrays), i, dims))
            made.append(aligned(list(dims), self.TYPES[value.element_type]))
        self.buffers = results = results or made
        outputs, ranks = self.tensors(results), [r.ndim for r in results]
        run, model, n, m = self.library.sutura_model_run_dims, self.model, len(arrays), len(results)
        found = (ctypes.c_int64 * sum(ranks))()
        self.check(run(model, inputs, n, outputs, m, found))
        ends = np.cumsum([0, *ranks])
        dims = [tuple(found[a:b]) for a, b in zip(ends, ends[1:])]
        if dims == [r.shape for r in results]:
            run = self.library.sutura_model_run
            return lambda: run(model, inputs, n, outputs, m), lambda: results
        # The data decide dims, so that results are at the front of buffers of the most that they may take.
        front = [r.reshape(-1)[:math.prod(d)].reshape(d) for r, d in zip(results, dims)]
        return lambda: run(model, inputs, n, outputs, m, found), lambda: front


PEERS = {"sutura": Sutura, "onnxruntime": Onnxruntime, "openvino": OpenVino, "torch": Torch, "torchc": TorchCompile,
         "xla": Jax}


def calls_per_sample(run):
    """How often to call, so that a sample is at least 0.4 ms long."""
    run()
    start, calls = time.perf_counter(), 0
    while calls < 1 or time.perf_counter() - start < ARGS.seconds / 5:
        run()
        calls += 1
    return max(1, int(400e-6 / ((time.perf_counter() - start) / calls)))


def measure(run, many=None):
    """Median and least seconds of a call."""
    many = many or calls_per_sample(run)
    samples, end = [], time.perf_counter() + ARGS.seconds
    while len(samples) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(many):
            run()
        samples.append((time.perf_counter() - start) / many)
    return float(np.median(samples)), float(np.min(samples))


def gap(result, expected):
    if result.size != expected.size:
        return math.inf
    if WORK.any_order:
        result, expected = np.sort(result, axis=0), np.sort(expected, axis=0)
    return np.abs(result.reshape(expected.shape) - expected).max(initial=0) / max(np.abs(expected).max(initial=0), 1e-30)


def difference(case, results):
    """The largest difference from onnxruntime's outputs, by the largest number of each."""
    worst = None
    for i, result in enumerate(results):
        path = FOLDER / f"{ARGS.workload}-{'-'.join(map(str, case.values()))}-{i}.npy"
        if ARGS.peer == "onnxruntime":
            np.save(path, result)
        elif path.exists():
            worst = float(np.max([worst or 0.0, gap(result, np.load(path))]))  # NaN where either is.
    return worst


def pairs():
    """Two builds of sutura in turns; which one begins changes from pair to pair."""
    new, old = Sutura(), Sutura(ARGS.old)
    for case in WORK.cases:
        arrays = placed(WORK.arrays(case))
        run_new, results = new.bind(case, arrays)
        expected = [r.copy() for r in results()]
        run_old, _ = old.bind(case, arrays, new.buffers)
        same = all(np.allclose(a, b, rtol=1e-3, atol=1e-5) for a, b in zip(results(), expected))
        many, times = max(calls_per_sample(run_new), calls_per_sample(run_old)), dict(new=[], old=[])
        for i in range(ARGS.pairs):
            order = [("new", run_new), ("old", run_old)]
            for name, run in order if i % 2 else order[::-1]:
                times[name].append(measure(run, many)[0])
        print(json.dumps(dict(workload=ARGS.workload, case=case, threads=ARGS.threads, same=same, **times)), flush=True)


def main():
    if ARGS.old:
        return pairs()
    start, before = time.perf_counter(), os.times()
    if WORK.function is None and ARGS.peer in ("torch", "torchc", "xla"):
        sys.exit(f"{ARGS.workload} is written as an ONNX model only, which {ARGS.peer} does not read")
    peer = PEERS[ARGS.peer]()
    after = os.times()
    used = sum(after[:4]) - sum(before[:4])
    for case in WORK.cases:
        arrays = placed(WORK.arrays(case))
        run, results = peer.bind(case, arrays)
        median, least = measure(run)
        line = dict(peer=ARGS.peer, version=peer.version, workload=ARGS.workload, case=case, threads=ARGS.threads,
                    median=median, least=least, difference=difference(case, results()), compile_cpu=used,
                    operations=WORK.operations(case),
                    compile_wall=time.perf_counter() - start,
                    children_mb=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
