"""Compiled models, called from Python. `load` an artifact, call the `Model` with arrays; see docs/python.md."""

from __future__ import annotations

from typing import Any

from ._compile import Spec, compile
from ._errors import (
    CompileWarning,
    CopyRemark,
    CorruptError,
    Error,
    InputError,
    InternalError,
    SystemError,
    UnsupportedError,
    UsageError,
)
from ._jit import Jitted, jit
from ._native import DeviceTensor, Model, Session, __version__, devices, empty, load
from ._values import Device, Dim, Launch, Value

__all__ = [
    "CompileWarning",
    "CopyRemark",
    "CorruptError",
    "Device",
    "DeviceTensor",
    "Dim",
    "Error",
    "InputError",
    "InternalError",
    "Jitted",
    "Launch",
    "Model",
    "Session",
    "Spec",
    "SystemError",
    "UnsupportedError",
    "UsageError",
    "Value",
    "__version__",
    "compile",
    "devices",
    "empty",
    "jit",
    "load",
]


def _unpickled(artifact: bytes, settings: dict[str, Any]) -> Model:
    """The model that was pickled. Its native code runs when it is called: unpickle only what you would run."""
    return load(artifact, **settings)
