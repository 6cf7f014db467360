// RUN: sutura-opt %s --lower-quant-ops --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --lower-quant-ops --remarks -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,lower-quant-ops,split-complex,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

// REMARK: remark: 2 casts of quantized numbers became arithmetic

!q = !quant.uniform<i8<-100:100>:f32, 0.5:3>
!axis = !quant.uniform<u8:f32:1, {0.5:10, 2.0, 1.0:255}>
!blocks = !quant.uniform<i4:f32:{0:1, 1:2}, {{0.5:1, 0.25:2}, {4.0, 1.0:-8}}>
!half = !quant.uniform<u16:f16, 0.1:4000>
!double = !quant.uniform<i32:f64, 0.001:-7>
!brain = !quant.uniform<u4:bf16:{1:3}, {{0.1:1, 0.3:15}}>
!tiny = !quant.uniform<i2:f8E4M3FN, 0.1:-2>

// The quotient is rounded to nearest even; NaN becomes the zero point; the sum keeps to the bounds.
// CHECK-LABEL: func.func @tensor(%x: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<?xi8, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>)
// CHECK: ^bb0(%[[X:.*]]: f32):
// CHECK: %[[QUOTIENT:.*]] = arith.divf %[[X]]
// CHECK: %[[ROUND:.*]] = math.roundeven %[[QUOTIENT]]
// CHECK: arith.cmpf ord, %[[ROUND]], %[[ROUND]]
// CHECK: arith.select
// CHECK: arith.fptosi
// CHECK: arith.addi
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: ^bb0(%[[S:.*]]: i8):
// CHECK: %[[WIDE:.*]] = arith.extsi %[[S]] : i8 to i32
// CHECK: arith.subi %[[WIDE]]
// CHECK: arith.sitofp
// CHECK: arith.mulf
func.func @tensor(%x: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<?x!q, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %0 = quant.qcast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?x!q, #dyn.shape<[N]>>
  %1 = quant.dcast %0 : tensor<?x!q, #dyn.shape<[N]>> to tensor<?xf32, #dyn.shape<[N]>>
  return %0, %1 : tensor<?x!q, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
}

// Scales of a dimension are read beside the elements.
// CHECK-LABEL: func.func @axis
// CHECK: graph.constant dense<[5.000000e-01, 2.000000e+00, 1.000000e+00]> : tensor<3xf32>
// CHECK: graph.constant dense<[10, 0, 255]> : tensor<3xi32>
// CHECK: maps = [#[[ID:.*]], #[[ROW:.*]], #[[ROW]], #[[ID]]]
func.func @axis(%x: tensor<?x3xf32>) -> (tensor<?x3x!axis>, tensor<?x3xf32>) {
  %0 = quant.qcast %x : tensor<?x3xf32> to tensor<?x3x!axis>
  %1 = quant.dcast %0 : tensor<?x3x!axis> to tensor<?x3xf32>
  return %0, %1 : tensor<?x3x!axis>, tensor<?x3xf32>
}

// A dimension of blocks is two in between.
// CHECK-LABEL: func.func @blocks
// CHECK: graph.reshape %x : tensor<2x4xf32> -> tensor<2x2x2xf32>
// CHECK: graph.constant dense<{{\[\[}}5.000000e-01, 2.500000e-01], [4.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
// CHECK: graph.reshape %{{.*}} : tensor<2x2x2xi4> -> tensor<2x4xi4>
func.func @blocks(%x: tensor<2x4xf32>) -> (tensor<2x4x!blocks>, tensor<2x4xf32>) {
  %0 = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!blocks>
  %1 = quant.dcast %0 : tensor<2x4x!blocks> to tensor<2x4xf32>
  return %0, %1 : tensor<2x4x!blocks>, tensor<2x4xf32>
}

// Narrow floats are computed with as f32; integers of more than 16 bits have differences of 64.
// CHECK-LABEL: func.func @others
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: arith.extui %{{.*}} : i16 to i32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.trunci %{{.*}} : i64 to i32
func.func @others(%x: tensor<5xf16>, %y: tensor<5xf64>, %z: tensor<2x6xbf16>, %t: tensor<5xf8E4M3FN>) -> (tensor<5xf16>, tensor<5xf64>, tensor<2x6xbf16>, tensor<5xf8E4M3FN>, tensor<5x!half>, tensor<5x!double>, tensor<2x6x!brain>, tensor<5x!tiny>) {
  %0 = quant.qcast %x : tensor<5xf16> to tensor<5x!half>
  %1 = quant.dcast %0 : tensor<5x!half> to tensor<5xf16>
  %2 = quant.qcast %y : tensor<5xf64> to tensor<5x!double>
  %3 = quant.dcast %2 : tensor<5x!double> to tensor<5xf64>
  %4 = quant.qcast %z : tensor<2x6xbf16> to tensor<2x6x!brain>
  %5 = quant.dcast %4 : tensor<2x6x!brain> to tensor<2x6xbf16>
  %6 = quant.qcast %t : tensor<5xf8E4M3FN> to tensor<5x!tiny>
  %7 = quant.dcast %6 : tensor<5x!tiny> to tensor<5xf8E4M3FN>
  return %1, %3, %5, %7, %0, %2, %4, %6 : tensor<5xf16>, tensor<5xf64>, tensor<2x6xbf16>, tensor<5xf8E4M3FN>, tensor<5x!half>, tensor<5x!double>, tensor<2x6x!brain>, tensor<5x!tiny>
}
