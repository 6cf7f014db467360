"""Calls from C beside onnxruntime's C interface: what a call costs, and 8 threads at mixed shapes.

    python3 benches/calls/run.py --sutura target/release/sutura --library target/release

The folder of --library has libsutura_rt.so (`cargo build --release -p sutura-capi`). Needs onnx and onnxruntime, and `cc`.
"""

import argparse
import pathlib
import subprocess
import tempfile

import onnx
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def one_operation(path):
    """y = |x| of 1x1."""
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 1])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Abs", ["x"], ["y"])], "one", [value("x")], [value("y")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sutura", required=True, help="the compiler")
    parser.add_argument("--library", required=True, help="the folder of libsutura_rt.so")
    options = parser.parse_args()
    library = str(pathlib.Path(options.library).resolve())
    theirs = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        one_operation(folder / "one.onnx")
        sources = [folder / "one.onnx", ROOT / "examples/mlp/mlp.onnx", ROOT / "examples/encoder/encoder.onnx"]
        for source in sources:
            artifact = folder / (source.stem + ".sutura")
            subprocess.run([options.sutura, "compile", "-q", source, "-o", artifact], check=True)
        one, mlp, encoder = ([source, folder / (source.stem + ".sutura")] for source in sources)
        for name, models in [("overhead", one), ("threads", mlp + encoder)]:
            program = folder / name
            flags = ["-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "runtime/include", "-L", library]
            links = ["-lsutura_rt", "-lpthread", "-ldl", f"-Wl,-rpath,{library}"]
            subprocess.run(["cc", *flags, HERE / f"{name}.c", "-o", program, *links], check=True)
            subprocess.run([program, theirs, *models], check=True)


if __name__ == "__main__":
    main()
