// Scans by themselves: every axis, rank and type becomes a kernel, and results stay the same where vectors, tiles and
// versions begin and end.

// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=32 --check-passes=1 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!ints = tensor<?x?xi32, #dyn.shape<[M, N]>>
!longs = tensor<?x?xi64, #dyn.shape<[M, N]>>
!halves = tensor<?x?xf16, #dyn.shape<[M, N]>>
!doubles = tensor<?xf64, #dyn.shape<[N]>>

// Rows are scanned whole, however long they are.
// CHECK-LABEL: gir.kernel @last_row0(
// CHECK-SAME: grid(%{{.*}} = M)
// CHECK: %[[X:.*]] = gir.load %{{.*}} -> !gir.tile<l1, f32, [1, N]>
// CHECK: %[[Y:.*]] = gir.scan "add" "cols" %[[X]] : !gir.tile<l1, f32, [1, N]>
// CHECK: gir.store %[[Y]]
func.func @last(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 2]} : index
  %N = dyn.symbol "N" {range = [0, 40], likely = [1, 8, 9]} : index
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : !matrix -> !matrix
  return %y : !matrix
}

// Columns in registers; the loop carries what is above.
// CHECK-LABEL: gir.kernel @first_row
// CHECK: gir.for
// CHECK: %[[SUM:.*]] = gir.binary "addi"
// CHECK: gir.store
func.func @first(%x: !ints) -> !ints {
  %M = dyn.symbol "M" {range = [1, 3]} : index
  %N = dyn.symbol "N" {range = [1, 70]} : index
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>, exclusive} : !ints -> !ints
  return %y : !ints
}

// The first trip has the last row.
// CHECK-LABEL: gir.kernel @first_backward_row
// CHECK: gir.for
// CHECK: gir.index
func.func @first_backward(%x: !longs) -> !longs {
  %M = dyn.symbol "M" {range = [0, 1]} : index
  %N = dyn.symbol "N" {range = [7, 33]} : index
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<max>, reverse} : !longs -> !longs
  return %y : !longs
}

// CHECK-LABEL: gir.kernel @last_backward_row
// CHECK: gir.scan "minsi" "cols" %{{.*}} {exclusive, reverse} : !gir.tile<l1, i64, [1, N]>
func.func @last_backward(%x: !longs) -> !longs {
  %M = dyn.symbol "M" {range = [0, 2]} : index
  %N = dyn.symbol "N" {range = [0, 8]} : index
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<min>, exclusive, reverse} : !longs -> !longs
  return %y : !longs
}

// Narrow floats are accumulated in wider ones.
// CHECK-LABEL: gir.kernel @narrow_row
// CHECK: %[[WIDE:.*]] = gir.cast "extf"
// CHECK: %[[SUM:.*]] = gir.scan "add" "cols" %[[WIDE]] {reverse} : !gir.tile<l1, f32, [1, N]>
// CHECK: gir.cast "truncf" %[[SUM]]
func.func @narrow(%x: !halves) -> !halves {
  %M = dyn.symbol "M" {range = [1, 3]} : index
  %N = dyn.symbol "N" {range = [15, 16]} : index
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>, reverse} : !halves -> !halves
  return %y : !halves
}

func.func @narrow_first(%x: !halves) -> !halves {
  %M = dyn.symbol "M" {range = [0, 1]} : index
  %N = dyn.symbol "N" {range = [1, 31]} : index
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>, exclusive} : !halves -> !halves
  return %y : !halves
}

// One dimension.
func.func @line(%x: !doubles) -> !doubles {
  %N = dyn.symbol "N" {range = [0, 17]} : index
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<mul>, exclusive} : !doubles -> !doubles
  return %y : !doubles
}

// Dimensions of one element, before, behind and along the scan.
func.func @before(%x: tensor<1x?x1xf32, #dyn.shape<[1, N, 1]>>) -> tensor<1x?x1xf32, #dyn.shape<[1, N, 1]>> {
  %N = dyn.symbol "N" {range = [1, 9]} : index
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<1x?x1xf32, #dyn.shape<[1, N, 1]>> -> tensor<1x?x1xf32, #dyn.shape<[1, N, 1]>>
  return %y : tensor<1x?x1xf32, #dyn.shape<[1, N, 1]>>
}

// CHECK-LABEL: gir.kernel @along_row
// CHECK-NOT: gir.scan
func.func @along(%x: tensor<?x1xf32, #dyn.shape<[N, 1]>>) -> (tensor<?x1xf32, #dyn.shape<[N, 1]>>, tensor<?x1xf32, #dyn.shape<[N, 1]>>) {
  %N = dyn.symbol "N" {range = [7, 33]} : index
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<mul>, exclusive} : tensor<?x1xf32, #dyn.shape<[N, 1]>> -> tensor<?x1xf32, #dyn.shape<[N, 1]>>
  %z = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<mul>} : tensor<?x1xf32, #dyn.shape<[N, 1]>> -> tensor<?x1xf32, #dyn.shape<[N, 1]>>
  return %y, %z : tensor<?x1xf32, #dyn.shape<[N, 1]>>, tensor<?x1xf32, #dyn.shape<[N, 1]>>
}

// CHECK-LABEL: gir.kernel @one_row
func.func @one(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>, exclusive} : tensor<1x1xf32> -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

func.func @small(%x: tensor<3x5xi32>) -> tensor<3x5xi32> {
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>, reverse} : tensor<3x5xi32> -> tensor<3x5xi32>
  return %y : tensor<3x5xi32>
}

// Four dimensions.
func.func @four(%x: tensor<2x?x3x?xi32, #dyn.shape<[2, M, 3, N]>>) -> tensor<2x?x3x?xi32, #dyn.shape<[2, M, 3, N]>> {
  %M = dyn.symbol "M" {range = [0, 2]} : index
  %N = dyn.symbol "N" {range = [0, 8]} : index
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<2x?x3x?xi32, #dyn.shape<[2, M, 3, N]>> -> tensor<2x?x3x?xi32, #dyn.shape<[2, M, 3, N]>>
  return %y : tensor<2x?x3x?xi32, #dyn.shape<[2, M, 3, N]>>
}
