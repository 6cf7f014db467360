// RUN: sutura-opt %s --symbol-privatize=exclude=main -o /dev/null --remarks-filter-passed=privatize 2>&1 | FileCheck %s

// What is private already, and what is excluded, is not spoken of.

// CHECK-NOT: remark:
// CHECK:     :[[#@LINE+2]]:1: remark: '@part' is private now
// CHECK-NOT: remark:
func.func @part() {
  return
}

func.func private @hidden()

func.func @main() {
  return
}
