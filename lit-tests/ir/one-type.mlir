// A custom form that writes one type for several values is used where they have one.
// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s --verify-roundtrip -o %t
// RUN: sutura-opt %t | diff %t -

// CHECK: "arith.addf"(%x, %y) <{fastmath = #arith.fastmath<none>}> : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: "math.absf"(%{{.*}}) {{.*}} : (tensor<4xf32>) -> tensor<4xf32, {owner = "a"}>
// CHECK: arith.addf %y, %y : tensor<4xf32>
func.func @f(%x: tensor<?xf32>, %y: tensor<4xf32>) {
  %0 = "arith.addf"(%x, %y) : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "math.absf"(%0) : (tensor<4xf32>) -> tensor<4xf32, {owner = "a"}>
  %3 = "arith.addf"(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
