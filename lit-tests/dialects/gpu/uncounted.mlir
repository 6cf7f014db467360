// A function that does not say how many buffers its block has keeps its generic form: the custom form would say that it has none. (Upstream
// writes the custom form, which does not read back to the same operation.)
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    "gpu.func"() <{function_type = () -> ()}> ({
      gpu.return
    }) {sym_name = "uncounted"} : () -> ()
  }
}
