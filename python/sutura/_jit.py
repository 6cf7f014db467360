"""`sutura.jit`: a jax function that is compiled when it is called."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ._compile import Spec, compile
from ._errors import UnsupportedError
from ._native import Model


def jit(function: Callable[..., Any], *, fixed_sizes: bool = False, **settings: Any) -> Jitted:
    """Compiles a jax function at its first call, and once more for each other set of ranks and dtypes.

    Sizes are open: those that are equal at the first call are taken for one size, and a size of 1 stays 1. A call where they
    are not is compiled for, too. With `fixed_sizes` each set of sizes is compiled for, as some functions need. Arguments and results may be trees (tuples, lists, dictionaries) of arrays. `settings` are those
    of `compile`. Needs the package `jax2onnx`.
    """
    return Jitted(function, fixed_sizes, settings)


class _Compiled(NamedTuple):
    specs: list[Spec]
    model: Model
    #: The structure of what the function returns.
    result: Any


class Jitted:
    """A function of `jit`."""

    def __init__(self, function: Callable[..., Any], fixed_sizes: bool, settings: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._fixed_sizes = fixed_sizes
        self._settings = settings
        #: By structure, ranks and dtypes.
        self._compiled: dict[Any, list[_Compiled]] = {}
        self._lock = threading.Lock()

    @property
    def compilations(self) -> int:
        """How often the function was compiled."""
        return sum(map(len, self._compiled.values()))

    def __call__(self, *args: Any, **named: Any) -> Any:
        jax = _jax()
        tree = jax.tree_util
        leaves, treedef = tree.tree_flatten((args, named))
        arrays = [leaf if isinstance(leaf, jax.Array) else jax.numpy.asarray(leaf) for leaf in leaves]
        key = (treedef, tuple((array.ndim, str(array.dtype)) for array in arrays))
        with self._lock:
            known = self._compiled.setdefault(key, [])
            compiled = next((one for one in known if _fit(one.specs, arrays)), None)
            if compiled is None:
                fixed = [Spec(tuple(array.shape), str(array.dtype)) for array in arrays]
                compiled = self._compile(treedef, fixed if self._fixed_sizes else _specs(arrays))
                known.append(compiled)
        outputs = compiled.model(*arrays)
        return tree.tree_unflatten(compiled.result, outputs if isinstance(outputs, tuple) else (outputs,))

    def _compile(self, treedef: Any, specs: list[Spec]) -> _Compiled:
        tree, found = _jax().tree_util, []

        def flat(*leaves: Any) -> Any:
            args, named = tree.tree_unflatten(treedef, leaves)
            outputs, result = tree.tree_flatten(self._function(*args, **named))
            found.append(result)
            return tuple(outputs)

        try:
            return _Compiled(specs, compile(flat, args=specs, **self._settings), found[-1])
        except UnsupportedError as error:
            if not self._fixed_sizes:
                error.args = (f"{error}; with fixed_sizes=True sizes are known, which may be what it needs", *error.args[1:])
            raise


def _specs(arrays: list[Any]) -> list[Spec]:
    """What the arrays are, with a name for each size, the same for equal ones."""
    names: dict[int, str] = {1: ""}
    specs = []
    for array in arrays:
        sizes = [names.setdefault(size, f"d{len(names)}") or size for size in array.shape]
        specs.append(Spec(tuple(sizes), str(array.dtype)))
    return specs


def _fit(specs: list[Spec], arrays: list[Any]) -> bool:
    """Whether sizes that have one name are equal, and others are as they are said to be. No name stands for 1."""
    sizes: dict[int | str, int] = {}
    pairs = (pair for spec, array in zip(specs, arrays) for pair in zip(spec.shape, array.shape))
    return all((sizes.setdefault(name, size) if isinstance(name, str) and size != 1 else name) == size for name, size in pairs)


def _jax() -> Any:
    try:
        import jax
    except ImportError:
        raise UnsupportedError("jit compiles functions of jax, which is missing: pip install jax2onnx") from None
    return jax
