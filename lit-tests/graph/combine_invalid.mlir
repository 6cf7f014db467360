// RUN: sutura-opt %s --verify-diagnostics --split-input-file

func.func @half(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op must have `state` and a region `combine` together, or neither}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<f32>
}

// -----

func.func @both(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op has `combiners` beside a region that joins all results}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }
  return %y : tensor<f32>
}

// -----

func.func @twice(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op has 2 regions that join states, at most one is allowed}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }, {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }
  return %y : tensor<f32>
}

// -----

func.func @parallel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.compute' op joins states without reduce iterators}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @numbers(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op has 2 numbers of state for 1 results}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32, 1.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }
  return %y : tensor<f32>
}

// -----

func.func @state_type(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op number 0 of the state must have the element type of result 0, or the wider one in which it is accumulated}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f64]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f64, %b: f64):
    graph.yield %b : f64
  }
  return %y : tensor<f32>
}

// -----

func.func @arguments(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op region `combine` must take two states: the types of the identity, twice}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y : tensor<f32>
}

// -----

func.func @yields(%x: tensor<4xf32>) -> tensor<f32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    // expected-error @below {{'graph.yield' op must yield a state: the types of the identity}}
    graph.yield %a, %b : f32, f32
  }
  return %y : tensor<f32>
}

// -----

func.func @contribution(%x: tensor<4xf16>) -> tensor<f16> {
  %y = graph.compute ins(%x : tensor<4xf16>) -> tensor<f16> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f16):
    // expected-error @below {{'graph.yield' op value 0 must have the type of number 0 of the state}}
    graph.yield %e : f16
  } combine {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : tensor<f16>
}

// -----

func.func @place(%x: tensor<4xf32>) -> tensor<index> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<index> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0 : index]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    %i = graph.index 0 : index
    graph.yield %i : index
  } combine {
  ^bb0(%a: index, %b: index):
    // expected-error @below {{'graph.index' op has no value where states are joined; let the body yield it}}
    %i = graph.index 0 : index
    graph.yield %i : index
  }
  return %y : tensor<index>
}

// -----

func.func @bits(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op combiner 'and' joins no numbers of result 0's element type}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[and]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<f32>
}

// -----

func.func @scan_bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.scan' op combiner 'or' joins no numbers of this element type}}
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<or>} : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @law(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{expected one of: 'associative' 'commutative'}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32], laws = [distributive]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<f32>
}

// -----

// expected-error @below {{#graph.state names the law 'associative' twice}}
func.func private @laws(tensor<4xf32>) attributes {state = #graph.state<[0.0 : f32], laws = [associative, associative]>}
