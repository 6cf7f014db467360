// A machine's spaces have names of its own; the lowering takes them from there. Rows that no cache holds stay legal in a
// cache, which evicts, but not in a scratchpad, which the program manages.

// DEFINE: %{kernels} = func.func(canonicalize,stitch),convert-graph-to-gir
// RUN: split-file %s %t
// RUN: sutura-opt %t/cached.mlir --pass-pipeline='builtin.module(%{kernels})' | FileCheck %s
// RUN: sutura-opt %t/cached.mlir --pass-pipeline='builtin.module(%{kernels},convert-gir-to-cpu)' | FileCheck %s --check-prefix=CPU
// RUN: not sutura-opt %t/wide.mlir --pass-pipeline='builtin.module(convert-gir-to-cpu)' 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not sutura-opt %t/scratch.mlir 2>&1 | FileCheck %s --check-prefix=SCRATCH

// CHECK: gir.kernel @main_row
// CHECK-SAME: !gir.view<ram, f32, [M, N]> in
// CHECK: !gir.tile<near, f32, [1, N]>
// CHECK: gir.move {{.*}} !gir.tile<near, f32, [1, 1]> -> !gir.tile<regs, f32, [1, 1]>
// CPU: func.func @main_row
// CPU: vector<8xf32>

// WIDE: 'target.machine' op has vectors of 512 bytes; a CPU's are a power of two from 4 to 256

// SCRATCH: holds up to 1048576 bytes in space 'pad' of @m, which has 4096

//--- cached.mlir
target.machine @m {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @regs {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @near {class = "sram", owner = "unit", bytes = 4096, cached}
  target.space @ram {class = "dram", owner = "all"}
}
func.func @main(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %max = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %y = graph.compute ins(%max : tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    graph.yield %s : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[M]>>
}

//--- wide.mlir
target.machine @m {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @regs {class = "reg", owner = "unit", bytes = 4096, vector = 512}
  target.space @dram {class = "dram", owner = "all"}
}

//--- scratch.mlir
target.machine @m {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @regs {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @pad {class = "sram", owner = "unit", bytes = 4096, managed}
  target.space @dram {class = "dram", owner = "all"}
}
gir.kernel @k(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M]> out)
    dims(%M : [0, 100], %N : [1, 262144]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<pad, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<pad, f32, [1, N]>
  %out = gir.slice %y[%i] : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %m, %out : !gir.tile<pad, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}
