"""Writes `cases.xz`, the models of ONNX's backend tests, and `tensors.xz`, what goes in and out of them.

Run it with the `onnx` package of PyPI (the version is in README.md): python generate.py

Each archive is one xz stream of records, in the order of their names: a line `NAME SIZE`, then SIZE bytes. A model's record is
an ONNX file, called as its case. A tensor's is a `TensorProto` that has the name of the input or output, called `CASE/input_0`;
before them `CASE/within` holds the tolerances, relative and absolute. Tensors of cases that have more than `MOST` bytes of them,
and of those that take or make what is no tensor, are left out. Whole networks have no input: it is a ramp.
"""

import lzma
import os
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from onnx.backend.test.loader import DATA_DIR, load_model_tests  # noqa: E402

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
MOST = 64_000


def named(value, info):
    """A value of a case as a `TensorProto` with a name, or None if it is no tensor."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = numpy_helper.from_array(np.asarray(value))
    if not isinstance(value, onnx.TensorProto):
        return None
    value.name = info.name
    return value.SerializeToString(deterministic=True)


def from_files(folder, what, infos):
    """The values of the first data set that a folder holds."""
    for at, info in enumerate(infos):
        path = os.path.join(folder, "test_data_set_0", f"{what}_{at}.pb")
        if not os.path.exists(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        tensor = onnx.TensorProto()
        is_tensor = info.type.HasField("tensor_type")
        if is_tensor:
            tensor.ParseFromString(data)
        yield tensor if is_tensor else None, info


def values(case, model):
    """Inputs and outputs of a case: pairs of a name and bytes, or nothing where one of them is no tensor."""
    graph, found = model.graph, []
    for at, (what, infos) in enumerate((("input", graph.input), ("output", graph.output))):
        if case.model_dir:
            pairs = from_files(case.model_dir, what, infos)
        else:
            pairs = zip(case.data_sets[0][at], infos)
        for i, (value, info) in enumerate(pairs):
            data = named(value, info)
            if data is None:
                return []
            found.append((f"{case.name}/{what}_{i}", data))
    return found


def whole_network(case, path, model):
    """What a network makes of a ramp, `i / n` for element `i` of `n`, which a test can make itself."""
    output = onnx.TensorProto()
    with open(path, "rb") as file:
        output.ParseFromString(file.read())
    return [(f"{case}/within", b"0.001 1e-05"), (f"{case}/output_0", named(output, model.graph.output[0]))]


def cases():
    for kind in KINDS:
        for case in load_model_tests(kind=kind):
            if case.model_dir:
                with open(os.path.join(case.model_dir, "model.onnx"), "rb") as file:
                    model = file.read()
            elif case.model is not None:
                model = case.model.SerializeToString(deterministic=True)
            else:
                continue
            tensors = values(case, onnx.load_from_string(model))
            if sum(len(data) for _, data in tensors) > MOST:
                tensors = []
            within = [(f"{case.name}/within", f"{case.rtol} {case.atol}".encode())]
            yield case.name, model, within + tensors if tensors else []
    light = os.path.join(DATA_DIR, "light")
    for name in sorted(os.listdir(light)):
        if name.endswith(".onnx"):
            case = name.removesuffix(".onnx")
            with open(os.path.join(light, name), "rb") as file:
                model = file.read()
            yield case, model, whole_network(case, os.path.join(light, f"{case}_output_0.pb"), onnx.load_from_string(model))


def write(file_name, records):
    data = b"".join(f"{name} {len(data)}\n".encode() + data for name, data in records)
    packed = lzma.compress(data, check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), file_name), "wb") as file:
        file.write(packed)
    print(f"{file_name}: {len(records)} records, {len(data)} bytes, {len(packed)} packed")


def main():
    found = {name: (model, tensors) for name, model, tensors in cases()}
    write("cases.xz", [(name, model) for name, (model, _) in sorted(found.items())])
    write("tensors.xz", [record for _, (_, tensors) in sorted(found.items()) for record in tensors])


if __name__ == "__main__":
    main()
