# The tests of this folder under LLVM's lit:
#
#   lit lit-tests [-D build=target/release] [-D llvm=/usr/lib/llvm-22/bin]
#
# `sutura-opt` comes from the build folder; FileCheck, not, count and split-file
# from LLVM.
import os
import shutil

import lit.formats

config.name = "Sutura"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

project = os.path.dirname(config.test_source_root)
config.test_exec_root = os.path.join(project, "target", "lit-llvm", config.name)

build = lit_config.params.get("build")
builds = [build] if build else ["target/release", "target/debug"]
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-22/bin")
path = [os.path.join(project, folder) for folder in builds] + [llvm]
# NVIDIA's tools: what `cargo xtask test` fetches, unless others are named.
for variable, folder in [
    ("SUTURA_PTXAS", "target/ptxas/nvidia/cuda_nvcc/bin"),
    ("SUTURA_NVDISASM", "target/nvdisasm/nvidia/cu13/bin"),
]:
    named = os.environ.get(variable)
    path.append(os.path.dirname(named) if named else os.path.join(project, folder))
path.append(os.environ["PATH"])
config.environment["PATH"] = os.pathsep.join(path)
# Nothing is taken from the user's cache, or left in it.
config.environment["SUTURA_CACHE_DIR"] = ""

for tool in ["sutura-opt", "sutura", "mlir-opt", "ptxas", "nvdisasm"]:
    if shutil.which(tool, path=config.environment["PATH"]):
        config.available_features.add(tool)
config.available_features.add("system-" + os.uname().sysname.lower())
config.recursiveExpansionLimit = 32
