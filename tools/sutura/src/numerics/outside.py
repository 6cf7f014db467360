# Runs operations for `sutura debug numerics`: a request on each line of stdin, a reply on each line of stdout, both JSON.
import json
import sys

import numpy
import onnxruntime

options = onnxruntime.SessionOptions()
options.log_severity_level = 4
# Each operation as it is written.
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


def run(request):
    session = onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
    feed = {}
    if request["inputs"]:
        with numpy.load(request["inputs"]) as file:
            feed = {name: file[name] for name in file.files}
    numpy.save(request["result"], session.run([request["output"]], feed)[0])


print(json.dumps({"version": onnxruntime.__version__}), flush=True)
for line in sys.stdin:
    try:
        run(json.loads(line))
        reply = {}
    except Exception as error:  # Whatever it is, the command says it.
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
