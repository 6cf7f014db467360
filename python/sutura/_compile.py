"""`sutura.compile`: a model of ONNX, jax or torch, compiled."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import _compiler
from ._errors import UsageError
from ._native import Model, load


class Spec(NamedTuple):
    """What an argument of a function is: sizes, some of them by name, and a dtype. A name stands for one size wherever it is."""

    shape: tuple[int | str, ...]
    dtype: Any = "float32"


def compile(  # noqa: A001
    model: Any,
    *,
    args: Sequence[Any] | None = None,
    dims: Mapping[str, str | int | tuple[int, int]] | None = None,
    target: str | Sequence[str] | None = None,
    fast_math: bool | str | Sequence[str] = False,
    precision: str | None = None,
    schedule: str | os.PathLike[str] | None = None,
    flags: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    device: str | None = None,
) -> Any:
    """Compiles a model: a path or the bytes of an ONNX model or of IR text, an `onnx.ModelProto`, a jax function, or a
    `torch.nn.Module`. Returns the `Model`, or the path `output` where that is given.

    `args`: of a function or module, what it is called with: arrays, whose sizes are fixed then, or `Spec`s.
    `dims`: what a named size may be: `"1..512"`, `"8..512:8"` (multiples of 8), `(1, 512)`, or one number.
    `target`: what code is for, as `sutura target list` says; several make one artifact for all. Otherwise this machine.
    `fast_math`: `True`, or the flags that `--fast-math` takes.
    `precision`: `"bf16"` rounds factors of products of f32 to bf16 where the machine multiplies these; `"full"`, the default, does not.
    `schedule`: a file of schedules, as `sutura compile --emit=schedule` writes it: regions run as it says.
    `flags`: anything else for the command line of `sutura compile`.
    `threads`, `device`: as of `load`.

    The compiler is a process of its own: `SUTURA_COMPILER` names the program, otherwise it is that of the package
    `sutura_compiler`. Its warnings are `CompileWarning`s. Errors have `diagnostics`, the messages as dictionaries.
    """
    if output is not None and (threads is not None or device is not None):
        raise UsageError("`threads` and `device` are settings of a load; with `output` give them to sutura.load")
    with tempfile.TemporaryDirectory(prefix="sutura-") as folder:
        source = _source(model, args, Path(folder))
        # Absolute, as `-` would be stdout.
        artifact = Path(folder, "model.sutura") if output is None else Path(os.path.abspath(output))
        command = ["compile", f"--output={artifact}"]
        command += [f"--dim={name}={_sizes(name, sizes)}" for name, sizes in (dims or {}).items()]
        options: dict[str, Any] = {
            "target": target,
            "fast-math": ("" if fast_math else None) if isinstance(fast_math, bool) else fast_math,
            "precision": precision,
            "schedule": schedule,
        }
        command += [flag for name, value in options.items() for flag in _flag(name, value)]
        _compiler.run([*command, *flags, "--", str(source)])
        if output is not None:
            return Path(output)
        return load(artifact.read_bytes(), threads=threads, device=device)


def _flag(name: str, value: str | os.PathLike[str] | Sequence[str] | None) -> list[str]:
    """An option as the command line has it: absent, alone where there are no words, or with them."""
    if value is None:
        return []
    words = os.fspath(value) if isinstance(value, (str, os.PathLike)) else ",".join(value)
    return [f"--{name}={words}" if words else f"--{name}"]


def _sizes(name: str, sizes: str | int | tuple[int, int]) -> str:
    if isinstance(sizes, tuple) and len(sizes) == 2:
        return f"{sizes[0]}..{sizes[1]}"
    if isinstance(sizes, (str, int)) and not isinstance(sizes, bool):
        return str(sizes)
    raise UsageError(f"the sizes of `{name}` are {sizes!r}, and must be a text, a number, or a least and a largest one")


def _source(model: Any, args: Sequence[Any] | None, folder: Path) -> Path:
    """The file of a model, which is written where there is none."""
    file = folder / "model.onnx"
    if isinstance(model, (str, os.PathLike)):
        found = Path(os.path.abspath(model))
    elif isinstance(model, (bytes, bytearray, memoryview)):
        file.write_bytes(model)
        found = file
    elif hasattr(model, "SerializeToString"):
        file.write_bytes(model.SerializeToString())
        found = file
    elif _is_torch_module(model):
        from ._export import from_torch

        from_torch(model, _needed(args, "a torch.nn.Module"), file)
        return file
    elif callable(model):
        from ._export import from_jax

        file.write_bytes(from_jax(model, _needed(args, "a jax function")))
        return file
    else:
        raise UsageError(
            f"a model is a path, bytes, an onnx.ModelProto, a jax function or a torch.nn.Module, not of the type "
            f"{type(model).__name__}"
        )
    if args is not None:
        raise UsageError("`args` says what a function or module is called with; this model has its inputs in itself")
    return found


def _needed(args: Sequence[Any] | None, what: str) -> Sequence[Any]:
    if args is None:
        raise UsageError(f"{what} needs `args`: arrays, or sutura.Spec((\"batch\", 64), \"float32\") for each argument")
    return args


def _is_torch_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)
