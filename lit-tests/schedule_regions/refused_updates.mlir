// Updates at indices come in order, each once; what a region joins goes element by element.
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --verify-diagnostics

func.func @not_in_order(%x: tensor<9x256xf32>, %i: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %u: tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %s writes at indices, which needs a loop inside a group over each index of d0, in this order}}
  %y = graph.fusion(%x, %i, %u : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place s:0 cols d1 in vec padded } } }
  >} {
  ^bb0(%a: tensor<9x256xf32>, %b: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %c: tensor<?x256xf32, #dyn.shape<[K, 256]>>):
    %K = dyn.symbol "K" : index
    %s = graph.scatter %a, %b, %c {combiner = #graph.combiner<add>} : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>> -> tensor<9x256xf32>
    graph.yield %s : tensor<9x256xf32>
  }
  return %y : tensor<9x256xf32>
}

// -----

func.func @divided(%x: tensor<9x256xf32>, %i: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %u: tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %s writes at indices, which needs a loop inside a group over each index of d0, in this order}}
  %y = graph.fusion(%x, %i, %u : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {schedule = #schedule.tree<
    version { kernel { loop d1 by 64 grid { loop d0 by 4 { loop d0 { place s:0 cols d1 in vec padded } } } } }
  >} {
  ^bb0(%a: tensor<9x256xf32>, %b: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %c: tensor<?x256xf32, #dyn.shape<[K, 256]>>):
    %K = dyn.symbol "K" : index
    %s = graph.scatter %a, %b, %c {combiner = #graph.combiner<add>} : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>> -> tensor<9x256xf32>
    graph.yield %s : tensor<9x256xf32>
  }
  return %y : tensor<9x256xf32>
}

// -----

func.func @near(%x: tensor<9x256xf32>, %i: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %u: tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %s writes at indices on a tile in 'l1', not in registers}}
  %y = graph.fusion(%x, %i, %u : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 { place s:0 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<9x256xf32>, %b: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %c: tensor<?x256xf32, #dyn.shape<[K, 256]>>):
    %K = dyn.symbol "K" : index
    %s = graph.scatter %a, %b, %c {combiner = #graph.combiner<add>} : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>> -> tensor<9x256xf32>
    graph.yield %s : tensor<9x256xf32>
  }
  return %y : tensor<9x256xf32>
}

// -----

func.func @with_rows(%x: tensor<9x256xf32>, %i: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %u: tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %s writes at indices, and its tile has rows along d1}}
  %y = graph.fusion(%x, %i, %u : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {schedule = #schedule.tree<
    version { kernel { loop d0 { place s:0 rows d1 in vec padded } } }
  >} {
  ^bb0(%a: tensor<9x256xf32>, %b: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %c: tensor<?x256xf32, #dyn.shape<[K, 256]>>):
    %K = dyn.symbol "K" : index
    %s = graph.scatter %a, %b, %c {combiner = #graph.combiner<add>} : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>> -> tensor<9x256xf32>
    graph.yield %s : tensor<9x256xf32>
  }
  return %y : tensor<9x256xf32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @no_loop(%x: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most is placed where d1 is neither one index nor in its tile}}
  %y:2 = graph.fusion(%x : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {schedule = #schedule.tree<
    version { kernel { loop d0 by 8 grid { place most:0 cols d0 in vec padded } } }
  >} {
  ^bb0(%a: tensor<8x32xf32>):
    %most, %place = graph.compute ins(%a : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {
      iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row, #row],
      state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative, commutative]>
    } {
    ^bb0(%e: f32):
      %i = graph.index 1 : index
      %k = arith.index_cast %i : index to i64
      graph.yield %e, %k : f32, i64
    } combine {
    ^bb0(%p: f32, %i: i64, %q: f32, %j: i64):
      %more = arith.cmpf ogt, %q, %p : f32
      %c = arith.select %more, %q, %p : f32
      %k = arith.select %more, %j, %i : i64
      graph.yield %c, %k : f32, i64
    }
    graph.yield %most, %place : tensor<8xf32>, tensor<8xi64>
  }
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xi64>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @along_columns(%x: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most combines by a region, which goes element by element and not along columns}}
  %y:2 = graph.fusion(%x : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place most:0 cols d1 in vec padded } } }
  >} {
  ^bb0(%a: tensor<8x32xf32>):
    %most, %place = graph.compute ins(%a : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {
      iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row, #row],
      state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative, commutative]>
    } {
    ^bb0(%e: f32):
      %i = graph.index 1 : index
      %k = arith.index_cast %i : index to i64
      graph.yield %e, %k : f32, i64
    } combine {
    ^bb0(%p: f32, %i: i64, %q: f32, %j: i64):
      %more = arith.cmpf ogt, %q, %p : f32
      %c = arith.select %more, %q, %p : f32
      %k = arith.select %more, %j, %i : i64
      graph.yield %c, %k : f32, i64
    }
    graph.yield %most, %place : tensor<8xf32>, tensor<8xi64>
  }
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xi64>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @near(%x: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most combines by a region on a tile in 'l1', not in registers}}
  %y:2 = graph.fusion(%x : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {schedule = #schedule.tree<
    version { kernel { loop d1 { place most:0 cols d0 in l1 } } }
  >} {
  ^bb0(%a: tensor<8x32xf32>):
    %most, %place = graph.compute ins(%a : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {
      iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row, #row],
      state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative, commutative]>
    } {
    ^bb0(%e: f32):
      %i = graph.index 1 : index
      %k = arith.index_cast %i : index to i64
      graph.yield %e, %k : f32, i64
    } combine {
    ^bb0(%p: f32, %i: i64, %q: f32, %j: i64):
      %more = arith.cmpf ogt, %q, %p : f32
      %c = arith.select %more, %q, %p : f32
      %k = arith.select %more, %j, %i : i64
      graph.yield %c, %k : f32, i64
    }
    graph.yield %most, %place : tensor<8xf32>, tensor<8xi64>
  }
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xi64>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @in_parts(%x: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most combines by a region, and a loop of the grid divides what it combines}}
  %y:2 = graph.fusion(%x : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {schedule = #schedule.tree<
    version { kernel { loop d1 even 4 grid { loop d1 { place most:0 cols d0 in vec padded } } } }
  >} {
  ^bb0(%a: tensor<8x32xf32>):
    %most, %place = graph.compute ins(%a : tensor<8x32xf32>) -> tensor<8xf32>, tensor<8xi64> {
      iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row, #row],
      state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative, commutative]>
    } {
    ^bb0(%e: f32):
      %i = graph.index 1 : index
      %k = arith.index_cast %i : index to i64
      graph.yield %e, %k : f32, i64
    } combine {
    ^bb0(%p: f32, %i: i64, %q: f32, %j: i64):
      %more = arith.cmpf ogt, %q, %p : f32
      %c = arith.select %more, %q, %p : f32
      %k = arith.select %more, %j, %i : i64
      graph.yield %c, %k : f32, i64
    }
    graph.yield %most, %place : tensor<8xf32>, tensor<8xi64>
  }
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xi64>
}
