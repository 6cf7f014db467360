// What a window reads elsewhere than it is made: what is refused.
// RUN: sutura-opt %s --attach-target="name=x86_avx512" --convert-graph-to-gir --split-input-file --verify-diagnostics

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @not_made(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: %e reads %r elsewhere than it is made, and it is neither kept near for that nor made by an earlier launch}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @lines_missing(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: %c is placed where d1 is neither one index nor in its tile}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @row_undivided(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: %c has a tile along d2, of which a window needs a part that no loop divides}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded { loop d1 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @divided_twice(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: the loop over d1 divides what a window needs of it once more, of which each index has a trip}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded { loop d1 by 7 { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } } } loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @part_around(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: operand 0 of %e is made along d1, of which a loop around has a part}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d1 by 7 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } } loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @last_missing(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: the body of operand 0 of %e does not compute it}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } } } } loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @twice(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: operand 0 of %e is kept near where it is already}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } } cache e:2.0 cols d3 in l1 padded { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } } loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @no_body(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: operand 0 of %e is made in the region, and has no body that computes it}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @other_tiles(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: the loop over d3 takes 24 indices of 32, which are no multiple}}
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } } loop d3 by 24 { loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}
