// RUN: sutura-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @no_terminator() {
  // expected-error@below {{block with no terminator, has}}
  %0 = arith.constant 1 : i32
}

// -----

// expected-error@below {{empty block: expect at least a terminator}}
"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
^bb0:
}) : () -> ()

// -----

func.func @after_the_terminator(%x: i32) {
  // expected-error@below {{must be the last operation in the parent block}}
  return
  "test.op"() : () -> ()
}

// -----

// expected-error@below {{entry block of region may not have predecessors}}
func.func @entry() {
^bb0:
  cf.br ^bb0
}

// -----

func.func @successors() {
  // expected-error@below {{operation with block successors must terminate its parent block}}
  "test.br"()[^bb1] : () -> ()
  "test.op"() : () -> ()
^bb1:
  return
}
