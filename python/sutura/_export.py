"""Functions of jax and modules of torch as ONNX models, by the exporters of others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ._errors import UnsupportedError, UsageError


def from_jax(function: Callable[..., Any], args: Sequence[Any]) -> bytes:
    """The bytes of a jax function as an ONNX model."""
    try:
        import jax
        import jax2onnx
    except ImportError as error:
        raise UnsupportedError(
            f"functions are exported by the package jax2onnx, and {error.name} is missing: pip install jax2onnx"
        ) from error
    shapes = _shapes(jax, args)
    try:
        model = jax2onnx.to_onnx(
            function,
            inputs=shapes,
            enable_double_precision=bool(getattr(jax.config, "jax_enable_x64")),
        )
    except Exception as error:  # noqa: BLE001: an exporter raises anything
        raise _refused("jax2onnx", error) from error
    return bytes(model.SerializeToString())


def _shapes(jax: Any, args: Sequence[Any]) -> list[Any]:
    names = sorted({size for arg in args for size in _shape(arg) if isinstance(size, str)})
    for name in names:
        if not name.isidentifier():
            raise UsageError(f"the size `{name}` is neither a number nor a name")
    symbols: dict[int | str, Any] = dict(zip(names, jax.export.symbolic_shape(",".join(names)) if names else ()))
    return [
        jax.ShapeDtypeStruct(tuple(symbols.get(size, size) for size in _shape(arg)), arg.dtype) for arg in args
    ]


def _shape(arg: Any) -> tuple[int | str, ...]:
    if not hasattr(arg, "shape") or not hasattr(arg, "dtype"):
        raise UsageError(f"an argument is an array or a sutura.Spec, not of the type {type(arg).__name__}")
    return tuple(arg.shape)


def _refused(exporter: str, error: Exception) -> UnsupportedError:
    """The exception for what an exporter cannot do, with the primitive where its words name one."""
    primitive = re.search(r"primitive[:\s]+[`'\"]?([\w\[\].-]+)", str(error))
    what = f"{exporter} cannot export this: {type(error).__name__}: {error}"
    return UnsupportedError(what, node=primitive.group(1) if primitive else None)


def from_torch(module: Any, args: Sequence[Any], file: Path) -> None:
    """Writes a module as an ONNX model. Its weights may lie in a file beside it."""
    import torch

    # One for each name.
    dims: dict[str, Any] = {}
    examples, shapes = [], []
    for arg in args:
        named = {at: size for at, size in enumerate(_shape(arg)) if isinstance(size, str)}
        for name in named.values():
            dims.setdefault(name, torch.export.Dim(name))
        shapes.append({at: dims[name] for at, name in named.items()} or None)
        if isinstance(arg, torch.Tensor):
            examples.append(arg)
        else:
            # Exporters take sizes 0 and 1 for fixed ones.
            sizes = [size if isinstance(size, int) else 2 + list(dims).index(size) for size in _shape(arg)]
            examples.append(torch.zeros(sizes, dtype=_torch_dtype(torch, arg.dtype)))
    try:
        torch.onnx.export(
            module.eval(),
            tuple(examples),
            str(file),
            dynamo=True,
            dynamic_shapes=tuple(shapes) if dims else None,
            verbose=False,
        )
    except Exception as error:  # noqa: BLE001: an exporter raises anything
        raise _refused("torch.onnx.export", error) from error


def _torch_dtype(torch: Any, dtype: Any) -> Any:
    if isinstance(dtype, torch.dtype):
        return dtype
    found = getattr(torch, str(getattr(dtype, "name", dtype)), None)
    if not isinstance(found, torch.dtype):
        raise UsageError(f"torch has no dtype {dtype}")
    return found
