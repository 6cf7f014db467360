// RUN: sutura-opt %s --inline --split-input-file --check-passes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --inline --split-input-file --check-passes -o /dev/null
// RUN: sutura-opt %s --inline --remarks --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The symbols of a function become what they stand for, where names are the same too; what it states of them is stated in the
// caller.
// CHECK-LABEL: func.func @caller
// CHECK: %N = dyn.symbol "N" : index
// CHECK: dyn.equal [4*N], [8*(N floordiv 2)]
// CHECK-SAME: source = "`N` of @double, a multiple of 8"
// CHECK: graph.concat %x, %x {{.*}} -> tensor<?x4xf32, #dyn.shape<[8*N, 4]>>
// CHECK: graph.concat %z, %z {{.*}} -> tensor<16x4xf32>
// CHECK-NOT: func.func
func.func @caller(%x: tensor<?x4xf32, #dyn.shape<[4*N, 4]>>, %z: tensor<8x4xf32>) -> (tensor<?x4xf32, #dyn.shape<[8*N, 4]>>, tensor<16x4xf32>) {
  %N = dyn.symbol "N" : index
  %y = call @double(%x) : (tensor<?x4xf32, #dyn.shape<[4*N, 4]>>) -> tensor<?x4xf32, #dyn.shape<[8*N, 4]>>
  %w = call @double(%z) : (tensor<8x4xf32>) -> tensor<16x4xf32>
  return %y, %w : tensor<?x4xf32, #dyn.shape<[8*N, 4]>>, tensor<16x4xf32>
}
func.func private @double(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?x4xf32, #dyn.shape<[2*N, 4]>> {
  %N = dyn.symbol "N" {div = 8} : index
  %y = graph.concat %x, %x {axis = 0} : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<?x4xf32, #dyn.shape<[N, 4]>> -> tensor<?x4xf32, #dyn.shape<[2*N, 4]>>
  return %y : tensor<?x4xf32, #dyn.shape<[2*N, 4]>>
}

// -----

// A size that no argument tells gets a name that the caller has not.
// CHECK-LABEL: func.func @fresh
// CHECK-DAG: dyn.symbol "slice_0" : index
// CHECK-DAG: dyn.symbol "slice_0_2" : index
// CHECK: graph.slice {{.*}} -> tensor<?xf32, #dyn.shape<[slice_0_2]>>
// CHECK: tensor.cast %{{.*}} : tensor<?xf32, #dyn.shape<[slice_0_2]>> to tensor<?xf32, #dyn.shape<[slice_0]>>
func.func @fresh(%x: tensor<?xf32, #dyn.shape<[N]>>, %e: tensor<1xi64>) -> tensor<?xf32, #dyn.shape<[slice_0]>> {
  %N = dyn.symbol "N" : index
  %s = dyn.symbol "slice_0" : index
  %y = call @part(%x, %e) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64>) -> tensor<?xf32, #dyn.shape<[slice_0]>>
  return %y : tensor<?xf32, #dyn.shape<[slice_0]>>
}
func.func private @part(%x: tensor<?xf32, #dyn.shape<[K]>>, %e: tensor<1xi64>) -> tensor<?xf32, #dyn.shape<[slice_0]>> {
  %K = dyn.symbol "K" : index
  %n = dyn.symbol "slice_0" : index
  %s = graph.constant dense<0> : tensor<1xi64>
  %y = graph.slice %x[%s, %e] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[K]>>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32, #dyn.shape<[slice_0]>>
  return %y : tensor<?xf32, #dyn.shape<[slice_0]>>
}

// -----

// What may never run asks nothing of a run, so a function that needs two sizes to be one stays in a condition.
// REMARK: remark: call of '@same' is not inlined: it may be called only where N equals M (dimension 0 of argument 1 and what @same takes), and the call may never run
// CHECK-LABEL: func.func @guarded
// CHECK: call @same
func.func @guarded(%c: i1, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %r = scf.if %c -> (tensor<?xf32, #dyn.shape<[N]>>) {
    %z = func.call @same(%x, %y) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[N]>>
    scf.yield %z : tensor<?xf32, #dyn.shape<[N]>>
  } else {
    scf.yield %x : tensor<?xf32, #dyn.shape<[N]>>
  }
  return %r : tensor<?xf32, #dyn.shape<[N]>>
}
func.func private @same(%x: tensor<?xf32, #dyn.shape<[K]>>, %y: tensor<?xf32, #dyn.shape<[K]>>) -> tensor<?xf32, #dyn.shape<[K]>> {
  %z = graph.compute ins(%x, %y : tensor<?xf32, #dyn.shape<[K]>>, tensor<?xf32, #dyn.shape<[K]>>) -> tensor<?xf32, #dyn.shape<[K]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  }
  return %z : tensor<?xf32, #dyn.shape<[K]>>
}
