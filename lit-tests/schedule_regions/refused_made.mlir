// What a factor is made from where it is brought near: what is refused.
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --split-input-file --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @not_made(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %p reads %e, which is not made there, nor by an earlier launch}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { cache p:1.1 cols d1 in l1 padded { loop d0 { operand p:1.1 cols d1 in vec padded } } loop d2 by 12 { loop d0 { contract p:1 rows d2 cols d1 in vec padded } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%b : tensor<24x64xf32>) -> tensor<24x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.cos %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%a, %e : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
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
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @other_padding(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %p reads %e on a tile of another space or padding than that on which it was made}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { cache p:1.1 cols d1 in l1 padded { loop d0 { place e:0 cols d1 in vec operand p:1.1 cols d1 in vec padded } } loop d2 by 12 { loop d0 { contract p:1 rows d2 cols d1 in vec padded } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%b : tensor<24x64xf32>) -> tensor<24x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.cos %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%a, %e : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
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
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @other_tile(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the body of operand 1 of %p computes on other tiles than padded ones of it in 'vec'}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d2 by 64 grid { loop d2 by 16 units { loop d0 by 8 { cache p:1.0 rows d2 cols d0 in shared padded cache p:1.1 rows d0 cols d1 in shared padded ahead { place e:0 rows d0 cols d1 in vec } loop d0 by 4 { contract p:1 rows d2 cols d1 in vec padded } } } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%b : tensor<24x64xf32>) -> tensor<24x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.cos %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%a, %e : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
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
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @no_tensor_ahead(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %p is read ahead, and is made of no tensor with its rows and columns}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d2 by 64 grid { loop d2 by 16 units { loop d0 by 8 { cache p:1.0 rows d2 cols d0 in shared padded cache p:1.1 rows d0 cols d1 in shared padded ahead { place e:0 rows d0 cols d1 in vec padded } loop d0 by 4 { contract p:1 rows d2 cols d1 in vec padded } } } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%b : tensor<64xf32>) -> tensor<24x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#col, #id]} {
    ^bb0(%p: f32):
      %v = math.cos %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%a, %e : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
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
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @more_than_its_pitch(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %p has rows of more columns than its pitch of 12}}
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d2 by 64 grid { loop d2 by 16 units { loop d0 by 8 { cache p:1.0 rows d2 cols d0 in shared padded cache p:1.1 rows d0 cols d1 in shared padded pitch 12 { place e:0 rows d0 cols d1 in vec padded } loop d0 by 4 { contract p:1 rows d2 cols d1 in vec padded } } } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%b : tensor<24x64xf32>) -> tensor<24x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.cos %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%a, %e : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}
