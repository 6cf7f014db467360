// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --propagate-shapes | FileCheck %s

// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1) -> (d0, d1 * -2 + 8)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d0, d1 + 6)>
// CHECK-DAG: #[[BEHIND:.*]] = affine_map<(d0, d1) -> (d0, d1 - 9)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0)[s0, s1] -> (d0 - s0)>
// CHECK-DAG: #[[THIRD:.*]] = affine_map<(d0)[s0, s1] -> (d0 - s1)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK-DAG: #[[END:.*]] = affine_map<(d0)[s0] -> (d0 + s0 - 3)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0)[s0] -> (d0 * -2 + s0 - 1)>

// Bounds that count from the end, are clamped or go backwards are known where the size is.
// CHECK-LABEL: func.func @slices
// CHECK: graph.compute ins(%x : {{.*}}maps = [#[[BACK]], #
// CHECK: graph.compute ins(%x : {{.*}}maps = [#[[LAST]], #
func.func @slices(%x: tensor<?x9xf32>) -> (tensor<?x5xf32>, tensor<?x3xf32>) {
  %a = graph.slice %x {axes = array<i64: 1>, ends = array<i64: -100>, starts = array<i64: -1>, steps = array<i64: -2>}
      : tensor<?x9xf32> -> tensor<?x5xf32>
  %b = graph.slice %x {axes = array<i64: 1>, ends = array<i64: 100>, starts = array<i64: -3>, steps = array<i64: 1>}
      : tensor<?x9xf32> -> tensor<?x3xf32>
  return %a, %b : tensor<?x5xf32>, tensor<?x3xf32>
}

// Where a slice starts follows from a size: it begins 3 before the end, or there is nothing.
// CHECK-LABEL: func.func @behind
// CHECK: graph.compute ins(%x
func.func @behind(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %a = graph.slice %x {axes = array<i64: 1>, ends = array<i64: 100>, starts = array<i64: -3>, steps = array<i64: 1>}
      : tensor<?x?xf32> -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}

// Where a slice starts is not known before the program runs.
// CHECK-LABEL: func.func @open
// CHECK: graph.slice
func.func @open(%x: tensor<?x?xf32>, %starts: tensor<1xi64>, %ends: tensor<1xi64>) -> tensor<?x?xf32> {
  %a = graph.slice %x[%starts, %ends] {axes = array<i64: 1>, steps = array<i64: 1>}
      : tensor<?x?xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}

