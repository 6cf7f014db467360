// Where the extreme element of a dimension is. The state is the extreme element so far and its place, -1 before there is one.

#oni = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#oi = affine_map<(d0, d1, d2) -> (d0, d2)>
#o1i = affine_map<(d0, d1, d2) -> (d0, 0, d2)>

!oni = tensor<?x?x?xf32, #dyn.shape<[O, N, I]>>
!kept = tensor<?x1x?xi64, #dyn.shape<[O, 1, I]>>
!kept_value = tensor<?x1x?xf32, #dyn.shape<[O, 1, I]>>
!gone = tensor<?x?xi64, #dyn.shape<[O, I]>>
!gone_value = tensor<?x?xf32, #dyn.shape<[O, I]>>

graph.operator @argmax {
  summary = "the place of the largest element along a dimension, which stays with size 1; NaN counts as larger than all; -1 where there is none",
  elements = [f32, bf16, f16, f64, i8, i16, i32, i64], groups = {O = "before axis", I},
  attributes = {axis = 0 : i64, select_last_index = 0 : i64},
  onnx = [{op = "ArgMax", unsigned = "order", with = {keepdims = 1 : i64}}]
} {
^bb0(%x: !oni):
  %value, %place = graph.compute ins(%x : !oni) -> !kept_value, !kept
      {iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #o1i, #o1i],
       state = #graph.state<[0.0 : f32, -1 : i64], laws = [associative, commutative]>} {
  ^bb0(%e: f32):
    %n = graph.index 1 : index
    %i = arith.index_cast %n : index to i64
    graph.yield %e, %i : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %none = arith.constant 0 : i64
    %a_none = arith.cmpi slt, %i, %none : i64
    %b_some = arith.cmpi sge, %j, %none : i64
    %a_nan = arith.cmpf une, %a, %a : f32
    %b_nan = arith.cmpf une, %b, %b : f32
    %more = arith.cmpf ogt, %b, %a : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %both = arith.andi %a_nan, %b_nan : i1
    %tie = arith.ori %equal, %both : i1
    %on = arith.constant 1 : i1
    %a_number = arith.xori %a_nan, %on : i1
    %nan_first = arith.andi %b_nan, %a_number : i1
    %wins = arith.ori %more, %nan_first : i1
    %last = graph.param "select_last_index" : i64
    %of_last = arith.cmpi ne, %last, %none : i64
    %behind = arith.cmpi sgt, %j, %i : i64
    %before = arith.cmpi slt, %j, %i : i64
    %chosen = arith.select %of_last, %behind, %before : i1
    %tied = arith.andi %tie, %chosen : i1
    %better = arith.ori %wins, %tied : i1
    %first = arith.ori %a_none, %better : i1
    %taken = arith.andi %b_some, %first : i1
    %c = arith.select %taken, %b, %a : f32
    %k = arith.select %taken, %j, %i : i64
    graph.yield %c, %k : f32, i64
  }
  graph.yield %place : !kept
}

graph.operator @argmax_of_rest {
  summary = "the place of the largest element along a dimension; NaN counts as larger than all; -1 where there is none",
  elements = [f32, bf16, f16, f64, i8, i16, i32, i64], groups = {O = "before axis", I},
  attributes = {axis = 0 : i64, select_last_index = 0 : i64},
  onnx = [{op = "ArgMax", unsigned = "order", with = {keepdims = 0 : i64}}]
} {
^bb0(%x: !oni):
  %value, %place = graph.compute ins(%x : !oni) -> !gone_value, !gone
      {iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi, #oi],
       state = #graph.state<[0.0 : f32, -1 : i64], laws = [associative, commutative]>} {
  ^bb0(%e: f32):
    %n = graph.index 1 : index
    %i = arith.index_cast %n : index to i64
    graph.yield %e, %i : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %none = arith.constant 0 : i64
    %a_none = arith.cmpi slt, %i, %none : i64
    %b_some = arith.cmpi sge, %j, %none : i64
    %a_nan = arith.cmpf une, %a, %a : f32
    %b_nan = arith.cmpf une, %b, %b : f32
    %more = arith.cmpf ogt, %b, %a : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %both = arith.andi %a_nan, %b_nan : i1
    %tie = arith.ori %equal, %both : i1
    %on = arith.constant 1 : i1
    %a_number = arith.xori %a_nan, %on : i1
    %nan_first = arith.andi %b_nan, %a_number : i1
    %wins = arith.ori %more, %nan_first : i1
    %last = graph.param "select_last_index" : i64
    %of_last = arith.cmpi ne, %last, %none : i64
    %behind = arith.cmpi sgt, %j, %i : i64
    %before = arith.cmpi slt, %j, %i : i64
    %chosen = arith.select %of_last, %behind, %before : i1
    %tied = arith.andi %tie, %chosen : i1
    %better = arith.ori %wins, %tied : i1
    %first = arith.ori %a_none, %better : i1
    %taken = arith.andi %b_some, %first : i1
    %c = arith.select %taken, %b, %a : f32
    %k = arith.select %taken, %j, %i : i64
    graph.yield %c, %k : f32, i64
  }
  graph.yield %place : !gone
}

