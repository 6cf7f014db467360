"""Calls: by position and name, results beside onnxruntime, memory that is not copied."""

from __future__ import annotations

import gc
import os
import threading
import warnings

import numpy as np
import onnxruntime
import pytest
from conftest import add_sub, decided, gather, relu

import sutura


@pytest.fixture
def pair(artifact):
    return sutura.load(artifact(add_sub))


def arrays(rows=3, cols=5, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rows, cols)).astype("float32") for _ in range(2)]


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (0, 4), (64, 33), (300, 257)])
def test_results_are_those_of_onnxruntime(pair, shape):
    x, y = arrays(*shape)
    session = onnxruntime.InferenceSession(add_sub().SerializeToString(), providers=["CPUExecutionProvider"])
    for got, wanted in zip(pair(x, y), session.run(None, {"x": x, "y": y})):
        assert type(got) is np.ndarray and got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_array_equal(got, wanted)


def test_inputs_come_by_position_by_name_or_in_a_mapping(pair):
    x, y = arrays()
    for result in (pair(x, y), pair(x, y=y), pair(y=y, x=x), pair({"y": y, "x": x})):
        np.testing.assert_array_equal(result[0], x + y)
        np.testing.assert_array_equal(result[1], x - y)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m, x: m(x), sutura.UsageError, "the model has 2 inputs (`x`, `y`), but 1 was given"),
        (lambda m, x: m(), sutura.UsageError, "but 0 were given"),
        (lambda m, x: m(x, x, x), sutura.UsageError, "but 3 were given"),
        (lambda m, x: m(x, x, y=x), sutura.UsageError, "input `y` is given twice"),
        (lambda m, x: m(x=x), sutura.UsageError, "input `y` is missing"),
        (lambda m, x: m(x=x, z=x), sutura.UsageError, "the model has no input `z`; its inputs are `x`, `y`"),
        (lambda m, x: m({"x": x, 7: x}), sutura.UsageError, "texts, as keys"),
        (lambda m, x: m(x, [1.0]), sutura.UsageError, "input `y` is of the type list"),
        (lambda m, x: m(x, None), sutura.UsageError, "input `y` is of the type NoneType"),
        (lambda m, x: m(x, x.astype("float64")), sutura.InputError, 'x.astype("float32") converts it'),
        (lambda m, x: m(x, x[0]), sutura.InputError, "input `y` has rank 1, but the model needs rank 2"),
        (lambda m, x: m(x, x.astype(">f4")), sutura.InputError, "bytes are in another order"),
        (lambda m, x: m(x, x.astype(object)), sutura.InputError, "dtype object"),
        (lambda m, x: m(x, np.array([["a"]])), sutura.InputError, "NumPy's dtype <U1"),
        (lambda m, x: m(x, np.ma.masked_array(x)), sutura.InputError, "masked array"),
        (lambda m, x: m(x, x, out=x), sutura.UsageError, "the model has 2 outputs, but 1 buffer was given"),
    ],
)
def test_wrong_calls_are_refused(pair, call, error, words):
    with pytest.raises(error) as raised:
        call(pair, arrays()[0])
    assert words in str(raised.value), raised.value
    assert raised.value.code == error.code


def test_errors_know_dims_nodes_and_values(pair, artifact):
    x, y = arrays()
    with pytest.raises(sutura.InputError, match="`cols`.*inconsistent") as raised:
        pair(x, y[:, :4].copy())
    assert (raised.value.dim, raised.value.code) == ("cols", 1)
    with pytest.raises(sutura.InputError) as raised:
        pair(x, y.astype("int32"))
    assert raised.value.value == "y"
    pick = sutura.load(artifact(gather))
    with pytest.raises(sutura.InputError, match="is 9, which is not in") as raised:
        pick(np.zeros((3, 4), "float32"), np.array([0, 9]))
    assert "/pick" in raised.value.node


