"""Models as objects: loading, damage, pickles, processes, Ctrl-C, devices."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import add_sub, long_run, relu

import sutura

X = np.array([[-1.0, 2.0]], "float32")
Y = np.array([[0.0, 2.0]], "float32")


def test_sources(artifact):
    path = artifact(relu)
    data = path.read_bytes()
    for source in (path, str(path), data, bytearray(data), memoryview(data)):
        np.testing.assert_array_equal(sutura.load(source)(X), Y)
    np.testing.assert_array_equal(sutura.load(path, trusted=True)(X), Y)


def test_what_is_no_artifact_is_refused(artifact, tmp_path):
    data = artifact(relu).read_bytes()
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    for source, error in [
        (tmp_path / "missing.sutura", sutura.SystemError),
        (tmp_path, sutura.CorruptError),
        (b"", sutura.CorruptError),
        (b"no artifact", sutura.CorruptError),
        (data[: len(data) // 2], sutura.CorruptError),
        (bytes(damaged), sutura.CorruptError),
        (7, sutura.UsageError),
        (None, sutura.UsageError),
        ("\0", sutura.SystemError),
    ]:
        with pytest.raises(error) as raised:
            sutura.load(source)
        assert raised.value.code == error.code
    with pytest.raises(OSError) as raised:
        sutura.load(tmp_path / "missing.sutura")
    assert raised.value.errno == 2


@pytest.mark.parametrize("threads", [0, -1, 1025, 2**70, 1.5, "2", True])
def test_numbers_of_threads_that_make_no_sense(artifact, threads):
    with pytest.raises(sutura.UsageError, match="from 1 to 1024"):
        sutura.load(artifact(relu), threads=threads)


def test_threads(artifact):
    assert sutura.load(artifact(relu), threads=3).threads == 3


def test_names_command_no_terminal():
    from conftest import helper, model, value

    name = "a\x1b[2J\nb\u202e"
    proto = model([helper.make_node("Neg", [name], ["y"])], [value(name, ["n"])], [value("y", ["n"])])
    loaded = sutura.compile(proto)
    assert loaded.inputs[0].name == name
    for text in (repr(loaded), str(loaded.inputs[0]), str(pytest.raises(sutura.UsageError, loaded).value)):
        assert all(character.isprintable() for character in text), text
    np.testing.assert_array_equal(loaded({name: X[0]}), -X[0])
    unknown = model([helper.make_node("No\x1b[2J\u202e", [name], ["y"])], [value(name, ["n"])], [value("y", ["n"])])
    with pytest.raises(sutura.Error) as raised:
        sutura.compile(unknown)
    assert all(character.isprintable() or character == "\n" for character in str(raised.value)), str(raised.value)


def test_a_model_pickles_as_its_artifact(artifact, tmp_path):
    path = tmp_path / "moved.sutura"
    path.write_bytes(artifact(relu).read_bytes())
    data = pickle.dumps(sutura.load(path, threads=2))
    path.unlink()
    loaded = pickle.loads(data)
    assert loaded.threads == 2
    np.testing.assert_array_equal(loaded(X), Y)


def test_copies_are_the_model_itself(artifact):
    model = sutura.load(artifact(relu))
    assert copy.copy(model) is model and copy.deepcopy([model])[0] is model


def test_a_context_closes_its_model(artifact):
    with sutura.load(artifact(relu)) as model:
        np.testing.assert_array_equal(model(X), Y)
    for use in (lambda: model(X), lambda: model.inputs, lambda: pickle.dumps(model)):
        with pytest.raises(sutura.UsageError, match="closed"):
            use()
    assert "closed" in repr(model)
    model.close()


def _in_child(model, big):
    return float(model(big).sum())


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_fork(artifact):
    """After threads have run, and while others run."""
    model = sutura.load(artifact(relu), threads=4)
    big = np.ones((3000, 300), "float32")
    assert model(big).sum() == big.sum()
    stop = threading.Event()
    runner = threading.Thread(target=lambda: [model(big) for _ in iter(stop.is_set, True)])
    runner.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(int(model(big).sum() != big.sum()))
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        runner.join()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.starmap(_in_child, [(model, big)] * 4) == [big.sum()] * 4
    assert model(big).sum() == big.sum()


def test_spawn(artifact):
    model = sutura.load(artifact(relu), threads=2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.starmap(_in_child, [(model, X)]) == [2.0]


def test_control_c_ends_a_run(artifact):
    model = sutura.load(artifact(long_run))
    w = np.eye(64, dtype="float32")
    assert model(np.array(3), w).shape == (64, 64)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model(np.array(10**9), w)
    assert time.monotonic() - start < 30
    # The model is as it was.
    assert model(np.array(3), w).shape == (64, 64)


def test_a_handler_that_raises_ends_a_run_with_what_it_raised(artifact):
    def handler(_number, _frame):
        raise TimeoutError("too long")

    model = sutura.load(artifact(long_run))
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError, match="too long"):
            model(np.array(10**9), np.eye(64, dtype="float32"))
    finally:
        signal.signal(signal.SIGALRM, before)


def test_python_runs_while_a_model_does(artifact):
    model = sutura.load(artifact(long_run), threads=1)
    counts = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counts.append(time.monotonic())

    thread = threading.Thread(target=count)
    w = np.eye(96, dtype="float32")
    thread.start()
    begin = time.monotonic()
    model(np.array(3000), w)
    end = time.monotonic()
    done.set()
    thread.join()
    inside = [at for at in counts if begin + (end - begin) * 0.25 < at < begin + (end - begin) * 0.75]
    assert len(inside) > 100, (len(inside), end - begin)


def test_devices():
    found = {device.id: device for device in sutura.devices()}
    assert found["cpu-fibers:0"].problem is None and found["cpu-fibers:0"].memory_bytes > 0


def test_a_session_keeps_tensors_on_its_device(artifact):
    path = artifact(add_sub, target="cpu_fibers")
    x, y = np.ones((3, 4), "float32"), np.full((3, 4), 2, "float32")
    with sutura.Session("cpu-fibers") as session:
        model = session.load(path)
        assert model.device == "cpu-fibers"
        on_device = session.upload(x)
        assert on_device.shape == (3, 4) and on_device.element_type == "f32"
        total, difference = session.run(model, on_device, y=session.upload(y.T.copy().T))
        again, _ = session.run(model, total, difference)
        np.testing.assert_array_equal(session.download(again), x + y + x - y)
        session.synchronize()
        with pytest.raises(sutura.UsageError, match="session.upload"):
            session.run(model, x, on_device)
        with pytest.raises(sutura.UsageError, match="2 inputs"):
            session.run(model, on_device)
        other = sutura.Session("cpu-fibers")
        with pytest.raises(sutura.Error):
            other.run(model, on_device, on_device)
        np.testing.assert_array_equal(model(x, y)[0], x + y)
    with pytest.raises(sutura.UsageError, match="closed"):
        session.upload(x)
    with pytest.raises(sutura.Error, match="no-such"):
        sutura.Session("no-such")


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_devices_do_not_survive_a_fork(artifact):
    model = sutura.load(artifact(add_sub, target="cpu_fibers"))
    session = sutura.Session("cpu-fibers")
    x = np.ones((3, 4), "float32")
    tensor = session.upload(x)
    child = os.fork()
    if child == 0:
        refused = 0
        for use in (lambda: model(x, x), lambda: session.upload(x), lambda: session.download(tensor)):
            try:
                use()
            except sutura.UsageError as error:
                refused += "fork" in str(error)
        os._exit(0 if refused == 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(session.download(tensor), x)


def test_a_process_that_ends_with_models_and_results_ends_well(artifact):
    program = (
        "import sys, numpy, sutura\n"
        "model = sutura.load(sys.argv[1]); y = model(numpy.ones((2, 2), 'float32')); sys.modules['kept'] = (model, y)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, artifact(relu)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_types_are_said_as_they_are(tmp_path):
    """The stub says what the module has."""
    package = pathlib.Path(sutura.__file__).parent
    assert (package / "py.typed").exists()
    checks = [
        ["mypy.stubtest", "sutura._native", "--ignore-missing-stub"],
        ["mypy", "--strict", "--ignore-missing-imports", "-p", "sutura"],
    ]
    # At the same time, as each takes a while.
    running = [
        subprocess.Popen(
            [sys.executable, "-m", *check, *(["--cache-dir", str(tmp_path / "mypy")] if check[0] == "mypy" else [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=tmp_path,
        )
        for check in checks
    ]
    said = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], "\n".join(said)


def test_a_stub_that_is_wrong_is_found(tmp_path):
    """The check of stubs, on a stub with a planted fault."""
    package = tmp_path / "sutura"
    package.mkdir()
    (package / "__init__.pyi").write_text("")
    (package / "_values.pyi").write_text("")
    (package / "_native.pyi").write_text("def load(path: str) -> int: ...\n")
    stubtest = [sys.executable, "-m", "mypy.stubtest", "sutura._native", "--ignore-missing-stub"]
    environment = {**os.environ, "MYPYPATH": str(tmp_path)}
    done = subprocess.run(stubtest, capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path)
    assert done.returncode != 0 and "sutura._native.load is inconsistent" in done.stdout, done.stdout + done.stderr
