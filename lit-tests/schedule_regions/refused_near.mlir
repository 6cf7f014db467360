// What a group computes near and keeps there is computed whole, and by what the body of the operand says.
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @no_body(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: operand 0 of %p is made in the region, and has no body that computes it}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 12 grid { cache p:1.0 cols d1 in l1 padded loop d1 { contract p:1 rows d0 cols d2 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @not_computed(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: the body of operand 0 of %p does not compute it}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 12 grid { cache p:1.0 cols d1 in l1 padded { operand e:0.0 rows d0 cols d1 in vec padded } loop d1 { contract p:1 rows d0 cols d2 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @body_of_a_tensor(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: the body of operand 0 of %e is not loops, one in the other, that copy it tile by tile}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 12 grid { cache e:0.0 cols d1 in l1 padded { loop d0 by 1 { place e:0 rows d0 cols d1 in l1 padded } } place p:1 } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @twice(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: operand 0 of %p is kept near where it is already}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 12 grid { cache p:1.0 cols d1 in l1 padded { loop d0 by 1 { place e:0 rows d0 cols d1 in l1 padded } } cache p:1.0 cols d1 in l1 padded { loop d0 by 1 { place e:0 rows d0 cols d1 in l1 padded } }  loop d1 { contract p:1 rows d0 cols d2 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @in_grid(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: the body of operand 0 of %p joins parts}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 12 grid { cache p:1.0 cols d1 in l1 padded { join e:0 cols d1 in l1 padded } loop d1 { contract p:1 rows d0 cols d2 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @contraction(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: %p reads %e, which is not made there, nor by an earlier launch}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 12 grid { cache p:1.0 cols d1 in l1 padded { loop d1 { contract p:1 rows d0 cols d2 in vec } } loop d1 { contract p:1 rows d0 cols d2 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @another_operand(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: the body of operand 0 of %p packs another operand}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 12 grid { cache p:1.0 cols d1 in l1 padded { pack p:1.1 cols d2 in vec padded } loop d1 { contract p:1 rows d0 cols d2 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @index_by_index(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: %p reads several indices of d0 at once, and what lies near ends with d0, after tiles of 1}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d2 by 32 grid { loop d1 { pack p:1.1 cols d2 in vec padded } } } kernel { loop d2 by 32 grid { loop d0 by 24 grid { cache p:1.0 cols d1 in l1 padded { loop d0 { place e:0 cols d1 in l1 padded } } loop d0 by 12 { loop d1 { contract p:1 rows d0 cols d2 in vec } } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%a : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.tanh %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}
