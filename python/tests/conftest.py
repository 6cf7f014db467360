"""Models for the tests: made with onnx, compiled once for all tests that use them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import sutura

FLOAT = TensorProto.FLOAT

# A process that was started in the background may ignore this signal, and so would its tests and what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def value(name: str, shape: list[str | int], element: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def model(nodes: list, inputs: list, outputs: list, weights: list | None = None, name: str = "model", opset: int = 22):
    graph = helper.make_graph(nodes, name, inputs, outputs, weights or [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def add_sub() -> onnx.ModelProto:
    """Two inputs, two outputs."""
    nodes = [helper.make_node("Add", ["x", "y"], ["sum"]), helper.make_node("Sub", ["x", "y"], ["difference"])]
    sides = [value(name, ["rows", "cols"]) for name in ("x", "y", "sum", "difference")]
    return model(nodes, sides[:2], sides[2:], name="add_sub")


def relu() -> onnx.ModelProto:
    shape = ["rows", "cols"]
    return model([helper.make_node("Relu", ["x"], ["y"])], [value("x", shape)], [value("y", shape)], name="relu")


def transposes(*elements: int) -> onnx.ModelProto:
    """Matrices of any element types go in, `x0` and so on, and come out transposed."""
    each = range(len(elements))
    nodes = [helper.make_node("Transpose", [f"x{at}"], [f"y{at}"], perm=[1, 0]) for at in each]
    inputs = [value(f"x{at}", ["n", "m"], elements[at]) for at in each]
    outputs = [value(f"y{at}", ["m", "n"], elements[at]) for at in each]
    return model(nodes, inputs, outputs, opset=25)


def gather() -> onnx.ModelProto:
    nodes = [helper.make_node("Gather", ["x", "at"], ["y"], name="/pick")]
    inputs = [value("x", ["n", 4]), value("at", ["k"], TensorProto.INT64)]
    return model(nodes, inputs, [value("y", ["k", 4])], name="gather")


def decided() -> onnx.ModelProto:
    nodes = [helper.make_node("NonZero", ["x"], ["at"])]
    return model(nodes, [value("x", ["n"])], [value("at", [1, "found"], TensorProto.INT64)], name="decided")


def long_run() -> onnx.ModelProto:
    """A loop of products, as many as the data say."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["a", "w"], ["product"]),
            helper.make_node("Tanh", ["product"], ["next"]),
            helper.make_node("Identity", ["go"], ["go_on"]),
        ],
        "body",
        [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("a", ["n", "n"])],
        [value("go_on", [], TensorProto.BOOL), value("next", ["n", "n"])],
    )
    nodes = [helper.make_node("Loop", ["times", "", "w"], ["y"], body=body)]
    inputs = [value("times", [], TensorProto.INT64), value("w", ["n", "n"])]
    return model(nodes, inputs, [value("y", ["n", "n"])], name="long_run")


@pytest.fixture(scope="session")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The artifact of a function that makes a model; compiled at its first use."""
    folder = tmp_path_factory.mktemp("artifacts")
    made: dict[tuple, Path] = {}

    def of(make: Callable[..., onnx.ModelProto], *arguments: object, **settings: object) -> Path:
        key = (make, arguments, tuple(sorted(settings.items())))
        if key not in made:
            made[key] = sutura.compile(make(*arguments), output=folder / f"{len(made)}.sutura", **settings)
        return made[key]

    return of


@pytest.fixture
def skip_unless(request: pytest.FixtureRequest) -> Callable[[bool, str], None]:
    """Skips a test that lacks something, and notes it where `cargo xtask test` counts skips."""

    def unless(there: bool, why: str) -> None:
        if there:
            return
        if notes := os.environ.get("SUTURA_SKIPS"):
            with open(notes, "a", encoding="utf-8") as file:
                file.write(f"pytest\t{request.node.nodeid}\t{why}\n")
        pytest.skip(why)

    return unless
