// Each primitive where it is refused: by the tree, or by what the region says of the schedule that comes of it. Both passes refuse it.
// RUN: sutura-opt %s --schedule-regions --split-input-file --verify-diagnostics
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --verify-diagnostics

// split
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @split(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'split d2 of e:0 by 4': no loop over d2 lies around stage 'e:0'}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split d2 of e:0 by 4>} {
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

// retile: what is packed has other columns.
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @retile(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 1: input 1 of %p was packed in other columns than it is read in}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<retile d1 of p:0 by 16>} {
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

// fuse
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @fuse(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'fuse d1 d0': the tile of stage 'e:0' has several indices of d1, and d1 would be gone}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<fuse d1 d0>} {
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

// join: a stage runs through both.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @join(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0: 'join d0 d1' would make dims one that a stage runs through both}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { place e:0 in l1 place s:1 in l1 place q:2 in l1 } }
  >, trace = #schedule.trace<join d0 d1>} {
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

// reorder
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @reorder(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'reorder d2 d0 of p:0': the loop over d0 is of the grid, but the loop over d2 around it is not of the grid}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<reorder d2 d0 of p:0>} {
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

// bind
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @bind(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'bind d1 of p:0 to turn': the loop over d0 is of the grid, but the loop over d1 around it is not of the grid}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<bind d1 of p:0 to turn>} {
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

// vectorize
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @vectorize(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'vectorize d0 of p:0': the loop over d0 has more than one index a trip: split it, and take the inner loop}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<vectorize d0 of p:0>} {
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

// tile_rows
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @tile_rows(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'tile_rows d0 of e:0': the trips of the loop over d0 are groups or units}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<tile_rows d0 of e:0>} {
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

// compute_at: what is divided is not made where it is read.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @compute_at(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 0: %q reads %e, which is not made there, nor by an earlier launch}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split d1 of s:1 by 16 compute_at e:0 in d1 of s:1>} {
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

// cache_read
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @cache_read(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'cache_read p:0.0 in l1 at d0 of p:0': the cached operand 'p:0.0' has no columns}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<cache_read p:0.0 in l1 at d0 of p:0>} {
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

// pack
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @pack(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'pack p:0.1 cols d1 in vec over d1 of p:0': operand 'p:0.1' is packed already}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<pack p:0.1 cols d1 in vec over d1 of p:0>} {
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

// set_space: the machine has no such space.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @set_space(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 0: %e lies in 'l9'; a tile with columns lies in 'l1' or 'vec'}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<set_space e:0 to l9>} {
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

// set_layout
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @set_layout(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'set_layout e:0 pitch 36': stage 'e:0' has no pitch, which a cached operand has}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<set_layout e:0 pitch 36>} {
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

// hoist: something else reads what is scaled.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @hoist(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0: %e is used by more than %s}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<hoist e:0 s:1>} {
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

// online: a sum is no extreme.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @online(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 0: the loop over d1 has 's' online, which is no largest or smallest number along it}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split d1 of s:1 by 16 online s:1 in d1 of s:1>} {
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

// split_reduction
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @split_reduction(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'split_reduction s:1 along d0 by 4': a loop of the grid over d0 lies around stage 's:1', which has parts by that}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split_reduction s:1 along d0 by 4>} {
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

// tensorize: no sum of products.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @tensorize(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 0: %s is no contraction: it is no sum over two tensors}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<tensorize s:1>} {
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

// pipeline
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @pipeline(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'pipeline p:0.1': operand 'p:0.1' is not cached, and only what is can be read ahead}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<pipeline p:0.1>} {
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

// accumulate: out of a loop of the grid.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @accumulate(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 1, 'accumulate d1 of s:1': the trips of the loop over d0 do not run in turn, and nothing is kept from one to the next}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split d1 of s:1 by 16 accumulate d1 of s:1>} {
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

// unroll: groups run in any order.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @unroll(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'unroll d0 of e:0 by 4': the loop over d0 is unrolled, and its trips do not run one after another}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<unroll d0 of e:0 by 4>} {
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

// threads: a number that no unit has.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @threads(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'threads e:0 by 48': version 0 has a kernel with units of 48 threads; it must be a power of two, 1024 at most}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<threads e:0 by 48>} {
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

// pipeline, asynchronously
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @pipeline_async(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'pipeline p:0.1 async': operand 'p:0.1' is not cached, and only what is can be copied asynchronously}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } }
      kernel { loop d1 by 32 grid { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec } } } }
    }
  >, trace = #schedule.trace<pipeline p:0.1 async>} {
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

// together
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @together(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'together e:0 s:1': stage 'e:0' and stage 's:1' are in one kernel}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<together e:0 s:1>} {
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

// version: there is no such size.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @version(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0: its guard asks for 'K', which is no size of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<version when [K - 4]>} {
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

// The number of an edit.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @second(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 1, 'split d0 of e:0 by 2': there is no version 1: the tree has 1}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<split d0 of e:0 by 4 version 1 { split d0 of e:0 by 2 }>} {
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

// stream: of what the region alone reads.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @stream(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 0: the store of %e goes past the caches, and %e is no output of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<stream e:0>} {
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

// defer: of what stays in the caches.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @defer(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'defer q:2': the store of stage 'q:2' does not go past the caches: only what does can wait}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<defer q:2>} {
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

// keep: what is no store.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @keep(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that is refused: edit 0, 'keep e:0.0': operand 'e:0.0' is not brought or packed}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<keep e:0.0>} {
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

// home: in front of which nothing is.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @home(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 0: %q has its home in %e, which is no output of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<home q:2 in e:0>} {
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

// prefetch: of what is made there.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @prefetch(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a trace that makes a schedule that is refused: version 0, launch 0: operand 0 of %q is asked for ahead, and is made there: only a tensor can be}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >, trace = #schedule.trace<prefetch q:2.0 (64)>} {
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