graph.operator @argmin {
  summary = "the place of the smallest element along a dimension, which stays with size 1; NaN counts as smaller than all; -1 where there is none",
  elements = [f32, bf16, f16, f64, i8, i16, i32, i64], groups = {O = "before axis", I},
  attributes = {axis = 0 : i64, select_last_index = 0 : i64},
  onnx = [{op = "ArgMin", unsigned = "order", with = {keepdims = 1 : i64}}]
} {
^bb0(%x: !oni):
  %value, %place = graph.compute ins(%x : !oni) -> !kept_value, !kept
      {iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #o1i, #o1i],
       state = #graph.state<[0.0 : f32, -1 : i64], laws = [associative, commutative]>} {
  ^bb0(%e: f32):
    %n = graph.index 1 : index
    %i = arith.index_cast %n : index to i64
    graph.yield %e, %i : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %none = arith.constant 0 : i64
    %a_none = arith.cmpi slt, %i, %none : i64
    %b_some = arith.cmpi sge, %j, %none : i64
    %a_nan = arith.cmpf une, %a, %a : f32
    %b_nan = arith.cmpf une, %b, %b : f32
    %more = arith.cmpf olt, %b, %a : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %both = arith.andi %a_nan, %b_nan : i1
    %tie = arith.ori %equal, %both : i1
    %on = arith.constant 1 : i1
    %a_number = arith.xori %a_nan, %on : i1
    %nan_first = arith.andi %b_nan, %a_number : i1
    %wins = arith.ori %more, %nan_first : i1
    %last = graph.param "select_last_index" : i64
    %of_last = arith.cmpi ne, %last, %none : i64
    %behind = arith.cmpi sgt, %j, %i : i64
    %before = arith.cmpi slt, %j, %i : i64
    %chosen = arith.select %of_last, %behind, %before : i1
    %tied = arith.andi %tie, %chosen : i1
    %better = arith.ori %wins, %tied : i1
    %first = arith.ori %a_none, %better : i1
    %taken = arith.andi %b_some, %first : i1
    %c = arith.select %taken, %b, %a : f32
    %k = arith.select %taken, %j, %i : i64
    graph.yield %c, %k : f32, i64
  }
  graph.yield %place : !kept
}

graph.operator @argmin_of_rest {
  summary = "the place of the smallest element along a dimension; NaN counts as smaller than all; -1 where there is none",
  elements = [f32, bf16, f16, f64, i8, i16, i32, i64], groups = {O = "before axis", I},
  attributes = {axis = 0 : i64, select_last_index = 0 : i64},
  onnx = [{op = "ArgMin", unsigned = "order", with = {keepdims = 0 : i64}}]
} {
^bb0(%x: !oni):
  %value, %place = graph.compute ins(%x : !oni) -> !gone_value, !gone
      {iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi, #oi],
       state = #graph.state<[0.0 : f32, -1 : i64], laws = [associative, commutative]>} {
  ^bb0(%e: f32):
    %n = graph.index 1 : index
    %i = arith.index_cast %n : index to i64
    graph.yield %e, %i : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %none = arith.constant 0 : i64
    %a_none = arith.cmpi slt, %i, %none : i64
    %b_some = arith.cmpi sge, %j, %none : i64
    %a_nan = arith.cmpf une, %a, %a : f32
    %b_nan = arith.cmpf une, %b, %b : f32
    %more = arith.cmpf olt, %b, %a : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %both = arith.andi %a_nan, %b_nan : i1
    %tie = arith.ori %equal, %both : i1
    %on = arith.constant 1 : i1
    %a_number = arith.xori %a_nan, %on : i1
    %nan_first = arith.andi %b_nan, %a_number : i1
    %wins = arith.ori %more, %nan_first : i1
    %last = graph.param "select_last_index" : i64
    %of_last = arith.cmpi ne, %last, %none : i64
    %behind = arith.cmpi sgt, %j, %i : i64
    %before = arith.cmpi slt, %j, %i : i64
    %chosen = arith.select %of_last, %behind, %before : i1
    %tied = arith.andi %tie, %chosen : i1
    %better = arith.ori %wins, %tied : i1
    %first = arith.ori %a_none, %better : i1
    %taken = arith.andi %b_some, %first : i1
    %c = arith.select %taken, %b, %a : f32
    %k = arith.select %taken, %j, %i : i64
    graph.yield %c, %k : f32, i64
  }
  graph.yield %place : !gone
}
