// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @operands(%x: i32) {
  // expected-error@below {{'arith.addi' op expected 2 operands, but found 1}}
  %0 = "arith.addi"(%x) : (i32) -> i32
  return
}

// -----

func.func @results(%x: i32) {
  // expected-error@below {{'arith.addi' op requires one result}}
  %0:2 = "arith.addi"(%x, %x) : (i32, i32) -> (i32, i32)
  return
}

// -----

func.func @types(%x: f32) {
  // expected-error@below {{'arith.addi' op operand #0 must be signless-integer-like, but got 'f32'}}
  %0 = "arith.addi"(%x, %x) : (f32, f32) -> f32
  return
}

// -----

func.func @attributes() {
  // expected-error@below {{'arith.constant' op requires attribute 'value'}}
  %0 = "arith.constant"() : () -> i32
  return
}

// -----

func.func @regions(%x: i32) {
  // expected-error@below {{'arith.addi' op requires zero regions}}
  %0 = "arith.addi"(%x, %x) ({}) : (i32, i32) -> i32
  return
}

// -----

// One run reports them all.
func.func @several(%x: f32) {
  // expected-error@below {{operand #0 must be signless-integer-like}}
  %0 = "arith.addi"(%x, %x) : (f32, f32) -> f32
  // expected-error@below {{operand #0 must be signless-integer-like}}
  %1 = "arith.muli"(%x, %x) : (f32, f32) -> f32
  return
}
func.func @another(%x: f32) {
  // expected-error@below {{operand #0 must be signless-integer-like}}
  %0 = "arith.subi"(%x, %x) : (f32, f32) -> f32
  return
}
