// What a declaration may not say, and what an operator cannot be applied to.
// RUN: sutura-opt %s --verify-diagnostics --split-input-file

!a = tensor<?xf32, #dyn.shape<[A]>>
#id = affine_map<(d0) -> (d0)>

graph.operator @add {summary = "a + k * b", elements = [f32, f64], groups = {A}, attributes = {k = f32}, broadcast = array<i64: 1>} {
^bb0(%a: !a, %b: !a):
  %y = graph.compute ins(%a, %b : !a, !a) -> !a {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: f32, %z: f32):
    %k = graph.param "k" : f32
    %p = arith.mulf %k, %z : f32
    %r = arith.addf %x, %p : f32
    graph.yield %r : f32
  }
  graph.yield %y : !a
}

func.func @f(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %long: tensor<1x2x3xf32>, %other: tensor<2x4xf32>, %d: tensor<2x3xf64>, %short: tensor<2x1xf32>, %m: memref<2xf32>) {
  // expected-error @below {{'graph.apply' op 'ad' is no operator that is declared}}
  %0 = graph.apply @ad(%x, %x) {k = 1.0 : f32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
#id = affine_map<(d0) -> (d0)>

// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
// expected-note @below {{operator @add is declared here}}
graph.operator @add {summary = "a + k * b", elements = [f32, f64], groups = {A}, attributes = {k = f32}, broadcast = array<i64: 1>} {
^bb0(%a: !a, %b: !a):
  %y = graph.compute ins(%a, %b : !a, !a) -> !a {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: f32, %z: f32):
    %k = graph.param "k" : f32
    %p = arith.mulf %k, %z : f32
    %r = arith.addf %x, %p : f32
    graph.yield %r : f32
  }
  graph.yield %y : !a
}
func.func @f0(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op @add: takes 2 inputs, not 1}}
  %0 = graph.apply @add(%x) {k = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @f1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op @add: needs the attribute 'k'}}
  %0 = graph.apply @add(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @f2(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op @add: attribute 'k' must be of type f32}}
  %0 = graph.apply @add(%x, %x) {k = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @f3(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op @add: has no attribute 'kk'; did you mean 'k'?}}
  %0 = graph.apply @add(%x, %x) {kk = 1.0 : f32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @f4(%x: tensor<2x3xi32>) {
  // expected-error @below {{'graph.apply' op @add: 'a' holds i32, it must hold f32, f64}}
  %0 = graph.apply @add(%x, %x) {k = 1.0 : f32} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}
func.func @f5(%x: tensor<2x3xf32>, %d: tensor<2x3xf64>) {
  // expected-error @below {{'graph.apply' op @add: 'b' holds f64, it must hold f32}}
  %0 = graph.apply @add(%x, %d) {k = 1.0 : f32} : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<2x3xf32>
  return
}
func.func @f6(%x: tensor<2x3xf32>, %long: tensor<1x2x3xf32>) {
  // expected-error @below {{'graph.apply' op @add: 'b' has rank 3, which cannot be stretched to 2}}
  %0 = graph.apply @add(%x, %long) {k = 1.0 : f32} : (tensor<2x3xf32>, tensor<1x2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @f7(%x: tensor<2x3xf32>, %other: tensor<2x4xf32>) {
  // expected-error @below {{'graph.apply' op @add: dimension 1 of the broadcast operands others and 'b' differ: 3 and 4}}
  %0 = graph.apply @add(%x, %other) {k = 1.0 : f32} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}
func.func @f8(%x: tensor<2x3xf32>, %short: tensor<2x1xf32>) {
  // expected-error @below {{'graph.apply' op @add: 'b' is longer than the other inputs in dimension 1, where they have 1}}
  %0 = graph.apply @add(%short, %x) {k = 1.0 : f32} : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}
func.func @f9(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op result 0 must be tensor<2x3xf32>, it is tensor<2x4xf32>}}
  %0 = graph.apply @add(%x, %x) {k = 1.0 : f32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}
func.func @f10(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op @add makes 1 results, not 0}}
  graph.apply @add(%x, %x) {k = 1.0 : f32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  return
}
func.func @f11(%x: tensor<2x3xf32>, %m: memref<2xf32>) {
  // expected-error @below {{'graph.apply' op has operand 1 of type memref<2xf32>, which is no ranked tensor}}
  %0 = graph.apply @add(%x, %m) {k = 1.0 : f32} : (tensor<2x3xf32>, memref<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

!on = tensor<?x?xf32, #dyn.shape<[O, N]>>
// expected-note @below {{operator @rows is declared here}}
// expected-note @below {{operator @rows is declared here}}
// expected-note @below {{operator @rows is declared here}}
graph.operator @rows {summary = "x", elements = [f32], groups = {O = "before axis"}, attributes = {axis = i64}} {
^bb0(%x: !on, %y: !on):
  graph.yield %x : !on
}
func.func @f0(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op @rows: axis 2 is outside a tensor of rank 2}}
  %0 = graph.apply @rows(%x, %x) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @f1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'graph.apply' op @rows: 'x' has rank 2, it must have 1}}
  %0 = graph.apply @rows(%x, %x) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @f2(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @below {{'graph.apply' op @rows: dimension 1 of 'y' and the size 'N' of other inputs differ: 3 and 4}}
  %0 = graph.apply @rows(%x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

// expected-error @below {{'graph.operator' op 'x' has a size without a name; give it one in #dyn.shape}}
graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32>):
  graph.yield %x : tensor<?xf32>
}

