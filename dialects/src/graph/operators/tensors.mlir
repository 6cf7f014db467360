// What looks at whole rows, channels or matrices.

#oni = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#oi_of_oni = affine_map<(d0, d1, d2) -> (d0, d2)>
#on = affine_map<(d0, d1) -> (d0, d1)>
#o = affine_map<(d0, d1) -> (d0)>
#bck = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#nothing = affine_map<(d0, d1, d2) -> ()>

!oni = tensor<?x?x?xf32, #dyn.shape<[O, N, I]>>
!oni16 = tensor<?x?x?xf16, #dyn.shape<[O, N, I]>>
!oi = tensor<?x?xf32, #dyn.shape<[O, I]>>
!oi64 = tensor<?x?xi64, #dyn.shape<[O, I]>>
!on = tensor<?x?xf32, #dyn.shape<[O, N]>>
!o = tensor<?xf32, #dyn.shape<[O]>>
!o64 = tensor<?xi64, #dyn.shape<[O]>>
!bcs = tensor<?x?x?xf32, #dyn.shape<[B, C, S]>>
!bcs16 = tensor<?x?x?xf16, #dyn.shape<[B, C, S]>>
!bck = tensor<?x?x?xf32, #dyn.shape<[B, C, K]>>
!bck16 = tensor<?x?x?xf16, #dyn.shape<[B, C, K]>>
!bmn = tensor<?x?x?xf32, #dyn.shape<[B, M, N]>>

graph.operator @hardmax {
  summary = "1 at the first largest number along a dimension, else 0",
  elements = [f32, bf16, f16, f64], groups = {O = "before axis", I},
  attributes = {axis = -1 : i64},
  onnx = [{op = "Hardmax", since = 13 : i64}]
} {
^bb0(%x: !oni):
  %max = graph.compute ins(%x : !oni) -> !oi
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %first = graph.compute ins(%x, %max : !oni, !oi) -> !oi64
      {combiners = #graph.combiners<[min]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni, #oi_of_oni]} {
  ^bb0(%e: f32, %m: f32):
    %none = arith.constant 9223372036854775807 : i64
    %i = graph.index 1 : index
    %at = arith.index_cast %i : index to i64
    // NaN is the largest number, and equals none.
    %same = arith.cmpf oeq, %e, %m : f32
    %nan = arith.cmpf uno, %e, %e : f32
    %largest = arith.ori %same, %nan : i1
    %r = arith.select %largest, %at, %none : i64
    graph.yield %r : i64
  }
  %y = graph.compute ins(%first : !oi64) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oi_of_oni, #oni]} {
  ^bb0(%f: i64):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %i = graph.index 1 : index
    %at = arith.index_cast %i : index to i64
    %here = arith.cmpi eq, %at, %f : i64
    %r = arith.select %here, %one, %zero : f32
    graph.yield %r : f32
  }
  graph.yield %y : !oni
}

graph.operator @hardmax_from {
  summary = "1 at the first largest number of all dimensions from the axis on, else 0",
  elements = [f32, bf16, f16, f64], groups = {O = "before axis", N},
  attributes = {axis = 1 : i64},
  onnx = [{op = "Hardmax", until = 12 : i64}]
} {
^bb0(%x: !on):
  %max = graph.compute ins(%x : !on) -> !o
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %first = graph.compute ins(%x, %max : !on, !o) -> !o64
      {combiners = #graph.combiners<[min]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o, #o]} {
  ^bb0(%e: f32, %m: f32):
    %none = arith.constant 9223372036854775807 : i64
    %i = graph.index 1 : index
    %at = arith.index_cast %i : index to i64
    // NaN is the largest number, and equals none.
    %same = arith.cmpf oeq, %e, %m : f32
    %nan = arith.cmpf uno, %e, %e : f32
    %largest = arith.ori %same, %nan : i1
    %r = arith.select %largest, %at, %none : i64
    graph.yield %r : i64
  }
  %y = graph.compute ins(%first : !o64) -> !on
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#o, #on]} {
  ^bb0(%f: i64):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %i = graph.index 1 : index
    %at = arith.index_cast %i : index to i64
    %here = arith.cmpi eq, %at, %f : i64
    %r = arith.select %here, %one, %zero : f32
    graph.yield %r : f32
  }
  graph.yield %y : !on
}

