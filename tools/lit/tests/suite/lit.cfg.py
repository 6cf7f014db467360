# The same tests under LLVM's lit; `strict` and `timeout` have results of their own.
import os

import lit.formats

config.name = "sutura-lit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.excludes = ["Inputs", "strict", "timeout"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["exec_root"]
config.available_features.update(["there", "FileCheck", "system-linux"])
config.recursiveExpansionLimit = 10
config.substitutions.append(("%{greet}", "echo hello from %basename_t"))
config.substitutions.append(("%{root}", config.test_source_root))
config.substitutions.append(("%{size}", lit_config.params.get("size", "small")))
config.environment["SUITE_VARIABLE"] = "from the suite"
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["llvm_bin"], config.environment["PATH"]]
)
