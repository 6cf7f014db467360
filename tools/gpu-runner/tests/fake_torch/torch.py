"""Stands in for torch where a test looks at how peers.py calls it: a GPU on which a run takes a microsecond a row.

`torch.softmax` of rows of 2048 has no memory; of rows of 1024 the result is off; compiled functions fail at 4097.
"""

import sys
import types


class OutOfMemory(Exception):
    pass


CLOCK = 0.0


class Tensor:
    """Has a shape, and a number that all elements are."""

    def __init__(self, shape, value=1.0):
        self.shape, self.value, self.dtype = shape, value, "f32"

    def _same(self, *_, **__):
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = __getitem__ = to = float = abs = max = copy_ = _same

    def __sub__(self, other):
        return Tensor(self.shape, self.value - other.value if isinstance(other, Tensor) else self.value)

    def item(self):
        return abs(self.value)


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.time = CLOCK

    def elapsed_time(self, end):
        return end.time - self.time


def spend(tensor):
    global CLOCK
    CLOCK += 1e-3 * tensor.shape[0]


def softmax(x, axis):
    assert axis == -1
    if x.shape[1] == 2048:
        raise OutOfMemory("no memory")
    spend(x)
    return Tensor(x.shape)


def compiled(function, dynamic):
    assert dynamic

    def run(*inputs):
        out = function(*inputs)
        if inputs[0].shape[1] == 4097:
            raise RuntimeError("it cannot be compiled")
        return Tensor(out.shape, 3.0) if inputs[0].shape[1] == 1024 else out

    return run


class NoGrad:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def fill(module):
    module.__version__ = "stand-in"
    module.__path__ = []
    module.softmax, module.compile, module.no_grad = softmax, compiled, NoGrad
    module.float32, module.bfloat16, module.uint8 = "f32", "bf16", "u8"
    module.rand = lambda *shape, device, dtype=None: Tensor(shape[0] if isinstance(shape[0], tuple) else shape)
    module.zeros = lambda count, dtype, device: Tensor((1,))
    module.empty_like = lambda tensor: Tensor(tensor.shape)
    module.autograd = types.SimpleNamespace(DeviceType=types.SimpleNamespace(CUDA="cuda"))
    module.cuda = types.SimpleNamespace(
        is_available=lambda: True,
        get_device_name=lambda: "a GPU that stands in",
        Event=Event,
        synchronize=lambda: None,
        empty_cache=lambda: None,
        OutOfMemoryError=OutOfMemory,
    )
    Tensor.copy_ = lambda self, other: spend(self)
    nn, functional, profiler = (types.ModuleType("torch." + name) for name in ("nn", "nn.functional", "profiler"))
    nn.functional, nn.__path__ = functional, []

    class Profile:
        def __init__(self, activities):
            assert activities == ["cpu", "cuda"]

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def events(self):
            time = types.SimpleNamespace(elapsed_us=lambda: 2.0)
            event = lambda name, on: types.SimpleNamespace(name=name, device_type=on, time_range=time)
            return [event("aten::softmax", "cpu"), event("Memset", "cuda"), event("## Call", "cuda"), event("kernel", "cuda")]

    profiler.profile = Profile
    profiler.ProfilerActivity = types.SimpleNamespace(CPU="cpu", CUDA="cuda")
    module.nn, module.profiler = nn, profiler
    for part in (nn, functional, profiler):
        sys.modules[part.__name__] = part


fill(sys.modules[__name__])
