// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s --print-op-generic | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

!q = !quant.uniform<i8<-8:7>:f32, 0.5:3>
!axis = !quant.uniform<u8:f32:1, {0.5:10, 2.0, 1.0:255}>
!blocks = !quant.uniform<i8:f16:{0:2, 1:3}, {{0.5:1, 0.1}, {4.0, 1.0:-128}}>

// CHECK: !axis = !quant.uniform<u8:f32:1, {5.000000e-01:10,2.000000e+00,1.000000e+00:255}>
// CHECK: !blocks = !quant.uniform<i8:f16:{0:2, 1:3}, {{[{][{]}}5.000000e-01:1, 9.997550e-02}, {4.000000e+00, 1.000000e+00:-128}}>
// CHECK: !q = !quant.uniform<i8<-8:7>:f32, 5.000000e-01:3>
// CHECK-LABEL: func.func @scalars
// CHECK: quant.qcast %{{.*}} : f32 to !q
// CHECK: quant.dcast %{{.*}} : !q to f32
// CHECK: quant.scast %{{.*}} : !q to i8
func.func @scalars(%x: f32) -> (f32, i8) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %0 : !q to f32
  %2 = quant.scast %0 : !q to i8
  return %1, %2 : f32, i8
}

// CHECK-LABEL: func.func @tensors
// CHECK: quant.qcast %{{.*}} : tensor<?x3xf32> to tensor<?x3x!axis>
// CHECK: quant.dcast %{{.*}} : tensor<*x!q> to tensor<*xf32>
// CHECK: quant.dcast %{{.*}} : tensor<?x6x!blocks> to tensor<?x6xf16>
// CHECK: quant.scast %{{.*}} : tensor<?x3x!axis> to tensor<?x3xi8>
func.func @tensors(%x: tensor<?x3xf32>, %u: tensor<*x!q>, %b: tensor<?x6x!blocks>) -> (tensor<*xf32>, tensor<?x6xf16>, tensor<?x3xi8>) {
  %0 = quant.qcast %x : tensor<?x3xf32> to tensor<?x3x!axis>
  %1 = quant.dcast %u : tensor<*x!q> to tensor<*xf32>
  %2 = quant.dcast %b : tensor<?x6x!blocks> to tensor<?x6xf16>
  %3 = quant.scast %0 : tensor<?x3x!axis> to tensor<?x3xi8>
  return %1, %2, %3 : tensor<*xf32>, tensor<?x6xf16>, tensor<?x3xi8>
}

// CHECK-LABEL: func.func @others
// CHECK: quant.qcast %{{.*}} : f32 to !quant.any<i8:f32>
// CHECK: quant.qcast %{{.*}} : f32 to !quant.calibrated<f32<-1.000000e+00:1.000000e+00>>
func.func @others(%x: f32) -> (!quant.any<i8:f32>, !quant.calibrated<f32<-1.0:1.0>>) {
  %0 = quant.qcast %x : f32 to !quant.any<i8:f32>
  %1 = quant.qcast %x : f32 to !quant.calibrated<f32<-1.0:1.0>>
  return %0, %1 : !quant.any<i8:f32>, !quant.calibrated<f32<-1.0:1.0>>
}

// What is quantised and back is not what it was: both casts stay.
// FOLDED-LABEL: func.func @there_and_back
// FOLDED: quant.qcast
// FOLDED: quant.dcast
// FOLDED-NOT: quant.scast
// FOLDED: return %{{.*}}, %i
func.func @there_and_back(%x: tensor<4xf32>, %i: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xi8>) {
  %0 = quant.qcast %x : tensor<4xf32> to tensor<4x!q>
  %1 = quant.dcast %0 : tensor<4x!q> to tensor<4xf32>
  %2 = quant.scast %i : tensor<4xi8> to tensor<4x!q>
  %3 = quant.scast %2 : tensor<4x!q> to tensor<4xi8>
  return %1, %3 : tensor<4xf32>, tensor<4xi8>
}
