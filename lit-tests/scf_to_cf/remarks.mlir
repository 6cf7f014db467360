// RUN: sutura-opt %s --convert-scf-to-cf -o /dev/null --remarks-filter-passed=scf 2>&1 | FileCheck %s

// Each operation that became blocks is said, in the order of the text.

// CHECK-NOT:  remark:
// CHECK:      :[[#@LINE+4]]:3: remark: 'scf.for' is blocks and branches now
// CHECK:      :[[#@LINE+4]]:5: remark: 'scf.if' is blocks and branches now
// CHECK-NOT:  remark:
func.func @f(%c: i1, %x: index) {
  scf.for %i = %x to %x step %x {
    scf.if %c {
      scf.yield
    }
  }
  return
}
