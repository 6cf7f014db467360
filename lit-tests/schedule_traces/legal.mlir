// Each primitive, as edits of a schedule: what comes of it is followed, and computes the same.
// RUN: sutura-opt %s --schedule-regions --split-input-file | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir --check-passes --remarks --split-input-file -o %t.gir 2> %t.said
// RUN: FileCheck %s --input-file=%t.said --check-prefix=SAID
// SAID-COUNT-26: 1 functions compared

// split: a loop of the grid over blocks of rows, and a loop over the rows of a block.
// CHECK-LABEL: func.func @split
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 4 grid {
// CHECK-NEXT: loop d0 {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place s:1 cols d1 in l1
// CHECK-NEXT: place q:2 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @split(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split d0 of e:0 by 4>} {
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

// retile: other rows for the register tiles that the rule has chosen.
// CHECK-LABEL: func.func @retile
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version when [-M + 1] {
// CHECK: version when [-M + 12] {
// CHECK: loop d0 by 12 grid {
// CHECK: {{^ *}}version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d0 by 192 grid {
// CHECK-NEXT: cache p:0.1 cols d1 in l1 padded {
// CHECK-NEXT: loop d2 { operand p:0.1 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: loop d0 by 8 {
// CHECK-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @retile(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {trace = #schedule.trace<retile d0.1 of p:0 by 8>} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// -----

// fuse: rows and columns are one dim, in blocks that are groups; and two loops over it are one.
// CHECK-LABEL: func.func @fuse
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: fuse d0 d1
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 64 grid { place e:0 cols d0 in l1 }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @fuse(%x: tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 } } }
  >, trace = #schedule.trace<fuse d0 d1 split d0 of e:0 by 64 split d0 of e:0 by 256 fuse d0 d0.1 of e:0 bind d0 of e:0 to grid>} {
  ^bb0(%a: tensor<?x16xf32, #dyn.shape<[M, 16]>>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    graph.yield %e : tensor<?x16xf32, #dyn.shape<[M, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[M, 16]>>
}

// -----

