// RUN: sutura-opt %s --convert-gpu-to-fibers | FileCheck %s

// Without device code there is nothing to describe.
// CHECK:      module {
// CHECK-NEXT:   func.func @f() {
// CHECK-NEXT:     return
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @f() {
  return
}
