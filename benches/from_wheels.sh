#!/bin/sh
# Time from nothing but wheels to the first result of a model of one's own: a new environment, both packages installed, the
# model compiled and called.
#
#     cargo xtask wheel
#     pip download numpy -d HOUSE && cp target/wheels/*.whl HOUSE
#     benches/from_wheels.sh HOUSE [MODEL.onnx]
set -eu
house=$1
model=${2:-examples/mlp/mlp.onnx}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
begin=$(date +%s)
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check --no-index --find-links "$house" sutura sutura-compiler
"$folder/venv/bin/python" - "$model" <<'PYTHON'
import sys
import numpy
import sutura

model = sutura.compile(sys.argv[1])
inputs = [numpy.ones([2 if isinstance(dim, str) else dim for dim in value.dims], value.dtype) for value in model.inputs]
print(model, "gives", model(*inputs))
PYTHON
echo "$(($(date +%s) - begin)) s"
