// Units of a group share what they read, and nothing that they combine.
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --split-input-file --verify-diagnostics

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @one_factor(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the contraction %p is placed where d2, which it sums over, has more than one index}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 64 grid { loop d0 by 16 units { loop d2 by 32 { cache p:0.0 rows d0 cols d2 in shared padded loop d2 by 4 { contract p:0 rows d0 cols d1 in vec } } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @other_rows(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 0 of %p differs from unit to unit along d0, which is not the rows of its tile}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 64 grid { loop d0 by 16 units { loop d2 by 32 { cache p:0.0 rows d2 cols d0 in shared padded cache p:0.1 rows d2 cols d1 in shared padded loop d2 by 4 { contract p:0 rows d0 cols d1 in vec } } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @uneven(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %p has rows along d2, which 4 units do not share evenly}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 64 grid { loop d0 by 16 units { loop d2 by 6 { cache p:0.0 rows d0 cols d2 in shared padded cache p:0.1 rows d2 cols d1 in shared padded loop d2 by 2 { contract p:0 rows d0 cols d1 in vec } } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @no_rows(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 0 of %p is shared on a tile without rows and columns}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 64 grid { loop d0 by 16 units { loop d2 by 32 { cache p:0.0 cols d2 in shared padded cache p:0.1 rows d2 cols d1 in shared padded loop d2 by 4 { contract p:0 rows d0 cols d1 in vec } } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @units_again(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 0 of %p is shared inside a loop over d0, which units share}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 64 grid { loop d0 by 16 units { loop d0 by 4 { loop d2 by 32 { cache p:0.0 rows d0 cols d2 in shared padded cache p:0.1 rows d2 cols d1 in shared padded loop d2 by 4 { contract p:0 rows d0 cols d1 in vec } } } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @no_units(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 0 of %p is shared in 'shared', and no loop is over units}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 16 grid { loop d2 by 32 { cache p:0.0 rows d0 cols d2 in shared padded cache p:0.1 rows d2 cols d1 in shared padded loop d2 by 4 { contract p:0 rows d0 cols d1 in vec } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @summed_by_units(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %p is combined along d2, which units share}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 16 grid { loop d2 by 16 units { loop d2 { contract p:0 rows d0 cols d1 in vec } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @too_many(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the loop over d0 has no number of units from 1 to 32}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 640 grid { loop d0 by 16 units { loop d2 { contract p:0 rows d0 cols d1 in vec } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @twice(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %p is kept near where it is already}}
  %y = graph.fusion(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 128 grid { loop d0 by 64 grid { loop d0 by 16 units { loop d2 by 32 { cache p:0.0 rows d0 cols d2 in shared padded cache p:0.1 rows d2 cols d1 in shared padded loop d2 by 4 { contract p:0 rows d0 cols d1 in vec } cache p:0.1 rows d2 cols d1 in shared padded } } } } } }
  >} {
  ^bb0(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x128xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x128xf32>) -> tensor<?x128xf32, #dyn.shape<[M, 128]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x128xf32, #dyn.shape<[M, 128]>>
  }
  return %y : tensor<?x128xf32, #dyn.shape<[M, 128]>>
}
