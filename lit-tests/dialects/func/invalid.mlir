// Signatures and calls that do not fit.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'func.return' op has 1 operands, but enclosing function (@f) returns 0}}
  return %c : i1
}

// -----

func.func @f(%c: i1, %x: f32, %y: i32) -> i32 {
  // expected-error@+1 {{type of return operand 0 ('i1') doesn't match function result type ('i32') in function @f}}
  return %c : i1
}

// -----

// expected-error@+1 {{'func.func' op type of entry block argument #0('i64') must match the type of the corresponding argument in function signature('i32')}}
"func.func"() <{function_type = (i32) -> (), sym_name = "q"}> ({
^bb0(%a : i64):
  "func.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{'func.func' op entry block must have 1 arguments to match function signature}}
"func.func"() <{function_type = (i32) -> (), sym_name = "q"}> ({
^bb0:
  "func.return"() : () -> ()
}) : () -> ()

// -----

func.func private @g(i32) -> f32
func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'func.call' op 'z' does not reference a valid function}}
  func.call @z() : () -> ()
  return
}

// -----

// expected-note@+1 {{function @g is defined here}}
func.func private @g(i32) -> f32
func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'func.call' op incorrect number of operands for callee}}
  func.call @g() : () -> ()
  return
}

// -----

// expected-note@+1 {{function @g is defined here}}
func.func private @g(i32) -> f32
func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'func.call' op operand type mismatch: expected operand type 'i32', but provided 'f32' for operand number 0}}
  func.call @g(%x) : (f32) -> ()
  return
}

// -----

// expected-note@+1 {{function @g is defined here}}
func.func private @g(i32) -> f32
func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'func.call' op incorrect number of results for callee}}
  func.call @g(%y) : (i32) -> ()
  return
}

// -----

// expected-note@+1 {{function @g is defined here}}
func.func private @g(i32) -> f32
func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'func.call' op result type mismatch: expected result type 'f32', but provided 'i32' for result number 0}}
  %z = func.call @g(%y) : (i32) -> (i32)
  return
}