// -----

// expected-error @below {{'graph.operator' op nothing says which dimensions of 'x' belong to which of 2 groups}}
graph.operator @a {summary = "x", elements = [f32], groups = {A, B}} {
^bb0(%x: tensor<?x?xf32, #dyn.shape<[A, B]>>):
  graph.yield %x : tensor<?x?xf32, #dyn.shape<[A, B]>>
}

// -----

// expected-error @below {{'graph.operator' op group 'B' stands in no input}}
graph.operator @a {summary = "x", elements = [f32], groups = {A, B}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[A]>>
}

// -----

// expected-error @below {{'graph.operator' op group 'A' needs an attribute 'axis' of type i64}}
graph.operator @a {summary = "x", elements = [f32], groups = {A = "before axis"}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[A]>>
}

// -----

// expected-error @below {{'graph.operator' op group 'A' must be unit, "before ATTRIBUTE" or "ones of GROUP"}}
graph.operator @a {summary = "x", elements = [f32], groups = {A = "axis"}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[A]>>
}

// -----

// expected-error @below {{'graph.operator' op 'x' has the size 'N + 1'; sizes of inputs are symbols or numbers}}
graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N + 1]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N + 1]>>
}

// -----

// A sum may stand in what is broadcast, where others tell its parts.
// expected-error @below {{'graph.operator' op 'b' has the size 'M + N'; sizes of inputs are symbols or numbers}}
graph.operator @a {summary = "x", elements = [f32], broadcast = array<i64: 1>} {
^bb0(%a: tensor<?xf32, #dyn.shape<[N]>>, %b: tensor<?xf32, #dyn.shape<[N + M]>>):
  graph.yield %a : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'elements' must name an element type}}
graph.operator @a {summary = "x", elements = []} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op has no input of its element type, the first of 'elements'}}
graph.operator @a {summary = "x", elements = [f16, f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op attribute 'k' must be i64 or f32, or have a default of these types}}
graph.operator @a {summary = "x", elements = [f32], attributes = {k = "text"}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op broadcasts input 1, which it does not have}}
graph.operator @a {summary = "x", elements = [f32], broadcast = array<i64: 1>} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'x' is broadcast and has sizes that no other input tells}}
graph.operator @a {summary = "x", elements = [f32], broadcast = array<i64: 0>} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'onnx' has no entry 'name'; there are domain, op, since, until, rank, with, one_of, least, absent, without, set, ignore, refuse, choose, words, permute, unsigned and variadic}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{name = "A"}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  // expected-error @below {{'graph.scan' op cannot stand in the body of an operator}}
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[N]>>
  graph.yield %y : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
graph.operator @a {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.compute' op reads dimension 0, the group 'A', at something else than an iterator over it}}
  %y = graph.compute ins(%x : !a) -> !a {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0 + 1)>, affine_map<(d0) -> (d0)>], oob = [0.0 : f32]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  graph.yield %y : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
