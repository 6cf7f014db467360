"""Writes `cases.xz`: the models of ONNX's backend tests, without their tensors.

Run it with the `onnx` package of PyPI (the version is in README.md): python generate.py

The archive is one xz stream of records, in the order of their names: a line `NAME SIZE`, then SIZE bytes, an ONNX file.
"""

import lzma
import os
import warnings

warnings.filterwarnings("ignore")

from onnx.backend.test.loader import DATA_DIR, load_model_tests  # noqa: E402

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")


def models():
    for kind in KINDS:
        for case in load_model_tests(kind=kind):
            if case.model_dir:
                with open(os.path.join(case.model_dir, "model.onnx"), "rb") as file:
                    yield case.name, file.read()
            elif case.model is not None:
                yield case.name, case.model.SerializeToString(deterministic=True)
    light = os.path.join(DATA_DIR, "light")
    for name in os.listdir(light):
        if name.endswith(".onnx"):
            with open(os.path.join(light, name), "rb") as file:
                yield name.removesuffix(".onnx"), file.read()


def main():
    found = dict(models())
    records = b"".join(f"{name} {len(data)}\n".encode() + data for name, data in sorted(found.items()))
    packed = lzma.compress(records, check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.xz"), "wb") as file:
        file.write(packed)
    print(f"{len(found)} models, {len(records)} bytes, {len(packed)} packed")


if __name__ == "__main__":
    main()
