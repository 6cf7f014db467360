// RUN: sutura-opt %s --symbol-dce -o /dev/null --remarks-filter-passed=symbol-dce 2>&1 | FileCheck %s

// CHECK-NOT: {{remark: }}
// CHECK:     :[[#@LINE+7]]:1: remark: '@unused' is erased: it is private, and nothing alive refers to it
// CHECK-NOT: {{remark: }}
func.func @main() {
  call @used() : () -> ()
  return
}
func.func private @used()
func.func private @unused()
