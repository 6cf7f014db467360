"""Tensors of jax, and of anyone who speaks DLPack."""

from __future__ import annotations

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import add_sub, relu, transposes
from test_elements import TYPES, dtype_of, numbers

import sutura


class Producer:
    """Speaks DLPack for an array, and nothing else."""

    def __init__(self, array, device=(1, 0), versions=True, error=None):
        self.array, self.device, self.versions, self.error = array, device, versions, error

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **settings):
        if self.error:
            raise self.error
        if not self.versions and settings:
            raise TypeError("unknown keyword")
        return self.array.__dlpack__(**settings)


def test_jax_in_jax_out_without_copies(artifact):
    model = sutura.load(artifact(add_sub))
    x, y = jnp.arange(6.0).reshape(2, 3), jnp.ones((2, 3))
    total, difference = model(x, y)
    assert isinstance(total, jax.Array) and isinstance(difference, jax.Array)
    np.testing.assert_array_equal(total, np.asarray(x) + 1)
    # Memory of jax is aligned as ours is.
    assert model.stats()["copied_inputs"] == 0
    mixed = model(x, np.ones((2, 3), "float32"))
    assert all(isinstance(output, jax.Array) for output in mixed)
    gc.collect()
    np.testing.assert_array_equal(difference, np.asarray(x) - 1)


def test_jax_element_types(artifact):
    names = ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64"]
    model = sutura.load(artifact(transposes, *(TYPES[name] for name in names)))
    inputs = [jnp.asarray(numbers(name)).astype(dtype_of(name)) for name in names]
    for name, x, y in zip(names, inputs, model(*inputs)):
        assert isinstance(y, jax.Array) and y.dtype == x.dtype == dtype_of(name)
        np.testing.assert_array_equal(np.asarray(y).astype("complex64"), numbers(name).T, err_msg=name)


def test_what_jax_traces_is_no_array(artifact):
    model = sutura.load(artifact(relu))
    with pytest.raises(sutura.Error, match="input `x`"):
        jax.jit(lambda x: model(x))(jnp.ones((2, 2)))


@pytest.mark.parametrize("versions", [True, False])
def test_producers(artifact, versions):
    model = sutura.load(artifact(relu))
    x = np.random.default_rng(0).normal(size=(6, 8)).astype("float32")
    y = model(Producer(x, versions=versions))
    assert type(y) is np.ndarray
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    for part in (x.T, x[::2], x[:, ::-1]):
        with pytest.warns(sutura.CopyRemark):
            np.testing.assert_array_equal(model(Producer(part, versions=versions)), np.maximum(part, 0))
    out = np.zeros_like(x)
    buffer = Producer(out, versions=versions)
    assert model(x, out=buffer) is buffer
    np.testing.assert_array_equal(out, np.maximum(x, 0))


def test_producers_that_refuse_are_refused(artifact):
    model = sutura.load(artifact(relu))
    x = np.ones((2, 2), "float32")
    with pytest.raises(sutura.InputError, match="tensor of a device .DLPack's kind 2."):
        model(Producer(x, device=(2, 0)))
    with pytest.raises(sutura.InputError, match="cannot be read through DLPack: needs detach") as raised:
        model(Producer(x, error=BufferError("needs detach")))
    assert isinstance(raised.value.__cause__, BufferError)
    x.flags.writeable = False
    np.testing.assert_array_equal(model(Producer(x)), x)
    with pytest.raises(sutura.UsageError, match="read-only"):
        model(np.ones((2, 2), "float32"), out=Producer(x))


def test_a_capsule_that_was_used_is_refused(artifact):
    x = np.ones((2, 2), "float32")
    capsule = x.__dlpack__()

    class Once(Producer):
        def __dlpack__(self, **settings):
            return capsule

    np.from_dlpack(Once(x))
    with pytest.raises(sutura.InputError, match="that was used"):
        sutura.load(artifact(relu))(Once(x))


def test_results_are_given_on_through_dlpack(artifact):
    """Consumers with and without versions, and nobody at all."""
    y = sutura.load(artifact(relu))(np.ones((2, 3), "float32"))
    memory = y.base
    assert memory.__dlpack_device__() == (1, 0)
    for settings in ({}, {"max_version": (1, 0)}, {"max_version": (0, 8)}):
        capsule = memory.__dlpack__(**settings)
        assert ("versioned" in repr(capsule)) == (settings.get("max_version") == (1, 0))
        del capsule
    shared = np.from_dlpack(memory)
    assert shared.shape == (2, 3)
    y[0, 0] = 7
    assert shared[0, 0] == 7
    del y, memory
    gc.collect()
    assert shared[0, 0] == 7
    memory = sutura.empty(3).base
    for settings in ({"copy": True}, {"dl_device": (2, 0)}, {"stream": 1}):
        with pytest.raises(BufferError):
            memory.__dlpack__(**settings)


def test_torch_in_torch_out(artifact, skip_unless):
    try:
        import torch
    except ImportError:
        torch = None
    skip_unless(torch is not None, "torch is not installed")
    model = sutura.load(artifact(relu))
    x = torch.tensor([[-1.0, 2.0]])
    y = model(x)
    assert isinstance(y, torch.Tensor) and torch.equal(y, torch.relu(x))
    with pytest.raises(sutura.InputError, match="DLPack"):
        model(x.requires_grad_())
    with pytest.raises(sutura.UsageError, match="jax and of torch"):
        sutura.load(artifact(add_sub))(x.detach(), jnp.ones((1, 2)))
