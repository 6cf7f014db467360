"""Commands of the compiler that ask onnxruntime in Python."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

MODELS = pathlib.Path(__file__).parents[2] / "tools" / "sutura" / "tests" / "data" / "numerics"


def sutura(*arguments: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([os.environ["SUTURA_COMPILER"], *arguments], capture_output=True, text=True, check=False)


def numerics(name: str, *more: str) -> subprocess.CompletedProcess[str]:
    model = MODELS / f"{name}.onnx"
    return sutura("debug", "numerics", model, "--against", "onnxruntime", "--python", sys.executable, *more)


@pytest.mark.parametrize("name", ["elementwise", "reductions", "matmul", "softmax", "layernorm", "gather", "integers", "where"])
def test_right_programs_agree_with_onnxruntime(name):
    done = numerics(name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agree with onnxruntime" in done.stdout or "agrees with onnxruntime" in done.stdout


def test_nothing_compared_is_no_success():
    done = numerics("matmul_bf16")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "NumPy has no type bf16" in done.stderr and "no operation could be compared" in done.stderr


@pytest.mark.parametrize(("name", "node"), [("matmul", "n_h"), ("softmax", "n_p"), ("slices", "n_t")])
def test_a_planted_error_is_named(name, node, tmp_path):
    done = numerics(name, "--plant-error", node, "-o", str(tmp_path / "kept"))
    assert done.returncode == 8, done.stdout + done.stderr
    assert f"first wrong operation: node `{node}`" in done.stdout
    assert (tmp_path / "kept" / "op.onnx").exists()


def test_a_benchmark_has_onnxruntime_beside_it(tmp_path):
    to = tmp_path / "bench.json"
    python = ["--python", sys.executable, "--beside", "onnxruntime"]
    done = sutura("bench", MODELS / "matmul.onnx", "--dim", "a=1..2", "--seconds", "0.02", "--threads", "1", *python, "-o", to)
    assert done.returncode == 0, done.stderr
    result = json.loads(to.read_text(encoding="utf-8"))
    assert result["peer"].startswith("onnxruntime ")
    assert [row["sizes"] for row in result["rows"]] == [{"a": 1}, {"a": 2}]
    assert all(row["peer_latency_ns"]["p50"] > 0 and row["ratio"] > 0 for row in result["rows"])
