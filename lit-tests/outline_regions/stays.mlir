// RUN: sutura-opt %s --outline-regions | FileCheck %s
// RUN: sutura-opt %s --outline-regions --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: stays.mlir:[[#@LINE+4]]:{{.*}}: remark: a region stays: it uses a value of type i32 from around
// CHECK-LABEL: func.func @f
func.func @f(%c: i1, %n: i32, %x: tensor<i32>) -> tensor<i32> {
  %r = scf.if %c -> (tensor<i32>) {
    %t = tensor.from_elements %n : tensor<i32>
    scf.yield %t : tensor<i32>
  } else {
    scf.yield %x : tensor<i32>
  }
  return %r : tensor<i32>
}
// CHECK-NOT: func.func
