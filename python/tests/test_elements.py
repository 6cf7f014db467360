"""Every element type in and out, with and without `ml_dtypes`."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from conftest import transposes
from onnx import TensorProto

import sutura

TYPES = {
    "bool": TensorProto.BOOL,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "int16": TensorProto.INT16,
    "uint16": TensorProto.UINT16,
    "int32": TensorProto.INT32,
    "uint32": TensorProto.UINT32,
    "int64": TensorProto.INT64,
    "uint64": TensorProto.UINT64,
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "complex64": TensorProto.COMPLEX64,
    "complex128": TensorProto.COMPLEX128,
    "bfloat16": TensorProto.BFLOAT16,
    "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float8_e5m2": TensorProto.FLOAT8E5M2,
    "float8_e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ,
    "float8_e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ,
    "float8_e8m0fnu": TensorProto.FLOAT8E8M0,
    "float4_e2m1fn": TensorProto.FLOAT4E2M1,
    "int4": TensorProto.INT4,
    "uint4": TensorProto.UINT4,
    "int2": TensorProto.INT2,
    "uint2": TensorProto.UINT2,
}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def numbers(name):
    return np.array([[0, 1, 1], [1, 0, 1]] if name != "float8_e8m0fnu" else [[1, 2, 4], [1, 1, 2]])


def test_elements_come_out_as_they_went_in(artifact):
    model = sutura.load(artifact(transposes, *TYPES.values()))
    assert [value.dtype for value in model.inputs] == [dtype_of(name) for name in TYPES]
    inputs = [numbers(name).astype(dtype_of(name)) for name in TYPES]
    buffers = tuple(np.empty((3, 2), dtype_of(name)) for name in TYPES)
    for outputs in (model(*inputs), model(*inputs, out=buffers)):
        for name, y in zip(TYPES, outputs):
            assert y.dtype == dtype_of(name)
            np.testing.assert_array_equal(y.astype("complex64"), numbers(name).T, err_msg=name)


@pytest.mark.parametrize("at", range(len(TYPES)))
def test_other_types_are_refused(artifact, at):
    model = sutura.load(artifact(transposes, *TYPES.values()))
    inputs = [numbers(name).astype(dtype_of(name)) for name in TYPES]
    inputs[at] = inputs[at - 1]
    with pytest.raises(sutura.InputError, match=f"input `x{at}` has element type"):
        model(*inputs)


def test_signed_elements_below_a_byte_keep_their_sign(artifact):
    model = sutura.load(artifact(transposes, TYPES["int4"], TYPES["int2"]))
    values = np.array([[-8, -1, 7]]), np.array([[-2, -1, 1]])
    outputs = model(values[0].astype(ml_dtypes.int4), values[1].astype(ml_dtypes.int2))
    for y, wanted in zip(outputs, values):
        np.testing.assert_array_equal(y.astype("int32"), wanted.T)


def test_without_ml_dtypes_the_error_names_what_to_install(artifact):
    program = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import numpy, sutura\n"
        "model = sutura.load(sys.argv[1])\n"
        "try: model.outputs[0].dtype\n"
        "except sutura.UnsupportedError as error: print(error)\n"
    )
    path = artifact(transposes, TYPES["bfloat16"])
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=60)
    assert "bf16" in done.stdout and "pip install ml_dtypes" in done.stdout, done