// join: two sums along dims that are equally long.
// CHECK-LABEL: func.func @join
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: join d1 d2
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: place s:0 cols d1 in l1
// CHECK-NEXT: place t:1 cols d1 in l1
// CHECK-NEXT: place z:2 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
func.func @join(%x: tensor<?x16xf32, #dyn.shape<[M, 16]>>, %y: tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  %r = graph.fusion(%x, %y : tensor<?x16xf32, #dyn.shape<[M, 16]>>, tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place s:0 cols d1 in l1 place t:1 cols d2 in l1 place z:2 in l1 } } }
  >, trace = #schedule.trace<join d1 d2>} {
  ^bb0(%a: tensor<?x16xf32, #dyn.shape<[M, 16]>>, %b: tensor<?x16xf32, #dyn.shape<[M, 16]>>):
    %M = dyn.symbol "M" : index
    %s = graph.compute ins(%a : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %t = graph.compute ins(%b : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %z = graph.compute ins(%s, %t : tensor<?xf32, #dyn.shape<[M]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one]} {
    ^bb0(%p: f32, %q: f32):
      %v = arith.addf %p, %q : f32
      graph.yield %v : f32
    }
    graph.yield %z : tensor<?xf32, #dyn.shape<[M]>>
  }
  return %r : tensor<?xf32, #dyn.shape<[M]>>
}

// -----

// reorder: groups of neighbouring columns follow each other.
// CHECK-LABEL: func.func @reorder
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d2 { pack p:0.1 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 12 grid {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @reorder(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<reorder d0 d1 of p:0>} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// -----

// bind: rows are groups.
// CHECK-LABEL: func.func @bind
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place s:1 cols d1 in l1
// CHECK-NEXT: place q:2 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @bind(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<bind d0 of e:0 to grid>} {
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

// vectorize: eight columns at a time.
// CHECK-LABEL: func.func @vectorize
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: loop d1 by 8 { place e:0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @vectorize(%x: tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { loop d1 { place e:0 in vec } } } }
  >, trace = #schedule.trace<split d1 of e:0 by 8 vectorize d1.1 of e:0>} {
  ^bb0(%a: tensor<?x16xf32, #dyn.shape<[M, 16]>>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    graph.yield %e : tensor<?x16xf32, #dyn.shape<[M, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[M, 16]>>
}

// -----

// tile_rows: four rows at a time.
// CHECK-LABEL: func.func @tile_rows
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 4 grid { place e:0 rows d0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @tile_rows(%x: tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in vec } } }
  >, trace = #schedule.trace<split d0 of e:0 by 4 tile_rows d0.1 of e:0>} {
  ^bb0(%a: tensor<?x16xf32, #dyn.shape<[M, 16]>>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    graph.yield %e : tensor<?x16xf32, #dyn.shape<[M, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[M, 16]>>
}

// -----

// compute_at: what is divided is computed twice, in tiles.
// CHECK-LABEL: func.func @compute_at
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: loop d1 by 16 {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place s:1 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: loop d1 by 16 {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place q:2 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @compute_at(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<
    split d1 of s:1 by 16
    compute_at e:0 in d1 of s:1
    split d1 of q:2 by 16
    compute_at e:0 in d1 of q:2 again
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

// cache_read: the rows of the left factor lie near.
// CHECK-LABEL: func.func @cache_read
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d2 { pack p:0.1 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d0 by 12 grid {
// CHECK-NEXT: cache p:0.0 cols d2 in l1 padded
// CHECK-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @cache_read(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<cache_read p:0.0 cols d2 in l1 padded at d0 of p:0>} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// -----

// pack: the right factor in panels.
// CHECK-LABEL: func.func @pack
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d2 { pack p:0.1 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d0 by 12 grid {
// CHECK-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @pack(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } } }
  >, trace = #schedule.trace<pack p:0.1 cols d1 in vec padded over d1 d2 of p:0>} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// -----

// set_space: tiles in registers.
// CHECK-LABEL: func.func @set_space
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: loop d1 by 8 { place e:0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @set_space(%x: tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { loop d1 by 8 { place e:0 cols d1 in l1 } } } }
  >, trace = #schedule.trace<set_space e:0 to vec>} {
  ^bb0(%a: tensor<?x16xf32, #dyn.shape<[M, 16]>>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    graph.yield %e : tensor<?x16xf32, #dyn.shape<[M, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[M, 16]>>
}

// -----

// set_layout: all tiles are whole.
// CHECK-LABEL: func.func @set_layout
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: loop d1 by 12 { place e:0 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @set_layout(%x: tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { loop d1 by 12 { place e:0 cols d1 in vec } } } }
  >, trace = #schedule.trace<set_layout e:0 padded>} {
  ^bb0(%a: tensor<?x16xf32, #dyn.shape<[M, 16]>>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?x16xf32, #dyn.shape<[M, 16]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    graph.yield %e : tensor<?x16xf32, #dyn.shape<[M, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[M, 16]>>
}

// -----

// hoist: sums are divided, and not what they add up.
// CHECK-LABEL: func.func @hoist
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: hoist p:4 out:5
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 4 grid {
// CHECK-NEXT: cache scores:0.1 cols d1 in l1 padded {
// CHECK-NEXT: loop d1 by 16 {
// CHECK-NEXT: loop d2 { operand scores:0.1 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: cache p:4.1 cols d3 in l1 padded {
// CHECK-NEXT: loop d3 by 16 {
// CHECK-NEXT: loop d1 { operand p:4.1 cols d3 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: cache scores:0.0 cols d2 in l1 padded
// CHECK-NEXT: cache p:4.0 rows d0 cols d1 in l1 {
// CHECK-NEXT: cache most:1.0 rows d0 cols d1 in l1 {
// CHECK-NEXT: loop d1 by 16 {
// CHECK-NEXT: loop d2 { contract scores:0 rows d0 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: place most:1 rows d0 cols d1 in l1
// CHECK-NEXT: place exp:2 rows d0 cols d1 in l1
// CHECK-NEXT: place sum:3 rows d0 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: loop d3 by 16 {
// CHECK-NEXT: loop d1 { contract p:4 rows d0 cols d3 in vec padded }
// CHECK-NEXT: place out:5 rows d0 cols d3 in vec padded
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @hoist(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" {range = [0, 512]} : index
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      kernel { loop d0 by 4 grid {
        cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
        cache out:5.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand out:5.1 cols d3 in vec padded } } }
        cache scores:0.0 cols d2 in l1 padded
        cache out:5.0 rows d0 cols d1 in l1 {
          cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
          place most:1 rows d0 cols d1 in l1
          place exp:2 rows d0 cols d1 in l1
          place sum:3 rows d0 cols d1 in l1
          place p:4 rows d0 cols d1 in l1
        }
        loop d3 by 16 { loop d1 { contract out:5 rows d0 cols d3 in vec padded } }
      } }
    }
  >, trace = #schedule.trace<hoist p:4 out:5 compute_at out:5 in d3 of p:4>} {
  ^bb0(%i: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %j: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %l: tensor<?x16xf32, #dyn.shape<[K, 16]>>):
    %K = dyn.symbol "K" {range = [0, 512]} : index
    %scores = graph.compute ins(%i, %j : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    %most = graph.compute ins(%scores : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %exp = graph.compute ins(%scores, %most : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.subf %a, %b : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.divf %a, %b : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
}

// -----

// online: the largest score so far.
// CHECK-LABEL: func.func @online
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: hoist p:4 out:5
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 8 grid {
// CHECK-NEXT: cache scores:0.0 cols d2 in l1 padded
// CHECK-NEXT: loop d1 by 32 online most:1 {
// CHECK-NEXT: cache scores:0.1 cols d1 in l1 padded {
// CHECK-NEXT: loop d1 by 16 {
// CHECK-NEXT: loop d2 { operand scores:0.1 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: cache p:4.1 cols d3 in l1 padded {
// CHECK-NEXT: loop d3 by 16 {
// CHECK-NEXT: loop d1 { operand p:4.1 cols d3 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: loop d0 by 4 {
// CHECK-NEXT: cache most:1.0 rows d0 cols d1 in l1 {
// CHECK-NEXT: loop d1 by 16 {
// CHECK-NEXT: loop d2 { contract scores:0 rows d0 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: place most:1 rows d0 cols d1 in l1
// CHECK-NEXT: cache p:4.0 rows d0 cols d1 in l1 {
// CHECK-NEXT: place exp:2 rows d0 cols d1 in l1
// CHECK-NEXT: place sum:3 rows d0 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: loop d3 by 16 {
// CHECK-NEXT: loop d1 { contract p:4 rows d0 cols d3 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: loop d0 by 4 {
// CHECK-NEXT: loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @online(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" {range = [0, 512]} : index
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
    }
  >, trace = #schedule.trace<online most:1 in d1 of exp:2>} {
  ^bb0(%i: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %j: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %l: tensor<?x16xf32, #dyn.shape<[K, 16]>>):
    %K = dyn.symbol "K" {range = [0, 512]} : index
    %scores = graph.compute ins(%i, %j : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    %most = graph.compute ins(%scores : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %exp = graph.compute ins(%scores, %most : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.subf %a, %b : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.divf %a, %b : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
}

// -----

// split_reduction: groups sum parts of a row, and a kernel joins them.
// CHECK-LABEL: func.func @split_reduction
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: loop d1 by 64 grid {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place s:1 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid { join s:1 in l1 }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place q:2 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @split_reduction(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split_reduction s:1 along d1 by 64>} {
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

// accumulate: blocks of 8 of what is summed go around the tiles of a block of rows. Sums lie near from block to block.
// CHECK-LABEL: func.func @accumulate
// CHECK: schedule = #schedule.tree<
// CHECK: loop d1 by 32 grid {
// CHECK: loop d1 by 32 grid {
// CHECK-NEXT: loop d0 by 48 grid {
// CHECK-NEXT: loop d2 by 8 {
// CHECK-NEXT: loop d0 by 12 {
// CHECK-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: loop d0 by 12 { place q:1 rows d0 cols d1 in vec }
// CHECK-NEXT: }
#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @accumulate(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } place q:1 rows d0 cols d1 in vec } } }
    }
  >, trace = #schedule.trace<split d0 of p:0 by 48 split d2 of p:0 by 8 accumulate d2 of p:0>} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    %q = graph.compute ins(%p : tensor<?x40xf32, #dyn.shape<[M, 40]>>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%l: f32):
      %v = math.exp %l : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// -----

// tensorize: a sum of products is a contraction.
// CHECK-LABEL: func.func @tensorize
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d2 { pack p:0.1 cols d1 in vec padded }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d1 by 32 grid {
// CHECK-NEXT: loop d0 by 12 grid {
// CHECK-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @tensorize(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { place p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<tensorize p:0>} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// -----

// unroll: code has four rows side by side.
// CHECK-LABEL: func.func @unroll
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 8 grid {
// CHECK-NEXT: loop d0 unroll 4 {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @unroll(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 by 8 grid { loop d0 { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } } }
  >, trace = #schedule.trace<unroll d0.1 of e:0 by 4>} {
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

// threads: a unit of a device is 64 threads.
// CHECK-LABEL: func.func @threads
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel threads 64 {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @threads(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 by 8 grid { loop d0 { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } } }
  >, trace = #schedule.trace<threads e:0 by 64>} {
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

// together: two sums at once.
// CHECK-LABEL: func.func @together
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: together {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid { place s:0 cols d1 in l1 }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid { place t:1 cols d2 in l1 }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid { place z:2 in l1 }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
func.func @together(%x: tensor<?x16xf32, #dyn.shape<[M, 16]>>, %y: tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  %r = graph.fusion(%x, %y : tensor<?x16xf32, #dyn.shape<[M, 16]>>, tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {schedule = #schedule.tree<
    version {
      kernel { loop d0 grid { place s:0 cols d1 in l1 } }
      kernel { loop d0 grid { place t:1 cols d2 in l1 } }
      kernel { loop d0 grid { place z:2 in l1 } }
    }
  >, trace = #schedule.trace<together s:0 t:1>} {
  ^bb0(%a: tensor<?x16xf32, #dyn.shape<[M, 16]>>, %b: tensor<?x16xf32, #dyn.shape<[M, 16]>>):
    %M = dyn.symbol "M" : index
    %s = graph.compute ins(%a : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %t = graph.compute ins(%b : tensor<?x16xf32, #dyn.shape<[M, 16]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %z = graph.compute ins(%s, %t : tensor<?xf32, #dyn.shape<[M]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one]} {
    ^bb0(%p: f32, %q: f32):
      %v = arith.addf %p, %q : f32
      graph.yield %v : f32
    }
    graph.yield %z : tensor<?xf32, #dyn.shape<[M]>>
  }
  return %r : tensor<?xf32, #dyn.shape<[M]>>
}

// -----

// version: short rows are summed at once, and blocks of them are groups.
// CHECK-LABEL: func.func @version
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version when [-N + 64] {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 by 4 grid {
// CHECK-NEXT: loop d0 {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place s:1 cols d1 in l1
// CHECK-NEXT: place q:2 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: loop d1 by 64 grid {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place s:1 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid { join s:1 in l1 }
// CHECK-NEXT: }
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place q:2 cols d1 in l1
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: >} {
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @version(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<
    version when [-N + 64]
    split_reduction s:1 along d1 by 64
    version 0 {
      split d0 of e:0 by 4
    }
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

// stream, defer: what is stored past the caches may wait.
// CHECK-LABEL: func.func @stream
// CHECK: schedule = #schedule.tree<
// CHECK: place q:2 cols d1 in l1 stream when [8*M*N - 65536] defer{{$}}
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @stream(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<stream q:2 when [8*M*N - 65536] defer q:2>} {
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

// keep: what would be stored past the caches stays in them.
// CHECK-LABEL: func.func @keep
// CHECK: schedule = #schedule.tree<
// CHECK: place q:2 cols d1 in l1 kept{{$}}
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @keep(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<stream q:2 keep q:2>} {
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

// home: the exponentials lie where the quotients are stored.
// CHECK-LABEL: func.func @home
// CHECK: schedule = #schedule.tree<
// CHECK: place e:0 cols d1 in l1 home q:2{{$}}
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @home(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<home e:0 in q:2>} {
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

// prefetch: the operand is brought into a tile, and asked for ahead.
// CHECK-LABEL: func.func @prefetch
// CHECK: schedule = #schedule.tree<
// CHECK: operand e:0.0 cols d1 in l1 prefetch(4096, next)
// CHECK: place e:0
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @prefetch(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<prefetch e:0.0 (4096, next)>} {
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
