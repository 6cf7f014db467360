// What is refused, with upstream's messages.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: i32) {
  // expected-error@+1 {{'flag' type ('i32') should match case value type ('i64')}}
  "cf.switch"(%n)[^bb1, ^bb1] <{case_values = dense<1> : vector<1xi64>, case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @f(%n: i32) {
  // expected-error@+1 {{number of case values (2) should match number of case destinations (1)}}
  "cf.switch"(%n)[^bb1, ^bb1] <{case_values = dense<[1, 2]> : vector<2xi32>, case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}
