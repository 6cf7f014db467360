// What an operator may not apply.
// RUN: sutura-opt %s --verify-diagnostics --split-input-file

!a = tensor<?xf32, #dyn.shape<[A]>>
// expected-note @below {{operator @b is declared here}}
graph.operator @b {summary = "applies @c", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.apply' op @b applies itself: @b, which applies @c, which applies @b}}
  %y = graph.apply @c(%x) : (!a) -> !a
  graph.yield %y : !a
}
// expected-note @below {{operator @c is declared here}}
graph.operator @c {summary = "applies @b", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.apply' op @c applies itself: @c, which applies @b, which applies @c}}
  %y = graph.apply @b(%x) : (!a) -> !a
  graph.yield %y : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
// expected-note @below {{operator @own is declared here}}
graph.operator @own {summary = "applies itself", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.apply' op @own applies itself: @own, which applies @own}}
  %y = graph.apply @own(%x) : (!a) -> !a
  graph.yield %y : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
graph.operator @lost {summary = "applies what is not there", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.apply' op 'nothing' is no operator that is declared}}
  %y = graph.apply @nothing(%x) : (!a) -> !a
  graph.yield %y : !a
}

// -----

#id = affine_map<(d0) -> (d0)>
#shift = affine_map<(d0) -> (d0 + 1)>
!a = tensor<?xf32, #dyn.shape<[A]>>
!n = tensor<?xf32, #dyn.shape<[N]>>
!d = tensor<?xf64, #dyn.shape<[A]>>

// expected-note @below {{operator @next is declared here}}
// expected-note @below {{operator @next is declared here}}
// expected-note @below {{operator @next is declared here}}
// expected-note @below {{operator @next is declared here}}
// expected-note @below {{operator @next is declared here}}
// expected-note @below {{operator @next is declared here}}
// expected-note @below {{operator @next is declared here}}
graph.operator @next {summary = "the next number", elements = [f32], attributes = {k = 1.0 : f32, n = 1 : i64}} {
^bb0(%x: !n):
  // expected-note @below {{reads dimension 0, the group 'N', at something else than an iterator over it}}
  %y = graph.compute ins(%x : !n) -> !n {iterators = #graph.iterators<[parallel]>, maps = [#shift, #id], oob = [0.0 : f32]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  graph.yield %y : !n
}
graph.operator @group {summary = "a group is no size", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  // expected-error @below {{'graph.apply' op @next cannot have a group of dimensions in the place of one size}}
  %y = graph.apply @next(%x) : (!a) -> !a
  graph.yield %y : !a
}
graph.operator @types {summary = "an element type too many", elements = [f32, f64]} {
^bb0(%x: !n):
  // expected-error @below {{'graph.apply' op @next where elements are f64: 'x' holds f64, it must hold f32}}
  %y = graph.apply @next(%x) : (!n) -> !n
  graph.yield %y : !n
}
graph.operator @attribute {summary = "no such attribute here", elements = [f32], attributes = {more = 1.0 : f32}} {
^bb0(%x: !n):
  // expected-error @below {{'graph.apply' op @next: attribute 'k' is that of an attribute 'mor', which @attribute does not have; did you mean 'more'?}}
  %y = graph.apply @next(%x) {k = "mor"} : (!n) -> !n
  graph.yield %y : !n
}
graph.operator @kind {summary = "an attribute of another type", elements = [f32], attributes = {more = 1 : i64}} {
^bb0(%x: !n):
  // expected-error @below {{'graph.apply' op @next: attribute 'k' is not of the type that 'more' has}}
  %y = graph.apply @next(%x) {k = "more"} : (!n) -> !n
  graph.yield %y : !n
}
graph.operator @unknown {summary = "no such attribute there", elements = [f32]} {
^bb0(%x: !n):
  // expected-error @below {{'graph.apply' op @next: has no attribute 'q'}}
  %y = graph.apply @next(%x) {q = 1.0 : f32} : (!n) -> !n
  graph.yield %y : !n
}
graph.operator @result {summary = "another result", elements = [f32]} {
^bb0(%x: !n):
  // expected-error @below {{'graph.apply' op result 0 must be tensor<?xf32, #dyn.shape<[N]>>, it is tensor<?xf32, #dyn.shape<[2*N]>>}}
  %y = graph.apply @next(%x) : (!n) -> tensor<?xf32, #dyn.shape<[2 * N]>>
  graph.yield %y : tensor<?xf32, #dyn.shape<[2 * N]>>
}
func.func @outside(%x: tensor<4xf32>) {
  // expected-error @below {{'graph.apply' op @next: attribute 'k' must be of type f32}}
  %0 = graph.apply @next(%x) {k = "more"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#ab = affine_map<(d0, d1) -> (d0, d1)>
!a = tensor<?xf32, #dyn.shape<[A]>>
!b = tensor<?xf32, #dyn.shape<[B]>>
!ab = tensor<?x?xf32, #dyn.shape<[A, B]>>

// expected-note @below {{operator @same is declared here}}
// expected-note @below {{operator @same is declared here}}
graph.operator @same {summary = "x", elements = [f32], groups = {A = "before axis", B}, attributes = {axis = 1 : i64}} {
^bb0(%x: !ab, %y: !ab):
  %z = graph.compute ins(%x, %y : !ab, !ab) -> !ab {iterators = #graph.iterators<[parallel, parallel]>, maps = [#ab, #ab, #ab]} {
  ^bb0(%e: f32, %f: f32):
    graph.yield %e : f32
  }
  graph.yield %z : !ab
}
graph.operator @sizes {summary = "sizes that need not be equal", elements = [f32]} {
^bb0(%x: !a, %y: !b):
  // expected-error @below {{'graph.apply' op @same: dimension 0 of 'y' and the group 'B' of other inputs must be equal, and the declaration does not say that A is B}}
  %z = graph.apply @same(%x, %y) {axis = 0 : i64} : (!a, !b) -> !a
  graph.yield %z : !a
}
graph.operator @axis {summary = "an axis that is not known", elements = [f32], attributes = {axis = 0 : i64}} {
^bb0(%x: !ab):
  // expected-error @below {{'graph.apply' op @same: attribute 'axis' says which dimensions are meant, so it must be a number}}
  %z = graph.apply @same(%x, %x) {axis = "axis"} : (!ab, !ab) -> !ab
  graph.yield %z : !ab
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
// expected-error @below {{'graph.operator' op size 'G' needs an attribute 'groups' of type i64}}
graph.operator @size {summary = "no such attribute", elements = [f32], groups = {A}, sizes = {G = "groups"}} {
^bb0(%x: !a):
  graph.yield %x : !a
}

// -----

!gk = tensor<?xf32, #dyn.shape<[G * K]>>
#id = affine_map<(d0) -> (d0)>
// expected-note @below {{operator @parts is declared here}}
// expected-note @below {{operator @parts is declared here}}
// expected-note @below {{operator @parts is declared here}}
graph.operator @parts {summary = "parts", elements = [f32], sizes = {G = "n"}, attributes = {n = i64}} {
^bb0(%x: !gk):
  %0 = graph.reshape %x : !gk -> tensor<?x?xf32, #dyn.shape<[G, K]>>
  %1 = graph.reshape %0 : tensor<?x?xf32, #dyn.shape<[G, K]>> -> !gk
  graph.yield %1 : !gk
}
func.func @fits(%x: tensor<6xf32>) {
  %0 = graph.apply @parts(%x) {n = 3 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  return
}
func.func @rest(%x: tensor<7xf32>) {
  // expected-error @below {{'graph.apply' op @parts: dimension 0 of 'x' is 7, which is no multiple of 3, the value of n}}
  %0 = graph.apply @parts(%x) {n = 3 : i64} : (tensor<7xf32>) -> tensor<7xf32>
  return
}
func.func @open(%x: tensor<?xf32, #dyn.shape<[M]>>) {
  // expected-error @below {{'graph.apply' op @parts: dimension 0 of 'x' is M, which is not known to be a multiple of 3, the value of n}}
  %0 = graph.apply @parts(%x) {n = 3 : i64} : (tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>>
  return
}
func.func @none(%x: tensor<7xf32>) {
  // expected-error @below {{'graph.apply' op @parts: attribute 'n' must be from 1 to 2147483647: it is a size}}
  %0 = graph.apply @parts(%x) {n = 0 : i64} : (tensor<7xf32>) -> tensor<7xf32>
  return
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
// expected-error @below {{'graph.operator' op 'exact' holds 'A', which is not the last size of an input that is broadcast}}
graph.operator @exact {summary = "x", elements = [f32], exact = ["A"]} {
^bb0(%x: !a):
  graph.yield %x : !a
}

// -----

#ab = affine_map<(d0, d1) -> (d0, d1)>
!ab = tensor<?x?xf32, #dyn.shape<[A, B]>>
// expected-note @below {{operator @sum is declared here}}
graph.operator @sum {summary = "x + y", elements = [f32], broadcast = array<i64: 1>, exact = ["B"]} {
^bb0(%x: !ab, %y: !ab):
  %z = graph.compute ins(%x, %y : !ab, !ab) -> !ab {iterators = #graph.iterators<[parallel, parallel]>, maps = [#ab, #ab, #ab]} {
  ^bb0(%e: f32, %f: f32):
    %r = arith.addf %e, %f : f32
    graph.yield %r : f32
  }
  graph.yield %z : !ab
}
func.func @fits(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>, %z: tensor<3xf32>) {
  %0 = graph.apply @sum(%x, %y) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = graph.apply @sum(%x, %z) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}
func.func @stretched(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) {
  // expected-error @below {{'graph.apply' op @sum: 'y' must have the size 'B' of other inputs as its last one: it is not stretched}}
  %0 = graph.apply @sum(%x, %y) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return
}
