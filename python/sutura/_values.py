"""What models and devices say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ._errors import UnsupportedError

if TYPE_CHECKING:
    import numpy

#: NumPy's names of the element types that it has itself.
_NUMPY = {
    "bool": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}

#: The names of those that `ml_dtypes` adds.
_ML_DTYPES = {
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn",
    "i2": "int2",
    "u2": "uint2",
    "i4": "int4",
    "u4": "uint4",
}


def visible(text: str) -> str:
    """Text of others as messages may show it: what commands a terminal, or nobody sees, is written as Python writes it."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def numpy_dtype(element_type: str) -> numpy.dtype:
    """NumPy's dtype for an element type. Raises `UnsupportedError` where `ml_dtypes`, which adds it, is missing."""
    import numpy

    if element_type in _NUMPY:
        return numpy.dtype(_NUMPY[element_type])
    name = _ML_DTYPES[element_type]
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedError(
            f"NumPy has no {element_type}; the package ml_dtypes adds it: pip install ml_dtypes"
        ) from None
    if not hasattr(ml_dtypes, name):
        raise UnsupportedError(f"this ml_dtypes has no {name}; a newer one does: pip install --upgrade ml_dtypes")
    dtype: numpy.dtype = numpy.dtype(getattr(ml_dtypes, name))
    return dtype


class Value(NamedTuple):
    """An input or an output of a model."""

    name: str
    #: As the compiler calls it, such as `f32`.
    element_type: str
    #: A number, the name of a dimension, or what is computed of such names.
    dims: tuple[int | str, ...]

    @property
    def dtype(self) -> numpy.dtype:
        """NumPy's dtype. Raises `UnsupportedError` where the package `ml_dtypes` is missing that adds it."""
        return numpy_dtype(self.element_type)

    def __str__(self) -> str:
        return visible(f"{self.name}: {self.element_type}[{', '.join(map(str, self.dims))}]").replace("\n", "\\n")


class Dim(NamedTuple):
    """A named dimension of a model: the sizes that it was compiled for."""

    min: int
    max: int
    multiple_of: int
    #: Sizes that it is to be fast at.
    likely: tuple[int, ...]
    #: Data decide it during the run.
    decided: bool


class Launch(NamedTuple):
    """Times of one launch of a model, over all runs in which it was the same."""

    #: Which of a run's launches it is, from 0.
    position: int
    kernel: str | None
    groups: int
    #: Parts in which threads took the groups.
    chunks: int
    calls: int
    total_seconds: float
    least_seconds: float


class Device(NamedTuple):
    """A device that models can run on, beside the processor."""

    #: What `load` and `Session` take.
    id: str
    #: The driver's name of the hardware.
    name: str
    kind: str
    api: str
    driver: str
    #: What models are compiled for to run there.
    target: str
    memory_bytes: int
    #: Why it cannot be used, or `None`.
    problem: str | None
