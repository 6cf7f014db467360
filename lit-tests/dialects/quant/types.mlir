// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s | sutura-opt | FileCheck %s

// What is stored, what it expresses, scale and zero point. A zero point of 0 is not written, nor are bounds that bound nothing.
// CHECK-LABEL: func.func private @of_tensors(
// CHECK-SAME: !quant.uniform<i8:f32, 5.000000e-01:3>, !quant.uniform<i8:f32, 5.000000e-01>, !quant.uniform<i8<-8:7>:f32, 5.000000e-01:-3>
// CHECK-SAME: !quant.uniform<i8:f32, 1.000000e-01>
// CHECK-SAME: !quant.uniform<i8<-127:127>:bf16, 5.000000e-01>
// CHECK-SAME: !quant.uniform<u8:f16, 5.000000e-01:255>
// CHECK-SAME: !quant.uniform<u32:f64, 1.000000e-01:4000000000>
// CHECK-SAME: !quant.uniform<i1:f32, 1.000000e+00:-1>
// CHECK-SAME: !quant.uniform<u2:f8E4M3FN, 1.000000e+00:3>
func.func private @of_tensors(!quant.uniform<i8:f32, 0.5:3>, !quant.uniform<i8 : f32, 0.5:0>, !quant.uniform<i8<-8:7>:f32, 0.5:-3>, !quant.uniform<i8<-128:127>:f32, 0.1>, !quant.uniform<si8<-127:127>:bf16, 0.5>, !quant.uniform<ui8<0:255>:f16, 0.5:255>, !quant.uniform<u32:f64, 0.1:4000000000>, !quant.uniform<i1:f32, 1.0:-1>, !quant.uniform<u2:f8E4M3FN, 1.0:3>)

// CHECK-LABEL: func.func private @along_a_dimension(
// CHECK-SAME: tensor<?x2x!quant.uniform<i8:f32:1, {2.000000e+00:10,3.000000e+00}>>, tensor<1x!quant.uniform<u4:f32:0, {2.500000e-01}>>
func.func private @along_a_dimension(tensor<?x2x!quant.uniform<i8:f32:1, {2.0:10, 3.0}>>, tensor<1x!quant.uniform<u4:f32:0, {0.25}>>)

// Scales of blocks are numbers of the expressed type.
// CHECK-LABEL: func.func private @of_blocks(
// CHECK-SAME: !quant.uniform<i8:f32:{0:2, 1:4}, {{[{][{]}}2.000000e+00:1, 3.000000e+00:2}, {4.000000e+00, 5.000000e+00}}>
// CHECK-SAME: !quant.uniform<i8:f16:{1:2}, {{[{][{]}}9.997550e-02, 3.000000e+00:7}}>
// CHECK-SAME: !quant.uniform<i8:f32:{}, {{[{][{]}}2.000000e+00}}>
// CHECK-SAME: !quant.uniform<u8:f32:{0:2}, {2.000000e+00:200, 3.000000e+00:200}>
func.func private @of_blocks(tensor<4x8x!quant.uniform<i8:f32:{0:2, 1:4}, {{2.0:1, 3.0:2}, {4.0, 5.0}}>>, tensor<?x?x!quant.uniform<i8:f16:{1:2}, {{0.1, 3.0:7}}>>, tensor<?x?x!quant.uniform<i8:f32:{}, {{2.0}}>>, tensor<4x!quant.uniform<u8:f32:{0:2}, {2.0:200, 3.0:-56}>>)

// CHECK-LABEL: func.func private @others(
// CHECK-SAME: !quant.any<i8:f32>, !quant.any<i8<-16:15>>, !quant.any<u8>, !quant.calibrated<f32<-9.220000e-01:0.98099999999999998>>
func.func private @others(!quant.any<i8:f32>, !quant.any<i8<-16:15>>, !quant.any<u8<0:255>>, !quant.calibrated<f32<-0.922:0.981>>)
