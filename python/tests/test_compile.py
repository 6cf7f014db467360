"""`sutura.compile` and `sutura.jit`: what they take, what they say, how they end."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import signal
import stat
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import pytest
from conftest import helper, model, relu, value

import sutura

X = np.array([[-1.0, 2.0]], "float32")


def test_sources(tmp_path):
    proto = relu()
    file = tmp_path / "--strange name.onnx"
    file.write_bytes(proto.SerializeToString())
    for source in (file, str(file), proto.SerializeToString(), proto):
        np.testing.assert_array_equal(sutura.compile(source)(X), np.maximum(X, 0))
    text = "graph.func @f(%x : tensor<?xf32>) -> tensor<?xf32> { nonsense }"
    with pytest.raises(sutura.InputError) as raised:
        sutura.compile(text.encode())
    assert raised.value.code == 1 and raised.value.diagnostics[0]["level"] == "error"
    assert "nonsense" in str(raised.value) or "graph.func" in str(raised.value)


def test_settings(tmp_path):
    path = tmp_path / "out.sutura"
    assert sutura.compile(relu(), dims={"rows": "1..8", "cols": (2, 4)}, output=path) == path
    loaded = sutura.load(path)
    assert (loaded.dims["rows"].max, loaded.dims["cols"].min) == (8, 2)
    with pytest.raises(sutura.InputError, match="out of range") as raised:
        loaded(np.ones((9, 2), "float32"))
    assert raised.value.dim == "rows"
    assert sutura.compile(relu(), dims={"rows": 3}, threads=1, fast_math=["reassoc", "nsz"]).threads == 1
    for wrong in (
        lambda: sutura.compile(7),
        lambda: sutura.compile(relu(), args=[X]),
        lambda: sutura.compile(lambda x: x),
        lambda: sutura.compile(relu(), dims={"rows": 1.5}),
        lambda: sutura.compile(relu(), dims={"rows": "5..1"}),
        lambda: sutura.compile(relu(), dims={"no-such": 5}),
        lambda: sutura.compile(relu(), target="no-such"),
        lambda: sutura.compile(relu(), fast_math="no-such"),
        lambda: sutura.compile(relu(), precision="f8"),
        lambda: sutura.compile(relu(), precision=""),
        lambda: sutura.compile(relu(), flags=["--no-such"]),
        lambda: sutura.compile(relu(), output=path, threads=2),
    ):
        with pytest.raises(sutura.UsageError):
            wrong()
    with pytest.raises(sutura.SystemError):
        sutura.compile(relu(), output=tmp_path / "missing" / "out.sutura")
    with pytest.raises(sutura.Error):
        sutura.compile(tmp_path / "missing.onnx")


def test_schedules(tmp_path):
    model, file = tmp_path / "relu.onnx", tmp_path / "schedules.mlir"
    model.write_bytes(relu().SerializeToString())
    sutura._compiler.run(["compile", "--emit=schedule", f"--output={file}", str(model)])
    np.testing.assert_array_equal(sutura.compile(model, schedule=file)(X), np.maximum(X, 0))
    file.write_text("module {}")
    with pytest.raises(sutura.InputError, match="for no region"):
        sutura.compile(model, schedule=file)


def product() -> onnx.ModelProto:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    return model(nodes, [value("x", ["rows", 64]), value("w", [64, 48])], [value("y", ["rows", 48])], name="product")


def test_precision():
    random = np.random.default_rng(3)
    x, w = (random.uniform(-1, 1, shape).astype("float32") for shape in ((5, 64), (64, 48)))
    default, full, rounded = (sutura.compile(product(), precision=name)(x, w) for name in (None, "full", "bf16"))
    np.testing.assert_array_equal(default, full)
    np.testing.assert_allclose(full, x @ w, rtol=0, atol=1e-5)
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists() and "avx512_bf16" in cpuinfo.read_text():
        assert np.abs(rounded - full).max() > 1e-4
        # Of the sum of the magnitudes of terms.
        assert (np.abs(rounded - full) <= 2.0**-7 * (np.abs(x) @ np.abs(w))).all()
    else:
        np.testing.assert_array_equal(rounded, full)
    with pytest.raises(sutura.UsageError, match="invalid value 'f8' for '--precision <PRECISION>'"):
        sutura.compile(product(), precision="f8")


def test_what_is_not_supported_says_so():
    proto = model([helper.make_node("NoSuchOp", ["x"], ["y"])], [value("x", [2])], [value("y", [2])])
    with pytest.raises(sutura.Error) as raised:
        sutura.compile(proto)
    assert raised.value.code in (1, 3) and "NoSuchOp" in str(raised.value)


def program(folder: pathlib.Path, text: str) -> str:
    file = folder / "compiler"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("kill -SEGV $$", sutura.InternalError, "ended by signal 11"),
        ("echo 'LLVM ERROR: planted' >&2; exit 70", sutura.InternalError, "LLVM ERROR: planted"),
        ("exit 3", sutura.UnsupportedError, "ended with code 3"),
        ("exit 99", sutura.Error, "ended with code 99"),
        ("exit 130", KeyboardInterrupt, "^$"),
        ("printf '\\377 {broken' >&2; exit 1", sutura.InputError, "broken"),
    ],
)
def test_a_compiler_that_crashes_does_not_end_python(tmp_path, monkeypatch, text, error, words):
    monkeypatch.setenv("SUTURA_COMPILER", program(tmp_path, text))
    with pytest.raises(error, match=words):
        sutura.compile(relu(), output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_warnings_of_the_compiler_are_warnings(tmp_path, monkeypatch):
    said = 'echo \'{"level":"warning","message":"planted"}\' >&2'
    monkeypatch.setenv("SUTURA_COMPILER", program(tmp_path, said))
    with pytest.warns(sutura.CompileWarning, match="planted"):
        sutura.compile(relu(), output=tmp_path / "out")


def test_a_compiler_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("SUTURA_COMPILER", str(tmp_path))
    with pytest.raises(sutura.UnsupportedError, match="which is no program"):
        sutura.compile(relu())
    monkeypatch.delenv("SUTURA_COMPILER")
    if importlib.util.find_spec("sutura_compiler") is None:
        with pytest.raises(sutura.UnsupportedError, match="pip install sutura-compiler"):
            sutura.compile(relu())


def test_control_c_ends_the_compiler(tmp_path, monkeypatch):
    mark = tmp_path / "ended"
    text = f"trap 'echo > {mark}; exit 130' TERM\nwhile true; do sleep 0.05; done"
    monkeypatch.setenv("SUTURA_COMPILER", program(tmp_path, text))
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        sutura.compile(relu(), output=tmp_path / "out")
    assert mark.exists()


@pytest.fixture
def exporter(skip_unless):
    skip_unless(importlib.util.find_spec("jax2onnx") is not None, "jax2onnx is not installed")


def layer(weights, x):
    return {"y": jnp.tanh(x @ weights["w"] + weights["b"]), "sums": [x.sum(axis=0)]}


def test_jit_compiles_once_for_all_sizes(exporter):
    jitted = sutura.jit(layer)
    weights = {"w": jnp.linspace(-1, 1, 24).reshape(8, 3), "b": jnp.arange(3.0)}
    for rows in (5, 7, 3, 8, 1, 64):
        x = jnp.asarray(np.random.default_rng(rows).normal(size=(rows, 8)), "float32")
        result, wanted = jitted(weights, x), layer(weights, x)
        assert jax.tree_util.tree_structure(result) == jax.tree_util.tree_structure(wanted)
        for got, reference in zip(jax.tree_util.tree_leaves(result), jax.tree_util.tree_leaves(wanted)):
            assert isinstance(got, jax.Array)
            np.testing.assert_allclose(got, reference, rtol=2e-5, atol=2e-5)
    # One for open sizes, one for the size 1. That 3 rows are as many as `w` has columns makes no difference.
    assert jitted.compilations == 2
    # Sizes that were equal at first are not now.
    product = sutura.jit(lambda x, y: x @ y)
    square, tall = jnp.ones((4, 4)), jnp.ones((6, 4))
    np.testing.assert_array_equal(product(square, square), square @ square)
    np.testing.assert_array_equal(product(tall, square), tall @ square)
    np.testing.assert_array_equal(product(jnp.ones((7, 5)), jnp.ones((5, 9))), np.full((7, 9), 5))
    assert product.compilations == 3
    assert jitted.__name__ == "layer"


def test_jit_with_fixed_sizes(exporter):
    with pytest.raises(sutura.UnsupportedError, match="fixed_sizes=True"):
        sutura.jit(jnp.sort)(jnp.ones(3))
    sort = sutura.jit(jnp.sort, fixed_sizes=True)
    for x in ([3.0, 1.0, 2.0], [1.0, 0.0, 5.0], [2.0, 1.0]):
        np.testing.assert_array_equal(sort(jnp.asarray(x)), np.sort(x))
    assert sort.compilations == 2


def test_a_function_with_named_sizes(exporter):
    loaded = sutura.compile(
        lambda x, w: jnp.maximum(x @ w, 0),
        args=[sutura.Spec(("batch", "k")), sutura.Spec(("k", 4))],
        dims={"batch": "1..64"},
    )
    assert loaded.dims["batch"].max == 64
    x, w = np.ones((3, 5), "float32"), np.full((5, 4), -1, "float32")
    np.testing.assert_array_equal(loaded(x, w), np.zeros((3, 4)))
    assert isinstance(loaded(jnp.asarray(x), w), jax.Array)


def test_what_cannot_be_exported_is_named(exporter):
    with pytest.raises(sutura.UnsupportedError, match="jax2onnx cannot export"):
        sutura.jit(lambda x: jax.lax.linalg.eigh(x))(jnp.eye(3))
    with pytest.raises(sutura.UsageError, match="is an array or a sutura.Spec"):
        sutura.compile(lambda x: x, args=[3])
    with pytest.raises(sutura.UsageError, match="neither a number nor a name"):
        sutura.compile(lambda x: x, args=[sutura.Spec(("not a name",))])


def test_without_an_exporter_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax2onnx", None)
    with pytest.raises(sutura.UnsupportedError, match="pip install jax2onnx"):
        sutura.jit(lambda x: x)(jnp.ones(2))


def test_a_module_of_torch(skip_unless):
    there = all(importlib.util.find_spec(name) for name in ("torch", "onnxscript"))
    skip_unless(there, "torch and onnxscript are not installed")
    import torch

    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    loaded = sutura.compile(module, args=[sutura.Spec(("batch", 4))])
    for rows in (1, 5):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(loaded(x), module(x).detach())
