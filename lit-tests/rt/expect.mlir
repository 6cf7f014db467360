// A list of sizes that data tells is looked at by the host.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --convert-rt-to-llvm | FileCheck %s --check-prefix=LOW

// CHECK: expect %s {copied = #dyn.shape<[N, -1]>, sizes = #dyn.shape<[N, 4]>, what = "reshape"} : !rt.buffer<i64, [2]>
// LOW: data_checks = [{kind = "size", what = "reshape"}]
// LOW: func.func @sutura_run
// LOW: llvm.load {{.*}} : {{.*}} -> i64
// LOW: arith.select
// LOW: llvm.call
rt.program @main(%x : !rt.buffer<f32, [N, 4]> in "x", %s : !rt.buffer<i64, [2]> in "s", %y : !rt.buffer<f32, [N, 4]> out "y")
    symbols(N : [0, 100]) attributes {planned} {
  expect %s {what = "reshape", sizes = #dyn.shape<[N, 4]>, copied = #dyn.shape<[N, -1]>} : !rt.buffer<i64, [2]>
  copy %x, %y : !rt.buffer<f32, [N, 4]>, !rt.buffer<f32, [N, 4]>
}
