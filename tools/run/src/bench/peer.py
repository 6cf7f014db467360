# Times onnxruntime for `sutura bench`: a request on each line of stdin, a reply on each line of stdout, both JSON.
import json
import sys
import time

import numpy
import onnxruntime

sessions, inputs = {}, {}


def session(model, threads):
    if (model, threads) not in sessions:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        sessions[model, threads] = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return sessions[model, threads]


def times(request):
    run = session(request["model"], request["threads"]).run
    if request["inputs"] not in inputs:
        inputs.clear()
        with numpy.load(request["inputs"]) as file:
            inputs[request["inputs"]] = {name: file[name] for name in file.files}
    feed = inputs[request["inputs"]]
    run(None, feed)
    found, end = [], time.perf_counter_ns() + request["nanoseconds"]
    while not found or time.perf_counter_ns() < end:
        start = time.perf_counter_ns()
        run(None, feed)
        found.append(time.perf_counter_ns() - start)
    return found


print(json.dumps({"version": onnxruntime.__version__}), flush=True)
for line in sys.stdin:
    try:
        reply = {"times": times(json.loads(line))}
    except Exception as error:  # Whatever it is, `sutura bench` says it.
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
