// Numbers that depend on nothing that is read, in tiles of which the last reaches beyond the row: the interpreter compares.
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=16 --check-passes=3 --strict | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=16 --convert-gir-to-cpu=vector-bytes=32 --check-passes=3 --strict -o /dev/null

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: gir.kernel @count_row1
// CHECK: gir.iota "cols"
// CHECK: gir.ternary "select"
// CHECK: gir.reduce "add" "cols"
func.func @count(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %s = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      %v = arith.constant 1.0 : f32
      graph.yield %v : f32
  }
  return %s : tensor<?xf32, #dyn.shape<[M]>>
}

// The last column, and the sum of their numbers.
// CHECK-LABEL: gir.kernel @numbers_row
func.func @numbers(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> (tensor<?xi64, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>>) {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %s:2 = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xi64, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>> {combiners = #graph.combiners<[max, add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row, #row]} {
    ^bb0(%p: f32):
      %i = graph.index 1 : index
      %v = arith.index_cast %i : index to i64
      graph.yield %v, %v : i64, i64
  }
  return %s#0, %s#1 : tensor<?xi64, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>>
}