#id = affine_map<(d0) -> (d0)>
graph.operator @a {summary = "x", elements = [f32, i32], groups = {A}} {
^bb0(%x: !a):
  %y = graph.compute ins(%x : !a) -> !a {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    // expected-error @below {{'math.exp' op has no meaning on i32, which 'elements' lists}}
    %r = math.exp %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
#id = affine_map<(d0) -> (d0)>
graph.operator @a {summary = "x", elements = [f32], groups = {A}, attributes = {alpha = 1.0 : f32}} {
^bb0(%x: !a):
  %y = graph.compute ins(%x : !a) -> !a {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    // expected-error @below {{'graph.param' op reads the attribute 'alhpa', which the operator does not declare}}
    %r = graph.param "alhpa" : f32
    graph.yield %r : f32
  }
  graph.yield %y : !a
}

// -----

// expected-error @below {{'graph.operator' op 'elements' holds index, which is no float and no integer}}
graph.operator @a {summary = "x", elements = [f32, index]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'elements' holds f32 twice}}
graph.operator @a {summary = "x", elements = [f32, f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op must be written in an element type that is not its accumulator's}}
graph.operator @a {summary = "x", elements = [f32], accumulator = f32} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op group 'K' needs a group 'S', which holds dimensions}}
graph.operator @a {summary = "x", elements = [f32], groups = {A, K = "ones of S"}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[A]>>
}

// -----

// expected-error @below {{'graph.operator' op group 'K' holds dimensions of size 1, and stands in an input}}
graph.operator @a {summary = "x", elements = [f32], groups = {A, K = "ones of A"}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>, %y: tensor<?xf32, #dyn.shape<[K]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[A]>>
}

// -----

// expected-error @below {{'graph.operator' op 'x' has the group 'A' twice}}
graph.operator @a {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: tensor<?x?xf32, #dyn.shape<[A, A]>>):
  graph.yield %x : tensor<?x?xf32, #dyn.shape<[A, A]>>
}

// -----

// expected-error @below {{'graph.operator' op 'x' has dimensions before the group 'O', which counts from 0}}
graph.operator @a {summary = "x", elements = [f32], attributes = {axis = i64}, groups = {O = "before axis"}} {
^bb0(%x: tensor<?x?xf32, #dyn.shape<[N, O]>>):
  graph.yield %x : tensor<?x?xf32, #dyn.shape<[N, O]>>
}

// -----

// expected-error @below {{'graph.operator' op must have an input and a result}}
graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield
}

// -----

// expected-error @below {{'graph.operator' op entry 'since' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "A", since = "13"}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'onnx' does not say which operator: entry 'op'}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{since = 13 : i64}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
graph.operator @a {summary = "x", elements = [f32], groups = {A}, broadcast = array<i64: 0>} {
^bb0(%x: !a):
  // expected-error @below {{'graph.reshape' op reads an input that is broadcast; only 'graph.compute' can}}
  %y = graph.reshape %x : !a -> !a
  graph.yield %y : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
#id = affine_map<(d0) -> (d0)>
graph.operator @a {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.compute' op uses the size 'B', which no input has}}
  %y = graph.compute ins() -> tensor<?xf32, #dyn.shape<[B]>> {iterators = #graph.iterators<[parallel]>, maps = [#id]} {
    %c = arith.constant 0.0 : f32
    graph.yield %c : f32
  }
  graph.yield %x : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
#id = affine_map<(d0) -> (d0)>
graph.operator @a {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.compute' op has a tensor of size '2*A': a group must stand alone}}
  %y = graph.compute ins() -> tensor<?xf32, #dyn.shape<[2*A]>> {iterators = #graph.iterators<[parallel]>, maps = [#id]} {
    %c = arith.constant 0.0 : f32
    graph.yield %c : f32
  }
  graph.yield %x : !a
}

// -----

#id = affine_map<(d0) -> (d0)>
graph.operator @a {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>, %y: tensor<?xf32, #dyn.shape<[N]>>):
  // expected-error @below {{'graph.compute' op has iterator d0, which runs over the group 'A' and over N}}
  %z = graph.compute ins(%x, %y : tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[A]>>
      {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  graph.yield %z : tensor<?xf32, #dyn.shape<[A]>>
}
