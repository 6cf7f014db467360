// RUN: sutura-opt %s --print-op-stats --allow-unregistered-dialect 2>&1 >/dev/null | FileCheck %s
// RUN: sutura-opt %s --print-op-stats=json=true --allow-unregistered-dialect 2>&1 >/dev/null | FileCheck %s --check-prefix=JSON
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(print-op-stats))' --allow-unregistered-dialect 2>&1 >/dev/null | FileCheck %s --check-prefix=EACH
// RUN: not sutura-opt %s --print-op-stats=json=maybe 2>&1 | FileCheck %s --check-prefix=BAD

// CHECK:      Operations encountered:
// CHECK-NEXT: -----------------------
// CHECK-NEXT: {{^}}    arith.addi   , 2{{$}}
// CHECK-NEXT: {{^}}  builtin.module , 1{{$}}
// CHECK-NEXT: {{^}}  foreign.op     , 1{{$}}
// CHECK-NEXT: {{^}}     func.func   , 2{{$}}
// CHECK-NEXT: {{^}}     func.return , 2{{$}}

// JSON:      {
// JSON-NEXT:   "arith.addi" : 2,
// JSON-NEXT:   "builtin.module" : 1,
// JSON-NEXT:   "foreign.op" : 1,
// JSON-NEXT:   "func.func" : 2,
// JSON-NEXT:   "func.return" : 2
// JSON-NEXT: }

// One table per function, in the order of the text.

// EACH:     arith.addi   , 2
// EACH-NOT: module
// EACH:     Operations encountered:
// EACH-NOT: arith
// EACH:     foreign.op

// BAD: option `json` takes `true` or `false`, not `maybe`

func.func @one(%a: i32) -> i32 {
  %s = arith.addi %a, %a : i32
  %t = arith.addi %s, %a : i32
  return %t : i32
}

func.func @two() {
  "foreign.op"() : () -> ()
  return
}
