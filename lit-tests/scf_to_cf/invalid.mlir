// RUN: not sutura-opt %s --convert-scf-to-cf --allow-unregistered-dialect 2>&1 | FileCheck %s
// RUN: not sutura-opt %s --convert-scf-to-cf --allow-unregistered-dialect 2>/dev/null | count 0

// Each operation that cannot be converted is named, with the reason, and what is inside it is not.

// CHECK:      :[[#@LINE+11]]:8: error: failed to legalize operation 'scf.forall' that was explicitly marked illegal
// CHECK:      note: pattern 'forall-to-loops' does not apply to 'scf.forall': it has outputs by value: they must be memory
// CHECK:      :[[#@LINE+15]]:5: error: failed to legalize operation 'scf.nonesuch' that was explicitly marked illegal
// CHECK:      help: add a pattern that rewrites 'scf.nonesuch' : (index) -> (), or declare it legal
// CHECK:      note: no pattern matches 'scf.nonesuch'
// CHECK:      note: legal are: dialects 'cf', 'arith'
// CHECK-NOT:  in_parallel
// CHECK-NOT:  scf.yield
func.func @f(%x: index, %c: i1, %t: tensor<4xf32>, %v: tensor<1xf32>) -> tensor<4xf32> {
  // Tensors are inserted in parallel.

  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  scf.if %c {
    "scf.nonesuch"(%x) : (index) -> ()
  }
  return %r : tensor<4xf32>
}
