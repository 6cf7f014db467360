// RUN: sutura-opt %s --convert-elementwise-to-graph --check-passes | FileCheck %s
// RUN: sutura-opt %s --convert-elementwise-to-graph --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK-DAG: remark: 'arith.addf' is a 'graph' op now
// REMARK-DAG: remark: 'arith.addui_extended' stays: it makes several tensors

// CHECK-LABEL: func.func @arithmetic(
// CHECK: %[[C:.*]] = graph.constant dense<2.000000e+00> : tensor<2x3xf32>
// CHECK: graph.compute ins(%{{.*}}, %[[C]] : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[R:.*]] = arith.addf %[[A]], %[[B]] fastmath<nnan> : f32
// CHECK-NEXT: graph.yield %[[R]] : f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NOT: tensor<2x3xi1>, tensor<2x3xf32>{{$}}
func.func @arithmetic(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<2.0> : tensor<2x3xf32>
  %0 = arith.addf %x, %c fastmath<nnan> : tensor<2x3xf32>
  %1 = math.exp %0 : tensor<2x3xf32>
  %2 = arith.cmpf ogt, %1, %x : tensor<2x3xf32>
  %3 = arith.select %2, %0, %1 : tensor<2x3xi1>, tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// Sizes, and a condition that is read from a tensor.
// CHECK-LABEL: func.func @one_condition(
// CHECK-SAME: %[[T:.*]]: tensor<i1>
// CHECK: graph.compute ins(%[[T]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#[[M0:.*]], #[[M1:.*]], #[[M1]], #[[M1]]]}
// CHECK-NOT: tensor.extract
func.func @one_condition(%t: tensor<i1>, %a: tensor<?xf32, #dyn.shape<[N]>>, %b: tensor<?xf32, #dyn.shape<[N]>>)
    -> tensor<?xf32, #dyn.shape<[N]>> {
  %c = tensor.extract %t[] : tensor<i1>
  %r = arith.select %c, %a, %b : tensor<?xf32, #dyn.shape<[N]>>
  return %r : tensor<?xf32, #dyn.shape<[N]>>
}

// A condition that is computed.
// CHECK-LABEL: func.func @computed(
// CHECK: %[[C:.*]] = graph.compute ins(%{{.*}} : tensor<i64>) -> tensor<i1>
// CHECK: graph.compute ins(%[[C]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
func.func @computed(%t: tensor<i64>, %a: tensor<f64>, %b: tensor<f64>) -> tensor<f64> {
  %n = tensor.extract %t[] : tensor<i64>
  %five = arith.constant 5 : i64
  %c = arith.cmpi slt, %n, %five : i64
  %r = arith.select %c, %a, %b : tensor<f64>
  return %r : tensor<f64>
}

// CHECK-LABEL: func.func @stays(
// CHECK: arith.addui_extended %{{.*}}, %{{.*}} : tensor<4xi32>
// CHECK-LABEL: func.func @numbers(
// CHECK-NEXT: arith.addi %{{.*}}, %{{.*}} : i32
func.func @stays(%x: tensor<4xi32>) -> tensor<4xi32> {
  %sum, %overflow = arith.addui_extended %x, %x : tensor<4xi32>, tensor<4xi1>
  return %sum : tensor<4xi32>
}

func.func @numbers(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
