// RUN: not sutura-opt %s --convert-scf-to-cf --allow-unregistered-dialect 2>&1 | FileCheck %s
// RUN: not sutura-opt %s --convert-scf-to-cf --allow-unregistered-dialect 2>/dev/null | count 0

// Each operation that cannot be converted is named, and what is inside it is not.

// CHECK:      :[[#@LINE+10]]:3: error: failed to legalize operation 'scf.parallel' that was explicitly marked illegal
// CHECK:      help: add a pattern that rewrites 'scf.parallel' : (index, index, index) -> (), or declare it legal
// CHECK:      note: no pattern matches 'scf.parallel'
// CHECK:      note: legal are: dialects 'cf', 'arith'
// CHECK:      :[[#@LINE+11]]:5: error: failed to legalize operation 'scf.execute_region' that was explicitly marked illegal
// CHECK-NOT:  scf.reduce
// CHECK-NOT:  scf.yield
func.func @f(%x: index, %c: i1) {
  // Loops without an order of iterations have no blocks to become.

  "scf.parallel"(%x, %x, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    "scf.reduce"() : () -> ()
  }) : (index, index, index) -> ()
  scf.if %c {
    "scf.execute_region"() ({
      "scf.yield"() : () -> ()
    }) : () -> ()
  }
  return
}
