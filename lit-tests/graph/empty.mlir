// RUN: sutura-opt %s --propagate-shapes --check-passes --strict | FileCheck %s

// What has no elements may have any sizes beside.
// CHECK-LABEL: func.func @scanned
func.func @scanned(%x: tensor<0x9223372036854775807xf32>) -> tensor<0x9223372036854775807xf32> {
  %0 = graph.scan %x {axis = 0, combiner = #graph.combiner<add>} : tensor<0x9223372036854775807xf32> -> tensor<0x9223372036854775807xf32>
  return %0 : tensor<0x9223372036854775807xf32>
}

// CHECK-LABEL: func.func @gathered
func.func @gathered(%x: tensor<0x9223372036854775807x9223372036854775807xf32>, %i: tensor<0xi64>) -> tensor<0x9223372036854775807x9223372036854775807xf32> {
  %0 = graph.gather %x, %i {axis = 0} : tensor<0x9223372036854775807x9223372036854775807xf32>, tensor<0xi64> -> tensor<0x9223372036854775807x9223372036854775807xf32>
  return %0 : tensor<0x9223372036854775807x9223372036854775807xf32>
}

// CHECK-LABEL: func.func @concatenated
func.func @concatenated(%x: tensor<0x9223372036854775807x9223372036854775807xf32>) -> tensor<0x9223372036854775807x9223372036854775807xf32> {
  %0 = graph.concat %x, %x {axis = 0} : tensor<0x9223372036854775807x9223372036854775807xf32>, tensor<0x9223372036854775807x9223372036854775807xf32> -> tensor<0x9223372036854775807x9223372036854775807xf32>
  return %0 : tensor<0x9223372036854775807x9223372036854775807xf32>
}
