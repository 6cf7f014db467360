// What a schedule says of the caches stands in the kernels; the rest is filled in from the numbers of the machine.
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir --check-passes --remarks --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir,canonicalize,cse,gir-simplify,loop-invariant-code-motion,gir-cache-hints)' --split-input-file | FileCheck %s --check-prefix=HINTED
// RUN: sutura-opt %s --schedule-regions --split-input-file -o %t.written
// RUN: sutura-opt %t.written --convert-graph-to-gir --split-input-file -o %t.again
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file -o %t.once
// RUN: diff %t.once %t.again
// SAID-COUNT-3: 1 functions compared

// CHECK-LABEL: gir.kernel
// CHECK: gir.load %{{.*}} prefetch(4096, next when(-N + 65536)) :
// CHECK: %[[E:.*]] = gir.unary "exp"
// CHECK: %[[TO:.*]] = gir.slice
// CHECK-NEXT: %[[H:.*]] = gir.home %[[E]], %[[TO]] :
// CHECK: gir.reduce "add" "cols" %[[H]]
// CHECK: gir.store %{{.*}}, %[[TO]] stream when(8*M*N - 65536) defer :
// HINTED-LABEL: gir.kernel
// HINTED: gir.load %{{.*}} prefetch(4096, next when(-N + 65536)) :
// HINTED-COUNT-1: gir.home
// HINTED: gir.store {{.*}} stream when(8*M*N - 65536) defer :
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @all(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { operand e:0.0 cols d1 in l1 prefetch(4096, next when [-N + 65536]) place e:0 cols d1 in l1 home q:2 place s:1 cols d1 in l1 place q:2 cols d1 in l1 stream when [8*M*N - 65536] defer } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

// The numbers of the machine say the rest, and nothing of what is kept.
// CHECK-LABEL: gir.kernel
// CHECK-NOT: gir.home
// CHECK: gir.store %{{.*}}, %{{.*}} kept :
// HINTED-LABEL: gir.kernel
// HINTED: gir.load %{{.*}} prefetch(next
// HINTED: gir.home
// HINTED: gir.store {{.*}} kept :
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @kept(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 kept } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

// CHECK-LABEL: gir.kernel
// CHECK: gir.store %{{.*}}, %{{.*}} stream :
// HINTED-LABEL: gir.kernel
// HINTED: gir.store {{.*}} stream :
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @always(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 stream } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}
