// RUN: sutura-opt %s --scalars-to-tensors --remarks -o /dev/null 2>&1 | FileCheck %s

// CHECK: left.mlir:[[#@LINE+4]]:{{.*}}: remark: a number stays one: 'tensor.from_elements' needs one that is an argument
// CHECK: left.mlir:[[#@LINE+6]]:{{.*}}: remark: a number stays one: an element is read at an index that is computed
func.func @f(%c: i1, %n: index, %x: tensor<4xf32>) -> (tensor<f32>, tensor<index>) {
  %r = scf.if %c -> (tensor<f32>) {
    %i = tensor.from_elements %n : tensor<index>
    %j = tensor.extract %i[] : tensor<index>
    %a = tensor.extract %x[%j] : tensor<4xf32>
    %t = tensor.from_elements %a : tensor<f32>
    scf.yield %t : tensor<f32>
  } else {
    %t = arith.constant dense<0.0> : tensor<f32>
    scf.yield %t : tensor<f32>
  }
  %i = tensor.from_elements %n : tensor<index>
  return %r, %i : tensor<f32>, tensor<index>
}

// CHECK: left.mlir:[[#@LINE+5]]:{{.*}}: remark: a number stays one: an element is read at index 7 of dimension 0, which has none there
func.func @outside(%c: i1, %x: tensor<4xf32>) -> tensor<f32> {
  %r = scf.if %c -> (tensor<f32>) {
    %i = arith.constant 7 : index
    %a = tensor.extract %x[%i] : tensor<4xf32>
    %t = tensor.from_elements %a : tensor<f32>
    scf.yield %t : tensor<f32>
  } else {
    %t = arith.constant dense<0.0> : tensor<f32>
    scf.yield %t : tensor<f32>
  }
  return %r : tensor<f32>
}
