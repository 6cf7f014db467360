// Sizes that become known, slices that are put back, reshapes after each other.
// RUN: sutura-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @sizes(
// CHECK-DAG:   %[[E:.*]] = tensor.empty(%n) : tensor<?x4xf32>
// CHECK-DAG:   %[[A:.*]] = tensor.cast %[[E]] : tensor<?x4xf32> to tensor<?x?xf32>
// CHECK-DAG:   %[[S:.*]] = tensor.extract_slice %t[1] [3] [1] : tensor<8xf32> to tensor<3xf32>
// CHECK-DAG:   %[[B:.*]] = tensor.cast %[[S]] : tensor<3xf32> to tensor<?xf32>
// CHECK:       return %[[A]], %[[B]]
func.func @sizes(%n: index, %t: tensor<8xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %0 = tensor.empty(%n, %c4) : tensor<?x?xf32>
  %1 = tensor.extract_slice %t[%c1] [%c3] [1] : tensor<8xf32> to tensor<?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @slices(
// CHECK-NEXT:  %[[A:.*]] = tensor.insert_slice %u into %t[2] [4] [1]
// CHECK-NEXT:  return %[[A]], %s, %t
func.func @slices(%t: tensor<8xf32>, %s: tensor<4xf32>, %u: tensor<4xf32>, %n: index)
    -> (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) {
  %i = tensor.insert_slice %s into %t[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %0 = tensor.insert_slice %u into %i[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %1 = tensor.extract_slice %i[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %p = tensor.extract_slice %t[%n] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %2 = tensor.insert_slice %p into %t[%n] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
}

// Slices at other places are others.
// CHECK-LABEL: func.func @other_slices(
// CHECK-COUNT-2: tensor.insert_slice
// CHECK:         tensor.extract_slice
func.func @other_slices(%t: tensor<8xf32>, %s: tensor<4xf32>, %u: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %i = tensor.insert_slice %s into %t[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %0 = tensor.insert_slice %u into %i[3] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %1 = tensor.extract_slice %i[1] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @reshapes(
// CHECK-DAG:   %[[C:.*]] = tensor.collapse_shape %t {{\[\[}}0, 1, 2]] : tensor<2x3x4xf32> into tensor<24xf32>
// CHECK-DAG:   %[[E:.*]] = tensor.expand_shape %u {{\[\[}}0, 1, 2]] output_shape [2, 3, 4] : tensor<24xf32> into tensor<2x3x4xf32>
// CHECK:       return %[[C]], %[[E]], %u, %x
func.func @reshapes(%t: tensor<2x3x4xf32>, %u: tensor<24xf32>, %x: f32)
    -> (tensor<24xf32>, tensor<2x3x4xf32>, tensor<24xf32>, f32) {
  %c0 = arith.constant 0 : index
  %a = tensor.collapse_shape %t [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %b = tensor.expand_shape %u [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %1 = tensor.expand_shape %b [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %2 = tensor.pad %u low[0] high[0] {
  ^bb0(%i: index):
    tensor.yield %x : f32
  } : tensor<24xf32> to tensor<24xf32>
  %e = tensor.from_elements %x, %x : tensor<2xf32>
  %d = tensor.cast %e : tensor<2xf32> to tensor<?xf32>
  %3 = tensor.extract %d[%c0] : tensor<?xf32>
  return %0, %1, %2, %3 : tensor<24xf32>, tensor<2x3x4xf32>, tensor<24xf32>, f32
}
