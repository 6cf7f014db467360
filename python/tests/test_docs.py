"""Every block of Python in docs/python.md and README.md runs, in order, in one folder."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import pytest
from conftest import add_sub

import sutura

REPOSITORY = pathlib.Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "python.md"
BLOCK = re.compile(r"(?:<!-- needs: (?P<need>\w+) -->\n)?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str):
    for found in BLOCK.finditer(text):
        line = text[: found.start("code")].count("\n")
        # So that errors name the line of the page.
        yield found["need"], "\n" * line + found["code"]


@pytest.fixture
def folder(tmp_path, monkeypatch, artifact):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").write_bytes(add_sub().SerializeToString())
    (tmp_path / "model.sutura").write_bytes(artifact(add_sub).read_bytes())


def test_the_page(folder, skip_unless):
    namespace: dict = {}
    lacking = set()
    ran = 0
    for need, code in blocks(PAGE.read_text(encoding="utf-8")):
        if need and importlib.util.find_spec(need) is None:
            lacking.add(need)
            continue
        exec(compile(code, str(PAGE), "exec"), namespace)
        ran += 1
    assert ran >= 7
    skip_unless(not lacking, f"{', '.join(lacking)} is not installed, and one block of docs/python.md needs it")


def test_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").write_bytes((REPOSITORY / "examples" / "mlp" / "mlp.onnx").read_bytes())
    readme = REPOSITORY / "README.md"
    code = [code for _, code in blocks(readme.read_text(encoding="utf-8"))]
    assert len(code) == 1
    namespace: dict = {}
    exec(compile(code[0], str(readme), "exec"), namespace)
    assert namespace["y"].shape == (3, 10)


def test_a_block_that_fails_is_found():
    (need, code), (other, fine) = blocks("a\n```python\n1 / 0\n```\n<!-- needs: x -->\n```python\npass\n```\n")
    assert (need, other, fine.strip()) == (None, "x", "pass")
    with pytest.raises(ZeroDivisionError):
        exec(compile(code, "page", "exec"), {})


def test_what_is_public_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", text))
    plain = {"Device", "DeviceTensor", "Dim", "Launch", "Value", "Jitted", "__version__", "Error", "Model"}
    assert not [name for name in sutura.__all__ if name not in words and name not in plain]