def test_signature(pair):
    assert [str(value) for value in pair.inputs] == ["x: f32[rows, cols]", "y: f32[rows, cols]"]
    assert [value.name for value in pair.outputs] == ["sum", "difference"]
    assert pair.inputs[0].dtype == np.float32 and pair.inputs[0].dims == ("rows", "cols")
    assert set(pair.dims) == {"rows", "cols"} and pair.dims["rows"].min == 0
    assert repr(pair).startswith("<sutura.Model model(x: f32[rows, cols]") and pair.name == "model" and pair.device is None


def test_aligned_memory_is_not_copied(artifact):
    model = sutura.load(artifact(relu))
    x = sutura.empty((40, 3))
    assert x.ctypes.data % 64 == 0 and x.flags.writeable and not x.any()
    model(x)
    assert model.stats()["copied_inputs"] == 0
    unaligned = np.frombuffer(bytearray(1000), "float32", offset=4)[: 40 * 3].reshape(40, 3)
    offset = 4 if unaligned.ctypes.data % 64 == 0 else 0
    unaligned = np.frombuffer(bytearray(1000), "float32", offset=offset)[: 40 * 3].reshape(40, 3)
    expected = int(unaligned.ctypes.data % 64 != 0)
    model(unaligned)
    assert model.stats()["copied_inputs"] == expected
    # A result is aligned, so it is the next input without a copy.
    before = model.stats()["copied_inputs"]
    y = model(model(x))
    assert y.ctypes.data % 64 == 0 and model.stats()["copied_inputs"] == before


def test_memory_of_results_lives_as_long_as_they_do(artifact):
    model = sutura.load(artifact(relu))
    y = model(np.full((100, 100), 3, "float32"))[10:20]
    model.close()
    del model
    gc.collect()
    _other = [np.zeros((100, 100), "float32") for _ in range(20)]
    assert (y == 3).all() and y.base is not None


