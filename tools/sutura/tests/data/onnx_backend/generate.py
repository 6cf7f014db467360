"""Writes `cases.xz`, the models of ONNX's backend tests, and `tensors.xz`, what goes in and out of them.

Run it with the `onnx` package of PyPI (the version is in README.md): python generate.py

Each archive is one xz stream of records, in the order of their names: a line `NAME SIZE`, then SIZE bytes. A model's record is
an ONNX file, called as its case. A tensor's is a `TensorProto` that has the name of the input or output, called `CASE/input_0`;
before them `CASE/within` holds the tolerances, relative and absolute. A sequence is as many tensors, called `x.0`, `x.1`; an optional
is what is in it, if anything is; `CASE/shapes` says how many tensors such inputs have, as `--shape` takes it. Tensors of cases that
have more than `MOST` bytes of them, and of those that take or make other kinds of values, are left out. Whole networks have no
input: it is a ramp.
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


def named(value, name):
    """A tensor of a case as a `TensorProto` with a name, or None if it is no tensor."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = numpy_helper.from_array(np.asarray(value))
    if not isinstance(value, onnx.TensorProto):
        return None
    value.name = name
    return value.SerializeToString(deterministic=True)


def kind(ty):
    """The kind of a type of ONNX, and the type of what is in it."""
    which = ty.WhichOneof("value")
    inner = getattr(ty, which).elem_type if which in ("sequence_type", "optional_type") else None
    return which, inner


def parts(value, name, ty):
    """The tensors of a value with their names, and its shape as `--shape` takes it; None if it holds other things."""
    which, inner = kind(ty)
    if which == "optional_type":
        if value is None or isinstance(value, list) and kind(inner)[0] == "tensor_type" and not value:
            return [], "none"
        value = value[0] if isinstance(value, list) and kind(inner)[0] == "tensor_type" else value
        return parts(value, name, inner)
    if which == "sequence_type" and isinstance(value, list):
        found = [parts(element, f"{name}.{at}", inner) for at, element in enumerate(value)]
        if None in found:
            return None
        return [tensor for tensors, _ in found for tensor in tensors], "[" + ",".join(text for _, text in found) + "]"
    data = named(value, name) if which == "tensor_type" else None
    if data is None:
        return None
    dims = onnx.TensorProto.FromString(data).dims
    return [(name, data)], "[" + ",".join(map(str, dims)) + "]"


def from_files(folder, what, infos):
    """The values of the first data set that a folder holds."""
    for at, info in enumerate(infos):
        path = os.path.join(folder, "test_data_set_0", f"{what}_{at}.pb")
        if not os.path.exists(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        value, (which, _) = None, kind(info.type)
        if which == "tensor_type":
            value = onnx.TensorProto.FromString(data)
        elif which == "sequence_type":
            value = list(onnx.SequenceProto.FromString(data).tensor_values)
        yield value, info


def values(case, model):
    """Inputs and outputs of a case: pairs of a name and bytes, or nothing where one of them holds no tensors."""
    graph, found, shapes = model.graph, [], []
    for at, (what, infos) in enumerate((("input", graph.input), ("output", graph.output))):
        if case.model_dir:
            pairs = from_files(case.model_dir, what, infos)
        else:
            pairs = zip(case.data_sets[0][at], infos)
        tensors = []
        for value, info in pairs:
            of = parts(value, info.name, info.type)
            if of is None:
                return []
            tensors += of[0]
            if what == "input" and kind(info.type)[0] != "tensor_type":
                shapes.append(f"{info.name}={of[1]}\n")
        found += [(f"{case.name}/{what}_{i}", data) for i, (_, data) in enumerate(tensors)]
    said = [(f"{case.name}/shapes", "".join(shapes).encode())] if shapes else []
    return said + found


def whole_network(case, path, model):
    """What a network makes of a ramp, `i / n` for element `i` of `n`, which a test can make itself."""
    output = onnx.TensorProto()
    with open(path, "rb") as file:
        output.ParseFromString(file.read())
    return [(f"{case}/within", b"0.001 1e-05"), (f"{case}/output_0", named(output, model.graph.output[0].name))]


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
