// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

#one = affine_map<(d0) -> (d0)>

// What is read is decoded, what is yielded is encoded; in between it is f32.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: %x: tensor<?xf8E4M3FN, #dyn.shape<[N]>>
// CHECK-DAG: graph.bitcast %x : tensor<?xf8E4M3FN, #dyn.shape<[N]>> -> tensor<?xi8, #dyn.shape<[N]>>
// CHECK-DAG: graph.bitcast %y : tensor<?xf8E5M2, #dyn.shape<[N]>> -> tensor<?xi8, #dyn.shape<[N]>>
// CHECK: graph.compute ins({{.*}} : tensor<?xi8, #dyn.shape<[N]>>, tensor<?xi8, #dyn.shape<[N]>>) -> tensor<?xi8, #dyn.shape<[N]>>
// CHECK: ^bb0(%{{.*}}: i8, %{{.*}}: i8):
// CHECK-NOT: f8
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: graph.yield %{{.*}} : i8
// CHECK: graph.bitcast %{{.*}} : tensor<?xi8, #dyn.shape<[N]>> -> tensor<?xf8E4M3FN, #dyn.shape<[N]>>
func.func @sum(%x: tensor<?xf8E4M3FN, #dyn.shape<[N]>>, %y: tensor<?xf8E5M2, #dyn.shape<[N]>>) -> tensor<?xf8E4M3FN, #dyn.shape<[N]>> {
  %0 = graph.compute ins(%x, %y : tensor<?xf8E4M3FN, #dyn.shape<[N]>>, tensor<?xf8E5M2, #dyn.shape<[N]>>) -> tensor<?xf8E4M3FN, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one]} {
  ^bb0(%a: f8E4M3FN, %b: f8E5M2):
    %c = arith.extf %b : f8E5M2 to f32
    %d = arith.extf %a : f8E4M3FN to f32
    %e = arith.addf %c, %d : f32
    %f = arith.truncf %e : f32 to f8E4M3FN
    %g = arith.constant 2.0 : f8E4M3FN
    %h = arith.mulf %f, %g : f8E4M3FN
    graph.yield %h : f8E4M3FN
  }
  return %0 : tensor<?xf8E4M3FN, #dyn.shape<[N]>>
}

// Every number of each format, from every type and back.
// CHECK-LABEL: func.func @formats
func.func @formats(%x: tensor<256xi8>) -> (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) {
  %a = graph.bitcast %x : tensor<256xi8> -> tensor<256xf8E4M3FN>
  %b = graph.bitcast %x : tensor<256xi8> -> tensor<256xf8E4M3FNUZ>
  %c = graph.bitcast %x : tensor<256xi8> -> tensor<256xf8E5M2>
  %d = graph.bitcast %x : tensor<256xi8> -> tensor<256xf8E5M2FNUZ>
  %0, %1, %2, %3 = graph.compute ins(%a, %b, %c, %d : tensor<256xf8E4M3FN>, tensor<256xf8E4M3FNUZ>, tensor<256xf8E5M2>, tensor<256xf8E5M2FNUZ>) -> tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one, #one, #one, #one]} {
  ^bb0(%e: f8E4M3FN, %f: f8E4M3FNUZ, %g: f8E5M2, %h: f8E5M2FNUZ):
    %p = arith.extf %e : f8E4M3FN to f32
    %q = arith.extf %f : f8E4M3FNUZ to f32
    %r = arith.extf %g : f8E5M2 to f32
    %s = arith.extf %h : f8E5M2FNUZ to f32
    graph.yield %p, %q, %r, %s : f32, f32, f32, f32
  }
  return %0, %1, %2, %3 : tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
}

// Reductions are accumulated as f32 and rounded once; so are running combinations.
// CHECK-LABEL: func.func @rows
// CHECK: -> tensor<?xf32, #dyn.shape<[M]>>
// CHECK: graph.scan %{{.*}} : tensor<?x?xf32, #dyn.shape<[M, N]>> -> tensor<?x?xf32, #dyn.shape<[M, N]>>
func.func @rows(%x: tensor<?x?xf8E4M3FN, #dyn.shape<[M, N]>>) -> (tensor<?xf8E4M3FN, #dyn.shape<[M]>>, tensor<?x?xf8E4M3FN, #dyn.shape<[M, N]>>) {
  %0 = graph.compute ins(%x : tensor<?x?xf8E4M3FN, #dyn.shape<[M, N]>>) -> tensor<?xf8E4M3FN, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]} {
  ^bb0(%a: f8E4M3FN):
    graph.yield %a : f8E4M3FN
  }
  %1 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<max>} : tensor<?x?xf8E4M3FN, #dyn.shape<[M, N]>> -> tensor<?x?xf8E4M3FN, #dyn.shape<[M, N]>>
  return %0, %1 : tensor<?xf8E4M3FN, #dyn.shape<[M]>>, tensor<?x?xf8E4M3FN, #dyn.shape<[M, N]>>
}