graph.operator @lp_normalization_1 {
  summary = "x / sum(|x|) along a dimension; 0 where the sum is",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {O = "before axis", I},
  attributes = {axis = -1 : i64},
  onnx = [{op = "LpNormalization", with = {p = 1 : i64}}]
} {
^bb0(%x: !oni16):
  %norm = graph.compute ins(%x : !oni16) -> !oi
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = math.absf %wide : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%x, %norm : !oni16, !oi) -> !oni16
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi_of_oni, #oni]} {
  ^bb0(%e: f16, %n: f32):
    %zero = arith.constant 0.0 : f32
    %wide = arith.extf %e : f16 to f32
    %quotient = arith.divf %wide, %n : f32
    %none = arith.cmpf oeq, %n, %zero : f32
    %chosen = arith.select %none, %zero, %quotient : f32
    %r = arith.truncf %chosen : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !oni16
}

graph.operator @lp_normalization_2 {
  summary = "x / sqrt(sum(x * x)) along a dimension; 0 where the sum is",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {O = "before axis", I},
  attributes = {axis = -1 : i64},
  onnx = [{op = "LpNormalization", with = {p = 2 : i64}}]
} {
^bb0(%x: !oni16):
  %squares = graph.compute ins(%x : !oni16) -> !oi
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = arith.mulf %wide, %wide : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%x, %squares : !oni16, !oi) -> !oni16
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi_of_oni, #oni]} {
  ^bb0(%e: f16, %s: f32):
    %zero = arith.constant 0.0 : f32
    %wide = arith.extf %e : f16 to f32
    %norm = math.sqrt %s : f32
    %quotient = arith.divf %wide, %norm : f32
    %none = arith.cmpf oeq, %s, %zero : f32
    %chosen = arith.select %none, %zero, %quotient : f32
    %r = arith.truncf %chosen : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !oni16
}

graph.operator @global_max_pool {
  summary = "the largest number of each channel of each sample",
  elements = [f32, bf16, f16, f64], groups = {K = "ones of S", S},
  onnx = [{op = "GlobalMaxPool"}]
} {
^bb0(%x: !bcs):
  %y = graph.compute ins(%x : !bcs) -> !bck
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#oni, #bck]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  graph.yield %y : !bck
}

graph.operator @global_l2_pool {
  summary = "the root of the sum of squares of each channel of each sample",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {K = "ones of S", S},
  onnx = [{op = "GlobalLpPool", with = {p = 2 : i64}}]
} {
^bb0(%x: !bcs16):
  %squares = graph.compute ins(%x : !bcs16) -> !bck
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#oni, #bck]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = arith.mulf %wide, %wide : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%squares : !bck) -> !bck16 {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oni]} {
  ^bb0(%s: f32):
    %root = math.sqrt %s : f32
    %r = arith.truncf %root : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !bck16
}

graph.operator @trilu {
  summary = "matrices with 0 below the diagonal k, or above it where upper is 0",
  elements = [f32, bf16, f16, f64, i8, i16, i32, i64], groups = {B},
  attributes = {upper = 1 : i64},
  onnx = [{op = "Trilu", unsigned = "bits", absent = {k = 0 : i64}}]
} {
^bb0(%x: !bmn, %k: tensor<i64>):
  %y = graph.compute ins(%x, %k : !bmn, tensor<i64>) -> !bmn
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #nothing, #oni]} {
  ^bb0(%e: f32, %d: i64):
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0 : i64
    %upper = graph.param "upper" : i64
    %i = graph.index 1 : index
    %j = graph.index 2 : index
    %row = arith.index_cast %i : index to i64
    %column = arith.index_cast %j : index to i64
    %distance = arith.subi %column, %row : i64
    %at_least = arith.cmpi sge, %distance, %d : i64
    %at_most = arith.cmpi sle, %distance, %d : i64
    %is_upper = arith.cmpi ne, %upper, %none : i64
    %kept = arith.select %is_upper, %at_least, %at_most : i1
    %r = arith.select %kept, %e, %zero : f32
    graph.yield %r : f32
  }
  graph.yield %y : !bmn
}

graph.operator @eye_like {
  summary = "1 where the column is the row + k, else 0, in the sizes of a matrix",
  elements = [f32, bf16, f16, f64, i8, i16, i32, i64],
  attributes = {k = 0 : i64},
  onnx = [{op = "EyeLike", refuse = ["dtype"]}]
} {
^bb0(%x: !on):
  %y = graph.compute ins() -> !on {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on]} {
    %row = graph.index 0 : index
    %column = graph.index 1 : index
    %from = arith.index_cast %row : index to i64
    %at = arith.index_cast %column : index to i64
    %k = graph.param "k" : i64
    %shifted = arith.addi %from, %k : i64
    %is_one = arith.cmpi eq, %at, %shifted : i64
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %r = arith.select %is_one, %one, %zero : f32
    graph.yield %r : f32
  }
  graph.yield %y : !on
}
