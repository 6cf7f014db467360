// Control flow that hands on the wrong values.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%lb: index, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.for' op 0-th region iter_arg and 0-th yielded value have different type: 'f32' != 'i32'}}
  %r = scf.for %i = %lb to %lb step %lb iter_args(%a = %x) -> (f32) {
    "scf.yield"(%y) : (i32) -> ()
  }
  return
}

// -----

func.func @f(%lb: index, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.for' op along control flow edge from Operation scf.yield to Region #0: region branch point has 0 operands, but region successor needs 1 inputs}}
  %r = scf.for %i = %lb to %lb step %lb iter_args(%a = %x) -> (f32) {
    "scf.yield"() : () -> ()
  }
  return
}

// -----

func.func @f(%lb: index, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.for' op expected induction variable to be same type as bounds and step}}
  %r = "scf.for"(%lb, %lb, %lb, %x) ({
   ^bb0(%i : i32, %z : f32):
    "scf.yield"(%z) : (f32) -> ()
  }) : (index, index, index, f32) -> f32
  return
}

// -----

func.func @f(%lb: index, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.for' op different number of inits and region iter_args: 1 != 0}}
  %r = "scf.for"(%lb, %lb, %lb, %x) ({
   ^bb0(%i : index):
    "scf.yield"(%x) : (f32) -> ()
  }) : (index, index, index, f32) -> f32
  return
}

// -----

func.func @f(%lb: index, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.for' op 0-th init and 0-th region iter_arg have different type: 'f32' != 'i32'}}
  %r = "scf.for"(%lb, %lb, %lb, %x) ({
   ^bb0(%i : index, %z : i32):
    "scf.yield"(%x) : (f32) -> ()
  }) : (index, index, index, f32) -> f32
  return
}

// -----

func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: successor operand type #0 'i32' should match successor input type #0 'f32'}}
  %r = "scf.if"(%c) ({
    "scf.yield"(%y) : (i32) -> ()
  }, {
    "scf.yield"(%x) : (f32) -> ()
  }) : (i1) -> f32
  return
}

// -----

func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.if' op must have an else block if defining values}}
  %r = "scf.if"(%c) ({
    "scf.yield"(%x) : (f32) -> ()
  }, {
  }) : (i1) -> f32
  return
}

// -----

func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.while' op along control flow edge from Operation scf.condition to parent: successor operand type #0 'i32' should match successor input type #0 'f32'}}
  %r = "scf.while"(%x) ({
    ^bb0(%a : f32):
    "scf.condition"(%c, %y) : (i1, i32) -> ()
  }, {
    ^bb0(%a : f32):
    "scf.yield"(%x) : (f32) -> ()
  }) : (f32) -> f32
  return
}

// -----

func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{'scf.while' op expects the 'before' region to terminate with 'scf.condition'}}
  %r = "scf.while"(%x) ({
    ^bb0(%a : f32):
    "scf.yield"(%x) : (f32) -> ()
  }, {
    ^bb0(%a : f32):
    "scf.yield"(%x) : (f32) -> ()
  }) : (f32) -> f32
  return
}