// What moves elements moves bytes; constants keep theirs; what is read outside is bits.
// What is stated of sizes stays at the entry.
// CHECK-LABEL: func.func @moves
// CHECK-NEXT: graph.constant dense<0> : tensor<1xi8>
// CHECK-NEXT: dyn.symbol "K"
// CHECK-NEXT: dyn.symbol "N"
// CHECK-NEXT: graph.constant dense<[56, -64, 127]> : tensor<3xi8>
// CHECK-NEXT: graph.bitcast %x
// CHECK: graph.concat {{.*}} : tensor<3xi8>, tensor<?xi8, #dyn.shape<[N]>> -> tensor<?xi8, #dyn.shape<[N + 3]>>
// CHECK: graph.gather {{.*}} -> tensor<?xi8, #dyn.shape<[K]>>
// CHECK: oob = [56 : i8]
func.func @moves(%x: tensor<?xf8E4M3FN, #dyn.shape<[N]>>, %i: tensor<?xi64, #dyn.shape<[K]>>) -> (tensor<?xf8E4M3FN, #dyn.shape<[K]>>, tensor<?xf8E4M3FN, #dyn.shape<[K + 2]>>) {
  %z = graph.constant dense<0.0> : tensor<1xf8E4M3FN>
  %K = dyn.symbol "K" {range = [0, 20]} : index
  %N = dyn.symbol "N" {range = [0, 20]} : index
  %c = graph.constant dense<[1.0, -2.0, 0x7F]> : tensor<3xf8E4M3FN>
  %0 = graph.concat %c, %x {axis = 0 : i64} : tensor<3xf8E4M3FN>, tensor<?xf8E4M3FN, #dyn.shape<[N]>> -> tensor<?xf8E4M3FN, #dyn.shape<[N + 3]>>
  %j = graph.compute ins(%i : tensor<?xi64, #dyn.shape<[K]>>) -> tensor<?xi64, #dyn.shape<[K]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one]} {
  ^bb0(%a: i64):
    %one = arith.constant 1 : i64
    %b = arith.andi %a, %one : i64
    graph.yield %b : i64
  }
  %1 = graph.gather %0, %j {axis = 0 : i64} : tensor<?xf8E4M3FN, #dyn.shape<[N + 3]>>, tensor<?xi64, #dyn.shape<[K]>> -> tensor<?xf8E4M3FN, #dyn.shape<[K]>>
  %2 = graph.compute ins(%1 : tensor<?xf8E4M3FN, #dyn.shape<[K]>>) -> tensor<?xf8E4M3FN, #dyn.shape<[K + 2]>> {iterators = #graph.iterators<[parallel]>, oob = [1.0 : f8E4M3FN], maps = [affine_map<(d0) -> (d0 - 1)>, #one]} {
  ^bb0(%a: f8E4M3FN):
    graph.yield %a : f8E4M3FN
  }
  return %1, %2 : tensor<?xf8E4M3FN, #dyn.shape<[K]>>, tensor<?xf8E4M3FN, #dyn.shape<[K + 2]>>
}

// An f64 is rounded once, not first to f32; other floats reach bytes through f32.
// CHECK-LABEL: func.func @conversions
func.func @conversions(%x: tensor<?xf64, #dyn.shape<[N]>>, %y: tensor<?xf16, #dyn.shape<[N]>>) -> (tensor<?xf8E5M2, #dyn.shape<[N]>>, tensor<?xf8E5M2FNUZ, #dyn.shape<[N]>>) {
  %0, %1 = graph.compute ins(%x, %y : tensor<?xf64, #dyn.shape<[N]>>, tensor<?xf16, #dyn.shape<[N]>>) -> tensor<?xf8E5M2, #dyn.shape<[N]>>, tensor<?xf8E5M2FNUZ, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one]} {
  ^bb0(%a: f64, %b: f16):
    %c = arith.truncf %a : f64 to f8E5M2
    %d = arith.truncf %b : f16 to f8E5M2FNUZ
    graph.yield %c, %d : f8E5M2, f8E5M2FNUZ
  }
  return %0, %1 : tensor<?xf8E5M2, #dyn.shape<[N]>>, tensor<?xf8E5M2FNUZ, #dyn.shape<[N]>>
}
