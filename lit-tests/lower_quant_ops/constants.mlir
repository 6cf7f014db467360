// RUN: sutura-opt %s --lower-quant-ops | FileCheck %s

// A constant holds the integers that are stored.
// CHECK-LABEL: func.func @constant() -> tensor<3xui8>
// CHECK: graph.constant dense_resource<k> : tensor<3xui8>
func.func @constant() -> tensor<3x!quant.uniform<u8:f32, 0.5>> {
  %0 = graph.constant dense_resource<k> : tensor<3x!quant.uniform<u8:f32, 0.5>>
  return %0 : tensor<3x!quant.uniform<u8:f32, 0.5>>
}

{-# dialect_resources: { builtin: { k: "0x040000000102FD" } } #-}
