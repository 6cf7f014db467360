// RUN: sutura-opt %s --scf-for-to-while --scalars-to-tensors --check-passes --split-input-file | FileCheck %s
// RUN: sutura-opt %s --scf-for-to-while --scalars-to-tensors --split-input-file | sutura-opt --scalars-to-tensors --split-input-file | FileCheck %s

// The counter of a loop is a tensor; what compares and advances it is a computation, which reads a size and an element.
// CHECK-LABEL: func.func @counts
// CHECK: scf.while ({{.*}}) : (tensor<i64>, tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>) {
// CHECK: %[[S:.*]] = graph.shape_of %x : tensor<?xf32> -> tensor<1xi64>
// CHECK: %[[C:.*]] = graph.compute ins(%{{.*}}, %n, %[[S]] : tensor<i64>, tensor<i64>, tensor<1xi64>) -> tensor<i1>
// CHECK: arith.cmpi slt
// CHECK: %[[E:.*]] = tensor.extract %[[C]][] : tensor<i1>
// CHECK: scf.condition(%[[E]])
// CHECK: graph.compute {{.*}} -> tensor<i64>
// CHECK: arith.addi
// CHECK: scf.yield {{.*}} : tensor<i64>, tensor<?xf32>
func.func @counts(%x: tensor<?xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = tensor.extract %n[] : tensor<i64>
  %to = arith.index_cast %k : i64 to index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %least = arith.minsi %to, %size : index
  %r = scf.for %i = %c0 to %least step %c1 iter_args(%v = %x) -> (tensor<?xf32>) {
    scf.yield %v : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A number that a condition makes, and one that decides it from two elements.
// CHECK-LABEL: func.func @chooses
// CHECK: %[[C:.*]] = graph.compute {{.*}} -> tensor<i1>
// CHECK: %[[E:.*]] = tensor.extract %[[C]][] : tensor<i1>
// CHECK: %[[R:.*]] = scf.if %[[E]] -> (tensor<f32>) {
// CHECK: %[[A:.*]] = graph.compute ins(%x : tensor<2xf32>) -> tensor<f32>
// CHECK: scf.yield %[[A]] : tensor<f32>
// CHECK: return %{{.*}} : tensor<1xf32>
func.func @chooses(%x: tensor<2xf32>) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.extract %x[%c0] : tensor<2xf32>
  %b = tensor.extract %x[%c1] : tensor<2xf32>
  %less = arith.cmpf olt, %a, %b : f32
  %r = scf.if %less -> (f32) {
    %d = arith.addf %a, %a : f32
    scf.yield %d : f32
  } else {
    scf.yield %b : f32
  }
  %y = tensor.from_elements %r : tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// A function without conditions stays.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: tensor.extract
// CHECK-NEXT: tensor.from_elements
func.func @plain(%x: tensor<f32>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f32>
  %y = tensor.from_elements %a : tensor<f32>
  return %y : tensor<f32>
}
