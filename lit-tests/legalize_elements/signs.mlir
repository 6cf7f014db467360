// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=4 --strict -o %t.mlir

// Bytes that have zeros above the elements get the sign there where the same bits are taken for signed integers and compared.
#one = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @largest
// CHECK: arith.andi
// CHECK: graph.compute
// CHECK: arith.shrsi
// CHECK: graph.scan
func.func @largest(%x: tensor<?xi8, #dyn.shape<[S]>>) -> (tensor<?xui2, #dyn.shape<[S]>>, tensor<?xi2, #dyn.shape<[S]>>) {
  %0 = graph.compute ins(%x : tensor<?xi8, #dyn.shape<[S]>>) -> tensor<?xui2, #dyn.shape<[S]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one]} {
  ^bb0(%e: i8):
    %n = arith.trunci %e : i8 to i2
    graph.yield %n : i2
  }
  %1 = graph.bitcast %0 : tensor<?xui2, #dyn.shape<[S]>> -> tensor<?xi2, #dyn.shape<[S]>>
  %2 = graph.scan %1 {axis = 0 : i64, combiner = #graph.combiner<max>} : tensor<?xi2, #dyn.shape<[S]>> -> tensor<?xi2, #dyn.shape<[S]>>
  return %0, %2 : tensor<?xui2, #dyn.shape<[S]>>, tensor<?xi2, #dyn.shape<[S]>>
}
