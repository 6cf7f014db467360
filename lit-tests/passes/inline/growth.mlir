// Calls that double at each step: the copies have a bound, and what stays is said.

// RUN: sutura-opt %s --inline="max-growth=100 free-growth=8" --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --inline="max-growth=100 free-growth=8" | FileCheck %s
// RUN: sutura-opt %s --inline=max-growth=0 | FileCheck %s --check-prefix=ALL
// RUN: sutura-opt %s --inline | FileCheck %s --check-prefix=ALL

// SAID: remark: call of '@f3' is not inlined: its {{[0-9]+}} operations are more than the {{[0-9]+}} by which the program may grow
// CHECK-LABEL: func.func @top(
// CHECK: call @f3
// CHECK: call @f3
// ALL-NOT: call @f
// ALL-COUNT-16: arith.muli
// ALL-NOT: arith.muli

func.func private @f0(%a: i32) -> i32 {
  %b = arith.muli %a, %a : i32
  %c = arith.xori %b, %a : i32
  return %c : i32
}

func.func private @f1(%a: i32) -> i32 {
  %b = call @f0(%a) : (i32) -> i32
  %c = call @f0(%b) : (i32) -> i32
  return %c : i32
}

func.func private @f2(%a: i32) -> i32 {
  %b = call @f1(%a) : (i32) -> i32
  %c = call @f1(%b) : (i32) -> i32
  return %c : i32
}

func.func private @f3(%a: i32) -> i32 {
  %b = call @f2(%a) : (i32) -> i32
  %c = call @f2(%b) : (i32) -> i32
  return %c : i32
}

func.func @top(%a: i32) -> i32 {
  %b = call @f3(%a) : (i32) -> i32
  %c = call @f3(%b) : (i32) -> i32
  return %c : i32
}
