"""Exports one network of the list with its cases: `export.py FOLDER PACKAGE/NAME…`, all in one process that forks."""

import json
import multiprocessing
import os
import pathlib
import sys
import time
import traceback

import numpy
import onnxruntime
import torch

import compare
import models

# LSTMs and windows of attention take some minutes to export.
SECONDS = 1800


def exported(entry, folder):
    """Writes `model.onnx`, `inputs_N.npz` and `expected_N.npz`; gives the name of the exporter: that of torch.export, or TorchScript's where
    it fails, or onnxruntime does not run what it makes; and by how much onnxruntime differs from itself."""
    network = models.network(entry)
    for case in models.cases():
        tensors = models.inputs(entry, case)
        numpy.savez(folder / f"inputs_{case}.npz", **named(entry, tensors))
    tensors = models.inputs(entry, 0)
    try:
        by_torch_export(entry, network, tensors, folder / "model.onnx")
        return {"exporter": "torch.export", "own": expect(folder)}
    except Exception:
        (folder / "torch.export.txt").write_text(traceback.format_exc())
    by_torch_script(entry, network, tensors, folder / "model.onnx")
    return {"exporter": "TorchScript", "own": expect(folder)}


def named(entry, tensors):
    return {field: tensor.numpy() for (field, _), tensor in zip(models.fields(entry), tensors)}


def expect(folder):
    """What onnxruntime computes; how far that is from what it computes without optimizations."""
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session, other = (
        onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        for options in [onnxruntime.SessionOptions(), plain]
    )
    names, own = [output.name for output in session.get_outputs()], 0.0
    for case in models.cases():
        given = dict(numpy.load(folder / f"inputs_{case}.npz"))
        given = {item.name: given[item.name] for item in session.get_inputs()}
        results = session.run(names, given)
        numpy.savez(folder / f"expected_{case}.npz", **dict(zip(names, results)))
        differences = map(compare.difference, other.run(names, given), results)
        own = max([own, *(found if isinstance(found, float) else numpy.inf for found in differences)])
    return own


def by_torch_export(entry, network, tensors, path):
    open_dims, names = models.dynamic(entry), [field for field, _ in models.fields(entry)]
    symbols = {name: torch.export.Dim.DYNAMIC for name in open_dims}
    shapes = tuple({axis: symbols[dim] for axis, dim in enumerate(dims) if dim in open_dims} for _, dims in models.fields(entry))
    program = torch.onnx.export(network, tuple(tensors), dynamo=True, dynamic_shapes=(shapes,), input_names=names, verbose=False)
    program.save(path)


def by_torch_script(entry, network, tensors, path):
    # Weights beside a model of the other exporter are none of this one's.
    for file in path.parent.glob("model.onnx*"):
        file.unlink()
    open_dims, names = models.dynamic(entry), [field for field, _ in models.fields(entry)]
    axes = {field: {axis: dim for axis, dim in enumerate(dims) if dim in open_dims} for field, dims in models.fields(entry)}
    torch.onnx.export(network, tuple(tensors), path, dynamo=False, dynamic_axes=axes, input_names=names, opset_version=18)


def worker(entry, folder):
    torch.set_num_threads(int(os.environ.get("ZOO_THREADS", "1")))
    start = time.monotonic()
    with open(folder / "export.log", "w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            told = exported(entry, folder)
        except BaseException as error:
            traceback.print_exc()
            told = {"failed": f"{type(error).__name__}: {error}".split("\n")[0][:300]}
        told["options"] = entry.options
        told["seconds"] = round(time.monotonic() - start, 1)
        (folder / "export.json").write_text(json.dumps(told))
    os._exit(0)


def main():
    root, titles = pathlib.Path(sys.argv[1]), sys.argv[2:]
    import timm, torchvision, transformers  # noqa: E401,F401 - once, before the processes part

    entries = {entry.title: entry for entry in models.listed()}
    for entry in map(entries.__getitem__, titles):
        folder = root / entry.file
        folder.mkdir(parents=True, exist_ok=True)
        process = multiprocessing.get_context("fork").Process(target=worker, args=(entry, folder))
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        told = folder / "export.json"
        if not told.exists():
            told.write_text(json.dumps({"failed": f"the exporter was stopped or did not end in {SECONDS} s", "seconds": SECONDS, "options": entry.options}))
        print(entry.title, told.read_text(), flush=True)


if __name__ == "__main__":
    main()
