// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --verify-diagnostics

func.func @unstitched(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.compute' op is in no region}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op is a declaration, which cannot become a program}}
func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls '@callee', which has no body here}}
  %y = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op is a declaration, which cannot become a program}}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

// Regions hold calls.
func.func @inside(%f: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<4xf32>) {
    // expected-error @below {{'graph.concat' op has no place in 'scf.if', whose regions make one call each}}
    %y = graph.concat %x {axis = 0} : tensor<4xf32> -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// expected-error @below {{%c cannot be kept in memory: i1 is no tensor of known rank}}
func.func @scalar(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is decided by something else than the element of a tensor of rank 0}}
  %r = scf.if %c -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// expected-error @below {{%x cannot be kept in memory: f32 is no tensor of known rank}}
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error @below {{%x cannot be kept in memory: tensor<*xf32> is no tensor of known rank}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{%N cannot be kept in memory: index is no tensor of known rank}}
func.func @size(%x: tensor<?xf32, #dyn.shape<[N]>>) -> index {
  %N = dyn.symbol "N" : index
  return %N : index
}

// -----

func.func @number_in_a_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  %N = dyn.symbol "N" : index
  // expected-error @below {{%N cannot be kept in memory: index is no tensor of known rank}}
  %y = graph.fusion(%x, %N : tensor<4xf32>, index) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %n: index):
    graph.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{a size of %x is not known}}
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

func.func @contradiction(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" {range = [8, 16]} : index
  // expected-error @below {{'dyn.equal' op N and 4 cannot be equal}}
  dyn.equal [N], [4]
  return %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// No scalar function of tiles.
func.func @scalar_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = graph.compute ins(%a : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      // expected-error @below {{'math.acos' op has no form on tiles}}
      %v = math.acos %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @no_form(%x: tensor<4xf32>, %i: tensor<2xf32>) -> tensor<6xf32> {
  // expected-error @below {{'graph.concat' has no structured form}}
  %y = graph.fusion(%x, %i : tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<2xf32>):
    %0 = graph.concat %a, %b {axis = 0 : i64} : tensor<4xf32>, tensor<2xf32> -> tensor<6xf32>
    graph.yield %0 : tensor<6xf32>
  }
  return %y : tensor<6xf32>
}

// -----

// Where a slice begins is told by a tensor.
func.func @starts(%x: tensor<?x8xf32, #dyn.shape<[N, 8]>>, %s: tensor<1xi64>, %e: tensor<1xi64>) -> tensor<?x8xf32, #dyn.shape<[K, 8]>> {
  // expected-error @below {{'graph.slice' has no structured form: it cuts dimension 0 of %a, of size N, from element 0 of %b to element 0 of %c, which is not known to lie inside; bounds must be constants or follow from shapes by arithmetic that stays short, and ranges of symbols can make it so}}
  %y = graph.fusion(%x, %s, %e : tensor<?x8xf32, #dyn.shape<[N, 8]>>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32, #dyn.shape<[K, 8]>> {
  ^bb0(%a: tensor<?x8xf32, #dyn.shape<[N, 8]>>, %b: tensor<1xi64>, %c: tensor<1xi64>):
    %N = dyn.symbol "N" : index
    %K = dyn.symbol "K" : index
    %0 = graph.slice %a[%b, %c] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?x8xf32, #dyn.shape<[N, 8]>>, tensor<1xi64>, tensor<1xi64> -> tensor<?x8xf32, #dyn.shape<[K, 8]>>
    graph.yield %0 : tensor<?x8xf32, #dyn.shape<[K, 8]>>
  }
  return %y : tensor<?x8xf32, #dyn.shape<[K, 8]>>
}

// -----

// expected-error @below {{%x has the property 'shard' in its type, which memory has not}}
func.func @property(%x: tensor<4xf32, {shard = "x"}>) -> tensor<4xf32> {
  %y = graph.fusion(%x : tensor<4xf32, {shard = "x"}>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32, {shard = "x"}>):
    %0 = graph.compute ins(%a : tensor<4xf32, {shard = "x"}>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @more_than_around(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" {range = [0, 200]} : index
  %y = graph.fusion(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  ^bb0(%a: tensor<?xf32, #dyn.shape<[N]>>):
    // expected-error @below {{says more of 'N' than what is around the region guarantees}}
    %n = dyn.symbol "N" {range = [0, 100]} : index
    %0 = graph.compute ins(%a : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    graph.yield %0 : tensor<?xf32, #dyn.shape<[N]>>
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

func.func @a_multiple(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" {div = 4} : index
  %y = graph.fusion(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  ^bb0(%a: tensor<?xf32, #dyn.shape<[N]>>):
    // expected-error @below {{says more of 'N' than what is around the region guarantees}}
    %n = dyn.symbol "N" {div = 8} : index
    %0 = graph.compute ins(%a : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    graph.yield %0 : tensor<?xf32, #dyn.shape<[N]>>
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}