// Each element is read from its part.
// CHECK-LABEL: func.func @concat
// CHECK: graph.compute ins(%a, %b : {{.*}}#[[BEHIND]]
// CHECK: %[[AT:.*]] = graph.index 1
// CHECK: %[[HERE:.*]] = arith.cmpi sge, %[[AT]], %c9
// CHECK: arith.select %[[HERE]]
func.func @concat(%a: tensor<?x9xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = graph.concat %a, %b {axis = 1 : i64} : tensor<?x9xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// Where a part starts may follow from sizes.
// CHECK-LABEL: func.func @parts
// CHECK: graph.compute ins(%a, %b, %a : {{.*}}maps = [#[[ONE:.*]], #[[SECOND]], #[[THIRD]], #[[ONE]]]{{.*}}sizes = #dyn.shape<[a_0, a_0 + b_0]>
// CHECK: graph.size [a_0] : index
// CHECK: graph.size [a_0 + b_0] : index
func.func @parts(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = graph.concat %a, %b, %a {axis = 0 : i64} : tensor<?xf32>, tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// A list of integers is joined as any tensor is; what is known of its elements still is.
// CHECK-LABEL: func.func @integers
// CHECK: graph.compute ins(%s, %s : tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
// CHECK: graph.reshape %x : {{.*}} -> tensor<?x4xf32, #dyn.shape<[x_0, 4]>>
func.func @integers(%x: tensor<?x2x2xf32>, %s: tensor<2xi64>) -> (tensor<4xi64>, tensor<?x?xf32>) {
  %d = graph.concat %s, %s {axis = 0 : i64} : tensor<2xi64>, tensor<2xi64> -> tensor<4xi64>
  %shape = graph.shape_of %x : tensor<?x2x2xf32> -> tensor<3xi64>
  %n = graph.slice %shape {axes = array<i64: 0>, ends = array<i64: 1>, starts = array<i64: 0>, steps = array<i64: 1>}
      : tensor<3xi64> -> tensor<1xi64>
  %four = graph.constant dense<[4]> : tensor<1xi64>
  %wanted = graph.concat %n, %four {axis = 0 : i64} : tensor<1xi64>, tensor<1xi64> -> tensor<2xi64>
  %y = graph.reshape %x, %wanted : tensor<?x2x2xf32>, tensor<2xi64> -> tensor<?x?xf32>
  return %d, %y : tensor<4xi64>, tensor<?x?xf32>
}

// A slice may begin at a size, count from an end that is no constant, or go backwards from there.
// CHECK-LABEL: func.func @places
// CHECK: graph.compute ins(%x : {{.*}} -> tensor<?xf32, #dyn.shape<[S]>> {{.*}}maps = [#[[FROM]], {{.*}}sizes = #dyn.shape<[P]>
// CHECK: graph.compute ins(%x : {{.*}} -> tensor<3xf32> {{.*}}maps = [#[[END]], {{.*}}sizes = #dyn.shape<[P + S]>
// CHECK: graph.compute ins(%x : {{.*}} -> tensor<?xf32, #dyn.shape<[(P + S + 1) floordiv 2]>> {{.*}}maps = [#[[TURNED]], {{.*}}sizes = #dyn.shape<[P + S]>
func.func @places(%x: tensor<?xf32, #dyn.shape<[P + S]>>, %p: tensor<?xf32, #dyn.shape<[P]>>, %s: tensor<?xf32, #dyn.shape<[S]>>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %P = dyn.symbol "P" {range = [3, 100]} : index
  %S = dyn.symbol "S" : index
  %start = graph.shape_of %p : tensor<?xf32, #dyn.shape<[P]>> -> tensor<1xi64>
  %end = graph.constant dense<[9223372036854775807]> : tensor<1xi64>
  %a = graph.slice %x[%start, %end] {axes = array<i64: 0>, steps = array<i64: 1>}
      : tensor<?xf32, #dyn.shape<[P + S]>>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  %b = graph.slice %x {axes = array<i64: 0>, ends = array<i64: 9223372036854775807>, starts = array<i64: -3>, steps = array<i64: 1>}
      : tensor<?xf32, #dyn.shape<[P + S]>> -> tensor<?xf32>
  %c = graph.slice %x {axes = array<i64: 0>, ends = array<i64: -9223372036854775807>, starts = array<i64: -1>, steps = array<i64: -2>}
      : tensor<?xf32, #dyn.shape<[P + S]>> -> tensor<?xf32>
  return %a, %b, %c : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// A list of sizes that is computed with; what is known of its elements still is.
// CHECK-LABEL: func.func @sizes
// CHECK-NOT: graph.shape_of
// CHECK: %s = graph.compute ins() -> tensor<2xi64>
// CHECK: graph.size [S] : index
// CHECK: arith.select
// CHECK: %[[Y:.*]] = graph.reshape %x : {{.*}} -> tensor<?x?xf32, #dyn.shape<[S, B]>>
// CHECK: return %[[Y]], %s
func.func @sizes(%x: tensor<?x?xf32, #dyn.shape<[B, S]>>) -> (tensor<?x?xf32>, tensor<2xi64>) {
  %s = graph.shape_of %x : tensor<?x?xf32, #dyn.shape<[B, S]>> -> tensor<2xi64>
  %i = graph.constant dense<[1, 0]> : tensor<2xi64>
  %turned = graph.gather %s, %i {axis = 0 : i64} : tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
  %y = graph.reshape %x, %turned : tensor<?x?xf32, #dyn.shape<[B, S]>>, tensor<2xi64> -> tensor<?x?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<2xi64>
}

// There is nothing to compute of a number's shape.
// CHECK-LABEL: func.func @no_sizes
// CHECK: graph.shape_of
func.func @no_sizes(%x: tensor<f32>) -> tensor<0xi64> {
  %s = graph.shape_of %x : tensor<f32> -> tensor<0xi64>
  return %s : tensor<0xi64>
}

// Many parts are joined in groups, and the groups then.
// CHECK-LABEL: func.func @many
// CHECK: %[[FIRST:.*]] = graph.compute ins(%x, %x, %x, %x, %x, %x, %x, %x, %x : {{.*}} -> tensor<27x4xf32>
// CHECK: %[[REST:.*]] = graph.compute ins(%x, %x, %x, %x, %x, %x, %x, %x : {{.*}} -> tensor<24x4xf32>
// CHECK: %[[ALL:.*]] = graph.compute ins(%[[FIRST]], %[[REST]] : {{.*}} -> tensor<51x4xf32>
// CHECK: return %[[ALL]]
func.func @many(%x: tensor<3x4xf32>) -> tensor<51x4xf32> {
  %y = graph.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0 : i64}
      : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
      -> tensor<51x4xf32>
  return %y : tensor<51x4xf32>
}

// What is left of a slice is sliced again.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: graph.slice
// CHECK: return
func.func @twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = graph.slice %x {axes = array<i64: 0>, ends = array<i64: 9223372036854775807>, starts = array<i64: 1>, steps = array<i64: 1>}
      : tensor<?x4xf32> -> tensor<?x4xf32>
  %b = graph.slice %a {axes = array<i64: 0>, ends = array<i64: -1>, starts = array<i64: 0>, steps = array<i64: 1>}
      : tensor<?x4xf32> -> tensor<?x4xf32>
  return %b : tensor<?x4xf32>
}
