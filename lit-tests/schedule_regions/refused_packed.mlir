// What was packed along the sum is read in the same columns, row by row, on padded tiles in registers.
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --verify-diagnostics

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @other_columns(%x: tensor<50x100xf32>, %w: tensor<100x12xf32>) -> tensor<50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: input 1 of %p was packed in other columns than it is read in}}
  %y = graph.fusion(%x, %w : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 by 32 grid { cache p:0.1 cols d2 in l1 padded { loop d2 by 32 { loop d1 by 12 { operand p:0.1 rows d1 cols d2 in vec padded } } } loop d0 { loop d2 by 16 { place p:0 rows d1 cols d2 in vec padded columnwise } } } } }
  >} {
  ^bb0(%a: tensor<50x100xf32>, %b: tensor<100x12xf32>):
    %p = graph.compute ins(%a, %b : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<50x12xf32>
  }
  return %y : tensor<50x12xf32>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @not_padded(%x: tensor<50x100xf32>, %w: tensor<100x12xf32>) -> tensor<50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: input 1 of %p is packed, so it must be written and read on padded tiles in registers}}
  %y = graph.fusion(%x, %w : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 by 32 grid { cache p:0.1 cols d2 in l1 padded { loop d2 by 20 { loop d1 by 12 { operand p:0.1 rows d1 cols d2 in vec padded } } } loop d0 { loop d2 by 20 { place p:0 rows d1 cols d2 in vec } } } } }
  >} {
  ^bb0(%a: tensor<50x100xf32>, %b: tensor<100x12xf32>):
    %p = graph.compute ins(%a, %b : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<50x12xf32>
  }
  return %y : tensor<50x12xf32>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @in_cache(%x: tensor<50x100xf32>, %w: tensor<100x12xf32>) -> tensor<50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: input 1 of %p is packed, so it must be written and read on padded tiles in registers}}
  %y = graph.fusion(%x, %w : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 by 32 grid { cache p:0.1 cols d2 in l1 padded { loop d2 by 20 { loop d1 by 12 { operand p:0.1 rows d1 cols d2 in vec padded } } } loop d0 { loop d2 by 20 { loop d1 { place p:0 cols d2 in l1 } } } } } }
  >} {
  ^bb0(%a: tensor<50x100xf32>, %b: tensor<100x12xf32>):
    %p = graph.compute ins(%a, %b : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<50x12xf32>
  }
  return %y : tensor<50x12xf32>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @other_rows(%x: tensor<50x100xf32>, %w: tensor<100x12xf32>) -> tensor<50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: input 1 of %p is read in rows that it was not packed in, or in parts that do not divide them}}
  %y = graph.fusion(%x, %w : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 by 32 grid { cache p:0.1 cols d2 in l1 padded { loop d2 by 16 { loop d1 by 12 { operand p:0.1 rows d1 cols d2 in vec padded } } } loop d0 { loop d1 by 5 { loop d2 by 16 { place p:0 rows d1 cols d2 in vec padded columnwise } } } } } }
  >} {
  ^bb0(%a: tensor<50x100xf32>, %b: tensor<100x12xf32>):
    %p = graph.compute ins(%a, %b : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<50x12xf32>
  }
  return %y : tensor<50x12xf32>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @across(%x: tensor<50x100xf32>, %w: tensor<100x12xf32>) -> tensor<50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: %p reads %b, which was packed, and is no contraction: other places read only what was packed in columns along their sum}}
  %y = graph.fusion(%x, %w : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d1 by 12 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } } kernel { loop d0 grid { loop d1 by 12 grid { loop d2 { place p:0 cols d1 in vec padded } } } } }
  >} {
  ^bb0(%a: tensor<50x100xf32>, %b: tensor<100x12xf32>):
    %p = graph.compute ins(%a, %b : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<50x12xf32>
  }
  return %y : tensor<50x12xf32>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @far_not_padded(%x: tensor<50x100xf32>, %w: tensor<100x12xf32>) -> tensor<50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: input 1 of %p is packed, so it must be written and read on padded tiles in registers}}
  %y = graph.fusion(%x, %w : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d2 by 20 grid { loop d1 by 12 { pack p:0.1 rows d1 cols d2 in vec } } } kernel { loop d0 by 32 grid { loop d0 { loop d2 by 20 { place p:0 rows d1 cols d2 in vec padded columnwise } } } } }
  >} {
  ^bb0(%a: tensor<50x100xf32>, %b: tensor<100x12xf32>):
    %p = graph.compute ins(%a, %b : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<50x12xf32>
  }
  return %y : tensor<50x12xf32>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @far_contracted(%x: tensor<50x100xf32>, %w: tensor<100x12xf32>) -> tensor<50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: input 1 of %p was packed in other columns than it is read in}}
  %y = graph.fusion(%x, %w : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d2 by 16 grid { loop d1 by 12 { pack p:0.1 rows d1 cols d2 in vec padded } } } kernel { loop d0 by 12 grid { loop d2 { contract p:0 rows d0 cols d1 in vec padded } } } }
  >} {
  ^bb0(%a: tensor<50x100xf32>, %b: tensor<100x12xf32>):
    %p = graph.compute ins(%a, %b : tensor<50x100xf32>, tensor<100x12xf32>) -> tensor<50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<50x12xf32>
  }
  return %y : tensor<50x12xf32>
}

// -----

#a = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#b = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#c = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
func.func @neither(%x: tensor<4x50x100xf32>, %w: tensor<4x100x12xf32>) -> tensor<4x50x12xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %p is packed on a tile that must have places of the sum along its rows or along its columns, not along both; places of narrow numbers must be multiplied together}}
  %y = graph.fusion(%x, %w : tensor<4x50x100xf32>, tensor<4x100x12xf32>) -> tensor<4x50x12xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 by 4 grid { loop d3 { pack p:0.1 rows d0 cols d2 in vec padded } } } kernel { loop d0 grid { loop d1 by 12 grid { loop d3 { contract p:0 rows d1 cols d2 in vec padded } } } } }
  >} {
  ^bb0(%l: tensor<4x50x100xf32>, %r: tensor<4x100x12xf32>):
    %p = graph.compute ins(%l, %r : tensor<4x50x100xf32>, tensor<4x100x12xf32>) -> tensor<4x50x12xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#a, #b, #c]} {
    ^bb0(%m: f32, %n: f32):
      %v = arith.mulf %m, %n : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<4x50x12xf32>
  }
  return %y : tensor<4x50x12xf32>
}