def test_rows_that_lie_apart_are_copied_with_a_remark(artifact):
    model = sutura.load(artifact(relu))
    whole = np.random.default_rng(1).normal(size=(8, 10, 6)).astype("float32")
    broadcast = np.broadcast_to(whole[0, 0, :3], (4, 3))
    for x in (whole[0].T, whole[0, ::2, ::-1], whole[::-1, 0], whole[:, 3, 1:4], broadcast):
        with pytest.warns(sutura.CopyRemark, match="input `x` is copied"):
            y = model(x)
        np.testing.assert_array_equal(y, np.maximum(x, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", sutura.CopyRemark)
        with pytest.raises(sutura.CopyRemark):
            model(whole[0].T)
        model(whole[0])
        # Sizes of 1 and 0 make any strides those of rows.
        model(whole[0][:1, ::2][:, :1])
        model(whole[0][:, ::2][:0])


def test_inputs_that_are_read_only_stay_so(artifact):
    model = sutura.load(artifact(relu))
    x = np.full((3, 3), -2, "float32")
    x.flags.writeable = False
    np.testing.assert_array_equal(model(x), np.zeros((3, 3)))
    assert not x.flags.writeable and (x == -2).all()
    mapped = np.frombuffer(b"\0\0\x80?" * 4, "float32").reshape(2, 2)
    np.testing.assert_array_equal(model(mapped), np.ones((2, 2)))


def test_out_takes_buffers(pair):
    x, y = arrays()
    within = np.frombuffer(bytearray(1 + x.nbytes), "uint8")[1:].view("float32").reshape(x.shape)
    sums = [sutura.empty(x.shape), np.empty(x.shape, "float32"), np.empty((5, 6), "float32").T[::2], within]
    for buffer in sums:
        difference = np.zeros_like(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sutura.CopyRemark)
            result = pair(x, y, out=(buffer, difference))
        assert result[0] is buffer and result[1] is difference
        np.testing.assert_array_equal(buffer, x + y)
        np.testing.assert_array_equal(difference, x - y)
    buffers = {"difference": np.zeros_like(x), "sum": np.zeros_like(x)}
    pair(x, y, out=buffers)
    np.testing.assert_array_equal(buffers["sum"], x + y)


def test_out_is_checked(pair, artifact):
    x, y = arrays()
    good, frozen = np.zeros_like(x), np.zeros_like(x)
    frozen.flags.writeable = False
    for out, words in [
        ((good, frozen), "output `difference` is read-only"),
        ((good, np.zeros((3, 4), "float32")), "output `difference` needs dims"),
        ((good, np.zeros((3, 5))), "element type f64"),
        ((good, np.lib.stride_tricks.as_strided(good, (3, 5), (0, 4))), "elements of the buffer of output `difference`"),
        ((good, np.lib.stride_tricks.as_strided(good, (3, 5), (4, 4))), "elements of the buffer of output `difference`"),
        ((good, good), "output `difference` and output `sum` overlap"),
        ((good, x), "output `difference` and input `x` overlap"),
        (({"sum": good, "total": good}), "no output `total`"),
        ([good], "2 outputs, but 1 buffer"),
    ]:
        with pytest.raises(sutura.Error, match=words):
            pair(x, y, out=out)
    assert not good.any()
    with pytest.raises(sutura.UnsupportedError, match="data decide"):
        sutura.load(artifact(decided))(np.zeros(3, "float32"), out=np.zeros((1, 3), "int64"))


def test_sizes_that_data_decide(artifact):
    model = sutura.load(artifact(decided))
    for x in ([0, 1, 0, 2], [0, 0], [1, 1, 1]):
        x = np.array(x, "float32")
        np.testing.assert_array_equal(model(x), np.array(x.nonzero()))
    assert model.dims["found"].decided if "found" in model.dims else any(dim.decided for dim in model.dims.values())


def test_many_threads_call_one_model(pair):
    failures = []

    def calls(seed):
        for round_ in range(50):
            x, y = arrays(1 + (seed * 7 + round_) % 40, 9, seed)
            if not np.array_equal(pair(x, y)[0], x + y):
                failures.append(seed)

    threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures and pair.stats()["runs"] == 200


def test_profile(artifact):
    model = sutura.load(artifact(relu), profile=True)
    for _ in range(3):
        model(np.ones((4, 4), "float32"))
    (launch,) = model.profile()
    assert launch.calls == 3 and 0 < launch.least_seconds <= launch.total_seconds
    model.clear_profile()
    assert model.profile() == []
    with pytest.raises(sutura.UsageError, match="profile=True"):
        sutura.load(artifact(relu)).profile()


def test_empty_refuses_what_is_no_array():
    assert sutura.empty(3, "int64").shape == (3,) and sutura.empty((), bool).shape == ()
    for shape, dtype in [((-1,), "float32"), ((2**62, 2**62), "float32"), ((2,), "datetime64[s]"), ((2,), ">f4")]:
        with pytest.raises(sutura.Error):
            sutura.empty(shape, dtype)


def test_an_input_called_out_is_given_by_position_or_in_a_mapping():
    from conftest import helper, model, value

    shape = ["n"]
    proto = model([helper.make_node("Neg", ["out"], ["y"])], [value("out", shape)], [value("y", shape)])
    negate = sutura.compile(proto)
    x = np.ones(3, "float32")
    np.testing.assert_array_equal(negate(x), -x)
    np.testing.assert_array_equal(negate({"out": x}), -x)
    with pytest.raises(sutura.UsageError):
        negate(out=x)


def test_no_result_leaks(artifact):
    model = sutura.load(artifact(relu))
    x = sutura.empty((256, 256))
    pages = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")  # noqa: E731
    for _ in range(50):
        model(x)
    before = pages()
    for _ in range(500):
        model(x)
    # Each result has 256 KiB.
    assert pages() - before < 16 << 20
