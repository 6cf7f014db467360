// RUN: sutura-opt %s --topological-sort --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: sutura-opt %s --topological-sort --allow-unregistered-dialect --split-input-file --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=STATS

// What is in order already stays in place; what a region uses comes before the operation around it.

// STATS: (S) 5 num-moved
// STATS-NEXT: (S) 0 num-in-cycles
// CHECK:      %[[C:.*]] = "x.c"
// CHECK-NEXT: "x.d"(%[[C]])
// CHECK-NEXT: "x.a"(%[[C]])
// CHECK-NEXT: "x.q"
// CHECK:      "x.b"
"builtin.module"() ({
  %b = "x.b"(%a) : (i32) -> i32
  %a = "x.a"(%c) : (i32) -> i32
  %q = "x.q"() ({
    "x.in"(%a) : (i32) -> ()
  }) : () -> i32
  %c = "x.c"() : () -> i32
  "x.d"(%c) : (i32) -> ()
}) : () -> ()

// -----

// A cycle has no order; what does not belong to it is sorted.

// STATS: (S) 1 num-in-cycles
// CHECK: // -----
// CHECK:      %[[G:.*]] = "x.g"
// CHECK-NEXT: "x.f"(%[[G]])
// CHECK-NEXT: %[[D:.*]] = "x.d"(%[[E:.*]]) :
// CHECK-NEXT: %[[E]] = "x.e"(%[[D]])
"builtin.module"() ({
  %d = "x.d"(%e) : (i32) -> i32
  "x.f"(%g) : (i32) -> ()
  %e = "x.e"(%d) : (i32) -> i32
  %g = "x.g"() : () -> i32
}) : () -> ()

// -----

// In a function order means something.

// STATS: (S) 0 num-moved
// CHECK-LABEL: func.func @ordered(
// CHECK-NEXT: "x.b"
// CHECK-NEXT: "x.a"
func.func @ordered() {
  "x.b"() : () -> ()
  "x.a"() : () -> ()
  return
}
