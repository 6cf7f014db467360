// RUN: sutura-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @later_in_the_block(%x: i32) {
  // expected-error@below {{operand #0 does not dominate this use}}
  %a = arith.addi %b, %x : i32
  // expected-note@below {{operand defined here (op in the same block)}}
  %b = arith.addi %x, %x : i32
  return
}

// -----

func.func @other_branch(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  // expected-note@below {{operand defined here (op in the same region)}}
  %a = arith.addi %x, %x : i32
  return %a : i32
^bb2:
  // expected-error@below {{operand #0 does not dominate this use}}
  return %a : i32
}

// -----

// What is not reached may use anything.
func.func @unreachable(%x: i32) -> i32 {
  return %x : i32
^bb1:
  %a = arith.addi %b, %b : i32
  %b = arith.addi %a, %a : i32
  return %b : i32
}

// -----

// In a graph region the order does not matter, but an operation that is executed in order is inside of one.
"test.graph"() ({
  %a = "test.op"(%b) : (i32) -> i32
  %b = "test.op"(%a) : (i32) -> i32
}) : () -> ()
